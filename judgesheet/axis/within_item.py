"""How far repeated readings of an item differ, for every axis that gives scores."""

import numpy as np

from judgesheet.axis.arrays import Floats, Ints
from judgesheet.axis.figure import Conditions, UnkeyedEstimate, absent
from judgesheet.base.missing_reasons import Reason
from judgesheet.stats.interval import by_cluster, cluster_mean
from judgesheet.stats.reads import row_sds

ONE_READ = Reason("one_read", "there is one reading per response")
NOTHING_READ = Reason("nothing_read", "no reply under these orders could be read")


def within_item_sd(
    label: str, arm: str, reads: Floats, cluster: Ints, span: float, conditions: Conditions | str
) -> UnkeyedEstimate:
    """Mean over items of the spread of an item's scores over its reads, in points.

    Population sd (ddof 0), mean over the item's criteria where it has several. Cluster t interval.

    Parameters
    ----------
    label, arm, conditions
        Of the estimate; `arm` is its dimension.
    reads
        Shape (items, reads) or (items, reads, criteria), NaN where nothing was readable.
    cluster
        Shape (items,): each item's stimulus.
    span
        Best less worst score; the spread is at most half of it.
    """
    items, times = reads.shape[:2]
    if times < 2:
        return absent(label, ONE_READ, {"arm": arm})
    spread = row_sds(np.moveaxis(reads.reshape(items, times, -1), 1, 2)).mean(axis=1)
    known = ~np.isnan(spread)
    # At most half of the scale: reads that lie half at each end.
    interval = cluster_mean(*by_cluster(spread[known], cluster[known]), within=(0.0, span / 2))
    estimate = UnkeyedEstimate(
        label, interval, {"arm": arm}, n=int(known.sum()), conditions=conditions
    )
    return estimate.or_absent(NOTHING_READ)
