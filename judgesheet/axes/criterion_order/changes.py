"""Does the order of the criteria change scores? (Xu et al., section 5.5)"""

from judgesheet.axes.criterion_order._scores import REPEATED, Scores, figure
from judgesheet.axis import reversal
from judgesheet.axis.figure import Draft
from judgesheet.axis.views import changed


@figure(
    "share",
    symbol="ΔC",
    null=0.0,
    headline=25,
    missing=REPEATED,
    by_place=True,
    passes_blind=True,
    reads="repeats",
    cases=changed,
)
def excess_change_rate(scores: Scores) -> Draft:
    """Changes of score that the order causes, beyond noise.

    Per prompt, `order_change_rate` minus `repeat_change_rate`; prompt-level t interval. It detects
    every effect of the order, even one that favours no position on average.
    """
    label = "Changes of a criterion's score caused by the order"
    return reversal.excess_change_rate(next(scores.rows), label)
