"""A leaderboard of three and more systems that met in pairs: Bradley and Terry's strengths."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from judgesheet.base.errors import StimuliError
from judgesheet.correcting.labelled import EstimatedSystem
from judgesheet.correcting.labelling import labelling
from judgesheet.correcting.leaderboard import compared
from judgesheet.correcting.result import (
    ReportedNumber,
    Result,
    System,
    SystemDifference,
    not_reported,
    reported,
)
from judgesheet.correcting.sample import Sample, of_pairs
from judgesheet.correcting.table import ANY, JudgedRow, Table
from judgesheet.correcting.unlabelled import NO_LABELS, SIGN_ONLY
from judgesheet.stats import correction
from judgesheet.stats.bradley_terry import Strengths, strengths
from judgesheet.stats.interval import Interval

SEVERAL = "several systems met in pairs: each has its own figures"
CHOSEN = (
    "no correction: the labelled pairs are not a random sample, and the judge's errors per pair "
    "of systems are not known"
)
ONE_ORDER = (
    "not every pair was shown in both orders: if a system was shown first more often than "
    "second, the judge's slot preference is in its rank"
)
RAW = "the judge's own verdicts: without labels its preferences for a system are not removed"
UNEVEN = (
    "no rank and no sign: not every two systems met equally often and in both orders equally "
    "often, so the judge's slot preference and its noise can turn the order of two"
)


def ranked(start: Result, table: Table) -> Result:
    """The result of a table of pairs of several systems.

    StimuliError where the systems fall into parts that never met.
    """
    names = table.systems
    _refuse_strangers(table)
    unknown = {"random": "", "chosen": CHOSEN, "none": RAW}[start.labels]
    samples = [_of(name, table) for name in names]
    meetings = _meetings(table)
    every = _all(meetings)
    found = _strengths(meetings, every, names, with_labels=start.labels == "random")
    estimated = [
        EstimatedSystem(
            System(
                name, sample.verdicts.size, sample.labelled,
                _win_rate(sample), _corrected(start, found, at, sample),
                strength=reported(found.intervals[at], sample.verdicts.size, unknown),
            ),
            found.intervals[at], found.parts[:, at],
        )
        for at, (name, sample) in enumerate(zip(names, samples, strict=True))
    ]  # fmt: skip
    systems, differences = compared(estimated, ANY, same_unit=False)
    nothing = not_reported(SEVERAL, "several_systems")
    warnings = (unknown,) if unknown else ()
    if unknown:
        even = _even(table)
        why = CHOSEN if start.labels == "chosen" else NO_LABELS
        differences = tuple(_sign_alone(one, why, even=even) for one in differences)
        if not even:
            systems = tuple(replace(one, ranks=None) for one in systems)
            warnings = (*warnings, UNEVEN)
    widest = max(range(len(names)), key=lambda at: _width(found.intervals[at]))
    foreseen = found.foresee(widest) if found.foresee else None
    plan = labelling(every, foreseen, start.labels) if every.labelled else None
    if not unknown and any(sample.shown.any() for sample in samples):
        warnings = (*warnings, ONE_ORDER)
    return replace(
        start, about="Bradley-Terry strengths: log-odds of winning against the average system",
        corrected=nothing, raw=nothing, systems=systems, differences=differences,
        labelling=plan, warnings=(*start.warnings, *warnings),
    )  # fmt: skip


def _even(table: Table) -> bool:
    """Whether every two systems met equally often, and in both orders equally often.

    The order of strengths then is that of wins. A slot preference and noise that are the same for
    all pairs bring the win rate of two closer to one half and never beyond, so they keep it. One
    game more is what odd numbers cannot avoid.
    """
    shown = Counter((row.first, row.second) for row in table.rows)
    orders = [(shown[pair], shown[pair[::-1]]) for pair in combinations(table.systems, 2)]
    games = [sum(pair) for pair in orders]
    alike = all(abs(first - second) <= 1 for first, second in orders)
    return alike and max(games) - min(games) <= 1


def _sign_alone(difference: SystemDifference, why: str, *, even: bool) -> SystemDifference:
    """A difference of the judge's own strengths: noise shrinks it, so its size is not known."""
    raw, stands = difference.figure, difference.stands and even
    nothing = not_reported(SIGN_ONLY if stands else why, "no_labels", raw.n)
    return replace(difference, raw=raw.value, figure=nothing, stands=stands)


def _width(strength: Interval) -> float:
    return (
        math.inf if strength.low is None or strength.high is None else strength.high - strength.low
    )


def _all(meetings: Sequence[tuple[str, str, Sample]]) -> Sample:
    """Every meeting."""
    ids = [f"{name} ({one}, {other})" for one, other, sample in meetings for name in sample.ids]
    clusters = [name for _, _, sample in meetings for name in sample.clusters]
    verdicts, labels, shown = (
        np.concatenate([getattr(sample, part) for _, _, sample in meetings])
        for part in ("verdicts", "labels", "shown")
    )
    return Sample("", tuple(ids), tuple(clusters), verdicts, labels, shown)


def _of(name: str, table: Table) -> Sample:
    """A system's meetings with all others; an id is what one pair was judged on."""
    mine = [row for row in table.rows if name in (row.first, row.second)]
    other = [row.second if row.first == name else row.first for row in mine]
    own_ids = [replace(row, id=f"{row.id}\n{whom}") for row, whom in zip(mine, other, strict=True)]
    return of_pairs(name, own_ids)


def _meetings(table: Table) -> list[tuple[str, str, Sample]]:
    """A sample per pair of systems, of the first that is named."""
    by_pair: dict[tuple[str, str], list[JudgedRow]] = {}
    for row in table.rows:
        pair = (row.first, row.second)
        key = pair if pair in by_pair or pair[::-1] not in by_pair else pair[::-1]
        by_pair.setdefault(key, []).append(row)
    return [(one, other, of_pairs(one, rows)) for (one, other), rows in by_pair.items()]


def _strengths(
    meetings: Sequence[tuple[str, str, Sample]],
    every: Sample,
    names: Sequence[str],
    *,
    with_labels: bool,
) -> Strengths:
    """Those of the systems; `every` is all meetings in one sample, in their order."""
    code = {name: at for at, name in enumerate(names)}
    sizes = [sample.verdicts.size for _, _, sample in meetings]
    first = np.repeat([code[one] for one, _, _ in meetings], sizes)
    second = np.repeat([code[other] for _, other, _ in meetings], sizes)
    said = every.labels if with_labels else np.full(every.labels.size, np.nan)
    return strengths(first, second, every.verdicts, said, every.clusters, len(names))


def _win_rate(sample: Sample) -> ReportedNumber:
    """The share of its comparisons that a system won, by the judge."""
    rate = correction.plain_mean(sample.verdicts, sample.clusters, (0.0, 1.0))
    return reported(rate.interval, sample.verdicts.size)


def _corrected(start: Result, found: Strengths, at: int, sample: Sample) -> ReportedNumber:
    """The probability of winning against the average system, by the strengths."""
    rows = sample.verdicts.size
    if start.labels != "random":
        return not_reported(CHOSEN if start.labels == "chosen" else RAW, "no_labels", rows)
    one = found.intervals[at]
    value, low, high = (None if end is None else 1 / (1 + math.exp(-end))
                        for end in (one.value, one.low, one.high))  # fmt: skip
    return ReportedNumber(value, low, high, one.level, rows, one.clusters,
                  f"{one.method}; against the average system", one.note, one.reason)  # fmt: skip


def _refuse_strangers(table: Table) -> None:
    """Systems that no chain of comparisons joins have no common scale."""
    reached, left = {table.systems[0]}, list(table.rows)
    while joined := [row for row in left if (row.first in reached) != (row.second in reached)]:
        reached |= {name for row in joined for name in (row.first, row.second)}
    for row in left:
        if row.first not in reached:
            raise StimuliError(
                f"{row.where}: no comparison joins {row.first[:60]!r} with "
                f"{table.systems[0][:60]!r}, so they have no common scale"
            )
