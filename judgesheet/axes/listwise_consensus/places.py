"""Does the winner follow its place in the list?

Every single call under the balanced orders is a decision of its own: who won, and where did it
stand? Each candidate stands equally often at each place, so a judge that reads the content spreads
its winners evenly, whichever candidates it likes.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from judgesheet.axes.listwise_consensus._lists import (
    NOTHING,
    Lists,
    Table,
    estimate,
    from_interval,
)
from judgesheet.records import Estimate, PaperCompatible
from judgesheet.stats import position as stats
from judgesheet.stats.flips import call_flips
from judgesheet.stats.interval import (
    Interval,
    cluster_rate,
    cluster_t,
    mean_t,
    unseen_share,
    wilson,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

NO_REPEAT = (
    "no order was read twice, so noise is not known (an order is read twice by --repeats 2 in a "
    "probe, by `repeat` in a record)"
)
ONE_ORDER = "no list was read under two orders"


def by_place(table: Table) -> "Floats":
    """What the first call under each order chooses, by displayed place: (P, orders, n)."""
    first = table.calls[:, :, 0]
    shown = np.argsort(table.place, axis=-1)  # the candidate at each place
    return np.take_along_axis(first, shown, axis=-1)


def counts(table: Table) -> "Floats":
    """Winners by displayed place, (prompts with a reading, places); ties count their shares."""
    places = by_place(table)
    sums: Floats = np.sum(np.nan_to_num(places), axis=1)
    read: Floats = sums[sums.sum(axis=1) > 0]
    return read


def win_share(lists: Lists) -> Iterator[Estimate]:
    """Share of single calls whose winner stood at this place; 1/n if the place does not matter.

    Over the balanced orders, ties counted in shares. Cluster-robust t interval over prompts; Wilson
    over calls beside it.
    """
    found = counts(lists.main)
    total = float(found.sum())
    for index, share in enumerate(stats.position_share(found) if total else ()):
        naive = wilson(float(found[:, index].sum()), total)
        yield from_interval(
            "win_share",
            f"Winner stood at place {index + 1}",
            share,
            round(total),
            NOTHING,
            {"position": index + 1},
            conditions=_conditions(lists),
            paper=PaperCompatible(naive.value, naive.low, naive.high, "Wilson over calls"),
        )


def order_dependence_p(lists: Lists) -> Iterator[Estimate]:
    """p-value of "the winner of a list does not depend on its order at all".

    Sharp null: order labels are permuted within each prompt, as in score_order; ties are broken by
    a fixed sequence of the prompt's candidates that no order enters.
    """
    table = lists.main
    found = stats.sharp_null(_label_tables(table, lists.rng()), table.n, lists.rng())
    yield estimate(
        "order_dependence_p",
        "p: the winner does not depend on the order",
        found.p if found.calls else None,
        unit="p",
        n=found.calls,
        clusters=len(counts(table)),
        method=f"order labels permuted within prompts, {found.method}",
        conditions=_conditions(lists),
        note="" if found.calls else NOTHING,
    )


def _label_tables(table: Table, rng: np.random.Generator) -> "list[Ints]":
    """For each number m of answered orders, where every winner stands under every order: (I, m, m).

    Entry [i, j, k] is the place, under order k, of what prompt i chose under order j.
    """
    first = table.calls[:, :, 0]
    preference = rng.random((len(first), 1, table.n))
    chosen = np.argmax(np.where(first > 0, 1 + preference, 0.0), axis=-1)
    answered = ~np.isnan(first[..., 0])
    tables: list[Ints] = []
    for m in sorted(set(answered.sum(axis=1)) - {0}):
        rows = np.flatnonzero(answered.sum(axis=1) == m)
        orders = np.nonzero(answered[rows])[1].reshape(rows.size, m)
        winners = np.take_along_axis(chosen[rows], orders, axis=1)
        place = np.take_along_axis(table.place[rows], orders[..., None], axis=1)  # (I, k, n)
        tables.append(np.take_along_axis(place, winners[:, None, :], axis=2).swapaxes(1, 2))
    return tables


def position_bias_p(lists: Lists) -> Iterator[Estimate]:
    """p-value of "no place in the list wins more often than another, on average over prompts".

    Weak null: second-order Rao-Scott correction on the cluster-robust covariance of the shares. A
    winner can depend on the order prompt by prompt and still favour no place on average.
    """
    found = stats.rao_scott(counts(lists.main))
    yield estimate(
        "position_bias_p",
        "p: no place is favoured on average",
        found.p,
        unit="p",
        n=round(float(counts(lists.main).sum())),
        clusters=found.clusters,
        method="Rao-Scott second order, clusters are prompts",
        conditions=_conditions(lists),
        note=found.note if found.p is not None else (found.note or NOTHING),
    )


def winner_place(lists: Lists) -> Iterator[Estimate]:
    """Where the winner stood, by where the right answer stood: who won under which order.

    Single calls over the balanced orders. A judge that finds the right answer wherever it stands
    has everything on the diagonal; a place that wins from everywhere is a column. Cluster t
    interval over prompts. Lists with one right answer only.
    """
    table = lists.main
    single = table.gold.sum(axis=1) == 1
    winner, gold = by_place(table)[single], table.gold[single].argmax(axis=1)
    where = np.take_along_axis(table.place[single], gold[:, None, None], axis=2)[..., 0]
    for stood in range(table.n):
        answered = (where == stood) & ~np.isnan(winner[..., 0])
        sizes = answered.sum(axis=1).astype(float)
        for place in range(table.n):
            sums = np.where(answered, winner[..., place], 0.0).sum(axis=1)
            share = cluster_t(sums[sizes > 0], sizes[sizes > 0], bounded=True)
            yield from_interval(
                "winner_place",
                f"Winner at place {place + 1}, right answer at place {stood + 1}",
                share,
                int(sizes.sum()),
                NOTHING,
                {"gold": stood + 1, "position": place + 1},
                conditions=_conditions(lists),
            )


def order_flip_rate(lists: Lists) -> Iterator[Estimate]:
    """How often two single calls under two orders of a list choose different winners.

    Ties are resolved as independent uniform picks. Contains noise: compare `repeat_flip_rate`.
    """
    yield _flip(lists, "order_flip_rate", "Winner differs under another order", "different")


def repeat_flip_rate(lists: Lists) -> Iterator[Estimate]:
    """How often two single calls under the same order choose different winners: the noise."""
    yield _flip(lists, "repeat_flip_rate", "Winner differs under the same order", "same")


def excess_flip_rate(lists: Lists) -> Iterator[Estimate]:
    """Flips of the winner that the order of the list causes, beyond noise and ties.

    Per prompt, `order_flip_rate` minus `repeat_flip_rate`; prompt-level t interval. It needs two
    reads of some orders.
    """
    per_prompt = _flips(lists, "excess")
    known = per_prompt[~np.isnan(per_prompt)]
    yield from_interval(
        "excess_flip_rate",
        "Flips of the winner caused by the order",
        _cut(mean_t(known)) if known.size else Interval(None, None, None),
        known.size,
        ONE_ORDER if np.isnan(_flips(lists, "different")).all() else NO_REPEAT,
    )


def _flip(lists: Lists, name: str, label: str, which: str) -> Estimate:
    """A rate over pairs of calls; each prompt weighs by its number of pairs, and is a cluster."""
    rates = _flips(lists, which)
    pairs = np.where(np.isnan(rates), 0.0, lists.joined(lambda table: _pairs(table, which)))
    share = cluster_rate(np.nan_to_num(rates) * pairs, pairs)
    missing = (NO_REPEAT if which == "same" else ONE_ORDER) if lists.readable else NOTHING
    return from_interval(name, label, share, int(pairs.sum()), missing)


def _pairs(table: Table, which: str) -> "Floats":
    """Pairs of answered calls per prompt, under one order or under two."""
    per_order = (~np.isnan(table.calls[..., 0])).sum(axis=2).astype(np.float64)
    own = (per_order * (per_order - 1)).sum(axis=1) / 2
    every = per_order.sum(axis=1)
    pairs: Floats = own if which == "same" else every * (every - 1) / 2 - own
    return pairs


def _flips(lists: Lists, which: str) -> "Floats":
    """Flips between single calls, one entry per prompt."""
    return lists.joined(lambda table: np.asarray(getattr(call_flips(table.calls), which)))


def _cut(found: Interval) -> Interval:
    """A mean difference of shares with its interval; not a point where every prompt agrees."""
    if found.value is None or found.clusters < 2:
        return found
    if found.low is None or found.high is None:
        reach = unseen_share(found.clusters)
        note = "every prompt shows the same; the interval allows for prompts that were not seen"
        low, high = found.value - reach, found.value + reach
        found = replace(found, low=low, high=high, method="Clopper-Pearson over prompts", note=note)
    return replace(found, low=max(-1.0, found.low or 0.0), high=min(1.0, found.high or 0.0))


def _conditions(lists: Lists) -> str:
    table = lists.main
    balance = "balanced" if table.balanced else "UNBALANCED as recorded"
    others = sum(len(other.scores) for other in lists.tables[1:])
    rest = f"; {others} lists of other lengths left out" if others else ""
    return f"lists of {table.n}, {table.scores.shape[1]} {balance} orders{rest}"
