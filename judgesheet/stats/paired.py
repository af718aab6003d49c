"""Two decisions on the same prompts: is one right more often than the other?"""

import numpy as np
import scipy
from numpy.typing import ArrayLike

from judgesheet.base.missing_reasons import Reason

from ._support import TINY, Floats, floats, two_sided, z_quantile
from .interval import Interval, estimated, missing, without_ends

NO_PAIRS = Reason("no_pairs", "no pairs")
ONE_PAIR = Reason("one_pair", "one pair: no interval")


def sign_test(improved: int, regressed: int) -> float:
    """Exact two-sided sign test over the pairs that got better and worse; 1 where none differs.

    Huang et al., section 4.5: 21 against 5 gives .0025.
    """
    fewer, differing = min(improved, regressed), improved + regressed
    if differing <= 2 * fewer + 1:
        return 1.0
    return 2 * float(scipy.special.betainc(differing - fewer, fewer + 1, 0.5))


def agresti_min(differences: ArrayLike) -> Interval:
    """Mean of paired differences of proportions with the adjusted Wald interval.

    Half a pair is added to each cell of the table of pairs: with N + 2 in place of N, centre
    S / (N + 2) and variance (Q + 1 - S^2 / (N + 2)) / (N + 2)^2, where S and Q are the sums of the
    differences and of their squares. For differences of -1, 0, 1 these are the discordant counts;
    ties that count a share give fractions between. The interval is widened to contain the mean and
    leaves room for unseen pairs.

    Parameters
    ----------
    differences
        Shape (m,): one per pair, from -1 to 1; NaN entries are dropped.

    References
    ----------
    Agresti, A. and Min, Y. (2005), "Simple improved confidence intervals for comparing matched
    proportions", Statistics in Medicine 24, 729-740.
    """
    array = floats(differences)
    array = array[~np.isnan(array)]
    pairs = int(array.size)
    method = "Agresti-Min, paired; room for unseen pairs"
    if pairs == 0:
        return missing(NO_PAIRS, method=method)
    value = float(array.mean())
    if pairs == 1:
        return without_ends(value, ONE_PAIR, clusters=1, method=method)
    total, squares, n = float(array.sum()), float(array @ array), pairs + 2
    centre = total / n
    error = ((squares + 1 - total**2 / n) ** 0.5) / n

    def at(confidence: float) -> tuple[float, float]:
        half = z_quantile(two_sided(confidence)) * error
        return centre - half, centre + half

    reach = value + 1, 1 - value
    return estimated(value, at, pairs, method, reach, within=(-1.0, 1.0))


def changes(differences: ArrayLike) -> tuple[int, int, int]:
    """How many pairs improved, regressed and stayed; NaN entries are dropped."""
    array: Floats = floats(differences)
    array = array[~np.isnan(array)]
    better, worse = int((array > TINY).sum()), int((array < -TINY).sum())
    return better, worse, int(array.size) - better - worse
