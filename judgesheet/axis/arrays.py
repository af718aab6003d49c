"""The types of the arrays that axes compute on; docstrings give the shapes."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""Missing values are NaN."""
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
