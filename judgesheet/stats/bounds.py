"""One-sided bounds for gates: what an estimate proves to lie below, or above, a limit.

A two-sided 95 % interval leaves 2.5 % on each side; a gate asks about one side and may leave 5 %.
Which of these bounds belongs to an interval is decided where its kind is known, in
`Interval.one_sided`.
"""

from dataclasses import dataclass
from math import atanh, sqrt, tanh
from typing import NamedTuple

from scipy import special

from ._support import ICC_AT_BOUND, t_quantile, two_sided


class Span(NamedTuple):
    """A value with the ends of its two-sided 95 % interval, which hold it."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class OneSided:
    """Two bounds, each holding with probability `level`; `method` says how they were computed.

    `proves` is False where there is no error of sampling in them, so that nothing follows.
    """

    low: float
    high: float
    level: float
    method: str
    proves: bool = True


def nothing_proven(level: float) -> OneSided:
    """The bounds of a band over subsets of orders, which holds no error of sampling."""
    reason = "none: the range over subsets is no confidence interval"
    return OneSided(-1.0, 1.0, level, reason, proves=False)


def of_rate(span: Span, n: int, clusters: int, level: float) -> OneSided:
    """The bounds of a share of calls, by the design effect that its interval shows."""
    return korn_graubard(span.value, n, clusters, _deff(*span, n, clusters), level)


def of_mean(span: Span, clusters: int, level: float) -> OneSided:
    """The bounds of a cluster-robust mean: half-widths shrunk to the one-sided quantile of t.

    Ends that were cut stay where they were cut.
    """
    value, low, high = span
    half = max(value - low, high - value)
    half *= t_quantile(clusters - 1, level) / t_quantile(clusters - 1, two_sided(level))
    name = "cluster-robust t, one-sided quantile"
    return OneSided(max(low, value - half), min(high, value + half), level, name)


def of_correlation(span: Span, clusters: int, level: float) -> OneSided:
    """The bounds of a correlation inside (-1, 1): those of a mean, on the scale of Fisher's z."""
    scaled = of_mean(Span(*map(atanh, span)), clusters, level)
    return OneSided(tanh(scaled.low), tanh(scaled.high), level, "Fisher z, one-sided quantile of t")


def of_ends(span: Span, level: float) -> OneSided:
    """The ends of the two-sided interval themselves, each of which holds with more than `level`."""
    return OneSided(span.low, span.high, level, "ends of the two-sided interval (conservative)")


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
