"""How wide an interval will be, before a call is made."""

from math import sqrt

from scipy import stats

from ._support import two_sided, z_quantile
from .position import noncentrality_bounds


def rate_half_width(
    p: float, clusters: int, per_cluster: float, icc: float, level: float = 0.95
) -> float:
    """Expected half-width of a rate: z sqrt(p (1-p) deff / N) with deff = 1 + (m-1) icc.

    Parameters
    ----------
    p
        Rate that is expected.
    clusters, per_cluster
        Number of clusters, and calls (or pairs) m in each; N is their product.
    icc
        Intraclass correlation, 0..1.
    level
        Confidence level.
    """
    calls = clusters * per_cluster
    if calls <= 0:
        return float("inf")
    return z_quantile(two_sided(level)) * sqrt(p * (1 - p) * _deff(per_cluster, icc) / calls)


def zero_event_bound(clusters: int, per_cluster: float, icc: float, level: float = 0.95) -> float:
    """One-sided upper bound of a rate if not a single event is seen.

    Clopper-Pearson for 0 of N / deff. Parameters as for `rate_half_width`.
    """
    calls = clusters * per_cluster
    if calls <= 0:
        return 1.0
    return float(1 - (1 - level) ** (_deff(per_cluster, icc) / calls))


def cramers_v_half_width(
    v: float, n_positions: int, items: int, orders: int, deff: float = 1.0, level: float = 0.95
) -> float:
    """Expected half-width of the interval of Cramér's V, at the expected chi-square.

    Parameters
    ----------
    v
        True V that is expected, 0..1.
    n_positions
        Number of positions n >= 2.
    items, orders
        Calls are items x orders.
    deff
        Design effect of the calls.
    level
        Confidence level.
    """
    df, scale = n_positions - 1, items * orders * (n_positions - 1) / deff
    if scale <= 0:
        return 1.0
    low, high = noncentrality_bounds(df + scale * v * v, df, level)
    return (min(1.0, sqrt(high / scale)) - sqrt(low / scale)) / 2


def excess_flip_half_width(prompts: int, sd: float = 0.1, level: float = 0.95) -> float:
    """Expected half-width of the excess flip rate: z sd / sqrt(prompts).

    Parameters
    ----------
    prompts
        Number of prompts.
    sd
        Standard deviation of the excess between prompts; .06 to .13 in simulated judges.
    level
        Confidence level.
    """
    return z_quantile(two_sided(level)) * sd / sqrt(prompts) if prompts > 0 else float("inf")


def position_gap_half_width(
    positions: int, clusters: int, per_position: float, sd: float = 0.5, level: float = 0.95
) -> float:
    """Expected half-width of a gap between best and worst position: q sd / sqrt(G m).

    q is the studentized range of n means with G - 1 degrees of freedom.

    Parameters
    ----------
    positions, clusters
        Positions n >= 2, and clusters G.
    per_position
        Calls m of a cluster at each position.
    sd
        Standard deviation of a score within an item, in points.
    level
        Confidence level.
    """
    if clusters < 2 or per_position <= 0:
        return float("inf")
    q = float(stats.studentized_range.ppf(level, positions, clusters - 1))
    return q * sd / sqrt(clusters * per_position)


def _deff(per_cluster: float, icc: float) -> float:
    return 1 + max(0.0, per_cluster - 1) * icc
