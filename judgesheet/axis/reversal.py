"""How often scores and winners change when the order does, for every axis that gives scores.

Noise and ties alone flip winners, so every rate of change across orders stands beside the same rate
between repeats of one order. The rooms name, label and explain these figures; here they are
computed once.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from judgesheet.axis.figure import Draft
from judgesheet.reasons import Reason
from judgesheet.records import Estimate, PaperCompatible
from judgesheet.stats import flips as stats
from judgesheet.stats.interval import (
    Interval,
    by_cluster,
    cluster_rate,
    mean_t,
    missing,
    unseen_share,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

Which = Literal["different", "same"]
FEW_PROMPTS = 6
"""With fewer prompts their spread is not believed: a t interval can close in by luck."""
NO_RANKING = Reason("no_ranking", "no prompt has several candidates that were all read")
NO_REPEAT = Reason(
    "no_repeat",
    "no order was read twice, so noise is not known (an order is read twice by --repeats 2 in a "
    "probe, by `repeat` in a record)",
)
NO_ORDERS = Reason("no_orders", "no item was read under two orders")
ALL_TIED = Reason("all_tied", "every prompt is all tied in one of the arms, or has one candidate")


@dataclass(frozen=True, slots=True)
class Contest:
    """Scores of items that compete within their prompt.

    `reads` has shape (items, orders, repeats), NaN where unreadable or not asked; `means` holds
    the mean score per item of each arm; `cluster` gives each item's prompt as a code from 0.
    """

    reads: "Floats"
    means: Mapping[str, "Floats"]
    cluster: "Ints"


@dataclass(frozen=True, slots=True)
class Found:
    """A rate with its interval (None where there is none, and `missing` says why)."""

    interval: Interval | None
    unit: str
    n: int
    missing: Reason
    note: str = ""
    paper: PaperCompatible | None = None

    def draft(self, label: str, dims: Mapping[str, object] | None = None) -> Draft:
        """The figure under this label."""
        if self.interval is None:
            return Draft(label, missing(self.missing), dims or {}, unit=self.unit)
        return Draft(
            label,
            self.interval,
            dims or {},
            n=self.n,
            note=self.note,
            unit=self.unit,
            paper=self.paper,
        )

    def estimate(
        self,
        make: Callable[..., Estimate],
        name: str,
        label: str,
        dims: dict[str, object] | None = None,
    ) -> Estimate:
        """The figure under a name; `make` is the axis's maker of estimates."""
        found = self.interval
        if found is None:
            return make(name, label, None, dims, unit=self.unit, note=self.missing.sentence)
        return make(
            name,
            label,
            found.value,
            dims,
            low=found.low,
            high=found.high,
            unit=self.unit,
            n=self.n,
            clusters=found.clusters,
            method=found.method,
            note="; ".join(part for part in (self.note, found.note) if part),
            paper_compatible=self.paper,
        )


def change_rate(reads: "Floats", cluster: "Ints", which: Which) -> Found:
    """How often two readings of a row (rows, orders, repeats) give different scores."""
    per_row: Floats = getattr(_changes(reads), which)
    share = _pair_rate(per_row, _pairs(~np.isnan(reads), which), cluster)
    missing = NO_REPEAT if which == "same" else NO_ORDERS
    return Found(share, "share", _known(per_row), missing)


def excess_change_rate(reads: "Floats", cluster: "Ints") -> Found:
    """Changes under another order less changes under the same one, mean over prompts."""
    found = _changes(reads)
    sums, sizes = by_cluster(found.excess, cluster)
    per_prompt = sums[sizes > 0] / sizes[sizes > 0]
    missing = NO_ORDERS if np.isnan(found.different).all() else NO_REPEAT
    mean = _mean_excess(per_prompt) if per_prompt.size else None
    return Found(mean, "share", _known(found.excess), missing)


def _changes(reads: "Floats") -> stats.CallFlips:
    values, codes = np.unique(reads[~np.isnan(reads)], return_inverse=True)
    choices = np.full(reads.shape, np.nan)
    choices[~np.isnan(reads)] = codes.reshape(-1) + 1
    return stats.call_flips(stats.one_hot(choices, max(1, values.size)))


def flip_rate(contest: Contest, which: Which) -> Found:
    """How often two single readings disagree on a prompt's best candidate."""
    per_prompt: Floats = getattr(_call_flips(contest), which)
    complete = [_all(~np.isnan(contest.reads[table])) for table in _tables(contest.cluster)]
    pairs = _joined(_pairs(answered, which) for answered in complete)
    share = _pair_rate(per_prompt, pairs, np.arange(per_prompt.size))
    missing = NO_REPEAT if which == "same" else NO_RANKING
    return Found(share, "share", _known(per_prompt), missing)


def excess_flip_rate(contest: Contest) -> Found:
    """Flips under another order less flips under the same one, mean over prompts."""
    found = _call_flips(contest)
    known = found.excess[~np.isnan(found.excess)]
    missing = NO_RANKING if np.isnan(found.different).all() else NO_REPEAT
    return Found(_mean_excess(known) if known.size else None, "share", known.size, missing)


def _mean_excess(per_prompt: "Floats") -> Interval:
    """Mean over prompts with its t interval; no certainty from a few prompts that look alike.

    Where every prompt shows the same, or fewer than `FEW_PROMPTS` were seen, the interval reaches
    at least as far as the share of prompts that may differ and were not seen.
    """
    found = _within(mean_t(per_prompt), -1.0, 1.0)
    alike, few = found.low is None, per_prompt.size < FEW_PROMPTS
    if found.value is None or per_prompt.size < 2 or not (alike or few):
        return found
    reach = unseen_share(per_prompt.size)
    low, high = max(-1.0, found.value - reach), min(1.0, found.value + reach)
    method = "Clopper-Pearson over prompts"
    if found.low is not None and found.high is not None:
        low, high = min(low, found.low), max(high, found.high)
        method = f"{found.method}, at least {method}"
    seen = "every prompt shows the same" if alike else f"only {per_prompt.size} prompts were seen"
    note = f"{seen}; the interval allows for prompts that were not seen"
    return replace(found, low=low, high=high, method=method, note=note, kind="other", reason="")


def tie_rate(contest: Contest) -> Found:
    """How often several candidates of a prompt share the best score of one reading."""
    ties, readings = [], []
    for table in _tables(contest.cluster):
        picks = stats.pick(np.moveaxis(contest.reads[table], 1, -1))
        known = ~np.isnan(picks).any(axis=-1)
        shared = known & (np.nan_to_num(picks).max(axis=-1) < 1)
        ties.append(shared.sum(axis=(1, 2)).astype(float))
        readings.append(known.sum(axis=(1, 2)).astype(float))
    total = _joined(iter(readings))
    asked = total > 0
    share = cluster_rate(_joined(iter(ties))[asked], total[asked]) if asked.any() else None
    return Found(share, "share", int(total.sum()), NO_RANKING)


def tau(contest: Contest, one: str, other: str) -> Found:
    """Kendall's tau-b between the rankings of two arms, mean over prompts."""
    pairs = _arm_pairs(contest, one, other)
    found = _joined(stats.kendall_tau_b(first, second) for first, second in pairs)
    known = found[~np.isnan(found)]
    tied = found.size - known.size
    return Found(
        _within(mean_t(known), -1.0, 1.0) if known.size else None,
        "tau-b",
        known.size,
        ALL_TIED,
        note=f"{tied} prompts left out: all tied or unread in one arm" if tied else "",
    )


def top1_flip(contest: Contest, one: str, other: str) -> Found:
    """Share of prompts whose best candidate differs between two arms, expected-tie rule."""
    pairs = list(_arm_pairs(contest, one, other))
    flip = _joined(
        stats.top1_flip(stats.pick(first), stats.pick(second)) for first, second in pairs
    )
    naive = _joined(stats.top1_flip_first_index(first, second) for first, second in pairs)
    known = flip[~np.isnan(flip)]
    paper = PaperCompatible(
        float(np.nanmean(naive)) if known.size else None,
        None,
        None,
        "the first of tied candidates wins (Xu et al.)",
    )
    share = cluster_rate(known, np.ones_like(known)) if known.size else None
    return Found(share, "share", known.size, NO_RANKING, paper=paper)


def _known(rates: "Floats") -> int:
    return int((~np.isnan(rates)).sum())


def _pairs(answered: "Flags", which: Which) -> "Floats":
    """Pairs of answered calls per row of (rows, orders, repeats), under two orders or one."""
    per_order: Floats = answered.sum(axis=2).astype(np.float64)
    twice: Floats = (
        (per_order * (per_order - 1)).sum(axis=1)
        if which == "same"
        else per_order.sum(axis=1) ** 2 - (per_order**2).sum(axis=1)
    )
    return twice / 2


def _pair_rate(rates: "Floats", pairs: "Floats", cluster: "Ints") -> Interval | None:
    """A rate over pairs of calls, each row with its number of pairs; None without any.

    The pairs of one prompt share calls and so depend on each other: the interval takes that from
    the spread between prompts.
    """
    known = ~np.isnan(rates)
    if not known.any():
        return None
    differing, _ = by_cluster((rates * pairs)[known], cluster[known])
    trials, _ = by_cluster(pairs[known], cluster[known])
    return cluster_rate(differing, trials)


def _all(answered: "Flags") -> "Flags":
    """Readings in which every candidate (axis 1) was answered."""
    complete: Flags = np.all(answered, axis=1)
    return complete


def _call_flips(contest: Contest) -> stats.CallFlips:
    """Flips of the best candidate between single readings, one entry per prompt."""
    found = [
        stats.call_flips(stats.pick(np.moveaxis(contest.reads[table], 1, -1)))
        for table in _tables(contest.cluster)
    ]
    return stats.CallFlips(*(_joined(getattr(f, part) for f in found) for part in _PARTS))


_PARTS = ("different", "same", "excess")


def _arm_pairs(contest: Contest, one: str, other: str) -> "Iterator[tuple[Floats, Floats]]":
    """Mean scores (prompts, candidates) in two arms, a pair per number of candidates."""
    first, second = contest.means[one], contest.means[other]
    return ((first[table], second[table]) for table in _tables(contest.cluster))


def _joined(parts: "Iterator[Floats]") -> "Floats":
    return np.concatenate([np.empty(0), *parts])


def _tables(cluster: "Ints") -> "list[Ints]":
    """Item indices, shape (prompts, candidates): one table per number of candidates above one."""
    sizes = np.bincount(cluster)[cluster] if cluster.size else cluster
    by_stimulus = np.argsort(cluster, kind="stable")
    return [
        by_stimulus[sizes[by_stimulus] == size].reshape(-1, size)
        for size in np.unique(sizes)
        if size > 1
    ]


def _within(found: Interval, least: float, most: float) -> Interval:
    """An interval cut to the range of what it estimates."""
    if found.low is None or found.high is None:
        return found
    return replace(found, low=max(found.low, least), high=min(found.high, most))
