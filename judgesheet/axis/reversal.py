"""How often scores and winners change when the order does, for every axis that gives scores.

Noise and ties alone flip winners, so every rate of change across orders stands beside the same rate
between repeats of one order. The rooms label and explain these figures.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from judgesheet.axis.arrays import Flags, Floats, Ints
from judgesheet.axis.figure import Draft, absent
from judgesheet.reasons import Reason
from judgesheet.records import PaperCompatible
from judgesheet.stats import flips as stats
from judgesheet.stats.interval import (
    Interval,
    by_cluster,
    cluster_rate,
    mean_t,
)

Which = Literal["different", "same"]
NO_RANKING = Reason("no_ranking", "no prompt has several candidates that were all read")
NO_REPEAT = Reason(
    "no_repeat",
    "no order was read twice, so noise is not known (an order is read twice by --repeats 2 in a "
    "probe, by `repeat` in a record)",
)
NO_ORDERS = Reason("no_orders", "no item was read under two orders")
EITHER_WAY = -1.0, 1.0
"""Range of a difference of two rates, and of tau."""
ALL_TIED = Reason("all_tied", "every prompt is all tied in one of the arms, or has one candidate")


@dataclass(frozen=True, slots=True)
class Contest:
    """Scores of items that compete within their prompt.

    `reads` has shape (items, orders, repeats), NaN where unreadable or not asked; `means` holds
    the mean score per item of each arm; `cluster` gives each item's prompt as a code from 0.
    """

    reads: Floats
    means: Mapping[str, Floats]
    cluster: Ints

    def against(self, base: str) -> Iterator[tuple[str, Mapping[str, object]]]:
        """The other arms, with the dimension of what compares them with `base`: fixed has none."""
        for other, dims in (("fixed", {}), ("random", {"arms": f"{base}-random"})):
            if other in self.means and other != base:
                yield other, dims


def change_rate(
    reads: Floats,
    cluster: Ints,
    which: Which,
    label: str,
    dims: Mapping[str, object] | None = None,
) -> Draft:
    """How often two readings of a row (rows, orders, repeats) give different scores."""
    per_row = _of(_changes(reads), which)
    share = pair_rate(per_row, call_pairs(~np.isnan(reads), which), cluster)
    why = NO_REPEAT if which == "same" else NO_ORDERS
    return Draft(label, share, dims or {}, n=_known(per_row)).or_absent(why)


def excess_change_rate(
    reads: Floats, cluster: Ints, label: str, dims: Mapping[str, object] | None = None
) -> Draft:
    """Changes under another order less changes under the same one, mean over prompts."""
    changes = _changes(reads)
    sums, sizes = by_cluster(changes.excess, cluster)
    mean = mean_t(sums[sizes > 0] / sizes[sizes > 0], EITHER_WAY)
    why = NO_ORDERS if np.isnan(changes.different).all() else NO_REPEAT
    return Draft(label, mean, dims or {}, n=_known(changes.excess)).or_absent(why)


def _changes(reads: Floats) -> stats.CallFlips:
    values, codes = np.unique(reads[~np.isnan(reads)], return_inverse=True)
    choices = np.full(reads.shape, np.nan)
    choices[~np.isnan(reads)] = codes.reshape(-1) + 1
    return stats.call_flips(stats.one_hot(choices, max(1, values.size)))


def flip_rate(contest: Contest, which: Which, label: str) -> Draft:
    """How often two single readings disagree on a prompt's best candidate."""
    per_prompt = _of(_call_flips(contest), which)
    complete = [_all(~np.isnan(contest.reads[table])) for table in _tables(contest.cluster)]
    pairs = _joined(call_pairs(answered, which) for answered in complete)
    share = pair_rate(per_prompt, pairs, np.arange(per_prompt.size))
    why = NO_REPEAT if which == "same" else NO_RANKING
    return Draft(label, share, n=_known(per_prompt)).or_absent(why)


def excess_flip_rate(contest: Contest, label: str) -> Draft:
    """Flips under another order less flips under the same one, mean over prompts."""
    flips = _call_flips(contest)
    known = flips.excess[~np.isnan(flips.excess)]
    why = NO_RANKING if np.isnan(flips.different).all() else NO_REPEAT
    return Draft(label, mean_t(known, EITHER_WAY), n=known.size).or_absent(why)


def tie_rate(contest: Contest, label: str) -> Draft:
    """How often several candidates of a prompt share the best score of one reading."""
    ties, readings = [], []
    for table in _tables(contest.cluster):
        picks = stats.pick(np.moveaxis(contest.reads[table], 1, -1))
        known = ~np.isnan(picks).any(axis=-1)
        shared = known & (np.nan_to_num(picks).max(axis=-1) < 1)
        ties.append(shared.sum(axis=(1, 2)).astype(float))
        readings.append(known.sum(axis=(1, 2)).astype(float))
    total = _joined(iter(readings))
    share = cluster_rate(_joined(iter(ties)), total)
    return Draft(label, share, n=int(total.sum())).or_absent(NO_RANKING)


def kendall_tau(contest: Contest, base: str = "balanced") -> Iterator[Draft]:
    """Kendall's tau-b between the rankings of the base arm and another, mean over prompts."""
    for other, dims in contest.against(base):
        pairs = _arm_pairs(contest, base, other)
        taus = _joined(stats.kendall_tau_b(first, second) for first, second in pairs)
        known = taus[~np.isnan(taus)]
        tied = taus.size - known.size
        draft = Draft(
            f"Kendall's tau between rankings, {base} against {other}",
            mean_t(known, EITHER_WAY),
            dims,
            n=known.size,
            note=f"{tied} prompts left out: all tied or unread in one arm" if tied else "",
        )
        yield draft.or_absent(ALL_TIED)


def top1_flip_rate(contest: Contest, base: str = "balanced") -> Iterator[Draft]:
    """Share of prompts whose best candidate differs between two arms, expected-tie rule."""
    for other, dims in contest.against(base):
        pairs = list(_arm_pairs(contest, base, other))
        flip = _joined(stats.top1_flip(stats.pick(a), stats.pick(b)) for a, b in pairs)
        naive = _joined(stats.top1_flip_first_index(a, b) for a, b in pairs)
        known, label = flip[~np.isnan(flip)], f"Best response changes, {base} against {other}"
        if not known.size:
            yield absent(label, NO_RANKING, dims)
            continue
        how = "the first of tied candidates wins (Xu et al.)"
        yield Draft(
            label,
            cluster_rate(known, np.ones_like(known)),
            dims,
            n=known.size,
            paper=PaperCompatible(float(np.nanmean(naive)), None, None, how),
        )


def _of(flips: stats.CallFlips, which: Which) -> Floats:
    return flips.same if which == "same" else flips.different


def _known(rates: Floats) -> int:
    return int((~np.isnan(rates)).sum())


def call_pairs(answered: Flags, which: Which) -> Floats:
    """Pairs of answered calls per row of (rows, orders, repeats), under two orders or one."""
    per_order: Floats = answered.sum(axis=2).astype(np.float64)
    twice: Floats = (
        (per_order * (per_order - 1)).sum(axis=1)
        if which == "same"
        else per_order.sum(axis=1) ** 2 - (per_order**2).sum(axis=1)
    )
    return twice / 2


def pair_rate(rates: Floats, pairs: Floats, cluster: Ints) -> Interval:
    """A rate over pairs of calls, each row with its number of pairs.

    The pairs of one prompt share calls and so depend on each other: the interval takes that from
    the spread between prompts.
    """
    known = ~np.isnan(rates)
    differing, _ = by_cluster((rates * pairs)[known], cluster[known])
    trials, _ = by_cluster(pairs[known], cluster[known])
    return cluster_rate(differing, trials)


def _all(answered: Flags) -> Flags:
    """Readings in which every candidate (axis 1) was answered."""
    complete: Flags = np.all(answered, axis=1)
    return complete


def _call_flips(contest: Contest) -> stats.CallFlips:
    """Flips of the best candidate between single readings, one entry per prompt."""
    tables = [
        stats.call_flips(stats.pick(np.moveaxis(contest.reads[table], 1, -1)))
        for table in _tables(contest.cluster)
    ]
    return stats.CallFlips(
        different=_joined(flips.different for flips in tables),
        same=_joined(flips.same for flips in tables),
        excess=_joined(flips.excess for flips in tables),
    )


def _arm_pairs(contest: Contest, base: str, other: str) -> Iterator[tuple[Floats, Floats]]:
    """Mean scores (prompts, candidates) in two arms, a pair per number of candidates."""
    first, second = contest.means[base], contest.means[other]
    return ((first[table], second[table]) for table in _tables(contest.cluster))


def _joined(parts: Iterator[Floats]) -> Floats:
    return np.concatenate([np.empty(0), *parts])


def _tables(cluster: Ints) -> list[Ints]:
    """Item indices, shape (prompts, candidates): one table per number of candidates above one."""
    sizes = np.bincount(cluster)[cluster] if cluster.size else cluster
    by_stimulus = np.argsort(cluster, kind="stable")
    return [
        by_stimulus[sizes[by_stimulus] == size].reshape(-1, size)
        for size in np.unique(sizes)
        if size > 1
    ]
