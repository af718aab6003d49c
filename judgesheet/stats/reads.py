"""Several readings of one item, missing ones left out: their mean, their spread, their ratios."""

import numpy as np
from numpy.typing import ArrayLike

from ._support import Floats, floats


def row_means(reads: ArrayLike) -> Floats:
    """Means over the last axis without the NaNs; NaN for a row of only NaN."""
    means: Floats = np.ma.masked_invalid(floats(reads)).mean(axis=-1).filled(np.nan)
    return means


def row_sds(reads: ArrayLike) -> Floats:
    """Population standard deviations (ddof 0) over the last axis without the NaNs."""
    spreads: Floats = np.ma.masked_invalid(floats(reads)).std(axis=-1).filled(np.nan)
    return spreads


def ratio(above: ArrayLike, below: ArrayLike) -> Floats:
    """Quotients of arrays that broadcast; NaN where the denominator is not positive."""
    over, under = np.broadcast_arrays(floats(above), floats(below))
    quotients: Floats = np.divide(over, under, out=np.full(over.shape, np.nan), where=under > 0)
    return quotients


def total_calls(parts: ArrayLike) -> int:
    """The number of calls that these counts make: a tie is counted in parts, which sum to one."""
    return round(float(np.sum(parts)))
