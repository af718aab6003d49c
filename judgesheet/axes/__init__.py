"""The rooms: one axis of bias, one file (or folder) each.

An axis is a module. It says which question it answers, which cells it asks in, how it asks, how
it reads a reply, and which estimates follow. It knows no stage of the spine; the spine knows no
axis by name. A new axis is a file here, or an entry point in the group `judgesheet.axes` of another
package.
"""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from judgesheet.errors import UsageError
from judgesheet.records import (
    AxisResult,
    Call,
    Characteristic,
    Control,
    Estimate,
    Figure,
    Label,
    Mitigation,
    Rating,
    Recommendation,
    ReplyFormat,
    Statement,
    Stimulus,
)
from judgesheet.simulation import Known, Parameters

if TYPE_CHECKING:
    import random

    import numpy as np
    import pandas as pd
    from pydantic import BaseModel

PROFILES = ("smoke", "quick", "standard", "full")


@dataclass(frozen=True, slots=True)
class Options:
    """What the user chose for a run, as far as an axis may know it.

    `repeats` is the number of reads of a repeated cell (None: the profile's), `sequences` the
    permutation design (`cyclic` or `williams`), `template` a prompt template that replaces the
    built-in one, `max_tokens` a reply budget that replaces the built-in one, `logprobs` whether to
    ask for the log-probabilities of the reply's tokens (by an axis that can read them).
    """

    profile: str = "quick"
    reply: ReplyFormat = "text"
    temperature: float = 0.0
    max_tokens: int | None = None
    repeats: int | None = None
    sequences: str = "cyclic"
    template: str | None = None
    logprobs: bool = False


@dataclass(frozen=True, slots=True)
class Readings:
    """What measuring gets: one row a call, and what is known about the items.

    `frame` has the columns `call_id, stimulus, repeat, reply, outcome, value` and one per key of
    the cell; `value` is what `parse` read, None where it could not. `outcome` is None for a call
    that was not made yet. Where the axis reads log-probabilities and they were asked for, the
    column `distribution` holds what it read there. `families` are the estimates that are wanted,
    None for all of them.
    """

    frame: "pd.DataFrame"
    labels: tuple[Label, ...]
    temperature: float | None
    seed: int
    families: frozenset[str] | None = None

    def wants(self, name: str) -> bool:
        """Whether the estimates of this name are to be computed."""
        return self.families is None or name in self.families


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a design can be expected to resolve, before a call is paid for."""

    key: str
    half_width: float | None
    assuming: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Something `stimuli check` found; `grave` ones make the check fail."""

    where: str
    what: str
    grave: bool = True


class Axis(Protocol):
    """The shape of a room; a module with these names is one."""

    NAME: str
    TITLE: str
    QUESTION: str
    TEMPLATE: str
    """File name of the built-in prompt under `templates/prompts/`."""
    HEADLINE: tuple[Characteristic, ...]
    NEEDS: tuple[tuple[str, str], ...]
    """(part of a key, what records must hold for it): the first part that fits says it."""
    SWEPT: tuple[str, ...]
    """Keys that a sweep follows: the bias first, then what it costs."""

    def material(self) -> "type[BaseModel]":
        """The schema of one stimulus."""

    def labels(self, stimuli: Sequence[Stimulus]) -> Iterator[Label]:
        """What the stimuli know about their items and the judge must not."""

    def design(
        self, stimuli: Sequence[Stimulus], options: Options, rng: "np.random.Generator"
    ) -> Iterator[Call]:
        """Every call of the axis, in sending order. Pure."""

    def parse(self, text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> Any | None:
        """What the reply says, or None if it cannot be read in exactly one way."""

    def fault(self, cell: Mapping[str, Any]) -> str | None:
        """What is wrong with the cell of a recorded judgment, or None."""

    def expect(self, calls: Sequence[Call]) -> Iterator[Expectation]:
        """Interval half-widths that these calls should give."""

    def measure(self, readings: Readings) -> Iterator[Estimate]:
        """Every estimate of the axis; families carry their dimensions in brackets."""

    def figures(self, estimates: Mapping[str, Estimate]) -> Iterator[Figure]:
        """The plots of this run, as data."""

    def find(self, estimates: Mapping[str, Estimate]) -> Iterator[Statement]:
        """The findings in plain words, from intervals."""

    def recommend(self, estimates: Mapping[str, Estimate]) -> Iterator[Recommendation]:
        """What a user of this judge should do."""

    def mitigate(self, estimates: Mapping[str, Estimate]) -> Iterator[Mitigation]:
        """What helps against the bias, before and after, with its price."""

    def rate(self, readings: Readings) -> Iterator[Rating]:
        """How far the run asked: the limits beyond which nothing here holds."""

    def control(self, estimates: Mapping[str, Estimate]) -> Iterator[Control]:
        """Questions with a known answer that this axis asked, and whether they came out."""

    def warn(self, readings: Readings, estimates: Mapping[str, Estimate]) -> Iterator[str]:
        """The caveats that apply to this run."""

    def check(self, stimuli: Sequence[Stimulus]) -> Iterator[Problem]:
        """What is wrong with a pool of stimuli beyond its schema."""


@runtime_checkable
class Distributing(Protocol):
    """An axis that can also read the log-probabilities of a reply."""

    def distribution(
        self, raw: str, text: str, reply: ReplyFormat, cell: Mapping[str, Any]
    ) -> object:
        """What the body as received says beyond its text; goes into `Readings` as it is."""


@runtime_checkable
class Simulating(Protocol):
    """An axis that knows how a simulated judge answers its calls.

    Such an axis may declare parameters of its own: `SIMULATED`, a dataclass in the manner of
    `judgesheet.simulation.Parameters`, which `parameters.of(SIMULATED)` then reads.
    """

    def simulate(
        self, parameters: Parameters, call: Call, known: Known, rng: "random.Random"
    ) -> str:
        """The judge's words; the same for the same arguments and state of `rng`."""


@runtime_checkable
class SharesSimulating(Simulating, Protocol):
    """An axis that also knows how probable each score was, for log-probabilities."""

    def simulated_shares(
        self, parameters: Parameters, call: Call, known: Known
    ) -> Mapping[int, float]:
        """The probability of each score, in displayed order."""


@cache
def all_axes() -> dict[str, Axis]:
    """Every axis by name, in the order of the datasheet: our own first, then entry points."""
    modules = [importlib.import_module(f"{__name__}.{name}") for name in _own_names()]
    modules += [point.load() for point in entry_points(group="judgesheet.axes")]
    return {module.NAME: cast("Axis", module) for module in modules}


def axis_names() -> list[str]:
    """The names of `all_axes`, found without importing one: an entry point is named as its axis."""
    return [*_own_names(), *(point.name for point in entry_points(group="judgesheet.axes"))]


def _own_names() -> list[str]:
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def get_axis(name: str) -> Axis:
    """The axis of that name.

    Raises
    ------
    UsageError
        if there is none; the sentence lists those that exist.
    """
    axes = all_axes()
    if name not in axes:
        raise UsageError(f"there is no axis {name!r}; the axes are {', '.join(axes)}")
    return axes[name]


def explain(axis: str, name: str) -> str | None:
    """The docstring of the function that computes `axis.name`, or None if there is none."""
    function = getattr(get_axis(axis), name, None)
    return (function.__doc__ or None) if callable(function) else None


__all__ = [
    "PROFILES",
    "Axis",
    "AxisResult",
    "Distributing",
    "Expectation",
    "Options",
    "Problem",
    "Readings",
    "all_axes",
    "axis_names",
    "explain",
    "get_axis",
]
