"""Exact intervals of a rate of independent things: clusters."""

import numpy as np
from numpy.typing import ArrayLike

from judgesheet.base.missing_reasons import NO_OBSERVATIONS

from ._support import exact_ends
from .draws import drawn_ratio
from .interval import Ends, Interval, missing


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

    def at(level: float) -> Ends:
        both, one = (exact_ends(hits, trials - hits, tail) for tail in ((1 - level) / 2, 1 - level))
        # A one-sided bound is an end of the two-sided interval at twice the error.
        return Ends(*both, one)

    drawn = drawn_ratio(hit, asked)
    return Interval(hits / trials, at, trials, method, hits=hits, trials=trials, drawn=drawn)
