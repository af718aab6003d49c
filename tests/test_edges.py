"""At the edges: data that disagree more never make the sheet surer.

Judges that agree with themselves perfectly are made to slip in single calls. For every figure of
every axis, a slip must not bring the far end of an interval much nearer, nor that of a gate's
bounds, nor clear what could not be told before.
"""

import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from math import inf
from typing import Any

import pandas as pd
import pytest

from judgesheet.base.records import Estimate
from tests.simulate import Sheet, answered, simulate

NARROWING = 1 / 6
"""By how much of its length the far side of an interval may shrink with one more slip.

The share of stimuli that was missed and the sampling error share one error. Without
any slip there is no sampling error, and the share takes it all.
"""
ROUNDING = 1e-9
SLIPS = (0, 1, 3)
PLANTED = {"alike": "constant?greedy=1", "first": "constant?greedy=1", "perfect": "fair?greedy=1"}
"""Judges: the same answer everywhere, whatever stands first, what is deserved."""
ARMS = (
    ("score_order", "balanced"),
    ("candidate_order", "delta0_same"),
    ("candidate_order", "ladder"),
    ("criterion_order", "balanced"),
    ("listwise_consensus", "permuted"),
)
"""Axes, and which of their calls slip."""

Answer = dict[str, Any]


def score(answer: Answer, cell: Answer, place: int) -> Answer:
    return {"score": cell["order"][place]}


def criteria(answer: Answer, cell: Answer, place: int) -> Answer:
    listed = cell["order"]
    return {"scores": {name: 5 if at == place else 3 for at, name in enumerate(listed)}}


def verdict(answer: Answer, cell: Answer, place: int) -> Answer:
    return {"winner": ("1", "2", "tie")[place]}


def winner(answer: Answer, cell: Answer, place: int) -> Answer:
    scores = [90 if at == place else 50 for at in range(len(cell["order"]))]
    rows = zip(answer["candidates"], scores, strict=True)
    return {"candidates": [{**row, "score": score} for row, score in rows]}


CHOOSE: dict[str, Callable[[Answer, Answer, int], Answer]] = {
    "score_order": score,
    "candidate_order": verdict,
    "criterion_order": criteria,
    "listwise_consensus": winner,
}
"""How an answer says that it prefers what stands at a place (from 0)."""


def rewritten(frame: pd.DataFrame, axis: str, rows: list[int], place: int) -> pd.DataFrame:
    """The replies of these rows, each preferring one place."""
    texts, cells = frame["text"].tolist(), frame["cell"].tolist()
    for row in rows:
        answer, cell = json.loads(texts[row]), json.loads(cells[row])
        texts[row] = json.dumps(CHOOSE[axis](answer, cell, place))
    return frame.assign(text=texts)


def slipping(frame: pd.DataFrame, axis: str, rows: list[int]) -> pd.DataFrame:
    """Each of these replies with the first preference that differs from the one it had."""
    for row in rows:
        before = frame.iloc[row]["text"]
        other = (rewritten(frame, axis, [row], place) for place in (1, 2, 0))
        frame = next(one for one in other if one.iloc[row]["text"] != before)
    return frame


def rows_of(frame: pd.DataFrame, arm: str) -> list[int]:
    """Rows of the calls of an arm or a condition, stimulus by stimulus."""
    cells = frame["cell"].map(json.loads)
    kept = [
        arm in (cell.get("arm"), cell.get("condition")) and cell.get("prompt") != "strict"
        for cell in cells
    ]
    order = frame.reset_index()[kept].sort_values(["stimulus", "cell"], kind="stable")
    return order.index.tolist()


def slips(frame: pd.DataFrame, arm: str, spread: bool) -> list[int]:
    """Rows that slip one after the other: in one stimulus, or in as many stimuli."""
    rows = rows_of(frame, arm)
    if not spread:
        return rows[: max(SLIPS)]
    firsts = frame.iloc[rows].assign(row=rows).groupby("stimulus", sort=False)["row"].first()
    return [int(row) for row in firsts[: max(SLIPS)]]


@lru_cache(maxsize=8)
def planted(axis: str, judge: str, stimuli: int | None) -> pd.DataFrame:
    """The replies of a judge that agrees with itself."""
    _, frame = answered(PLANTED[judge], "quick", axis, 0, False, None)
    if stimuli is not None:
        frame = frame[frame["stimulus"].isin(frame["stimulus"].unique()[:stimuli])]
        frame = frame.reset_index(drop=True)
    if judge == "first":
        return rewritten(frame, axis, list(range(len(frame))), 0)
    if judge == "perfect" and axis in ("score_order", "criterion_order"):
        items = frame["cell"].map(lambda cell: json.loads(cell)["item"])
        return frame.assign(text=frame.groupby(items)["text"].transform("first"))
    return frame


def sheets(axis: str, arm: str, judge: str, spread: bool, stimuli: int | None) -> Iterator[Sheet]:
    """The sheets of a judge with no slip, one, and three."""
    rows = slips(planted(axis, judge, stimuli), arm, spread)
    for count in SLIPS:
        yield slipped(axis, judge, stimuli, tuple(rows[:count]))


@lru_cache(maxsize=64)  # none and the first are the same in one stimulus and in several
def slipped(axis: str, judge: str, stimuli: int | None, rows: tuple[int, ...]) -> Sheet:
    """The sheet of a judge that slips in these rows."""

    def edit(_: pd.DataFrame) -> pd.DataFrame:
        return slipping(planted(axis, judge, stimuli), axis, list(rows))

    return simulate(PLANTED[judge], "quick", axis, edit=edit)


def sides(estimate: Estimate) -> Iterator[tuple[str, float, float | None, float | None]]:
    """The interval of an estimate and its bounds: value, low end, high end.

    A range over choices of orders is neither: it holds no error of sampling.
    """
    if estimate.value is None or (estimate.bounds and not estimate.bounds.proves):
        return
    if estimate.low is not None or estimate.high is not None:
        yield "interval", estimate.value, estimate.low, estimate.high
    if estimate.bounds is not None:
        yield "bounds", estimate.value, estimate.bounds.low, estimate.bounds.high


def narrowed(before: Estimate, after: Estimate) -> Iterator[str]:
    """What became surer although the data disagree more.

    The far end is taken from the old value or from the new one, whichever is farther: near the end
    of its range an interval is cut as its value moves there, and elsewhere it moves with its value.
    """
    later = {name: (value, low, high) for name, value, low, high in sides(after)}
    for name, value, low, high in sides(before):
        if name not in later:
            continue
        new_value, *new = later[name]
        # A one-sided interval is compared on its side; an end that went missing is infinitely far.
        ends = [(old, end) for old, end in zip((low, high), new, strict=True) if old is not None]
        far = max(_far(value, [end for _, end in ends]), _far(new_value, [end for _, end in ends]))
        if far < (1 - NARROWING) * _far(value, [old for old, _ in ends]):
            yield f"{before.key} {name} {(value, low, high)} -> {later[name]}"


def _far(value: float, ends: list[float | None]) -> float:
    """From a value to the farthest of these ends."""
    return max(inf if end is None else abs(value - end) for end in ends)


def points(sheet: Sheet) -> Iterator[str]:
    """Figures whose interval is a point."""
    for estimate in sheet.result.estimates:
        for name, _, low, high in sides(estimate):
            if low is not None and high is not None and high - low < ROUNDING:
                yield f"{estimate.key} {name}: a point at {low}"


def cleared(before: Sheet, after: Sheet) -> set[str]:
    """Effects that the one sheet cannot tell and the other calls negligible."""
    unknown = {key for key, one in before.effects.items() if one.verdict == "inconclusive"}
    return {key for key in unknown if after.effects[key].verdict == "negligible"}


def given(sheet: Sheet) -> dict[str, int | None]:
    """How many stimuli each score was given to."""
    return {key: one.clusters for key, one in sheet.estimates.items() if ".selection[" in key}


@pytest.mark.parametrize("spread", [False, True], ids=["one stimulus", "several"])
@pytest.mark.parametrize("stimuli", [None, 2], ids=["quick", "two stimuli"])
@pytest.mark.parametrize("judge", PLANTED)
@pytest.mark.parametrize(("axis", "arm"), ARMS)
def test_a_slip_makes_no_sheet_surer(
    axis: str, arm: str, judge: str, spread: bool, stimuli: int | None
) -> None:
    whole, *worse = sheets(axis, arm, judge, spread, stimuli)
    assert not list(points(whole))
    for sheet in worse:
        assert not list(points(sheet))
        assert not cleared(whole, sheet)
        shared = whole.estimates.keys() & sheet.estimates.keys()
        pairs = [(whole.estimates[key], sheet.estimates[key]) for key in sorted(shared)]
        # Of two stimuli that differ by themselves, a slip in the one may bring them together, and
        # a share of fewer decisions is another one; and a score that one more stimulus was given is
        # known better.
        agree = [
            (one, other)
            for one, other in pairs
            if stimuli is None or (one.value in (0, 1) and one.n == other.n)
        ]
        comparable = [(one, other) for one, other in agree if one.clusters == other.clusters]
        if given(whole) != given(sheet):  # the costs of orders add up such scores
            comparable = [(one, other) for one, other in comparable if ".bias_cost" not in one.key]
        assert not [line for pair in comparable for line in narrowed(*pair)]
