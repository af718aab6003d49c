"""How many orders are enough? (Xu et al., section 5.5)"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from judgesheet.axis.arrays import Flags, Floats, Ints
from judgesheet.axis.figure import Conditions, UnkeyedEstimate
from judgesheet.base.digits import counted
from judgesheet.stats import correlation
from judgesheet.stats.interval import without_interval
from judgesheet.stats.reads import row_means

from ._scores import Scores, figure

Curve = Callable[[Floats, Ints, int], tuple[correlation.BudgetPoint, ...]]


@figure("r", better="higher")
def budget_r(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Correlation with quality after averaging k orders, mean over criteria.

    Mean over the subsets of k of the balanced orders, only for responses with every reading: shows
    how many readings are worth paying for.
    """

    def curve(reads: Floats, items: Ints, index: int) -> tuple[correlation.BudgetPoint, ...]:
        return correlation.budget_r(reads, scores.reference[items, index], scores.rng())

    if scores.knows_quality:
        known = ~np.isnan(scores.reference)
        yield from _budget("r with quality", scores, curve, known, scores.quality())


@figure("r", better="higher", passes_blind=True)
def budget_agreement(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Correlation of the mean of k orders with the mean of all, mean over criteria.

    Needs no label. The k orders are part of what they are compared with, so it ends at 1: it shows
    how many calls can replace all of them, not how good all of them are.
    """

    def curve(reads: Floats, *_: Any) -> tuple[correlation.BudgetPoint, ...]:
        return correlation.budget_agreement(reads, scores.rng())

    every = np.ones((len(scores.cluster), len(scores.names)), dtype=bool)
    yield from _budget("Agreement with all orders", scores, curve, every)


def _budget(
    label: str, scores: Scores, curve: Curve, known: Flags, conditions: Conditions | str = ""
) -> Iterator[UnkeyedEstimate]:
    """The mean over criteria of the curve that each gives from its reads (items, orders).

    `known`, of shape (items, criteria), are the scores that it takes where all reads are there.
    """
    curves, entering = [], np.zeros(len(scores.cluster), dtype=bool)
    for index in range(len(scores.names)):
        items, slots = np.nonzero(scores.criterion == index)
        reads = scores.reads[items, :, 0, slots]
        values = [point.value for point in curve(reads, items, index)]
        if None not in values:
            curves.append(values)
            entering[items] |= known[items, index] & ~np.isnan(reads).any(axis=1)
    if not curves:
        return
    clusters = len(np.unique(scores.cluster[entering]))
    lost = len(scores.names) - len(curves)
    constant = counted(lost, "criterion", "criteria")
    method = "mean over subsets of k orders, then over criteria"
    for k, value in enumerate(row_means(np.array(curves, dtype=float).T), start=1):
        yield UnkeyedEstimate(
            f"{label} after {counted(k, 'order')}, mean over criteria",
            without_interval(value, clusters=clusters, method=method),
            {"k": k, "arm": scores.base},
            n=int(entering.sum()),
            conditions=conditions,
            note=f"without {constant} whose scores are constant" if lost else "",
        )
