"""Correlation with human scores, with intervals that respect clusters."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgesheet.base.limits import MOST_DELETIONS, MOST_ONE_BY_ONE
from judgesheet.base.missing_reasons import (
    CONSTANT,
    NEVER_VARIED,
    ONE_CLUSTER,
    PERFECT,
    Reason,
)
from judgesheet.base.records import LEVEL

from ._support import (
    Flags,
    Floats,
    Integers,
    cluster_codes,
    floats,
    resampled_sums,
    subsets,
    sum_by,
    two_sided,
)
from .draws import drawn_by
from .interval import Interval, always, ends, skewness_of, student
from .standard_error import (
    LEAST_CARRIERS,
    NEARLY_ONE,
    carriers,
    ends_of_r,
    fisher_error,
    jackknife_error,
)

Kind = Literal["pearson", "spearman"]

LEAST_VARIANCE = 1e-10
"""Relative to the scores' own: a side that varies less is constant, and the rest is rounding."""
ROUNDING = 1e-12
"""Differences of r below this are 0, so that two equal arms do not differ by their rounding."""
ON_Z = "Fisher z, delete-a-cluster jackknife, t with skewness"
METHOD = "paired delete-a-cluster jackknife, t with skewness"
_CONSTANT_TARGET = 1e-20  # sum of squares about the mean relative to that about 0: a constant

ONE_ITEM = Reason("one_item", "undefined: fewer than two items")
LEAST_CLUSTERS = 3
"""Two leave one degree of freedom and a t of 12.7, which says nothing about r."""
FEW_CLUSTERS = Reason("few_clusters", "fewer than three clusters: no interval")
DEGENERATE_WITHOUT_ONE = Reason(
    "degenerate_without_one", "undefined without one cluster: no interval"
)


@dataclass(frozen=True, slots=True)
class Correlation(Interval):
    """A correlation coefficient with its interval; `n` is the number of complete items."""

    n: int = 0


@dataclass(frozen=True, slots=True)
class DeltaR(Interval):
    """Difference of two correlations with the same scores; `n` is the number of complete items."""

    n: int = 0


@dataclass(frozen=True, slots=True)
class BudgetPoint(Interval):
    """Correlation after k of K reads: the mean over subsets, and their 2.5-97.5 percentile band.

    None where r is defined in no subset. The band is no confidence interval and proves nothing; a
    single subset has none.

    Attributes
    ----------
    k
        Reads that are averaged.
    subsets
        Number of subsets looked at.
    undefined
        Share of subsets whose r is undefined (constant mean).
    """

    k: int = 0
    subsets: int = 0
    undefined: float = 1.0


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Pearson's r of complete pairs, shape (m,); NaN where undefined (a constant side)."""
    x, y = floats(x), floats(y)
    known = _complete(x, y)
    return float(_r(_moments(x[known], y[known]).sum(axis=0)))


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's rho of complete pairs, shape (m,); NaN where undefined (a constant side)."""
    x, y = floats(x), floats(y)
    known = _complete(x, y)
    return pearson(mid_ranks(x[known]), mid_ranks(y[known]))


def mid_ranks(values: Floats) -> Floats:
    """Ranks from 1, shape (m,); equal values share their mean rank."""
    _, place, times = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(times) - (times - 1) / 2)[place]
    return ranks


def coefficient(x: ArrayLike, y: ArrayLike, kind: Kind) -> float:
    """The coefficient of this kind."""
    return pearson(x, y) if kind == "pearson" else spearman(x, y)


def _complete(*columns: Floats) -> Flags:
    complete: Flags = ~np.any([np.isnan(column) for column in columns], axis=0)
    return complete


def _moments(*columns: Floats) -> Floats:
    """Per item the products of 1 and the scaled columns, each with each -> (m, 1 + c, 1 + c).

    Their sums over any set of items, or over items weighted by a bootstrap, give every r.
    """
    centred = [column - column.mean() if column.size else column for column in columns]
    # r is the same; products of scores of very different size keep their digits.
    scaled = [column / (column.std() or 1.0) if column.size else column for column in centred]
    rows = np.stack([np.ones_like(columns[0]), *scaled], axis=-1)
    products: Floats = rows[:, :, None] * rows[:, None, :]
    return products


def _r(sums: Floats, first: int = 1, second: int = 2) -> Floats:
    """Pearson's r of two columns (from 1) from summed `_moments` (..., 1 + c, 1 + c).

    NaN where a side is constant.
    """
    size = sums[..., 0, 0]

    def scatter(i: int, j: int) -> Floats:
        mean = np.divide(sums[..., 0, i], size, out=np.zeros_like(size), where=size > 0)
        return sums[..., i, j] - mean * sums[..., 0, j]

    a, b = scatter(first, first), scatter(second, second)
    defined = (a > LEAST_VARIANCE * size) & (b > LEAST_VARIANCE * size)
    scale = np.sqrt(np.where(defined, a * b, 1.0))
    return np.where(defined, np.clip(scatter(first, second) / scale, -1.0, 1.0), np.nan)


def cluster_jackknife_r(
    x: ArrayLike,
    y: ArrayLike,
    clusters: ArrayLike,
    kind: Kind = "pearson",
) -> Correlation:
    """Correlation with a Fisher-z interval from the delete-a-cluster jackknife (`ends_of_r`).

    It covers .95-.97, where Fisher's own standard error covers .80 and the BCa bootstrap .91. No
    interval with fewer than three clusters, at r = 1 or -1, or when a deletion leaves a side
    constant.

    Parameters
    ----------
    x, y
        Shape (m,); items with NaN in either are dropped.
    kind
        `pearson` or `spearman`.

    References
    ----------
    Efron, B. and Tibshirani, R. J. (1993), "An Introduction to the Bootstrap", chapter 11.
    """
    x, y = floats(x), floats(y)
    known = _complete(x, y)
    x, y = x[known], y[known]
    codes, groups = cluster_codes(np.asarray(clusters)[known])
    answer = partial(Correlation, clusters=groups, method=ON_Z, n=x.size)

    def without_ends(r: float | None, why: Reason) -> Correlation:
        return answer(r, note=why.sentence, reason=why.code)

    r = coefficient(x, y, kind)
    if np.isnan(r):
        return without_ends(None, _why_undefined(x))
    if groups < LEAST_CLUSTERS:
        return without_ends(r, FEW_CLUSTERS)
    deletions = min(groups, MOST_DELETIONS)
    # With more clusters than deletions, every 200th goes out together.
    left_out = _leave_out(x, y, codes % MOST_DELETIONS, deletions, kind)
    if why := at_an_end(r, left_out):
        return without_ends(r, why)
    limits = ends_of_r(r, left_out, groups, fisher_error(x.size))
    drawn = drawn_r(x, y, np.asarray(clusters)[known]) if kind == "pearson" else None
    return answer(r, limits, drawn=drawn)


def drawn_r(x: ArrayLike, y: ArrayLike, clusters: ArrayLike) -> Floats | None:
    """Pearson's r (m,) in every draw of clusters, NaN where undefined; None where none is drawn."""
    x, y = floats(x), floats(y)
    known = _complete(x, y)
    sums = drawn_by(_moments(x[known], y[known]), np.asarray(clusters)[known])
    return None if sums is None else _r(sums)


def at_an_end(r: float, left_out: Floats) -> Reason | None:
    """Why the jackknife on Fisher's scale gives a correlation no interval; None if it does.

    A coefficient that one cluster alone defines is not perfect, whatever its value.
    """
    if np.isnan(left_out).any():
        return DEGENERATE_WITHOUT_ONE
    return PERFECT if abs(r) > NEARLY_ONE else None


def _why_undefined(x: Floats) -> Reason:
    return CONSTANT if x.size > 1 else ONE_ITEM


def _leave_out(x: Floats, y: Floats, folds: Integers, deletions: int, kind: Kind) -> Floats:
    if kind == "pearson":
        sums = sum_by(_moments(x, y), folds, deletions)
        return _r(sums.sum(axis=0) - sums)
    # Ranks of codes are cumulative counts: no sorting for each of up to 200 deletions.
    columns = [np.unique(column, return_inverse=True)[1] for column in (x, y)]
    if x.size > MOST_ONE_BY_ONE:
        return _rho_without(columns, folds)
    kept = (folds != fold for fold in range(deletions))
    return np.array([pearson(*(_ranks(codes[keep]) for codes in columns)) for keep in kept])


def _rho_without(columns: Sequence[Integers], folds: Integers) -> Floats:
    """Spearman's rho of two columns of codes without each fold; items with equal codes together."""
    pairs, pair, times = np.unique(
        columns[0] * (1 + columns[1].max()) + columns[1], return_inverse=True, return_counts=True
    )
    codes = np.divmod(pairs, 1 + columns[1].max())

    def rho(mine: Integers) -> Floats:
        left = times - np.bincount(mine, minlength=len(pairs))
        counts = (np.bincount(column, weights=left) for column in codes)
        # From -1/2 to 1/2, as sums of squares of ranks lose digits.
        middles = ((np.cumsum(n) - n / 2) / left.sum() - 0.5 for n in counts)
        ranks = [middle[column] for middle, column in zip(middles, codes, strict=True)]
        rows = np.stack([np.ones(len(pairs)), *ranks])
        return _r(rows * left @ rows.T)

    by_fold = np.split(pair[np.argsort(folds, kind="stable")], np.cumsum(np.bincount(folds))[:-1])
    return np.array([rho(mine) for mine in by_fold])


def _ranks(codes: Integers) -> Floats:
    """Ranks of what has so many codes, in ascending order, ties at their mean rank."""
    counts = np.bincount(codes)
    return (np.cumsum(counts) - (counts - 1) / 2)[codes]


def delta_r(
    x1: ArrayLike,
    x2: ArrayLike,
    y: ArrayLike,
    clusters: ArrayLike,
) -> DeltaR:
    """r(x1, y) - r(x2, y) by the paired jackknife.

    Parameters
    ----------
    x1, x2, y
        Shape (m,); items with NaN in any are dropped.
    """
    columns = [floats(column) for column in (x1, x2, y)]
    known = _complete(*columns)
    codes, groups = cluster_codes(np.asarray(clusters)[known])
    moments = _moments(*(column[known] for column in columns))
    sums = sum_by(moments, codes, groups)
    total = sums.sum(axis=0)
    items, value = int(known.sum()), float(_delta(total))
    drawn = drawn_by(moments, np.asarray(clusters)[known])
    found = difference(value, _delta(total - sums), items, groups)
    return found if drawn is None else replace(found, drawn=_delta(drawn))


def difference(
    value: float,
    left_out: Floats,
    items: int,
    clusters: int,
) -> DeltaR:
    """Interval of a difference from the jackknife.

    t with G - 1 degrees of freedom, longer towards where clusters are skewed. Where fewer than
    three clusters carry the difference there is no interval.

    Parameters
    ----------
    value
        The difference; NaN where it is undefined.
    left_out
        Shape (G,): the difference without each cluster, or without each of G groups of them; NaN
        where it is undefined.
    items, clusters
        What it was computed from.
    """
    answer = partial(DeltaR, clusters=clusters, method=METHOD, n=items)

    def without_ends(why: Reason) -> DeltaR:
        known = None if np.isnan(value) else value
        return answer(known, note=why.sentence, reason=why.code)

    if np.isnan(value) or clusters < 2:
        return without_ends(ONE_CLUSTER if clusters == 1 else CONSTANT)
    if np.isnan(left_out).any():
        return without_ends(DEGENERATE_WITHOUT_ONE)
    if carriers(left_out) < LEAST_CARRIERS:
        return without_ends(NEVER_VARIED)
    parts = left_out.mean() - left_out
    at = student(value, jackknife_error(left_out), left_out.size, skewness_of(parts))
    return answer(value, ends(value, at, clusters, (0.0, 0.0), (-2.0, 2.0)))


def _delta(sums: Floats) -> Floats:
    return without_rounding(_r(sums, 1, 3) - _r(sums, 2, 3))


def without_rounding(differences: Floats) -> Floats:
    """Differences of r, those that are rounding as 0."""
    return np.where(np.abs(differences) < ROUNDING, 0.0, differences)


def paper_bootstrap_r(
    x: ArrayLike,
    y: ArrayLike,
    rng: np.random.Generator,
    resamples: int = 1000,
) -> Correlation:
    """Pearson's r with the item-level percentile bootstrap (paper-compatible: ignores clusters).

    Parameters
    ----------
    x, y
        Shape (m,); items with NaN in either are dropped.

    References
    ----------
    Xu et al., "Am I More Pointwise or Pairwise?", appendix G.
    """
    x, y = floats(x), floats(y)
    known = _complete(x, y)
    items, moments = int(known.sum()), _moments(x[known], y[known])
    method = f"item percentile bootstrap, {resamples} resamples"
    answer = partial(Correlation, clusters=items, method=method, n=items)
    r = float(_r(moments.sum(axis=0)))
    if np.isnan(r):
        return answer(None, note=_why_undefined(x[known]).sentence)
    if items > MOST_ONE_BY_ONE:
        pairs = np.stack([x[known], y[known]])
        _, one, times = np.unique(pairs, axis=1, return_index=True, return_counts=True)
        # Items with equal values are drawn together: the same law, for a fraction of the draws.
        drawn = _r(np.tensordot(rng.multinomial(items, times / items, resamples), moments[one], 1))
    else:
        drawn = _r(resampled_sums(moments, resamples, rng))
    drawn = drawn[~np.isnan(drawn)]
    if not drawn.size:
        return answer(r, note="undefined in every resample")
    # At the paper's 95 %, whatever the level of the run.
    tail = 1 - two_sided(LEVEL)
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return answer(r, always(float(low), float(high)))


def budget_r(
    scores: ArrayLike, y: ArrayLike, rng: np.random.Generator, max_subsets: int = 1000
) -> tuple[BudgetPoint, ...]:
    """Pearson's r with y after averaging k of the K reads, over subsets of size k.

    Parameters
    ----------
    scores
        Shape (I, K): one column per read; items with a NaN here or in `y` are dropped.
    y
        Shape (I,).
    max_subsets
        Most subsets per k; where there are more, `rng` draws them (with replacement).

    Returns
    -------
    tuple
        One `BudgetPoint` per k = 1..K.

    References
    ----------
    Xu et al., "Am I More Pointwise or Pairwise?", section 5.3 and appendix D.2.
    """
    reads, target = floats(scores), floats(y)
    known = _complete(target, *reads.T)
    reads, target = reads[known], target[known]
    # Pearson's r of every subset, m a 0/1 vector: m'c / sqrt(m'Cm v) with one covariance C.
    total = reads.shape[1]
    if not len(reads):
        return tuple(BudgetPoint(None, k=k) for k in range(1, total + 1))
    centred, aim = reads - reads.mean(axis=0), target - target.mean()
    covariance, cross, own = centred.T @ centred, centred.T @ aim, float(aim @ aim)
    # Not 0 where all reads are constant: 0 of variance is then not above it.
    smallest = LEAST_VARIANCE * (float(np.trace(covariance)) + 1e-300)
    points = []
    for k in range(1, total + 1):
        members = subsets(total, k, rng, max_subsets)
        spread = np.sum((members @ covariance) * members, axis=1)
        defined = (spread > smallest) & (own > _CONSTANT_TARGET * float(target @ target))
        r = (members @ cross)[defined] / np.sqrt(spread[defined] * own)
        points.append(_budget_point(k, np.clip(r, -1.0, 1.0), len(members)))
    return tuple(points)


def _budget_point(k: int, r: Floats, subsets: int) -> BudgetPoint:
    value = float(r.mean()) if r.size else None
    band = always(*map(float, np.quantile(r, [0.025, 0.975]))) if r.size and subsets > 1 else None
    return BudgetPoint(
        value, band, proves=False, k=k, subsets=subsets, undefined=1 - r.size / subsets,
        method=f"mean and 2.5-97.5 percentile of {subsets} subsets",
    )  # fmt: skip
