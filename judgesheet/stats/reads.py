"""Several readings of one item: their mean and their spread, missing ones left out."""

import numpy as np
from numpy.typing import ArrayLike

from ._support import Floats, floats


def row_means(reads: ArrayLike) -> Floats:
    """Means over the last axis without the NaNs; NaN where a row has nothing else."""
    array = floats(reads)
    known = ~np.isnan(array)
    count = known.sum(axis=-1)
    total = np.where(known, array, 0.0).sum(axis=-1)
    means: Floats = np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)
    return means


def row_sds(reads: ArrayLike) -> Floats:
    """Population standard deviations (ddof 0) over the last axis without the NaNs."""
    array = floats(reads)
    return np.sqrt(row_means((array - row_means(array)[..., None]) ** 2))
