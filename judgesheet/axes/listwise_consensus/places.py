"""Does the winner follow its place in the list?

Every single call under the balanced orders is a separate decision: which candidate won, and at
which place? Each candidate stands equally often at each place, so the winners of a judge that
follows the content are spread evenly, whichever candidates it prefers.
"""

from collections.abc import Iterator

import numpy as np

from judgesheet.axis import places
from judgesheet.axis.arrays import Floats
from judgesheet.axis.figure import UnkeyedEstimate, absent
from judgesheet.axis.reversal import HARDLY_RANKS, NO_REPEAT, TIES_AT_RANDOM, ranks
from judgesheet.base.missing_reasons import Reason
from judgesheet.stats import position as stats
from judgesheet.stats.flips import Which
from judgesheet.stats.interval import (
    mean_excess,
    pooled,
    pooled_rate,
)

from ._lists import NOTHING_READ, Lists, Table, figure
from ._reply import PERMUTED

REPEATED_ORDER = "an order that was read twice (repeat)"
figure = figure.but(passes_blind=True)
ONE_ORDER = Reason("one_order", "no list was read under two orders")
NOT_EVEN = Reason(
    "not_even",
    "the recorded orders do not show every answer equally often at every place, so a judge that "
    "ignores the order would not give even shares",
)


@figure(
    "share",
    symbol="w_{position}",
    better="",
    headline={"position=1": 70},
    reads=PERMUTED,
)
def win_share(lists: Lists) -> Iterator[UnkeyedEstimate]:
    """Share of single calls whose winner stood at this place; 1/n if the place does not matter.

    Over the balanced orders, ties counted in shares. Interval of a rate over clusters;
    Wilson over calls beside it.
    """
    return places.shares(_wins(lists.main), "Winner stood at place {place}", lists.shown)


@figure("V", symbol="V", null=0.0, reads=PERMUTED)
def place_v(lists: Lists) -> UnkeyedEstimate:
    """Strength of the preference for a place, 0 (none) to 1 (the same place always wins), at any n.

    V of the shares of `win_share`, ties counted in shares; with four answers .33 where one place
    wins half of the calls. A preference between nearly equal answers shows here although repeats
    change the winner as often as orders do, so that `excess_flip_rate` is small. Interval as for
    `score_order.cramers_v`; the value alone is biased upwards.
    """
    v = stats.cramers_v(_wins(lists.main))
    label = "Cramér's V of the place that wins"
    estimate = UnkeyedEstimate(label, v, n=v.n, conditions=lists.shown)
    if not lists.shown.balanced:
        return estimate.without_value(NOT_EVEN)
    return estimate.or_absent(NOTHING_READ)


@figure("share", symbol="f", noise="repeat_flip_rate", headline=73, sweep=2)
def order_flip_rate(lists: Lists) -> UnkeyedEstimate:
    """How often two single calls under two orders of a list choose different winners.

    Ties are resolved as independent uniform picks: a judge that is blind to the order and gives k
    answers the best score flips in 1 - 1/k of cases. It includes noise, too: limit
    `excess_flip_rate`, not this.
    """
    estimate = _flip_rate(lists, "different", "Winner differs under another order")
    return estimate.or_absent(ONE_ORDER if lists.readable else NOTHING_READ)


@figure("share")
def repeat_flip_rate(lists: Lists) -> UnkeyedEstimate:
    """How often two single calls under the same order choose different winners: the noise.

    n counts all calls on the prompts of which some order was asked twice, those under their other
    orders too.
    """
    estimate = _flip_rate(lists, "same", "Winner differs under the same order")
    return estimate.or_absent(NO_REPEAT if lists.readable else NOTHING_READ)


@figure("difference", symbol="Δf", null=0.0, headline=74, sweep=1, missing=REPEATED_ORDER)
def excess_flip_rate(lists: Lists) -> UnkeyedEstimate:
    """Flips of the winner that the order of the list causes, beyond noise and ties.

    Per prompt, `order_flip_rate` minus `repeat_flip_rate`; t interval over prompts, which ends at 0
    (or at a value that noise put below 0), as repeats agree at least as often as orders. It needs
    two reads of some orders. A judge that hardly ever has a single winner cannot flip it.
    """
    if not ranks(*_ties(lists)):
        return absent("Flips of the winner caused by the order", HARDLY_RANKS)
    flips, why = lists.flips, NO_REPEAT
    mean = mean_excess(flips.excess, lists.cluster, flips.most_excess)
    if np.isnan(flips.different).all():
        why = ONE_ORDER
    label = "Flips of the winner caused by the order"
    return UnkeyedEstimate(label, mean, n=flips.n("excess")).or_absent(why)


@figure("share", symbol="T", headline=75)
def top_tie_rate(lists: Lists) -> UnkeyedEstimate:
    """How often several answers share the best score of a single call.

    Where it is high the judge does not choose: the winner is picked by chance. Over the balanced
    orders; interval over prompts.
    """
    ties, calls = _ties(lists)
    share = pooled_rate(ties, calls, lists.cluster)
    estimate = UnkeyedEstimate("Several answers share the best score", share, n=int(calls.sum()))
    return estimate.or_absent(NOTHING_READ)


def _ties(lists: Lists) -> tuple[Floats, Floats]:
    """Per prompt, the calls in which several answers share the best score, and all calls read."""
    best = [table.calls.max(axis=-1) for table in lists.tables]  # NaN where nothing was read
    ties = np.concatenate([(one < 1).sum(axis=(1, 2)).astype(float) for one in best])
    return ties, np.concatenate([(~np.isnan(one)).sum(axis=(1, 2)).astype(float) for one in best])


def _winners_by_place(table: Table) -> Floats:
    """What the first call under each order chooses, by displayed place: (P, orders, places)."""
    shown = np.argsort(table.place, axis=-1)  # the candidate at each place
    return np.take_along_axis(table.first_calls, shown, axis=-1)


def _wins(table: Table) -> Floats:
    """Winners by displayed place, (clusters, places); ties count their shares."""
    wins = np.sum(np.nan_to_num(_winners_by_place(table)), axis=1)
    sums: Floats = np.stack(pooled(table.cluster, *wins.T), axis=1)
    return sums


def _flip_rate(lists: Lists, which: Which, label: str) -> UnkeyedEstimate:
    """A rate over pairs of calls; a prompt is a cluster, weighted by its number of pairs."""
    share, calls = lists.flips.rate(which, lists.cluster), lists.flips.n(which)
    return UnkeyedEstimate(
        f"{label}, ties broken at random", share, n=calls, conditions=TIES_AT_RANDOM
    )
