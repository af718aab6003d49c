"""Scores that lost calls could have given: for each place, and for and against quality.

The extremes show how far a lost call can move a figure: every place in turn, the places that make
all places equally frequent, the score that the response usually gets, the one it gets least often,
and the scores that follow its known quality or the opposite of it.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from judgesheet.axis import Imputation, Readings
from judgesheet.axis.labels import reference
from judgesheet.axis.losses import Call, answered, even_places, split
from judgesheet.base.records import Label


def impute(readings: Readings) -> Iterator[Imputation]:
    """The extremes, those of places first."""
    frame = readings.frame
    calls, read = split(frame)
    for place in range(max(len(call["order"]) for call in calls)):
        values = [call["order"][min(place, len(call["order"]) - 1)] for call in calls]
        yield Imputation(answered(frame, values), of_places=True)
    yield Imputation(answered(frame, _even(calls, read)), of_places=True)
    usual, seldom = _usual(calls, read, most=True), _usual(calls, read, most=False)
    yield Imputation(answered(frame, usual))
    yield Imputation(answered(frame, seldom))
    worth = _worth(readings.labels, frame["item"].unique().tolist())
    if worth:
        for turned in (False, True):
            values = [
                _deserved(worth.get(call["item"]), call["order"], other, turned=turned)
                for call, other in zip(calls, usual, strict=True)
            ]
            yield Imputation(answered(frame, values))


def _even(calls: Sequence[Call], read: Sequence[Call]) -> list[int]:
    """Scores at the places that make all places equally frequent; the usual score if possible."""
    counts: defaultdict[Any, Counter[int]] = defaultdict(Counter)
    own: defaultdict[Any, Counter[int]] = defaultdict(Counter)
    for call in read:
        counts[_pass(call)][call["order"].index(call["value"])] += 1
        own[call["item"], call["scale"]][call["value"]] += 1
    likely = [
        [own[call["item"], call["scale"]][score] for score in call["order"]] for call in calls
    ]
    # Even places are what speaks most against any preference.
    places = even_places([_pass(call) for call in calls], counts, likely)
    return [call["order"][place] for call, place in zip(calls, places, strict=True)]


def _pass(call: Call) -> tuple[str, int, int]:
    """Calls that are counted together: every response once under every order."""
    return call["arm"], int(call["scale"]), int(call["repeat"])


def _usual(calls: Sequence[Call], read: Sequence[Call], *, most: bool) -> list[int]:
    """The score that a response gets most often, or least often, counting those imputed."""
    own: defaultdict[Any, Counter[int]] = defaultdict(Counter)
    for call in read:
        own[call["item"], call["scale"]][call["value"]] += 1
    pick: Callable[..., int] = max if most else min
    values = []
    for call in calls:
        scores, seen = sorted(call["order"]), own[call["item"], call["scale"]]
        middle = scores[len(scores) // 2]
        # Of equally common ones the middle of the scale, of equally rare ones its ends.
        value = pick(scores, key=lambda s, seen=seen, mid=middle: (seen[s], -abs(s - mid)))
        # Rare answers count as given, so that several lost calls on a response spread out.
        seen[value] += not most
        values.append(value)
    return values


def _worth(labels: Sequence[Label], items: Sequence[str]) -> dict[str, float]:
    """The known quality of items, from 0 (the lowest of them) to 1 (the highest)."""
    values = reference(labels, items).values
    if np.isnan(values).all() or np.nanmax(values) == np.nanmin(values):
        return {}
    scaled = (values - np.nanmin(values)) / (np.nanmax(values) - np.nanmin(values))
    known = zip(items, scaled.tolist(), strict=True)
    return {item: one for item, one in known if not np.isnan(one)}


def _deserved(worth: float | None, order: Sequence[int], other: int, *, turned: bool) -> int:
    """The score for an item's quality, or for its opposite; `other` if it is not known."""
    if worth is None:
        return other
    return sorted(order)[round((1 - worth if turned else worth) * (len(order) - 1))]
