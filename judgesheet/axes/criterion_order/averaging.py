"""How many orders are enough? (Xu et al., section 5.5)"""

from collections.abc import Iterator

import numpy as np

from judgesheet.axis.figure import UnkeyedEstimate
from judgesheet.base.digits import counted
from judgesheet.stats import correlation
from judgesheet.stats.interval import without_interval
from judgesheet.stats.reads import row_means

from ._scores import Scores, figure


@figure("r", better="higher")
def budget_r(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Correlation with quality after averaging k orders, mean over criteria.

    Mean over the subsets of k of the balanced orders, only for responses with every reading: shows
    how many readings are worth paying for.
    """
    if not scores.knows_quality:
        return
    curves, entering = [], np.zeros(len(scores.cluster), dtype=bool)
    for index in range(len(scores.names)):
        items, slots = np.nonzero(scores.criterion == index)
        reads = scores.reads[items, :, 0, slots]
        quality = scores.reference[items, index]
        values = [point.value for point in correlation.budget_r(reads, quality, scores.rng())]
        if None not in values:
            curves.append(values)
            entering[items] |= ~np.isnan(quality) & ~np.isnan(reads).any(axis=1)
    if not curves:
        return
    clusters = len(np.unique(scores.cluster[entering]))
    lost = len(scores.names) - len(curves)
    constant = counted(lost, "criterion", "criteria")
    method = "mean over subsets of k orders, then over criteria"
    for k, value in enumerate(row_means(np.array(curves, dtype=float).T), start=1):
        yield UnkeyedEstimate(
            f"r with quality after {counted(k, 'order')}, mean over criteria",
            without_interval(value, clusters=clusters, method=method),
            {"k": k, "arm": scores.base},
            n=int(entering.sum()),
            conditions=scores.quality(),
            note=f"without {constant} whose scores are constant" if lost else "",
        )
