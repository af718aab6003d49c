"""What an axis must provide (`Axis`), and the records that pass between it and the stages.

An axis is a class that derives from `Axis`. It says which question it answers, in which cells and
how it asks, how it reads a reply, and which estimates follow. It knows no stage, and no stage knows
an axis by name. The other modules here are shared by
axes; the axes themselves are in `judgesheet.axes`, or in other packages.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from judgesheet.base import defaults
from judgesheet.base.effects import Effect
from judgesheet.base.estimates import Estimates
from judgesheet.base.keys import Key, dims_of
from judgesheet.base.records import (
    LEVEL,
    Call,
    Characteristic,
    Control,
    Estimate,
    Label,
    Mitigation,
    ReplyFormat,
    Stimulus,
)
from judgesheet.base.scale import Scale
from judgesheet.reading import NO_VERDICT, Reading

if TYPE_CHECKING:
    from random import Random

    import numpy as np
    import pandas as pd
    from pydantic import BaseModel

    from judgesheet.axis.failing import Failing
    from judgesheet.axis.figure import Figure
    from judgesheet.axis.simulation import Known, Parameters

# By what is asked of each axis, from a look in five minutes to all that papers ask.
PROFILES = ("first", "smoke", "quick", "standard", "full")


@dataclass(frozen=True, slots=True)
class Options:
    """The user's choices for a run that concern an axis.

    `repeats` is the number of reads of a repeated cell (None: the profile's), `sequences` the
    permutation design (`cyclic` or `williams`), `template` a prompt template that replaces the
    built-in one, `max_tokens` a reply budget that replaces the built-in one, `logprobs` whether to
    ask for the log-probabilities of the reply's tokens (by an axis that can read them).
    """

    profile: str = defaults.PROFILE
    reply: ReplyFormat = "text"
    temperature: float = defaults.TEMPERATURE
    max_tokens: int | None = None
    repeats: int | None = None
    sequences: str = defaults.SEQUENCES
    template: str | None = None
    logprobs: bool = False


@dataclass(frozen=True, slots=True)
class Readings:
    """What measuring gets: one row a call, and what is known about the items.

    `frame` has the columns `call_id, stimulus, cluster, repeat, reply, outcome, value` and one
    per key of the cell. Calls on stimuli of one `cluster` depend on each other: it is what
    figures resample and count, where `stimulus` names what was asked. `value` is what was read,
    None where there is no verdict. `question` is a number that calls with the same prompt share,
    where those are known. `outcome` is None for a call that was not made yet. Where the axis reads
    log-probabilities and they were asked for, the column `distribution` holds what it read there.
    `shape` says what came instead of a verdict, where a call was made and gave none (a code of
    `reading.reasons`). `families` are the estimates that are wanted, None for all of
    them. `texts` are the replies themselves by the id of their call, for whoever shows them; None
    where they were not kept. `scale` is that of the scores, where it is not from 1. `anchors` are
    the rows of anchors, which no figure reads, with `asked`, the share of the run before each.
    `level` is the confidence of every interval: another where a run is looked at while it grows.
    """

    frame: "pd.DataFrame"
    labels: tuple[Label, ...]
    temperature: float | None
    seed: int
    families: frozenset[str] | None = None
    texts: "pd.Series[str] | None" = None
    scale: Scale | None = None
    anchors: "pd.DataFrame | None" = None
    level: float = LEVEL

    def wants(self, name: str) -> bool:
        """Whether the estimates of this name are to be computed."""
        return self.families is None or name in self.families

    @property
    def made(self) -> "pd.DataFrame":
        """The calls that were made: what was only planned tells nothing."""
        return self.frame[self.frame["outcome"].notna()]

    @property
    def every(self) -> "pd.DataFrame":
        """All rows, those of anchors too."""
        import pandas as pd

        if self.anchors is None:
            return self.frame
        anchors = self.anchors.drop(columns="asked")
        return pd.concat([self.frame, anchors], ignore_index=True)

    @property
    def clusters(self) -> dict[str, frozenset[str]]:
        """The stimuli of each cluster, in the order of their names."""
        by_name = self.frame.groupby("cluster")["stimulus"]
        return {str(name): frozenset(stimuli) for name, stimuli in by_name}


@dataclass(frozen=True, slots=True)
class Problem:
    """Something `stimuli check` found; `grave` ones make the check fail.

    Those of a `template` are texts that are nearly the same.
    """

    where: str
    what: str
    grave: bool = True
    code: Literal["template", ""] = ""


class Axis(ABC):
    """A question about a judge: what is asked, how replies are read, and what follows from them.

    An axis derives from it, with one of `parse` and `reading`; by members that it leaves out it
    says nothing of the kind. How simulated judges answer it and how imported prompts become its
    stimuli is in `Simulating` and `shaping.Shaping`. The pool of stimuli and the prompt are found
    by `judgesheet.axes.pool` and `judgesheet.axes.prompt`.
    """

    NAME: str
    TITLE: str
    QUESTION: str
    ESTIMATES: "Mapping[str, Figure[Any]]"
    """Every figure by its name, in the order of the appendix."""
    EFFECTS: tuple[Effect, ...] = ()
    """What a judge may do wrong, each with the figure that measures it."""
    READ_BY: frozenset[str] | None = None
    """Keys of the cell that `parse`, `reading` and `parts` look at; None where it may be any. Equal
    replies to calls that agree in them are read once."""
    FACTS: Mapping[str, tuple[str, ...]] = {}
    """A field of the cell -> the fields that name the thing of which it is true in all calls."""
    PERMUTED: frozenset[str] = frozenset()
    """Variables of the prompt whose order changes between calls: what a loop lists, or what is
    named after its place."""
    PAPER: str = ""
    """Authors, title and year of what its measurements were published in."""
    FAILING: "Failing | None" = None
    """How far off each call is, for whoever asks where a judge fails; None where nobody knows."""

    # -- what is asked

    @abstractmethod
    def material(self) -> "type[BaseModel]":
        """The schema of one stimulus."""

    @abstractmethod
    def design(
        self, stimuli: Sequence[Stimulus], options: Options, rng: "np.random.Generator"
    ) -> Iterator[Call]:
        """Every call of the axis, in sending order. Pure."""

    @abstractmethod
    def fault(self, cell: Mapping[str, Any]) -> str | None:
        """What is wrong with the cell of a recorded judgment, or None."""

    def labels(self, stimuli: Sequence[Stimulus]) -> Iterator[Label]:
        """What the stimuli say about their items; never shown to the judge."""
        return iter(())

    def check(self, stimuli: Sequence[Stimulus]) -> Iterator[Problem]:
        """What is wrong with a pool of stimuli beyond its schema."""
        return iter(())

    def template(self, stimuli: Sequence[Stimulus]) -> str:
        """The name of the built-in prompt for these stimuli, if not that of the axis."""
        return ""

    def cannot_show(self, cells: Iterable[Mapping[str, Any]]) -> Iterator[str]:
        """What a plan whose calls have these cells cannot show, whatever is answered."""
        return iter(())

    def arm(self, cell: Mapping[str, Any]) -> str:
        """The arm of a cell in words, by which the plan lists its calls."""
        return "all"

    # -- how a reply is read

    def parse(self, text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> Any | None:
        """What the reply says, or None if it cannot be read in exactly one way."""
        return self.reading(text, reply, cell).verdict

    def reading(self, text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> Reading:
        """The same, and whether it had lines of its own."""
        value = self.parse(text, reply, cell)
        return NO_VERDICT if value is None else Reading(value)

    distribution: Callable[[str, str, ReplyFormat, Mapping[str, Any]], object] | None = None
    """What a body as received (raw, text, reply, cell) holds beyond its text, log-probabilities;
    stored in `Readings` unchanged."""

    def parts(self, cell: Mapping[str, Any]) -> Iterable[Mapping[str, str]]:
        """Per listed thing, what `{criterion}`, `{candidate}`, `{label}` and `{position}` mean.

        Of replies that say something about each thing that the prompt lists.
        """
        return ()

    def complete(self, frame: "pd.DataFrame") -> "pd.DataFrame":
        """The table of a log with a lost call for each that its own design misses."""
        return frame

    def impute(self, readings: Readings) -> "Iterator[pd.DataFrame]":
        """The table with its lost calls answered by each place in turn, and in its favour."""
        return iter(())

    # -- what follows

    @abstractmethod
    def measure(self, readings: Readings) -> Iterator[Estimate]:
        """Every estimate of the axis; families carry their dimensions in brackets."""

    def reads(self, key: Key, cells: Sequence[Mapping[str, Any]]) -> Sequence[bool]:
        """Which of all calls of a run a figure reads, so that no others need to be made for it.

        `cells` are theirs, with the number of the repeat as `repeat`. Figures say it in words of
        the axis, `reads` of their declaration; where none do, a figure may read all.
        """
        return [True] * len(cells)

    def control(self, estimates: Estimates) -> Iterator[Control]:
        """Questions with a known answer that this axis asked, and whether they were answered so."""
        return iter(())

    def mitigate(self, estimates: Estimates) -> Iterator[Mitigation]:
        """What helps against the bias, before and after, with its price."""
        return iter(())

    def warn(self, readings: Readings, estimates: Estimates) -> Iterator[str]:
        """The caveats that apply to this run."""
        return iter(())


def headline(axis: Axis) -> tuple[Characteristic, ...]:
    """The rows of the axis's characteristics table, the most telling first."""
    ranked = sorted(
        (
            (rank, figure, dims_of(dims))
            for figure in axis.ESTIMATES.values()
            for dims, rank in figure.headline.items()
        ),
        key=itemgetter(0),
    )
    return tuple(figure.characteristic(dims) for _, figure, dims in ranked)


def sweep_keys(axis: Axis) -> tuple[str, ...]:
    """The keys that the table of a sweep has: the bias first, then what it costs."""
    ranked = sorted(
        (
            (rank, Key(axis.NAME, name, dims_of(dims)))
            for name, figure in axis.ESTIMATES.items()
            for dims, rank in figure.sweep.items()
        ),
        key=itemgetter(0),
    )
    return tuple(str(key) for _, key in ranked)


# -- simulated judges ---------------------------------------------------------------------------


@runtime_checkable
class Simulating(Protocol):
    """An axis that knows how a simulated judge answers its calls.

    Such an axis may declare parameters of its own: `SIMULATED`, a dataclass like
    `simulation.Parameters`, which `parameters.of(SIMULATED)` then reads.
    """

    def simulate(self, parameters: "Parameters", call: Call, known: "Known", rng: "Random") -> str:
        """The judge's words; the same for the same arguments and state of `rng`."""


@runtime_checkable
class SharesSimulating(Simulating, Protocol):
    """An axis that also knows how probable each score was, for log-probabilities."""

    def simulated_shares(
        self, parameters: "Parameters", call: Call, known: "Known"
    ) -> Mapping[int, float]:
        """The probability of each score, in displayed order."""
