"""For pytest: the datasheet of a judge as a fixture, and limits on it as assertions.

Loaded by pytest itself, as the plugin `judgesheet.testing` (docs/api.md).
"""

from typing import TYPE_CHECKING

import pytest

import judgesheet

if TYPE_CHECKING:
    from judgesheet.base.records import Datasheet

SETTING = "judge_datasheet"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where the datasheet lies: an option, and a setting for it."""
    what = "Run directory or datasheet.json of the judge, for the fixture judge_datasheet."
    parser.getgroup("judgesheet").addoption("--judge-datasheet", metavar="PATH", help=what)
    parser.addini(SETTING, what)


@pytest.fixture(scope="session")
def judge_datasheet(pytestconfig: pytest.Config) -> "Datasheet":
    """The datasheet that `--judge-datasheet` or the setting `judge_datasheet` names.

    The test fails where neither does: a judge that was not measured is not proven.
    """
    given = pytestconfig.getoption("--judge-datasheet")
    setting = pytestconfig.getini(SETTING)
    if not given and not setting:
        pytest.fail("no datasheet: give --judge-datasheet PATH, or set judge_datasheet")
    return judgesheet.load(given or pytestconfig.rootpath / setting)


def assert_limit(
    sheet: "Datasheet",
    key: str,
    *,
    max: float | None = None,  # noqa: A002  (as in a policy)
    min: float | None = None,  # noqa: A002
    why: str = "",
) -> None:
    """Fail unless the sheet proves a limit, as `judgesheet gate` would with this limit alone.

    UsageError where there is not exactly one of `max` and `min`, or the key is none.
    """
    __tracebackhide__ = True  # pytest shows the test, not this function
    from judgesheet.base.errors import UsageError
    from judgesheet.base.files import checked
    from judgesheet.base.keys import Key
    from judgesheet.decide import EXIT_CODES, PASSED, decide
    from judgesheet.decide.policy import Limit, Policy
    from judgesheet.sheet.verdicts import as_text

    Key.parse(key)
    fields = {"key": key, "max": max, "min": min, "why": why}
    limit = checked(Limit, fields, "assert_limit", UsageError)
    judged = decide(sheet, Policy(name="assert_limit", limit=[limit]))
    if judged.decision is None or EXIT_CODES[judged.decision.verdict] != PASSED:
        raise AssertionError("\n".join(filter(None, [why, as_text(judged)])))
