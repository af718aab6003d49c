"""Two runs on the same stimuli: how far the difference of each figure wavers.

Stimuli that are hard for one judge are hard for another, and a call that both answered alike adds
nothing to a difference: so it is known better than either figure. Every figure is computed again by
the axis's own `measure` with one stimulus and its near copies left out of both runs at a time; what
that does to the difference is its error (jackknife).
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from judgesheet.axes import all_axes
from judgesheet.axis import Axis, Readings
from judgesheet.axis.arrays import Floats
from judgesheet.axis.items import cell_names
from judgesheet.base.keys import Key
from judgesheet.base.limits import MOST_GROUPS
from judgesheet.decide.compare import IntervalEstimate, Pairing, Same
from judgesheet.measuring.measure import leave_out
from judgesheet.stats.paired import ends_of_difference
from judgesheet.stats.standard_error import ROUNDING

FEWEST_STIMULI = 6  # below that an error is mostly chance
SAID = ("outcome", "value", "shape", "distribution")
"""What a call gave."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A figure of two runs without each group of stimuli in turn, shape (groups,) each."""

    old: Floats
    new: Floats

    @property
    def correlation(self) -> float | None:
        """How far the stimuli move both figures alike."""
        if min(np.ptp(self.old), np.ptp(self.new)) <= ROUNDING:
            return None
        return float(np.corrcoef(self.old, self.new)[0, 1])

    @property
    def method(self) -> str:
        """How the interval is made."""
        return f"paired by stimulus and call: jackknife of the difference, {self.old.size} groups"

    def around(self, value: float, of: Callable[[Floats], Floats]) -> IntervalEstimate:
        """The difference `value` of a function of the two figures, with its 95 % interval."""
        return IntervalEstimate(value, *ends_of_difference(value, of(self.new) - of(self.old)))


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
    """Per key of one axis; nothing where few stimuli are in both runs, or none moves a figure."""
    if same_replies(old, new):
        mine = (key for key in keys if Key.parse(key).axis == axis.NAME)
        yield from ((key, Same()) for key in mine)
        return
    groups = _groups(old, new)
    # One seed, or what figures draw at random would look like a difference.
    runs = old, replace(new, seed=old.seed)
    before, after = (leave_out(axis, readings, groups, keys) for readings in runs)
    for key in before:
        known = ~(np.isnan(before[key]) | np.isnan(after[key]))
        found = LeftOut(before[key][known], after[key][known])
        # Where no stimulus makes a difference, nothing is known of those that were not asked.
        if known.sum() >= FEWEST_STIMULI and np.ptp(found.new - found.old) > ROUNDING:
            yield key, found


def same_replies(old: Readings, new: Readings) -> bool:
    """Whether two runs asked the same and got the same, call by call."""
    return old.labels == new.labels and _by_question(old) == _by_question(new)


def _by_question(readings: Readings) -> dict[str, str]:
    """What each call gave; a call is a question with its order and repeat."""
    frame = readings.frame
    asked = ["stimulus", *cell_names(frame), *({"order", "repeat"} & {*frame.columns})]
    columns = [name for name in SAID if name in frame]
    rows = zip(frame[sorted(asked)].to_numpy(), frame[columns].to_numpy(), strict=True)
    return {str(question.tolist()): str(answer.tolist()) for question, answer in rows}


def _groups(old: Readings, new: Readings) -> list[frozenset[str]]:
    """Stimuli that are left out together; none where few are in both runs."""
    # Runs of earlier versions know no copies.
    coarse, fine = sorted((old.clusters, new.clusters), key=len)
    covered = frozenset[str]().union(*coarse.values())
    both = frozenset[str]().union(*fine.values()) & covered
    if sum(bool(stimuli & both) for stimuli in coarse.values()) < FEWEST_STIMULI:
        return []
    clusters = [*coarse.values(), *filter(None, (one - covered for one in fine.values()))]
    shuffled = np.random.default_rng(0).permutation(len(clusters))
    count = min(len(clusters), MOST_GROUPS)
    return [
        frozenset[str]().union(*(clusters[at] for at in shuffled[start::count]))
        for start in range(count)
    ]
