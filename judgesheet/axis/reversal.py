"""How often scores and winners change when the order does, for every axis that gives scores.

Noise and ties alone flip winners, so every rate of change across orders is paired with the same
rate between repeats of one order, and the headline is their difference (Xu et al., section 5.6).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from judgesheet.axis.arrays import Flags, Floats, Ints
from judgesheet.axis.figure import Figures, UnkeyedEstimate, absent
from judgesheet.axis.scored import FIXED_TOO, PromptRanking, Rows, Scored
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
NO_RANKING = Reason("no_ranking", "no prompt has several candidates that were all read")
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
def order_flip_rate(scores: Scored) -> UnkeyedEstimate:
    """How often single readings under two orders disagree on the best response; ties at random.

    A response's score is the mean over its criteria. Ties are resolved as independent uniform picks
    from the two top sets: a judge that is blind to the order and gives k responses the same score
    flips in 1 - 1/k of cases. It includes noise, too: limit `excess_flip_rate`, not this.

    n counts readings, each of all responses of a prompt, on the prompts that were read under two
    orders.
    """
    label = f"Best response differs under another {scores.contest.order}, ties broken at random"
    return _flip_rate(scores.contest, "different", label)


@figure("share", symbol="F_rep", headline=221)
def repeat_flip_rate(scores: Scored) -> UnkeyedEstimate:
    """How often two single readings under the same order disagree on a prompt's best response.

    Noise and ties alone; a judge without any order effect shows 12 to 38 % on one rubric.

    n counts all readings, each of all responses of a prompt, on the prompts of which some order was
    read twice, those under their other orders too.
    """
    label = f"Best response differs under the same {scores.contest.order}, ties broken at random"
    return _flip_rate(scores.contest, "same", label)


@figure("difference", symbol="ΔF", null=0.0, headline=30, sweep=3)
def excess_flip_rate(scores: Scored) -> UnkeyedEstimate:
    """Flips of the best response that the order causes, beyond noise and ties.

    Per prompt, `order_flip_rate` minus `repeat_flip_rate`; t interval over prompts, which ends at 0
    (or at a value that noise put below 0), as repeats agree at least as often as orders. It needs
    at least two reads of some orders. A judge that hardly ever has a single best response cannot
    flip it: that is no merit, and no figure.

    n counts readings, each of all responses of a prompt, on the prompts that were read under two
    orders, one of them twice.
    """
    label = f"Flips of the best response caused by the {scores.contest.order}"
    if not ranks(*_ties(scores.contest)):
        return absent(label, HARDLY_RANKS)
    flips = _call_flips(scores.contest)
    mean = mean_excess(flips.excess, _clusters(scores.contest), flips.most_excess)
    why = NO_RANKING if np.isnan(flips.different).all() else NO_REPEAT
    return UnkeyedEstimate(label, mean, n=flips.n("excess")).or_absent(why)


def _flip_rate(contest: PromptRanking, which: Which, label: str) -> UnkeyedEstimate:
    flips, has_winners = _call_flips(contest), np.unique(contest.prompt).size < contest.prompt.size
    why = NO_REPEAT if which == "same" and has_winners else NO_RANKING
    share = flips.rate(which, _clusters(contest))
    estimate = UnkeyedEstimate(label, share, n=flips.n(which), conditions=TIES_AT_RANDOM)
    return estimate.or_absent(why)


@figure("share", symbol="T", headline=180)
def top_tie_rate(scores: Scored) -> UnkeyedEstimate:
    """How often several responses of a prompt share the best score of one reading.

    Where it is high the judge cannot rank: the response that is picked is picked by chance. Single
    readings under the balanced orders; interval over prompts.

    n counts readings, each of all responses of a prompt.
    """
    label, (ties, readings) = "Several responses share the best score", _ties(scores.contest)
    share = pooled_rate(ties, readings, _clusters(scores.contest))
    return UnkeyedEstimate(label, share, n=int(readings.sum())).or_absent(NO_RANKING)


def _ties(contest: PromptRanking) -> tuple[Floats, Floats]:
    """Per prompt, the readings in which several responses share the best score, and all."""
    ties, readings = [], []
    for table in _tables(contest.prompt):
        picks = stats.pick(np.moveaxis(contest.reads[table], 1, -1))
        known = ~np.isnan(picks).any(axis=-1)
        # A uniform pick of less than 1 is one of several.
        shared = known & (np.nan_to_num(picks).max(axis=-1) < 1)
        ties.append(shared.sum(axis=(1, 2)).astype(float))
        readings.append(known.sum(axis=(1, 2)).astype(float))
    return _joined(iter(ties)), _joined(iter(readings))


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
            cluster_rate(*by_cluster(flip, _clusters(contest))),
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
            mean_t(taus, TAU, _clusters(contest)),
            dims,
            n=taus.size - tied,
            note=f"{left} left out: all tied or unread under some orders" if tied else "",
        )
        yield estimate.or_absent(ALL_TIED)


def _call_flips(contest: PromptRanking) -> stats.CallFlips:
    """Flips of the best candidate between single readings, one entry per prompt."""
    return stats.CallFlips.joined(
        stats.call_flips(stats.pick(np.moveaxis(contest.reads[table], 1, -1)))
        for table in _tables(contest.prompt)
    )


def _arm_pairs(contest: PromptRanking, other: str) -> Iterator[tuple[Floats, Floats]]:
    """Mean scores (prompts, candidates) in the base arm and another, by number of candidates."""
    first, second = contest.means[contest.base], contest.means[other]
    return ((first[table], second[table]) for table in _tables(contest.prompt))


def _clusters(contest: PromptRanking) -> Ints:
    """The cluster of each prompt of `_tables`, in their sequence."""
    first = [contest.cluster[table[:, 0]] for table in _tables(contest.prompt)]
    return np.concatenate([np.empty(0, dtype=np.int64), *first])


def _joined(parts: Iterator[Floats]) -> Floats:
    return np.concatenate([np.empty(0), *parts])


def _tables(prompt: Ints) -> list[Ints]:
    """Item indices, shape (prompts, candidates): one table per number of candidates above one."""
    sizes = np.bincount(prompt)[prompt] if prompt.size else prompt
    by_prompt = np.argsort(prompt, kind="stable")
    return [
        by_prompt[sizes[by_prompt] == size].reshape(-1, size)
        for size in np.unique(sizes)
        if size > 1
    ]
