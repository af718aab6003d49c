"""How an axis declares a figure: a decorator on its function says what a reader must know.

The function's name is the name of the key, and its docstring what `explain` prints. Everything else
that the stages ask about a figure is said there too: see `Facts`.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypedDict, TypeVar, Unpack, cast

from judgesheet.base.keys import Key, dims_of
from judgesheet.base.missing_reasons import Reason
from judgesheet.base.records import Bounds, Characteristic, Estimate, PaperCompatible
from judgesheet.stats.draws import keep
from judgesheet.stats.interval import Ends, Interval, missing, wilson

if TYPE_CHECKING:
    from judgesheet.axis import Readings

S = TypeVar("S")
T = TypeVar("T")
Better = Literal["lower", "higher", "nearer", ""]
Naming = str | Callable[[Mapping[str, str]], str]
"""A text with the dimensions in braces (`acc_{k}`), or a function of them."""


class Conditions(Protocol):
    """The conditions under which a figure was measured: a frozen dataclass with its own text."""

    @property
    def words(self) -> str:
        """The facts as the sheet prints them."""


@dataclass(frozen=True, slots=True)
class UnkeyedEstimate:
    """One estimate before it has its key: an interval with its evidence.

    Attributes
    ----------
    label
        What it is, for a reader.
    interval
        Value, ends, clusters, method and note; `stats.interval.missing` where there is none.
    dims
        The dimensions of its key, in order.
    n
        Calls or items used.
    conditions
        Those it was measured under, as a record; a text if no program needs them.
    note
        Printed before the interval's own note; a function where it tells of the ends.
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
    conditions: Conditions | str = ""
    note: str | Callable[[Ends], str] = ""
    method: str = ""
    unit: str = ""
    paper: PaperCompatible | None = None
    ceiling: float | None = None

    def or_absent(self, reason: Reason) -> "UnkeyedEstimate":
        """The estimate; if it has no value, with this reason instead of the interval's own."""
        return self if self.interval.value is not None else self.without_value(reason)

    def without_value(self, reason: Reason) -> "UnkeyedEstimate":
        """The estimate of a figure that has no value although its calls were made, and why."""
        why = missing(reason, clusters=self.interval.clusters)
        return replace(self, interval=why, method="", note="")


def absent(label: str, reason: Reason, dims: Mapping[str, object] | None = None) -> UnkeyedEstimate:
    """A figure without a value, and why."""
    return UnkeyedEstimate(label, missing(reason), dims or {})


def wilson_beside(hits: float, total: float, method: str) -> PaperCompatible:
    """Wilson's interval of so many hits, as the papers print it beside a share."""
    naive = wilson(hits, total)
    return PaperCompatible(naive.value, naive.low, naive.high, method)


class Facts(TypedDict, total=False):
    """What the declaration of a figure says besides its unit.

    Where a fact differs between members of a family it is a mapping from dimensions (`arm=fixed`,
    "" for any) to the fact; of a figure's own key the first that fits counts.

    Attributes
    ----------
    symbol
        A short sign such as `V`; may name dimensions, `acc_{k}`.
    null
        The value that would mean "no effect", None where no value does.
    better
        Which way a user wants it: `lower` (most measure a fault), `higher`, `nearer` to `null`, or
        "" if neither is better.
    noise
        `name` or `name[dim={dim}]` of the figure that shows the same quantity when the question is
        only repeated.
    debiases
        Name of the figure that it is without the part that chance alone adds to that one.
    headline
        Rank of the members that the table of characteristics has, the most telling first: a sheet
        that is short of room cuts from the end. Ranks are compared over all figures of an axis.
    sweep
        Rank of the members that a sweep follows: the bias first, then what it costs.
    missing
        What recorded judgments must hold for a member of the table; else what they must for any
        figure of the axis.
    passes_blind
        Whether a judge that does not look at what it judges passes it for no merit of its own: it
        is void where the axis's control fails.
    reads
        The calls that it reads, in words of the axis (`Axis.reads`); "" for all.
    """

    symbol: Naming
    null: float | None
    better: Better
    noise: Naming
    debiases: str
    headline: int | Mapping[str, int]
    sweep: int | Mapping[str, int]
    missing: str | Mapping[str, str]
    passes_blind: bool
    reads: str


class Figure(Generic[S]):
    """A declared figure: called with an axis's arranged readings, it yields its estimates."""

    def __init__(
        self,
        axis: str,
        function: Callable[[S], UnkeyedEstimate | Iterable[UnkeyedEstimate]],
        unit: str,
        **facts: Unpack[Facts],
    ) -> None:
        # `explain` prints the function's docstring, and `declared_in` asks for its module.
        functools.update_wrapper(self, function)
        self.axis = axis
        self.name = function.__name__
        self.unit = unit
        self.function = function
        self.facts: Facts = facts
        self.passes_blind = facts.get("passes_blind", False)
        self.reads = facts.get("reads", "")

    def __call__(self, arranged: S, level: float) -> tuple[Estimate, ...]:
        """The estimates of this figure, one per set of dimensions, at a confidence level."""
        return tuple(self._estimate(estimate, level) for estimate in self.unkeyed(arranged))

    def unkeyed(self, arranged: S) -> Iterable[UnkeyedEstimate]:
        """What its estimates are made of, for a figure that repeats them under another name."""
        estimates = self.function(arranged)
        return [estimates] if isinstance(estimates, UnkeyedEstimate) else estimates

    def characteristic(self, dims: Mapping[str, str]) -> Characteristic:
        """The row of the characteristics table for these dimensions."""
        mine, facts = Key(self.axis, self.name, dims), self.facts
        noise = _named(facts.get("noise", ""), dims)
        partner = f"{self.axis}.{noise}" if noise else ""
        return Characteristic(
            key=str(mine),
            symbol=_named(facts.get("symbol", ""), dims),
            null=facts.get("null"),
            noise="" if partner == str(mine) else partner,
            better=facts.get("better", "lower"),
        )

    @property
    def headline(self) -> Mapping[str, int]:
        """Dimensions of its rows in the characteristics table -> their ranks there."""
        return _by_dims(self.facts.get("headline", {}))

    @property
    def sweep(self) -> Mapping[str, int]:
        """Dimensions of its members that a sweep follows -> their ranks there."""
        return _by_dims(self.facts.get("sweep", {}))

    def missing(self, dims: Mapping[str, str]) -> str:
        """What recorded judgments must hold for it."""
        return _fitting(_by_dims(self.facts.get("missing", "")), dims) or "calls of this axis"

    def _estimate(self, estimate: UnkeyedEstimate, level: float) -> Estimate:
        interval, ends = estimate.interval, estimate.interval.at(level)
        own = estimate.note if isinstance(estimate.note, str) else estimate.note(ends)
        note = "; ".join(part for part in (own, interval.note) if part)
        conditions = estimate.conditions
        facts = {} if isinstance(conditions, str) else asdict(cast("Any", conditions))
        if debiased := self.facts.get("debiases"):
            facts["debiases"] = str(Key(self.axis, debiased))
        key = str(Key(self.axis, self.name).at(**estimate.dims))
        keep(key, interval.drawn)
        return Estimate(
            key=key,
            label=estimate.label,
            value=_number(interval.value),
            low=_number(ends.low),
            high=_number(ends.high),
            level=level,
            unit=estimate.unit or self.unit,
            n=estimate.n,
            clusters=interval.clusters,
            method=estimate.method or interval.method,
            conditions=conditions if isinstance(conditions, str) else conditions.words,
            note=note,
            paper_compatible=estimate.paper,
            bounds=_bounds(interval, ends, level),
            reason=interval.reason,
            given=facts,
            # Told as "3 of 40" only where the 40 are the calls of `n`.
            count=interval.hits if interval.trials == estimate.n else None,
            ceiling=_number(estimate.ceiling),
        )


class Figures:
    """The decorator with which the modules of an axis declare their figures.

    `facts` are those of all its figures that do not say otherwise.
    """

    def __init__(self, axis: str, **facts: Unpack[Facts]) -> None:
        self.axis = axis
        self.facts = facts

    def __call__(
        self, unit: str, **facts: Unpack[Facts]
    ) -> Callable[[Callable[[S], UnkeyedEstimate | Iterable[UnkeyedEstimate]]], Figure[S]]:
        """Declare a figure in a unit: a name of `units.UNITS`, or a quantity such as `points`."""
        merged: Facts = {**self.facts, **facts}
        return lambda function: Figure(self.axis, function, unit, **merged)

    def but(self, **facts: Unpack[Facts]) -> "Figures":
        """The same decorator for figures that have other facts in common."""
        merged: Facts = {**self.facts, **facts}
        return Figures(self.axis, **merged)

    def adopted(self, *modules: ModuleType, **facts: Unpack[Facts]) -> dict[str, Figure[Any]]:
        """The figures that these modules declare for every axis, as figures of this one."""
        every = declared_in(*modules)
        return {name: self.of(figure, **facts) for name, figure in every.items()}

    def of(self, figure: Figure[S], **facts: Unpack[Facts]) -> Figure[S]:
        """The same figure on this axis, where some facts may be others."""
        merged: Facts = {**self.facts, **figure.facts, **facts}
        return Figure(self.axis, figure.function, figure.unit, **merged)


def declared_in(*modules: ModuleType) -> dict[str, Figure[Any]]:
    """The figures that these modules declare, in reading order."""
    return {
        name: thing
        for module in modules
        for name, thing in vars(module).items()
        if isinstance(thing, Figure) and thing.__module__ == module.__name__
    }


def named(*figures: Figure[Any]) -> dict[str, Figure[Any]]:
    """These figures by their names."""
    return {one.name: one for one in figures}


def measured(
    figures: Mapping[str, Figure[S]], arranged: S, readings: "Readings"
) -> Iterator[Estimate]:
    """The estimates of those of these figures that are wanted of the readings, at their level."""
    for name, figure in figures.items():
        if readings.wants(name):
            yield from figure(arranged, readings.level)


def _bounds(interval: Interval, ends: Ends, level: float) -> Bounds | None:
    """The bounds that a gate compares with a limit; None unless the interval has both ends."""
    if interval.value is None or ends.low is None or ends.high is None:
        return None
    if not interval.proves:
        reason = "none: the range over subsets is no confidence interval"
        # Its one user is a correlation, so no limit lies beyond these ends, `proves` or not.
        return Bounds(-1.0, 1.0, level, reason, proves=False)
    low, high = ends.bounds or (ends.low, ends.high)
    method = "one-sided" if ends.bounds else "ends of the two-sided interval (conservative)"
    return Bounds(float(low), float(high), level, method, seen=ends.seen)


def _by_dims(fact: T | Mapping[str, T]) -> Mapping[str, T]:
    """A fact by the dimensions that it is one of, "" for all."""
    return fact if isinstance(fact, Mapping) else {"": fact}


def _fitting(facts: Mapping[str, T], dims: Mapping[str, str]) -> T | None:
    """The first of these facts that is one of these dimensions."""
    fits = (fact for local, fact in facts.items() if dims_of(local).items() <= dims.items())
    return next(fits, None)


def _named(naming: Naming, dims: Mapping[str, str]) -> str:
    return naming.format(**dims) if isinstance(naming, str) else naming(dims)


def _number(value: float | None) -> float | None:
    """Numpy's numbers as Python's, which JSON can write."""
    return None if value is None else float(value)
