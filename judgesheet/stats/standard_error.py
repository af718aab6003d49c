"""From G clusters to a standard error, and from that to an interval with Student's t."""

from math import sqrt

import numpy as np

from ._support import Floats, t_quantile, two_sided
from .interval import Ends, ends, student

NEARLY_ONE = 1 - 1e-9
"""A correlation beyond this is perfect: Fisher's z of 1 is infinite."""


def jackknife_error(left_out: Floats) -> float:
    """Standard error sqrt((G-1)/G sum_g (x_g - mean)^2) of estimates (G,), each without a cluster.

    References
    ----------
    Efron, B. and Tibshirani, R. J. (1993), "An Introduction to the Bootstrap", equation 11.5.
    """
    groups = left_out.size
    return float(np.sqrt((groups - 1) / groups * np.sum((left_out - left_out.mean()) ** 2)))


def half_width(error: float, clusters: int, level: float) -> float:
    """Half of a t interval with G - 1 degrees of freedom; at least two clusters."""
    return t_quantile(clusters - 1, two_sided(level)) * error


def at_least_fisher(error: float, items: int) -> float:
    """An error of Fisher's z, not believed below that of independent items, 1 / sqrt(items - 3)."""
    return max(error, 1 / sqrt(max(1, items - 3)))


def fisher_ends(value: float, error: float, clusters: int, level: float) -> Ends:
    """Ends of the t interval of a correlation, whose `error` is that of Fisher's z = atanh r.

    References
    ----------
    Fisher, R. A. (1921), Metron 1, 3-32.
    """
    on_z = student(float(np.arctanh(np.clip(value, -NEARLY_ONE, NEARLY_ONE))), error, clusters)

    def at(confidence: float) -> tuple[float, float]:
        low, high = np.tanh(on_z(confidence))
        return float(low), float(high)

    return ends(value, at, clusters, level, reach=(0.0, 0.0))
