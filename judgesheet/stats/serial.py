"""Do calls depend on those before them, or on when they are made? Tests of random sequences.

The calls of a block were made in random order, so every sequence of them was equally likely. What
a sequence would give by chance follows from that alone, whatever the verdicts are.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
import scipy

from judgesheet.base.missing_reasons import NEVER_VARIED, Reason

from ._support import TINY, Floats, Integers, cluster_codes, sum_by
from .correlation import FEW_CLUSTERS
from .interval import Interval, estimated, missing, without_ends
from .standard_error import LEAST_CARRIERS, carriers, jackknifed

FEWEST_CALLS = 4
"""A block of fewer has no pairs of neighbours apart from each other."""
FEWEST_DEVIATING = 30
"""Calls in effect that make up the variation, (sum of squares)^2 / sum of fourth powers, below
which sums over blocks are not normal: with 19 slips in 624 calls a test at .006 errs in .019."""
METHOD = "delete-a-cluster jackknife, t with skewness"
STEADY = Reason("steady", "too few calls deviate from the others on their item")


@dataclass(frozen=True, slots=True)
class Serial:
    """What calls owe to their place in the sequence.

    Attributes
    ----------
    memory
        Correlation of a verdict with the one before it, above what chance gives.
    memory_p
        Two-sided p-value of "a verdict does not depend on the one before"; None without variation.
    drift
        Change of verdicts from the first to the last call of a block.
    drift_p
        Two-sided p-value of "verdicts do not depend on when they were asked for".
    n
        Calls in blocks of at least `FEWEST_CALLS`.
    """

    memory: Interval
    memory_p: float | None
    drift: Interval
    drift_p: float | None
    n: int


def serial(deviations: Floats, block: Integers, clusters: Integers) -> Serial:
    """Autocorrelation with the call before, and trend, within blocks of calls in random order.

    The mean and the variance over all sequences of a block are exact (Wald and Wolfowitz 1943);
    summed over blocks, the statistics are normal.

    Parameters
    ----------
    deviations
        Shape (calls,): verdicts less the mean of their item, in the sequence of asking; their sum
        over a block is 0.
    block
        Shape (calls,): calls of one block stand together.

    References
    ----------
    Wald, A. and Wolfowitz, J. (1943), Annals of Mathematical Statistics 14, 378-388.
    """
    codes, _ = cluster_codes(block)
    in_blocks = np.argsort(codes, kind="stable")
    begins = np.concatenate([[0], np.cumsum(np.bincount(codes))]).astype(np.int64)
    kept = [mine for mine in map(in_blocks.__getitem__, map(slice, begins[:-1], begins[1:]))
            if mine.size >= FEWEST_CALLS]  # fmt: skip
    moments = np.array([_moments(deviations[mine]) for mine in kept]).reshape(-1, 8)
    excess, lag_variance, squares, trend, trend_variance, times, squared, fourth = moments.T
    firsts = np.array([mine[0] for mine in kept], dtype=np.int64)
    groups, count = cluster_codes(np.asarray(clusters)[firsts])
    deviating = float(squared.sum()) ** 2 / max(float(fourth.sum()), TINY)
    enough = deviating >= FEWEST_DEVIATING

    def of(statistic: Floats, scale: Floats) -> Interval:
        if not enough:
            return missing(STEADY, clusters=count)
        return _ratio(sum_by(statistic, groups, count), sum_by(scale, groups, count))

    return Serial(
        memory=of(excess, squares),
        memory_p=_p(excess, lag_variance) if enough else None,
        drift=of(trend, times),
        drift_p=_p(trend, trend_variance) if enough else None,
        n=sum(mine.size for mine in kept),
    )


@dataclass(frozen=True, slots=True)
class Late:
    """Whether a verdict is on the call before.

    Attributes
    ----------
    share
        How far the first verdict of a block lies on the way from the others to the block before.
    p
        One-sided p-value of "it is one of its own block"; None without blocks that differ.
    n
        Blocks whose first verdict was compared.
    """

    share: Interval
    p: float | None
    n: int


def late_share(numbers: Floats, deviations: Floats, block: Integers, clusters: Integers) -> Late:
    """Is the first verdict of a block like its others, or like those of the block before?

    Any of the n calls of a block may be its first, so it lies beyond all others towards the block
    before with a probability of 1/n at most, whatever the blocks are. The number of blocks where it
    does has no heavier tail, above its mean, than a binomial one (Hoeffding 1956, theorem 4).

    Parameters
    ----------
    numbers
        Shape (calls,): verdicts, in the sequence of asking.
    deviations, block
        As for `serial`.

    References
    ----------
    Hoeffding, W. (1956), Annals of Mathematical Statistics 27, 713-721.
    """
    begins = np.flatnonzero(np.diff(block, prepend=-1))
    sizes = np.diff(begins, append=block.size)
    level = np.add.reduceat(numbers, begins) / sizes
    differs = np.abs(np.diff(level)) > TINY
    kept = np.flatnonzero(differs & (sizes[1:] >= FEWEST_CALLS)) + 1
    groups, count = cluster_codes(np.asarray(clusters)[begins[kept]])
    if not kept.size:
        return Late(missing(STEADY, clusters=0), None, 0)
    step, first = level[kept - 1] - level[kept], deviations[begins[kept]]
    share = _ratio(sum_by(first * step, groups, count), sum_by(step**2, groups, count))
    towards = np.repeat(np.sign(np.roll(level, 1) - level), sizes) * deviations
    firsts = towards[begins]
    towards[begins] = -np.inf
    beyond = int(np.sum((firsts > np.maximum.reduceat(towards, begins) + TINY)[kept]))
    by_chance = float(np.mean(1 / sizes[kept]))
    p = scipy.special.betainc(beyond, kept.size - beyond + 1, by_chance) if beyond else 1.0
    return Late(share, float(p), kept.size)


def _ratio(sums: Floats, scales: Floats) -> Interval:
    """A ratio of sums over clusters (G,), each left out in turn.

    What a call owes to its neighbours is of the endpoint, not of the stimulus: there is no room for
    stimuli of another kind.
    """
    groups = int(sums.size)
    if groups < LEAST_CARRIERS:
        return missing(FEW_CLUSTERS, clusters=groups, method=METHOD)
    value = float(sums.sum() / scales.sum())
    left_out = (sums.sum() - sums) / (scales.sum() - scales)
    if carriers(left_out) < LEAST_CARRIERS:
        return without_ends(value, NEVER_VARIED, clusters=groups, method=METHOD)
    return estimated(value, jackknifed(value, left_out), groups, METHOD)


def _p(statistics: Floats, variances: Floats) -> float | None:
    """Two-sided p-value of a sum whose mean is 0."""
    variance = float(variances.sum())
    if variance <= 0:
        return None
    return float(2 * scipy.special.ndtr(-abs(float(statistics.sum())) / sqrt(variance)))


def _moments(e: Floats) -> tuple[float, ...]:
    """The sums of one block (n,), in the sequence that `serial` names them.

    Its lag products less their mean, their variance and scale, its trend likewise, and its squares
    and fourth powers.
    """
    n, second, fourth = e.size, float(np.sum(e**2)), float(np.sum(e**4))
    mean = -second / n
    # Products of neighbours: of a pair with itself, of two that share a call, of two apart.
    own = (second**2 - fourth) / (n * (n - 1))
    shared = (2 * fourth - second**2) / (n * (n - 1) * (n - 2))
    apart = (3 * second**2 - 6 * fourth) / (n * (n - 1) * (n - 2) * (n - 3))
    pairs = n - 1
    square = pairs * own + 2 * (pairs - 1) * shared + (pairs - 1) * (pairs - 2) * apart
    times = np.linspace(-0.5, 0.5, n)
    spread = float(np.sum(times**2))
    return (
        float(e[:-1] @ e[1:]) - mean,
        max(0.0, square - mean**2),
        second * pairs / n,
        float(times @ e),
        spread * second / (n - 1),
        spread,
        second,
        fourth,
    )
