"""How much room an interval leaves for stimuli that were not drawn. Nothing here needs numpy."""

from math import ceil, log

from judgesheet.base.records import LEVEL

UNSEEN = 0.05
"""Probability that stimuli unlike all those seen are missed by the sample: with a share of them of
`unseen_share` an interval of `LEVEL`, and a one-sided bound of `LEVEL`, covers .95, with any other
share more. It shrinks and grows with the error of the interval."""


def unseen_share(clusters: int, level: float = LEVEL) -> float:
    """Largest share of stimuli that may differ wholly although none of `clusters` does.

    The share u that is missed with probability (1 - u)^G = `UNSEEN`: .221, .117 and .030 for 12, 24
    and 100 stimuli at `LEVEL`. It is the exact upper bound of "none of G" (Clopper-Pearson).
    """
    return float(1 - _missed(level) ** (1 / clusters))


def _missed(level: float) -> float:
    return UNSEEN * (1 - level) / (1 - LEVEL)


def clusters_for(share: float, level: float = LEVEL) -> int:
    """The fewest stimuli whose `unseen_share` is at most this one, 0 < share < 1."""
    # Less rounding: exactly enough stimuli must not become one more.
    return ceil(log(_missed(level)) / log(1 - share) - 1e-9)
