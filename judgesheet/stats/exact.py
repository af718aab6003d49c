"""Exact intervals of a rate of independent things: clusters."""

import numpy as np
from numpy.typing import ArrayLike

from judgesheet.base.missing_reasons import NO_OBSERVATIONS

from ._support import exact_ends
from .confidence import confidence
from .draws import drawn_ratio
from .interval import Interval, missing


def exact_rate(hit: ArrayLike, asked: ArrayLike) -> Interval:
    """Clopper and Pearson's interval of the clusters that were `hit`, with a gate's bounds.

    Parameters
    ----------
    hit, asked
        Shape (G,): whether each cluster was; of those asked none or some were hit.
    """
    method = "Clopper-Pearson over clusters"
    hits, trials = (int(np.sum(which)) for which in (hit, asked))
    if not trials:
        return missing(NO_OBSERVATIONS, method=method)
    level = confidence()
    low, high = exact_ends(hits, trials - hits, (1 - level) / 2)
    return Interval(
        hits / trials,
        low,
        high,
        level,
        trials,
        method,
        # A one-sided bound is an end of the two-sided interval at twice the error.
        bounds=exact_ends(hits, trials - hits, 1 - level),
        hits=hits,
        trials=trials,
        drawn=drawn_ratio(hit, asked),
    )
