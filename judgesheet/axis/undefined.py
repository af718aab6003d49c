"""Why a correlation with quality is undefined: the judge's scores are equal, or the labels are."""

from dataclasses import replace

import numpy as np

from judgesheet.axis.arrays import Floats, Ints
from judgesheet.base.missing_reasons import EQUAL_SCORES, NEARLY_EQUAL_SCORES, Reason
from judgesheet.stats.correlation import Correlation

EQUAL_QUALITY = Reason(
    "equal_quality", "undefined: the responses that were read are of one quality"
)
# Spread, relative to the largest score, that is a matter of rounding.
_ROUNDING = 1e-9


def explained(r: Correlation, means: Floats, quality: Floats, cluster: Ints) -> Correlation:
    """The correlation, with the reason if it has no value or interval.

    It is that of `means` with `quality`, each (items,) or (items, criteria), NaN where unknown. No
    value: `EQUAL_QUALITY` where no criterion's quality varies, else `EQUAL_SCORES` where none of
    its scores do. No interval: `NEARLY_EQUAL_SCORES` where no scores vary without one cluster.
    """
    scores, truth = means.reshape(len(means), -1), quality.reshape(len(means), -1)
    # Quality of what was not read cannot make a correlation.
    truth = np.where(np.isnan(scores), np.nan, truth)
    if (~np.isnan(truth)).any(axis=1).sum() > 1:
        if not _varies(truth):
            return _without_value(r, EQUAL_QUALITY)
        if not _varies(scores):
            return _without_value(r, EQUAL_SCORES)
    if r.value is not None and r.ends is None and r.clusters > 2:
        rest = (cluster != left_out for left_out in np.unique(cluster))
        if any(_varies(truth[kept]) and not _varies(scores[kept]) for kept in rest):
            why = NEARLY_EQUAL_SCORES
            return replace(r, note=why.sentence, reason=why.code)
    return r


def _without_value(r: Correlation, why: Reason) -> Correlation:
    return replace(r, value=None, ends=None, note=why.sentence, reason=why.code)


def _varies(table: Floats) -> bool:
    """Whether any column has two values that differ by more than rounding."""
    columns = (column[~np.isnan(column)] for column in table.T)
    return any(
        column.size and np.ptp(column) > _ROUNDING * np.abs(column).max() for column in columns
    )
