"""Does the order matter on every stimulus, on a few, or on none? Which are they?

A judge that is blind to the order except on one stimulus in ten has small averages. Here each
stimulus is tested alone: if the order does not matter, the verdicts on an item could be exchanged
between its orders. Every axis has these figures: it adds `figures` to its `ESTIMATES`, `measure` to
its measuring and `find` to its findings, and says what a verdict gives to each thing listed.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesheet.axis import Readings
from judgesheet.axis.arrays import Floats
from judgesheet.axis.figure import Draft, Figure, Figures, absent, measured
from judgesheet.axis.losses import NOT_THE_CELL, codes
from judgesheet.axis.words import MOSTLY, SIGNIFICANT, announced, keys, percent
from judgesheet.estimates import Estimates
from judgesheet.reasons import Reason
from judgesheet.records import Estimate, Statement
from judgesheet.stats.exchange import Exchanged, exchanged, stepdown, together
from judgesheet.stats.interval import cluster_rate, exactly

if TYPE_CHECKING:
    import pandas as pd

Gives = Callable[[Any, Sequence[Any]], Sequence[float]]
"""What a verdict gives to each of the things that were listed in this order."""
Answer = tuple[Any, Sequence[Any]]
"""A verdict, and the order in which things were listed."""

REST = 0.01
"""The other stimuli are said to show nothing only where their p-value together is above this: where
all stimuli share a weak effect some show it first, and the rest shows it together."""
MOST_NAMES = 3
"""Stimuli that a sentence names; `given` holds them all."""
SHOWN_ONLY = "no upper end: effects too weak to show on one stimulus are not counted"
TOO_FEW = Reason(
    "too_few_calls",
    "no stimulus was read in enough calls under different orders to be tested alone",
)

figure = Figures("")


@dataclass(frozen=True, slots=True)
class Shown:
    """Conditions of `unequal_stimuli`: the stimuli on which the order is shown to matter.

    The largest effect comes first. `of` is the number of stimuli tested, `rest_p` the p-value of
    "the order does not matter" on all others together, None if there is no other.
    """

    stimuli: list[str]
    of: int
    rest_p: float | None

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        return f"{len(self.stimuli)} of {self.of} stimuli"


@dataclass(frozen=True, slots=True)
class Largest:
    """Conditions of `largest_stimulus_effect`: its stimulus, and what noise alone would give."""

    stimulus: str
    place: int
    by_noise: float

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        return f"by noise alone {self.by_noise:.2f}"


def _named(stimuli: Sequence[str]) -> str:
    more = f" and {len(stimuli) - MOST_NAMES} more" if len(stimuli) > MOST_NAMES else ""
    return f": {', '.join(stimuli[:MOST_NAMES])}{more}" if stimuli else ""


@dataclass(frozen=True)  # no slots: figures share what is cached
class Stimuli:
    """The calls that were read (one row of `frame` each), stimulus by stimulus.

    `gives` says what a verdict gives to each thing listed, in `unit`.
    """

    frame: "pd.DataFrame"
    gives: Gives
    unit: str
    seed: int

    @cached_property
    def tested(self) -> Mapping[str, Exchanged]:
        """What the places of each stimulus get, if its calls allow a test of it alone."""
        rng = np.random.default_rng([self.seed, 13])
        read = self.frame[self.frame["value"].notna()]
        # Arms differ in which orders they show: the calls of an item are all exchangeable.
        cell = [one for one in read.columns if one not in NOT_THE_CELL and one != "arm"]
        columns = [read[name].tolist() for name in ("stimulus", "value", "order")]
        items: defaultdict[tuple[str, int], list[Answer]] = defaultdict(list)
        for stimulus, value, order, item in zip(
            *columns, codes(read[["stimulus", *cell]]), strict=True
        ):
            items[str(stimulus), item].append((value, order))
        places = max(map(len, columns[-1]), default=0)
        tables: defaultdict[str, list[tuple[Floats, Floats]]] = defaultdict(list)
        for (stimulus, _), answers in items.items():
            tables[stimulus].append(self._table(answers))
        sums = {name: exchanged(tables[name], places, rng) for name in tables}
        enough = log(1 / SIGNIFICANT)
        return {name: one for name, one in sums.items() if one.log_ways >= enough}

    def _table(self, answers: Sequence[Answer]) -> tuple[Floats, Floats]:
        """What each answer to an item gives to each thing, and where it lists it, from 0."""
        things = sorted({thing for _, order in answers for thing in order}, key=str)
        given = np.zeros((len(answers), len(things)))
        where = np.full((len(answers), len(things)), -1.0)
        for call, (value, order) in enumerate(answers):
            at = [things.index(thing) for thing in order]
            given[call, at], where[call, at] = self.gives(value, order), range(len(order))
        return given, where

    @cached_property
    def p(self) -> Mapping[str, float]:
        """p-value of each stimulus, corrected for their number."""
        tested = self.tested
        return dict(zip(tested, stepdown(list(tested.values())).tolist(), strict=True))

    @property
    def shown(self) -> tuple[str, ...]:
        """The stimuli on which the order is shown to matter, the largest effect first."""
        effects = {
            name: float(self.tested[name].departure.max())
            for name, p in self.p.items()
            if p < SIGNIFICANT
        }
        return tuple(sorted(effects, key=lambda name: -effects[name]))

    @property
    def rest_p(self) -> float | None:
        """The p-value of all other stimuli together."""
        shown = self.shown
        others = [one for name, one in self.tested.items() if name not in shown]
        return together(others).p() if others else None


# -- figures ---------------------------------------------------------------------------------------


@figure("share", symbol="U", null=0.0)
def unequal_stimuli(stimuli: Stimuli) -> Draft:
    """Share of stimuli on which the order is shown to matter by that stimulus's own calls.

    Each stimulus is tested alone: the orders of an item's calls are exchanged, and what each place
    gets is compared, corrected for the number of stimuli (Westfall-Young). Where the order matters
    nowhere, this is 0 in 95 of 100 runs. It counts effects that are shown, not all that exist: with
    few calls a stimulus shows only strong effects, so that the interval, that of a rate over
    stimuli, has a lower end only.
    """
    label = "Stimuli on which the order is shown to matter"
    if not stimuli.tested:
        return absent(label, TOO_FEW)
    shown, rest_p = stimuli.shown, stimuli.rest_p
    hits = np.array([float(name in shown) for name in stimuli.tested])
    given = Shown(list(shown), hits.size, rest_p)
    calls = sum(one.calls for one in stimuli.tested.values())
    rate = cluster_rate(hits, np.ones_like(hits))
    at_least = replace(rate, high=None, bounds=None, note=SHOWN_ONLY)
    return Draft(label, at_least, n=calls, given=given, note=_named(shown).removeprefix(": "))


@figure("p", better="")
def any_stimulus_p(stimuli: Stimuli) -> Draft:
    """p-value of "the order matters on no stimulus": the least over stimuli, corrected.

    As `unequal_stimuli`. It finds an effect that a few stimuli carry, which tests of averages over
    stimuli miss; for a weak effect shared by all stimuli it needs more data than they do.
    """
    label = "p: the order matters on no stimulus"
    if not stimuli.tested:
        return absent(label, TOO_FEW)
    method = "orders exchanged within items, step-down over stimuli, Monte Carlo"
    p = exactly(min(stimuli.p.values()), clusters=len(stimuli.tested), method=method)
    return Draft(label, p, n=sum(one.calls for one in stimuli.tested.values()))


@figure("share", symbol="E_max")
def largest_stimulus_effect(stimuli: Stimuli) -> Draft:
    """The most that a place gets on one stimulus beyond what it would if the order did not matter.

    For a judge that chooses, the excess share of its choices (.8 if it always takes one place of
    five); for a judge that scores, points per call. The largest of many noisy figures is biased
    upwards, so the conditions say what noise alone would give; the note names the stimulus.
    """
    label = "Largest effect of the order on one stimulus"
    if not stimuli.tested:
        return absent(label, TOO_FEW)
    effects = {name: one.departure for name, one in stimuli.tested.items()}
    worst = max(effects, key=lambda name: float(effects[name].max()))
    drawn = [((one.drawn - one.mean) / one.calls).max(axis=1) for one in stimuli.tested.values()]
    given = Largest(worst, int(effects[worst].argmax()) + 1, float(np.max(drawn, axis=0).mean()))
    method = "largest mean over a stimulus's calls less that of exchanged orders; no interval"
    value = exactly(float(effects[worst].max()), clusters=len(effects), method=method)
    calls, note = stimuli.tested[worst].calls, f"at place {given.place} on {worst}"
    return Draft(label, value, n=calls, given=given, note=note, unit=stimuli.unit)


FIGURES: Mapping[str, Figure[Stimuli]] = {
    one.name: one for one in (unequal_stimuli, any_stimulus_p, largest_stimulus_effect)
}
NAMES = frozenset(FIGURES)


def measure(axis: str, readings: Readings, gives: Gives, unit: str = "share") -> Iterator[Estimate]:
    """The estimates of `FIGURES` that the caller wants, as those of an axis."""
    wanted = [one.of(axis) for name, one in FIGURES.items() if readings.wants(name)]
    if wanted and len(readings.frame):
        yield from measured(wanted, Stimuli(readings.frame, gives, unit, readings.seed))


# -- words -----------------------------------------------------------------------------------------


def find(estimates: Estimates) -> Iterator[Statement]:
    """The stimuli on which the order matters, if it is not shown to matter on the others."""
    share, largest = estimates.known("unequal_stimuli"), estimates.known("largest_stimulus_effect")
    if share is None or largest is None or not share.value or share.value > MOSTLY:
        return
    stimuli, rest_p = share.given["stimuli"], share.given["rest_p"]
    if rest_p is None or rest_p < REST:
        return
    test, sure = estimates.known("any_stimulus_p"), announced(estimates, "any_stimulus_p")
    effect = largest.value or 0.0
    gets = f"{percent(effect)} of choices" if largest.unit == "share" else f"{effect:.1f} points"
    text = (
        f"The order {'matters' if sure else 'may matter'} on {len(stimuli)} of {share.given['of']} "
        f"stimuli, and on the others it is not shown to{_named(stimuli)}. On "
        f"{largest.given['stimulus']}, place {largest.given['place']} gets {gets} too much."
    )
    if not sure:
        text += " Of judges that are blind to the order, one in twenty shows as much."
    yield Statement(text, keys(share, largest, test), "bad" if sure else "neutral")
