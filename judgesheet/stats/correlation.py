"""Correlation with human scores, with intervals that respect clusters."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from judgesheet.reasons import CONSTANT, Reason

from ._support import (
    Flags,
    Floats,
    Integers,
    bootstrap_weights,
    cluster_codes,
    expanded_percentiles,
    floats,
    midranks,
    subsets,
    sum_by,
    t_quantile,
    two_sided,
)
from .interval import Interval

Kind = Literal["pearson", "spearman"]

MOST_GROUPS = 200
"""With more clusters the jackknife deletes groups of them."""
_TINY_TARGET = 1e-20  # sum of squares about the mean relative to that about 0: a constant
_CHUNK = 4_000_000  # bootstrap weights held at once

ONE_ITEM = Reason("one_item", "undefined: fewer than two items")
FEW_CLUSTERS = Reason("few_clusters", "fewer than three clusters: no interval")
PERFECT = Reason("perfect", "perfect correlation: no interval")
DEGENERATE_WITHOUT_ONE = Reason(
    "degenerate_without_one", "undefined or perfect without one cluster: no interval"
)


@dataclass(frozen=True, slots=True)
class Correlation(Interval):
    """A correlation coefficient with its interval; `n` complete items entered it."""

    n: int = 0


@dataclass(frozen=True, slots=True)
class DeltaR:
    """Difference of two correlations with the same scores.

    Attributes
    ----------
    value, low, high, level
        r(x1, y) - r(x2, y) with its interval; None where undefined.
    p
        Two-sided p-value of no difference.
    p_equivalence
        p-value of the two one-sided tests at `margin`: small means proven equivalent.
    margin
        Equivalence margin on the scale of r.
    equivalent
        Whether `p_equivalence` <= 1 - level; None where undefined.
    n, clusters, resamples
        Complete items, their clusters, bootstrap resamples with both correlations defined.
    note
        Why something is None.
    """

    value: float | None
    low: float | None
    high: float | None
    level: float
    p: float | None
    p_equivalence: float | None
    margin: float
    equivalent: bool | None
    n: int
    clusters: int
    resamples: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class BudgetPoint:
    """Correlation after k of K reads.

    Attributes
    ----------
    k
        Reads that are averaged.
    value, low, high
        Mean over subsets and their 2.5-97.5 percentile band, of those subsets where r is defined;
        None if it is in none.
    subsets
        Number of subsets looked at.
    undefined
        Share of subsets whose r is undefined (constant mean).
    """

    k: int
    value: float | None
    low: float | None
    high: float | None
    subsets: int
    undefined: float


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Pearson's r of complete pairs, shape (m,); NaN where undefined (a constant side)."""
    a, b = _complete(x, y)
    return float(_r(_moments(a, b).sum(axis=0)))


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's rho of complete pairs, shape (m,); NaN where undefined (a constant side)."""
    a, b = _complete(x, y)
    return pearson(midranks(a), midranks(b))


def _complete(*columns: ArrayLike) -> tuple[Floats, ...]:
    arrays = [floats(column) for column in columns]
    known = ~np.any([np.isnan(array) for array in arrays], axis=0)
    return tuple(array[known] for array in arrays)


def _moments(*columns: Floats) -> Floats:
    """Per item: 1, each centred column, each product of two (with repetition) -> (m, ...)."""
    centred = [column - column.mean() if column.size else column for column in columns]
    scaled = [column / (column.std() or 1.0) if column.size else column for column in centred]
    pairs = [(i, j) for i in range(len(columns)) for j in range(i, len(columns))]
    ones = np.ones_like(columns[0])
    return np.stack([ones, *scaled, *(scaled[i] * scaled[j] for i, j in pairs)], axis=-1)


def _r(sums: Floats, first: int = 0, second: int = 1, columns: int = 2) -> Floats:
    """Pearson's r of two columns from summed `_moments` (..., terms); NaN if constant."""
    pairs = [(i, j) for i in range(columns) for j in range(i, columns)]
    size = sums[..., 0]

    def scatter(i: int, j: int) -> Floats:
        product: Floats = sums[..., 1 + columns + pairs.index((min(i, j), max(i, j)))]
        means = np.divide(sums[..., 1 + i], size, out=np.zeros_like(size), where=size > 0)
        return product - means * sums[..., 1 + j]

    a, b = scatter(first, first), scatter(second, second)
    # columns are scaled to unit variance: anything this small is a constant side
    defined = (a > 1e-10 * size) & (b > 1e-10 * size)
    scale = np.sqrt(np.where(defined, a * b, 1.0))
    return np.where(defined, np.clip(scatter(first, second) / scale, -1.0, 1.0), np.nan)


def cluster_jackknife_r(
    x: ArrayLike,
    y: ArrayLike,
    clusters: ArrayLike,
    kind: Kind = "pearson",
    level: float = 0.95,
) -> Correlation:
    """Correlation with a Fisher-z interval from the delete-a-cluster jackknife and t.

    With more than 200 clusters, 200 groups of them are deleted in turn. Spearman ranks anew after
    each deletion. No interval with fewer than three clusters, at r = 1 or -1, or when a deletion
    leaves a side constant.

    Parameters
    ----------
    x, y
        Shape (m,); items with NaN in either are dropped.
    clusters
        Shape (m,); labels of any kind.
    kind
        `pearson` or `spearman`.
    level
        Confidence level.

    References
    ----------
    Efron, B. and Tibshirani, R. J. (1993), "An Introduction to the Bootstrap", chapter 11;
    Fisher, R. A. (1921), Metron 1, 3-32.
    """
    x, y = floats(x), floats(y)
    known = ~(np.isnan(x) | np.isnan(y))
    x, y, labels = x[known], y[known], np.asarray(clusters)[known]
    codes, groups = cluster_codes(labels)

    method = "Fisher z, delete-a-cluster jackknife, t"

    def answer(value: float | None, why: Reason) -> Correlation:
        return Correlation(
            value, None, None, level, groups, method, why.sentence, "other", why.code, x.size
        )

    r = pearson(x, y) if kind == "pearson" else spearman(x, y)
    if np.isnan(r):
        return answer(None, _why_undefined(x))
    if groups < 3:
        return answer(r, FEW_CLUSTERS)
    if abs(r) > 1 - 1e-9:
        return answer(r, PERFECT)
    folds, deletions = codes % MOST_GROUPS, min(groups, MOST_GROUPS)
    left_out = _leave_out(x, y, folds, deletions, kind)
    if np.isnan(left_out).any() or np.any(np.abs(left_out) > 1 - 1e-9):
        return answer(r, DEGENERATE_WITHOUT_ONE)
    z = np.arctanh(left_out)
    se = float(np.sqrt((deletions - 1) / deletions * np.sum((z - z.mean()) ** 2)))
    half = t_quantile(deletions - 1, two_sided(level)) * se
    centre = float(np.arctanh(r))
    low, high = float(np.tanh(centre - half)), float(np.tanh(centre + half))
    return Correlation(r, low, high, level, groups, method, kind="correlation", n=x.size)


def _why_undefined(x: Floats) -> Reason:
    return CONSTANT if x.size > 1 else ONE_ITEM


def _leave_out(x: Floats, y: Floats, folds: Integers, deletions: int, kind: Kind) -> Floats:
    if kind == "pearson":
        sums = sum_by(_moments(x, y), folds, deletions)
        return _r(sums.sum(axis=0) - sums)
    kept = (folds != fold for fold in range(deletions))
    return np.array([spearman(x[keep], y[keep]) for keep in kept])


def delta_r(
    x1: ArrayLike,
    x2: ArrayLike,
    y: ArrayLike,
    clusters: ArrayLike,
    rng: np.random.Generator,
    resamples: int = 2000,
    level: float = 0.95,
    margin: float = 0.02,
) -> DeltaR:
    """r(x1, y) - r(x2, y) by the paired cluster bootstrap, with a test and an equivalence test.

    Expanded percentiles: the tail is taken at the normal probability of sqrt(G/(G-1)) t_{G-1}, and
    tail shares are turned into p-values by the inverse, so that test and interval agree.

    Parameters
    ----------
    x1, x2, y
        Shape (m,); items with NaN in any are dropped.
    clusters
        Shape (m,); labels of any kind.
    rng
        Source of the resamples.
    resamples
        Number of resamples.
    level
        Confidence level.
    margin
        Equivalence margin on the scale of r.

    References
    ----------
    Hesterberg, T. C. (2015), "What teachers should know about the bootstrap", The American
    Statistician 69, 371-386 (expanded percentile interval).
    """
    columns = [floats(column) for column in (x1, x2, y)]
    known = ~np.any([np.isnan(column) for column in columns], axis=0)
    codes, groups = cluster_codes(np.asarray(clusters)[known])
    columns = [column[known] for column in columns]
    items = int(columns[0].size)
    sums = sum_by(_moments(*columns), codes, groups)
    value = float(_delta(sums.sum(axis=0)))
    if np.isnan(value) or groups < 2:
        note = "one cluster: no interval" if groups == 1 else "undefined: one side is constant"
        known_value = None if np.isnan(value) else value
        return DeltaR(
            known_value, None, None, level, None, None, margin, None, items, groups, 0, note
        )
    drawn = _delta(bootstrap_weights(groups, resamples, rng) @ sums)
    return difference(value, drawn, items, groups, level, margin)


def difference(
    value: float, drawn: Floats, items: int, clusters: int, level: float, margin: float
) -> DeltaR:
    """Interval, test and equivalence test of a difference from its cluster bootstrap.

    Parameters
    ----------
    value
        The difference.
    drawn
        Shape (resamples,); resamples without a value are NaN.
    items, clusters
        What it was computed from; at least two clusters.
    level, margin
        Confidence level and equivalence margin.
    """
    drawn = drawn[~np.isnan(drawn)]
    low, high = expanded_percentiles(drawn, clusters, level) if drawn.size else (np.nan, np.nan)
    p = min(1.0, 2 * min(_tail_p(drawn <= 0, clusters), _tail_p(drawn >= 0, clusters)))
    apart = max(_tail_p(drawn >= margin, clusters), _tail_p(drawn <= -margin, clusters))
    return DeltaR(
        value, float(low), float(high), level, p, apart, margin, apart <= 1 - level,
        items, clusters, int(drawn.size),
    )  # fmt: skip


def _delta(sums: Floats) -> Floats:
    difference = _r(sums, 0, 2, 3) - _r(sums, 1, 2, 3)
    return np.where(np.abs(difference) < 1e-12, 0.0, difference)


def _tail_p(beyond: Flags, groups: int) -> float:
    """One-sided p from the resamples on the far side: plus-one share, then normal -> t."""
    share = (1 + float(beyond.sum())) / (2 + beyond.size)
    z = float(special.ndtri(share)) * np.sqrt((groups - 1) / groups)
    return float(special.stdtr(groups - 1, z))


def paper_bootstrap_r(
    x: ArrayLike,
    y: ArrayLike,
    rng: np.random.Generator,
    kind: Kind = "pearson",
    resamples: int = 1000,
    level: float = 0.95,
) -> Correlation:
    """Item-level percentile bootstrap (paper-compatible: ignores clusters).

    Parameters
    ----------
    x, y
        Shape (m,); items with NaN in either are dropped.
    rng
        Source of the resamples.
    kind
        `pearson` or `spearman`.
    resamples
        Number of resamples.
    level
        Confidence level.

    References
    ----------
    Xu et al., "Am I More Pointwise or Pairwise?", appendix G.
    """
    x, y = _complete(x, y)
    method, items = f"item percentile bootstrap, {resamples} resamples", int(x.size)
    r = pearson(x, y) if kind == "pearson" else spearman(x, y)
    if np.isnan(r):
        why = _why_undefined(x)
        return Correlation(None, None, None, level, items, method, why.sentence, n=items)
    drawn = np.concatenate(list(_item_resamples(x, y, rng, kind, resamples)))
    drawn = drawn[~np.isnan(drawn)]
    if not drawn.size:
        note = "undefined in every resample"
        return Correlation(r, None, None, level, items, method, note, n=items)
    tail = 1 - two_sided(level)
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Correlation(r, float(low), float(high), level, items, method, n=items)


def _item_resamples(
    x: Floats, y: Floats, rng: np.random.Generator, kind: Kind, resamples: int
) -> Iterator[Floats]:
    size = x.size
    if kind == "spearman":
        for _ in range(resamples):
            drawn = rng.integers(size, size=size)
            yield np.array([spearman(x[drawn], y[drawn])])
        return
    moments, step = _moments(x, y), max(1, _CHUNK // size)
    for start in range(0, resamples, step):
        weights = bootstrap_weights(size, min(step, resamples - start), rng)
        yield _r(weights @ moments)


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
    rng
        Draws subsets (with replacement) where there are more than `max_subsets`.
    max_subsets
        Most subsets per k.

    Returns
    -------
    tuple
        One `BudgetPoint` per k = 1..K.

    References
    ----------
    Xu et al., "Am I More Pointwise or Pairwise?", section 5.3 and appendix D.2.
    """
    reads, target = floats(scores), floats(y)
    known = ~(np.isnan(reads).any(axis=1) | np.isnan(target))
    return _budget(reads[known], target[known], rng, max_subsets)


def budget_agreement(
    scores: ArrayLike, rng: np.random.Generator, max_subsets: int = 1000
) -> tuple[BudgetPoint, ...]:
    """As `budget_r`, against the mean over all K reads instead of labels.

    A part-whole correlation: the subset is part of its target, so the curve ends at 1 and shows
    how soon fewer reads stand in for all of them, not how good they are.

    Parameters
    ----------
    scores
        Shape (I, K); items with a NaN are dropped.
    rng, max_subsets
        As for `budget_r`.
    """
    reads = floats(scores)
    reads = reads[~np.isnan(reads).any(axis=1)]
    return _budget(reads, reads.mean(axis=1), rng, max_subsets)


def _budget(
    reads: Floats, target: Floats, rng: np.random.Generator, max_subsets: int
) -> tuple[BudgetPoint, ...]:
    """Pearson's r of every subset, m a 0/1 vector: m'c / sqrt(m'Cm v) with one covariance C."""
    total = reads.shape[1]
    if not len(reads):
        return tuple(BudgetPoint(k, None, None, None, 0, 1.0) for k in range(1, total + 1))
    centred, aim = reads - reads.mean(axis=0), target - target.mean()
    covariance, cross, own = centred.T @ centred, centred.T @ aim, float(aim @ aim)
    smallest = 1e-10 * (float(np.trace(covariance)) + 1e-300)
    points = []
    for k in range(1, total + 1):
        members = subsets(total, k, rng, max_subsets)
        spread = np.sum((members @ covariance) * members, axis=1)
        defined = (spread > smallest) & (own > _TINY_TARGET * float(target @ target))
        r = (members @ cross)[defined] / np.sqrt(spread[defined] * own)
        points.append(_budget_point(k, np.clip(r, -1.0, 1.0), len(members)))
    return tuple(points)


def _budget_point(k: int, r: Floats, subsets: int) -> BudgetPoint:
    undefined = 1 - r.size / subsets
    if not r.size:
        return BudgetPoint(k, None, None, None, subsets, undefined)
    low, high = np.quantile(r, [0.025, 0.975])
    return BudgetPoint(k, float(r.mean()), float(low), float(high), subsets, undefined)
