"""Correlation with human scores, averaged over criteria, with intervals that respect clusters.

Scores and what they should follow are arrays (items, criteria), NaN where unknown; a criterion
whose correlation is undefined (a constant side) leaves the average, and the note names how many.
"""

from functools import partial
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from judgesheet.reasons import CONSTANT, NEVER_VARIED, Reason

from ._support import (
    Flags,
    Floats,
    bootstrap_weights,
    cluster_codes,
    floats,
)
from .correlation import (
    FEW_CLUSTERS,
    LEAST_VARIANCE,
    PERFECT,
    Correlation,
    DeltaR,
    Kind,
    coefficient,
    difference,
    without_interval,
    without_rounding,
)
from .interval import hardly_varies
from .standard_error import NEARLY_ONE, at_least_fisher, fisher_ends

RARELY_DEFINED = Reason("rarely_defined", "undefined in most resamples: no interval")


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
        Shape (m, criteria); criteria are resampled together.
    kind
        `pearson` or `spearman`; ranks are taken anew in every resample.

    References
    ----------
    Xu et al., "Am I More Pointwise or Pairwise?", section 5.5; Efron, B. and Tibshirani, R. J.
    (1993), "An Introduction to the Bootstrap", chapter 12.
    """
    scores, target = floats(x), floats(y)
    codes, groups = cluster_codes(clusters)
    each = _coefficients(scores, target, kind)
    defined = ~np.isnan(each)
    known = (~np.isnan(scores) & ~np.isnan(target) & defined).any(axis=1)
    used, lost = len(np.unique(codes[known])), int((~defined).sum())
    answer = partial(
        Correlation,
        level=level,
        clusters=used,
        method=f"Fisher z, cluster bootstrap with {resamples:,} resamples, t",
        n=int(known.sum()),
    )

    def without_ends(value: float | None, why: Reason) -> Correlation:
        return answer(value, None, None, note=note or why.sentence, reason=why.code)

    note = ""
    if not defined.any():
        why = CONSTANT.saying("undefined for every criterion: one side is constant")
        return without_ends(None, why)
    note = f"without {lost} of {len(each)} criteria: one side is constant" if lost else ""
    value = float(np.mean(each[defined]))
    if used < 3:
        return without_ends(value, FEW_CLUSTERS)
    weights = bootstrap_weights(groups, resamples, rng)[:, codes]
    drawn = _mean_drawn(scores, target, weights, defined, kind)
    drawn = drawn[~np.isnan(drawn)]
    if drawn.size < resamples / 2:
        return without_ends(value, RARELY_DEFINED)
    if max(abs(value), float(np.abs(drawn).max())) > NEARLY_ONE:
        return without_ends(value, PERFECT)
    if hardly_varies(drawn):
        return without_ends(value, NEVER_VARIED)
    readings = int((~np.isnan(scores) & ~np.isnan(target))[:, defined].sum())
    spread = float(np.arctanh(drawn).std()) * sqrt(used / (used - 1))
    error = at_least_fisher(spread, readings)
    found = fisher_ends(value, error, used, level)
    return answer(value, found.low, found.high, bounds=found.bounds, note=note)


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
    margin
        Equivalence margin on the scale of r.
    """
    first, second, target = floats(x1), floats(x2), floats(y)
    missing = np.isnan(first) | np.isnan(second) | np.isnan(target)
    first, second = np.where(missing, np.nan, first), np.where(missing, np.nan, second)
    codes, groups = cluster_codes(clusters)
    both = _coefficients(first, target, "pearson") - _coefficients(second, target, "pearson")
    defined = ~np.isnan(both)
    known = (~missing & defined).any(axis=1)
    items, used = int(known.sum()), len(np.unique(codes[known]))
    if used < 2:
        return without_interval(float("nan"), items, used, level)

    def gain(weights: Floats) -> Floats:
        here, there = (
            _mean_drawn(side, target, weights, defined, "pearson") for side in (first, second)
        )
        return without_rounding(here - there)

    value = float(gain(np.ones((1, len(codes))))[0])
    drawn = gain(bootstrap_weights(groups, resamples, rng)[:, codes])
    return difference(value, drawn, items, used, level, margin)


def _coefficients(x: Floats, y: Floats, kind: Kind) -> Floats:
    """The correlation of every criterion, (criteria,); NaN where undefined."""
    return np.array([coefficient(x[:, c], y[:, c], kind) for c in range(x.shape[1])])


def _mean_drawn(x: Floats, y: Floats, weights: Floats, criteria: Flags, kind: Kind) -> Floats:
    """Mean over the criteria of the correlation in every resample, weights (resamples, m)."""
    chosen = np.flatnonzero(criteria)
    mean: Floats = np.mean([_drawn(x[:, c], y[:, c], weights, kind) for c in chosen], axis=0)
    return mean


def _drawn(x: Floats, y: Floats, weights: Floats, kind: Kind) -> Floats:
    """The correlation of one criterion in every resample, weights (resamples, m) -> (resamples,)"""
    known = ~(np.isnan(x) | np.isnan(y))
    x, y, weights = x[known], y[known], weights[:, known]
    if kind == "spearman":
        return _weighted_r(_weighted_ranks(x, weights), _weighted_ranks(y, weights), weights)
    return _weighted_r(_standard(x)[None], _standard(y)[None], weights)


def _standard(values: Floats) -> Floats:
    centred: Floats = values - values.mean()
    return centred / max(float(centred.std()), LEAST_VARIANCE)


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
    defined = (own > LEAST_VARIANCE) & (other > LEAST_VARIANCE)
    scale = np.sqrt(np.where(defined, own * other, 1.0))
    return np.where(defined, np.clip(mean(x * y) / scale, -1.0, 1.0), np.nan)
