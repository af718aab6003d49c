"""Memory and drift: tests of their size, intervals of what was planted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from judgesheet import axis as kit
from judgesheet import stats
from judgesheet.axes import all_axes
from judgesheet.axis.figure import Figures
from judgesheet.axis.serial import FIGURES, ITEM, Sequenced
from judgesheet.base.records import Estimate
from proof.lines import SEED, Line, Rng, Rows, Tally, Truths
from proof.runner import Result
from proof.tables import figures

MOVED_BY = (kit, stats)
SIZES = {12: 400, 24: 300, 100: 200}
CALLS = 16
"""On each of the two items of a stimulus."""
POPULATION = 4_000
AXES = tuple(name for name, axis in all_axes().items() if "memory" in axis.ESTIMATES)


@dataclass(frozen=True)
class Judge:
    """Scores of 1 to 5 with `noise` about an item's own.

    A share `copies` is the score before it; over the calls on an item scores rise by `rise` points.
    Only a share `slips` of scores differs from the item's own, None if any may. Where `late`, every
    score is that of the call before.
    """

    noise: float = 0.8
    copies: float = 0.0
    rise: float = 0.0
    slips: float | None = None
    late: bool = False

    def draw(self, stimuli: int, rng: Rng) -> pd.DataFrame:
        """The calls in the sequence in which they were asked."""
        items, calls = 2 * stimuli, CALLS
        own = rng.normal(3, 0.7, (items, 1)) + self.rise * np.linspace(-0.5, 0.5, calls)
        scores = np.clip(np.round(own + self.noise * rng.normal(size=(items, calls))), 1, 5)
        if self.slips is not None:
            scores = np.where(rng.random(scores.shape) < self.slips, scores, np.round(own[:, :1]))
        for call in range(1, calls):
            copied = rng.random(items) < self.copies
            scores[copied, call] = scores[copied, call - 1]
        item = np.repeat(np.arange(items), calls)
        scores = np.roll(scores, self.late)
        return pd.DataFrame({
            "stimulus": item // 2, "cluster": item // 2, "item": item, "value": scores.ravel(),
            "order": [()] * scores.size, "reply": "json",
        })  # fmt: skip


NONE = {"memory": 0.0, "drift": 0.0, "late": 0.0}
JUDGES: dict[str, tuple[Judge, Truths]] = {
    "calls know nothing of each other": (Judge(), NONE),
    "hardly any noise": (Judge(noise=0.3), NONE),
    "one score in ten is a slip": (Judge(slips=0.1), NONE),
    "one score in five is the one before it": (Judge(copies=0.2), {"drift": 0.0}),
    "every score is that of the call before": (Judge(late=True), {}),
    "scores rise by half a point over the calls on an item": (Judge(noise=1.0, rise=0.5), {}),
}
"""Each with what is known of it."""


def _estimates(judge: Judge, stimuli: int, rng: Rng) -> Iterator[Estimate]:
    """What a sheet would say: on each axis of data of its own."""
    for axis in AXES:
        calls = Sequenced(judge.draw(stimuli, rng), _score, "points", ITEM)
        for figure in FIGURES.values():
            yield from Figures(axis).of(figure)(calls)


def _score(score: float, _order: Sequence[Any]) -> float:
    return float(score)


def _truths(judge: Judge, known: Truths) -> Truths:
    rng = np.random.default_rng([SEED, 0])
    return {
        one.key: known.get(one.key.partition(".")[2], one.value)
        for one in _estimates(judge, POPULATION, rng)
        if one.value is not None
    }


def _run(judge: Judge, stimuli: int, sets: int, rng: Rng, truths: Truths) -> Rows:
    tally = Tally(names_axes=True)
    for _ in range(sets):
        tally.next()
        for estimate in _estimates(judge, stimuli, rng):
            tally.judge(estimate, truths)
    return tally.rows()


def lines() -> Iterator[Line]:
    """Every judge at every size."""
    for data, (judge, known) in JUDGES.items():
        # Only a judge of which both are known has neither.
        nulls = frozenset(f"{axis}.{name}_p" for axis in AXES for name in NONE)
        truths = partial(_truths, judge, known)
        for stimuli, sets in SIZES.items():
            run = partial(_run, judge, stimuli)
            null = nulls if known == NONE else frozenset[str]()
            yield Line(data, stimuli, sets, run, truths, nulls=null)


def fields(results: Sequence[Result]) -> dict[str, str]:
    """What the text of the page leaves open."""
    return figures(results)
