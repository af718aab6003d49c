"""One-sided bounds for gates: what an estimate proves to lie below, or above, a limit.

A two-sided 95 % interval leaves 2.5 % on each side; a gate asks about one side and may leave 5 %.
The bounds come from what an estimate already carries (value, interval, n, clusters and the name of
its method), so that every axis gets them in the same way.
"""

from dataclasses import dataclass
from math import atanh, sqrt, tanh

from scipy import special

from ._support import t_quantile, two_sided
from .interval import ICC_AT_BOUND

RATES = (
    "Wilson",
    "beta-binomial",
    "Clopper-Pearson on clusters",
    "cluster-robust t, within 0 and 1",
)
"""How the methods of intervals begin that belong to one rate, and not to a difference of rates."""
STUDENT = "cluster-robust t"
FISHER = "Fisher z, delete-a-cluster jackknife, t"
BAND = "mean and 2.5-97.5 percentile"
"""A band over subsets of orders: it holds no error of sampling, so it proves nothing."""


@dataclass(frozen=True, slots=True)
class OneSided:
    """Two bounds, each holding with probability `level`; `method` says how they were computed."""

    low: float
    high: float
    level: float
    method: str


def one_sided(
    value: float | None,
    low: float | None,
    high: float | None,
    *,
    unit: str,
    n: int,
    clusters: int,
    method: str,
    level: float = 0.95,
) -> OneSided | None:
    """The one-sided bounds that an estimate's interval implies; None where it has no interval.

    - A share of calls: `korn_graubard`, whatever its interval.
    - A cluster-robust t interval: its half-width with the one-sided quantile of t.
    - A correlation by Fisher's z: the same, on the z scale.
    - Anything else: the ends of the two-sided interval, which hold with more than `level`.

    Parameters
    ----------
    value, low, high
        Estimate and ends of its two-sided interval of confidence `level`.
    unit, n, clusters, method
        As on the estimate; `clusters` counts the units of resampling.
    level
        Confidence of each bound.
    """
    if value is None or low is None or high is None:
        return None
    low, high = min(low, value), max(high, value)
    if method.startswith(BAND):
        return OneSided(-1.0, 1.0, level, "none: the range over subsets is no confidence interval")
    if clusters > 1 and n > 0:
        if unit == "share" and 0 <= value <= 1 and method.startswith(RATES):
            return korn_graubard(value, n, clusters, _deff(value, low, high, n, clusters), level)
        if method == STUDENT:
            return _student(value, low, high, clusters, level)
        if method == FISHER and low > -1 and high < 1:
            scaled = _student(atanh(value), atanh(low), atanh(high), clusters, level)
            name = "Fisher z, one-sided quantile of t"
            return OneSided(tanh(scaled.low), tanh(scaled.high), level, name)
    return OneSided(low, high, level, "ends of the two-sided interval (conservative)")


def korn_graubard(
    p: float, n: int, clusters: int, deff: float = 1.0, level: float = 0.95
) -> OneSided:
    """One-sided Clopper-Pearson bounds on the effective number of calls, adjusted for t.

    The effective number is n / deff, times (t_{n-1} / t_{G-1})^2 at the one-sided level. `deff` is
    taken to be at least 1 + .1 (m - 1) with m = n / G calls per cluster: where all calls agree the
    data show no clustering, and 0 of n says nothing about it.

    Parameters
    ----------
    p
        Observed share, 0..1.
    n
        Number of calls.
    clusters
        Number of clusters G, at least 2.
    deff
        Design effect that the data show.
    level
        Confidence of each bound.

    References
    ----------
    Korn, E. L. and Graubard, B. I. (1998), "Confidence intervals for proportions with small
    expected number of positive counts estimated from survey data", Survey Methodology 24, 193-201.
    """
    per_cluster = max(1.0, n / clusters)
    effective = n / max(deff, 1 + ICC_AT_BOUND * (per_cluster - 1))
    effective *= (t_quantile(max(n - 1, 1), level) / t_quantile(clusters - 1, level)) ** 2
    hits, misses = p * effective, (1 - p) * effective
    low = 0.0 if p <= 0 else float(special.betaincinv(hits, misses + 1, 1 - level))
    high = 1.0 if p >= 1 else float(special.betaincinv(hits + 1, misses, level))
    return OneSided(low, high, level, "Korn-Graubard, ICC at least .1")


def _deff(p: float, low: float, high: float, n: int, clusters: int) -> float:
    """The design effect that an interval shows, and half of its own standard error on top.

    The interval is read as Wilson's with the quantile of t: with u = t^2 / n_eff its half-width h
    solves h^2 (1 + u)^2 = u p (1-p) + u^2 / 4. A design effect that rests on few hits is unsure by
    sqrt(2 / hits), and the samples that understate it are those that understate the rate: without
    the addition a judge on the limit passes in up to 8 % of samples at an ICC of .4 (docs/proof).
    """
    half, variance = (high - low) / 2, p * (1 - p)
    square, linear, constant = half**2 - 0.25, 2 * half**2 - variance, half**2
    if square >= 0:  # an interval from 0 to 1 shows nothing at all
        return float(n)
    u = (-linear - sqrt(linear**2 - 4 * square * constant)) / (2 * square)
    deff = n * u / t_quantile(clusters - 1, two_sided(0.95)) ** 2
    if variance <= 0:
        return deff
    hits = max(1.0, min(p, 1 - p) * n / max(1.0, deff))
    return deff * (1 + sqrt(2 / hits) / 2)


def _student(value: float, low: float, high: float, clusters: int, level: float) -> OneSided:
    """Half-widths shrunk from the two-sided to the one-sided quantile; cut ends stay where cut."""
    half = max(value - low, high - value)
    half *= t_quantile(clusters - 1, level) / t_quantile(clusters - 1, two_sided(level))
    name = "cluster-robust t, one-sided quantile"
    return OneSided(max(low, value - half), min(high, value + half), level, name)
