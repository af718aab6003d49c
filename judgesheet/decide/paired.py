"""Two runs on the same stimuli: how far the difference of each figure wavers.

Stimuli that are hard for one judge are hard for another, and a call that both answered alike adds
nothing to a difference: so it is known better than either figure. Every figure is computed again by
the axis's own `measure` with one stimulus and its near copies left out of both runs at a time; what
that does to the difference is its error (jackknife). Where calls were lost, so is the difference of
the tables in which they are answered in the ways that move a figure furthest.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, product
from typing import NamedTuple

import numpy as np
import pandas as pd

from judgesheet.axes import all_axes
from judgesheet.axis import Axis, Readings, losses
from judgesheet.axis.arrays import Floats
from judgesheet.axis.items import cell_names
from judgesheet.base.keys import Key
from judgesheet.base.limits import MOST_GROUPS
from judgesheet.base.records import Estimate
from judgesheet.decide.bounded_value import BoundedValue
from judgesheet.decide.compare import Completion, Pairing, Same
from judgesheet.measuring.impute import imputed_tables
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
    completions: tuple[Completion, ...] | None = None

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

    def around(self, value: float, of: Callable[[Floats], Floats]) -> BoundedValue:
        """The difference `value` of a function of the two figures, with its 95 % interval."""
        return BoundedValue(value, *ends_of_difference(value, of(self.new) - of(self.old)))


class Answered(NamedTuple):
    """A figure of one run where its lost calls are answered, and without each group of stimuli."""

    figure: BoundedValue
    left_out: Floats


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
    same = same_replies(old, new)
    if same and lost_alike(old, new):
        mine = (key for key in keys if Key.parse(key).axis == axis.NAME)
        yield from ((key, Same()) for key in mine)
        return
    groups = _groups(old, new)
    # One seed, or what figures draw at random would look like a difference.
    runs = old, replace(new, seed=old.seed)
    before, after = (leave_out(axis, readings, groups, keys) for readings in runs)
    ways = _ways(axis, runs, groups, (before, after))
    for key in before:
        found = Same() if same else _paired(before[key], after[key])
        if found is not None:
            pairs = product(*(side.get(key, ()) for side in ways)) if ways else ()
            answered = (
                Completion(one.figure, other.figure, _paired(one.left_out, other.left_out))
                for one, other in islice(pairs, 1, None)
            )
            yield key, replace(found, completions=(*answered,))


def _paired(old: Floats, new: Floats) -> LeftOut | None:
    """None where no stimulus makes a difference: nothing is known of those that were not asked."""
    known = ~(np.isnan(old) | np.isnan(new))
    found = LeftOut(old[known], new[known])
    moved = known.sum() >= FEWEST_STIMULI and np.ptp(found.new - found.old) > ROUNDING
    return found if moved else None


def _ways(
    axis: Axis,
    runs: Sequence[Readings],
    groups: Sequence[Collection[str]],
    left_out: Sequence[Mapping[str, Floats]],
) -> list[dict[str, list[Answered]]]:
    """Per run and key: as it was read, then its extremes; nothing where no call of them was lost.

    `left_out` are the values of the calls read without each group.
    """
    families = frozenset(Key.parse(key).name for key in left_out[0])
    asked = [replace(readings, families=families) for readings in runs]
    tables = [[*imputed_tables(axis, readings)] for readings in asked]
    if not any(tables):
        return []
    return [
        dict(_extremes(axis, (readings, *more), groups, known))
        for readings, more, known in zip(asked, tables, left_out, strict=True)
    ]


def _extremes(
    axis: Axis,
    tables: Sequence[Readings],
    groups: Sequence[Collection[str]],
    left_out: Mapping[str, Floats],
) -> Iterator[tuple[str, list[Answered]]]:
    """Per key: what it is in the first of the tables, and where it is lowest and highest."""
    measured = [{one.key: _figure(one) for one in axis.measure(table) if one.key in left_out}
                for table in tables]  # fmt: skip
    ends = {key: _ends([table.get(key) for table in measured]) for key in measured[0]}
    without = {
        at: leave_out(axis, tables[at], groups, [key for key in ends if at in ends[key]])
        for at in {*chain.from_iterable(ends.values())}
    }
    for key, places in ends.items():
        figures = [measured[at].get(key) for at in (0, *places)]
        series = left_out[key], *(without[at][key] for at in places)
        yield key, [Answered(one, left) for one, left in zip(figures, series, strict=True) if one]


def _ends(figures: Sequence[BoundedValue | None]) -> list[int]:
    """The places where a figure is lowest and highest, but for the first."""
    known = {place: one for place, one in enumerate(figures) if one is not None}
    if 0 not in known:
        return []
    lowest = min(known, key=lambda place: known[place].low)
    highest = max(known, key=lambda place: known[place].high)
    return sorted({lowest, highest} - {0})


def _figure(estimate: Estimate) -> BoundedValue | None:
    """A figure with its interval, or its value where that has no end; None without a value."""
    value = estimate.value
    if value is None:
        return None
    low, high = (value if end is None else end for end in (estimate.low, estimate.high))
    return BoundedValue(value, low, high)


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
