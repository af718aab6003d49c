"""Does the order matter anywhere? The test of each axis, by all its stimuli together.

If the order does not matter, the verdicts on an item could be exchanged between its orders. What
each place gets is compared with such exchanges, near copies of a stimulus as one. An axis adopts
the figure, adds `measure` to its measuring, and says what a verdict gives to each thing listed.
"""

from collections.abc import Iterator, Sequence
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesheet.axis import Readings
from judgesheet.axis.arrays import Floats, Ints
from judgesheet.axis.failing import PointsByPlace
from judgesheet.axis.figure import Figures, UnkeyedEstimate, absent
from judgesheet.axis.items import firsts, items, questions, value_codes
from judgesheet.axis.streams import stream
from judgesheet.base.missing_reasons import Reason
from judgesheet.base.records import Estimate
from judgesheet.stats.exchange import Exchanged, Items, exchanged
from judgesheet.stats.interval import without_interval

if TYPE_CHECKING:
    import pandas as pd

TOO_FEW = Reason(
    "too_few_calls", "too few calls were read under different orders of the same item to compare"
)
SIGNIFICANT = 0.05
"""The usual level of a single test."""
figure = Figures("", passes_blind=True)


@figure("p", symbol="p_ord", better="")
def order_dependence_p(sums: Exchanged) -> UnkeyedEstimate:
    """p-value of "the order matters nowhere", by the calls on all stimuli together.

    What each place gets is compared with exchanged orders in two ways: added up over stimuli, and
    as the sum of each stimulus's own squares, where nothing cancels. The smaller p-value counts,
    corrected for being the smaller of two. So it finds an effect that all share, one that differs
    in direction, and one on some stimuli that is too weak to be shown on any of them alone. The
    judge's noise does not move it: a judge that flips a coin flips it under every order.
    """
    label = "p of the order, all stimuli together"
    compared = np.flatnonzero(sums.log_ways)
    # With fewer than twenty different exchanges no p-value can fall below .05.
    if sums.log_ways.sum() < log(1 / SIGNIFICANT):
        return absent(label, TOO_FEW)
    method = "orders exchanged within items, sum and sum of squares over clusters, Monte Carlo"
    p = without_interval(sums.p(compared), clusters=len(compared), method=method)
    return UnkeyedEstimate(label, p, n=int(sums.calls[compared].sum()))


ORDER_TEST = order_dependence_p.name
"""The name of the test."""


def measure(axis: str, readings: Readings, points_by_place: PointsByPlace) -> Iterator[Estimate]:
    """The estimate of the test as that of an axis, if the caller wants it."""
    if len(readings.frame) and readings.wants(order_dependence_p.name):
        read = readings.frame[readings.frame["value"].notna()]
        # Greedy replies are meant to agree: that they do tells of no cache.
        read = read if readings.temperature == 0 else _counted_once(read)
        exchanged = _exchanged(read, points_by_place, readings.seed)
        yield from Figures(axis).of(order_dependence_p)(exchanged, readings.level)


def _counted_once(read: "pd.DataFrame") -> "pd.DataFrame":
    """One call of each question where asking again never brought another verdict.

    A cache may have given one reply several times: exchanged as several, what noise made of one
    call would look like the effect of its order.
    """
    question = questions(read)
    verdicts = read["value"].map(repr).groupby(question).nunique()
    return read if verdicts.max() != 1 else read.iloc[firsts(question)]


def _exchanged(read: "pd.DataFrame", points_by_place: PointsByPlace, seed: int) -> Exchanged:
    """What the places of each stimulus get, from calls with a verdict (one row each)."""
    # Arms differ in which orders they show: the calls of an item are all exchangeable.
    item = items(read, across_arms=True)
    stimulus = np.zeros(int(item.max(initial=-1)) + 1, dtype=np.int64)
    stimulus[item] = value_codes(read["cluster"])
    orders, order = _distinct(read["order"])
    verdicts, verdict = _distinct(read["value"])
    places = max(map(len, orders), default=0)
    # Each verdict under each order it was given in.
    pairs, pair = np.unique(verdict * len(orders) + order, return_inverse=True)
    points = np.zeros((len(pairs), places))
    for row, (v, o) in enumerate(zip(*divmod(pairs, max(1, len(orders))), strict=True)):
        points[row, : len(orders[o])] = points_by_place(verdicts[v], orders[o])
    groups = [*_groups(item, order, orders, pair, points)]
    return exchanged(groups, stimulus, places, stream(seed, order_dependence_p.name))


def _distinct(values: "pd.Series[Any]") -> tuple[Sequence[Any], Ints]:
    """The different values, and which of them each is."""
    found = value_codes(values)
    return values.iloc[firsts(found)].tolist(), found


def _groups(
    item: Ints, order: Ints, orders: Sequence[Sequence[Any]], verdict: Ints, points: Floats
) -> Iterator[Items]:
    """The items by what their calls listed where.

    `points` says what a verdict under an order gives to places, `verdict` which of them a call has.
    """
    by_item, sizes = np.argsort(item, kind="stable"), np.bincount(item)
    begins = np.cumsum(sizes) - sizes
    for calls in np.unique(sizes).tolist():
        alike = np.flatnonzero(sizes == calls)
        rows = by_item[begins[alike][:, None] + np.arange(calls)]
        lists, which = np.unique(order[rows], axis=0, return_inverse=True)
        members = np.split(
            np.argsort(which.ravel(), kind="stable"), np.cumsum(np.bincount(which.ravel()))[:-1]
        )
        for listed, mine in zip(lists.tolist(), members, strict=True):
            shown = [orders[one] for one in listed]
            things = sorted({thing for one in shown for thing in one}, key=str)
            where = np.full((calls, len(things)), -1, dtype=np.int64)
            for call, one in enumerate(shown):
                where[call, [things.index(thing) for thing in one]] = range(len(one))
            called = points[verdict[rows[mine]]]
            at_places = np.take_along_axis(called, np.maximum(where, 0)[None], axis=2)
            at_places[:, where < 0] = 0.0
            yield Items(alike[mine], at_places, where)
