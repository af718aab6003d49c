"""Does the order decide who wins? (Xu et al., section 5.6)

Noise and ties alone flip winners, so every rate of change across orders stands beside the same rate
between repeats of one order, and the headline is their difference.
"""

from collections.abc import Iterator

from judgesheet.axes.score_order._scores import Scores
from judgesheet.axis import reversal
from judgesheet.axis.estimate import maker
from judgesheet.records import Estimate

_estimate = maker("score_order")


def order_change_rate(scores: Scores) -> Estimate:
    """How often two readings of one item under different orders give different scores.

    All pairs of single calls of the balanced arm. Contains the judge's own noise: compare
    `repeat_change_rate`. Interval over stimuli.
    """
    found = reversal.change_rate(scores.grid.reads, scores.grid.cluster, "different")
    return found.estimate(_estimate, "order_change_rate", "Score differs under another order")


def repeat_change_rate(scores: Scores) -> Estimate:
    """How often two readings of one item under the same order give different scores: the noise.

    Temperature, batching and prefix caching all enter here. An effect of the order is what exceeds
    it.
    """
    found = reversal.change_rate(scores.grid.reads, scores.grid.cluster, "same")
    return found.estimate(_estimate, "repeat_change_rate", "Score differs under the same order")


def order_flip_rate(scores: Scores) -> Estimate:
    """How often single readings under two orders disagree on a prompt's best candidate.

    Ties are resolved as independent uniform picks from the two top sets. Contains noise: compare
    `repeat_flip_rate`.
    """
    found = reversal.flip_rate(_contest(scores), "different")
    return found.estimate(_estimate, "order_flip_rate", "Best response differs under another order")


def repeat_flip_rate(scores: Scores) -> Estimate:
    """How often two single readings under the same order disagree on a prompt's best candidate.

    Noise and ties alone; a judge without any order effect shows 12 to 38 %.
    """
    found = reversal.flip_rate(_contest(scores), "same")
    return found.estimate(
        _estimate, "repeat_flip_rate", "Best response differs under the same order"
    )


def excess_flip_rate(scores: Scores) -> Estimate:
    """Flips of the best candidate that the order of the rubric causes, beyond noise and ties.

    Per prompt, `order_flip_rate` minus `repeat_flip_rate`; prompt-level t interval. It needs at
    least two reads of some orders.
    """
    found = reversal.excess_flip_rate(_contest(scores))
    return found.estimate(
        _estimate, "excess_flip_rate", "Flips of the best response caused by the order"
    )


def top_tie_rate(scores: Scores) -> Estimate:
    """How often several responses of a prompt share the best score of one reading.

    Where it is high the judge cannot rank: whichever response is picked, is picked by chance.
    Single readings of the balanced arm; interval over prompts.
    """
    found = reversal.tie_rate(_contest(scores))
    return found.estimate(_estimate, "top_tie_rate", "Several responses share the best score")


def kendall_tau(scores: Scores) -> Iterator[Estimate]:
    """Agreement of a prompt's ranking between two arms (tau-b; 1 the same ranking, 0 unrelated).

    Mean over prompts of Kendall's tau-b between the candidates' mean scores (Xu et al., table 7).
    Without a dimension: balanced against fixed. Prompts with an arm all tied have no tau and are
    left out; the note counts them.
    """
    for one, other, dims in _arm_pairs(scores):
        label = f"Kendall's tau between rankings, {one} against {other}"
        found = reversal.tau(_contest(scores), one, other)
        yield found.estimate(_estimate, "kendall_tau", label, dims)


def top1_flip_rate(scores: Scores) -> Iterator[Estimate]:
    """Share of prompts whose best candidate changes between two arms (Xu et al., table 7).

    Expected-tie rule: the probability that independent uniform picks from the two top sets differ.
    The paper takes the first of tied candidates; that figure stands beside it. Noise and ties alone
    give 12 to 38 %: the effect of the order is `excess_flip_rate`.
    """
    for one, other, dims in _arm_pairs(scores):
        label = f"Best response changes, {one} against {other}"
        found = reversal.top1_flip(_contest(scores), one, other)
        yield found.estimate(_estimate, "top1_flip_rate", label, dims)


def _contest(scores: Scores) -> reversal.Contest:
    means = {arm: scores.means(arm) for arm in scores.arms}
    return reversal.Contest(scores.grid.reads, means, scores.grid.cluster)


def _arm_pairs(scores: Scores) -> Iterator[tuple[str, str, dict[str, object]]]:
    """Balanced against fixed, which carries no dimension, then against random."""
    if "fixed" in scores.arms:
        yield "balanced", "fixed", {}
    if "random" in scores.arms:
        yield "balanced", "random", {"arms": "balanced-random"}
