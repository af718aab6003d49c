"""Does the order of the criteria change scores, and who wins? (Xu et al., sections 5.5 and 5.6)

A response's score is the mean over its criteria. Noise and ties alone change scores and winners, so
every rate under another order stands beside the same rate between repeats of one order.
"""

from collections.abc import Iterator

from judgesheet.axes.criterion_order._scores import Scores, figure
from judgesheet.axis import reversal
from judgesheet.axis.figure import Draft


@figure("share", symbol="OCR", noise="repeat_change_rate")
def order_change_rate(scores: Scores) -> Iterator[Draft]:
    """How often a criterion's score differs when the criteria are listed in another order.

    All pairs of single readings of a response, over all criteria and for each. Contains the judge's
    own noise: compare `repeat_change_rate`. Interval over prompts.
    """
    yield from _changes("differs under another order", scores, "different")


@figure("share", symbol="RCR")
def repeat_change_rate(scores: Scores) -> Iterator[Draft]:
    """How often a criterion's score differs when the same order is read again: the noise.

    Temperature, batching and prefix caching all enter here. An effect of the order is what exceeds
    it.
    """
    yield from _changes("differs under the same order", scores, "same")


def _changes(what: str, scores: Scores, which: reversal.Which) -> Iterator[Draft]:
    yield reversal.change_rate(*scores.rows(), which, f"A criterion's score {what}")
    for index, name in enumerate(scores.names):
        dims = {"criterion": name}
        label = f"The score of {name} {what}"
        yield reversal.change_rate(*scores.rows(index), which, label, dims)


@figure("share", symbol="ΔC", null=0.0)
def excess_change_rate(scores: Scores) -> Draft:
    """Changes of score that the order causes, beyond noise.

    Per prompt, `order_change_rate` minus `repeat_change_rate`; prompt-level t interval. It sees
    every effect of the order, also one that favours no position on average.
    """
    label = "Changes of a criterion's score caused by the order"
    return reversal.excess_change_rate(*scores.rows(), label)


@figure("share", symbol="F", noise="repeat_flip_rate")
def order_flip_rate(scores: Scores) -> Draft:
    """How often single readings under two orders disagree on a prompt's best response.

    A response's score is the mean over criteria. Ties are resolved as independent uniform picks
    from the two top sets. Contains noise: compare `repeat_flip_rate`.
    """
    label = "Best response differs under another order of criteria"
    return reversal.flip_rate(scores.contest, "different", label)


@figure("share", symbol="F_rep")
def repeat_flip_rate(scores: Scores) -> Draft:
    """How often two single readings under the same order disagree on a prompt's best response.

    Noise and ties alone.
    """
    label = "Best response differs under the same order of criteria"
    return reversal.flip_rate(scores.contest, "same", label)


@figure("share", symbol="ΔF", null=0.0)
def excess_flip_rate(scores: Scores) -> Draft:
    """Flips of the best response that the order of the criteria causes, beyond noise and ties.

    Per prompt, `order_flip_rate` minus `repeat_flip_rate`; prompt-level t interval. It needs at
    least two reads of some orders.
    """
    label = "Flips of the best response caused by the order of criteria"
    return reversal.excess_flip_rate(scores.contest, label)


@figure("share", symbol="T")
def top_tie_rate(scores: Scores) -> Draft:
    """How often several responses of a prompt share the best mean over criteria in one reading.

    Where it is high the judge cannot rank: whichever response is picked, is picked by chance.
    """
    return reversal.tie_rate(scores.contest, "Several responses share the best score")


@figure("share", symbol="F_bal")
def top1_flip_rate(scores: Scores) -> Iterator[Draft]:
    """Share of prompts whose best response changes between two arms (as Xu et al., table 7).

    Expected-tie rule: the probability that independent uniform picks from the two top sets differ.
    The paper takes the first of tied responses; that figure stands beside it. Noise and ties alone
    flip winners too: the effect of the order is `excess_flip_rate`.
    """
    yield from reversal.top1_flip_rate(scores.contest, scores.base)


@figure("tau-b", symbol="τ", null=1.0, better="higher")
def kendall_tau(scores: Scores) -> Iterator[Draft]:
    """Agreement of a prompt's ranking between two arms (tau-b; 1 the same ranking, 0 unrelated).

    Mean over prompts of Kendall's tau-b between the responses' mean scores (as Xu et al., table 7).
    Without a dimension: balanced against fixed. Prompts with an arm all tied have no tau and are
    left out; the note counts them.
    """
    yield from reversal.kendall_tau(scores.contest, scores.base)
