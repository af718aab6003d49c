"""Intervals for means and rates whose calls share stimuli: the cluster is the unit.

`value`, `low` and `high` are None where they are not defined, and `reason` says why.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from judgesheet.reasons import (
    ALL_AGREE,
    CONSTANT,
    NEVER_VARIED,
    NO_OBSERVATIONS,
    ONE_CLUSTER,
    Reason,
)

from . import bounds
from ._support import (
    ICC_AT_BOUND,
    TINY,
    Floats,
    cluster_codes,
    expanded_percentiles,
    floats,
    sum_by,
    t_quantile,
    two_sided,
    z_quantile,
)

SMALL_SAMPLE = 20
"""Below this number of clusters a rate gets the beta-binomial interval."""
DEFF_FLOOR_FRACTIONAL = 0.1
"""Averages vary less than single calls; their effective n is at most ten times their count."""

Kind = Literal["rate", "mean", "correlation", "band", "other"]
"""What an interval is of, which decides its one-sided bounds: a share of calls, a cluster-robust
mean, a correlation on Fisher's scale, a range without error of sampling, or none of these."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its confidence interval.

    Attributes
    ----------
    value
        The estimate, None where it is not defined.
    low, high
        Ends of the interval of confidence `level`; None where there is none.
    level
        Confidence level, a probability.
    clusters
        Number of clusters with at least one observation.
    method
        How the interval was computed.
    note
        Why something is None or degenerate, in words; empty otherwise.
    kind
        What the interval is of.
    reason
        Code of the `Reason` why something is None; empty otherwise.
    """

    value: float | None
    low: float | None
    high: float | None
    level: float = 0.95
    clusters: int = 0
    method: str = ""
    note: str = ""
    kind: Kind = "other"
    reason: str = ""

    def one_sided(self, n: int, level: float = 0.95) -> bounds.OneSided | None:
        """The one-sided bounds that the interval implies; None where it has no two ends.

        - of a share of calls: `bounds.korn_graubard`;
        - of a cluster-robust mean: its half-width with the one-sided quantile of t;
        - of a correlation: the same, on Fisher's scale;
        - of anything else: the ends of the two-sided interval, which hold with more than `level`.

        Parameters
        ----------
        n
            Number of calls behind the estimate.
        level
            Confidence of each bound.
        """
        if self.value is None or self.low is None or self.high is None:
            return None
        span = bounds.Span(self.value, min(self.low, self.value), max(self.high, self.value))
        if self.kind == "band":
            return bounds.nothing_proven(level)
        if self.clusters > 1 and n > 0:
            if self.kind == "rate":
                return bounds.of_rate(span, n, self.clusters, level)
            if self.kind == "mean":
                return bounds.of_mean(span, self.clusters, level)
            if self.kind == "correlation" and span.low > -1 and span.high < 1:
                return bounds.of_correlation(span, self.clusters, level)
        return bounds.of_ends(span, level)


def missing(
    reason: Reason, *, level: float = 0.95, clusters: int = 0, method: str = ""
) -> Interval:
    """What stands where nothing can be estimated."""
    return Interval(None, None, None, level, clusters, method, reason.sentence, reason=reason.code)


def without_ends(
    value: float, reason: Reason, *, level: float = 0.95, clusters: int = 0, method: str = ""
) -> Interval:
    """A value that the data give no interval for."""
    return Interval(value, None, None, level, clusters, method, reason.sentence, reason=reason.code)


def exactly(value: float | None, *, clusters: int = 0, method: str = "") -> Interval:
    """A number that is no estimate or has no interval by its nature: a count, a p-value.

    None where it could not be computed; then the caller knows why.
    """
    return Interval(value, None, None, clusters=clusters, method=method)


def by_cluster(values: ArrayLike, clusters: ArrayLike) -> tuple[Floats, Floats]:
    """Sums and counts per cluster of the values that are not NaN, as `cluster_t` wants them.

    Parameters
    ----------
    values
        Shape (m,); NaN for missing.
    clusters
        Shape (m,); labels of any kind.

    Returns
    -------
    sums, sizes
        Shape (G,), clusters in sorted order of their labels; a cluster without a value has size 0.
    """
    array = floats(values)
    codes, groups = cluster_codes(clusters)
    known = ~np.isnan(array)
    pairs = np.stack([np.where(known, array, 0.0), known.astype(np.float64)], axis=-1)
    totals = sum_by(pairs, codes, groups)
    return totals[:, 0], totals[:, 1]


def widening(clusters: int, level: float, other: float) -> float:
    """How many times wider a t interval over clusters (at least 2) is at the `other` level."""
    return t_quantile(clusters - 1, two_sided(other)) / t_quantile(clusters - 1, two_sided(level))


def cluster_t(
    sums: ArrayLike, sizes: ArrayLike, level: float = 0.95, *, bounded: bool = False
) -> Interval:
    """Ratio mean over clusters with a cluster-robust t interval.

    The variance is the sandwich with G/(G-1), the quantile t with G-1 degrees of freedom.
    Clusters of size 0 are dropped. One cluster: a value and no interval. No variance between
    clusters is no certainty either: a `bounded` mean gets an interval that allows for the share of
    clusters that may depart unseen (Clopper-Pearson for 0 of G), an unbounded one gets none.

    Parameters
    ----------
    sums, sizes
        Shape (G,): sum and number of observations of each cluster.
    level
        Confidence level.
    bounded
        True if every observation lies in [0, 1]; the interval is then clipped to it.
    """
    sums, sizes = floats(sums), floats(sizes)
    sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    groups, method = int(sums.size), "cluster-robust t"
    if groups == 0:
        return missing(NO_OBSERVATIONS, level=level, method=method)
    value = float(sums.sum() / sizes.sum())
    if groups == 1:
        return without_ends(value, ONE_CLUSTER, level=level, clusters=1, method=method)
    method = f"{method}, within 0 and 1" if bounded else method
    if bounded and _all_agree(sums, sizes):
        return _unanimous(round(value), groups, level)
    half = t_quantile(groups - 1, two_sided(level)) * _ratio_se(sums, sizes)
    note = ""
    if half <= 0:
        note = f"all {groups} clusters agree"
        if not bounded:
            alike = ALL_AGREE.saying(f"{note}: no interval")
            return without_ends(value, alike, level=level, clusters=groups, method=method)
        half, method = unseen_share(groups, level), "Clopper-Pearson on clusters"
    low, high = value - half, value + half
    if bounded:
        low, high = max(0.0, low), min(1.0, high)
    kind: Kind = "rate" if bounded else "mean"
    return Interval(value, low, high, level, groups, method, note, kind)


def mean_t(values: ArrayLike, level: float = 0.95, *, bounded: bool = False) -> Interval:
    """Mean of one value per cluster with Student's interval; NaN entries are dropped.

    Parameters
    ----------
    values
        Shape (G,).
    level, bounded
        As for `cluster_t`.
    """
    array = floats(values)
    array = array[~np.isnan(array)]
    return cluster_t(array, np.ones_like(array), level, bounded=bounded)


def _ratio_se(sums: Floats, sizes: Floats) -> float:
    residuals = sums - sums.sum() / sizes.sum() * sizes
    squares = float(residuals @ residuals)
    if squares <= TINY**2 * float(sums @ sums):
        return 0.0
    return float(np.sqrt(sums.size / (sums.size - 1) * squares) / sizes.sum())


def _all_agree(sums: Floats, sizes: Floats) -> bool:
    return bool(np.all(sums <= TINY * sizes) or np.all(sums >= (1 - TINY) * sizes))


def _unanimous(value: int, groups: int, level: float) -> Interval:
    """Clopper-Pearson for 0 of G or G of G."""
    reach = unseen_share(groups, level)
    low, high = (1 - reach, 1.0) if value else (0.0, reach)
    note = f"all {groups} clusters agree: the interval is that of {value * groups} of {groups}"
    method = "Clopper-Pearson on clusters"
    return Interval(float(value), low, high, level, groups, method, note, "rate")


def unseen_share(groups: int, level: float = 0.95) -> float:
    """Upper bound of the share of clusters that differ when none of `groups` was seen to.

    Clopper-Pearson for 0 of G, two-sided: what a spread of exactly zero still leaves open.

    Parameters
    ----------
    groups
        Number of clusters, at least 1.
    level
        Confidence level.
    """
    return float(1 - (1 - two_sided(level)) ** (1 / groups))


def resampled(value: float, drawn: ArrayLike, clusters: int, level: float = 0.95) -> Interval:
    """The interval of a value from what the cluster bootstrap drew (expanded percentiles).

    Parameters
    ----------
    value
        The estimate; NaN where it is undefined.
    drawn
        Shape (resamples,): the estimate in every resample, NaN where undefined there.
    clusters
        Number of clusters that were resampled. With one there is no interval, nor where no resample
        differs: what never varied may still do so elsewhere.
    level
        Confidence level.

    References
    ----------
    Hesterberg, T. C. (2015), "What teachers should know about the bootstrap", The American
    Statistician 69, 371-386.
    """
    array = floats(drawn)
    array = array[~np.isnan(array)]
    if np.isnan(value):
        return missing(CONSTANT, level=level, clusters=clusters)
    method = f"cluster bootstrap, {np.size(drawn):,} resamples"
    if clusters < 2 or not array.size:
        return without_ends(value, ONE_CLUSTER, level=level, clusters=clusters, method=method)
    if np.ptp(array) <= TINY:
        return without_ends(value, NEVER_VARIED, level=level, clusters=clusters, method=method)
    low, high = expanded_percentiles(array, clusters, level)
    return Interval(value, min(low, value), max(high, value), level, clusters, method)


def wilson(k: float, n: float, level: float = 0.95) -> Interval:
    """Wilson's score interval for k of n independent calls (paper-compatible: ignores clusters).

    Parameters
    ----------
    k, n
        Successes and trials, 0 <= k <= n; n = 0 gives None.
    level
        Confidence level.

    References
    ----------
    Wilson, E. B. (1927), "Probable inference", JASA 22, 209-212.
    """
    if n <= 0:
        return missing(NO_OBSERVATIONS, level=level, method="Wilson")
    low, high = _wilson_bounds(k / n, n, z_quantile(two_sided(level)))
    return Interval(k / n, low, high, level, 0, "Wilson", kind="rate")


def _wilson_bounds(p: float, n: float, z: float) -> tuple[float, float]:
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low = 0.0 if p <= 0 else max(0.0, float(centre - half))
    high = 1.0 if p >= 1 else min(1.0, float(centre + half))
    return low, high


def cluster_rate(successes: ArrayLike, trials: ArrayLike, level: float = 0.95) -> Interval:
    """A rate over clusters of calls; `method` says which of two intervals was used.

    Under 20 clusters: beta-binomial posterior (Jeffreys prior for the mean, uniform for the
    intraclass correlation), equal-tailed; an end is 0 or 1 when no or every call succeeds.
    From 20 clusters up: Wilson on the effective number of calls N / deff with the quantile of t at
    G-1 degrees of freedom. deff is the cluster-robust over the binomial variance, at least 1 for
    whole successes and at least .1 for fractional ones; at a rate of 0 or 1 it is 1 + .1 (m - 1)
    with m calls per cluster. One cluster: a value and no interval.

    Parameters
    ----------
    successes
        Shape (G,); may be fractional, 0 <= successes <= trials.
    trials
        Shape (G,); clusters without trials are dropped.
    level
        Confidence level.
    """
    k, n = floats(successes), floats(trials)
    k, n = k[n > 0], n[n > 0]
    groups = int(n.size)
    if groups == 0:
        return missing(NO_OBSERVATIONS, level=level, method="cluster rate")
    value = float(k.sum() / n.sum())
    if groups == 1:
        return without_ends(value, ONE_CLUSTER, level=level, clusters=1, method="cluster rate")
    if groups < SMALL_SAMPLE:
        low, high = _beta_binomial(k, n, level)
        method = "beta-binomial, Jeffreys mean, uniform ICC prior"
    else:
        low, high = _deff_wilson(k, n, level)
        method = "Wilson on the effective n, t quantile"
    return Interval(value, min(low, value), max(high, value), level, groups, method, kind="rate")


def _deff_wilson(k: Floats, n: Floats, level: float) -> tuple[float, float]:
    total, p = float(n.sum()), float(k.sum() / n.sum())
    if 0 < p < 1:
        floor = 1.0 if np.all(k == np.round(k)) else DEFF_FLOOR_FRACTIONAL
        deff = max(floor, _ratio_se(k, n) ** 2 / (p * (1 - p) / total))
    else:
        deff = 1 + ICC_AT_BOUND * max(0.0, total / n.size - 1)
    return _wilson_bounds(p, total / deff, t_quantile(n.size - 1, two_sided(level)))


def _beta_binomial(k: Floats, n: Floats, level: float) -> tuple[float, float]:
    """Equal-tailed posterior interval of the mean, by quadrature over mean and ICC."""
    mean, alpha, _ = _grid()
    kinds, times = np.unique(np.stack([k, n - k], axis=1), axis=0, return_counts=True)
    log_likelihood = np.zeros_like(alpha)
    for (hits, misses), count in zip(kinds, times, strict=True):
        log_likelihood += count * _log_evidence(float(hits), float(misses))
    density = np.exp(log_likelihood - log_likelihood.max()).sum(axis=1)
    # cell i spans quantiles i/m..(i+1)/m of the prior, hence the leading zero
    cumulative = np.concatenate([[0.0], np.cumsum(density) / density.sum()])
    edges = np.sin(np.linspace(0, np.pi / 2, mean.size + 1)) ** 2
    tail = 1 - two_sided(level)
    low, high = np.interp([tail, 1 - tail], cumulative, edges)
    return (0.0 if k.sum() <= 0 else float(low)), (1.0 if (n - k).sum() <= 0 else float(high))


@lru_cache(maxsize=128)
def _log_evidence(hits: float, misses: float) -> Floats:
    """Log-likelihood of one cluster on the grid; kept, as the same counts recur in every rate."""
    _, alpha, beta = _grid()
    evidence: Floats = special.betaln(alpha + hits, beta + misses) - special.betaln(alpha, beta)
    return evidence


@lru_cache(maxsize=1)
def _grid(means: int = 400, correlations: int = 48) -> tuple[Floats, Floats, Floats]:
    """Midpoints of equal prior mass: the mean (means,), beta parameters (means, correlations)."""
    # Jeffreys' Beta(1/2, 1/2) is the law of sin^2 of a uniform angle
    mean = np.sin((np.arange(means) + 0.5) / means * np.pi / 2) ** 2
    icc = (np.arange(correlations) + 0.5) / correlations
    concentration = (1 - icc) / icc
    return mean, mean[:, None] * concentration, (1 - mean)[:, None] * concentration
