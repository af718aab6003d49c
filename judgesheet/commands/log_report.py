"""What a log holds, which figures it allows, what is missing, and the next command.

The figures are those of a sample of its stimuli, measured as `ingest` would: what is said here
about a log is what a sheet of it would say.
"""

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import shorten
from typing import Any

from judgesheet.axes import get_axis
from judgesheet.base.errors import StimuliError, UsageError
from judgesheet.base.files import records
from judgesheet.base.limits import (
    MOST_CALLS_TRIED,
    MOST_IN_A_LIST,
    MOST_RECORDS,
    MOST_REMEMBERED_ROWS,
    MOST_STIMULI_TRIED,
)
from judgesheet.base.records import AxisResult
from judgesheet.base.sanitize import listed, one_line
from judgesheet.collect import ingest
from judgesheet.importers import logs
from judgesheet.importers.logs import Row, finite
from judgesheet.ledger.ledger import Ledger
from judgesheet.measuring.measure import measure

_LISTED = ("judge", "metric", "by", "verdict")
"""Fields of which a user must choose, or name, the values."""
_SUGGESTED: Mapping[str, tuple[str, ...]] = {
    "stimulus": (
        *("stimulus", "question_id", "prompt_id", "doc_id", "example_id", "task_id"),
        *("conversation_id", "chat_id", "question", "prompt", "conversation", "chat"),
    ),
    "item": (
        *("item", "item_id", "response_id", "answer_id", "trace_id", "run_id", "model", "system"),
        *("response", "answer", "reply"),
    ),
    "verdict": ("verdict", "score", "rating", "grade", "winner", "preference", "label"),
    "first": ("first", "response_a", "model_a"),
    "second": ("second", "response_b", "model_b"),
    "order": ("order", "displayed_order"),
    "repeat": ("repeat", "rep", "repetition", "epoch", "run", "trial"),
    "human": ("human", "human_score", "human_rating"),
    "judge": ("judge", "judge_model", "annotator"),
    "metric": ("metric", "criterion"),
}
"""Columns that often hold a field: named in the command, for the user to check."""
_PEOPLE = re.compile("human|people|person|expert|rater|rating|label|gold|truth", re.IGNORECASE)
"""How columns are called that hold what people said."""
_SIDES = (("_a", "_b"), ("_1", "_2"), ("1", "2"), ("left", "right"), ("first", "second"))
"""How the columns of the two responses of a pair differ."""


@dataclass(frozen=True, slots=True)
class LogReport:
    """What is known of a log.

    `form` is its format, `columns` are those of its first record and `rows` those of the rows that
    the format makes of it, which a map can name. `reads_as` says which of them holds what, `values`
    what some hold and how often. Of the verdicts, `known` have a known right answer. `dropped` says
    which rows cannot be read and are left out, `to_say` what the user must still say, `fault` is
    the sentence with which `ingest` would refuse the log; each is "" where there is nothing.
    `allows` are keys of figures that it has values for, `missing` maps why others have none to
    their keys. `complete` says whether all of it was read.
    """

    file: str
    form: str
    checked: str
    columns: tuple[str, ...]
    rows: tuple[str, ...] = ()
    reads_as: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    axes: tuple[str, ...] = ()
    verdicts: int = 0
    unreadable: int = 0
    stimuli: int = 0
    rated: int = 0
    known: int = 0
    complete: bool = True
    allows: tuple[str, ...] = ()
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    dropped: str = ""
    to_say: str = ""
    fault: str = ""
    command: str = ""

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
        for name, counts in self.values.items():
            yield from _row(
                name, _listed([f"{value or 'empty'} ({n:,})" for value, n in counts.items()])
            )
        titles = (f"{name}: {get_axis(name).TITLE}" for name in self.axes)
        yield from _row("axis", "; ".join(titles))
        yield from _row("holds", self._amounts() if self.verdicts else "")
        yield from _row("allows", _listed(self._local(self.allows)))
        for why, keys in self.missing.items():
            yield from _row("lacks", f"{why}: {_listed(self._local(keys))}")
        yield from _row("left out", self.dropped)
        yield from _row("to say", self.to_say)
        yield from _row("refused", self.fault)
        yield from _row("next", self.command)

    def _local(self, keys: Sequence[str]) -> Sequence[str]:
        """The keys without their axis, where there is only one."""
        alone = f"{self.axes[0]}." if len(self.axes) == 1 else ""
        return [key.removeprefix(alone) for key in keys]

    def _amounts(self) -> str:
        part = "" if self.complete else f" (of the first {MOST_RECORDS:,} records)"
        truths = f"{self.rated:,} ratings by people"
        if self.known:
            truths = f"of {self.known:,} the right answer is known"
        return (
            f"{self.verdicts:,} verdicts, {self.unreadable:,} of them unreadable, on "
            f"{self.stimuli:,} stimuli; {truths}{part}"
        )


def _row(name: str, said: str) -> Iterator[str]:
    if said:
        yield one_line(f"{name:9}{said}")


def _listed(names: Sequence[str]) -> str:
    return listed([shorten(name, 80, placeholder="…") or "…" for name in names], 40)


def report(path: Path, choice: logs.LogOptions) -> LogReport:
    """Look at a log. StimuliError if its first record cannot be read at all."""
    found = logs.opened(path, choice.form)
    known = LogReport(path.name, found.form or "table", found.log.checked, found.columns[:1000])
    if not found.columns:
        raise StimuliError(f"{path.name} holds no records")
    if found.form is None and not choice.columns:
        own = _of_ours(path, known)
        if own is not None:
            return own
        return _proposed(known, path, choice, [*islice(found.rows, MOST_REMEMBERED_ROWS)])
    choice = replace(choice, form=choice.form or found.form)
    judged = logs.judged([path], choice)
    # Only rows know what a map can name: a format may make other columns of the records.
    first = next(judged.rows, None)
    rows = chain([first], islice(judged.rows, MOST_REMEMBERED_ROWS)) if first else ()
    known = replace(
        known,
        rows=tuple(map(str, first.cells))[:1000] if first else (),
        reads_as=judged.columns,
        values=_values(judged, rows),
    )
    return _measured(known, path, _one_of_each(known, choice))


def _of_ours(path: Path, known: LogReport) -> LogReport | None:
    """Recorded judgments and batch answers, which need no map."""
    plain = _with_command(known, path, logs.LogOptions(), {})
    if not logs.is_ours(known.columns):
        return None
    if "custom_id" in known.columns:
        why = "the answers are read with the plan that the batch was made from, in DIR/plan.jsonl"
        return replace(plain, form="answers of an OpenAI batch", missing={why: ("all figures",)})
    return _sampled(replace(plain, form="recorded judgments"), path, records(path))


def _proposed(
    known: LogReport, path: Path, choice: logs.LogOptions, rows: Sequence[Row]
) -> LogReport:
    """The report on a table that no map explains: one to check, and what it would still lack."""
    cells = [row.cells for row in rows]
    suggested = _suggestion(cells[0] if cells else {})
    suggested |= _item(cells, suggested)
    suggested |= _said(rows, suggested)
    to_say = "which column holds what"
    if lacks := _lacks(path, replace(choice, columns=suggested), rows):
        to_say, judged = lacks
        suggested |= _wanted(judged)
    to_say += "; check the map in the command"
    if "first" not in suggested and choice.scale is None:  # winners of pairs have no scale
        to_say += ", and write the lowest and the highest score for LOW:HIGH"
        choice = replace(choice, scale="LOW:HIGH")
    return replace(_with_command(known, path, choice, suggested), to_say=to_say)


def _lacks(
    path: Path, choice: logs.LogOptions, rows: Sequence[Row]
) -> tuple[str, logs.Judged] | None:
    """Why no figure follows from a table under a whole map; None if one does, or may do."""
    if "COLUMN" in choice.columns.values():
        return None
    if "first" not in choice.columns:
        # Whether something was judged twice does not depend on the scale: two points are enough.
        scores = {finite(row.cells.get(choice.columns["verdict"])) or 0.0 for row in rows}
        low, high = min(scores), max(scores)
        choice = replace(choice, scale=f"{low:g}:{high:g}:{high - low:g}", nearest=True)
    judged = logs.judged([path], choice)
    try:
        for _ in islice(judged.records(), MOST_RECORDS):
            pass
    except (StimuliError, UsageError) as error:
        return (str(error), judged) if judged.tells_nothing else None
    return None


def _suggestion(cells: Mapping[str, Any]) -> dict[str, str]:
    """Columns of a first record by whose names, or contents, a map could begin."""
    lower = {column.lower(): column for column in reversed(list(cells))}
    found = {
        ours: lower[name]
        for ours, names in _SUGGESTED.items()
        for name in reversed(names)
        if name in lower
    }
    if sides := _sides([*cells]) or _halves(cells):
        item = found.pop("item", "")
        if item.lower() in ("item", "item_id"):  # what two responses share is the question
            found.setdefault("stimulus", item)
        order, _ = found.pop("order", ""), found.pop("human", "")
        if str(cells.get(order)).upper() in ("AB", "BA"):
            found["swapped"] = order
        found |= dict(zip(("first", "second"), sides, strict=True))
    return {"verdict": "COLUMN", "stimulus": "COLUMN", **found}


def _item(rows: Sequence[Mapping[str, Any]], suggested: Mapping[str, str]) -> dict[str, str]:
    """What tells several graded responses to one question apart, if a column does.

    A name that stands under several questions, as that of a system, is joined with theirs.
    """
    question = suggested["stimulus"]
    shared = [str(row.get(question)) for row in rows]
    if "first" in suggested or len(set(shared)) == len(rows):
        return {}
    named = [suggested["item"]] if "item" in suggested else []
    for column in (
        [*named, *(one for one in rows[0] if one not in suggested.values())] if rows else ()
    ):
        values = [str(row.get(column)) for row in rows]
        if len(set(zip(shared, values, strict=True))) == len(rows):
            return {"item": column if len(set(values)) == len(rows) else f"{question}+{column}"}
    return {}


def _said(rows: Sequence[Row], suggested: Mapping[str, str]) -> dict[str, str]:
    """The columns with what the judge and what people said, by what nearly all their cells hold.

    People's is one that is called so; the judge's, where no name told it, the only other one.
    """
    is_pair = "first" in suggested
    holds = partial(_tells_winner, suggested) if is_pair else _tells_score
    fitting = [
        column
        for column in (rows[0].cells if rows else ())
        if column not in suggested.values()
        and (given := [row for row in rows if row.cells.get(column) not in (None, "")])
        and sum(holds(row, column) for row in given) >= (1 - logs.STRANGE_SHARE) * len(given)
    ]
    people = [column for column in fitting if _PEOPLE.search(column)]
    others = [column for column in fitting if column not in people]
    found = {}
    if len(people) == 1 and "human" not in suggested:
        found[logs.TRUTHS["pair" if is_pair else "score"]] = people[0]
    if len(others) == 1 and suggested["verdict"] == "COLUMN" and is_pair:
        found["verdict"] = others[0]
    return found


def _tells_score(row: Row, column: str) -> bool:
    return finite(row.cells.get(column)) is not None


def _tells_winner(suggested: Mapping[str, str], row: Row, column: str) -> bool:
    said = str(row.cells.get(column))
    names = (str(row.at(suggested[side])) for side in ("first", "second"))
    return said.lower() in logs.SLOTS or said in names


def _sides(columns: Sequence[str]) -> tuple[str, str] | None:
    """Two columns that are called alike but for the side, such as model_a and model_b.

    Those that name the responses before those that hold their text.
    """
    there = {column.lower(): column for column in columns}
    others = ((name, name.replace(one, two)) for name in there for one, two in _SIDES)
    found = [(there[name], there[other]) for name, other in others if name != other in there]
    named = [pair for pair in found if re.search("model|system|name|id", pair[0].lower())]
    return next(iter(named or found), None)


def _halves(cells: Mapping[str, Any]) -> tuple[str, str] | None:
    """The two places in a column that lists the names of both responses."""
    pairs = (name for name, cell in cells.items() if isinstance(cell, list) and len(cell) == 2)
    named = (name for name in pairs if all(isinstance(one, str) for one in cells[name]))
    return next(((f"{name}.0", f"{name}.1") for name in named), None)


def _values(judged: logs.Judged, rows: Iterable[Row]) -> dict[str, dict[str, int]]:
    """What the columns hold that a user must choose from, of the first rows."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        if not judged.counts(row):
            continue
        for name in _LISTED:
            cell = row.cells.get(judged.columns.get(name, ""))
            if cell is not None and not isinstance(cell, dict | list):
                counts.setdefault(name, Counter())[str(cell)[:80]] += 1
    return {name: dict(met.most_common(MOST_IN_A_LIST)) for name, met in counts.items()}


def _one_of_each(known: LogReport, choice: logs.LogOptions) -> logs.LogOptions:
    """The choice with the most frequent judge and metric, where the user must choose one."""
    several = {
        known.reads_as[name]: next(iter(known.values[name]))
        for name in ("judge", "metric")
        if len(known.values.get(name, ())) > 1 and known.reads_as[name] not in choice.where
    }
    return replace(choice, where={**choice.where, **several}) if several else choice


def _measured(known: LogReport, path: Path, choice: logs.LogOptions) -> LogReport:
    told = _with_command(known, path, choice, {})
    judged = logs.judged([path], choice)
    try:
        found = _sampled(replace(told, axes=(judged.axis,)), path, judged.records())
        return replace(found, dropped=judged.dropped)
    except (StimuliError, UsageError) as error:
        if judged.needs_scale:
            choice = replace(choice, scale="LOW:HIGH")  # the command shows where it goes
        wanted = _with_command(known, path, choice, _wanted(judged))
        # Nothing is gained by the command that has just failed: the sentence says what would.
        command = "" if wanted.command == told.command else wanted.command
        if command and isinstance(error, UsageError):
            return replace(wanted, to_say=str(error))
        return replace(wanted, fault=str(error), command=command)


def _wanted(judged: logs.Judged) -> dict[str, str]:
    """The fields that a map must still have before anything follows from the log."""
    try:
        kind = judged.kind
    except UsageError:
        return {name: "COLUMN" for name in ("item", "verdict") if name not in judged.columns}
    return {logs.TRUTHS[kind]: "COLUMN"} if judged.tells_nothing else {}


# -- a sample --------------------------------------------------------------------------------------


_COUNTED = ("verdicts", "unreadable", "rated", "known", "complete")
"""What a sample and a report call by the same name."""


@dataclass
class _Sample:
    """The records of the first stimuli, and how many there are of all."""

    source: Iterator[tuple[Mapping[str, Any], str]]
    stimuli: set[str] = field(default_factory=set)
    verdicts: int = 0
    unreadable: int = 0
    rated: int = 0
    known: int = 0
    complete: bool = True
    judge: None = None  # as `Judged` has it: of a sample nobody needs to know who judged

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
                if not isinstance(rated, dict) or rated.get("item") in items:
                    yield dict(record), where
                continue
            self.verdicts += 1
            self.unreadable += record.get("verdict") is None
            stimulus, cell = str(record.get("stimulus")), record.get("cell")
            if isinstance(cell, dict):
                self.known += any(cell.get(name) is not None for name in logs.TRUTHS.values())
            self.stimuli.add(stimulus)
            if stimulus in kept or (len(kept) < MOST_STIMULI_TRIED and taken < MOST_CALLS_TRIED):
                kept.add(stimulus)
                taken += 1
                items.add(str(cell.get("item")) if isinstance(cell, dict) else "")
                yield dict(record), where


def _sampled(
    known: LogReport, path: Path, source: Iterator[tuple[Mapping[str, Any], str]]
) -> LogReport:
    sample = _Sample(source)
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


def _figures(results: Sequence[AxisResult]) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
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


def _with_command(
    known: LogReport, path: Path, choice: logs.LogOptions, suggested: Mapping[str, str]
) -> LogReport:
    """The report with the next command."""
    words = ["judgesheet", "ingest", str(path)]
    columns = {**suggested, **choice.columns}
    if choice.form is not None:
        words += ["--from", choice.form]
    if columns:
        words += ["--map", ",".join(f"{ours}={column}" for ours, column in columns.items())]
    for column, value in choice.where.items():
        words += ["--where", f"{column}={value}"]
    if choice.scale is not None:
        words += ["--scale", choice.scale]
    words += ["--round"] * choice.nearest
    if choice.human_scale is not None:
        words += ["--human-scale", choice.human_scale]
    for value in choice.unreadable:
        words += ["--unreadable", value]
    words += ["--out", f"runs/{path.name.split('.')[0] or 'log'}"]
    return replace(known, command=shlex.join(words))
