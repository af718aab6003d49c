"""Logs of other tools as recorded judgments: which format a file has, and what it says.

A format is a `LogFormat`, a map over the table that `tables.read_table` makes of a file: which
columns hold what. `--map` adds to that or replaces it, and is all that a table has; `_proposal`
proposes one. `_kinds` says which verdicts the mapped fields make. Of the rows of every format
`_fields` reads the fields, `_judgments` makes recorded judgments as `collect.ingest` takes them,
`_ratings` those of people, and `_reader` goes through them and counts what it leaves out.
"""

import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from judgesheet.base.errors import UsageError
from judgesheet.base.limits import MOST_REMEMBERED_ROWS
from judgesheet.base.tally import Tally
from judgesheet.importers import tables
from judgesheet.importers._rows import Row, having, rows_of
from judgesheet.importers.logs import inspect_ai
from judgesheet.importers.logs._fields import FieldReader
from judgesheet.importers.logs._kinds import FIELDS, KINDS, TRUTHS, MissingFieldError
from judgesheet.importers.logs._log import LogFormat, LogOptions, LogScale
from judgesheet.importers.logs._people import people_of
from judgesheet.importers.logs._proposal import (
    UNKNOWN,
    are_names,
    as_option,
    proposed,
    scale_of,
    verdicts,
)
from judgesheet.importers.logs._reader import LogReader, NoFigureError, left_over
from judgesheet.importers.logs.formats import LOGS, PLAIN, fitting
from judgesheet.importers.words import finite

TABLES = tables.KINDS
"""Names of files without a format of their own, which need a map."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A log of which it is known what it is.

    `form` is its format, None for a table; `columns` are those of the table, or the names in the
    document. `rows` can be gone through once. `remarks` says what was taken for granted.
    """

    form: str | None
    log: LogFormat
    columns: tuple[str, ...]
    rows: Iterator[Row]
    remarks: tuple[str, ...] = ()


def opened(path: Path, form: str | None, tally: Tally | None = None) -> Opened:
    """The file as the format that was asked for, or that its columns show.

    With a `tally` of lines a few that cannot be read are lost calls.
    """
    if form is not None and form not in (*LOGS, *TABLES):
        raise UsageError(f"--from {form}: the formats are {', '.join((*LOGS, *TABLES))}")
    kind = tables.kind_of(path, form if form in TABLES else None)
    if kind == tables.EXCEL and inspect_ai.is_archive(path):
        samples = inspect_ai.archived(path)
        first = [*islice(samples, 1)]
        columns = [name for sample in first for name in sample.cells]
        return _known(path, form, columns, chain(first, samples))
    if kind == tables.DOCUMENT:
        content = tables.document(path)
        if isinstance(content, dict) and fitting(content):
            return _known(path, form, [*content], iter([Row(path.name, content)]))
        frame = tables.table_of(content, path.name)
    else:
        frame = tables.read_table(path, kind, tally)
    found = _known(path, form, [*map(str, frame.columns)], rows_of(frame))
    return Opened(found.form, found.log, found.columns, found.rows, tuple(frame.attrs["remarks"]))


def _known(path: Path, form: str | None, columns: Sequence[str], rows: Iterator[Row]) -> Opened:
    known = form if form is not None else fitting(columns)
    # Named by mistake, another tool's log would end in a complaint about a column.
    asked = LOGS.get(form or "")
    if asked and columns and not any(marks <= {*columns} for marks in asked.marks):
        wanted = " or ".join(", ".join(sorted(marks)) for marks in asked.marks)
        raise UsageError(
            f"{path.name} is no log of {form}, which has {wanted}; "
            f"`judgesheet inspect-log {shlex.quote(str(path))}` says what the file is"
        )
    log = LOGS.get(known or "", PLAIN)
    return Opened(known if known in LOGS else None, log, tuple(columns), log.rows(rows))


def is_ours(columns: Collection[str]) -> bool:
    """Whether a record with these columns is a recorded judgment, a rating, or of a batch."""
    return {"axis", "verdict"} <= {*columns} or {*columns} == {"human"} or "custom_id" in columns


def reader(files: Sequence[Path], choice: LogOptions) -> LogReader:
    """The reader of a log. UsageError if nothing says which column holds what."""
    if len(files) > 1:
        raise UsageError("a log is read from one file; join them, or make a sheet of each")
    lines = Tally("line")
    return _reader(files[0], choice, opened(files[0], choice.form, lines), lines)


def reader_if_log(files: Sequence[Path], choice: LogOptions) -> LogReader | None:
    """The reader of files that are a log by what they hold, or by what the user says of them.

    None for recorded judgments and the results of a batch, and for lines that are nothing known:
    whoever reads them as ours says what is wrong.
    """
    if choice != LogOptions():
        return reader(files, choice)
    if len(files) > 1:
        return None
    kind, lines = tables.kind_of(files[0]), Tally("line")
    if kind == tables.LINES:  # of which there may be millions
        first = next(tables.stream(files[0], kind, lines), None)
        return reader(files, choice) if first and fitting(first[1]) else None
    found = opened(files[0], None, lines)
    return None if is_ours(found.columns) else _reader(files[0], choice, found, lines)


def _reader(path: Path, choice: LogOptions, found: Opened, lines: Tally) -> LogReader:
    if found.form is None and not choice.columns:
        proposal = as_option(proposed([*islice(found.rows, MOST_REMEMBERED_ROWS)]))
        raise UsageError(
            f"{path.name} is a table that needs a map of its columns, perhaps {proposal}; "
            f"`judgesheet inspect-log {shlex.quote(str(path))}` says more"
        )
    people = people_of(choice.ratings, choice.on)
    rows = people.beside(found.rows) if people else found.rows

    def remarks() -> list[str]:
        return [*found.remarks, *(people.remarks() if people else ())]

    return LogReader(path.name, found.log, choice, rows, lines, remarks)


__all__ = [
    "FIELDS",
    "KINDS",
    "LOGS",
    "PLAIN",
    "TABLES",
    "TRUTHS",
    "UNKNOWN",
    "FieldReader",
    "LogOptions",
    "LogReader",
    "LogScale",
    "MissingFieldError",
    "NoFigureError",
    "Opened",
    "Row",
    "are_names",
    "as_option",
    "finite",
    "having",
    "is_ours",
    "left_over",
    "opened",
    "people_of",
    "proposed",
    "reader",
    "reader_if_log",
    "scale_of",
    "verdicts",
]
