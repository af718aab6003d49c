"""Do verdicts depend on the call before, or on when they are asked for?

Repeats of a call stand close together. A judge that leans to its last verdict, or an endpoint that
changes meanwhile, makes them agree more than they would on another day. The calls on a stimulus are
asked in random order, so that every sequence of them was equally likely.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesheet.axis import Readings
from judgesheet.axis.arrays import Ints
from judgesheet.axis.figure import Figure, Figures, UnkeyedEstimate, absent, measured
from judgesheet.axis.items import codes, items, value_codes
from judgesheet.axis.statements import p_value
from judgesheet.axis.views import PointsByPlace, no_reply
from judgesheet.base.estimates import Estimates
from judgesheet.base.missing_reasons import Reason
from judgesheet.base.records import Estimate
from judgesheet.stats.interval import without_interval
from judgesheet.stats.serial import STEADY, Serial, serial

if TYPE_CHECKING:
    import pandas as pd

CAVEAT = 0.05 / 8
"""Two tests on each of four axes share the error of the caveats of a sheet."""
NOT_RANDOM = Reason(
    "not_random", "these calls were not asked in random order, so a sequence says nothing"
)
Number = Callable[[Any, Sequence[Any]], float]
"""One number of a verdict on things that were listed in this order."""
figure = Figures(
    "", better="", cases=no_reply("it compares successive replies; no single one stands out")
)


@dataclass(frozen=True)  # no slots: figures share what is cached
class Sequenced:
    """The calls of an axis in the sequence in which they were asked, as the plan has them.

    `number` is what a verdict counts, in `unit`.
    """

    frame: "pd.DataFrame"
    number: Number
    unit: str

    @cached_property
    def found(self) -> Serial | None:
        """What the calls owe to their place in the sequence; None where it was not random."""
        read = self.frame[self.frame["value"].notna() & (self.frame["reply"] != "recorded")]
        if read.empty:
            return None
        pairs = zip(read["value"], read["order"], strict=True)
        numbers = np.array([self.number(value, order) for value, order in pairs], dtype=np.float64)
        # Arms show the same item under other orders.
        item = items(read, across_arms=True)
        means = np.bincount(item, weights=numbers) / np.bincount(item)
        return serial(numbers - means[item], shuffled_within(read), value_codes(read["cluster"]))


def shuffled_within(calls: "pd.DataFrame") -> Ints:
    """Within what calls were shuffled, as codes from 0: their stimulus, or their item.

    Plans of earlier versions have all calls on one response together.
    """
    item = codes(calls[[name for name in ("stimulus", "item") if name in calls]])
    # As often as there are items the item changes, or more often, where it comes back to one.
    stand_together = np.count_nonzero(np.diff(item)) < np.unique(item).size
    return item if stand_together else codes(calls[["stimulus"]])


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

    Every sequence of the calls on a stimulus was equally likely; Wald and Wolfowitz's (1943) serial
    correlation, with its exact mean and variance over all of them, summed over stimuli.
    """
    return _test("p: a verdict does not depend on the one before it", calls, "memory_p")


@figure("points", symbol="drift", null=0.0)
def drift(calls: Sequenced) -> UnkeyedEstimate:
    """Change of the verdicts on a stimulus from its first call to its last, in points.

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


FIGURES: Mapping[str, Figure[Sequenced]] = {
    one.name: one for one in (memory, memory_p, drift, drift_p)
}
NAMES = frozenset(FIGURES)


def measure(axis: str, readings: Readings, number: Number, unit: str) -> Iterator[Estimate]:
    """The estimates of `FIGURES` that the caller wants, as those of an axis."""
    mine = {name: Figures(axis).of(one) for name, one in FIGURES.items()}
    if len(readings.frame):
        yield from measured(mine, Sequenced(readings.frame, number, unit), readings.families)


def mean_of(points_by_place: PointsByPlace) -> Number:
    """The mean of what a verdict gives to the things listed."""
    return lambda verdict, order: float(np.mean(points_by_place(verdict, order)))


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
