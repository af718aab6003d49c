"""What the parts of the page share: plain strings in small records, and places to link to."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from judgesheet.records import Datasheet, Estimate
from judgesheet.spine.render import show

T = TypeVar("T")

PASS, FAIL, OPEN, VOID = ("✓", "pass"), ("✗", "fail"), ("?", "not proven"), ("∅", "void")
"""How a verdict is marked: a symbol and a word, so that colour never says it alone."""


@dataclass(frozen=True, slots=True)
class Row:
    """A name and what is known under it; `why` is for those who want to know more."""

    name: str
    value: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A figure that a sentence rests on: its key, its place in the document and its value."""

    key: str
    anchor: str
    label: str
    sentence: str


class Anchors:
    """Ids for deep links: readable, unique and the same for the same sheet."""

    def __init__(self) -> None:
        self._by_key: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, key: str) -> str:
        """The id of what has this key."""
        if key not in self._by_key:
            base = re.sub(r"[^A-Za-z0-9_.=-]+", "-", key[:120]).strip("-") or "x"
            name, count = base, 2
            while name in self._taken:
                name, count = f"{base}-{count}", count + 1
            self._taken.add(name)
            self._by_key[key] = name
        return self._by_key[key]


def evidence(
    keys: Iterable[str], found: Mapping[str, Estimate], anchors: Anchors
) -> Iterator[Evidence]:
    """Only figures that are in the sheet: a key without an estimate proves nothing."""
    for key in keys:
        if key in found:
            sentence = show.tied(show.estimate(found[key]).sentence)
            label = capital(show.visible(found[key].label, 120))
            yield Evidence(show.visible(key, 160), anchors.of(key), label, sentence)


def share_out(queues: Sequence[Sequence[T]], cost: Callable[[T], int], room: int) -> list[list[T]]:
    """The first of every queue, then the second of every queue, as long as there is room.

    `cost` is in printed lines. A queue whose next entry does not fit is closed, the others go on.
    """
    taken: list[list[T]] = [[] for _ in queues]
    going = list(range(len(queues)))
    while going:
        for index in list(going):
            place = len(taken[index])
            if place == len(queues[index]) or cost(queues[index][place]) > room:
                going.remove(index)
                continue
            room -= cost(queues[index][place])
            taken[index].append(queues[index][place])
    return taken


def lines_of(text: str, width: int) -> int:
    """About how many printed lines a text takes at `width` characters a line."""
    return max(1, -(-len(text) // width))


def more(left_out: int) -> str:
    """What stands where something was trimmed."""
    return f"+{left_out} more in the appendix" if left_out > 0 else ""


def losses(part: Any) -> str:
    """`41 unreadable, 5 refused` of an axis."""
    names = ("unreadable", "refused", "failed")
    numbers = ((name, getattr(part, name)) for name in names)
    return ", ".join(f"{show.count(number)} {name}" for name, number in numbers if number)


def total(sheet: Datasheet, name: str) -> int:
    """A count summed over the axes."""
    return sum(getattr(axis, name) for axis in sheet.axes)


def made(part: Any) -> int:
    """The calls of an axis that were settled, one way or another."""
    return int(part.answered + part.unreadable + part.refused + part.failed)


def records(value: Any) -> Sequence[Mapping[str, Any]]:
    """The mappings in a list that nobody has checked."""
    listed = value if isinstance(value, list | tuple) else ()
    return [part for part in listed if isinstance(part, Mapping)]


def usual(texts: Iterable[str]) -> str:
    """The text that more than half of the rows share, else ""; the others print their own."""
    counted = Counter(texts)
    text, times = counted.most_common(1)[0] if counted else ("", 0)
    return text if 2 * times > counted.total() else ""


def capital(label: str) -> str:
    """A label as a sentence begins; one that opens with a symbol (`r`, `p`) keeps it."""
    return label if label[1:2] in ("", " ", ":") else label[:1].upper() + label[1:]


def stopped(text: str) -> str:
    """The text with a full stop, so that texts can follow each other."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def unknown(items: Mapping[str, Any], known: Iterable[str]) -> Iterator[Row]:
    """Items that no table has a place of its own for."""
    for name, value in items.items():
        if name not in known:
            yield Row(capital(show.words(str(name))), show.anything(value))
