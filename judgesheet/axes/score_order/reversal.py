"""Does the order decide who wins? (Xu et al., section 5.6)

Noise and ties alone flip winners, so every rate of change across orders stands beside the same rate
between repeats of one order, and the headline is their difference.
"""

from collections.abc import Iterator

from judgesheet.axes.score_order._scores import Scores, figure
from judgesheet.axis import reversal
from judgesheet.axis.figure import Draft


@figure("share", symbol="OCR", noise="repeat_change_rate")
def order_change_rate(scores: Scores) -> Draft:
    """How often two readings of one item under different orders give different scores.

    All pairs of single calls of the balanced arm. Contains the judge's own noise: compare
    `repeat_change_rate`. Interval over stimuli.
    """
    grid, label = scores.grid, "Score differs under another order"
    return reversal.change_rate(grid.reads, grid.cluster, "different", label)


@figure("share", symbol="RCR")
def repeat_change_rate(scores: Scores) -> Draft:
    """How often two readings of one item under the same order give different scores: the noise.

    Temperature, batching and prefix caching all enter here. An effect of the order is what exceeds
    it.
    """
    grid, label = scores.grid, "Score differs under the same order"
    return reversal.change_rate(grid.reads, grid.cluster, "same", label)


@figure("share", symbol="F", noise="repeat_flip_rate")
def order_flip_rate(scores: Scores) -> Draft:
    """How often single readings under two orders disagree on a prompt's best candidate.

    Ties are resolved as independent uniform picks from the two top sets. Contains noise: compare
    `repeat_flip_rate`.
    """
    label = "Best response differs under another order"
    return reversal.flip_rate(scores.contest, "different", label)


@figure("share", symbol="F_rep")
def repeat_flip_rate(scores: Scores) -> Draft:
    """How often two single readings under the same order disagree on a prompt's best candidate.

    Noise and ties alone; a judge without any order effect shows 12 to 38 %.
    """
    label = "Best response differs under the same order"
    return reversal.flip_rate(scores.contest, "same", label)


@figure("share", symbol="ΔF", null=0.0)
def excess_flip_rate(scores: Scores) -> Draft:
    """Flips of the best candidate that the order of the rubric causes, beyond noise and ties.

    Per prompt, `order_flip_rate` minus `repeat_flip_rate`; prompt-level t interval. It needs at
    least two reads of some orders.
    """
    label = "Flips of the best response caused by the order"
    return reversal.excess_flip_rate(scores.contest, label)


@figure("share", symbol="T")
def top_tie_rate(scores: Scores) -> Draft:
    """How often several responses of a prompt share the best score of one reading.

    Where it is high the judge cannot rank: whichever response is picked, is picked by chance.
    Single readings of the balanced arm; interval over prompts.
    """
    return reversal.tie_rate(scores.contest, "Several responses share the best score")


@figure("share", symbol="F_bal")
def top1_flip_rate(scores: Scores) -> Iterator[Draft]:
    """Share of prompts whose best candidate changes between two arms (Xu et al., table 7).

    Expected-tie rule: the probability that independent uniform picks from the two top sets differ.
    The paper takes the first of tied candidates; that figure stands beside it. Noise and ties alone
    give 12 to 38 %: the effect of the order is `excess_flip_rate`.
    """
    return reversal.top1_flip_rate(scores.contest)


@figure("tau-b", symbol="τ", null=1.0, better="higher")
def kendall_tau(scores: Scores) -> Iterator[Draft]:
    """Agreement of a prompt's ranking between two arms (tau-b; 1 the same ranking, 0 unrelated).

    Mean over prompts of Kendall's tau-b between the candidates' mean scores (Xu et al., table 7).
    Without a dimension: balanced against fixed. Prompts with an arm all tied have no tau and are
    left out; the note counts them.
    """
    return reversal.kendall_tau(scores.contest)
