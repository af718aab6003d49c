"""Does the order decide who wins? (Xu et al., section 5.6)

Noise and ties alone flip winners, so every rate of change across orders stands beside the same rate
between repeats of one order, and the headline is their difference.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from judgesheet.axes._estimate import maker
from judgesheet.axes.score_order._scores import Scores
from judgesheet.records import Estimate, PaperCompatible
from judgesheet.stats import flips as stats
from judgesheet.stats.interval import (
    Interval,
    by_cluster,
    cluster_rate,
    mean_t,
    unseen_share,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_estimate = maker("score_order")
NO_RANKING = "no prompt has several candidates that were all read"
NO_REPEAT = "no order was read twice, so noise is not known (use --repeats 2)"


def order_change_rate(scores: Scores) -> Estimate:
    """How often two readings of one item under different orders give different scores.

    All pairs of single calls of the balanced arm. Contains the judge's own noise: compare
    `repeat_change_rate`. Interval over stimuli.
    """
    return _rate("order_change_rate", "Score differs under another order", scores, "different")


def repeat_change_rate(scores: Scores) -> Estimate:
    """How often two readings of one item under the same order give different scores: the noise.

    Temperature, batching and prefix caching all enter here. An effect of the order is what exceeds
    it.
    """
    return _rate("repeat_change_rate", "Score differs under the same order", scores, "same")


def _rate(name: str, label: str, scores: Scores, which: str) -> Estimate:
    grid = scores.grid
    per_item: Floats = getattr(stats.call_flips(stats.one_hot(grid.reads, grid.scale)), which)
    share = _pair_rate(per_item, _pairs(~np.isnan(grid.reads), which), grid.cluster)
    missing = NO_REPEAT if which == "same" else "no item was read under two orders"
    known = int((~np.isnan(per_item)).sum())
    return _from_interval(name, label, share, "share", known, missing)


def _pairs(answered: "NDArray[np.bool_]", which: str) -> "Floats":
    """Pairs of answered calls per row of (rows, orders, repeats), under two orders or one."""
    per_order: Floats = answered.sum(axis=2).astype(np.float64)
    twice: Floats = (
        (per_order * (per_order - 1)).sum(axis=1)
        if which == "same"
        else per_order.sum(axis=1) ** 2 - (per_order**2).sum(axis=1)
    )
    return twice / 2


def _pair_rate(rates: "Floats", pairs: "Floats", cluster: "NDArray[np.int64]") -> Interval | None:
    """A rate over pairs of calls, each item with its number of pairs; None without any.

    The pairs of one prompt share calls and so depend on each other: the interval takes that from
    the spread between prompts.
    """
    known = ~np.isnan(rates)
    if not known.any():
        return None
    differing, _ = by_cluster((rates * pairs)[known], cluster[known])
    trials, _ = by_cluster(pairs[known], cluster[known])
    return cluster_rate(differing, trials)


def order_flip_rate(scores: Scores) -> Estimate:
    """How often single readings under two orders disagree on a prompt's best candidate.

    Ties are resolved as independent uniform picks from the two top sets. Contains noise: compare
    `repeat_flip_rate`.
    """
    label = "Best response differs under another order"
    return _flip("order_flip_rate", label, scores, "different")


def repeat_flip_rate(scores: Scores) -> Estimate:
    """How often two single readings under the same order disagree on a prompt's best candidate.

    Noise and ties alone; a judge without any order effect shows 12 to 38 %.
    """
    return _flip("repeat_flip_rate", "Best response differs under the same order", scores, "same")


def excess_flip_rate(scores: Scores) -> Estimate:
    """Flips of the best candidate that the order of the rubric causes, beyond noise and ties.

    Per prompt, `order_flip_rate` minus `repeat_flip_rate`; prompt-level t interval. It needs at
    least two reads of some orders.
    """
    found = _call_flips(scores)
    known = found.excess[~np.isnan(found.excess)]
    return _from_interval(
        "excess_flip_rate",
        "Flips of the best response caused by the order",
        _mean_excess(known) if known.size else None,
        "share",
        known.size,
        NO_RANKING if np.isnan(found.different).all() else NO_REPEAT,
    )


def _mean_excess(per_prompt: "Floats") -> Interval:
    """Mean over prompts with its t interval; not a point where every prompt shows the same."""
    found = _within(mean_t(per_prompt), -1.0, 1.0)
    if found.low is not None or found.value is None or per_prompt.size < 2:
        return found
    reach = unseen_share(per_prompt.size)
    note = "every prompt shows the same; the interval allows for prompts that were not seen"
    low, high = max(-1.0, found.value - reach), min(1.0, found.value + reach)
    return replace(found, low=low, high=high, method="Clopper-Pearson over prompts", note=note)


def top_tie_rate(scores: Scores) -> Estimate:
    """How often several responses of a prompt share the best score of one reading.

    Where it is high the judge cannot rank: whichever response is picked, is picked by chance.
    Single readings of the balanced arm; interval over prompts.
    """
    ties, readings = [], []
    for table in _tables(scores):
        picks = stats.pick(np.moveaxis(scores.grid.reads[table], 1, -1))
        known = ~np.isnan(picks).any(axis=-1)
        shared = known & (np.nan_to_num(picks).max(axis=-1) < 1)
        ties.append(shared.sum(axis=(1, 2)).astype(float))
        readings.append(known.sum(axis=(1, 2)).astype(float))
    total = _joined(iter(readings))
    asked = total > 0
    share = cluster_rate(_joined(iter(ties))[asked], total[asked]) if asked.any() else None
    label = "Several responses share the best score"
    return _from_interval("top_tie_rate", label, share, "share", int(total.sum()), NO_RANKING)


def _flip(name: str, label: str, scores: Scores, which: str) -> Estimate:
    per_prompt: Floats = getattr(_call_flips(scores), which)
    complete = [_all(~np.isnan(scores.grid.reads[table])) for table in _tables(scores)]
    pairs = _joined(_pairs(answered, which) for answered in complete)
    share = _pair_rate(per_prompt, pairs, np.arange(per_prompt.size))
    missing = NO_REPEAT if which == "same" else NO_RANKING
    known = int((~np.isnan(per_prompt)).sum())
    return _from_interval(name, label, share, "share", known, missing)


def _all(answered: "NDArray[np.bool_]") -> "NDArray[np.bool_]":
    """Readings in which every candidate (axis 1) was answered."""
    complete: NDArray[np.bool_] = np.all(answered, axis=1)
    return complete


def kendall_tau(scores: Scores) -> Iterator[Estimate]:
    """Agreement of a prompt's ranking between two arms (tau-b; 1 the same ranking, 0 unrelated).

    Mean over prompts of Kendall's tau-b between the candidates' mean scores (Xu et al., table 7).
    Without a dimension: balanced against fixed. Prompts with an arm all tied have no tau and are
    left out; the note counts them.
    """
    for arms, dims, pairs in _arm_pairs(scores):
        tau = _joined(stats.kendall_tau_b(first, second) for first, second in pairs)
        known = tau[~np.isnan(tau)]
        tied = int(np.isnan(tau).sum())
        yield _from_interval(
            "kendall_tau",
            f"Kendall's tau between rankings, {arms}",
            _within(mean_t(known), -1.0, 1.0) if known.size else None,
            "tau-b",
            known.size,
            "every prompt is all tied in one of the arms, or has one candidate",
            dims=dims,
            note=f"{tied} prompts left out: all tied or unread in one arm" if tied else "",
        )


def top1_flip_rate(scores: Scores) -> Iterator[Estimate]:
    """Share of prompts whose best candidate changes between two arms (Xu et al., table 7).

    Expected-tie rule: the probability that independent uniform picks from the two top sets differ.
    The paper takes the first of tied candidates; that figure stands beside it. Noise and ties alone
    give 12 to 38 %: the effect of the order is `excess_flip_rate`.
    """
    for arms, dims, pairs in _arm_pairs(scores):
        flip = _joined(stats.top1_flip(stats.pick(one), stats.pick(other)) for one, other in pairs)
        naive = _joined(stats.top1_flip_first_index(one, other) for one, other in pairs)
        known = flip[~np.isnan(flip)]
        yield _from_interval(
            "top1_flip_rate",
            f"Best response changes, {arms}",
            cluster_rate(known, np.ones_like(known)) if known.size else None,
            "share",
            known.size,
            NO_RANKING,
            dims=dims,
            paper=PaperCompatible(
                float(np.nanmean(naive)) if known.size else None,
                None,
                None,
                "the first of tied candidates wins (Xu et al.)",
            ),
        )


def _call_flips(scores: Scores) -> stats.CallFlips:
    """Flips of the best candidate between single readings, one entry per prompt."""
    found = [
        stats.call_flips(stats.pick(np.moveaxis(scores.grid.reads[table], 1, -1)))
        for table in _tables(scores)
    ]
    return stats.CallFlips(*(_joined(getattr(f, part) for f in found) for part in _PARTS))


_PARTS = ("different", "same", "excess")
_ArmPair = tuple[str, dict[str, object], "list[tuple[Floats, Floats]]"]


def _arm_pairs(scores: Scores) -> Iterator[_ArmPair]:
    """Mean scores (prompts, candidates) in two arms, one pair of arrays per number of candidates.

    Balanced against fixed comes first and carries no dimension.
    """
    for number, (one, other) in enumerate((("balanced", "fixed"), ("balanced", "random"))):
        if other in scores.arms:
            first, second = scores.means(one), scores.means(other)
            dims: dict[str, object] = {"arms": f"{one}-{other}"} if number else {}
            pairs = [(first[table], second[table]) for table in _tables(scores)]
            yield f"{one} against {other}", dims, pairs


def _joined(parts: "Iterator[Floats]") -> "Floats":
    return np.concatenate([np.empty(0), *parts])


def _tables(scores: Scores) -> "list[NDArray[np.int64]]":
    """Item indices, shape (prompts, candidates): one table per number of candidates above one."""
    cluster = scores.grid.cluster
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


def _from_interval(
    name: str,
    label: str,
    found: Interval | None,
    unit: str,
    n: int,
    missing: str,
    *,
    dims: dict[str, object] | None = None,
    note: str = "",
    paper: PaperCompatible | None = None,
) -> Estimate:
    if found is None:
        return _estimate(name, label, None, dims, unit=unit, note=missing)
    return _estimate(
        name,
        label,
        found.value,
        dims,
        low=found.low,
        high=found.high,
        unit=unit,
        n=n,
        clusters=found.clusters,
        method=found.method,
        note="; ".join(part for part in (note, found.note) if part),
        paper_compatible=paper,
    )
