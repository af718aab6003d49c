"""Intervals for means and rates whose calls share stimuli: the cluster is the unit.

`value`, `low` and `high` are None where they are not defined, and `reason` says why.

Every interval obeys one rule: data that disagree more never make it much shorter. If nothing
disagrees, a short interval would reflect a lack of information, so each interval leaves room for
stimuli that were not drawn (`unseen_share`, `_shared_room`), and a design effect below 1 is set
to 1.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from math import inf, sqrt
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from judgesheet.base.missing_reasons import (
    CONSTANT,
    NEVER_VARIED,
    NO_OBSERVATIONS,
    ONE_CLUSTER,
    Reason,
)
from judgesheet.base.records import LEVEL

from ._support import (
    Floats,
    Integers,
    cluster_codes,
    exact_ends,
    expanded_percentiles,
    floats,
    sum_by,
    t_quantile,
    two_sided,
    z_quantile,
)
from .draws import cluster_index, drawn_ratio
from .unseen import unseen_share

ALIKE = 0.05
"""Share of resamples with one and the same value above which fewer than three of the stimuli carry
an estimate, (1 - 3/G)^G = .05: its resamples then say nothing about other stimuli."""
ROUNDING = 1e-9
"""What differs by less differs by rounding."""
STEPS, ALWAYS = 12, 0.95
"""Errors of the rest among which room is looked for, and the largest that `at` is asked for."""
Times = tuple[tuple[tuple[float, float], int], ...]
"""Successes and failures of a cluster, and how many clusters have them."""
FADED = 18.0
"""Log units below its greatest at which a density no longer counts: e^-18 is 1.5e-8 of it."""
CELLS, CORRELATIONS = 64, 24
"""Points of the quadrature."""
_ROOT = (np.arange(CORRELATIONS) + 0.5) / CORRELATIONS  # of the correlation: more points near 0


class Ends(NamedTuple):
    """Ends of an interval of some confidence, and what belongs to it.

    `bounds` are two one-sided bounds, each of that confidence: the ends of the same interval at
    twice its error probability. None if not computed; the ends of the interval are then used
    instead, and hold with more confidence. `seen` are, of a mean, `bounds` without room for
    stimuli that were not drawn.
    """

    low: float | None
    high: float | None
    bounds: tuple[float, float] | None = None
    seen: tuple[float, float] | None = None


At = Callable[[float], tuple[float, float]]
"""Ends of an interval of the confidence that is asked for."""
Limits = Callable[[float], Ends]
"""The same, with what belongs to them."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its confidence interval.

    Attributes
    ----------
    value
        The estimate, None where it is not defined.
    ends
        The ends of each confidence that is asked for; None where there is no interval.
    clusters
        Number of clusters with at least one observation.
    method
        How the interval was computed.
    note
        Why something is None or degenerate, in words; empty otherwise.
    reason
        Code of the `Reason` why something is None; empty otherwise.
    proves
        False if `ends` do not reflect sampling error, so that they prove nothing.
    hits, trials
        Of a rate that is a whole number out of another, these two; else None.
    drawn
        Shape (draws,): the value in every draw, where stimuli are drawn (`draws`); else None.
    """

    value: float | None
    ends: Limits | None = None
    clusters: int = 0
    method: str = ""
    note: str = ""
    reason: str = ""
    proves: bool = True
    hits: int | None = None
    trials: int | None = None
    drawn: Floats | None = field(default=None, compare=False, repr=False)

    def at(self, level: float = LEVEL) -> Ends:
        """The ends at a confidence level, none of them where there is no interval."""
        return Ends(None, None) if self.ends is None else self.ends(level)

    @property
    def low(self) -> float | None:
        """The lower end of a run that is looked at once."""
        return self.at().low

    @property
    def high(self) -> float | None:
        """The upper end of a run that is looked at once."""
        return self.at().high

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The one-sided bounds of a run that is looked at once."""
        return self.at().bounds


def missing(reason: Reason, *, clusters: int = 0, method: str = "") -> Interval:
    """The interval of something that cannot be estimated."""
    return Interval(None, None, clusters, method, reason.sentence, reason.code)


def always(low: float, high: float) -> Limits:
    """Ends that are the same whatever confidence is asked for."""
    return lambda _: Ends(low, high)


def without_ends(value: float, reason: Reason, *, clusters: int = 0, method: str = "") -> Interval:
    """A value for which the data give no interval."""
    return replace(missing(reason, clusters=clusters, method=method), value=value)


def without_interval(value: float | None, *, clusters: int = 0, method: str = "") -> Interval:
    """A number that is not an estimate or by nature has no interval: a count, a p-value.

    None if it could not be computed; the caller then knows why.
    """
    return Interval(value, clusters=clusters, method=method)


def at_most(interval: Interval, most: float | None) -> Interval:
    """The interval of something that the design keeps from being greater than `most`."""
    if most is None or interval.value is None or interval.ends is None:
        return interval
    ends, top = interval.ends, max(most, interval.value)  # rounding may have put it above `most`

    def at(level: float) -> Ends:
        low, high, bounds, seen = ends(level)
        return Ends(low, high and min(top, high), bounds and (bounds[0], min(top, bounds[1])), seen)

    return replace(interval, ends=at)


def student(centre: float, error: float, clusters: float, skewness: float = 0.0) -> At:
    """A t interval with G - 1 degrees of freedom, longer on the side to which clusters are skewed.

    If few clusters lie far out on one side, a sample without them has a small standard error too,
    and a symmetric interval is too short on that side. The end on that side is at t + g (2 t^2 + 1)
    / (6 sqrt(G)) errors, g the skewness; the other stays at t.

    Parameters
    ----------
    centre, error
        The estimate and its standard error.
    clusters
        G, at least 2.
    skewness
        Of the contributions of the clusters to the estimate, from `skewness_of`.

    References
    ----------
    Johnson, N. J. (1978), "Modified t tests and confidence intervals for asymmetrical populations",
    JASA 73, 536-544.
    """

    def at(confidence: float) -> tuple[float, float]:
        t = t_quantile(clusters - 1, two_sided(confidence))
        below, above = (float(skewed(t, side, clusters)) for side in (-skewness, skewness))
        return centre - below * error, centre + above * error

    return at


def skewed(t: float, skewness: ArrayLike, clusters: float) -> Floats:
    """So many standard errors a t quantile becomes on the side to which clusters are skewed."""
    longer: Floats = np.maximum(0.0, skewness) * (2 * t * t + 1) / (6 * sqrt(clusters))
    return t + longer


def with_few_far(at: At, means: Floats, sizes: Floats, within: tuple[float, float]) -> At:
    """Ends that hold, too, if some clusters lie near the end of what is possible and others do not.

    With one of forty clusters at the end, a t interval misses such a truth in up to .08 of samples.
    Here the share of clusters beyond the middle between the mean and the end has Clopper and
    Pearson's exact bound, and their mean and that of the others stand. Where clusters differ
    smoothly that is no farther out than t.

    Parameters
    ----------
    at
        Ends of the interval without.
    means, sizes
        Shape (G,): mean and number of observations of each cluster.
    within
        Least and greatest mean of a cluster that is possible.
    """
    value = float(means @ sizes / sizes.sum())
    low, high = (_few_far(means, sizes, value, end) for end in within)

    def further(confidence: float) -> tuple[float, float]:
        least, most = at(confidence)
        return min(least, low(confidence)), max(most, high(confidence))

    return further


def _few_far(means: Floats, sizes: Floats, value: float, end: float) -> Callable[[float], float]:
    """The end on the side of this `end` of the possible, of each confidence."""
    far = np.abs(means - end) < abs(value - end) / 2
    count, groups = int(far.sum()), means.size
    if not 0 < count < groups:  # of none, there is room for unseen clusters
        return lambda _: value
    there, here = (float(np.average(means[at], weights=sizes[at])) for at in (far, ~far))

    def at(confidence: float) -> float:
        tail = (1 - confidence) / 2
        _, most = exact_ends(count, groups - count, tail)
        return here + most * (there - here)

    return at


def skewness_of(parts: Floats) -> float:
    """Skewness of the contributions of clusters (G,), m3 / m2^(3/2); 0 without spread."""
    return float(skewness_of_each(parts[:, None])[0])


def skewness_of_each(parts: Floats) -> Floats:
    """Skewness of the contributions of clusters (G, k) to each of k estimates."""
    squares = parts * parts  # a power of three takes many times as long
    variance = np.mean(squares, axis=0)
    # Below that, clusters differ by rounding, and so would their skewness.
    spread: Floats = np.where(variance > ROUNDING**2, variance, np.inf)
    skewness: Floats = np.mean(squares * parts, axis=0) / spread**1.5
    return skewness


def ends(
    value: float,
    at: At,
    clusters: int,
    reach: tuple[float, float],
    within: tuple[float, float] = (-inf, inf),
    least: float = -inf,
    *,
    whole: bool = False,
) -> Limits:
    """Ends that leave room for unseen stimuli, contain the value and lie within what is possible.

    Parameters
    ----------
    value
        The estimate.
    at
        Ends of the interval of a confidence level.
    clusters
        Number of clusters, at least 1.
    reach
        How far below and above the value an unseen stimulus may lie.
    within
        The possible range of the estimate.
    least
        Least truth that is possible. If noise took the value below it, the room above starts
        here: a value that is too small says nothing about stimuli that were not seen.
    whole
        Whether `at` has ends of a negative confidence, too, which miss more often than not. The
        room is then no larger than `_shared_room`.
    """
    base = max(value, least)
    # A share of stimuli that all were missed may lie at the end of what is possible.
    far = value - max(0.0, reach[0]), max(base, value + reach[1])

    def limits(level: float) -> Ends:
        unseen = unseen_share(clusters, level)
        room = value + unseen * (far[0] - value), base + unseen * (far[1] - base)
        if whole:
            low, high = _shared_room(at, clusters, far, within, least, level)
            room = max(low, room[0]), min(high, room[1])

        def pair(confidence: float) -> tuple[float, float]:
            low, high = at(confidence)
            low, high = max(min(low, room[0]), within[0]), min(max(high, room[1]), within[1])
            # An interval about the estimate less its bias may leave the estimate itself out.
            return min(low, value), max(high, value)

        # A one-sided bound is an end of the two-sided interval at twice the error, so that no gate
        # is looser than the printed interval (docs/notes/bounds.md).
        return Ends(*pair(level), pair(2 * level - 1))

    return limits


def _shared_room(
    at: At,
    clusters: int,
    far: tuple[float, float],
    within: tuple[float, float],
    least: float,
    level: float,
) -> tuple[float, float]:
    """Ends beyond which no share of stimuli lies that the sample missed, at one error for both.

    If a share u of stimuli lies at a `far` end, all of them are missed with probability (1 - u)^G,
    and only then does the rest look as it does. An end for the rest may therefore err in
    error / (1 - u)^G: no more than the error of one bound is spent, which the sampling error of the
    rest and the share that was missed would else spend each (docs/notes/bounds.md).
    """
    error, low, high = 1 - level, inf, -inf
    for allowed in error ** np.linspace(1.0, 0.0, STEPS):
        missed = 1 - float(error / allowed) ** (1 / clusters)
        below, above = at(1 - 2 * min(float(allowed), ALWAYS))
        # What noise takes beyond the possible is no reason for less room.
        below, above = min(below, within[1]), max(above, least, within[0])
        low = min(low, below + missed * (far[0] - below))
        high = max(high, above + missed * (far[1] - above))
    return low, high


def estimated(
    value: float,
    at: At,
    clusters: int,
    method: str,
    reach: tuple[float, float] = (0.0, 0.0),
    within: tuple[float, float] = (-inf, inf),
    least: float = -inf,
    *,
    whole: bool = False,
) -> Interval:
    """The interval with these `ends`; parameters are theirs."""
    limits = ends(value, at, clusters, reach, within, least, whole=whole)
    return Interval(value, limits, clusters, method)


def by_cluster(values: ArrayLike, clusters: ArrayLike) -> tuple[Floats, Floats]:
    """Sums and counts per cluster of the values that are not NaN, as `cluster_mean` wants them.

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
    return _sums_and_sizes(array, *cluster_index(clusters))


def by_label(values: ArrayLike, labels: ArrayLike) -> tuple[Floats, Floats]:
    """`by_cluster` of labels that are not those of clusters: all of them have a value or NaN."""
    return _sums_and_sizes(floats(values), *cluster_codes(labels))


def _sums_and_sizes(array: Floats, codes: Integers, groups: int) -> tuple[Floats, Floats]:
    known = ~np.isnan(array)
    pairs = np.stack([np.where(known, array, 0.0), known.astype(np.float64)], axis=-1)
    totals = sum_by(pairs, codes, groups)
    return totals[:, 0], totals[:, 1]


def pooled(clusters: ArrayLike, *parts: ArrayLike) -> tuple[Floats, ...]:
    """The sum per cluster of each of these (m,), as `by_cluster`."""
    return tuple(by_cluster(part, clusters)[0] for part in parts)


def widening(clusters: int, level: float, other: float) -> float:
    """How many times wider a t interval over clusters (at least 2) is at the `other` level."""
    return t_quantile(clusters - 1, two_sided(other)) / t_quantile(clusters - 1, two_sided(level))


def cluster_mean(
    sums: ArrayLike,
    sizes: ArrayLike,
    within: tuple[float, float],
    least: float = -inf,
) -> Interval:
    """Ratio mean over clusters with a cluster-robust t interval and room for unseen clusters.

    The variance is the sandwich, with G/(G-1) where sizes are equal and more for large clusters
    where they are not (docs/notes/bounds.md), the quantile t with G-1 degrees of
    freedom, farther out where clusters are skewed (`student`). Clusters of size 0 are dropped. One
    cluster: a value and no interval.

    Parameters
    ----------
    sums, sizes
        Shape (G,): sum and number of observations of each cluster.
    within
        Least and greatest mean of a cluster that is possible.
    least
        Least mean over all clusters that is possible, as `ends` takes it.
    """
    sums, sizes = floats(sums), floats(sizes)
    drawn = drawn_ratio(sums, sizes)
    sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    groups, method = int(sums.size), "cluster-robust t with skewness, room for unseen clusters"
    if groups == 0:
        return missing(NO_OBSERVATIONS, method=method)
    value = float(sums.sum() / sizes.sum())
    if groups == 1:
        return without_ends(value, ONE_CLUSTER, clusters=1, method=method)
    skewness = skewness_of(_residuals(sums, sizes))
    at = student(value, _ratio_error(sums, sizes), groups, skewness)
    at = with_few_far(at, sums / sizes, sizes, within)
    reach = value - within[0], within[1] - value
    with_room = ends(value, at, groups, reach, within, least, whole=True)

    def limits(level: float) -> Ends:
        low, high = at(2 * level - 1)
        seen = min(value, max(low, within[0])), max(value, min(high, within[1]))
        return with_room(level)._replace(seen=seen)

    return Interval(value, limits, groups, method, drawn=drawn)


def mean_t(
    values: ArrayLike,
    within: tuple[float, float],
    clusters: ArrayLike | None = None,
    least: float = -inf,
) -> Interval:
    """Mean of values (m,) as `cluster_mean`; each is a cluster if they are not given, NaN drops."""
    array = floats(values)
    each = np.arange(array.size) if clusters is None else clusters
    return cluster_mean(*by_cluster(array, each), within, least)


def mean_excess(
    values: ArrayLike, clusters: ArrayLike | None = None, most: float = 1.0
) -> Interval:
    """Mean of a disagreement across orders less that within them, one per prompt, as `mean_t`.

    In truth it is 0 at least: two calls under one order agree at least as often (Cauchy-Schwarz).
    So the interval ends at 0, or at the value where noise put that below. `most` is the greatest
    that a prompt can have with these calls.
    """
    # A stimulus that was not seen has none below 0 either.
    interval = mean_t(values, (0.0, most), clusters, least=0.0)
    if interval.value is None or interval.ends is None:
        return interval
    value, ends = interval.value, interval.ends

    def at(level: float) -> Ends:
        found = ends(level)
        if found.seen is None:
            return found
        # That no repeat showed noise does not bound it: on stimuli that were not asked, one may.
        room = unseen_share(interval.clusters, level) * (value + 1)
        return found._replace(seen=(min(found.seen[0], value - room), found.seen[1]))

    method = f"{interval.method}; ends at 0, or at the value where it is less"
    return replace(interval, ends=at, method=method)


def _residuals(sums: Floats, sizes: Floats) -> Floats:
    """What each cluster has above its share of the ratio mean."""
    residuals: Floats = sums - sums.sum() / sizes.sum() * sizes
    return residuals


def _ratio_error(sums: Floats, sizes: Floats) -> float:
    """Standard error of a ratio mean, by the sandwich.

    A cluster pulls the mean towards itself and has a small residual where it is large. Squares are
    divided by what is left of them if the means of all clusters have one variance, whatever their
    size: 1 - 2 w + sum w^2 for a share w of the observations, 1 - 1/G for equal ones.
    """
    residuals, shares = _residuals(sums, sizes), sizes / sizes.sum()
    left = 1 - 2 * shares + shares @ shares
    # Of equal sizes to the last digit.
    growth = sums.size / (sums.size - 1) if np.ptp(sizes) == 0 else 1 / left
    return float(np.sqrt(growth * residuals @ residuals) / sizes.sum())


def resampled(value: float, drawn: ArrayLike, clusters: int) -> Interval:
    """The interval of a value from what the cluster bootstrap drew (expanded percentiles).

    Parameters
    ----------
    value
        The estimate; NaN where it is undefined.
    drawn
        Shape (resamples,): the estimate in every resample, NaN where undefined there.
    clusters
        Number of clusters that were resampled. With one there is no interval, nor where fewer than
        three carry the estimate: what hardly varies here may still do so elsewhere.

    References
    ----------
    Hesterberg, T. C. (2015), "What teachers should know about the bootstrap", The American
    Statistician 69, 371-386.
    """
    array = floats(drawn)
    array = array[~np.isnan(array)]
    if np.isnan(value):
        return missing(CONSTANT, clusters=clusters)
    method = f"cluster bootstrap, {np.size(drawn):,} resamples"
    if clusters < 2 or not array.size:
        return without_ends(value, ONE_CLUSTER, clusters=clusters, method=method)
    if hardly_varies(array):
        return without_ends(value, NEVER_VARIED, clusters=clusters, method=method)

    def at(confidence: float) -> tuple[float, float]:
        return expanded_percentiles(array, clusters, confidence)

    return estimated(value, at, clusters, method)


def hardly_varies(drawn: Floats) -> bool:
    """Whether so many resamples agree that fewer than three clusters carry the estimate."""
    ordered = np.sort(drawn)
    run = max(1, int(ALIKE * ordered.size))
    return bool(np.any(ordered[run:] - ordered[:-run] <= ROUNDING))


def wilson(k: float, n: float) -> Interval:
    """Wilson's score interval for k of n independent calls (paper-compatible: ignores clusters).

    Parameters
    ----------
    k, n
        Successes and trials, 0 <= k <= n; n = 0 gives None.

    References
    ----------
    Wilson, E. B. (1927), "Probable inference", JASA 22, 209-212.
    """
    if n <= 0:
        return missing(NO_OBSERVATIONS, method="Wilson")
    ends = partial(_wilson_ends, k / n, n)
    return Interval(k / n, lambda level: Ends(*ends(z_quantile(two_sided(level)))), method="Wilson")


def _wilson_ends(p: float, n: float, z: float) -> tuple[float, float]:
    """Wilson's ends with any quantile: of calls the normal's, of effective calls that of t."""
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(max(0.0, p * (1 - p)) / n + z * z / (4 * n * n))
    # Exactly 0 of n and n of n: the formula leaves 3e-17, and an end that excludes the value.
    low = 0.0 if p <= 0 else max(0.0, float(centre - half))
    high = 1.0 if p >= 1 else min(1.0, float(centre + half))
    return low, high


def _rare_ends(p: float, n: float, z: float) -> tuple[float, float]:
    """Wilson's ends, but Clopper and Pearson's exact one towards the nearer of 0 and 1.

    After a single slip Wilson's lower bound lies above the true rate of slips in up to .16 of
    samples, the posterior's too. The other end need not be exact: it leaves room for unseen
    clusters.
    """
    low, high = _wilson_ends(p, n, z)
    least, most = exact_ends(p * n, (1 - p) * n, float(scipy.special.ndtr(-z)))
    return min(low, least) if p <= 1 / 2 else low, max(high, most) if p >= 1 / 2 else high


def cluster_rate(successes: ArrayLike, trials: ArrayLike) -> Interval:
    """A rate over clusters of calls: the wider ends of two intervals, and room for unseen clusters.

    One is the equal-tailed beta-binomial posterior (Jeffreys prior for the mean, uniform for the
    intraclass correlation), which covers where clusters differ smoothly and at rates near 0 and 1.
    The other is Wilson's on the effective number of calls N / deff with the quantile of t at G-1
    degrees of freedom (the normal's where no cluster has two calls), deff the cluster-robust over
    the binomial variance and at least 1, which covers where few clusters differ much; towards the
    nearer of 0 and 1 it is exact (Clopper and Pearson). One cluster: a value and no interval.

    Parameters
    ----------
    successes
        Shape (G,); may be fractional, 0 <= successes <= trials.
    trials
        Shape (G,); clusters without trials are dropped.
    """
    k, n = floats(successes), floats(trials)
    drawn = drawn_ratio(k, n)
    k, n = k[n > 0], n[n > 0]
    groups, method = int(n.size), "beta-binomial and Wilson, the wider; room for unseen clusters"
    if groups == 0:
        return missing(NO_OBSERVATIONS, method=method)
    value = min(1.0, max(0.0, float(k.sum() / n.sum())))
    if groups == 1:
        alone = without_ends(value, ONE_CLUSTER, clusters=1, method=method)
        return _counted(alone, k, n)
    variance, total = value * (1 - value), float(n.sum())
    # Clusters that happen to agree are no reason for a shorter interval: never below 1.
    error = _ratio_error(k, n)
    deff = max(1.0, error**2 * total / variance) if variance > ROUNDING else 1.0
    posterior = _Posterior.of(k, n)
    # The variance of one call per cluster is known, that of several is estimated.
    quantile = partial(t_quantile, groups - 1) if total > groups else z_quantile

    by_spread = student(value, error, groups)

    def at(confidence: float) -> tuple[float, float]:
        every = [
            posterior.ends(confidence),
            _rare_ends(value, total / deff, quantile(two_sided(confidence))),
        ]
        # On the near side of the value, clusters that agree are a reason to stay close to it.
        every += [by_spread(confidence)] if confidence < 0 else []
        lows, highs = zip(*every, strict=True)
        return min(lows), max(highs)

    reach = value, 1 - value
    rate = estimated(value, at, groups, method, reach, (0.0, 1.0), whole=True)
    return _counted(replace(rate, drawn=drawn), k, n)


def _counted(rate: Interval, successes: Floats, trials: Floats) -> Interval:
    """The rate with its two counts, where every one of them is whole."""
    if (successes % 1).any() or (trials % 1).any():
        return rate
    return replace(rate, hits=int(successes.sum()), trials=int(trials.sum()))


def pooled_rate(successes: ArrayLike, trials: ArrayLike, clusters: ArrayLike) -> Interval:
    """`cluster_rate` of these parts (m,) of clusters."""
    hits, calls = pooled(clusters, successes, trials)
    return cluster_rate(hits, calls)


class _Posterior(NamedTuple):
    """Posterior of the mean of a beta-binomial: cell edges (m + 1,) and the mass below each."""

    edges: Floats
    below: Floats

    @classmethod
    def of(cls, k: Floats, n: Floats) -> "_Posterior":
        """The posterior of k of n calls in each cluster, shape (G,)."""
        times = Counter(zip(k.tolist(), (n - k).tolist(), strict=True))
        return _posterior(tuple(sorted(times.items())))

    def ends(self, level: float) -> tuple[float, float]:
        """Ends of the equal-tailed interval."""
        tail = 1 - two_sided(level)
        low, high = np.interp([tail, 1 - tail], self.below, self.edges)
        return float(low), float(high)


@lru_cache(maxsize=4096)  # a sheet has the same counts many times, above all where calls were lost
def _posterior(times: Times) -> _Posterior:
    """Quadrature over mean and intraclass correlation, first coarse, then where the mass is."""
    # Jeffreys' Beta(1/2, 1/2) is the law of sin^2 of a uniform angle
    angles = _angles(0, np.pi / 2)
    # The second pass spends all its points where the first found mass.
    near = np.flatnonzero((peak := _log_density(angles, times)) > peak.max() - FADED)
    first, last = max(0, near[0] - 1), min(CELLS, near[-1] + 2)
    angles = _angles(angles[first], angles[last])
    density = _log_density(angles, times)
    mass = np.cumsum(np.exp(density - density.max()))
    return _Posterior(np.sin(angles) ** 2, np.concatenate([[0.0], mass / mass[-1]]))


def _angles(first: float, last: float) -> Floats:
    return np.linspace(first, last, CELLS + 1)


def _log_density(angles: Floats, times: Times) -> Floats:
    """Log posterior of the mean at the midpoints of angles (m + 1,), the correlation integrated."""
    ends = float(angles[0]), float(angles[-1])
    log_density = np.log(_ROOT) - sum(count for _, count in times) * _log_beta(*ends, 0.0, 0.0)
    for (hits, misses), count in times:
        log_density = log_density + count * _log_beta(*ends, hits, misses)
    return scipy.special.logsumexp(log_density, axis=1)


@lru_cache(maxsize=1024)  # few clusters differ in their counts
def _log_beta(first: float, last: float, hits: float, misses: float) -> Floats:
    """Log beta function of prior and counts at midpoints of angles, shape (means, correlations)."""
    angles = _angles(first, last)
    mean = np.sin((angles[1:] + angles[:-1]) / 2)[:, None] ** 2
    concentration = (1 - _ROOT**2) / _ROOT**2
    alpha, beta = mean * concentration, (1 - mean) * concentration
    return scipy.special.betaln(alpha + hits, beta + misses)
