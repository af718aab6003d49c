"""Why a correlation with quality is not known: equal scores accuse a judge, equal labels do not."""

from dataclasses import replace

import numpy as np

from judgesheet.axis.arrays import Floats, Ints
from judgesheet.reasons import Reason
from judgesheet.stats.correlation import Correlation

FLAT = Reason("flat", "undefined: every response gets the same mean score though quality varies")
NEARLY_FLAT = Reason(
    "nearly_flat", "no interval: without one prompt every response gets the same mean score"
)
EVEN = Reason("even", "undefined: the responses that were read are of one quality")
_ROUNDING = 1e-9
"""Spread, relative to the largest score, that is a matter of rounding."""


def explained(found: Correlation, means: Floats, quality: Floats, cluster: Ints) -> Correlation:
    """The correlation with a note that says whose fault it is that it has no value or no interval.

    `means` and `quality` have shape (items,) or (items, criteria), NaN where unknown; `cluster`
    (items,). `FLAT`: no criterion's scores vary, though the quality of what was read does.
    `NEARLY_FLAT`: likewise without the items of one cluster. `EVEN`: quality does not vary.
    """
    scores, truth = means.reshape(len(means), -1), quality.reshape(len(means), -1)
    truth = np.where(np.isnan(scores), np.nan, truth)
    if (~np.isnan(truth)).any(axis=1).sum() > 1:
        if not _varies(truth):
            return _without_value(found, EVEN)
        if not _varies(scores):
            return _without_value(found, FLAT)
    if found.value is not None and found.low is None and found.clusters > 2:
        rest = (cluster != one for one in np.unique(cluster))
        if any(_varies(truth[kept]) and not _varies(scores[kept]) for kept in rest):
            return replace(found, note=NEARLY_FLAT.sentence, reason=NEARLY_FLAT.code)
    return found


def _without_value(found: Correlation, why: Reason) -> Correlation:
    return replace(found, value=None, low=None, high=None, note=why.sentence, reason=why.code)


def _varies(table: Floats) -> bool:
    """Whether any column has two values that differ by more than rounding."""
    columns = (column[~np.isnan(column)] for column in table.T)
    return any(one.size and np.ptp(one) > _ROUNDING * np.abs(one).max() for one in columns)
