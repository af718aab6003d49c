"""What the parts of the page share: what they read, records of plain strings, room."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Generic, NamedTuple, TypeVar

from judgesheet.base.digits import counted
from judgesheet.base.records import (
    AxisResult,
    Datasheet,
    Decision,
    Estimate,
    Verdict,
    VerdictStatus,
)
from judgesheet.base.sanitize import capital
from judgesheet.sheet import show
from judgesheet.sheet.page.printed import PrintedEstimate

T = TypeVar("T")


class Mark(NamedTuple):
    """A symbol with its word, so that colour is never the only sign."""

    symbol: str
    word: str
    style: str
    """The CSS class."""


VOID = Mark("∅", "not usable", "void")
OUTCOMES: Mapping[VerdictStatus, Mark] = {
    "pass": Mark("✓", "kept", "pass"),
    "fail": Mark("✗", "broken", "fail"),
    "inconclusive": Mark("?", "not proven", "not-proven"),
    "invalid": VOID,
}
"""How a limit came out."""
PASSED = Mark("✓", "passed", "good")
FAILED = Mark("✗", "failed", "bad")
UNTOLD = Mark("?", "not known", "unknown")
"""How a control came out."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and its value; `why` explains it further."""

    name: str
    value: str
    why: str = ""


class Anchors:
    """Ids for deep links: readable, unique and the same for the same sheet.

    `keys` get theirs at once, so that what is asked for first makes no difference.
    """

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._by_key: dict[str, str] = {}
        self._taken: set[str] = set()
        for key in keys:
            self.of(key)

    def of(self, key: str) -> str:
        """The id of what has this key."""
        if key not in self._by_key:
            # A key of another maker may have any length and any signs.
            base = re.sub(r"[^A-Za-z0-9_.=-]+", "-", key[:120]).strip("-") or "x"
            name, count = base, 2
            while name in self._taken:
                name, count = f"{base}-{count}", count + 1
            self._taken.add(name)
            self._by_key[key] = name
        return self._by_key[key]


@dataclass(frozen=True, slots=True)
class Context:
    """What every part of the page reads: the sheet, and what was found out about it first.

    `estimates` and `verdicts` are the sheet's by key, `printed` the estimates in words; where two
    rules limit one figure, the worse outcome counts.
    """

    sheet: Datasheet
    estimates: Mapping[str, Estimate]
    printed: Mapping[str, PrintedEstimate]
    verdicts: Mapping[str, Verdict]
    anchors: Anchors

    @property
    def void(self) -> dict[str, str]:
        """Why no figure of an axis may be used: name -> reason, for those of which that is so."""
        axes = self.sheet.axes
        return {
            axis.name: show.visible(axis.invalid, 200) for axis in axes if axis.invalid is not None
        }

    @property
    def _with_copies(self) -> dict[str, int]:
        """How many stimuli were asked, those that repeat others too, on axes asked in full.

        Of a part of them nobody counts how many repeat others.
        """
        known = self.stimuli
        return {
            pool.axis: pool.stimuli
            for pool in self.sheet.provenance.stimuli
            if pool.stimuli is not None and pool.independent == known.get(pool.axis)
        }

    def on_stimuli(self, axes: Collection[str]) -> str:
        """`24 stimuli`, or `40 stimuli, 37 independent` with copies among them; "" for none."""
        known = self.stimuli
        independent, every = self._distinct(axes) or (
            sum(numbers.get(axis, 0) for axis in axes)
            for numbers in (known, known | self._with_copies)
        )
        text = counted(every, "stimulus", "stimuli") if every else ""
        return text if every == independent else f"{text}, {independent:,} independent"

    def _distinct(self, axes: Collection[str]) -> tuple[int, int] | None:
        """Independent and all stimuli, each once though several axes ask about it.

        None for some of the axes, where not all was asked, and where the plan does not say.
        """
        found = self.sheet.provenance.distinct_stimuli
        if len(axes) < 2 or not {*axes} == {*self.stimuli} == {*self._with_copies}:
            return None
        return (found.independent, found.stimuli) if found else None

    @property
    def stimuli(self) -> dict[str, int]:
        """How many independent stimuli were asked on each axis, as far as its calls were made."""
        clusters = {
            axis.name: max((estimate.clusters for estimate in axis.estimates), default=0)
            for axis in self.sheet.axes
            if axis.made
        }
        return {name: number for name, number in clusters.items() if number}

    def decided_by(self, decision: Decision) -> Verdict | None:
        """The limit that decided, of all those on its figure; None where none did."""
        own = (one for one in self.sheet.verdicts if one.key == decision.limiting)
        return next((one for one in own if one.status == decision.because), None)

    def title(self, axis: str, limit: int) -> str:
        """The title of an axis, or its name where the sheet does not have it."""
        return axis_title(self.sheet, axis, limit)

    def evidence(self, keys: Iterable[str]) -> tuple[PrintedEstimate, ...]:
        """Only figures that are in the sheet: a key without an estimate proves nothing."""
        return tuple(self.printed[key] for key in keys if key in self.printed)


# -- room ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Trimmed(Generic[T]):
    """Entries, and those that are `shown` because there was room."""

    shown: tuple[T, ...]
    every: tuple[T, ...]

    @property
    def more(self) -> str:
        """A line about the others."""
        return more(len(self.every) - len(self.shown))


def trim(queues: Sequence[Sequence[T]], most: int) -> Trimmed[T]:
    """So many entries of all queues, queue by queue."""
    return Trimmed(flat(share_out(queues, most)), flat(queues))


def share_out(queues: Sequence[Sequence[T]], most: int) -> list[list[T]]:
    """The first of every queue, then the second of every queue, until there are so many."""
    turns = ((turn, at) for at, queue in enumerate(queues) for turn in range(len(queue)))
    taken = Counter(at for _, at in sorted(turns)[:most])
    return [list(queue[: taken[at]]) for at, queue in enumerate(queues)]


def flat(queues: Iterable[Iterable[T]]) -> tuple[T, ...]:
    """Every entry, queue by queue."""
    return tuple(chain.from_iterable(queues))


def more(left_out: int) -> str:
    """The line that says how much was trimmed."""
    return f"+{left_out} more in the appendix" if left_out > 0 else ""


# -- counts and words ------------------------------------------------------------------------------


def losses(axis: AxisResult) -> str:
    """`41 unreadable, 5 refused` of an axis."""
    lost = {"unreadable": axis.unreadable, "refused": axis.refused, "failed": axis.failed}
    return ", ".join(f"{show.count(number)} {name}" for name, number in lost.items() if number)


def axis_title(sheet: Datasheet, axis: Any, limit: int = 60) -> str:
    """The title of an axis, or its name in words where the sheet does not have it."""
    titles = {result.name: result.title for result in sheet.axes}
    name = str(axis) if axis else show.NOT_RECORDED
    return show.visible(titles[name], limit) if name in titles else show.words(name)


LATENCY = ("latency_p50_s", "latency_p99_s")


def both(form: Callable[[Any], str], first: Any, second: Any) -> str:
    """`a / b`, or once that neither was recorded."""
    texts = [form(first), form(second)]
    return texts[0] if texts == [show.NOT_RECORDED] * 2 else " / ".join(texts)


def total(sheet: Datasheet, name: str) -> int:
    """A count summed over the axes."""
    return sum(getattr(axis, name) for axis in sheet.axes)


def usual(texts: Iterable[str]) -> str:
    """The text that more than half of the rows share, else ""; the others print their own."""
    counted = Counter(texts)
    text, times = counted.most_common(1)[0] if counted else ("", 0)
    return text if 2 * times > counted.total() else ""


def unknown(items: Mapping[str, Any], known: Iterable[str]) -> Iterator[Fact]:
    """Items that were recorded and that no table has a place of its own for."""
    for name, value in items.items():
        if name not in known and value not in (None, "", (), {}):
            yield Fact(capital(show.words(str(name))), show.anything(value))
