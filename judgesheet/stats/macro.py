"""Correlation with human scores, averaged over criteria, with intervals that respect clusters.

Scores and what they should follow are arrays (items, criteria), NaN where unknown; a criterion
whose correlation is undefined (a constant side) leaves the average, and the note names how many.
"""

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from judgesheet.reasons import CONSTANT, NEVER_VARIED, Reason

from ._support import (
    Floats,
    bootstrap_weights,
    cluster_codes,
    floats,
    t_quantile,
    two_sided,
)
from .correlation import (
    FEW_CLUSTERS,
    PERFECT,
    Correlation,
    DeltaR,
    Kind,
    difference,
    pearson,
    spearman,
)

RARELY_DEFINED = Reason("rarely_defined", "undefined in most resamples: no interval")

_LEAST_SPREAD = 1e-10  # variance relative to that of all items below which a side is constant


def macro_r(
    x: ArrayLike,
    y: ArrayLike,
    clusters: ArrayLike,
    rng: np.random.Generator,
    kind: Kind = "pearson",
    resamples: int = 2000,
    level: float = 0.95,
) -> Correlation:
    """Mean over criteria of the correlation with y; cluster bootstrap, Fisher's z, t.

    The standard error is that of the resamples on the scale of z. (Percentiles of the resamples lie
    too low for rank correlations near 1: an item drawn twice is tied with itself.)

    Parameters
    ----------
    x, y
        Shape (m, criteria).
    clusters
        Shape (m,); labels of any kind. Criteria are resampled together.
    rng
        Source of the resamples.
    kind
        `pearson` or `spearman`; ranks are taken anew in every resample.
    resamples, level
        Number of resamples, confidence level.

    References
    ----------
    Xu et al., "Am I More Pointwise or Pairwise?", section 5.5; Efron, B. and Tibshirani, R. J.
    (1993), "An Introduction to the Bootstrap", chapter 12.
    """
    scores, target = floats(x), floats(y)
    codes, groups = cluster_codes(clusters)
    defined = _defined(scores, target, kind)
    known = ~np.isnan(scores) & ~np.isnan(target) & defined
    items, used = int(known.any(axis=1).sum()), len(np.unique(codes[known.any(axis=1)]))
    method = f"Fisher z, cluster bootstrap with {resamples:,} resamples, t"

    def answer(value: float | None, why: Reason) -> Correlation:
        said = note or why.sentence
        return Correlation(value, None, None, level, used, method, said, "other", why.code, items)

    note = ""
    if not defined.any():
        return answer(None, CONSTANT.saying("undefined for every criterion: one side is constant"))
    columns = np.flatnonzero(defined)
    value = float(np.mean([_point(scores[:, c], target[:, c], kind) for c in columns]))
    lost = len(defined) - len(columns)
    note = f"without {lost} of {len(defined)} criteria: one side is constant" if lost else ""
    if used < 3:
        return answer(value, FEW_CLUSTERS)
    weights = bootstrap_weights(groups, resamples, rng)[:, codes]
    drawn = np.mean([_drawn(scores[:, c], target[:, c], weights, kind) for c in columns], axis=0)
    drawn = drawn[~np.isnan(drawn)]
    if drawn.size < resamples / 2:
        return answer(value, RARELY_DEFINED)
    if max(abs(value), float(np.abs(drawn).max())) > 1 - 1e-9:
        return answer(value, PERFECT)
    if float(np.ptp(drawn)) < 1e-12:
        return answer(value, NEVER_VARIED)
    error = float(np.arctanh(drawn).std()) * sqrt(used / (used - 1))
    half, centre = t_quantile(used - 1, two_sided(level)) * error, float(np.arctanh(value))
    low, high = float(np.tanh(centre - half)), float(np.tanh(centre + half))
    return Correlation(value, low, high, level, used, method, note, n=items)


def macro_delta_r(
    x1: ArrayLike,
    x2: ArrayLike,
    y: ArrayLike,
    clusters: ArrayLike,
    rng: np.random.Generator,
    resamples: int = 2000,
    level: float = 0.95,
    margin: float = 0.02,
) -> DeltaR:
    """Difference of two macro-averages with the same y, by the paired cluster bootstrap.

    Over the criteria for which both correlations are defined and the items that both sides have.

    Parameters
    ----------
    x1, x2, y
        Shape (m, criteria).
    clusters, rng, resamples, level, margin
        As for `correlation.delta_r`.
    """
    first, second, target = floats(x1), floats(x2), floats(y)
    missing = np.isnan(first) | np.isnan(second) | np.isnan(target)
    first, second = np.where(missing, np.nan, first), np.where(missing, np.nan, second)
    codes, groups = cluster_codes(clusters)
    defined = _defined(first, target, "pearson") & _defined(second, target, "pearson")
    known = (~missing & defined).any(axis=1)
    items, used = int(known.sum()), len(np.unique(codes[known]))
    columns = np.flatnonzero(defined)
    if used < 2 or not columns.size:
        note = "undefined: one side is constant" if not columns.size else "one cluster: no interval"
        return DeltaR(None, None, None, level, None, None, margin, None, items, used, 0, note)
    weights = bootstrap_weights(groups, resamples, rng)[:, codes]

    def average(side: Floats, counts: Floats) -> Floats:
        found = [_drawn(side[:, c], target[:, c], counts, "pearson") for c in columns]
        mean: Floats = np.mean(found, axis=0)
        return mean

    once = np.ones((1, len(codes)))
    value = float((average(first, once) - average(second, once))[0])
    drawn = average(first, weights) - average(second, weights)
    drawn = np.where(np.abs(drawn) < 1e-12, 0.0, drawn)
    value = 0.0 if abs(value) < 1e-12 else value
    return difference(value, drawn, items, used, level, margin)


def _point(x: Floats, y: Floats, kind: Kind) -> float:
    return pearson(x, y) if kind == "pearson" else spearman(x, y)


def _defined(x: Floats, y: Floats, kind: Kind) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Which criteria have a correlation."""
    found = [_point(x[:, c], y[:, c], kind) for c in range(x.shape[1])]
    return ~np.isnan(np.array(found, dtype=np.float64))


def _drawn(x: Floats, y: Floats, weights: Floats, kind: Kind) -> Floats:
    """The correlation of one criterion in every resample, weights (resamples, m) -> (resamples,)"""
    known = ~(np.isnan(x) | np.isnan(y))
    x, y, weights = x[known], y[known], weights[:, known]
    if kind == "spearman":
        return _weighted_r(_weighted_ranks(x, weights), _weighted_ranks(y, weights), weights)
    return _weighted_r(_standard(x)[None], _standard(y)[None], weights)


def _standard(values: Floats) -> Floats:
    centred: Floats = values - values.mean()
    return centred / max(float(centred.std()), _LEAST_SPREAD)


def _weighted_ranks(values: Floats, weights: Floats) -> Floats:
    """Midranks, as shares, of items that are repeated as often as their weights say."""
    _, place = np.unique(values, return_inverse=True)
    place = place.reshape(-1)
    times = weights @ np.eye(int(place.max(initial=-1)) + 1)[place]  # (resamples, values)
    below = np.cumsum(times, axis=1) - times
    ranks: Floats = ((below + times / 2) / weights.sum(axis=1, keepdims=True))[:, place]
    return ranks


def _weighted_r(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Pearson's r with weights, per row; NaN where a side is constant."""
    size = np.maximum(weights.sum(axis=1), 1.0)

    def mean(values: Floats) -> Floats:
        average: Floats = np.sum(weights * values, axis=1) / size
        return average

    x, y = x - mean(x)[:, None], y - mean(y)[:, None]
    own, other = mean(x * x), mean(y * y)
    defined = (own > _LEAST_SPREAD) & (other > _LEAST_SPREAD)
    scale = np.sqrt(np.where(defined, own * other, 1.0))
    return np.where(defined, np.clip(mean(x * y) / scale, -1.0, 1.0), np.nan)
