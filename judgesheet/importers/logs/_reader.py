"""The rows of a log, one verdict each, as recorded judgments: the form `collect.ingest` takes."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from judgesheet.base.errors import StimuliError
from judgesheet.base.limits import MOST_IN_A_LIST
from judgesheet.importers._rows import Row
from judgesheet.importers.logs._fields import FieldReader
from judgesheet.importers.logs._judgments import Judgments, Record
from judgesheet.importers.logs._kinds import KINDS
from judgesheet.importers.logs._log import BadRowError, BadVerdictError, LogFormat, LogOptions
from judgesheet.importers.logs._ratings import Ratings

TOLERATED_SHARE = 0.1
"""Share of rows that cannot be read above which the scale, or a column, must be the wrong one."""


class NoFigureError(StimuliError):
    """No figure follows from a log: each verdict is the only one on its subject."""


@dataclass
class LogReader:
    """Reads the rows of a log; its counts and notes are complete once all records were taken."""

    name: str
    log: LogFormat
    choice: LogOptions
    rows: Iterator[Row]
    verdicts: int = 0
    _excluded: int = 0
    """Rows that do not count (`where`)."""
    _bad_rows: int = 0
    """Rows that count and cannot be read."""
    _bad_places: list[str] = field(default_factory=list)
    """Where they stand, of the first ones."""
    _first_fault: BadRowError | None = None
    _single: dict[str, str] = field(default_factory=dict)
    """The judge and the metric, of which a sheet has one."""

    @cached_property
    def fields(self) -> FieldReader:
        """What reads the fields of a row."""
        return FieldReader(self.log, self.choice)

    @property
    def judge(self) -> str | None:
        """Who judged, where the log says."""
        return self._single.get("judge")

    def notes(self) -> Iterator[str]:
        """What was read, and what was taken for granted, in sentences."""
        columns = ", ".join(f"{name}={column}" for name, column in self.fields.columns.items())
        yield f"{self.verdicts:,} verdicts for {self.fields.axis} were read ({columns})"
        if self.dropped:
            yield self.dropped
        if self._excluded:
            yield f"{self._excluded:,} rows were left out; only those with {self._wanted()} count"
        if "order" not in self.fields.columns and self.fields.kind in ("score", "criteria"):
            yield "no column holds the displayed order (--map order=COLUMN), so all count as of one"

    def _wanted(self) -> str:
        return " and ".join(f"{column}={value}" for column, value in self.fields.where.items())

    def records(self) -> Iterator[tuple[Record, str]]:
        """Every recorded judgment, and people's ratings, with the place of each.

        NoFigureError, after the last one, if no figure can follow from them.
        """
        judgments, ratings = Judgments(self.fields), Ratings(self.fields)
        for row in self.rows:
            if not self.fields.counts(row):
                self._excluded += 1
                continue
            try:
                if "by" in self.fields.columns and self.fields.cell(row, "by") in self.log.people:
                    ratings.keep(row)
                    continue
                self._refuse_second(row)
                made = [judgments.of(row), *ratings.beside(row)]
                judgments.allow_figures |= ratings.found
            except BadRowError as fault:
                # It says nothing about the other rows.
                self._bad_rows += 1
                self._first_fault = self._first_fault or fault
                if self._bad_rows <= MOST_IN_A_LIST:
                    self._bad_places.append(row.where.removeprefix(f"{self.name}:").strip())
                continue
            self.verdicts += 1
            yield from ((record, row.where) for record in made)
        for item, record in ratings.kept():
            yield record, f"{self.name}: ratings of {item[:80]}"
        self._refuse_useless(allows_figures=judgments.allow_figures or ratings.found)

    @property
    def dropped(self) -> str:
        """Which rows were left out as they cannot be read, and what to do; "" if none was."""
        if not self._bad_rows:
            return ""
        sentence = (
            f"{self._bad_rows:,} of {self.verdicts + self._bad_rows:,} rows cannot be read "
            f"({self._places()}) and {'are' if self._bad_rows > 1 else 'is'} left out, the first: "
            f"{self._first_fault}"
        )
        if isinstance(self._first_fault, BadVerdictError):
            sentence += "; --unreadable VALUE counts a verdict as a reply in which nothing was read"
        return sentence

    def _places(self) -> str:
        """`lines 7, 12 and 3 more`: the rows that cannot be read."""
        rows = "line" if all(map(str.isdecimal, self._bad_places)) else "row"
        more = self._bad_rows - len(self._bad_places)
        places = ", ".join(self._bad_places) + (f" and {more:,} more" if more else "")
        return f"{rows}{'s' * (self._bad_rows > 1)} {places}"

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
        rows = self.verdicts + self._bad_rows
        if self._first_fault is not None and self._bad_rows > TOLERATED_SHARE * rows:
            raise StimuliError(
                f"{self._first_fault} ({self._bad_rows:,} of {rows:,} rows cannot be read: "
                f"{self._places()})"
                if self._bad_rows > 1
                else str(self._first_fault)
            )
        if not self.verdicts:
            why = f"no row has {self._wanted()} (--where)" if self._excluded else "it has no rows"
            raise StimuliError(f"{self.name} holds no verdicts: {why}")
        if not allows_figures:
            raise NoFigureError(
                f"{self.name}: nothing can be measured from {self.verdicts:,} verdicts, as each is "
                f"the only one on its subject ({self.log.lacks}); missing is "
                f"{KINDS[self.fields.kind].needs}"
            )
