"""Whether the judge favours a position, and whether its score depends on the order at all.

Counts are those of the displayed positions that were chosen, one row per cluster (stimulus).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy
from numpy.typing import ArrayLike

from judgesheet.base.missing_reasons import NO_OBSERVATIONS, ONE_CLUSTER

from ._support import AT_ONCE, Flags, Floats, Integers, floats, t_quantile, two_sided, z_quantile
from .interval import ROUNDING, Interval, cluster_rate, ends
from .reads import total_calls

MONTE_CARLO_BELOW = 30
"""With fewer items the sharp null is tested by drawing permutations; from 48 on its chi-square
rejects .044-.054 at .05."""
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
class RaoScott:
    """Test of the weak null: no position is favoured on average.

    Attributes
    ----------
    p
        p-value of the second-order corrected chi-square against F; None where undefined.
    mean_deff
        Mean of the n - 1 generalised design effects.
    clusters
        Number of clusters with calls.
    note
        Why something is None or how a degenerate case was answered.
    """

    p: float | None
    mean_deff: float | None
    clusters: int
    note: str = ""


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
    """

    debiased: float | None = None
    n: int = 0


@dataclass(frozen=True, slots=True)
class SharpNull:
    """Test of the sharp null: the score does not depend on the order.

    Attributes
    ----------
    statistic, df
        Quadratic form in the position counts, and the rank of their permutation covariance.
    p
        Its p-value; 1 where no permutation changes the counts.
    null_chi2
        Expected naive chi-square of an order-blind judge with these scores; None without calls.
    calls
        Number of calls.
    method
        `chi-square` or `Monte Carlo`.
    """

    statistic: float
    df: int
    p: float
    null_chi2: float | None
    calls: int
    method: str


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


def rao_scott(counts: ArrayLike) -> RaoScott:
    """Second-order Rao-Scott test that positions (G, n) are chosen equally often on average.

    The covariance is the cluster-robust sandwich; the statistic is referred to F(df, df (G-1)) with
    df from an unbiased estimate of the squared design effects, which keeps the size from 6 clusters
    up. Every cluster exactly uniform: p = 1. Every cluster with the same non-uniform shares: one
    uniform pseudo-cluster supplies the variance.

    References
    ----------
    Rao, J. N. K. and Scott, A. J. (1984), "On chi-squared tests for multiway contingency tables",
    Annals of Statistics 12, 46-60; F reference: Thomas, D. R. and Rao, J. N. K. (1987), JASA 82,
    630-636; unbiased tr(S^2): Bai, Z. and Saranadasa, H. (1996), Statistica Sinica 6, 311-329.
    """
    sample, note = _shares(counts), ""
    if sample is None:
        return RaoScott(None, None, 0, "no calls, or a single position")
    if sample.clusters < 2:
        return RaoScott(None, None, 1, "one cluster: no test")
    if float(np.trace(sample.covariance)) < _ROUNDING:
        if float(sample.departure @ sample.departure) < _ROUNDING:
            return RaoScott(1.0, 0.0, sample.clusters, "every cluster has exactly uniform counts")
        # Clusters that all prefer alike have no variance, which is no proof of certainty.
        covariance, note = _pseudo(sample), "variance from a uniform pseudo-cluster"
        sample = replace(sample, covariance=covariance)
    deffs, freedom = sample.deffs, sample.clusters - 1
    mean = float(deffs.mean())
    df = _satterthwaite(deffs, freedom)
    p = float(scipy.special.fdtrc(df, df * freedom, sample.chi2 / float(deffs.sum())))
    return RaoScott(p, mean, sample.clusters, note)


def _pseudo(sample: _Shares) -> Floats:
    """The covariance that one more cluster, with uniform shares, would give equal clusters."""
    same = np.tile(sample.shares, (sample.clusters, 1))
    return _sandwich(np.vstack([same, np.full(sample.shares.size, 1 / sample.shares.size)]))


def _satterthwaite(deffs: Floats, freedom: int) -> float:
    """Degrees of freedom (sum d)^2 / sum d^2, with an unbiased estimate of the sum of squares.

    Sampling spreads the estimated eigenvalues; with few clusters the plain ratio is too small and
    the test rejects only .02-.03 of the time at G = 6 to 12.
    """
    total, squares = float(deffs.sum()), float(np.sum(deffs**2))
    if freedom > 1:
        # Bai and Saranadasa's factor, for a sample covariance with so many degrees of freedom.
        correction = freedom**2 / ((freedom - 1) * (freedom + 2))
        squares = correction * (squares - total**2 / freedom)
    # Never more degrees of freedom than design effects (Cauchy-Schwarz).
    if squares <= total**2 / deffs.size:
        return float(deffs.size)
    return max(1.0, total**2 / squares)


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
        return CramersV(None, None, None, method=method, note=why.sentence, reason=why.code)
    groups, calls = sample.clusters, sample.calls
    v = min(1.0, float(np.sqrt(sample.chi2 / (calls * sample.df))))
    answer = partial(CramersV, clusters=groups, method=method, n=total_calls(counts))
    if groups < 2:
        why = ONE_CLUSTER
        return answer(v, None, None, note=why.sentence, reason=why.code)
    sampling = float(np.trace(sample.covariance)) * sample.shares.size / sample.df
    debiased = float(np.sqrt(max(0.0, v * v - sampling)))
    # Never below 1: clusters that balance by chance shorten nothing (docs/decisions/0015-edges.md).
    deff, positions = max(1.0, _v_deff(sample)), sample.shares.size
    sizes = floats(counts).sum(axis=1)
    most = floats(counts).T[sample.shares > sample.shares.max() - ROUNDING]  # several where tied

    def at(confidence: float) -> tuple[float, float]:
        low, high = _v_ends(sample, deff, confidence)
        share = max(cluster_rate(chosen, sizes, confidence).high or 0.0 for chosen in most)
        return low, max(high, (positions * share - 1) / (positions - 1))

    limits = ends(v, at, groups, reach=(v, 0.0), within=(0.0, 1.0))
    return answer(v, limits.low, limits.high, bounds=limits.bounds, debiased=debiased)


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


def permutation_tables(scores: ArrayLike, orders: ArrayLike) -> list[Integers]:
    """The tables that `sharp_null` needs, from the scores chosen under each order.

    Parameters
    ----------
    scores
        Shape (I, m): score 1..n chosen for item i under order k; NaN where not answered.
    orders
        Shape (m, n) for orders that all items share, (I, m, n) for orders of their own: entry p of
        an order is the score at position p + 1.
    """
    array = floats(scores)
    # where[i, k, s-1] = position of score s under order k of item i
    where = np.argsort(np.asarray(orders, dtype=np.int64), axis=-1)
    where = where.astype(np.min_scalar_type(where.shape[-1]))  # tables of millions of calls
    where = np.broadcast_to(where, (*array.shape, where.shape[-1]))
    answered: Flags = ~np.isnan(array)
    counts = answered.sum(axis=1)
    tables = []
    for calls in np.unique(counts[counts > 0]):
        rows = np.flatnonzero(counts == calls)
        shown = np.nonzero(answered[rows])[1].reshape(rows.size, calls)  # orders answered
        chosen = np.take_along_axis(array[rows], shown, axis=1).astype(np.int64) - 1
        item = rows[:, None, None]
        tables.append(where[item, shown[:, None, :], chosen[:, :, None]])
    return tables


def sharp_null(
    tables: Iterable[ArrayLike], positions: int, rng: np.random.Generator, draws: int = 9_999
) -> SharpNull:
    """Order-label permutation test within items that the score does not depend on the order.

    Under the sharp null the orders of an item's calls are exchangeable. With T_p the number of
    calls that chose position p, the permutation mean is (1/m) sum_jk 1[pos = p] and the covariance
    1/(m-1) sum_jk of products of the double-centred indicators, summed over items. The quadratic
    form with the pseudo-inverse is referred to chi-square with the rank as degrees of freedom, or
    below 30 items to `draws` random permutations with the plus-one rule. The statistic uses pooled
    counts: more items add power if a position gains on average, not if the gains of different items
    cancel.

    Parameters
    ----------
    tables
        Per number m of answered calls the positions 0..n-1 of the items with so many, (I, m, m):
        entry [i, j, k] is the position that the score chosen in call j has under the order of call
        k. The diagonal is what was observed.
    positions
        Number of positions n.
    rng
        Source of the permutations; not used from 30 items up.

    References
    ----------
    Hoeffding, W. (1951), "A combinatorial central limit theorem", Annals of Mathematical
    Statistics 22, 558-566.
    """
    stacks = [stack for table in tables if (stack := np.asarray(table)).size]
    observed, mean = np.zeros(positions), np.zeros(positions)
    covariance = np.zeros((positions, positions))
    for part in (part for stack in stacks for part in _some_at_once(stack)):
        seen, expected, scatter = _moments(part, positions)
        observed, mean, covariance = observed + seen, mean + expected, covariance + scatter
    calls, items = float(observed.sum()), sum(len(stack) for stack in stacks)
    inverse, df = _pseudo_inverse(covariance, calls)
    statistic = float((observed - mean) @ inverse @ (observed - mean))
    null_chi2 = _expected_chi2(mean, covariance) if calls else None
    if df == 0:
        return SharpNull(0.0, 0, 1.0, null_chi2, total_calls(observed), "chi-square")
    if items >= MONTE_CARLO_BELOW:
        p, method = float(scipy.special.chdtrc(df, statistic)), "chi-square"
    else:
        drawn = sum((_permuted(stack, positions, draws, rng) for stack in stacks), np.zeros(1))
        # Draws that equal the observed by symmetry count as beyond, however they were rounded.
        beyond = np.einsum("dp,pq,dq->d", drawn - mean, inverse, drawn - mean) >= statistic - 1e-9
        # The plus-one rule: what was observed is one of the permutations, so p is never 0.
        p, method = float((1 + beyond.sum()) / (1 + draws)), "Monte Carlo"
    return SharpNull(statistic, df, p, null_chi2, total_calls(observed), method)


def _some_at_once(stack: Integers) -> Iterator[Integers]:
    """The items of a table in parts: the indicators of millions of calls need no room at once."""
    step = max(1, AT_ONCE // stack[0].size)
    return (stack[at : at + step] for at in range(0, len(stack), step))


def _moments(pos: Integers, positions: int) -> tuple[Floats, Floats, Floats]:
    """Observed counts, permutation mean and covariance, summed over the items of one table.

    The scatter of the double-centred indicators needs only row, column and total counts:
    sum d_p d_q = [p=q] cnt_p - (rows_p rows_q + cols_p cols_q) / m + cnt_p cnt_q / m^2.
    """
    m = pos.shape[1]
    diagonal = pos[:, np.arange(m), np.arange(m)]
    observed = np.bincount(diagonal.ravel(), minlength=positions).astype(np.float64)
    hits = [pos == p for p in range(positions)]
    rows = np.stack([hit.sum(axis=2).ravel() for hit in hits], axis=1).astype(np.float64)
    columns = np.stack([hit.sum(axis=1).ravel() for hit in hits], axis=1).astype(np.float64)
    totals = rows.reshape(-1, m, positions).sum(axis=1)
    mean = totals.sum(axis=0) / m
    if m == 1:
        return observed, mean, np.zeros((positions, positions))
    centred = (rows.T @ rows + columns.T @ columns) / m - totals.T @ totals / m**2
    return observed, mean, (np.diag(totals.sum(axis=0)) - centred) / (m - 1)


def _pseudo_inverse(covariance: Floats, calls: float) -> tuple[Floats, int]:
    """Moore-Penrose inverse of a covariance of counts, and its rank."""
    eigenvalues, vectors = np.linalg.eigh(covariance)
    # Relative to the largest, and absolute too: without any variance that one is rounding itself.
    kept = eigenvalues > max(1e-9 * eigenvalues[-1], 1e-10 * max(1.0, calls))
    basis = vectors[:, kept]
    inverse: Floats = (basis / eigenvalues[kept]) @ basis.T
    return inverse, int(kept.sum())


def _expected_chi2(mean: Floats, covariance: Floats) -> float:
    calls, positions = mean.sum(), mean.size
    squares = np.trace(covariance) + np.sum((mean - calls / positions) ** 2)
    return float(squares * positions / calls)


def _permuted(pos: Integers, positions: int, draws: int, rng: np.random.Generator) -> Floats:
    """Position counts (draws, n) under random relabelling of the orders within each item."""
    items, m = pos.shape[:2]
    counts = np.zeros((draws, positions))
    for item in range(items):
        labels = rng.permuted(np.tile(np.arange(m), (draws, 1)), axis=1)
        chosen = pos[item][np.arange(m), labels]
        flat = (np.arange(draws)[:, None] * positions + chosen).ravel()
        counts += np.bincount(flat, minlength=draws * positions).reshape(draws, positions)
    return counts
