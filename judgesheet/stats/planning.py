"""How wide an interval will be, before a call is made.

A design has G `clusters` with m = `per_cluster` calls (or pairs) in each. Half-widths are expected
ones, in the unit of the estimate, and infinite (1 for V) where the design has no calls.
"""

from math import inf, sqrt

from scipy import stats

from ._support import two_sided, z_quantile
from .position import noncentrality_bounds


def rate_half_width(
    p: float, clusters: int, per_cluster: float, icc: float, level: float = 0.95
) -> float:
    """Half-width of a rate p: z sqrt(p (1-p) deff / (G m)) with deff = 1 + (m-1) icc.

    `icc` is the intraclass correlation of the calls of a cluster, 0..1.
    """
    calls = clusters * per_cluster
    if calls <= 0:
        return inf
    deff = 1 + max(0.0, per_cluster - 1) * icc
    return z_quantile(two_sided(level)) * sqrt(p * (1 - p) * deff / calls)


def cramers_v_half_width(
    v: float, n_positions: int, items: int, orders: int, deff: float = 1.0, level: float = 0.95
) -> float:
    """Half-width of Cramér's V, at the chi-square that is expected for a true V of v.

    Parameters
    ----------
    n_positions
        Number of positions n >= 2.
    items, orders
        Calls are items x orders.
    deff
        Design effect of the calls.
    """
    df, scale = n_positions - 1, items * orders * (n_positions - 1) / deff
    if scale <= 0:
        return 1.0
    low, high = noncentrality_bounds(df + scale * v * v, df, level)
    return (min(1.0, sqrt(high / scale)) - sqrt(low / scale)) / 2


def excess_flip_half_width(prompts: int, sd: float = 0.1, level: float = 0.95) -> float:
    """Half-width of the excess flip rate: z sd / sqrt(prompts).

    `sd` is the standard deviation of the excess between prompts; .06 to .13 in simulated judges.
    """
    return z_quantile(two_sided(level)) * sd / sqrt(prompts) if prompts > 0 else inf


def position_gap_half_width(
    positions: int, clusters: int, per_position: float, sd: float = 0.5, level: float = 0.95
) -> float:
    """Half-width of a gap between best and worst of n positions: q sd / sqrt(G m).

    q is the studentized range of n means with G - 1 degrees of freedom, m the calls of a cluster at
    each position, `sd` the standard deviation of a score within an item, in points.
    """
    if clusters < 2 or per_position <= 0:
        return inf
    q = float(stats.studentized_range.ppf(level, positions, clusters - 1))
    return q * sd / sqrt(clusters * per_position)
