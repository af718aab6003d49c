"""Printed words decide nothing: with every one of them replaced, the sheet says the same things.

Labels, methods, notes and conditions are for readers. Whoever renames one must not move a bound,
a verdict, an effect or a recommendation.
"""

import dataclasses
import importlib
import pkgutil
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pytest

from judgesheet import stats
from judgesheet.axes import all_axes
from judgesheet.base.facts import JudgeIdentity, Provenance, RunFacts
from judgesheet.base.records import (
    Bounds,
    Control,
    Estimate,
    MeasuredAxis,
    MeasuredSheet,
)
from judgesheet.decide import decide
from judgesheet.decide.policy import load
from judgesheet.sheet.context import context
from tests.simulate import simulate

WORDS = ("label", "method", "conditions", "note")
CONTROL_WORDS = ("name", "text")


@dataclass(frozen=True)
class Said:
    """What a sheet decides, without a word of how it says so."""

    numbers: dict[str, Any]
    effects: list[tuple[str, str, float | None]]
    advice: list[tuple[tuple[str, ...], int | None]]
    controls: list[tuple[bool | None, tuple[str, ...]]]
    rows: list[Any]
    caveats: int
    verdicts: list[Any]
    marks: list[tuple[str, Any]]
    checks: list[bool | None]


def scrambler() -> Callable[[], str]:
    rng = random.Random(7)
    letters = "abcdefghijklmnopqrstuvwxyz"
    return lambda: "".join(rng.choices(letters, k=12))


def scramble(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on every word that a result, an estimate or a bound is given is another one."""
    word = scrambler()
    for record in (Estimate, Bounds, *_results()):
        init = vars(record)["__init__"]
        monkeypatch.setattr(record, "__init__", _scrambling(init, word, WORDS))
    asked = _scrambling(vars(Control)["__init__"], word, CONTROL_WORDS)
    monkeypatch.setattr(Control, "__init__", asked)


def _results() -> Iterator[type]:
    """The dataclasses of `stats` that carry words."""
    for module in pkgutil.iter_modules(stats.__path__):
        for thing in vars(importlib.import_module(f"{stats.__name__}.{module.name}")).values():
            if isinstance(thing, type) and dataclasses.is_dataclass(thing):
                names = {field.name for field in dataclasses.fields(thing)}
                if names & {"note", "method"} and thing.__module__.startswith(stats.__name__):
                    yield thing


def _scrambling(
    init: Callable[..., None], word: Callable[[], str], names: tuple[str, ...]
) -> Callable[..., None]:
    def scrambling(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        for name in names:
            if getattr(self, name, ""):
                object.__setattr__(self, name, word())

    return scrambling


def lossy(frame: pd.DataFrame) -> pd.DataFrame:
    """Some replies lost, so that figures go missing for several reasons."""
    kept = frame.copy()
    kept.loc[kept.index[::3], "text"] = "no number at all"
    return kept


def one_order(frame: pd.DataFrame) -> pd.DataFrame:
    """A log: recorded verdicts in one order only."""
    first = frame.drop_duplicates(["stimulus"]).index
    kept = frame.loc[first].copy()
    kept["reply"] = "recorded"
    return kept


EDITS: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "whole": lambda frame: frame,
    "lossy": lossy,
    "one order": one_order,
}
CASES = [
    *(("first-biased", "whole"), ("unreadable", "whole"), ("constant", "lossy")),
    *(("fair", "lossy"), ("noisy?unreadable=0.2", "one order")),
]
"""Judges that are broken or say nothing, and figures that go missing for several reasons."""


def said(axis: str, spec: str, edit: str) -> Said:
    loses = edit == "lossy" or "unreadable=" in spec
    # Lost replies are measured a dozen times over: there the fewest prompts that caveats ask for.
    sheet = simulate(spec, "first" if loses else "quick", axis, edit=EDITS[edit])
    return decided(sheet.result)


def decided(result: MeasuredAxis) -> Said:
    judged = decide(
        MeasuredSheet("1.2", JudgeIdentity("sim"), RunFacts(), Provenance(), (result,)),
        load("ranking"),
    )
    judged = decide(judged, load("scoring"))
    page = context(judged)
    return Said(
        numbers={
            e.key: (e.value, e.low, e.high, e.level, e.n, e.clusters, e.reason, e.given,
                    e.bounds and (e.bounds.low, e.bounds.high, e.bounds.proves))
            for e in result.estimates
        },
        effects=[(one.key, one.verdict, one.bound) for one in judged.axes[0].effects],
        advice=[(one.keys, one.calls) for one in judged.recommendations],
        controls=[(control.passed, control.evidence) for control in result.controls],
        rows=[*result.characteristics, *((one.before, one.after) for one in result.mitigations)],
        caveats=len(result.caveats),
        verdicts=[(v.key, v.status, v.bound, v.limit, v.warns) for v in judged.verdicts],
        marks=[(key, figure.mark) for key, figure in page.figures.items()],
        checks=[control.passed for control in page.controls],
    )  # fmt: skip


@pytest.mark.parametrize(("spec", "edit"), CASES)
@pytest.mark.parametrize("axis", all_axes())
def test_no_word_decides(axis: str, spec: str, edit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = said(axis, spec, edit)
    scramble(monkeypatch)
    scrambled = said(axis, spec, edit)
    for field in dataclasses.fields(Said):
        assert getattr(scrambled, field.name) == getattr(expected, field.name), field.name


def test_the_words_are_really_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    scramble(monkeypatch)
    result = simulate("fair", "smoke", "score_order", edit=EDITS["whole"]).result  # not shared
    words = [getattr(e, name) for e in result.estimates for name in WORDS]
    assert all(word.isalpha() and word.islower() and len(word) == 12 for word in words if word)
