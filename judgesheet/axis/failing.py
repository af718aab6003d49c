"""How an axis says how far off each of its calls is, for whoever asks where a judge fails."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesheet.axis import Readings
from judgesheet.axis.arrays import Floats, Ints
from judgesheet.axis.items import codes, firsts, value_codes

if TYPE_CHECKING:
    import pandas as pd

GROUPS = 5
"""Scores are compared with those of so many parts of the pool, by known quality."""
Errors = Callable[[Readings], Floats]
"""Readings -> how far off each call is, in some ways and any unit, shape (ways, calls); NaN where
no right answer is known."""
PointsByPlace = Callable[[Any, Sequence[Any]], Sequence[float]]
"""What a verdict gives to each of the things that were listed in this order."""


@dataclass(frozen=True, slots=True)
class Failing:
    """What tells where a judge fails on an axis.

    `errors` are those of calls, `quality` is the family of figures that says the same of all of
    them. A question has about so many different `answers`: the more, the less a guess looks right.
    `points_by_place` tells what a verdict says of the things listed, so that verdicts under
    other orders can be compared, and `changes` is the family that says how often they differ; None
    and "" where orders are no question of the axis.
    """

    errors: Errors
    quality: str
    answers: int
    points_by_place: PointsByPlace | None = None
    changes: str = ""


def distances(scores: Floats, quality: Floats) -> Floats:
    """How far scores, (calls,), are from those of like quality, (calls,), shape (2, calls).

    First the distance, less what is usual at this quality: at the ends of a scale scores have less
    room to be wrong. Then how much less than others they tell good from bad: it is 0 on average for
    whoever is only lenient or strict.
    """
    known = ~np.isnan(scores) & ~np.isnan(quality)
    off = np.full((2, len(scores)), np.nan)
    if known.any():
        q = quality[known]
        group = np.searchsorted(np.unique(np.quantile(q, np.arange(1, GROUPS) / GROUPS)), q)
        above = less_usual(scores[known], group)
        off[:, known] = less_usual(np.abs(above), group), (q.mean() - q) * above
    return off


def misses(
    chosen: Callable[[Any, Sequence[Any]], Any],
    frame: "pd.DataFrame",
    right: Sequence[Collection[str]],
) -> Floats:
    """0 where a right one was chosen, .5 where none was, 1 where a wrong one, (1, calls)."""

    def miss(verdict: Any, order: Sequence[Any], among: Collection[str]) -> float:
        if verdict is None or not among:
            return np.nan
        choice = chosen(verdict, order)
        return 0.5 if choice is None else float(choice not in among)

    rows = zip(frame["value"], frame["order"], right, strict=True)
    return np.array([[miss(*row) for row in rows]], dtype=float)


def less_usual(values: Floats, group: Ints) -> Floats:
    """Values less the mean of those in their group, shapes (calls,)."""
    codes = np.unique(group, return_inverse=True)[1]
    less: Floats = values - (np.bincount(codes, values) / np.bincount(codes))[codes]
    return less


@dataclass(frozen=True, slots=True)
class Content:
    """What calls give to the things that they list.

    `given` has the points of each thing, in the order of the list, for each different verdict under
    each order; `same` says which of them each call has, and `order` which order.
    """

    given: Sequence[Mapping[Any, float]]
    same: Ints
    order: Ints

    @classmethod
    def of(cls, frame: "pd.DataFrame", points_by_place: PointsByPlace) -> "Content":
        """Of calls with a verdict."""
        same = codes(frame[["value", "order"]])
        different = frame[["value", "order"]].iloc[firsts(same)]
        given = [
            dict(zip(order, points_by_place(value, order), strict=False))
            for value, order in different.itertuples(index=False, name=None)
        ]
        return cls(given, same, value_codes(frame["order"]))

    def changes(self, item: Ints) -> Floats:
        """How far each call is from those on its item under other orders; NaN without any."""
        found = np.full(len(item), np.nan)
        for calls in _by_item(item):
            given = [self.given[s] for s in self.same[calls]]
            things = sorted({thing for one in given for thing in one}, key=str)
            points = np.array([[one.get(thing, 0.0) for thing in things] for one in given])
            apart = np.abs(points[:, None] - points).sum(axis=2)
            others = self.order[calls][:, None] != self.order[calls]
            counts = others.sum(axis=1)
            np.divide((apart * others).sum(axis=1), counts, out=apart[0], where=counts > 0)
            found[calls] = np.where(counts > 0, apart[0], np.nan)
        return found

    def leans(self, item: Ints) -> Floats:
        """How many places further down a list of scores each verdict stands than the others would.

        Compared with the verdicts of the item's calls under the order of the call; NaN where what
        is listed has no order of its own.
        """
        found = np.full(len(item), np.nan)
        ranked = np.array([is_ranked(one) for one in self.given])
        places = [{thing: place for place, thing in enumerate(one)} for one in self.given]
        for calls in _by_item(item):
            same = self.same[calls]
            if ranked[same].all():
                chosen = [max(self.given[s], key=self.given[s].__getitem__) for s in same]
                would = np.array([[places[s][one] for one in chosen] for s in same])
                found[calls] = np.diag(would) - would.mean(axis=1)
        return found


def _by_item(item: Ints) -> Iterator[Ints]:
    order = np.argsort(item, kind="stable")
    yield from np.split(order, np.cumsum(np.bincount(item))[:-1])


def is_ranked(order: Iterable[object]) -> bool:
    """Whether the things listed are numbers, which can rise or fall."""
    return all(isinstance(one, int | float) for one in order)
