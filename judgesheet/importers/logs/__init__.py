"""Logs of other tools as recorded judgments: which format a file has, and what it says.

A format is a `LogFormat`: how its records become rows of one verdict each, and which of their
columns hold what. `--map` adds to that or replaces it, and is all that a table has; `_proposal`
proposes one. `_kinds` says which verdicts the mapped fields make. Of the rows of every format
`_fields` reads the fields, `_judgments` makes recorded judgments as `collect.ingest` takes them,
`_ratings` those of people, and `_reader` goes through them and counts what it leaves out.
"""

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from judgesheet.base.errors import StimuliError, UsageError
from judgesheet.base.files import kind_of
from judgesheet.base.limits import MOST_REMEMBERED_ROWS
from judgesheet.base.tally import Tally
from judgesheet.importers._rows import Row, finite, having
from judgesheet.importers.logs import _tables, inspect_ai, mt_bench, promptfoo
from judgesheet.importers.logs._kinds import FIELDS, KINDS, TRUTHS, MissingFieldError
from judgesheet.importers.logs._log import LogFormat, LogOptions, Scale
from judgesheet.importers.logs._proposal import (
    UNKNOWN,
    are_names,
    as_option,
    proposed,
    verdicts,
)
from judgesheet.importers.logs._reader import LogReader, NoFigureError
from judgesheet.importers.logs._records import raw

LOGS: Mapping[str, LogFormat] = {
    "inspect": inspect_ai.LOG,
    "promptfoo": promptfoo.LOG,
    "promptfoo-select-best": promptfoo.SELECT_BEST,
    "mt-bench-pairs": mt_bench.PAIRS,
    "mt-bench-scores": mt_bench.SINGLE,
    **_tables.LOGS,
}
"""Every format by the name that the command line gives it."""
TABLES = ("jsonl", "csv", "parquet", "json")
"""Names of files without a format of their own, which need a map."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A log whose first record was looked at.

    `form` is its format, None for a table; `columns` are those of the first record. `rows` can be
    gone through once.
    """

    form: str | None
    log: LogFormat
    columns: tuple[str, ...]
    rows: Iterator[Row]


def opened(path: Path, form: str | None, tally: Tally | None = None) -> Opened:
    """The file as the format that was asked for, or that its first record shows.

    With a `tally` of lines a few that cannot be read are lost calls.
    """
    if form is not None and form not in (*LOGS, *TABLES):
        raise UsageError(f"--from {form}: the formats are {', '.join((*LOGS, *TABLES))}")
    records = raw(path, form if form in TABLES else None, tally)
    first = list(islice(records, 1))
    columns = tuple(map(str, first[0].cells)) if first else ()
    fitting = (name for name, log in LOGS.items() if _fits(log, frozenset(columns)))
    known = form if form is not None else next(fitting, None)
    log = LOGS.get(known or "", _tables.PLAIN)
    # Named by mistake, another tool's log would end in a complaint about a column.
    if first and form in LOGS and not _fits(log, frozenset(columns)):
        wanted = " or ".join(", ".join(sorted(marks)) for marks in log.marks)
        raise UsageError(
            f"{first[0].where} is not a record of {form}, which has {wanted}; "
            f"`judgesheet inspect-log {path.name}` says what the file is"
        )
    return Opened(known if known in LOGS else None, log, columns, log.rows(chain(first, records)))


def recognised(path: Path) -> bool:
    """Whether a file shows by itself that it is a table or another tool's log; not if ours."""
    try:
        found = opened(path, None, Tally("line"))
    except StimuliError:
        return False  # whoever reads it as ours says what is wrong
    return (found.form is not None or kind_of(path) != "jsonl") and not is_ours(found.columns)


def is_ours(columns: Collection[str]) -> bool:
    """Whether a record with these columns is a recorded judgment, a rating, or of a batch."""
    return {"axis", "verdict"} <= {*columns} or {*columns} == {"human"} or "custom_id" in columns


def _fits(log: LogFormat, columns: frozenset[str]) -> bool:
    return any(marks <= columns for marks in log.marks)


def reader(files: Sequence[Path], choice: LogOptions) -> LogReader:
    """The reader of a log. UsageError if nothing says which column holds what."""
    if len(files) > 1:
        raise UsageError("a log is read from one file; join them, or make a sheet of each")
    (path,) = files
    lines = Tally("line")
    found = opened(path, choice.form, lines)
    if found.form is None and not choice.columns:
        told = as_option(proposed([*islice(found.rows, MOST_REMEMBERED_ROWS)]))
        raise UsageError(
            f"{path.name} is a table that needs a map of its columns, perhaps {told}; `judgesheet "
            f"inspect-log {shlex.quote(str(path))}` says more"
        )
    return LogReader(path.name, found.log, choice, found.rows, lines)


__all__ = [
    "FIELDS",
    "KINDS",
    "LOGS",
    "TABLES",
    "TRUTHS",
    "UNKNOWN",
    "LogOptions",
    "LogReader",
    "MissingFieldError",
    "NoFigureError",
    "Opened",
    "Row",
    "Scale",
    "are_names",
    "as_option",
    "finite",
    "having",
    "is_ours",
    "opened",
    "proposed",
    "reader",
    "recognised",
    "verdicts",
]
