"""How often scores and winners change when the order does, for every axis that gives scores.

Noise and ties alone flip winners, so every rate of change across orders is paired with the same
rate between repeats of one order, and the headline is their difference (Xu et al., section 5.6).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from judgesheet.axis.arrays import Flags, Floats
from judgesheet.axis.figure import Figures, UnkeyedEstimate, absent
from judgesheet.axis.scored import (
    FIXED_TOO,
    NO_RANKING,
    Choosing,
    PromptRanking,
    Rows,
    Scored,
    Winners,
)
from judgesheet.base.digits import counted
from judgesheet.base.missing_reasons import Reason
from judgesheet.base.records import PaperCompatible
from judgesheet.stats import flips as stats
from judgesheet.stats.flips import Which
from judgesheet.stats.interval import (
    at_most,
    by_cluster,
    by_label,
    cluster_rate,
    mean_excess,
    mean_t,
    pooled_rate,
)
from judgesheet.stats.reads import ratio

# Figures of single readings, and those of means by arm.
figure = Figures("", passes_blind=True, reads="repeats")
of_means = Figures("", passes_blind=True, missing=FIXED_TOO)
TAU = -1.0, 1.0
"""Range of Kendall's tau."""
NO_REPEAT = Reason(
    "no_repeat",
    "no order was read twice, so noise is not known (an order is read twice by --repeats 2 in a "
    "probe, by `repeat` in a record)",
)
HARDLY_RANKS = Reason(
    "hardly_ranks",
    "not applicable: in nearly every reading several responses share the best score, so no winner "
    "could change",
)
LEAST_RANKED = 0.1
"""Share of readings with a single best response below which flips of it say nothing."""


@dataclass(frozen=True, slots=True)
class TiesAtRandom:
    """Conditions of a rate of flips: of responses that share the best score any one is the best."""

    ties: Literal["random"] = "random"

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        return "ties broken at random"


TIES_AT_RANDOM = TiesAtRandom()
NO_ORDERS = Reason("no_orders", "no item was read under two orders")
ALL_TIED = Reason(
    "all_tied", "every prompt is all tied under some of the orders, or has one candidate"
)


def _change_rate(rows: Rows, which: Which, label: str) -> UnkeyedEstimate:
    changes, most = _changes(rows), None
    if which == "different" and rows.scale:
        most = most_changes(~np.isnan(rows.reads), rows.scale)
    share, n = at_most(changes.rate(which, rows.cluster), most), changes.n(which)
    why = NO_REPEAT if which == "same" else NO_ORDERS
    return UnkeyedEstimate(label, share, rows.dims, n=n, ceiling=most).or_absent(why)


def most_changes(answered: Flags, scale: int) -> float | None:
    """The greatest share of pairs under two orders that can have different scores.

    None where every pair can differ. Shape of `answered`: (rows, orders, repeats).
    """
    per_order = answered.sum(axis=2)
    pairs = (per_order.sum(axis=1) ** 2 - (per_order**2).sum(axis=1)).sum() / 2
    alike = stats.least_alike(per_order, scale).sum()
    return float(1 - alike / pairs) if pairs and alike else None


def _changes(rows: Rows) -> stats.CallFlips:
    reads = rows.reads
    values, codes = np.unique(reads[~np.isnan(reads)], return_inverse=True)
    choices = np.full(reads.shape, np.nan)
    choices[~np.isnan(reads)] = codes.reshape(-1) + 1
    return stats.call_flips(stats.one_hot(choices, max(1, values.size)), rows.scale or 0)


@figure("share", symbol="OCR", noise="repeat_change_rate", headline=20, sweep=2)
def order_change_rate(scores: Scored) -> Iterator[UnkeyedEstimate]:
    """How often two readings of one item under different orders give different scores.

    All pairs of single calls that differ only in the order, over all criteria and for each if there
    are several. It includes the judge's own noise: compare `repeat_change_rate`. Interval over
    stimuli.

    n counts the calls on all items that were read under two orders.
    """
    for rows in scores.rows:
        yield _change_rate(rows, "different", f"{rows.subject} differs under another order")


@figure("share", symbol="RCR", headline=220)
def repeat_change_rate(scores: Scored) -> Iterator[UnkeyedEstimate]:
    """How often two readings of one item under the same order give different scores: the noise.

    Temperature, batching and prefix caching all contribute to it. Only changes beyond it are an
    effect of the order.

    n counts all calls on the items of which some order was asked twice, the calls under their other
    orders too.
    """
    for rows in scores.rows:
        yield _change_rate(rows, "same", f"{rows.subject} differs under the same order")


@figure("difference", symbol="ΔC", null=0.0, headline=25)
def excess_change_rate(scores: Scored) -> UnkeyedEstimate:
    """Changes of score that the order causes, beyond noise.

    Per prompt, `order_change_rate` minus `repeat_change_rate` over all criteria; t interval over
    prompts, which ends at 0 (or at a value that noise put below 0), as repeats agree at least as
    often as orders. It detects every effect of the order, also one that favours no place on
    average, or another on every prompt.

    n counts the calls on all items that were read under two orders, one of them twice.
    """
    rows = next(scores.rows)
    changes = _changes(rows)
    prompt = scores.contest.prompt[rows.item]
    # Means per prompt first: a prompt with more items weighs no more than another.
    means = ratio(*by_label(changes.excess, prompt))
    clusters = rows.cluster[np.unique(prompt, return_index=True)[1]]
    mean = mean_excess(means, clusters, changes.most_excess)
    why = NO_ORDERS if np.isnan(changes.different).all() else NO_REPEAT
    label, calls = f"{rows.subject} changes beyond noise", changes.n("excess")
    return UnkeyedEstimate(label, mean, rows.dims, n=calls).or_absent(why)


@figure("share", symbol="F", noise="repeat_flip_rate", headline=40)
def order_flip_rate(choices: Choosing) -> UnkeyedEstimate:
    """How often single calls under two orders disagree on the best candidate; ties at random.

    A response's score is the mean over its criteria. Ties are resolved as independent uniform picks
    from the two top sets: a judge that is blind to the order and gives k candidates the same score
    flips in 1 - 1/k of cases. It includes noise, too: limit `excess_flip_rate`, not this.

    n counts calls, or readings of all responses of a prompt, on the prompts that were read under
    two orders.
    """
    return _flip_rate(choices.winners, "different", "another")


@figure("share", symbol="F_rep", headline=221)
def repeat_flip_rate(choices: Choosing) -> UnkeyedEstimate:
    """How often two single calls under the same order disagree on the best candidate: the noise.

    Noise and ties alone; a judge without any order effect shows 12 to 38 % on one rubric.

    n counts all calls, or readings of all responses of a prompt, on the prompts of which some order
    was read twice, those under their other orders too.
    """
    return _flip_rate(choices.winners, "same", "the same")


@figure("difference", symbol="ΔF", null=0.0, headline=30, sweep=3)
def excess_flip_rate(choices: Choosing) -> UnkeyedEstimate:
    """Flips of the best candidate that the order causes, beyond noise and ties.

    Per prompt, `order_flip_rate` minus `repeat_flip_rate`; t interval over prompts, which ends at 0
    (or at a value that noise put below 0), as repeats agree at least as often as orders. It needs
    at least two reads of some orders. A judge that hardly ever has a single best candidate cannot
    flip it: that is no merit, and no figure.

    n counts calls, or readings of all responses of a prompt, on the prompts that were read under
    two orders, one of them twice.
    """
    winners = choices.winners
    label = f"Flips of the best {winners.candidate} caused by the {winners.order}"
    if not ranks(*winners.ties):
        return absent(label, HARDLY_RANKS)
    flips = winners.flips
    mean = mean_excess(flips.excess, winners.cluster, flips.most_excess)
    why = winners.nothing if np.isnan(flips.different).all() else NO_REPEAT
    return UnkeyedEstimate(label, mean, n=flips.n("excess")).or_absent(why)


def _flip_rate(winners: Winners, which: Which, under: str) -> UnkeyedEstimate:
    label = f"Best {winners.candidate} differs under {under} {winners.order}, ties broken at random"
    why = NO_REPEAT if which == "same" and winners.ties[1].any() else winners.nothing
    share, n = winners.flips.rate(which, winners.cluster), winners.flips.n(which)
    return UnkeyedEstimate(label, share, n=n, conditions=TIES_AT_RANDOM).or_absent(why)


@figure("share", symbol="T", headline=180)
def top_tie_rate(choices: Choosing) -> UnkeyedEstimate:
    """How often several candidates share the best score of a single call.

    Where it is high the judge cannot rank: the candidate that is picked is picked by chance. Single
    readings under the balanced orders; interval over prompts.

    n counts calls, or readings of all responses of a prompt.
    """
    winners = choices.winners
    label, (ties, calls) = f"Several {winners.candidate}s share the best score", winners.ties
    share = pooled_rate(ties, calls, winners.cluster)
    return UnkeyedEstimate(label, share, n=int(calls.sum())).or_absent(winners.nothing)


def ranks(ties: Floats, readings: Floats) -> bool:
    """Whether enough readings have a single best response, on more than one prompt.

    `ties` and `readings` are counts per prompt. True where nothing was read at all: then there are
    other reasons for a missing figure.
    """
    single: Floats = readings - ties
    # On one prompt alone nothing could be said of others.
    enough = single.sum() >= LEAST_RANKED * readings.sum() and (single > 0).sum() > 1
    return bool(enough) or not readings.sum()


@of_means("share", symbol="F_bal", headline=170)
def top1_flip_rate(scores: Scored) -> Iterator[UnkeyedEstimate]:
    """Share of prompts whose best response changes from balanced to other orders (Xu, table 7).

    Expected-tie rule: the probability that independent uniform picks from the two top sets differ.
    The paper takes the first of tied responses; that figure is given beside it. Noise and ties
    alone flip winners too (12 to 38 % on one rubric): the effect of the order is
    `excess_flip_rate`.
    """
    contest = scores.contest
    for other, dims in contest.against:
        pairs = list(_arm_pairs(contest, other))
        flip = _joined(stats.top1_flip(stats.pick(a), stats.pick(b)) for a, b in pairs)
        naive = _joined(stats.top1_flip_first_index(a, b) for a, b in pairs)
        known = int((~np.isnan(flip)).sum())
        label = f"Best response changes, {contest.base} against {other}"
        if not known:
            yield absent(label, NO_RANKING, dims)
            continue
        how = "the first of tied candidates wins (Xu et al.)"
        yield UnkeyedEstimate(
            label,
            cluster_rate(*by_cluster(flip, contest.of_prompts)),
            dims,
            n=known,
            paper=PaperCompatible(float(np.nanmean(naive)), None, None, how),
        )


@of_means("tau-b", symbol="τ", null=1.0, better="higher", headline=120)
def kendall_tau(scores: Scored) -> Iterator[UnkeyedEstimate]:
    """Agreement of rankings under balanced and other orders (tau-b; 1 the same, 0 unrelated).

    Mean over prompts of Kendall's tau-b between the responses' mean scores (Xu et al., table 7).
    Without a dimension: balanced against fixed. Prompts with an arm all tied have no tau and are
    left out; the note counts them.
    """
    contest = scores.contest
    for other, dims in contest.against:
        pairs = _arm_pairs(contest, other)
        taus = _joined(stats.kendall_tau_b(first, second) for first, second in pairs)
        tied = int(np.isnan(taus).sum())
        left = counted(tied, "prompt")
        estimate = UnkeyedEstimate(
            f"Kendall's tau between rankings, {contest.base} against {other}",
            mean_t(taus, TAU, contest.of_prompts),
            dims,
            n=taus.size - tied,
            note=f"{left} left out: all tied or unread under some orders" if tied else "",
        )
        yield estimate.or_absent(ALL_TIED)


def _arm_pairs(contest: PromptRanking, other: str) -> Iterator[tuple[Floats, Floats]]:
    """Mean scores (prompts, candidates) in the base arm and another, by number of candidates."""
    first, second = contest.means[contest.base], contest.means[other]
    return ((first[table], second[table]) for table in contest.tables)


def _joined(parts: Iterator[Floats]) -> Floats:
    return np.concatenate([np.empty(0), *parts])
