"""What a proof is made of: lines, each a kind of data at a size, and the tally of what was hit.

A line draws data sets, asks the figures of an axis as a sheet would, and counts for every figure
how often its interval holds the truth (`cover`), how often a gate whose limit is the truth passes
(`pass`) or breaks (`break`), how often a test at .05 rejects (`reject`), and how often there is no
interval at all (`none`). Truths are enumerated where they can be; what cannot is measured by the
same figure over so many stimuli that chance hardly matters (`population`).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np

from judgesheet.axis.figure import Figure
from judgesheet.base.keys import Key
from judgesheet.base.records import LEVEL, Estimate
from judgesheet.base.units import unit

Rng = np.random.Generator
Truths = Mapping[str, float]
"""By key of an estimate."""

COVER, PASS, BREAK, REJECT, NONE = "cover", "pass", "break", "reject", "none"
LEAST_COVER, LEAST_AT_EDGES = 0.93, 0.90
MOST_FALSE, MOST_REJECTED = 0.06, 0.065
POOLED = ("position", "score", "order", "criterion", "slot", "place", "delta", "gold", "orders")
"""Dimensions whose members share a row: its figures are means over them."""
RECOMMENDS = {"min_bias_confidence": 0.9}
"""Figures from which a sheet recommends something: as good as a test that rejects."""
ROUNDING = 1e-9
SEED = 20_261_122


@dataclass(frozen=True)
class Row:
    """What became of one figure in a line: shares of its data sets, and facts beside them.

    `sets` are the data sets behind each share; `worst` is the member of a family that covers least,
    as (share, key).
    """

    sets: Mapping[str, int]
    shares: Mapping[str, float]
    facts: Mapping[str, float] = field(default_factory=dict)
    worst: tuple[float, str] | None = None


Rows = dict[str, Row]


@dataclass(frozen=True)
class Line:
    """One kind of data at one size.

    Attributes
    ----------
    data
        What is simulated, in words; lines of one kind of data share their truths.
    size
        Number of stimuli, or words for it.
    sets
        Data sets of a whole run; a check takes fewer.
    run
        Data sets, a generator and the truths -> the rows.
    truths
        The truths, which a whole run computes once for all sizes.
    part
        Which figures, where a line is cut in parts of different cost.
    least
        Share of intervals that are to cover.
    nulls
        Names of the tests whose null hypothesis these data obey.
    limits
        Metric -> least and greatest share, for metrics besides those of figures.
    judged
        The rows that are held to targets, None for all.
    figures, draw
        What a data set is asked and how it is drawn, where another page takes it from this one.
    """

    data: str
    size: int | str
    sets: int
    run: Callable[[int, Rng, Truths], Rows]
    truths: Callable[[], Truths] = dict
    part: str = ""
    least: float = LEAST_COVER
    nulls: frozenset[str] = frozenset()
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    judged: frozenset[str] | None = None
    figures: Sequence[Figure[Any]] = ()
    draw: "Draw | None" = None

    @property
    def name(self) -> str:
        """Names it within its page."""
        return " | ".join(str(part) for part in (self.data, self.size, self.part) if part)

    def target(self, figure: str, metric: str) -> tuple[float, float]:
        """Least and greatest share that these data allow."""
        if self.judged is not None and figure not in self.judged:
            return 0.0, 1.0
        if metric in self.limits:
            return self.limits[metric]
        if metric == COVER:
            return self.least, 1.0
        if metric in (PASS, BREAK):
            return 0.0, MOST_FALSE
        null = metric == REJECT and figure.partition("[")[0] in self.nulls
        return 0.0, MOST_REJECTED if null else 1.0


@dataclass
class Count:
    """Hits and trials, and the data sets in which there was a trial."""

    hits: float = 0.0
    trials: int = 0
    sets: int = 0
    last: int = -1

    def add(self, hit: float, number: int) -> None:
        """One trial in the data set of this number."""
        self.hits += hit
        self.trials += 1
        self.sets += number != self.last
        self.last = number

    @property
    def share(self) -> float:
        """Hits per trial."""
        return self.hits / self.trials


class Tally:
    """Counts hits per row and metric; `next` begins a data set.

    Rows of figures are named within their axis, or with it where a line asks several.
    """

    def __init__(self, *, names_axes: bool = False) -> None:
        self._names_axes = names_axes
        self._counts: defaultdict[str, defaultdict[str, Count]]
        self._counts = defaultdict(lambda: defaultdict(Count))
        self._members: defaultdict[str, defaultdict[str, Count]]
        self._members = defaultdict(lambda: defaultdict(Count))
        self._facts: defaultdict[str, defaultdict[str, list[float]]]
        self._facts = defaultdict(lambda: defaultdict(list))
        self._number = 0

    def next(self) -> None:
        """What is added now belongs to another data set."""
        self._number += 1

    def add(self, row: str, hits: Mapping[str, float], member: str = "") -> None:
        """Count one outcome of a data set: 1 for a hit, 0 for none."""
        for metric, hit in hits.items():
            self._counts[row][metric].add(hit, self._number)
            if metric == COVER and member:
                self._members[row][member].add(hit, self._number)

    def note(self, row: str, **facts: float | None) -> None:
        """A fact of a data set, of which the mean is kept."""
        for name, value in facts.items():
            if value is not None and np.isfinite(value):
                self._facts[row][name].append(float(value))

    def judge(self, estimate: Estimate, truths: Truths) -> None:
        """Count what an estimate says against the truth."""
        key = Key.parse(estimate.key)
        row = str(pooled(key)) if self._names_axes else pooled(key).local
        if key.name in RECOMMENDS:
            sure = estimate.value is not None and estimate.value >= RECOMMENDS[key.name]
            self.add(row, {REJECT: sure})
            return
        if unit(estimate.unit).kind == "p-value":
            if estimate.value is not None:
                self.add(row, {REJECT: estimate.value <= 0.05})
            return
        truth = truths.get(estimate.key)
        if not proves(estimate) or truth is None:
            self.note(row, value=estimate.value)
            if truth is not None and (estimate.bounds is None or estimate.bounds.proves):
                self.add(row, {NONE: 1.0})
            return
        low = -inf if estimate.low is None else estimate.low
        high = inf if estimate.high is None else estimate.high
        covered = low - ROUNDING <= truth <= high + ROUNDING
        self.add(row, {COVER: covered, NONE: 0.0}, key.local)
        if estimate.bounds is not None:
            passes = estimate.bounds.high < truth - ROUNDING
            self.add(row, {PASS: passes, BREAK: estimate.bounds.low > truth + ROUNDING})
        self.note(row, width=high - low, truth=truth)

    def rows(self) -> Rows:
        """The shares; a row without any is one of facts alone."""
        return {name: self._row(name) for name in dict.fromkeys([*self._counts, *self._facts])}

    def _row(self, name: str) -> Row:
        counts = self._counts[name]
        members = [(one.share, member) for member, one in self._members[name].items()]
        return Row(
            sets={metric: one.sets for metric, one in counts.items()},
            shares={metric: one.share for metric, one in counts.items()},
            facts={fact: float(np.mean(values)) for fact, values in self._facts[name].items()},
            worst=min(members) if len(members) > 1 else None,
        )


def proves(estimate: Estimate) -> bool:
    """Whether an estimate has an interval of confidence."""
    ends = estimate.low is not None or estimate.high is not None
    return (
        estimate.value is not None and ends and (estimate.bounds is None or estimate.bounds.proves)
    )


def pooled(key: Key) -> Key:
    """The row of a key: its name, with the dimensions whose members are told apart."""
    return Key(key.axis, key.name, {k: v for k, v in key.dims.items() if k not in POOLED})


Draw = Callable[[int, Rng], Any]
"""A number of stimuli and a generator -> what an axis arranges."""


def estimates(figures: Iterable[Figure[Any]], arranged: Any) -> Iterator[Estimate]:
    """What a sheet would say."""
    for figure in figures:
        yield from figure(arranged, LEVEL)


def population(
    figures: Sequence[Figure[Any]], draw: Draw, stimuli: int, rounds: int
) -> dict[str, float]:
    """The figures over so many stimuli that chance hardly matters, by key."""
    rng = np.random.default_rng([SEED, 0])
    found: defaultdict[str, list[float]] = defaultdict(list)
    for _ in range(rounds):
        for estimate in estimates(figures, draw(stimuli, rng)):
            if estimate.value is not None and unit(estimate.unit).kind == "quantity":
                found[estimate.key].append(estimate.value)
    return {key: float(np.mean(values)) for key, values in found.items()}


def measuring(
    figures: Sequence[Figure[Any]], draw: Draw, size: int
) -> Callable[[int, Rng, Truths], Rows]:
    """The run of a line that asks these figures of an axis."""

    def run(sets: int, rng: Rng, truths: Truths) -> Rows:
        tally = Tally()
        for _ in range(sets):
            tally.next()
            for estimate in estimates(figures, draw(size, rng)):
                tally.judge(estimate, truths)
        return tally.rows()

    return run


EXCESS = ".excess_"
"""What figures beyond noise have in their keys."""
MORE = 20
"""Times as many stimuli for the truth of an excess: of 6,000 its error is a quarter of that of an
estimate from 100, with which gates at that truth break in .13 to .20 instead of .05."""


@dataclass(frozen=True)
class Part:
    """Figures of similar cost, and the data sets that they are asked on at each size.

    `population` are stimuli and rounds of the truths that are not enumerated.
    """

    name: str
    figures: Mapping[str, Figure[Any]]
    sets: Mapping[int, int]
    population: tuple[int, int]


@dataclass(frozen=True)
class Case:
    """A judge: how data are drawn, what is enumerated, and what is known of tests and targets.

    `parts` are those that are asked, None for all.
    """

    draw: Mapping[str, Draw]
    exact: Callable[[], Truths] = dict
    parts: frozenset[str] | None = None
    nulls: frozenset[str] = frozenset()
    least: float = LEAST_COVER


def lines(cases: Mapping[str, Case], parts: Sequence[Part]) -> Iterator[Line]:
    """A line per judge, part and size."""
    for data, case in cases.items():
        for part in parts:
            if case.parts is not None and part.name not in case.parts:
                continue
            draw, figures = case.draw[part.name], list(part.figures.values())

            def truths(
                case: Case = case,
                draw: Draw = draw,
                figures: Sequence[Figure[Any]] = figures,
                part: Part = part,
            ) -> Truths:
                sampled = population(figures, draw, *part.population)
                beyond_noise = [one for one in figures if EXCESS in f".{one.name}"]
                stimuli, rounds = part.population
                sampled |= population(beyond_noise, draw, stimuli, MORE * rounds)
                # The order adds nothing negative to noise, whatever a sample shows of it.
                least = {key: max(0.0, value) for key, value in sampled.items() if EXCESS in key}
                return {**sampled, **least, **case.exact()}

            for size, sets in part.sets.items():
                run = measuring(figures, draw, size)
                yield Line(
                    *(data, size, sets, run, truths, part.name, case.least, case.nulls),
                    figures=figures,
                    draw=draw,
                )
