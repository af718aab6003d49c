"""Standard errors from G clusters, and intervals from these with Student's t."""

from math import sqrt

import numpy as np

from ._support import Floats
from .interval import At, Ends, Limits, ends, skewness_of, student
from .unseen import unseen_share

NEARLY_ONE = 1 - 1e-9
"""A correlation beyond this is perfect: Fisher's z of 1 is infinite."""

LEAST_CARRIERS = 3
"""Fewer clusters than this that make an estimate say nothing about others."""
ROUNDING = 1e-12
"""What differs by less without a cluster differs by rounding."""


def carriers(left_out: Floats) -> int:
    """Number of clusters that affect an estimate: those without which (G,) it differs."""
    # The median is what most clusters leave behind: those that make no difference.
    return int((np.abs(left_out - np.median(left_out)) > ROUNDING).sum())


def jackknife_error(left_out: Floats) -> float:
    """Standard error sqrt((G-1)/G sum_g (x_g - mean)^2) of estimates (G,), each without a cluster.

    References
    ----------
    Efron, B. and Tibshirani, R. J. (1993), "An Introduction to the Bootstrap", equation 11.5.
    """
    groups = left_out.size
    return float(np.sqrt((groups - 1) / groups * np.sum((left_out - left_out.mean()) ** 2)))


def jackknifed(value: float, left_out: Floats, least: float = 0.0) -> At:
    """Ends of an interval of an estimate, from its values without each cluster in turn.

    The t interval with G - 1 degrees of freedom about the estimate less its bias (G - 1) (mean -
    value), longer on the side to which the clusters are skewed.

    Parameters
    ----------
    value
        The estimate, best on a scale where it is nearly normal.
    left_out
        Shape (G,): the estimate without each cluster, G at least 2.
    least
        The smallest standard error to use.

    References
    ----------
    Efron, B. and Tibshirani, R. J. (1993), "An Introduction to the Bootstrap", chapters 10.5, 11.
    """
    groups, mean = left_out.size, float(left_out.mean())
    error = max(least, jackknife_error(left_out))
    # A mean over criteria keeps all bias of small samples and little error (docs/notes/bounds.md).
    bias = (groups - 1) * (mean - value)
    return student(value - bias, error, groups, skewness_of(mean - left_out))


def fisher_z(r: float) -> float:
    """Fisher's transform atanh r, finite where r is perfect."""
    return float(np.arctanh(np.clip(r, -NEARLY_ONE, NEARLY_ONE)))


def near_on_fisher(r: float, left_out: Floats) -> Floats:
    """Fisher's z of values near r, by its slope there: z(r) + (x - r) / (1 - r^2).

    Where few clusters keep r from 1, the transform itself is steep enough to make their errors
    those of all: without the worst of them, z is far off.
    """
    slope = 1 / max(1 - r * r, 1 - NEARLY_ONE)
    z: Floats = fisher_z(r) + (left_out - r) * slope
    return z


def fisher_error(items: int) -> float:
    """Standard error of Fisher's z for independent items, 1 / sqrt(items - 3)."""
    return 1 / sqrt(max(1, items - 3))


def ends_of_r(r: float, left_out: Floats, clusters: int, least: float) -> Limits:
    """Ends of a correlation that is not perfect, from its values without each cluster in turn.

    Those of Fisher's z (`jackknifed`). Towards 0 they lie no farther out than the slope of z at r
    puts them and than stimuli that were not seen could take them, as far below 0 as r is above:
    where one cluster keeps r from 1, z without it is so far off that -.9 to 1 told nothing of a
    judge of r = .998 (docs/notes/bounds.md).

    Parameters
    ----------
    left_out
        Shape (deletions,): the correlation without each cluster, or each group of them.
    clusters
        How many there are.
    least
        The smallest standard error of z.
    """
    side = -1.0 if r < 0 else 1.0
    size, without = abs(r), np.clip(side * left_out, -NEARLY_ONE, NEARLY_ONE)
    on_z = jackknifed(fisher_z(size), np.arctanh(without), least)
    by_slope = jackknifed(fisher_z(size), near_on_fisher(size, without), least)

    def limits(level: float) -> Ends:
        unseen = size * (1 - 2 * unseen_share(clusters, level))

        def at(confidence: float) -> tuple[float, float]:
            low, high = np.tanh(on_z(confidence))
            low = max(low, min(float(np.tanh(by_slope(confidence)[0])), unseen))
            near, far = sorted((side * float(low), side * float(high)))
            return near, far

        return ends(r, at, clusters, reach=(0.0, 0.0))(level)

    return limits
