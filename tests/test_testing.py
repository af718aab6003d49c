"""The pytest plugin as its users have it."""

from dataclasses import replace

import pytest

from judgesheet.base.datasheet import to_json
from judgesheet.base.errors import RunError, UsageError
from judgesheet.base.facts import JudgeIdentity, Provenance, RunFacts
from judgesheet.base.records import AxisResult, Bounds, Datasheet, Estimate
from judgesheet.testing import assert_limit

pytest_plugins = ["pytester"]

KEY = "score_order.cramers_v"


@pytest.fixture
def sheet() -> Datasheet:
    known = Estimate(KEY, "V", 0.1, 0.05, 0.2, n=40, clusters=40, bounds=Bounds(0.06, 0.18))
    unknown = Estimate("score_order.pearson_r[arm=balanced]", "r", None, note="no labels")
    axis = AxisResult("score_order", "Order", "Does it?", 40, 40, 0, 0, 0, (known, unknown), ())
    return Datasheet("1", JudgeIdentity(), RunFacts(complete=True), Provenance(), (axis,))


def test_a_limit_holds_only_where_the_gate_would_pass(sheet: Datasheet) -> None:
    assert_limit(sheet, KEY, max=0.18)
    assert_limit(sheet, "score_order.cramers_v", min=0.06)
    with pytest.raises(AssertionError, match=r"BROKEN"):
        assert_limit(sheet, KEY, max=0.05)
    with pytest.raises(AssertionError, match=r"(?s)we print one order.*NOT PROVEN"):
        assert_limit(sheet, KEY, max=0.17, why="we print one order")
    with pytest.raises(AssertionError, match=r"NOT PROVEN"):
        assert_limit(sheet, "score_order.pearson_r[arm=balanced]", min=0.1)
    with pytest.raises(AssertionError, match=r"NOT USABLE"):
        assert_limit(replace(sheet, run=RunFacts(complete=False)), KEY, max=0.18)


def test_a_limit_that_is_none_is_no_failed_test(sheet: Datasheet) -> None:
    with pytest.raises(UsageError):
        assert_limit(sheet, KEY)
    with pytest.raises(RunError, match="nothing"):
        assert_limit(sheet, "nothing", max=1)


def test_a_project_tests_its_judge(sheet: Datasheet, pytester: pytest.Pytester) -> None:
    (pytester.path / "datasheet.json").write_text(to_json(sheet), encoding="utf-8")
    pytester.makepyfile(
        f"""
        from judgesheet.testing import assert_limit

        def test_kept(judge_datasheet):
            assert_limit(judge_datasheet, "{KEY}", max=0.18)

        def test_not_kept(judge_datasheet):
            assert_limit(judge_datasheet, "{KEY}", max=0.17)
        """
    )
    plugin = ("-p", "judgesheet.testing", "-p", "no:cacheprovider")
    done = pytester.runpytest(*plugin, "--judge-datasheet", "datasheet.json")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["*NOT PROVEN*"])
    pytester.runpytest(*plugin).assert_outcomes(errors=2)  # nobody said where it lies
    pytester.makeini("[pytest]\njudge_datasheet = datasheet.json")
    pytester.runpytest(*plugin).assert_outcomes(passed=1, failed=1)
