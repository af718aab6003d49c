"""Whether a criterion's score depends on where the criterion stands in the list.

One criterion's reads are an array (items, calls) of scores with an array of the same shape of
places, 0..n-1; NaN marks a call without a reading.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import inf, sqrt
from statistics import fmean
from typing import Generic, TypeVar

import numpy as np
import scipy
from numpy.typing import ArrayLike

from judgesheet.base.missing_reasons import ONE_CLUSTER, Reason

from ._support import (
    TINY,
    Flags,
    Floats,
    Integers,
    ahead,
    alike,
    bootstrap_weights,
    expanded_tail,
    floats,
    sum_by,
    t_quantile,
    two_sided,
)
from .draws import drawn_sums
from .interval import (
    Interval,
    estimated,
    missing,
    skewed,
    skewness_of_each,
    student,
    without_ends,
)
from .reads import ratio

NOT_COMPARED = Reason("not_compared", "positions cannot be compared")
NEVER_THERE = Reason("never_there", "the criterion never stood there")
FEW_BLOCKS = Reason("few_blocks", "fewer than two blocks have a value at every position")

DRAWS = 1000
"""Permutations: beyond their 95th percentile lies .036 to .064 of the law they are drawn from."""
LEAST_STEP = 0.25
"""Share of the scale (at least one point) by which a cluster that was not seen may differ."""
_SPREAD_METHOD = (
    "low end: two-step cluster bootstrap of the range; high end: largest t bound of a pair of "
    "positions; room for unseen clusters"
)


@dataclass(frozen=True, slots=True)
class PositionEffects:
    """The effect of each position on a criterion's score, compared within items.

    Attributes
    ----------
    effects
        Shape (n,): deviation of each position from the mean over the positions shown, in points;
        NaN where the criterion never stood there, or where nothing can be compared.
    mean
        Mean score over all calls.
    influence
        Shape (G, n): the contribution of each cluster to `effects`; columns sum to 0, NaN as there.
    mean_influence
        Shape (G,): the same for `mean`.
    cells
        Shape (G, n): mean of the scores of a cluster at a position, each less the mean of its item;
        NaN without such a call.
    counts
        Shape (n,): calls per position.
    clusters
        Clusters with a call.
    why
        Why `effects` are all NaN; None where they are not.
    """

    effects: Floats
    mean: float
    influence: Floats
    mean_influence: Floats
    cells: Floats
    counts: Integers
    clusters: int
    why: Reason | None = None

    @property
    def spread(self) -> float:
        """Best less worst position; NaN where nothing can be compared."""
        return float(_range(self.effects))

    def shown(self, values: Floats) -> Floats:
        """Values (..., n), where it never stood those of another position: no range depends on it.

        (Of n positions, so that criteria can be stacked.)
        """
        where = np.flatnonzero(~np.isnan(self.effects))
        result: Floats = values[..., np.resize(where, self.effects.size)]
        return result


@dataclass(frozen=True, slots=True)
class Friedman:
    """Friedman's test that a criterion's score has the same distribution at every position.

    Attributes
    ----------
    statistic, p
        Tie-corrected chi-square and its p-value; None where undefined.
    blocks
        Complete blocks, those with a value at every position.
    note
        Why something is None; empty otherwise.
    """

    statistic: float | None
    p: float | None
    blocks: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class NullSpread:
    """Best less worst position of a judge whose scores do not depend on the order.

    Attributes
    ----------
    mean, p95
        Mean and 95th percentile over permutations; None where nothing can be compared.
    """

    mean: float | None
    p95: float | None


Statistic = TypeVar("Statistic")


@dataclass(frozen=True, slots=True)
class OverCriteria(Generic[Statistic]):
    """A statistic of every criterion, with the mean and the maximum over them.

    `each` has one entry per criterion; criteria without a value do not enter `mean` and `most`.
    """

    each: tuple[Statistic, ...]
    mean: Statistic
    most: Statistic


Family = OverCriteria[Interval]
NullFamily = OverCriteria[NullSpread]


def position_effects(
    scores: ArrayLike, place: ArrayLike, clusters: ArrayLike, positions: int, groups: int
) -> PositionEffects:
    """Position effects of one criterion by least squares with one constant per item.

    With complete balanced reads these are the plain position means less their mean. Where replies
    are missing or recorded orders are not balanced, positions are still compared within items only:
    better responses that happened to be read at a position do not make it look better.

    Parameters
    ----------
    scores
        Shape (m, k); NaN where unreadable or not asked.
    place
        Shape (m, k): where the criterion stood, 0..n-1.
    clusters
        Shape (m,): codes 0..groups-1.
    positions, groups
        n, and the number of clusters of the whole run, so that influences of criteria align.
    """
    array, at = floats(scores), np.asarray(place, dtype=np.int64)
    codes = np.asarray(clusters, dtype=np.int64)
    known: Flags = ~np.isnan(array)
    hits = (at[..., None] == np.arange(positions)) & known[..., None]  # (m, k, n)
    calls = hits.sum(axis=1).astype(np.float64)  # (m, n)
    total = calls.sum(axis=1, keepdims=True)
    sums = np.einsum("mk,mkn->mn", np.where(known, array, 0.0), hits.astype(np.float64))
    means = np.nan_to_num(ratio(sums.sum(axis=1, keepdims=True), total))
    within = sum_by(sums - calls * means, codes, groups)  # (G, n)
    sizes = sum_by(calls, codes, groups)
    design = sum_by(_within_design(calls, total), codes, groups)  # (G, n, n)
    cells = ratio(within, sizes)
    answered = int((sizes.sum(axis=1) > 0).sum())
    counts = sizes.sum(axis=0).astype(np.int64)
    effects, inverse, why = _solve(design.sum(axis=0), within.sum(axis=0), counts)
    influence = (within - np.nan_to_num(design @ np.nan_to_num(effects))) @ inverse
    influence[:, np.isnan(effects)] = np.nan
    size = float(total.sum())
    mean = float(sums.sum() / size) if size else float("nan")
    own = sum_by(np.stack([sums.sum(axis=1), total[:, 0]], axis=1), codes, groups)
    mean_influence = (own[:, 0] - own[:, 1] * mean) / size if size else np.zeros(groups)
    return PositionEffects(effects, mean, influence, mean_influence, cells, counts, answered, why)


def _within_design(calls: Floats, total: Floats) -> Floats:
    """Normal equations of the positions after an item's constant is taken out -> (m, n, n)."""
    outer = calls[:, :, None] * calls[:, None, :]
    total = np.maximum(total, 1.0)[..., None]
    return np.eye(calls.shape[1]) * calls[:, None, :] - outer / total


def _solve(design: Floats, right: Floats, counts: Integers) -> tuple[Floats, Floats, Reason | None]:
    """Effects that sum to 0 over the positions shown, the inverse used, and why there are none."""
    shown = np.flatnonzero(counts)
    effects, inverse = np.full(counts.size, np.nan), np.zeros_like(design)
    part = design[np.ix_(shown, shown)]
    rank = int(np.linalg.matrix_rank(part)) if shown.size else 0
    if shown.size < 2:
        seen = "at no position" if not shown.size else "at one position only"
        why = NOT_COMPARED.saying(f"it was read {seen}: {NOT_COMPARED.sentence}")
        return effects, inverse, why
    # One dimension is always lost to the constant per item.
    if rank < shown.size - 1:
        why = NOT_COMPARED.saying("no response was read at enough positions to compare them")
        return effects, inverse, why
    # Effects are known up to a constant; the pseudo-inverse takes those that sum to 0.
    inverse[np.ix_(shown, shown)] = np.linalg.pinv(part, hermitian=True)
    effects[shown] = (inverse @ right)[shown]
    # No effect must read 0: the sign of rounding would name a best position.
    effects[np.abs(effects) < TINY] = 0.0
    return effects, inverse, None


def _range(effects: Floats) -> Floats:
    """Best less worst along the last axis, NaN where fewer than two are known."""
    known = ~np.isnan(effects)
    highest = np.where(known, effects, -np.inf).max(axis=-1)
    lowest = np.where(known, effects, np.inf).min(axis=-1)
    return np.where(known.sum(axis=-1) > 1, highest - lowest, np.nan)


def position_shift(criterion: PositionEffects, span: float) -> list[Interval]:
    """Each position's deviation from the criterion's mean, with a cluster-robust t interval.

    It leaves room for unseen clusters, each of which may differ by a quarter of the scale (one
    point if there are five scores).

    Parameters
    ----------
    criterion
        From `position_effects`.
    span
        Best less worst score, n - 1 on a scale of n.
    """
    columns = zip(criterion.effects, criterion.influence.T, strict=True)
    return [_robust_t(value, own, criterion, span, (-span, span)) for value, own in columns]


def position_mean(
    criterion: PositionEffects,
    span: float,
    within: tuple[float, float] = (-inf, inf),
) -> list[Interval]:
    """Mean score at each position, compared within items; intervals as in `position_shift`.

    `within` are the least and the greatest score.
    """
    weights = criterion.counts / max(1, int(criterion.counts.sum()))
    centre = criterion.mean - float(weights @ np.nan_to_num(criterion.effects))
    own = criterion.mean_influence - np.nan_to_num(criterion.influence) @ weights
    columns = zip(criterion.effects, criterion.influence.T, strict=True)
    return [
        _robust_t(centre + value, own + part, criterion, span, within) for value, part in columns
    ]


def _robust_t(
    value: float,
    influence: Floats,
    criterion: PositionEffects,
    span: float,
    within: tuple[float, float],
) -> Interval:
    groups, value = criterion.clusters, float(value)
    method = "within items, cluster-robust t, room for unseen clusters"
    if np.isnan(value):
        why = criterion.why or NEVER_THERE
        return missing(why, clusters=groups, method=method)
    if groups < 2:
        return without_ends(value, ONE_CLUSTER, clusters=groups, method=method)
    error = float(np.sqrt(groups / (groups - 1) * float(influence @ influence)))
    at, reach = student(value, error, groups), (_step(span), _step(span))
    drawn = drawn_sums(influence)
    found = estimated(value, at, groups, method, reach, within, whole=True)
    return found if drawn is None else replace(found, drawn=value + drawn)


def spreads(
    criteria: Sequence[PositionEffects],
    span: float,
    rng: np.random.Generator,
    resamples: int = 2000,
) -> Family:
    """Best less worst position of every criterion, their mean and their maximum, with intervals.

    The high end: the truth is the gap of two positions, so it is at most the largest upper t bound
    over pairs of positions. That of the mean over criteria is the largest of the mean gap over one
    pair of each criterion, that of the maximum the largest of all. The low end: a range is biased
    upwards by noise, most where all positions are alike. In a first step, a tenth of the error is
    spent on how large the gap of each criterion is at least, and in a second the rest on how far
    noise takes the range of such a gap (`_Errors`). A percentile interval of the spread itself
    never covers a true spread of 0. The interval leaves room for unseen clusters, which may differ
    by a quarter of the scale.

    Parameters
    ----------
    criteria
        With the same clusters.
    span
        Best less worst score, in points.

    References
    ----------
    Romano, J. P., Shaikh, A. M. and Wolf, M. (2014), "A practical two-step method for testing
    moment inequalities", Econometrica 82, 1979-2002.
    """
    each = [
        missing(one.why or NOT_COMPARED, clusters=one.clusters, method=_SPREAD_METHOD)
        for one in criteria
    ]
    known = {at: one for at, one in enumerate(criteria) if not np.isnan(one.spread)}
    if not known:
        nothing = missing(
            NOT_COMPARED.saying("no criterion can be compared"), method=_SPREAD_METHOD
        )
        return OverCriteria(tuple(each), nothing, nothing)
    some = list(known.values())
    groups = len(some[0].influence)
    blocks = [
        np.stack([one.shown(weights @ one.influence).T for one in some], axis=1)
        for weights in bootstrap_weights(groups, resamples, rng)
    ]
    errors = np.concatenate(blocks, axis=-1)  # (n, criteria, resamples)
    for which, (at, one) in enumerate(known.items()):
        each[at] = _spread([one], errors[:, [which]], span, one.clusters)
    # Mean and maximum are as sure as the criterion that the fewest prompts carry.
    fewest = min(one.clusters for one in some)
    mean, most = (_spread(some, errors, span, fewest, most=most) for most in (False, True))
    return OverCriteria(tuple(each), mean, most)


Upper = Callable[[float], float]
"""Upper end of an interval of the confidence that is asked for."""


@dataclass(frozen=True, slots=True)
class _Errors:
    """How far noise takes the ranges of several criteria, given that their gaps are so large.

    Attributes
    ----------
    draws
        Shape (n, criteria, resamples): errors of the positions.
    upper
        Shape (n, criteria, 1): which positions are nearer to the best than to the worst.
    ranges
        Shape (criteria, resamples): ranges of the errors alone.
    """

    draws: Floats
    upper: Flags
    ranges: Floats

    @classmethod
    def of(cls, criteria: Sequence[PositionEffects], draws: Floats) -> "_Errors":
        effects = np.stack([one.shown(one.effects) for one in criteria], axis=1)
        middle = (effects.max(axis=0) + effects.min(axis=0)) / 2
        return cls(draws, (effects > middle)[..., None], _ranges(draws))

    def beyond(self, gaps: Floats) -> Floats:
        """Range less gap of every draw, if positions lie at both ends of gaps (criteria,)."""
        # Nowhere between the ends is a position as often the best or the worst.
        ranges: Floats = _ranges(self.draws + gaps[:, None] * self.upper)
        return ranges - gaps[:, None]


def _ranges(draws: Floats) -> Floats:
    best, worst = draws.max(axis=0), draws.min(axis=0)  # in front, ten times faster than last
    ranges: Floats = best - worst
    return ranges


FIRST_STEP = 0.1
"""Share of the error that is spent on how large the gaps are at least."""


def _low(criteria: Sequence[PositionEffects], draws: Floats, clusters: int, *, most: bool) -> Upper:
    """The lower end of the mean gap, or of the largest (`most`), of each confidence."""
    spreads, errors = np.array([one.spread for one in criteria]), _Errors.of(criteria, draws)

    def at(confidence: float) -> float:
        # A range has one tail; t has two, of which half of it lies in each.
        tail = 2 * expanded_tail((1 - confidence) / 4, clusters)
        first = np.quantile(errors.ranges, 1 - FIRST_STEP * tail / len(spreads), axis=1)
        gaps = np.maximum(0.0, spreads - first)
        if most:
            gaps = np.full_like(gaps, gaps.max())
        beyond = errors.beyond(gaps)
        beyond = beyond.max(axis=0) if most else beyond.mean(axis=0)
        value = spreads.max() if most else spreads.mean()
        return float(value - np.quantile(beyond, 1 - (1 - FIRST_STEP) * tail))

    return at


def _high(criteria: Sequence[PositionEffects], clusters: int) -> Upper:
    """The largest upper end of the mean gap over a pair of positions of each criterion.

    Found by changing the pair of one criterion at a time, from the largest gaps on.
    """
    pairs = [_pairs(one) for one in criteria]
    scale = sqrt(clusters / (clusters - 1))

    def at(confidence: float) -> float:
        t = t_quantile(clusters - 1, two_sided(confidence))
        chosen = [int(np.argmax(gaps)) for gaps, _ in pairs]
        best = -inf
        for _ in range(SWEEPS):
            before = best
            for which, (gaps, own) in enumerate(pairs):
                others = [one for one in range(len(pairs)) if one != which]
                gap = gaps + sum(pairs[one][0][chosen[one]] for one in others)
                parts = own + sum(pairs[one][1][:, [chosen[one]]] for one in others)
                errors = scale * np.sqrt(np.sum(parts**2, axis=0))
                highs = gap + skewed(t, skewness_of_each(parts), clusters) * errors
                chosen[which] = int(np.argmax(highs))
                best = float(highs.max())
            if best <= before:
                break
        return best / len(pairs)

    return at


SWEEPS = 10
"""More than any data took; each makes the bound larger."""


def _pairs(criterion: PositionEffects) -> tuple[Floats, Floats]:
    """The gaps of all ordered pairs of positions, and what each cluster contributes to them."""
    shown = np.flatnonzero(~np.isnan(criterion.effects))
    first, second = (np.array(side) for side in zip(*permutations(shown, 2), strict=True))
    gaps: Floats = criterion.effects[first] - criterion.effects[second]
    return gaps, criterion.influence[:, first] - criterion.influence[:, second]


def _spread(
    criteria: Sequence[PositionEffects],
    draws: Floats,
    span: float,
    clusters: int,
    *,
    most: bool = False,
) -> Interval:
    """The interval of the mean gap of these criteria, or of the largest (`most`)."""
    spreads, method = [one.spread for one in criteria], _SPREAD_METHOD
    value = max(spreads) if most else fmean(spreads)
    if clusters < 2:
        return without_ends(value, ONE_CLUSTER, clusters=clusters, method=method)
    below = _low(criteria, draws, clusters, most=most)
    sides = [_high([one], one.clusters) for one in criteria] if most else []
    sides = sides or [_high(criteria, clusters)]

    def at(confidence: float) -> tuple[float, float]:
        return below(confidence), max(above(confidence) for above in sides)

    reach = value, _step(span)
    found = estimated(value, at, clusters, method, reach, within=(0.0, inf), whole=True)
    return replace(found, drawn=_drawn_spread(criteria, most=most))


def _drawn_spread(criteria: Sequence[PositionEffects], *, most: bool) -> Floats | None:
    """The mean gap of these criteria, or the largest, in every draw of clusters."""
    drawn = [(one.effects, drawn_sums(one.influence)) for one in criteria]
    ranges = [_range(effects + error) for effects, error in drawn if error is not None]
    if not ranges:
        return None
    together: Floats = np.max(ranges, axis=0) if most else np.mean(ranges, axis=0)
    return together


def _step(span: float) -> float:
    """By how many points an unseen cluster may differ."""
    return max(1.0, LEAST_STEP * span)


def permuted_spreads(
    scores: ArrayLike,
    place: ArrayLike,
    criterion: ArrayLike,
    criteria: int,
    rng: np.random.Generator,
) -> NullFamily:
    """The `spreads` of scores that do not depend on the order, which are above 0.

    Whole replies are exchanged between the calls of an item, so that noise, levels and the
    correlation of the criteria are preserved.

    Parameters
    ----------
    scores, place
        Shape (m, k, n): reads of the n criteria of each item, and their places 0..n-1.
    criterion
        Shape (m, n): which criterion that is, 0..criteria-1; -1 for none.
    criteria
        Number of criteria.
    """
    array, at = floats(scores), np.asarray(place, dtype=np.int64)
    which = np.asarray(criterion, dtype=np.int64)
    positions = array.shape[2]
    design = np.zeros((criteria, positions, positions))
    right = np.zeros((DRAWS, criteria, positions))
    for reads, places, names in zip(array, at, which, strict=True):
        answered = ~np.isnan(reads).any(axis=1)
        size = int(answered.sum())
        # One reply has nothing to be exchanged with.
        if size < 2:
            continue
        hits = (places[answered][..., None] == np.arange(positions)).astype(np.float64)  # (k, c, n)
        calls = hits.sum(axis=0)
        design[names] += _within_design(calls, np.full((len(names), 1), float(size)))
        own = reads[answered] - reads[answered].mean(axis=0)
        shuffled = own[rng.permuted(np.tile(np.arange(size), (DRAWS, 1)), axis=1)]  # (draws, k, c)
        right[:, names] += np.einsum("dkc,kcn->dcn", shuffled, hits)
    drawn = np.array([_null_spread(design[c], right[:, c]) for c in range(criteria)])
    return _null_family(drawn)


def _null_spread(design: Floats, right: Floats) -> Floats:
    counts = (np.diag(design) > 0).astype(np.int64)
    effects, inverse, _ = _solve(design, right[0], counts)
    drawn = right @ inverse
    drawn[:, np.isnan(effects)] = np.nan
    return _range(drawn)


def _null_family(drawn: Floats) -> NullFamily:
    """Summaries of draws (criteria, draws); criteria without a value are left out of mean, most."""
    known = drawn[~np.isnan(drawn).any(axis=1)] if drawn.size else drawn
    each = tuple(_summary(row) for row in drawn)
    if not len(known):
        nothing = NullSpread(None, None)
        return OverCriteria(each, nothing, nothing)
    return OverCriteria(each, _summary(known.mean(axis=0)), _summary(known.max(axis=0)))


def _summary(drawn: Floats) -> NullSpread:
    if np.isnan(drawn).any():
        return NullSpread(None, None)
    return NullSpread(float(drawn.mean()), float(np.quantile(drawn, 0.95)))


def friedman(cells: ArrayLike) -> Friedman:
    """Friedman's test with the correction for ties; p = 1 if all values of every block are tied.

    Parameters
    ----------
    cells
        Shape (blocks, n): one value per position; blocks with a NaN are left out. A block is what
        is independent: a stimulus with all its items.

    References
    ----------
    Friedman, M. (1937), "The use of ranks to avoid the assumption of normality implicit in the
    analysis of variance", JASA 32, 675-701; ties: Conover, W. J. (1999), "Practical Nonparametric
    Statistics", 3rd edition, section 5.8.
    """
    array = alike(cells)
    array = array[~np.isnan(array).any(axis=1)]
    blocks, positions = array.shape
    if blocks < 2 or positions < 2:
        return Friedman(None, None, blocks, FEW_BLOCKS.sentence)
    centred = ahead(array) / 2  # ranks less their mean
    # Within blocks; ties make it smaller than its value for distinct ranks (Conover's correction).
    squares = float(np.sum(centred**2))
    if squares <= 0:
        return Friedman(0.0, 1.0, blocks, "every block is all tied")
    statistic = (positions - 1) * float(np.sum(centred.sum(axis=0) ** 2)) / squares
    return Friedman(statistic, float(scipy.special.chdtrc(positions - 1, statistic)), blocks)


def item_cells(scores: ArrayLike, place: ArrayLike, positions: int) -> Floats:
    """Mean score of every item at every position, shape (items, n): the papers' blocks.

    Parameters as for `position_effects`.
    """
    items = np.arange(len(floats(scores)))
    return position_effects(scores, place, items, positions, len(items)).cells
