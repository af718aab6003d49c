"""What every module here needs: array names, quantiles, cluster sums, bootstrap weights."""

from collections.abc import Iterator
from itertools import combinations
from math import comb, sqrt
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from judgesheet.base.limits import MOST_KEPT, MOST_ONE_BY_ONE

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

AT_ONCE = 4_000_000
"""Numbers of a bootstrap that are held in memory at once: those of 2,000 clusters."""
TINY = 1e-12
"""Relative size below which a sum of squares is rounding, not variance."""


def floats(values: ArrayLike) -> Floats:
    """The values as a float array; a view where possible."""
    return np.asarray(values, dtype=np.float64)


def alike(values: ArrayLike) -> Floats:
    """The values without the rounding by which equal ones differ: of means, about 1e-14."""
    return np.round(floats(values), 9)


def z_quantile(probability: float) -> float:
    """Quantile of the standard normal distribution."""
    return float(scipy.special.ndtri(probability))


def t_quantile(df: float, probability: float) -> float:
    """Quantile of Student's t distribution."""
    return float(scipy.special.stdtrit(df, probability))


def exact_ends(hits: float, misses: float, tail: float) -> tuple[float, float]:
    """Clopper and Pearson's ends of a rate, each of which errs in `tail`; counts may be fractions.

    References
    ----------
    Clopper, C. J. and Pearson, E. S. (1934), "The use of confidence or fiducial limits illustrated
    in the case of the binomial", Biometrika 26, 404-413.
    """
    low = float(scipy.special.betaincinv(hits, misses + 1, tail)) if hits > 0 else 0.0
    high = 1 - float(scipy.special.betaincinv(misses, hits + 1, tail)) if misses > 0 else 1.0
    return low, high


def expanded_tail(tail: float, clusters: int) -> float:
    """The share to cut from a cluster bootstrap so that its tail is that of t, not of the normal.

    Hesterberg, T. C. (2015), The American Statistician 69, 371-386 (expanded percentiles).
    """
    # sqrt(G / (G - 1)): a resample's variance divides by G, not by G - 1.
    t = t_quantile(clusters - 1, tail)
    return float(scipy.special.ndtr(t * sqrt(clusters / (clusters - 1))))


def two_sided(level: float) -> float:
    """The upper probability of an equal-tailed interval: .975 for a level of .95."""
    return 0.5 + level / 2


def ahead(values: Floats) -> Floats:
    """Per value of a row (..., n), the others below it less those above; NaN where one is NaN.

    Twice its mid-rank less n + 1.
    """
    net: Floats = np.sign(values[..., :, None] - values[..., None, :]).sum(axis=-1)
    return net


def cluster_codes(clusters: ArrayLike) -> tuple[Integers, int]:
    """Labels of any kind -> codes 0..G-1 in sorted order, and G."""
    labels = np.asarray(clusters).reshape(-1)
    if _are_codes(labels):  # as mostly: to count them takes a fraction of sorting millions
        place = np.cumsum(np.bincount(labels) > 0)
        return (place - 1)[labels], int(place[-1])
    known, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.int64), int(known.size)


def _are_codes(labels: NDArray[Any]) -> bool:
    """Whether labels are whole numbers from 0, hardly more different ones than labels."""
    is_whole = labels.size > 0 and labels.dtype.kind in "iu"
    return bool(is_whole and labels.min() >= 0 and labels.max() <= labels.size)


def sum_by(values: Floats, codes: Integers, groups: int) -> Floats:
    """Sums of the rows of `values` (m, ...) per code -> (groups, ...)."""
    result = np.zeros((groups, *values.shape[1:]))
    # Unlike `result[codes] += values`, which adds only the last row of each code.
    np.add.at(result, codes, values)
    return result


def bootstrap_weights(clusters: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """How often each cluster is drawn in each resample, as many resamples at once as memory allows.

    Blocks of shape (some resamples, clusters), whose rows sum to the number of clusters. Figures
    that draw from the same seed share the draws, which take longer than what is done with them.
    """
    if clusters * resamples > MOST_KEPT:
        yield from (block.astype(np.float64) for block in _drawn(clusters, resamples, rng))
        return
    # The state stands for the seed: figures of one run ask with the same one, one after another.
    key = clusters, resamples, repr(rng.bit_generator.state)
    if key not in _kept:
        # One byte: a stimulus is drawn 127 times in none of 10^200 resamples of more stimuli.
        blocks = [block.astype(np.int8) for block in _drawn(clusters, resamples, rng)]
        _kept[key] = blocks, rng.bit_generator.state
        while sum(clusters * resamples for clusters, resamples, _ in _kept) > MOST_KEPT:
            _kept.pop(next(iter(_kept)))
    blocks, rng.bit_generator.state = _kept[key]
    yield from (block.astype(np.float64) for block in blocks)


# The draws that were made last, and the state that each leaves its generator in.
_kept: dict[tuple[int, int, str], tuple[list[NDArray[np.int8]], Any]] = {}


def _drawn(clusters: int, resamples: int, rng: np.random.Generator) -> Iterator[Integers]:
    step, share = max(1, AT_ONCE // max(1, clusters)), np.full(clusters, 1.0 / clusters)
    for done in range(0, resamples, step):
        rows = min(step, resamples - done)
        if clusters <= MOST_ONE_BY_ONE:
            yield rng.multinomial(clusters, share, size=rows)
        else:
            drawn = (rng.integers(clusters, size=clusters) for _ in range(rows))
            yield np.stack([np.bincount(one, minlength=clusters) for one in drawn])


def resampled_sums(values: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Sums over clusters (G, …) that are drawn with replacement -> (resamples, …)."""
    flat = values.reshape(len(values), -1)
    blocks = [weights @ flat for weights in bootstrap_weights(len(flat), resamples, rng)]
    return np.concatenate(blocks).reshape(resamples, *values.shape[1:])


def expanded_percentiles(drawn: Floats, groups: int, level: float) -> tuple[float, float]:
    """Ends of the bootstrap interval of resampled values, widened for few clusters.

    The tail is taken at the normal probability of sqrt(G/(G-1)) t_{G-1} (Hesterberg 2015).
    """
    tail = expanded_tail(1 - two_sided(level), groups)
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return float(low), float(high)


def subsets(total: int, k: int, rng: np.random.Generator, most: int) -> Floats:
    """Subsets of size k as 0/1 rows (m, total): all of them, or `most` random ones."""
    if comb(total, k) <= most:
        chosen = np.array(list(combinations(range(total), k)))
    else:
        # The first k places of a random permutation hold a random subset.
        chosen = np.argsort(rng.random((most, total)), axis=1)[:, :k]
    members = np.zeros((len(chosen), total))
    np.put_along_axis(members, chosen, 1.0, axis=1)
    return members
