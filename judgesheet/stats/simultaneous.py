"""Differences of several estimates from the same clusters, all at once."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import sqrt
from typing import cast

import numpy as np

from judgesheet.base.records import LEVEL

from ._support import TINY, Floats, two_sided, z_quantile
from .interval import Ends, Interval, always
from .paired import _combined

DRAWS = 20_000
"""Draws of the greatest deviation: its quantile is then known to about .5 %."""
FEW = 500
"""Deviations of which every two may have a covariance: of 300 systems it would take 16 GB."""
BLOCK = 200
"""Draws of many deviations at a time."""


def differences(
    intervals: Sequence[Interval], parts: Floats, level: float = LEVEL, *, at_once: bool = True
) -> dict[tuple[int, int], Interval]:
    """The difference of every two estimates (i < j), i less j, paired by cluster.

    Margins of the two intervals are combined by the correlation of their contributions (MOVER; Zou
    and Donner 2008), and widened so that all differences hold together (max-t).

    References
    ----------
    Hothorn, T., Bretz, F. and Westfall, P. (2008), "Simultaneous inference in general parametric
    models", Biometrical Journal 50, 346-363 (single-step max-t).
    """
    pairs = list(combinations(range(len(intervals)), 2))
    # The factor of the contributions has their covariances, in no more rows than estimates.
    rows = parts if len(pairs) <= FEW else cast("Floats", np.linalg.qr(parts, mode="r"))
    first, second = np.triu_indices(len(intervals), 1)
    factor = _factor(rows[:, first] - rows[:, second], level) if at_once else 1.0
    every = [(one, one.at(level)) for one in intervals]
    return {
        (i, j): _difference(*every[i], *every[j], _correlation(parts[:, i], parts[:, j]), factor)
        for i, j in pairs
    }


def _difference(
    first: Interval, here: Ends, second: Interval, there: Ends, correlation: float, factor: float
) -> Interval:
    clusters = min(first.clusters, second.clusters)
    if first.value is None or second.value is None:
        return replace(first if first.value is None else second, ends=None)
    value = first.value - second.value
    method = "paired by cluster, margins combined (MOVER), all differences at once (max-t)"
    if here.low is None or here.high is None or there.low is None or there.high is None:
        unknown = first if here.low is None else second
        return Interval(value, None, clusters, method, unknown.note, unknown.reason)
    below = _combined(first.value - here.low, there.high - second.value, correlation)
    above = _combined(here.high - first.value, second.value - there.low, correlation)
    return Interval(value, always(value - factor * below, value + factor * above), clusters, method)


def _correlation(first: Floats, second: Floats) -> float:
    size = sqrt(float(first @ first) * float(second @ second))
    return float(first @ second) / size if size > TINY else 0.0


def _factor(parts: Floats, level: float) -> float:
    """How many times the quantile of one deviation that of the greatest of several (G, k) is."""
    if parts.shape[1] > FEW:
        return _wide(_greatest_of_many(parts), level)
    covariance = parts.T @ parts
    errors = np.sqrt(np.diag(covariance))
    known = errors > TINY * max(1.0, float(errors.max(initial=0.0)))
    if known.sum() < 2:
        return 1.0
    correlations = (covariance / np.outer(errors, errors).clip(min=TINY**2))[np.ix_(known, known)]
    values, vectors = np.linalg.eigh(correlations)
    root = vectors * np.sqrt(values.clip(min=0.0))
    # The same data give the same interval: the draws are fixed.
    drawn = np.random.default_rng(0).standard_normal((DRAWS, root.shape[0])) @ root.T
    return _wide(np.abs(drawn).max(axis=1), level)


def _greatest_of_many(parts: Floats) -> Floats:
    """The greatest deviation in each draw, without the covariances of every two."""
    errors = np.sqrt((parts**2).sum(axis=0))
    known = errors > TINY * max(1.0, float(errors.max()))
    scaled = parts[:, known] / errors[known]
    generator = np.random.default_rng(0)
    blocks = (generator.standard_normal((BLOCK, len(parts))) for _ in range(DRAWS // BLOCK))
    return np.concatenate([np.abs(one @ scaled).max(axis=1, initial=0.0) for one in blocks])


def _wide(greatest: Floats, level: float) -> float:
    """How far the quantile of the greatest deviation is beyond that of a single one."""
    quantile = np.quantile(greatest, level)
    return max(1.0, float(quantile) / z_quantile(two_sided(level)))


def stands(difference: Interval) -> bool:
    """Whether a difference is proven to lie on one side of 0."""
    low, high = difference.low, difference.high
    return low is not None and high is not None and (low > 0 or high < 0)
