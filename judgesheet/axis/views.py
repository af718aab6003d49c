"""Ways to find the cases behind a figure: the calls to look at, and how bad each is.

A `View` looks at the calls that stand behind a figure. The declaration of a figure names the one
that fits it (`cases`); an axis may write its own.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from operator import itemgetter
from typing import Any, TypeVar

from judgesheet.base.digits import two_digits
from judgesheet.base.keys import Key
from judgesheet.base.limits import MOST_COMPARED, MOST_EXAMPLES
from judgesheet.base.records import Case, Label
from judgesheet.base.sanitize import listed
from judgesheet.reading.reasons import REASONS

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
PointsByPlace = Callable[[Any, Sequence[Any]], Sequence[float]]
"""What a verdict gives to each of the things that were listed in this order."""
Means = Callable[[Any, Sequence[Any]], Any]
"""What a verdict says of the things that were listed in this order, wherever they stood."""
_ROUNDING = 1e-9


@dataclass(frozen=True)  # no slots: the cell is kept as it is
class Asked:
    """A call that was made. Calls of one `item` differ in order, arm and repeat alone."""

    id: str
    stimulus: str
    item: int
    cell: Mapping[str, Any]
    order: Sequence[Any]
    repeat: int
    value: Any
    shape: str

    @property
    def is_read(self) -> bool:
        """Whether it has a verdict."""
        return self.value is not None


@dataclass(frozen=True, slots=True)
class Question:
    """What a view is asked: the calls behind a figure in plan order, its key, and the labels."""

    calls: Sequence[Asked]
    key: Key
    labels: Sequence[Label]

    def read(self) -> list[Asked]:
        """The calls that have a verdict."""
        return [call for call in self.calls if call.is_read]


@dataclass(frozen=True)  # no slots: `where` is kept as it is
class View:
    """How the cases of a figure are found.

    Attributes
    ----------
    find
        The cases among the calls of a `Question`, in any order.
    dims
        The dimensions of a key that `find` reads; others choose the calls by their cells.
    where
        The calls that count where the key does not say otherwise, and where cells say such things.
    none
        Why no reply stands behind the figure; "" if some do.
    otherwise
        What it means that nothing was found.
    """

    find: Callable[[Question], Iterable[Case]]
    dims: Collection[str] = ()
    where: Mapping[str, str] = field(default_factory=dict)
    none: str = ""
    otherwise: str = "no call behind it stands out"

    def only(self, **where: str) -> "View":
        """The same view of these calls."""
        return replace(self, where=where)


def no_reply(why: str) -> View:
    """The view of a figure behind which no reply stands."""
    return View(lambda _: (), none=why)


# -- calls without a verdict -----------------------------------------------------------------------


def _lost(question: Question) -> Iterator[Case]:
    by_shape = grouped(question.calls, lambda call: call.shape)
    for shape, calls in by_shape.items():
        for call in calls if shape else ():
            yield Case((call.id,), REASONS[shape].words, float(len(calls)), shape)


lost = View(_lost, otherwise="every call that was made gave a verdict")
"""The calls without a verdict, grouped by the shape of what came instead."""

# -- readings that differ --------------------------------------------------------------------------


def differing(
    orders: str = "any", means: Means = lambda value, _: value, least: float = 0.0
) -> Callable[[Question], Iterator[Case]]:
    """Per item the two readings that are farthest apart, if by more than `least`.

    Their `orders` are the "same", "other" ones, or "any".
    """
    words = {"same": "in the same order", "other": "in another order", "any": "elsewhere"}[orders]

    def find(question: Question) -> Iterator[Case]:
        part = question.key.dims.get("criterion")
        for calls in grouped(question.read(), lambda call: call.item).values():
            distance, one, other = _farthest(calls, orders, _only(part, means))
            if distance > least:
                first, second = _contrast(one.value, other.value, part)
                why = f"{calls[0].stimulus}: {first} in one call, {second} {words}"
                yield Case((one.id, other.id), why, distance)

    return find


def _only(part: str | None, means: Means) -> Means:
    """What a verdict says of one part, if a key names one."""
    if part is None:
        return means
    return lambda value, _: value.get(part) if isinstance(value, Mapping) else value


def _contrast(one: Any, other: Any, part: str | None) -> tuple[str, str]:
    """Two verdicts in words, as far as they differ."""
    if not (isinstance(one, Mapping) and isinstance(other, Mapping)):
        return in_words(one), in_words(other)
    names = [name for name in one if one[name] != other.get(name) and part in (None, name)]
    first, second = ({name: value.get(name) for name in names} for value in (one, other))
    return in_words(first), in_words(second)


def _farthest(calls: Sequence[Asked], orders: str, means: Means) -> tuple[float, Asked, Asked]:
    """The two calls that are farthest apart, and how far; the first with itself if none differ."""
    meant = {call.id: means(call.value, call.order) for call in calls}
    alike = grouped(calls, lambda one: json.dumps(meant[one.id], sort_keys=True, default=str))
    pairs = combinations(list(alike.values())[:MOST_COMPARED], 2)
    # The farthest pair of meanings may not stand in orders that fit: then the next.
    for one, other in sorted(pairs, key=lambda two: -apart(*(meant[a.id] for a, *_ in two))):
        for a, b in product(one[:MOST_COMPARED], other[:MOST_COMPARED]):
            if orders == "any" or (orders == "same") == (list(a.order) == list(b.order)):
                return apart(meant[a.id], meant[b.id]), a, b
    return 0.0, calls[0], calls[0]


def apart(one: Any, other: Any) -> float:
    """How far two readings are apart: differences of numbers, summed; 1 for different words."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return sum(apart(one.get(name), other.get(name)) for name in {**one, **other})
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return sum(apart(*two) for two in zip(one, other, strict=False))
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    return abs(one - other) if numbers else float(one != other)


changed = View(differing("other"), ("criterion",), otherwise="no reading differs from another")
"""The readings that differ most under another order."""
repeated = View(differing("same"), ("criterion",), otherwise="no repeated reading differs")
"""The readings that differ most under the same order."""


def _any_call(question: Question) -> Iterator[Case]:
    """Calls without a verdict, then items by how far their readings are apart."""
    differ = list(differing()(question))
    most = max((case.severity for case in differ), default=0.0)
    for case in _lost(question):
        yield replace(case, severity=most + case.severity, group="")
    yield from differ
    for call in question.read() if not differ else ():
        yield Case((call.id,), f"{call.stimulus}: read as {in_words(call.value)}", 0.0)


DEFAULT = View(_any_call)
"""The view of a figure of which nothing is known."""


def _every_call(question: Question) -> Iterator[Case]:
    """A case per item: all its calls, those without a verdict too."""
    for calls in grouped(question.calls, lambda call: call.item).values():
        read = {in_words(call.value): call.value for call in calls if call.is_read}
        pairs = combinations([*read.values()][:MOST_COMPARED], 2)
        distance = max((apart(one, other) for one, other in pairs), default=0.0)
        reading = f"read as {listed([*read], MOST_EXAMPLES)}" if read else "no verdict"
        asked = ", ".join((calls[0].stimulus, *_shared(calls)))
        yield Case(tuple(call.id for call in calls), f"{asked}: {reading}", distance)


def _shared(calls: Sequence[Asked]) -> Iterator[str]:
    """What the cells of all these calls hold, in words."""
    for name, value in calls[0].cell.items():
        known = value is not None and value == value  # a table has NaN where there is nothing
        if known and all(call.cell[name] == value for call in calls):
            yield f"{name} {in_words(value)}"


every_call = View(_every_call, otherwise="no such call was made")
"""All calls, whatever became of them, for a question that names no figure."""


# -- places ----------------------------------------------------------------------------------------


def _one_point(chosen: Any, order: Sequence[Any]) -> list[float]:
    return [float(thing == chosen) for thing in order]


def places(
    points_by_place: PointsByPlace = _one_point, things: Collection[str] = ()
) -> Callable[[Question], Iterator[Case]]:
    """The stimuli on which a place gets most beyond what its things get elsewhere.

    `points_by_place` says what a verdict gives to each thing that is listed. A key may name the
    place (`position`, `place`), or a thing by one of the dimensions `things`.
    """

    def find(question: Question) -> Iterator[Case]:
        dims = question.key.dims
        place = dims.get("position", dims.get("place"))
        thing = next((dims[name] for name in things if name in dims), None)
        for stimulus, calls in grouped(question.read(), lambda call: call.stimulus).items():
            excess = _excess(calls, points_by_place, thing)
            means = [sum(column) / len(calls) for column in zip(*excess.values(), strict=False)]
            largest = max(range(len(means)), key=means.__getitem__, default=-1)
            at = int(place) - 1 if place and place.isdecimal() else largest
            if 0 <= at < len(means) and abs(means[at]) > _ROUNDING:
                sign = 1 if means[at] > 0 else -1
                # The calls that show it most come first.
                ranked = sorted(calls, key=lambda call: -sign * excess[call.id][at])
                than = f"{two_digits(abs(means[at]))} {'more' if sign > 0 else 'less'} a call"
                why = f"{stimulus}: place {at + 1} gets {than} than other places"
                yield Case(tuple(call.id for call in ranked), why, abs(means[at]))

    return find


def _excess(
    calls: Sequence[Asked], points_by_place: PointsByPlace, thing: str | None
) -> dict[str, list[float]]:
    """What each call gives to each place, beyond what the item's calls give to the thing there."""
    given = {
        call.id: dict(
            zip(map(str, call.order), points_by_place(call.value, call.order), strict=False)
        )
        for call in calls
    }
    excess: dict[str, list[float]] = {}
    for item in grouped(calls, lambda call: call.item).values():
        things = {name for call in item for name in given[call.id]}
        mean = {name: sum(given[c.id].get(name, 0.0) for c in item) / len(item) for name in things}
        for call in item:
            excess[call.id] = [
                got - mean[name] if thing in (None, name) else 0.0
                for name, got in given[call.id].items()
            ]
    return excess


# -- who wins, and quality -------------------------------------------------------------------------


def winners(orders: str) -> Callable[[Question], Iterator[Case]]:
    """The prompts of which another response is best under the "same" or "other" `orders`.

    A case holds the calls of both readings of all responses to a prompt.
    """

    def find(question: Question) -> Iterator[Case]:
        for stimulus, calls in grouped(question.read(), lambda call: call.stimulus).items():
            readings = ((reading, *_winner(reading)) for reading in _readings(calls))
            won = [each for each in readings if each[1]][:MOST_COMPARED]
            pairs = [
                (margin + other_margin, one + other, name, other_name)
                for (one, name, margin), (other, other_name, other_margin) in combinations(won, 2)
                if name != other_name
                and (orders == "same") == (list(one[0].order) == list(other[0].order))
            ]
            if pairs:
                margins, both, name, other_name = max(pairs, key=itemgetter(0))
                why = f"{stimulus}: {name} is best in one reading, {other_name} in another"
                yield Case(tuple(call.id for call in both), why, margins)

    return find


def _readings(calls: Sequence[Asked]) -> list[list[Asked]]:
    """The calls of each reading of all responses to a prompt."""
    which = grouped(calls, lambda one: (one.cell.get("arm"), *map(str, one.order), one.repeat))
    return list(which.values())


def _winner(reading: Sequence[Asked]) -> tuple[str, float]:
    """The item that scores highest, and by how much; "" where several do, or none has a score."""
    levels = ((_scores(call), _name(call)) for call in reading)
    ranked = sorted(((sum(s.values()) / len(s), name) for s, name in levels if s), reverse=True)
    margin = ranked[0][0] - ranked[1][0] if len(ranked) > 1 else 0.0
    return (ranked[0][1], margin) if margin > 0 else ("", 0.0)


def _tied(question: Question) -> Iterator[Case]:
    for stimulus, calls in grouped(question.read(), lambda call: call.stimulus).items():
        readings = _readings(calls)
        # Of a single response nobody could be best.
        tied = [one for one in readings if len(one) > 1 and not _winner(one)[0]]
        if tied:
            why = f"{stimulus}: several are best in {len(tied)} of {len(readings)} readings"
            yield Case(tuple(call.id for call in tied[0]), why, len(tied) / len(readings))


ties = View(_tied)
"""The prompts of which several responses are best."""


def _name(call: Asked) -> str:
    return str(call.cell.get("item", call.item))


def _off_quality(question: Question) -> Iterator[Case]:
    """Items by how far a reading lies from their known quality, both on a scale from 0 to 1."""
    known = _quality(question.labels)
    only = question.key.dims.get("criterion")
    scores = [_scores(call, only) for call in question.read()]
    low, high = _ends(score for parts in scores for score in parts.values())
    worst: dict[int, Case] = {}
    for call, parts in zip(question.read(), scores, strict=True):
        for name, score in parts.items():
            label = known.get((_name(call), name))
            if label is not None:
                far = (score - low) / (high - low) - label[0]
                of = f" on {name}" if name else ""
                why = f"{_name(call)}: read as {score:g}{of}, its quality is {label[1]:g}"
                case = Case((call.id,), why, abs(far))
                if case.severity > worst.get(call.item, _NOTHING).severity:
                    worst[call.item] = case
    yield from worst.values()


_NOTHING = Case((), "", 0.0)


def _scores(call: Asked, only: str | None = None) -> dict[str, float]:
    """The scores of a call by criterion, "" for one without a name; `only` that of one."""
    parts = call.value if isinstance(call.value, Mapping) else {"": call.value}
    return {
        name: float(score)
        for name, score in parts.items()
        if only in (None, name) and isinstance(score, int | float)
    }


def _quality(labels: Sequence[Label]) -> dict[tuple[str, str], tuple[float, float]]:
    """(item, criterion) -> its label from 0 to 1 among all of its kind, and as it is."""
    by_kind = grouped(labels, lambda label: label.kind)
    known: dict[tuple[str, str], tuple[float, float]] = {}
    for kind in ("intended", "model", "human"):  # the best kind comes last and stays
        mine = by_kind.get(kind, [])
        low, high = _ends(label.score for label in mine)
        for label in mine:
            place = (label.score - low) / (high - low)
            known[label.item, label.criterion] = place, label.score
    return known


def _ends(values: Iterable[float]) -> tuple[float, float]:
    """The least and the greatest value, never the same."""
    known = sorted(values) or [0.0]
    return known[0], max(known[-1], known[0] + 1e-9)


off_quality = View(_off_quality, dims=("criterion",))
"""The readings that follow known quality least."""


# -- what several views need -----------------------------------------------------------------------


def grouped(things: Iterable[T], by: Callable[[T], K]) -> dict[K, list[T]]:
    """The things by what `by` says of them, in the order in which they come."""
    groups: defaultdict[K, list[T]] = defaultdict(list)
    for thing in things:
        groups[by(thing)].append(thing)
    return dict(groups)


def in_words(value: Any) -> str:
    """A verdict in words: `4`, `tie`, `depth 4, style 3`."""
    if isinstance(value, Mapping):
        parts = ((name, part) for name, part in value.items())
        return ", ".join(f"{name} {in_words(_main(part))}" for name, part in parts)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _main(part: Any) -> Any:
    """The score of a part that has more than that."""
    return part.get("score", part) if isinstance(part, Mapping) else part
