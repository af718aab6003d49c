"""What a log holds, which figures it allows, what is missing, and the next command.

The figures are those of a sample of its stimuli, measured as `ingest` would: what is said here
about a log is what a sheet of it would say.
"""

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import shorten
from typing import Any

from judgesheet.axes import get_axis
from judgesheet.base.digits import counted
from judgesheet.base.errors import StimuliError, UsageError
from judgesheet.base.files import records
from judgesheet.base.limits import (
    LONGEST_DOCUMENT,
    MOST_CALLS_TRIED,
    MOST_DRAWN,
    MOST_IN_A_LIST,
    MOST_RECORDS,
    MOST_REMEMBERED_ROWS,
    MOST_STIMULI_TRIED,
)
from judgesheet.base.records import MeasuredAxis
from judgesheet.base.sanitize import listed, one_line
from judgesheet.base.tally import Tally
from judgesheet.collect import ingest
from judgesheet.commands.log_uses import other_commands
from judgesheet.importers import logs
from judgesheet.importers.logs import Row
from judgesheet.ledger.ledger import Ledger
from judgesheet.measuring.measure import measure
from judgesheet.reading.verdicts import has_verdict

_LISTED = ("judge", "metric", "by", "verdict")
"""Fields of which a user must choose, or name, the values."""


@dataclass(frozen=True, slots=True)
class LogReport:
    """What is known of a log.

    `form` is its format, `columns` are those of its first record and `rows` those of the rows that
    the format makes of it, which a map can name. `reads_as` says which of them holds what, `values`
    what some hold and how often, in the first `looked_at` rows (0: in all). Of the verdicts,
    `known` have a known right answer. `lost` says which rows cannot be read, `to_say` what the
    user must still say, `draft` is the command to say it in, `fault` is the sentence with which
    `ingest` would refuse the log; each is "" where there is nothing. `allows` are keys of figures
    that it has values for, `missing` maps why others have none to their keys. `complete` says
    whether all of it was read. `command` reads the log, `others` do something else with it; each
    was tried, and is "" if something is missing.
    """

    file: str
    form: str
    checked: str
    columns: tuple[str, ...]
    rows: tuple[str, ...] = ()
    reads_as: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    looked_at: int = 0
    axes: tuple[str, ...] = ()
    verdicts: int = 0
    unreadable: int = 0
    stimuli: int = 0
    rated: int = 0
    known: int = 0
    complete: bool = True
    allows: tuple[str, ...] = ()
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lost: str = ""
    to_say: str = ""
    draft: str = ""
    fault: str = ""
    command: str = ""
    others: tuple[str, ...] = ()

    def as_record(self) -> dict[str, Any]:
        """The report as one JSON document."""
        return asdict(self)

    def as_lines(self) -> Iterator[str]:
        """The report as a table in words."""
        checked = f" (as of {self.checked})" if self.checked else ""
        yield from _row("file", self.file)
        yield from _row("format", f"{self.form}{checked}")
        yield from _row("columns", _listed(self.columns))
        if self.rows != self.columns:
            yield from _row("rows", _listed(self.rows))
        yield from _row("read as", ", ".join(f"{ours}={of}" for ours, of in self.reads_as.items()))
        part = f"; of the first {counted(self.looked_at, 'row')}" if self.looked_at else ""
        for name, counts in self.values.items():
            met = _listed([f"{value or 'empty'} ({n:,})" for value, n in counts.items()])
            yield from _row(name, f"{met}{part}")
        titles = (f"{name}: {get_axis(name).TITLE}" for name in self.axes)
        yield from _row("axis", "; ".join(titles))
        yield from _row("holds", self._amounts() if self.verdicts else "")
        yield from _row("allows", _listed(self._local(self.allows)))
        for why, keys in self.missing.items():
            yield from _row("lacks", f"{why}: {_listed(self._local(keys))}")
        yield from _row("lost", self.lost)
        yield from _row("to say", self.to_say)
        yield from _row("refused", self.fault)
        yield from _row("complete", self.draft)
        for command in filter(None, (self.command, *self.others)):
            yield from _row("next", command)

    def _local(self, keys: Sequence[str]) -> Sequence[str]:
        """The keys without their axis, where there is only one."""
        alone = f"{self.axes[0]}." if len(self.axes) == 1 else ""
        return [key.removeprefix(alone) for key in keys]

    def _amounts(self) -> str:
        part = "" if self.complete else f" (of the first {MOST_RECORDS:,} records)"
        truths = counted(self.rated, "human rating")
        if self.known:
            truths = f"the right answer is known for {self.known:,}"
        return (
            f"{counted(self.verdicts, 'verdict')}, {self.unreadable:,} of them unreadable, on "
            f"{counted(self.stimuli, 'stimulus', 'stimuli')}; {truths}{part}"
        )


def _row(name: str, text: str) -> Iterator[str]:
    if text:
        yield one_line(f"{name:9}{text}")


def _listed(names: Sequence[str]) -> str:
    return listed([shorten(name, 80, placeholder="…") or "…" for name in names], MOST_DRAWN)


def report(path: Path, choice: logs.LogOptions) -> LogReport:
    """Look at a log. StimuliError if its first record cannot be read at all."""
    opened = logs.opened(path, choice.form, Tally("line"))
    empty = LogReport(path.name, opened.form or "table", opened.log.checked, opened.columns[:1000])
    if not opened.columns:
        raise StimuliError(f"{path.name} holds no records")
    if opened.form is None and not choice.columns and logs.is_ours(opened.columns):
        return _of_ours(empty, path)
    people = logs.people_of(choice.ratings, choice.on)
    every = people.beside(opened.rows) if people else opened.rows
    rows = [*islice(every, MOST_REMEMBERED_ROWS)]
    looked_at = MOST_REMEMBERED_ROWS if next(every, None) is not None else 0
    empty = replace(empty, looked_at=looked_at)
    if opened.form is None and not choice.columns:
        return _proposed(empty, path, choice, rows)
    return _described(empty, path, replace(choice, form=choice.form or opened.form), rows)


def _described(
    known: LogReport, path: Path, choice: logs.LogOptions, rows: Sequence[Row]
) -> LogReport:
    """The report on a log whose map is known."""
    fields = logs.FieldReader(logs.LOGS.get(choice.form or "", logs.PLAIN), choice)
    # Only rows know what a map can name: a format may make other columns of the records.
    named = tuple(map(str, rows[0].cells))[:1000] if rows else ()
    values = _values(fields, rows)
    described = replace(known, rows=named, reads_as=fields.columns, values=values)
    # Where the user must choose a judge or a metric, the most frequent one is measured.
    several = {
        fields.columns[name]: next(iter(values[name]))
        for name in ("judge", "metric")
        if len(values.get(name, ())) > 1 and fields.columns[name] not in choice.where
    }
    if several:
        choice = replace(choice, where={**choice.where, **several})
    return _measured(described, path, _scaled(choice, rows), rows)


def _scaled(choice: logs.LogOptions, rows: Sequence[Row]) -> logs.LogOptions:
    """The options with the scale that the verdicts have, if no one says it."""
    fields = logs.FieldReader(logs.LOGS.get(choice.form or "", logs.PLAIN), choice)
    said = [column for name, column in fields.columns.items() if name.startswith("verdict")]
    if not fields.needs_scale or not said:
        return choice
    counted = filter(fields.counts, rows)
    option = logs.scale_of(fields.meant(row.at(column)) for row in counted for column in said)
    _, scale, *rounded = option.split() if option else ("", None)
    return replace(choice, scale=scale, nearest=choice.nearest or bool(rounded))


def _of_ours(empty: LogReport, path: Path) -> LogReport:
    """Recorded judgments and batch answers, which need no map."""
    plain = replace(empty, command=_command(path, logs.LogOptions()))
    if "custom_id" in empty.columns:
        why = "the answers are read with the plan that the batch was made from, in DIR/plan.jsonl"
        return replace(plain, form="answers of an OpenAI batch", missing={why: ("all figures",)})
    lines = Tally("line")
    of_ours = replace(plain, form="recorded judgments")
    report = _sampled(of_ours, path, records(path, LONGEST_DOCUMENT, lines))
    return replace(report, lost=lines.sentence())


def _proposed(
    empty: LogReport, path: Path, choice: logs.LogOptions, rows: Sequence[Row]
) -> LogReport:
    """The report on a table that no map explains, read as the names of its columns have it."""
    columns, named = logs.proposed(rows), logs.verdicts(rows)
    choice = replace(choice, columns=columns)
    others = tuple(other_commands(path, columns, rows))
    to_say = "which column holds what"
    is_whole = logs.UNKNOWN not in columns.values()
    if is_whole:
        choice = _scaled(choice, rows)
        tried = _described(replace(empty, others=others), path, choice, rows)
        if tried.command and not tried.to_say and not tried.fault:
            left = logs.left_over(empty.columns, columns.values())
            to_say = f"check the map (left over: {_listed(left)})" if left else "check the map"
            return replace(tried, to_say=f"{to_say}, and the scale" * bool(choice.scale) or to_say)
        to_say = tried.fault or tried.to_say
    for kind in logs.KINDS.values():
        if columns.get(kind.truth) == logs.UNKNOWN:
            to_say = f"nothing was judged twice; missing is {kind.needs}"
    if len(named) > 1:
        to_say = f"which column is the judge's verdict: {_listed(named)}"
        if "first" in columns:
            to_say += " (again=COLUMN if one of them is about the other order)"
    if columns.get("first") == logs.UNKNOWN:
        to_say = (
            f"{columns['verdict']} says which of two won: name the columns with the names of the "
            "two responses as shown (first, second), or add them to the file if it has none"
        )
    left = logs.left_over(empty.columns, [*columns.values(), *named])
    if left:
        to_say += f"; left over: {_listed(left)}"
    if "first" not in columns and choice.scale is None:  # winners of pairs have no scale
        choice = replace(choice, scale="LOW:HIGH")
    return replace(empty, to_say=to_say, draft=_command(path, choice), others=others)


def _values(fields: logs.FieldReader, rows: Iterable[Row]) -> dict[str, dict[str, int]]:
    """What the columns hold that a user must choose from, of the first rows."""
    counts: dict[str, Counter[str]] = {}
    for row in filter(fields.counts, rows):
        for name in filter(fields.columns.__contains__, _LISTED):
            cell = row.at(fields.columns[name])
            if name == "verdict" or (cell is not None and not isinstance(cell, dict | list)):
                counts.setdefault(name, Counter())["" if cell is None else str(cell)[:80]] += 1
    return {name: dict(met.most_common(MOST_IN_A_LIST)) for name, met in counts.items()}


def _measured(
    described: LogReport, path: Path, choice: logs.LogOptions, rows: Sequence[Row]
) -> LogReport:
    reader = logs.reader([path], choice)
    try:
        of_axis = replace(described, axes=(reader.fields.axis,), command=_command(path, choice))
        return replace(_sampled(of_axis, path, reader.records()), lost=". ".join(reader.lost))
    except (StimuliError, UsageError) as error:
        wanted = _wanted(reader, error, rows)
        if reader.fields.needs_scale:
            wanted, choice = {**wanted}, replace(choice, scale="LOW:HIGH")
        # Nothing is gained by the command that has just failed: the sentence says what would.
        mended = _command(path, replace(choice, columns={**wanted, **choice.columns}))
        if isinstance(error, UsageError):
            return replace(described, to_say=str(error), draft=mended)
        return replace(described, fault=str(error), draft=mended if wanted else "")


def _wanted(reader: logs.LogReader, error: Exception, rows: Sequence[Row]) -> dict[str, str]:
    """The fields that a map must still have before anything follows from the log."""
    if isinstance(error, logs.NoFigureError):
        return {logs.KINDS[reader.fields.kind].truth: logs.UNKNOWN}
    if isinstance(error, logs.MissingFieldError):
        guess, named = logs.proposed(rows), reader.fields.columns
        lacks = (name for name in ("item", "verdict", "stimulus") if name not in named)
        return {name: guess.get(name, logs.UNKNOWN) for name in lacks}
    return {}


# -- a sample --------------------------------------------------------------------------------------


_COUNTED = ("verdicts", "unreadable", "rated", "known", "complete")
"""What a sample and a report call by the same name."""


@dataclass
class _Sample:
    """The records of the first stimuli, and how many there are of all."""

    source: Iterator[tuple[Mapping[str, Any], str]]
    columns: Mapping[str, str]
    left_over: Sequence[str]
    stimuli: set[str] = field(default_factory=set)
    verdicts: int = 0
    unreadable: int = 0
    rated: int = 0
    known: int = 0
    complete: bool = True
    judge: None = None  # as `LogReader` has it: of a sample nobody needs to know who judged
    scale: None = None
    unplaced: int = 0  # nor of calls that no figure reads

    def records(self) -> Iterator[tuple[dict[str, Any], str]]:
        """The sample; what is left of the log is only counted."""
        kept, items, taken = set[str](), set[str](), 0
        for number, (record, where) in enumerate(self.source):
            if number == MOST_RECORDS:
                self.complete = False
                return
            if "human" in record:
                self.rated += 1
                rated = record["human"]
                if not isinstance(rated, dict) or str(rated.get("item")) in items:
                    yield dict(record), where
                continue
            self.verdicts += 1
            self.unreadable += not has_verdict(record.get("verdict"))
            stimulus, cell = str(record.get("stimulus")), record.get("cell")
            if isinstance(cell, dict):
                self.known += any(cell.get(name) is not None for name in logs.TRUTHS)
            self.stimuli.add(stimulus)
            if stimulus in kept or (len(kept) < MOST_STIMULI_TRIED and taken < MOST_CALLS_TRIED):
                kept.add(stimulus)
                taken += 1
                items.add(str(cell.get("item")) if isinstance(cell, dict) else "")
                yield dict(record), where


def _sampled(
    known: LogReport, path: Path, source: Iterator[tuple[Mapping[str, Any], str]]
) -> LogReport:
    sample = _Sample(source, known.reads_as, logs.left_over(known.columns, known.reads_as.values()))
    with TemporaryDirectory(prefix="judgesheet-") as folder:
        ledger_path = Path(folder) / "ledger.sqlite"
        ingest.ingest([path], ledger_path, sample)
        with Ledger.open(ledger_path) as ledger:
            results = measure(ledger).results
    allows, missing = _figures(results)
    return replace(
        known,
        axes=tuple(result.name for result in results),
        stimuli=len(sample.stimuli),
        **{name: getattr(sample, name) for name in _COUNTED},
        allows=allows,
        missing=missing,
    )


def _figures(results: Sequence[MeasuredAxis]) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """The keys of the characteristics that have a value, and those that have none by the reason."""
    allows, missing = [], defaultdict(list)
    for result in results:
        by_key = {estimate.key: estimate for estimate in result.estimates}
        for row in result.characteristics:
            estimate = by_key.get(row.key)
            if estimate is None:
                continue
            if estimate.value is not None:
                allows.append(row.key)
            else:
                missing[estimate.note].append(row.key)
    return tuple(allows), {why: tuple(keys) for why, keys in missing.items()}


# -- the command -----------------------------------------------------------------------------------


def _command(path: Path, choice: logs.LogOptions) -> str:
    """The command that reads the log."""
    words = ["judgesheet", "ingest", str(path)]
    if choice.form is not None:
        words += ["--from", choice.form]
    words += _map(choice.columns)
    for column, value in choice.where.items():
        words += ["--where", f"{column}={value}"]
    if choice.scale is not None:
        words += ["--scale", choice.scale]
    words += ["--round"] * choice.nearest
    if choice.human_scale is not None:
        words += ["--human-scale", choice.human_scale]
    for said, meant in choice.verdicts.items():
        words += ["--verdict", f"{said}={meant}"]
    for value in choice.unreadable:
        words += ["--unreadable", value]
    if choice.ratings and choice.on:
        words += ["--ratings", str(choice.ratings), "--on", choice.on]
    return shlex.join([*words, "--out", f"runs/{_stem(path)}"])


def _map(columns: Mapping[str, str]) -> list[str]:
    pairs = ",".join(f"{field}={column}" for field, column in columns.items())
    return ["--map", pairs] if pairs else []


def _stem(path: Path) -> str:
    return path.name.split(".")[0] or "log"
