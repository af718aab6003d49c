"""How many calls one reading is worth in those of another, when both read the same calls.

An interval is as wide as the square root of a variance that is a sum over clusters. Both readings
saw the same clusters, so the ratio of two such sums is the factor by which the wider one needs more
of everything: calls, and the stimuli they are about.
"""

import numpy as np
from numpy.typing import ArrayLike

from ._support import TINY, Floats, Integers, cluster_codes, floats, sum_by, t_quantile, two_sided
from .correlation import pearson
from .interval import Interval

METHOD = "ratio of variances, delete-a-cluster jackknife of its logarithm, t"


def variance_ratio(one: ArrayLike, other: ArrayLike, level: float = 0.95) -> Interval:
    """How many times larger the variance of one reading is than that of another.

    The interval is a t interval for the logarithm, its variance from deleting each cluster in turn.
    Simulated coverage of 95 %: .92-.96 from 12 clusters up, .89-.94 at 6.

    Parameters
    ----------
    one, other
        Shape (G,): what each cluster adds to the two variances, in any common unit.
    level
        Confidence level.
    """
    a, b = floats(one), floats(other)
    groups = int(a.size)
    if groups == 0:
        return Interval(None, None, None, level, 0, METHOD, "no observations")
    if b.sum() <= TINY * max(1.0, float(a.sum())):
        note = "the second reading does not vary"
        return Interval(None, None, None, level, groups, METHOD, note)
    if a.sum() <= TINY * b.sum():
        note = "the first reading does not vary: no interval"
        return Interval(0.0, None, None, level, groups, METHOD, note)
    value = float(a.sum() / b.sum())
    return _jackknifed(value, (a.sum() - a) / np.maximum(b.sum() - b, TINY * b.sum()), level)


def reliability_ratio(
    one: ArrayLike, other: ArrayLike, clusters: ArrayLike, level: float = 0.95
) -> Interval:
    """How many reads of one kind tell rows apart as well as a single read of another kind.

    A read's noise is its variance W about the mean of its row, the signal the variance B of those
    means, less W over the number of reads. k reads have the reliability B / (B + W/k): equal at k =
    (W/B of one) / (W/B of the other). Unlike a ratio of W alone this is no smaller for a reading
    that merely shrinks every score towards the middle.

    Parameters
    ----------
    one, other
        Shape (rows, reads), NaN in the same places; rows with fewer than two reads are dropped.
    clusters
        Shape (rows,); labels of any kind.
    level
        Confidence level.
    """
    codes, groups = cluster_codes(clusters)
    ratios = [_noise_to_signal(floats(reads), codes, groups) for reads in (one, other)]
    if groups == 0 or np.isnan([ratio[0] for ratio in ratios]).any():
        note = "the rows cannot be told apart"
        return Interval(None, None, None, level, groups, METHOD, note)
    if ratios[1][0] <= TINY:
        note = "the second reading does not vary within a row"
        return Interval(None, None, None, level, groups, METHOD, note)
    quotient = ratios[0] / np.maximum(ratios[1], TINY * ratios[1][0])
    return _jackknifed(float(quotient[0]), quotient[1:], level)


def _noise_to_signal(reads: Floats, codes: Integers, groups: int) -> Floats:
    """W/B of all rows, then without each cluster in turn -> (1 + groups,); NaN where B <= 0."""
    known = ~np.isnan(reads)
    count = known.sum(axis=1)
    used = count > 1
    reads, known, count = reads[used], known[used], count[used]
    means = np.where(known, reads, 0.0).sum(axis=1) / count
    noise = np.where(known, (reads - means[:, None]) ** 2, 0.0).sum(axis=1) / (count - 1)
    centred = means - means.mean() if means.size else means
    parts = np.stack([np.ones_like(means), centred, centred**2, noise, noise / count], axis=1)
    sums = sum_by(parts, codes[used], groups)
    total = sums.sum(axis=0)
    rows, mean, square, within, error = np.concatenate([total[None], total - sums]).T
    with np.errstate(divide="ignore", invalid="ignore"):
        between = (square - mean**2 / rows) / (rows - 1) - error / rows
        ratio: Floats = np.where(between > TINY * square, within / rows / between, np.nan)
    return ratio


def _jackknifed(value: float, left_out: Floats, level: float) -> Interval:
    """The interval of a ratio from its values without each cluster."""
    groups = int(left_out.size)
    known = np.isfinite(left_out).all() and float(left_out.min(initial=1.0)) > 0
    if groups < 3 or not known:
        note = "undefined without one cluster" if groups >= 3 else "fewer than three clusters"
        return Interval(value, None, None, level, groups, METHOD, f"{note}: no interval")
    logs = np.log(left_out)
    se = float(np.sqrt((groups - 1) / groups * np.sum((logs - logs.mean()) ** 2)))
    reach = float(np.exp(min(t_quantile(groups - 1, two_sided(level)) * se, 700.0)))
    return Interval(value, value / reach, value * reach, level, groups, METHOD)


def mean_parts(values: ArrayLike, clusters: ArrayLike) -> Floats:
    """What each cluster adds to the cluster-robust variance of the mean.

    Parameters
    ----------
    values
        Shape (m,) or (m, components), without NaN; the variances of components are added up.
    clusters
        Shape (m,); labels of any kind.
    """
    array = floats(values)
    array = array[:, None] if array.ndim == 1 else array
    codes, groups = cluster_codes(clusters)
    if not groups:
        return np.zeros(0)
    residuals = sum_by(array - array.mean(axis=0), codes, groups)
    parts: Floats = np.sum(residuals**2, axis=1)
    return parts


def correlation_parts(x: ArrayLike, y: ArrayLike, clusters: ArrayLike) -> Floats:
    """What each cluster adds to the jackknife variance of Fisher's z of Pearson's r.

    Parameters
    ----------
    x, y, clusters
        Shape (m,), without NaN. Empty where r is undefined or perfect without some cluster.
    """
    a, b = floats(x), floats(y)
    codes, groups = cluster_codes(clusters)
    r = np.array([pearson(a[codes != one], b[codes != one]) for one in range(groups)])
    if not r.size or np.isnan(r).any() or np.abs(r).max() > 1 - 1e-9:
        return np.zeros(0)
    z = np.arctanh(r)
    parts: Floats = np.square(z - z.mean())
    return parts
