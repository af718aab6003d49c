"""How an axis declares a figure: a decorator on its function says what a reader must know.

    figure = Figures("score_order")

    @figure("V", symbol="V", null=0.0)
    def cramers_v(scores: Scores) -> Iterator[Draft]:
        \"\"\"Strength of the position preference, 0 (none) to 1.\"\"\"
        yield Draft("Cramér's V of the chosen position", interval, n=calls)

The function's name is the name of the key, and its docstring what `explain` prints.
"""

import copy
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from types import ModuleType
from typing import Any, Generic, Literal, Protocol, TypeVar, cast

from judgesheet.base.keys import Key
from judgesheet.base.missing_reasons import Reason
from judgesheet.base.records import Bounds, Characteristic, Estimate, PaperCompatible
from judgesheet.stats.interval import Interval, missing

S = TypeVar("S")
Better = Literal["lower", "higher", "nearer", ""]
Naming = str | Callable[[Mapping[str, str]], str]
"""A text with the dimensions in braces (`acc_{k}`), or a function of them."""


class Conditions(Protocol):
    """The conditions under which a figure was measured: a frozen dataclass with its own text."""

    @property
    def words(self) -> str:
        """The facts as the sheet prints them."""


@dataclass(frozen=True, slots=True)
class Draft:
    """One estimate before it has its key: an interval with its evidence.

    Attributes
    ----------
    label
        What it is, for a reader.
    interval
        Value, ends, level, clusters, method and note; `stats.interval.missing` where there is none.
    dims
        The dimensions of its key, in order.
    n
        Calls or items used.
    given
        The conditions, as a record; a text if no program needs them.
    note
        Printed before the interval's own note.
    method, unit
        Override the interval's method and the declared unit.
    paper
        The same figure computed the paper's way.
    ceiling
        The most that the figure can be with these calls, if that is less than its scale has.
    """

    label: str
    interval: Interval
    dims: Mapping[str, object] = field(default_factory=dict)
    n: int = 0
    given: Conditions | str = ""
    note: str = ""
    method: str = ""
    unit: str = ""
    paper: PaperCompatible | None = None
    ceiling: float | None = None

    def or_absent(self, reason: Reason) -> "Draft":
        """The draft; if it has no value, with this reason instead of the interval's own."""
        return self if self.interval.value is not None else self.without_value(reason)

    def without_value(self, reason: Reason) -> "Draft":
        """The draft of a figure that has no value although its calls were made, and why."""
        why = missing(reason, clusters=self.interval.clusters)
        return replace(self, interval=why, method="", note="")


def absent(label: str, reason: Reason, dims: Mapping[str, object] | None = None) -> Draft:
    """A figure without a value, and why."""
    return Draft(label, missing(reason), dims or {})


class Figure(Generic[S]):
    """A declared figure: called with an axis's arranged readings, it yields its estimates."""

    def __init__(
        self,
        axis: str,
        function: Callable[[S], Draft | Iterable[Draft]],
        unit: str,
        *,
        symbol: Naming,
        null: float | None,
        better: Better,
        noise: Naming,
    ) -> None:
        # `explain` prints the function's docstring, and `declared_in` asks for its module.
        functools.update_wrapper(self, function)
        self.axis = axis
        self.name = function.__name__
        self.unit = unit
        self._function = function
        self._symbol, self._null, self._better, self._noise = symbol, null, better, noise

    def __call__(self, arranged: S) -> tuple[Estimate, ...]:
        """The estimates of this figure, one per set of dimensions."""
        return tuple(self._estimate(draft) for draft in self.drafts(arranged))

    def of(self, axis: str) -> "Figure[S]":
        """The same figure on another axis: axes share figures that mean the same."""
        mine = copy.copy(self)
        mine.axis = axis
        return mine

    def drafts(self, arranged: S) -> Iterable[Draft]:
        """What its estimates are made of, for a figure that repeats them under another name."""
        drafts = self._function(arranged)
        return [drafts] if isinstance(drafts, Draft) else drafts

    def characteristic(self, dims: Mapping[str, str]) -> Characteristic:
        """The row of the characteristics table for these dimensions."""
        mine = Key(self.axis, self.name, dims)
        noise = _named(self._noise, dims)
        partner = f"{self.axis}.{noise}" if noise else ""
        return Characteristic(
            key=str(mine),
            symbol=_named(self._symbol, dims),
            null=self._null,
            noise="" if partner == str(mine) else partner,
            better=self._better,
        )

    def _estimate(self, draft: Draft) -> Estimate:
        interval = draft.interval
        note = "; ".join(part for part in (draft.note, interval.note) if part)
        given = draft.given
        return Estimate(
            key=str(Key(self.axis, self.name).at(**draft.dims)),
            label=draft.label,
            value=_number(interval.value),
            low=_number(interval.low),
            high=_number(interval.high),
            level=interval.level,
            unit=draft.unit or self.unit,
            n=draft.n,
            clusters=interval.clusters,
            method=draft.method or interval.method,
            conditions=given if isinstance(given, str) else given.words,
            note=note,
            paper_compatible=draft.paper,
            bounds=_bounds(interval),
            reason=interval.reason,
            given={} if isinstance(given, str) else asdict(cast("Any", given)),
            # Told as "3 of 40" only where the 40 are the calls of `n`.
            count=interval.hits if interval.trials == draft.n else None,
            ceiling=_number(draft.ceiling),
        )


class Figures:
    """The decorator with which the modules of an axis declare their figures."""

    def __init__(self, axis: str) -> None:
        self.axis = axis

    def __call__(
        self,
        unit: str,
        *,
        symbol: Naming = "",
        null: float | None = None,
        better: Better = "lower",
        noise: Naming = "",
    ) -> Callable[[Callable[[S], Draft | Iterable[Draft]]], Figure[S]]:
        """Declare a figure.

        Parameters
        ----------
        unit
            A name of `units.UNITS`, or a plain quantity such as `points`.
        symbol
            A short sign such as `V`; may name dimensions, `acc_{k}`.
        null
            The value that would mean "no effect", None where no value does.
        better
            Which way a user wants it: `lower` (most measure a fault), `higher`, `nearer` to `null`,
            or "" if neither is better.
        noise
            `name` or `name[dim={dim}]` of the figure that shows the same quantity when the question
            is only repeated.
        """

        def declare(function: Callable[[S], Draft | Iterable[Draft]]) -> Figure[S]:
            return Figure(
                self.axis, function, unit, symbol=symbol, null=null, better=better, noise=noise
            )

        return declare


def declared_in(*modules: ModuleType) -> dict[str, Figure[Any]]:
    """The figures that these modules declare, in reading order."""
    return {
        name: thing
        for module in modules
        for name, thing in vars(module).items()
        if isinstance(thing, Figure) and thing.__module__ == module.__name__
    }


def shared(axis: str, *modules: ModuleType) -> dict[str, Figure[Any]]:
    """The figures that these modules declare for every axis, as figures of this one."""
    return {name: figure.of(axis) for name, figure in declared_in(*modules).items()}


def measured(figures: Iterable[Figure[S]], arranged: S) -> Iterator[Estimate]:
    """The estimates of these figures."""
    for figure in figures:
        yield from figure(arranged)


def _bounds(interval: Interval) -> Bounds | None:
    """The bounds that a gate compares with a limit; None unless the interval has both ends."""
    if interval.value is None or interval.low is None or interval.high is None:
        return None
    if not interval.proves:
        reason = "none: the range over subsets is no confidence interval"
        # Ends that no limit can lie beyond, for readers that overlook `proves`.
        return Bounds(-1.0, 1.0, interval.level, reason, proves=False)
    low, high = interval.bounds or (interval.low, interval.high)
    method = "one-sided" if interval.bounds else "ends of the two-sided interval (conservative)"
    return Bounds(float(low), float(high), interval.level, method)


def _named(naming: Naming, dims: Mapping[str, str]) -> str:
    return naming.format(**dims) if isinstance(naming, str) else naming(dims)


def _number(value: float | None) -> float | None:
    """Numpy's numbers as Python's, which JSON can write."""
    return None if value is None else float(value)
