"""Correlation with human scores, averaged over criteria, with intervals that respect clusters.

Scores and reference scores are arrays (items, criteria), NaN where unknown; a criterion whose
correlation is undefined (a constant side) is left out, and the note says how many are.
"""

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from judgesheet.base.limits import MOST_DELETIONS
from judgesheet.base.missing_reasons import CONSTANT, NEVER_VARIED, Reason

from ._support import Flags, Floats, cluster_codes, floats
from .correlation import (
    FEW_CLUSTERS,
    LEAST_VARIANCE,
    ON_Z,
    Correlation,
    DeltaR,
    Kind,
    at_an_end,
    coefficient,
    difference,
    drawn_r,
    without_rounding,
)
from .standard_error import (
    LEAST_CARRIERS,
    carriers,
    ends_of_r,
    fisher_error,
)


def macro_r(
    x: ArrayLike,
    y: ArrayLike,
    clusters: ArrayLike,
    kind: Kind = "pearson",
) -> Correlation:
    """Mean over criteria of the correlation with y; Fisher's z and the jackknife over clusters.

    A correlation of few items is biased towards 0, and a mean over criteria has a small error but
    all of that bias: the interval is that of the mean less its bias (`jackknifed`).

    Parameters
    ----------
    x, y
        Shape (m, criteria); a cluster is left out of all criteria at once.
    kind
        `pearson` or `spearman`; ranks are taken anew without each cluster.

    References
    ----------
    Xu et al., "Am I More Pointwise or Pairwise?", section 5.5; Efron, B. and Tibshirani, R. J.
    (1993), "An Introduction to the Bootstrap", chapter 11.
    """
    scores, target = floats(x), floats(y)
    each = _coefficients(scores, target, kind)
    defined = ~np.isnan(each)
    lost, both = int((~defined).sum()), (~np.isnan(scores) & ~np.isnan(target))[:, defined]
    known = both.any(axis=1)
    labels = np.asarray(clusters)[known]
    without, used = _each_left_out(labels), len(np.unique(labels))
    answer = partial(Correlation, clusters=used, method=ON_Z, n=int(known.sum()))

    def without_ends(value: float | None, why: Reason) -> Correlation:
        return answer(value, note=note or why.sentence, reason=why.code)

    note = ""
    if not defined.any():
        why = CONSTANT.saying("undefined for every criterion: one side is constant")
        return without_ends(None, why)
    note = f"without {lost} of {len(each)} criteria: one side is constant" if lost else ""
    value = float(np.mean(each[defined]))
    if used < LEAST_CARRIERS:
        return without_ends(value, FEW_CLUSTERS)
    left_out = _weighted_mean(scores[known], target[known], without, defined, kind)
    if at_end := at_an_end(value, left_out):
        return without_ends(value, at_end)
    # One or two clusters make the correlation: what others would, nobody saw.
    if carriers(left_out) < LEAST_CARRIERS:
        return without_ends(value, NEVER_VARIED)
    limits = ends_of_r(value, left_out, used, fisher_error(int(both.sum())))
    drawn = _drawn_mean(scores, target, clusters, defined) if kind == "pearson" else None
    return answer(value, limits, note=note, drawn=drawn)


def _drawn_mean(x: Floats, y: Floats, clusters: ArrayLike, criteria: Flags) -> Floats | None:
    """Mean over these criteria of r in every draw of clusters."""
    each = [drawn_r(x[:, c], y[:, c], clusters) for c in np.flatnonzero(criteria)]
    known = [one for one in each if one is not None]
    return np.mean(known, axis=0) if known else None


def macro_delta_r(
    x1: ArrayLike,
    x2: ArrayLike,
    y: ArrayLike,
    clusters: ArrayLike,
) -> DeltaR:
    """Difference of two macro-averages with the same y, by the paired jackknife.

    Over the criteria for which both correlations are defined, the items that both sides have, and
    the clusters with such an item.

    Parameters
    ----------
    x1, x2, y
        Shape (m, criteria).
    """
    first, second, target = floats(x1), floats(x2), floats(y)
    missing = np.isnan(first) | np.isnan(second) | np.isnan(target)
    first, second = np.where(missing, np.nan, first), np.where(missing, np.nan, second)
    both = _coefficients(first, target, "pearson") - _coefficients(second, target, "pearson")
    defined = ~np.isnan(both)
    known = (~missing & defined).any(axis=1)
    labels, items = np.asarray(clusters)[known], int(known.sum())
    without, used = _each_left_out(labels), len(np.unique(labels))

    def gain(weights: Floats) -> Floats:
        here, there = (
            _weighted_mean(side[known], target[known], weights, defined, "pearson")
            for side in (first, second)
        )
        return without_rounding(here - there)

    if not defined.any():
        return difference(float("nan"), np.empty(0), items, used)
    value = float(gain(np.ones((1, items)))[0])
    here, there = (_drawn_mean(side, target, clusters, defined) for side in (first, second))
    drawn = None if here is None or there is None else without_rounding(here - there)
    return replace(difference(value, gain(without), items, used), drawn=drawn)


def _each_left_out(clusters: ArrayLike) -> Floats:
    """Weights of items (m,) without each cluster in turn, or without each group of them."""
    codes, groups = cluster_codes(clusters)
    folds = np.arange(min(groups, MOST_DELETIONS))[:, None]
    kept: Floats = (codes % MOST_DELETIONS != folds).astype(np.float64)
    return kept


def _coefficients(x: Floats, y: Floats, kind: Kind) -> Floats:
    """The correlation of every criterion, (criteria,); NaN where undefined."""
    return np.array([coefficient(x[:, c], y[:, c], kind) for c in range(x.shape[1])])


def _weighted_mean(x: Floats, y: Floats, weights: Floats, criteria: Flags, kind: Kind) -> Floats:
    """Mean over the criteria of the correlation under each row of weights (rows, m)."""
    chosen = np.flatnonzero(criteria)
    mean: Floats = np.mean([_weighted(x[:, c], y[:, c], weights, kind) for c in chosen], axis=0)
    return mean


def _weighted(x: Floats, y: Floats, weights: Floats, kind: Kind) -> Floats:
    """The correlation of one criterion under each row of weights (rows, m) -> (rows,)"""
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
    times = weights @ np.eye(int(place.max(initial=-1)) + 1)[place]  # (rows, values)
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
