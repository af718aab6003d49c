"""Scores that lost calls could have given: for each place, and for and against quality.

The extremes show how far a lost call can move a figure: each place in turn scores all points or
none, scores that cancel the effect of places in the calls read, the scores that a response usually
gets, those furthest from them, and those that follow its known quality.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from judgesheet.axis import Imputation, Readings
from judgesheet.axis.labels import NAMES
from judgesheet.axis.losses import Call, answered, split
from judgesheet.base.records import Label

Seen = defaultdict[tuple[str, str], Counter[int]]
Scored = Callable[[Call, str, int], int]
"""The score of a lost call on the criterion of that name at that place."""


def impute(readings: Readings) -> Iterator[Imputation]:
    """The extremes, those of places first."""
    frame = readings.frame
    calls, read = split(frame)
    given = [score for call in read for score in call["value"].values()]
    seen: Seen = defaultdict(Counter)
    for call in read:
        for name, score in call["value"].items():
            seen[call["item"], name][score] += 1

    def ends(call: Call) -> tuple[int, int]:
        scale = call.get("scale")
        # A recorded run may not say its scale: NaN is not equal to itself.
        return (1, int(scale)) if scale and scale == scale else (min(given), max(given))

    def usual(call: Call, name: str, _place: int) -> int:
        scores = seen[call["item"], name]
        return max(sorted(scores), key=scores.__getitem__) if scores else round(sum(ends(call)) / 2)

    def furthest(call: Call, name: str, place: int) -> int:
        return max(ends(call), key=lambda end: abs(end - usual(call, name, place)))

    for place in range(max(len(call["order"]) for call in calls)):
        for here in (True, False):
            only = _only(place, ends, here=here)
            yield Imputation(answered(frame, _values(calls, only)), of_places=True)
    yield Imputation(answered(frame, _cancelling(calls, read, seen, ends)), of_places=True)
    yield Imputation(answered(frame, _values(calls, usual)))
    yield Imputation(answered(frame, _values(calls, furthest)))
    worth = _worth(readings)
    for turned in (False, True) if worth else ():
        deserved = _deserved(worth, ends, usual, turned=turned)
        yield Imputation(answered(frame, _values(calls, deserved)))


def _values(calls: Sequence[Call], score: Scored) -> list[dict[str, int]]:
    return [
        {name: score(call, name, place) for place, name in enumerate(call["order"])}
        for call in calls
    ]


def _only(place: int, ends: Callable[[Call], tuple[int, int]], *, here: bool) -> Scored:
    """All points at one place and none elsewhere, or the reverse."""
    return lambda call, _name, at: ends(call)[(at == place) == here]


def _cancelling(
    calls: Sequence[Call], read: Sequence[Call], seen: Seen, ends: Callable[[Call], tuple[int, int]]
) -> list[dict[str, int]]:
    """The usual scores, moved so that a criterion's places come out even with the calls read.

    A place's surplus is the sum by which the scores read there exceed the response's mean; the lost
    calls at that place compensate for it, as far as the scale allows.
    """
    mean = {key: sum(s * n for s, n in one.items()) / one.total() for key, one in seen.items()}
    surplus: defaultdict[tuple[str, int], float] = defaultdict(float)
    for call in read:
        for place, name in enumerate(call["order"]):
            surplus[name, place] += call["value"][name] - mean[call["item"], name]
    left = Counter((name, place) for call in calls for place, name in enumerate(call["order"]))
    values = []
    for call in calls:
        low, high = ends(call)
        scores = {}
        for place, name in enumerate(call["order"]):
            usual = mean.get((call["item"], name), (low + high) / 2)
            wanted = usual - surplus[name, place] / left[name, place]
            scores[name] = round(min(high, max(low, wanted)))
            surplus[name, place] += scores[name] - usual
            left[name, place] -= 1
        values.append(scores)
    return values


def _worth(readings: Readings) -> dict[tuple[str, str], float]:
    """The known quality of items on criteria, 0 to 1, by the best kind of label there is."""
    for kind in NAMES:
        mine: list[Label] = [one for one in readings.labels if one.kind == kind and one.criterion]
        if mine:
            scores = np.array([one.score for one in mine])
            span = float(np.ptp(scores)) or 1.0
            return {
                (one.item, one.criterion): (one.score - float(scores.min())) / span for one in mine
            }
    return {}


def _deserved(
    worth: Mapping[tuple[str, str], float],
    ends: Callable[[Call], tuple[int, int]],
    usual: Scored,
    *,
    turned: bool,
) -> Scored:
    """The score for an item's quality, or for its opposite; the usual one if unknown."""

    def score(call: Call, name: str, place: int) -> int:
        known = worth.get((call["item"], name))
        if known is None:
            return usual(call, name, place)
        low, high = ends(call)
        return round(low + (1 - known if turned else known) * (high - low))

    return score
