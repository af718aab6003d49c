"""Exact intervals of a rate of independent things: clusters."""

import numpy as np
import scipy
from numpy.typing import ArrayLike

from judgesheet.base.missing_reasons import NO_OBSERVATIONS

from .confidence import confidence
from .draws import drawn_ratio
from .interval import Interval, missing


def exact_rate(hit: ArrayLike, asked: ArrayLike) -> Interval:
    """Clopper and Pearson's interval of the clusters that were `hit`, with a gate's bounds.

    Parameters
    ----------
    hit, asked
        Shape (G,): whether each cluster was; of those asked none or some were hit.

    References
    ----------
    Clopper, C. J. and Pearson, E. S. (1934), "The use of confidence or fiducial limits illustrated
    in the case of the binomial", Biometrika 26, 404-413.
    """
    method = "Clopper-Pearson over clusters"
    hits, trials = (int(np.sum(which)) for which in (hit, asked))
    if not trials:
        return missing(NO_OBSERVATIONS, method=method)
    level = confidence()
    found = scipy.stats.binomtest(hits, trials)
    low, high = found.proportion_ci(level, "exact")
    # A one-sided bound is an end of the two-sided interval at twice the error.
    bounds = found.proportion_ci(2 * level - 1, "exact")
    return Interval(
        hits / trials,
        float(low),
        float(high),
        level,
        trials,
        method,
        bounds=(float(bounds.low), float(bounds.high)),
        hits=hits,
        trials=trials,
        drawn=drawn_ratio(hit, asked),
    )
