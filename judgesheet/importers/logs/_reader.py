"""The rows of a log, one verdict each, as recorded judgments: the form `collect.ingest` takes."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial

from judgesheet.base.digits import counted
from judgesheet.base.errors import StimuliError
from judgesheet.base.limits import MOST_LISTED
from judgesheet.base.scale import Scale
from judgesheet.base.tally import Tally
from judgesheet.importers._rows import Row, having
from judgesheet.importers.logs._fields import FieldReader
from judgesheet.importers.logs._judgments import Judgments, Record
from judgesheet.importers.logs._kinds import KINDS
from judgesheet.importers.logs._log import (
    BadRowError,
    BadVerdictError,
    LogFormat,
    LogOptions,
    suggested,
)
from judgesheet.importers.logs._ratings import Ratings
from judgesheet.importers.words import finite, options_for
from judgesheet.reading.verdicts import has_verdict


class NoFigureError(StimuliError):
    """No figure follows from a log: each verdict is the only one on its subject."""


def left_over(columns: Iterable[str], read: Iterable[str]) -> list[str]:
    """The columns of which none is read, not even as a part of one (`a+b`, `a|b`, `a.0`)."""
    parts = {part for column in read for part in (column, *re.split("[+|]", column))}
    parts |= {part.split(".")[0] for part in parts}
    return [column for column in columns if column not in parts]


@dataclass
class LogReader:
    """Reads the rows of a log; its counts and notes are complete once all records were taken."""

    name: str
    log: LogFormat
    choice: LogOptions
    rows: Iterator[Row]
    lines: Tally = field(default_factory=partial(Tally, "line"))
    """Of a file of lines."""
    remarks: Callable[[], list[str]] = list
    """What else was taken for granted in reading the files; known at the end."""
    verdicts: int = 0
    """How many calls there are, with those without a verdict."""
    _unread: int = 0
    """Of them those without a verdict."""
    _unplaced: int = 0
    """Of these those that do not say what was judged."""
    _excluded: int = 0
    """Rows that do not count (`where`)."""
    _tally: Tally = field(default_factory=partial(Tally, "row"))
    """Of the rows that count."""
    _single: dict[str, str] = field(default_factory=dict)
    """The judge and the metric, of which a sheet has one."""
    _unknown: dict[str, None] = field(default_factory=dict)
    """Words that nothing explains."""

    @cached_property
    def fields(self) -> FieldReader:
        """What reads the fields of a row."""
        return FieldReader(self.log, self.choice)

    @property
    def columns(self) -> Mapping[str, str]:
        """Our fields and the columns of the file that hold them."""
        return self.fields.columns

    @property
    def scale(self) -> Scale | None:
        """That of the scores; None where they are words or of several scales."""
        return self.fields.single_scale

    @property
    def unplaced(self) -> int:
        """How many rows and lines do not say what was judged."""
        return self._unplaced + self.lines.lost

    @property
    def left_over(self) -> list[str]:
        """The columns that nothing reads, by which rows may still differ."""
        return left_over(self.fields.seen, (*self.columns.values(), *self.fields.where))

    @property
    def judge(self) -> str | None:
        """Who judged, where the log says."""
        return self._single.get("judge")

    def notes(self) -> Iterator[str]:
        """What was read, and what was taken for granted, in sentences."""
        columns = ", ".join(f"{name}={column}" for name, column in self.fields.columns.items())
        without = self._unread + self.lines.lost
        lost = f" and {counted(without, 'call')} without one" if without else ""
        read = self.verdicts - self._unread
        verdicts, were = f"{counted(read, 'verdict')}{lost}", "was" if read == 1 else "were"
        yield f"{verdicts} for {self.fields.axis} {were} read ({columns})"
        yield from self.lost
        if self._excluded:
            rows = counted(self._excluded, "row was", "rows were")
            yield f"{rows} left out; only those with {self._wanted()} count"
        if "order" not in self.fields.columns and self.fields.kind in ("score", "criteria"):
            yield "no column has the displayed order (--map order=COLUMN): all count as one order"
        if self.fields.has_numbered_slots and {"again", "swapped"} & self.columns.keys():
            sides = zip("12", (self.columns["first"], self.columns["second"]), strict=True)
            options = " ".join(options_for([slot], column) for slot, column in sides)
            yield f"1 and 2 were read as slots; where they name the responses: {options}"
        yield from self.remarks()

    def _wanted(self) -> str:
        wanted = [f"{column}={value}" for column, value in self.fields.where.items()]
        return " and ".join(wanted + [f"no {self.log.unless}"] * bool(self.log.unless))

    def records(self) -> Iterator[tuple[Record, str]]:
        """Every recorded judgment, and people's ratings, with the place of each.

        NoFigureError, after the last one, if no figure can follow from them.
        """
        judgments, ratings = Judgments(self.fields), Ratings(self.fields)
        for row in having(self.rows, self.fields.asked):
            if not self.fields.counts(row):
                self._excluded += 1
                continue
            self.fields.seen = self.fields.seen or tuple(row.cells)
            is_call = not self.log.people or (
                str(self.fields.cell(row, "by")) not in self.log.people
            )
            try:
                if not is_call:
                    ratings.keep(row)
                    continue
                self._refuse_second(row)
                judged = [*judgments.of(row)]
                rated = [*ratings.beside(row)]
            except BadRowError as fault:
                self._lose(row, fault)
                self.verdicts += is_call
                self._unread += is_call
                self._unplaced += is_call
                continue
            judgments.allow_figures |= ratings.found
            for judgment, error in judged:
                self._count(row, judgment, error)
                yield judgment, row.where
            yield from ((record, row.where) for record in rated)
        for item, record in ratings.kept():
            yield record, f"{self.name}: ratings of {item[:80]}"
        self._refuse_useless(allows_figures=judgments.allow_figures or ratings.found)

    def _count(self, row: Row, judgment: Record, fault: BadVerdictError | None) -> None:
        self.verdicts += 1
        self._unread += not has_verdict(judgment["verdict"])
        if fault is None:
            self._tally.read += 1
        else:
            self._lose(row, fault)

    def _lose(self, row: Row, fault: BadRowError) -> None:
        """Count a row that cannot be read, which says nothing about the other rows."""
        if isinstance(fault, BadVerdictError) and len(self._unknown) < MOST_LISTED:
            self._unknown.setdefault(str(fault.said).strip()[:60])
        self._tally.add(fault, row.where.removeprefix(f"{self.name}:").strip())

    @property
    def lost(self) -> list[str]:
        """Which lines and rows cannot be read, and what to do."""
        sentences = self.lines.sentence(), self._tally.sentence()
        return [sentence for sentence in sentences if sentence]

    def _refuse_second(self, row: Row) -> None:
        """One sheet is about one judge and one question to it."""
        for name in ("judge", "metric"):
            if self.fields.has(row, name):
                new = self.fields.text(row, name)
                known = self._single.setdefault(name, new)
                if new != known:
                    raise StimuliError(
                        f"{row.where}: a second {name}, {new[:60]!r} beside {known[:60]!r}; one "
                        f"sheet is about one: --where {self.fields.columns[name]}=NAME"
                    )

    def _refuse_useless(self, *, allows_figures: bool) -> None:
        """StimuliError if too many rows cannot be read, none counts, or no figure follows."""
        if self._unknown and self._tally.first:
            self._tally.first = StimuliError(f"{self._tally.first}; {self._advice()}")
        self._tally.refuse_many()
        if not self.verdicts:
            why = f"no row has {self._wanted()} (--where)" if self._excluded else "it has no rows"
            raise StimuliError(f"{self.name} holds no verdicts: {why}")
        if not allows_figures:
            raise NoFigureError(
                f"{self.name}: nothing can be measured from {counted(self.verdicts, 'verdict')}, "
                f"because each is the only one on its subject ({self.log.lacks}); missing is "
                f"{KINDS[self.fields.kind].needs}"
            )

    def _advice(self) -> str:
        """The option that reads what could not be read: a scale that has it, or what it means."""
        numbers = [one for one in map(finite, self._unknown) if one is not None]
        if numbers and self.fields.kind != "pair" and self.choice.human_scale is None:
            of_scale = self.fields.single_scale or Scale(1, numbers[0])
            ends = of_scale.low, of_scale.high
            if reads := suggested({*self.fields.numbers, *ends}):
                near = all(ends[0] <= one <= ends[1] for one in numbers)
                return f"{reads} reads all numbers{', --round takes the nearest point' * near}"
        meaning, others = ("tie", "1, 2") if self.fields.kind == "pair" else ("SCORE", "a word")
        return f"say what is meant: {options_for(self._unknown, meaning)} ({others} or invalid)"
