"""One command takes each reply out of the ledger once, and parses equal ones once."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import judgesheet
from judgesheet.ledger.ledger import AskedCall, Ledger
from judgesheet.measuring import measure
from judgesheet.measuring.parsing import alike, reading

POLICY = """
[[limit]]
key = "score_order.repeat_change_rate"
max = 0.9
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was looked at until a policy was decided, with some lost replies."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    probe(folder)
    return folder


def probe(folder: Path) -> None:
    judgesheet.probe(
        "sim/first-biased?unreadable=0.1", folder / "run", axes=["score_order"], profile="smoke",
        pdf=False, until_decided=folder / "policy.toml",
    )  # fmt: skip


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(probe, id="a look at a finished run"),
        pytest.param(lambda folder: judgesheet.measure(folder / "run", pdf=False), id="measure"),
        pytest.param(lambda folder: judgesheet.cases(folder / "run"), id="cases"),
        pytest.param(
            lambda folder: judgesheet.cases(
                folder / "run", "score_order.order_change_rate", html=folder / "cases.html"
            ),
            id="cases with their page",
        ),
    ],
)
def test_nothing_is_read_twice(
    run: Path, command: Callable[[Path], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: Counter[str] = Counter()
    parsed: Counter[tuple[Any, ...]] = Counter()
    answers = Ledger.answers

    def counted(ledger: Ledger) -> Iterator[AskedCall]:
        for row in answers(ledger):
            taken[row[0]] += 1
            yield row

    def counting(axis: Any, text: str, reply: Any, cell: Any, *others: Any) -> Any:
        parsed[axis.NAME, text, reply, alike(axis, cell), *others] += 1
        return reading(axis, text, reply, cell, *others)

    monkeypatch.setattr(Ledger, "answers", counted)
    monkeypatch.setattr(measure, "reading", counting)
    command(run)
    with Ledger.open(run / "run" / "ledger.sqlite") as ledger:
        assert set(taken) == {row[0] for row in answers(ledger)}
    assert {*taken.values()} == {1}
    assert parsed
    assert {*parsed.values()} == {1}
