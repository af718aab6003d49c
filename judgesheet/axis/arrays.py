"""The types of the arrays that axes compute on; shapes stand in the docstrings."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""Missing values are NaN."""
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
