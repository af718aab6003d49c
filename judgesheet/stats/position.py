"""Whether the judge favours a position, and how much.

Counts are those of the displayed positions that were chosen, one row per cluster (stimulus).
"""

from dataclasses import dataclass, field
from functools import partial

import numpy as np
import scipy
from numpy.typing import ArrayLike

from judgesheet.base.missing_reasons import NO_OBSERVATIONS, ONE_CLUSTER

from ._support import Floats, floats, t_quantile, two_sided, z_quantile
from .draws import drawn_sums
from .interval import ROUNDING, Ends, Interval, cluster_rate, ends
from .reads import ratio, total_calls

_ROUNDING = 1e-18  # total variance of shares below which it is rounding: (1e-9)^2


@dataclass(frozen=True, slots=True)
class ChiSquare:
    """Goodness of fit of pooled position counts to the uniform distribution.

    Attributes
    ----------
    chi2, p, df
        Pearson's statistic, its naive p-value and degrees of freedom n - 1.
    n
        Number of calls.
    cramers_v
        sqrt(chi2 / (N (n-1))), 0..1.

    `chi2`, `p` and `cramers_v` are None without calls or with a single position.
    """

    chi2: float | None
    p: float | None
    df: int
    n: int
    cramers_v: float | None


@dataclass(frozen=True, slots=True)
class CramersV(Interval):
    """Strength of the position bias; `clusters` are those with calls.

    Attributes
    ----------
    value
        Naive V, 0..1 (biased upwards: an unbiased judge reads above 0).
    debiased
        sqrt(max(0, V^2 - n tr(cov) / (n-1))).
    n
        Calls.
    drawn_debiased
        What `drawn` is of the value.
    """

    debiased: float | None = None
    n: int = 0
    drawn_debiased: Floats | None = field(default=None, compare=False, repr=False)


def chi_square(counts: ArrayLike) -> ChiSquare:
    """Naive chi-square against equal positions (paper-compatible: assumes independent calls).

    Parameters
    ----------
    counts
        Shape (G, n) or (n,): how often each displayed position was chosen.

    References
    ----------
    Xu et al., "Am I More Pointwise or Pairwise?", section 4.4.
    """
    totals = np.atleast_2d(floats(counts)).sum(axis=0)
    calls, df = float(totals.sum()), totals.size - 1
    if calls <= 0 or df < 1:
        return ChiSquare(None, None, df, int(calls), None)
    chi2 = float(np.sum((totals - calls / totals.size) ** 2) * totals.size / calls)
    v = min(1.0, float(np.sqrt(chi2 / (calls * df))))
    return ChiSquare(chi2, float(scipy.special.chdtrc(df, chi2)), df, total_calls(totals), v)


def position_share(counts: ArrayLike) -> tuple[Interval, ...]:
    """Share of calls (G, n) that chose each position, with the interval of a rate.

    n intervals, first position first.
    """
    array = floats(counts)
    sizes = array.sum(axis=1)
    return tuple(cluster_rate(column, sizes) for column in array.T)


@dataclass(frozen=True, slots=True)
class _Shares:
    """Position shares (n,) with their sandwich covariance (n, n)."""

    shares: Floats
    covariance: Floats
    calls: float
    clusters: int

    @property
    def df(self) -> int:
        return self.shares.size - 1

    @property
    def departure(self) -> Floats:
        return self.shares - 1 / self.shares.size

    @property
    def chi2(self) -> float:
        return float(self.calls * self.shares.size * self.departure @ self.departure)

    @property
    def deffs(self) -> Floats:
        """The n - 1 design effects against the multinomial at equal shares, largest first."""
        eigenvalues = np.linalg.eigvalsh(self.calls * self.shares.size * self.covariance)
        deffs: Floats = np.maximum(eigenvalues[::-1][:-1], 0.0)  # the last: of the constant sum
        return deffs


def _shares(counts: ArrayLike) -> _Shares | None:
    """Shares and covariance; None without calls or with one position."""
    array = floats(counts)
    array = array[array.sum(axis=1) > 0]
    groups, positions = array.shape
    if groups == 0 or positions < 2:
        return None
    calls = float(array.sum())
    covariance = _sandwich(array) if groups > 1 else np.zeros((positions, positions))
    return _Shares(array.sum(axis=0) / calls, covariance, calls, groups)


def _sandwich(counts: Floats) -> Floats:
    """Cluster-robust covariance of the pooled shares, with G/(G-1)."""
    groups, calls = counts.shape[0], counts.sum()
    residuals = counts - counts.sum(axis=0) / calls * counts.sum(axis=1, keepdims=True)
    result: Floats = groups / (groups - 1) * (residuals.T @ residuals) / calls**2
    return result


def noncentrality_bounds(x: float, df: float, level: float) -> tuple[float, float]:
    """Equal-tailed interval of the noncentrality of a chi-square with df observed at x >= 0."""
    tail = 1 - two_sided(level)
    below = float(scipy.special.chdtr(df, x))
    low = float(scipy.special.chndtrinc(x, df, 1 - tail)) if below > 1 - tail else 0.0
    high = float(scipy.special.chndtrinc(x, df, tail)) if below > tail else 0.0
    return low, high


def cramers_v(counts: ArrayLike) -> CramersV:
    """Cramér's V of the choices (G, n), debiased too, with an interval that covers at V = 0.

    X/deff is assumed noncentral chi-square with n-1 degrees of freedom and noncentrality N (n-1)
    V^2 / deff, which is inverted for V; deff is the larger of the mean Rao-Scott design effect and
    that along the observed direction, at least 1, times (t_{G-1}/z)^2. The upper end is at least
    that of X/deff = n-1, the value that chance gives at V = 0: a sample more even than chance does
    not show a V smaller than the design can resolve. It is also at least the V at which the most
    chosen position has the upper end of its share and the others are equal: few clusters that
    always choose one position give a skew that no chi-square has. The lower end leaves room for
    unseen clusters that choose evenly. (A percentile bootstrap never covers a V of 0; this interval
    covers it in .98-.99.)
    """
    sample = _shares(counts)
    method = "noncentral chi-square inverted, design effect at least 1; room for unseen clusters"
    if sample is None:
        why = NO_OBSERVATIONS.saying("no calls, or a single position")
        return CramersV(None, method=method, note=why.sentence, reason=why.code)
    groups, calls = sample.clusters, sample.calls
    v = min(1.0, float(np.sqrt(sample.chi2 / (calls * sample.df))))
    answer = partial(CramersV, clusters=groups, method=method, n=total_calls(counts))
    if groups < 2:
        why = ONE_CLUSTER
        return answer(v, note=why.sentence, reason=why.code)
    sampling = float(np.trace(sample.covariance)) * sample.shares.size / sample.df
    debiased = float(np.sqrt(max(0.0, v * v - sampling)))
    # Never below 1: clusters that balance by chance shorten nothing (docs/notes/bounds.md).
    deff, positions = max(1.0, _v_deff(sample)), sample.shares.size
    sizes = floats(counts).sum(axis=1)
    most = floats(counts).T[sample.shares > sample.shares.max() - ROUNDING]  # several where tied

    rates = [cluster_rate(chosen, sizes) for chosen in most]

    def limits(level: float) -> Ends:
        shares = [one.at(level) for one in rates]
        highs = {
            level: max(one.high or 0.0 for one in shares),
            2 * level - 1: max(one.bounds[1] for one in shares if one.bounds),
        }

        def at(confidence: float) -> tuple[float, float]:
            low, high = _v_ends(sample, deff, confidence)
            return low, max(high, (positions * highs[confidence] - 1) / (positions - 1))

        return ends(v, at, groups, reach=(v, 0.0), within=(0.0, 1.0))(level)

    drawn, drawn_debiased = _drawn_v(floats(counts))
    return answer(v, limits, debiased=debiased, drawn=drawn, drawn_debiased=drawn_debiased)


def _drawn_v(counts: Floats) -> tuple[Floats | None, Floats | None]:
    """V of the choices (G, n) of the drawn clusters, and the debiased one, shape (draws,) each."""
    sizes = counts.sum(axis=1)
    squares = np.stack([sizes > 0, sizes**2, np.sum(counts**2, axis=1)])
    totals = drawn_sums(np.concatenate([counts, counts * sizes[:, None], squares.T], axis=1))
    if totals is None:
        return None, None
    positions = counts.shape[1]
    chosen, crossed, rest = np.split(totals, [positions, 2 * positions], axis=1)
    (groups, large, own), calls = rest.T, chosen.sum(axis=1)
    shares = ratio(chosen, calls[:, None])
    squared = positions * np.sum((shares - 1 / positions) ** 2, axis=1) / (positions - 1)
    # The trace of `_sandwich`.
    spread = own - 2 * np.sum(shares * crossed, axis=1) + large * np.sum(shares**2, axis=1)
    sampling = ratio(groups, groups - 1) * spread / calls**2 * positions / (positions - 1)
    return np.sqrt(squared), np.sqrt(np.maximum(0.0, squared - sampling))


def _v_deff(sample: _Shares) -> float:
    mean, departure = float(sample.deffs.mean()), sample.departure
    length = float(departure @ departure)
    if length < _ROUNDING:  # no direction to look along
        return mean
    along = sample.calls * sample.shares.size * departure @ sample.covariance @ departure / length
    return max(mean, float(along))


def _v_ends(sample: _Shares, deff: float, level: float) -> tuple[float, float]:
    t = t_quantile(sample.clusters - 1, two_sided(level))
    deff = deff * (t / z_quantile(two_sided(level))) ** 2
    df, x = sample.df, sample.chi2 / deff
    low, _ = noncentrality_bounds(x, df, level)
    # Not below what V = 0 is expected to show: the mean of a central chi-square is its df.
    _, high = noncentrality_bounds(max(x, df), df, level)
    scale = deff / (sample.calls * df)
    return float(np.sqrt(low * scale)), min(1.0, float(np.sqrt(high * scale)))
