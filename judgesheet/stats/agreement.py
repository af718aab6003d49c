"""How far raters agree with each other, and how high a judge can climb against their mean."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ._support import (
    TINY,
    Floats,
    bootstrap_weights,
    cluster_codes,
    floats,
    sum_by,
    t_quantile,
    two_sided,
)
from .interval import Interval, resampled

BY_CHANCE = "the raters agree no more than by chance"


@dataclass(frozen=True, slots=True)
class Agreement:
    """What several raters of the same items tell about their own reliability.

    Attributes
    ----------
    alpha
        Krippendorff's alpha: 1 agreement, 0 what chance would give, below 0 systematic dissent.
    ceiling
        The correlation that a perfect judge could be expected to reach with the mean rating; None
        where the mean rating shows no reliability, since there is then nothing to reach.
    raters
        Harmonic mean of the number of ratings per item.
    n
        Items with at least two ratings.
    """

    alpha: Interval
    ceiling: Interval
    raters: float
    n: int


def rater_agreement(
    ratings: ArrayLike,
    clusters: ArrayLike,
    rng: np.random.Generator,
    resamples: int = 2000,
    level: float = 0.95,
) -> Agreement:
    """Krippendorff's alpha and the ceiling for a judge, intervals by the cluster bootstrap.

    Alpha at the interval level of measurement: whoever averages ratings and correlates the means
    has already taken equal steps of the scale for equal differences, and only at that level does
    alpha become a reliability in the sense of Spearman and Brown. In sums over the n ratings of
    items u with m_u >= 2 of them,

        alpha = 1 - (n - 1) / n * sum_u (m_u / (m_u - 1) * SS_u) / SS_total

    which equals the coincidence matrix's alpha exactly, and needs no matrix of all pairs of
    distinct values.

    The ceiling is the index of reliability, the root of the reliability of the mean rating. Where
    every rater rated every item, that is Cronbach's alpha, or ICC(C,k) = 1 - MS_error / MS_items: a
    rater's general severity does not move a correlation. Otherwise it is Spearman-Brown's
    k a / (1 + (k - 1) a) of alpha with the harmonic mean k of the ratings per item: there, who
    rated an item shifts its mean, and alpha counts that as error.

    Intervals: standard error of Fisher's z over the resamples, t with G - 1 degrees of freedom. At
    20 clusters they cover .93 (alpha) and .95 (ceiling) where percentiles cover .925 and .93.

    Parameters
    ----------
    ratings
        Shape (items, raters); NaN for missing. Columns may be persons or mere places.
    clusters
        Shape (items,); labels of any kind, the unit of resampling.
    rng
        Source of the resamples.
    resamples
        Number of resamples.
    level
        Confidence level.

    References
    ----------
    Krippendorff, K. (2011), "Computing Krippendorff's alpha-reliability";
    Spearman, C. (1910) and Brown, W. (1910), British Journal of Psychology 3, 271-322;
    Lord, F. M. and Novick, M. R. (1968), "Statistical theories of mental test scores", section 3.4
    (index of reliability); McGraw, K. O. and Wong, S. P. (1996), Psychological Methods 1, 30-46.
    """
    table = floats(ratings)
    counts = (~np.isnan(table)).sum(axis=1)
    table, labels, counts = table[counts > 0], np.asarray(clusters)[counts > 0], counts[counts > 0]
    paired = int((counts > 1).sum())
    raters = float(1 / np.mean(1 / counts)) if counts.size else 0.0

    def nothing(note: str) -> Agreement:
        unknown = Interval(None, None, None, level, 0, note=note)
        return Agreement(unknown, unknown, raters, paired)

    if not paired:
        return nothing("no item has two ratings")
    codes, groups = cluster_codes(labels)
    moments = _Moments.of(table)
    sums = sum_by(moments, codes, groups)
    complete = bool((counts == table.shape[1]).all())
    alpha, ceiling = _alpha_and_ceiling(sums.sum(axis=0), complete)
    if np.isnan(alpha):
        note = "all ratings are equal" if len(table) > 1 else "only one item was rated"
        return nothing(f"undefined: {note}")
    drawn = _alpha_and_ceiling(bootstrap_weights(groups, resamples, rng) @ sums, complete)
    limit = (
        _interval(float(ceiling), drawn[1], groups, level, floor=0.0)
        if ceiling > 0
        else Interval(None, None, None, level, groups, note=BY_CHANCE)
    )
    agreement = _interval(float(alpha), drawn[0], groups, level, floor=-1.0)
    return Agreement(agreement, limit, raters, paired)


class _Moments:
    """What is summed over items: alpha and ceiling are functions of these sums alone."""

    ITEMS, ONE_OVER_M, N, SUM, SQUARES, WITHIN, DISAGREEMENT, COLUMNS = range(8)

    @staticmethod
    def of(table: Floats) -> Floats:
        """Shape (items, 7 + raters); the last are the raters' own sums."""
        known = ~np.isnan(table)
        m = known.sum(axis=1).astype(np.float64)
        centred = np.where(known, table - np.nanmean(table), 0.0)  # sums of squares stay exact
        total, squares = centred.sum(axis=1), (centred**2).sum(axis=1)
        within = np.where(m > 1, squares - total**2 / m, 0.0)
        pair = (m > 1).astype(np.float64)
        unequal = within * m / np.maximum(m - 1, 1.0)
        head = [np.ones_like(m), 1 / m, m * pair, total * pair, squares * pair, within, unequal]
        return np.column_stack([*head, centred])


def _alpha_and_ceiling(sums: Floats, complete: bool) -> tuple[Floats, Floats]:
    """Alpha and ceiling from summed moments (..., terms); NaN where undefined."""
    at = _Moments
    n, items = sums[..., at.N], sums[..., at.ITEMS]
    scatter = sums[..., at.SQUARES] - sums[..., at.SUM] ** 2 / np.maximum(n, 1.0)
    defined = (scatter > TINY * np.maximum(sums[..., at.SQUARES], 1e-300)) & (n > 2)
    total = np.where(defined, scatter, 1.0)
    disagreement = sums[..., at.DISAGREEMENT]
    alpha = 1 - (n - 1) / np.maximum(n, 1.0) * disagreement / total
    if complete:
        reliability = _consistency(sums, total)
    else:
        k = items / sums[..., at.ONE_OVER_M]
        capped = np.clip(alpha, 0.0, 1.0)
        reliability = k * capped / (1 + (k - 1) * capped)
    ceiling = np.sqrt(np.clip(reliability, 0.0, 1.0))
    return np.where(defined, alpha, np.nan), np.where(defined, ceiling, np.nan)


def _consistency(sums: Floats, total: Floats) -> Floats:
    """ICC(C,k): reliability of the mean of k raters who all rated every item."""
    at = _Moments
    items, n, within = sums[..., at.ITEMS], sums[..., at.N], sums[..., at.WITHIN]
    columns = sums[..., at.COLUMNS :]
    raters = columns.shape[-1]
    severity = (columns**2).sum(axis=-1) / items - sums[..., at.SUM] ** 2 / n
    error = np.maximum(within - severity, 0.0) / (raters - 1)  # over (items - 1) either way
    between = total - within
    safe = np.where(between > TINY * total, between, 1.0)
    result: Floats = np.where(between > TINY * total, 1 - error / safe, 0.0)
    return result


def _interval(value: float, drawn: Floats, groups: int, level: float, floor: float) -> Interval:
    found = resampled(value, drawn, groups, level)
    if found.low is None:
        return found
    inside = 1 - 1e-9  # Fisher's z of 1 is infinite
    z = np.arctanh(np.clip(drawn[~np.isnan(drawn)], -inside, inside))
    se = float(z.std(ddof=1)) * np.sqrt(groups / (groups - 1))
    centre, half = (
        np.arctanh(np.clip(value, -inside, inside)),
        t_quantile(groups - 1, two_sided(level)) * se,
    )
    low, high = np.tanh([centre - half, centre + half])
    method = f"{found.method}, Fisher z, t"
    return replace(found, low=max(floor, float(low)), high=float(high), method=method)
