"""Exact intervals of a rate of independent things: clusters."""

import scipy

from judgesheet.base.missing_reasons import NO_OBSERVATIONS

from .confidence import confidence
from .interval import Interval, missing


def exact_rate(hits: int, trials: int) -> Interval:
    """Clopper and Pearson's interval of `hits` of `trials`, with the one-sided bounds of a gate.

    References
    ----------
    Clopper, C. J. and Pearson, E. S. (1934), "The use of confidence or fiducial limits illustrated
    in the case of the binomial", Biometrika 26, 404-413.
    """
    method = "Clopper-Pearson over clusters"
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
    )
