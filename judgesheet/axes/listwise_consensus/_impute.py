"""Winners that lost calls could have chosen: by place, evenly, the usual one, the right one.

A lost call is replaced by scores in which one candidate has all points and the others none, since
no answer can move a decision further. The extremes are every place in turn, the places that make
all places equally frequent, the list's usual winner, its rarest, the right answer, and a wrong one.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from judgesheet.axes.listwise_consensus._material import golds_shown
from judgesheet.axes.listwise_consensus._reply import chosen
from judgesheet.axis import Imputation, Readings
from judgesheet.axis.losses import Call, answered, even_places, lost, split


def impute(readings: Readings) -> Iterator[Imputation]:
    """The extremes, those of places first."""
    frame = readings.frame
    calls, read = split(frame)
    wins: defaultdict[Any, Counter[str]] = defaultdict(Counter)
    places: defaultdict[Any, Counter[int]] = defaultdict(Counter)
    for call in read:
        if (winner := chosen(call["value"], call["order"])) is not None:
            wins[_list(call)][winner] += 1
            places[_counted_with(call)][call["order"].index(winner)] += 1
    orders = [call["order"] for call in calls]
    own = [wins[_list(call)] for call in calls]
    # Shorter lists give their last place.
    for place in range(max(map(len, orders))):
        yield _won(readings, [order[min(place, len(order) - 1)] for order in orders])
    likely = [[seen[name] for name in order] for seen, order in zip(own, orders, strict=True)]
    even = even_places([_counted_with(call) for call in calls], places, likely)
    yield _won(readings, [order[at] for order, at in zip(orders, even, strict=True)])
    pairs = list(zip(own, orders, strict=True))
    yield _won(readings, [max(sorted(order), key=seen.__getitem__) for seen, order in pairs])
    yield _won(readings, [min(sorted(order), key=seen.__getitem__) for seen, order in pairs])
    golds = [golds_shown(call) for call in calls]
    if any(golds):
        for right in (True, False):
            yield _won(
                readings, [_any(o, g, right=right) for o, g in zip(orders, golds, strict=True)]
            )


def _won(readings: Readings, winners: Sequence[str]) -> Imputation:
    """The table with these winners of its lost calls."""
    frame = readings.frame
    orders = frame.loc[lost(frame), "order"]
    verdicts = [
        {name: {"score": 100.0 * (name == winner), "uncertain": False} for name in order}
        for order, winner in zip(orders, winners, strict=True)
    ]
    return Imputation(answered(frame, verdicts))


def _list(call: Call) -> tuple[str, str]:
    return call["stimulus"], call["item"]


def _counted_with(call: Call) -> tuple[Any, ...]:
    """Calls whose places are compared: one pass over the lists of one length."""
    return call["arm"], len(call["order"]), call["repeat"]


def _any(order: Sequence[str], golds: frozenset[str], *, right: bool) -> str:
    """A right answer, or a wrong one; the first listed where there is none."""
    return next((name for name in order if (name in golds) == right), order[0])
