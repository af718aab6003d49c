"""The arrays that axes compute on; docstrings give the shapes."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
"""Missing values are NaN."""
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


def filled(
    places: Sequence[Ints], values: ArrayLike, shape: Sequence[int], missing: float = np.nan
) -> Floats:
    """An array with values (m, …) at places (m,) along its first axes; `missing` elsewhere.

    `shape` has the lengths of the first of these axes; others are as long as they must be.
    """
    numbers = np.asarray(values, dtype=np.float64)
    lengths = [int(place.max(initial=0)) + 1 for place in places[len(shape) :]]
    table = np.full((*shape, *lengths, *numbers.shape[1:]), missing)
    table[tuple(places)] = numbers
    return table
