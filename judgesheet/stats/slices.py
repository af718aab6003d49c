"""Do errors gather somewhere: in a field, a third of the run, long texts, or one direction?

Errors of calls are compared with those of the same judge elsewhere, by exchanging what could be
exchanged if it failed alike everywhere: whole stimuli, within a stimulus its items, within an item
its calls. So a stimulus that is hard as a whole, or an item, is one observation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ._support import Floats, Integers, sum_by
from .correlation import mid_ranks

DRAWS = 9_999
"""Exchanges at most: the shares of the tests are some thousandths."""
AT_ONCE = 499
ENOUGH = 20
"""Once so many draws were as large as what was observed, the p-value is as exact as it matters."""


@dataclass(frozen=True, slots=True)
class Errors:
    """The errors of one axis by one measure.

    Attributes
    ----------
    off
        Shape (calls,): how far each call is off, in any unit: of its means ranks are taken.
    member
        Shape (calls, slices): 1 where a call lies in a slice, else 0.
    stimulus, item
        Shape (calls,): codes from 0; an item belongs to one stimulus.
    """

    off: Floats
    member: Floats
    stimulus: Integers
    item: Integers


@dataclass(frozen=True, slots=True)
class Worst:
    """Where errors gather most: a slice, by which measure, in which of its axes most of all.

    `measure`, `axis` and `slice` count from 0, as they were given.
    """

    p: float
    measure: int
    axis: int
    slice: int


@dataclass(frozen=True, slots=True)
class _Level:
    """Units that could be exchanged within their groups.

    `errors` (m,) less the mean of their group, `member` (m, slices), `group` (m,) in order.
    """

    errors: Floats
    member: Floats
    group: Integers


def worst_slice(
    measures: Sequence[Sequence[Errors]], rng: np.random.Generator, draws: int = DRAWS
) -> Worst | None:
    """The slice that is most worse than the rest, and the p-value of "no slice is".

    For each measure the standardized differences of the axes are added, each with the weight of the
    root of its number of stimuli; the statistic is the largest of these and of the single ones,
    over measures, axes and slices. None where nothing varies.

    Raises
    ------
    ValueError
        If axes have different slices.

    References
    ----------
    Besag, J. and Clifford, P. (1991), "Sequential Monte Carlo p-values", Biometrika 78, 301-304.
    """
    if len({one.member.shape[1] for axes in measures for one in axes}) > 1:
        raise ValueError("all axes must have the same slices")
    of = [_Measure([_Axis(one) for one in axes]) for axes in measures]
    observed = [one.observed for one in of]
    most = max((float(one.max(initial=0.0)) for one in observed), default=0.0)
    if not most:
        return None
    made = hits = 0
    while made < draws and hits < ENOUGH:
        count = min(AT_ONCE, draws - made)
        largest = np.max([one.drawn(rng, count) for one in of], axis=0)
        # Equal sums differ by rounding.
        hits += int((largest >= most - 1e-9).sum())
        made += count
    measure = next(place for place, one in enumerate(observed) if one.max(initial=0.0) == most)
    row, where = np.unravel_index(np.argmax(observed[measure]), observed[measure].shape)
    axis = of[measure].most_of(int(where)) if row == 0 else int(row) - 1
    return Worst((1 + hits) / (1 + made), measure, axis, int(where))


class _Axis:
    """The levels of an axis, and the standard deviations of its sums over exchanges."""

    def __init__(self, errors: Errors) -> None:
        self.levels = [*_levels(errors)]
        variance = sum((_variance(one) for one in self.levels), np.zeros(errors.member.shape[1]))
        self.sd = np.sqrt(np.where(variance > 1e-12, variance, 0.0))
        # A slice in which nothing varies is no worse than the rest.
        self.weight = np.where(self.sd > 0, np.sqrt(len(np.unique(errors.stimulus))), 0.0)
        self.observed = self._scaled(sum(one.errors @ one.member for one in self.levels))

    def drawn(self, rng: np.random.Generator, draws: int) -> Floats:
        """The same of exchanged errors, shape (draws, slices)."""
        return self._scaled(sum(_exchanged(one, rng, draws) for one in self.levels))

    def _scaled(self, sums: Floats | int) -> Floats:
        scaled: Floats = np.divide(sums, self.sd, out=np.zeros(np.shape(sums)), where=self.sd > 0)
        return scaled


class _Measure:
    """The axes together and each alone: a fault may be in all of them, or in one."""

    def __init__(self, axes: Sequence[_Axis]) -> None:
        self._axes = axes
        weights = np.array([one.weight for one in axes])
        root = np.sqrt((weights**2).sum(axis=0))
        self._weights = np.divide(weights, root, out=np.zeros(weights.shape), where=root > 0)
        self.observed = self._rows([one.observed for one in axes])

    def drawn(self, rng: np.random.Generator, draws: int) -> Floats:
        """The largest difference of each draw, shape (draws,)."""
        drawn: Floats = self._rows([one.drawn(rng, draws) for one in self._axes]).max(axis=(0, 2))
        return drawn

    def most_of(self, where: int) -> int:
        """The axis with the largest part in what a slice has more."""
        parts = [
            w[where] * one.observed[where] for w, one in zip(self._weights, self._axes, strict=True)
        ]
        return int(np.argmax(parts))

    def _rows(self, scaled: Sequence[Floats]) -> Floats:
        """All axes, then each: (1 + axes, ..., slices)."""
        together = sum(w * one for w, one in zip(self._weights, scaled, strict=True))
        return np.stack([together, *scaled])


def _levels(errors: Errors) -> Iterator[_Level]:
    """Stimuli, items within their stimuli, and calls within their items; of each the mean errors.

    Each stimulus counts alike, as does each item of one and each call of an item.
    """
    home = np.zeros(int(errors.item.max()) + 1, dtype=np.int64)
    home[errors.item] = errors.stimulus
    calls = np.column_stack([errors.off, errors.member])
    items, of_item = _means(calls, errors.item)
    stimuli, of_stimulus = _means(items, home)
    yield _level(stimuli, np.zeros(len(stimuli), dtype=np.int64), np.ones(len(stimuli)))
    yield _level(items, home, 1 / of_stimulus[home])
    yield _level(calls, errors.item, 1 / (of_stimulus[home] * of_item)[errors.item])


def _means(values: Floats, of: Integers) -> tuple[Floats, Integers]:
    """The mean of the rows of each group, and their number."""
    counts = np.bincount(of)
    return sum_by(values, of, len(counts)) / counts[:, None], counts


def _level(values: Floats, group: Integers, weight: Floats) -> _Level:
    """Units, ranked and in the order of their groups, where something could be exchanged."""
    order = np.argsort(group, kind="stable")
    # As exponential scores: a judge that fails in a slice is not only worse there, but often wrong.
    ranks = -np.log1p((0.5 - mid_ranks(values[:, 0])) / max(1, len(values)))
    member, group = values[order, 1:], np.unique(group[order], return_inverse=True)[1]
    errors = (ranks * weight)[order]
    errors = errors - _of_group(errors[:, None], group)[:, 0]
    spread = np.abs(member - _of_group(member, group)).sum(axis=1)
    kept = (sum_by(spread, group, int(group.max(initial=-1)) + 1) > 0)[group]
    return _Level(errors[kept], member[kept], np.unique(group[kept], return_inverse=True)[1])


def _of_group(values: Floats, group: Integers) -> Floats:
    """The mean of each unit's group."""
    return _means(values, group)[0][group]


def _variance(level: _Level) -> Floats:
    """The variance of the sum over exchanges of each slice, shape (slices,) (Hoeffding 1951)."""
    if not len(level.group):
        return np.zeros(level.member.shape[1])
    groups = int(level.group[-1]) + 1
    errors = sum_by(level.errors[:, None] ** 2, level.group, groups)
    member = sum_by((level.member - _of_group(level.member, level.group)) ** 2, level.group, groups)
    variance: Floats = (errors * member / (np.bincount(level.group) - 1)[:, None]).sum(axis=0)
    return variance


def _exchanged(level: _Level, rng: np.random.Generator, draws: int) -> Floats:
    """The sums over slices of errors exchanged within groups, shape (draws, slices)."""
    # Numbers within a group stay in its place when they are sorted.
    keys = level.group + rng.random((draws, len(level.group)))
    drawn: Floats = level.errors[np.argsort(keys, axis=1)] @ level.member
    return drawn
