"""Does the order of the criteria change scores, and who wins? (Xu et al., sections 5.5 and 5.6)

A response's score is the mean over its criteria. Noise and ties alone change scores and winners, so
every rate under another order stands beside the same rate between repeats of one order.
"""

from collections.abc import Iterator

from judgesheet.axes.criterion_order._scores import Scores
from judgesheet.axis import reversal
from judgesheet.axis.estimate import maker
from judgesheet.records import Estimate

_estimate = maker("criterion_order")


def order_change_rate(scores: Scores) -> Iterator[Estimate]:
    """How often a criterion's score differs when the criteria are listed in another order.

    All pairs of single readings of a response, over all criteria and for each. Contains the judge's
    own noise: compare `repeat_change_rate`. Interval over prompts.
    """
    yield from _changes("order_change_rate", "differs under another order", scores, "different")


def repeat_change_rate(scores: Scores) -> Iterator[Estimate]:
    """How often a criterion's score differs when the same order is read again: the noise.

    Temperature, batching and prefix caching all enter here. An effect of the order is what exceeds
    it.
    """
    yield from _changes("repeat_change_rate", "differs under the same order", scores, "same")


def _changes(name: str, what: str, scores: Scores, which: reversal.Which) -> Iterator[Estimate]:
    pooled = reversal.change_rate(*scores.rows(), which)
    yield pooled.estimate(_estimate, name, f"A criterion's score {what}")
    for index, criterion in enumerate(scores.names):
        found = reversal.change_rate(*scores.rows(index), which)
        yield found.estimate(
            _estimate, name, f"The score of {criterion} {what}", {"criterion": criterion}
        )


def excess_change_rate(scores: Scores) -> Estimate:
    """Changes of score that the order causes, beyond noise.

    Per prompt, `order_change_rate` minus `repeat_change_rate`; prompt-level t interval. It sees
    every effect of the order, also one that favours no position on average.
    """
    found = reversal.excess_change_rate(*scores.rows())
    return found.estimate(
        _estimate, "excess_change_rate", "Changes of a criterion's score caused by the order"
    )


def order_flip_rate(scores: Scores) -> Estimate:
    """How often single readings under two orders disagree on a prompt's best response.

    A response's score is the mean over criteria. Ties are resolved as independent uniform picks
    from the two top sets. Contains noise: compare `repeat_flip_rate`.
    """
    found = reversal.flip_rate(scores.contest, "different")
    return found.estimate(
        _estimate, "order_flip_rate", "Best response differs under another order of criteria"
    )


def repeat_flip_rate(scores: Scores) -> Estimate:
    """How often two single readings under the same order disagree on a prompt's best response.

    Noise and ties alone.
    """
    found = reversal.flip_rate(scores.contest, "same")
    return found.estimate(
        _estimate, "repeat_flip_rate", "Best response differs under the same order of criteria"
    )


def excess_flip_rate(scores: Scores) -> Estimate:
    """Flips of the best response that the order of the criteria causes, beyond noise and ties.

    Per prompt, `order_flip_rate` minus `repeat_flip_rate`; prompt-level t interval. It needs at
    least two reads of some orders.
    """
    found = reversal.excess_flip_rate(scores.contest)
    return found.estimate(
        _estimate, "excess_flip_rate", "Flips of the best response caused by the order of criteria"
    )


def top_tie_rate(scores: Scores) -> Estimate:
    """How often several responses of a prompt share the best mean over criteria in one reading.

    Where it is high the judge cannot rank: whichever response is picked, is picked by chance.
    """
    found = reversal.tie_rate(scores.contest)
    return found.estimate(_estimate, "top_tie_rate", "Several responses share the best score")


def kendall_tau(scores: Scores) -> Iterator[Estimate]:
    """Agreement of a prompt's ranking between two arms (tau-b; 1 the same ranking, 0 unrelated).

    Mean over prompts of Kendall's tau-b between the responses' mean scores (as Xu et al., table 7).
    Without a dimension: balanced against fixed. Prompts with an arm all tied have no tau and are
    left out; the note counts them.
    """
    for one, other, dims in _arm_pairs(scores):
        label = f"Kendall's tau between rankings, {one} against {other}"
        found = reversal.tau(scores.contest, one, other)
        yield found.estimate(_estimate, "kendall_tau", label, dims)


def top1_flip_rate(scores: Scores) -> Iterator[Estimate]:
    """Share of prompts whose best response changes between two arms (as Xu et al., table 7).

    Expected-tie rule: the probability that independent uniform picks from the two top sets differ.
    The paper takes the first of tied responses; that figure stands beside it. Noise and ties alone
    flip winners too: the effect of the order is `excess_flip_rate`.
    """
    for one, other, dims in _arm_pairs(scores):
        label = f"Best response changes, {one} against {other} order of criteria"
        found = reversal.top1_flip(scores.contest, one, other)
        yield found.estimate(_estimate, "top1_flip_rate", label, dims)


def _arm_pairs(scores: Scores) -> Iterator[tuple[str, str, dict[str, object]]]:
    """Balanced against fixed, which carries no dimension, then against random."""
    for number, other in enumerate(("fixed", "random")):
        if other in scores.arms and other != scores.base:
            dims: dict[str, object] = {"arms": f"{scores.base}-{other}"} if number else {}
            yield scores.base, other, dims
