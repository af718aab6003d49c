"""Do verdicts depend on the call before, or on when they are asked for?

Repeats of a call stand close together. A judge that leans to its last verdict, or an endpoint that
changes meanwhile, makes them agree more than they would on another day. The calls of an item (of a
task, of a list) are asked in random order, so that every sequence of them was equally likely.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesheet.axis import Readings
from judgesheet.axis.arrays import Floats, Ints
from judgesheet.axis.figure import Figure, Figures, UnkeyedEstimate, absent, measured
from judgesheet.axis.items import codes, items, value_codes
from judgesheet.axis.statements import keys, p_value
from judgesheet.base.estimates import Estimates
from judgesheet.base.missing_reasons import Reason
from judgesheet.base.records import Control, Estimate
from judgesheet.stats.interval import without_interval
from judgesheet.stats.serial import STEADY, Late, Serial, late_share, serial

if TYPE_CHECKING:
    import pandas as pd

CAVEAT = 0.05 / 8
"""Two tests on each of four axes share the error of the caveats of a sheet."""
LATE_ERROR = 1e-6
"""Replies that are one call late show by less than 1e-17 in quick sheets: no error of page one is
spent on them."""
LEANS = 0.3
"""A judge that gives its last verdict again in one call of five has .2, and is not late."""
MIXED = Reason("mixed", "the calls on one pair do not stand together")
NOT_RANDOM = Reason(
    "not_random", "these calls were not asked in random order, so a sequence says nothing"
)
ITEM, STIMULUS = ("stimulus", "item"), ("stimulus",)
"""What the calls of an axis are shuffled within."""
Number = Callable[[Any, Sequence[Any]], float]
"""One number of a verdict on things that were listed in this order."""
PointsByPlace = Callable[[Any, Sequence[Any]], Sequence[float]]
"""What a verdict gives to each of the things that were listed in this order."""
figure = Figures("", better="")


@dataclass(frozen=True)  # no slots: figures share what is cached
class Sequenced:
    """The calls of an axis in the sequence in which they were asked, as the plan has them.

    `block` names what was shuffled within: the columns of which calls with equal values stand
    together; `number` is what a verdict counts, in `unit`.
    """

    frame: "pd.DataFrame"
    number: Number
    unit: str
    block: Sequence[str]

    @cached_property
    def _asked(self) -> tuple[Floats, Floats, Ints, Ints] | None:
        """Numbers, those less the means of their items, blocks and clusters, each (calls,)."""
        read = self.frame[self.frame["value"].notna() & (self.frame["reply"] != "recorded")]
        if read.empty:
            return None
        pairs = zip(read["value"], read["order"], strict=True)
        numbers = np.array([self.number(value, order) for value, order in pairs], dtype=np.float64)
        # Arms show the same item under other orders.
        item = items(read, across_arms=True)
        means = np.bincount(item, weights=numbers) / np.bincount(item)
        block, clusters = codes(read[list(self.block)]), value_codes(read["cluster"])
        return numbers, numbers - means[item], block, clusters

    @cached_property
    def found(self) -> Serial | None:
        """What the calls owe to their place in the sequence; None where it was not random."""
        return None if self._asked is None else serial(*self._asked[1:])

    @cached_property
    def late(self) -> Late | Reason:
        """Whether replies are one call late, or why that cannot be told."""
        if self._asked is None:
            return NOT_RANDOM
        return late_share(*self._asked) if self.block == ITEM else MIXED


@figure("r", symbol="ρ_prev", null=0.0)
def memory(calls: Sequenced) -> UnkeyedEstimate:
    """Correlation of a verdict with the one before it on the stimulus, beyond its item's mean.

    0 if calls know nothing of each other; above 0, a verdict leans to the last one, and repeats
    agree more than they would apart. What chance gives in a random sequence is taken off, exactly.
    Delete-a-cluster jackknife, t. A verdict counts as its score, the mean of its scores, or the
    slot that it chooses.
    """
    label = "A verdict repeats the one before it"
    found = calls.found
    if found is None:
        return absent(label, NOT_RANDOM)
    return UnkeyedEstimate(label, found.memory, n=found.n)


@figure("p")
def memory_p(calls: Sequenced) -> UnkeyedEstimate:
    """p-value of "a verdict does not depend on the call before it".

    Every sequence of the calls on an item was equally likely; Wald and Wolfowitz's (1943) serial
    correlation, with its exact mean and variance over all of them, summed over items.
    """
    return _test("p: a verdict does not depend on the one before it", calls, "memory_p")


@figure("points", symbol="drift", null=0.0)
def drift(calls: Sequenced) -> UnkeyedEstimate:
    """Change of the verdicts on an item from its first call to its last, in points.

    On pairs: of the share of slot 1 less that of slot 2. A drift that is slower than the calls on
    one stimulus cannot be distinguished from stimuli that differ. Delete-a-cluster jackknife, t.
    """
    label = "Change from the first call on a stimulus to the last"
    found = calls.found
    if found is None:
        return absent(label, NOT_RANDOM)
    return UnkeyedEstimate(label, found.drift, n=found.n, unit=calls.unit)


@figure("p")
def drift_p(calls: Sequenced) -> UnkeyedEstimate:
    """p-value of "verdicts do not depend on when they are asked for", within a stimulus.

    As `memory_p`, of the covariance of verdicts with their place in the sequence.
    """
    return _test("p: verdicts do not change while a stimulus is asked about", calls, "drift_p")


def _test(label: str, calls: Sequenced, name: str) -> UnkeyedEstimate:
    found = calls.found
    if found is None:
        return absent(label, NOT_RANDOM)
    p = getattr(found, name)
    if p is None:
        return absent(label, STEADY)
    method = "random sequence, exact mean and variance, normal"
    clusters = found.memory.clusters
    return UnkeyedEstimate(label, without_interval(p, clusters=clusters, method=method), n=found.n)


@figure("coefficient", symbol="λ", null=0.0)
def late(calls: Sequenced) -> UnkeyedEstimate:
    """How far a verdict is that on the call before: 0 not at all, 1 each one is.

    The calls on one response (or list) stand together in random order. Its first verdict is
    compared with its others and with those on the one before, weighted by the square of how far the
    two differ. Delete-a-cluster jackknife, t.

    n counts the responses that differ from the one before.
    """
    label = "Verdicts that are one call late"
    found = calls.late
    if isinstance(found, Reason):
        return absent(label, found)
    return UnkeyedEstimate(label, found.share, n=found.n)


@figure("p")
def late_p(calls: Sequenced) -> UnkeyedEstimate:
    """p-value of "the first verdict on a response is like its others", against the one before it.

    Of n calls on a response each was equally likely to be the first, so that its verdict lies
    beyond all others, towards those on the response before, in one of n at most: exact at any size.
    """
    label = "p: verdicts are not one call late"
    found = calls.late
    if isinstance(found, Reason):
        return absent(label, found)
    if found.p is None:
        return absent(label, STEADY)
    method = "random sequence, exact binomial bound"
    interval = without_interval(found.p, clusters=found.share.clusters, method=method)
    return UnkeyedEstimate(label, interval, n=found.n)


FIGURES: Mapping[str, Figure[Sequenced]] = {
    one.name: one for one in (memory, memory_p, drift, drift_p, late, late_p)
}
NAMES = frozenset(FIGURES)


def measure(
    axis: str, readings: Readings, number: Number, unit: str, block: Sequence[str]
) -> Iterator[Estimate]:
    """The estimates of `FIGURES` that the caller wants, as those of an axis."""
    mine = {name: Figures(axis).of(one) for name, one in FIGURES.items()}
    if len(readings.frame):
        yield from measured(mine, Sequenced(readings.frame, number, unit, block), readings.families)


def mean_of(points_by_place: PointsByPlace) -> Number:
    """The mean of what a verdict gives to the things listed."""
    return lambda verdict, order: float(np.mean(points_by_place(verdict, order)))


def control(estimates: Estimates) -> Iterator[Control]:
    """That replies belong to their calls, where they are shown to belong to the calls before."""
    share, test = estimates.known("late"), estimates.known("late_p")
    if share is None or test is None or share.low is None or test.value is None:
        return
    if test.value < LATE_ERROR and share.low > LEANS:
        yield Control(
            "each reply is that to its own call",
            False,
            "the first verdict on a response is not like its others but like those on the one "
            f"before it ({p_value(test)}): replies are one call late",
            keys(share, test),
            "own_replies",
            of="run",
            mend="find out where replies fall behind (a queue, a shared variable or session, a "
            "gateway), and ask everything anew with --fresh",
        )


def warn(estimates: Estimates) -> Iterator[str]:
    """What repeats and intervals of such a judge do not show."""
    memory = estimates.known("memory")
    towards = "to" if memory is not None and (memory.value or 0.0) > 0 else "away from"
    sentences = {
        "memory": f"Verdicts lean {towards} the one before them",
        "drift": "Verdicts change while a stimulus is asked about",
    }
    for name, text in sentences.items():
        test = estimates.known(f"{name}_p")
        if test is not None and test.value is not None and test.value < CAVEAT:
            yield (
                f"{text} ({p_value(test)}): repeats made shortly after each other agree "
                "differently than readings on other days would."
            )
