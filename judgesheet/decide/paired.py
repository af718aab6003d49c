"""Two runs on the same stimuli: how far the difference of each figure wavers.

Stimuli that are hard for one judge are hard for another, and a call that both answered alike adds
nothing to a difference: so it is known better than either figure. Stimuli, each with its near
copies, are drawn with replacement, the same ones for both runs and all figures, and every figure is
computed in each draw by the functions that the sheet has it from. The error of a difference is its
standard deviation over the draws; leaving each stimulus out tells how skewed it is, and how many
stimuli make it.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
import pandas as pd

from judgesheet.axes import all_axes
from judgesheet.axis import Axis, Readings, losses
from judgesheet.axis.arrays import Floats
from judgesheet.axis.items import cell_names
from judgesheet.base.keys import Key
from judgesheet.base.limits import MOST_GROUPS
from judgesheet.decide.bounded_value import BoundedValue
from judgesheet.decide.compare import Pairing, Same
from judgesheet.measuring.scale import POINTS
from judgesheet.stats.draws import Draws, drawing
from judgesheet.stats.paired import ends_of_difference
from judgesheet.stats.standard_error import ROUNDING, carriers

FEWEST_STIMULI = 6  # below that an error is mostly chance
DRAWS, LEAST_DEFINED = 1000, 0.9
"""Draws, and the share of them in which a figure must have a value."""
SAID = ("outcome", "value", "shape", "distribution")
"""What a call gave."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure of two runs in every draw of stimuli, and without each of them in turn.

    `old` and `new` have shape (draws,), `without` (2, stimuli): old and new. `clusters` is how many
    independent stimuli the figure reads.
    """

    old: Floats
    new: Floats
    without: Floats
    clusters: int

    @property
    def correlation(self) -> float | None:
        """How far the stimuli move both figures alike."""
        if min(np.ptp(self.old), np.ptp(self.new)) <= ROUNDING:
            return None
        return float(np.corrcoef(self.old, self.new)[0, 1])

    @property
    def method(self) -> str:
        """How the interval is made."""
        return f"paired by stimulus: cluster bootstrap, {self.old.size:,} draws, t with skewness"

    def around(self, value: float, of: Callable[[Floats], Floats]) -> BoundedValue | None:
        """The difference `value` of a function of the two figures, with its 95 % interval."""
        (before, after), drawn = of(self.without), of(self.new) - of(self.old)
        # Of stimuli that were not asked nothing is known where none of these moves it.
        if not carriers(after - before):
            return None
        # A draw's variance divides by G, not by G - 1.
        error = float(drawn.std()) * sqrt(self.clusters / (self.clusters - 1))
        low, high = ends_of_difference(value, error, after - before)
        return BoundedValue(value, low, high, self.clusters - 1)


def pairings(
    old: Mapping[str, Readings], new: Mapping[str, Readings], keys: Collection[str]
) -> dict[str, Pairing]:
    """Of each of these keys, what two runs on the same stimuli show of its difference."""
    return {
        key: pairing
        for name in old.keys() & new.keys()
        for key, pairing in between(all_axes()[name], old[name], new[name], keys)
    }


def between(
    axis: Axis, old: Readings, new: Readings, keys: Collection[str]
) -> Iterator[tuple[str, Pairing]]:
    """Per key of one axis; nothing where few stimuli are in both runs."""
    mine = [key for key in keys if Key.parse(key).axis == axis.NAME]
    if same_replies(old, new) and lost_alike(old, new):
        yield from ((key, Same()) for key in mine)
        return
    codes, groups = _codes(old, new)
    if not groups:
        return
    families = frozenset(Key.parse(key).name for key in mine)
    times = np.random.default_rng(0).multinomial(groups, np.full(groups, 1 / groups), DRAWS)
    weights = np.concatenate([times, 1.0 - np.eye(groups)])
    before, after = (
        _drawn(axis, replace(one, families=families), codes, weights) for one in (old, new)
    )
    for key in before.keys() & after.keys() & {*mine}:
        (first, least), (second, most) = before[key], after[key]
        both, clusters = np.stack([first, second]), min(least, most)
        drawn, without = both[:, :DRAWS], both[:, DRAWS:]
        defined = ~np.isnan(drawn).any(axis=0)
        # Where it has no value in many draws, few stimuli carry it.
        if clusters > 1 and defined.mean() > LEAST_DEFINED and not np.isnan(without).any():
            yield key, Drawn(drawn[0][defined], drawn[1][defined], without, clusters)


def _drawn(
    axis: Axis, readings: Readings, codes: Mapping[str, int], weights: Floats
) -> dict[str, tuple[Floats, int]]:
    """Per key, what it is in every draw, and how many independent stimuli it reads."""
    draws, scale = Draws(weights, codes), readings.scale
    code = readings.frame["stimulus"].map(codes).astype(np.int64)
    with drawing(draws):
        estimates = [*axis.measure(replace(readings, frame=readings.frame.assign(cluster=code)))]
    # Sheets have points of the user's own scale.
    step = 1.0 if scale is None else scale.step
    return {
        one.key: (draws.values[one.key] * (step if one.unit == POINTS else 1.0), one.clusters)
        for one in estimates
        if one.key in draws.values
    }


def _codes(old: Readings, new: Readings) -> tuple[dict[str, int], int]:
    """A code from 0 per stimulus, the same for copies, and how many; 0 where few are in both."""
    # Runs of earlier versions know no copies.
    coarse, fine = sorted((old.clusters, new.clusters), key=len)
    names = {stimulus: name for name, alike in fine.items() for stimulus in alike}
    names |= {stimulus: name for name, alike in coarse.items() for stimulus in alike}
    both = old.frame["stimulus"].unique(), new.frame["stimulus"].unique()
    common = {names[stimulus] for stimulus in {*both[0]} & {*both[1]}}
    if len(common) < FEWEST_STIMULI:
        return {}, 0
    every = {name: place for place, name in enumerate(dict.fromkeys(names.values()))}
    # Groups of stimuli at random where they are many: draws of each would take much memory.
    groups = min(len(every), MOST_GROUPS)
    place = np.random.default_rng(0).permutation(len(every)) % groups
    return {stimulus: int(place[every[name]]) for stimulus, name in names.items()}, groups


def same_replies(old: Readings, new: Readings) -> bool:
    """Whether two runs asked the same and got the same, call by call."""
    return old.labels == new.labels and _by_question(old) == _by_question(new)


def lost_alike(old: Readings, new: Readings) -> bool:
    """Whether every lost call of two runs with the same replies has words, and the same ones.

    Of calls that failed nobody knows whether they would have said the same.
    """
    mine, theirs = _unread(old), _unread(new)
    return mine == theirs and all(mine.values())


def _unread(readings: Readings) -> dict[str, str]:
    """The words of each lost call."""
    gone = readings.frame[losses.lost(readings.frame)]
    texts = pd.Series(dtype=str) if readings.texts is None else readings.texts
    words = (str(texts.get(call_id) or "").strip() for call_id in gone["call_id"])
    return dict(zip(_questions(gone), words, strict=True))


def _by_question(readings: Readings) -> dict[str, str]:
    """What each call gave."""
    frame = readings.frame
    said = [name for name in SAID if name in frame]
    answers = (str(answer.tolist()) for answer in frame[said].to_numpy())
    return dict(zip(_questions(frame), answers, strict=True))


def _questions(frame: pd.DataFrame) -> list[str]:
    """The question of each call, with its order and repeat."""
    asked = ["stimulus", *cell_names(frame), *({"order", "repeat"} & {*frame.columns})]
    return [str(question.tolist()) for question in frame[sorted(asked)].to_numpy()]
