"""Verdicts from elsewhere, as recorded judgments or results of a batch."""

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from shlex import quote
from statistics import fmean
from sys import intern
from textwrap import shorten
from typing import Any, NamedTuple, Protocol

from judgesheet.axes import all_axes
from judgesheet.axis import Axis
from judgesheet.axis.material import clusters
from judgesheet.base.digits import count
from judgesheet.base.errors import OtherRunError, StimuliError, UsageError
from judgesheet.base.files import records
from judgesheet.base.limits import (
    LARGEST_COUNT,
    LONGEST_DOCUMENT,
    MOST_FIELDS,
    MOST_LISTED,
    MOST_REMEMBERED_ROWS,
    MOST_REPEATS,
)
from judgesheet.base.records import (
    RECORDED,
    Call,
    Label,
    Plan,
    Reply,
    Stimulus,
    canonical_json,
    digest,
)
from judgesheet.base.resources import uncollected
from judgesheet.base.sanitize import listed
from judgesheet.base.scale import Scale
from judgesheet.base.tally import Tally
from judgesheet.collect.batches import fill, ingest_results
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import make_directory
from judgesheet.measuring.parsing import alike, reading
from judgesheet.reading.verdicts import has_verdict

_KINDS = {"axis": str, "stimulus": str, "cell": dict}
_ABOUT = ("group", "stimulus_text")
"""What a record may say of its stimulus, so that copies of one are told: a name, and its words."""
_FIELDS = {*_KINDS, "repeat", "verdict"}
BEYOND_TABLES = 2**63
MEAN_TOLERANCE = 0.051
"""How far a recorded mean may be from that of its ratings: it may be rounded to one digit."""


class RecordedLog(Protocol):
    """What a file of another tool says, as recorded judgments."""

    @property
    def judge(self) -> str | None:
        """Who judged, where the file says; known when all records were read."""

    @property
    def columns(self) -> Mapping[str, str]:
        """Our fields and the columns of the file that hold them."""

    @property
    def scale(self) -> Scale | None:
        """That of its scores; None where they are words or of several scales."""

    @property
    def left_over(self) -> Sequence[str]:
        """Its columns that nothing reads."""

    @property
    def unplaced(self) -> int:
        """How many calls it has of which it does not say what they judged; known at the end."""

    def records(self) -> Iterator[tuple[dict[str, Any], str]]:
        """Every recorded judgment, and where it stands."""


def ingest(
    files: Sequence[Path],
    ledger_path: Path,
    log: RecordedLog | None = None,
    lines: Tally | None = None,
    *,
    fresh: bool = False,
) -> None:
    """Fill a ledger from `files`, whose first lines show which kind they are, or from a `log`.

    Lines with a `custom_id` are results of a batch and need the ledger of their plan; lines with an
    `axis` are recorded judgments, in one file. A StimuliError names the line that cannot be read;
    of recorded judgments a few are lost calls, noted in `lines`. A batch can be fetched again;
    other verdicts on the same questions are refused, unless `fresh` keeps the earlier run aside.
    """
    lines = lines or Tally("line")
    into = ledger_path, fresh
    if log is not None:
        _ingest_recorded(files[0], log, *into)
        return
    firsts = [next(records(file, LONGEST_DOCUMENT, Tally("line")), None) for file in files]
    known = [record for record, _ in filter(None, firsts)]  # a batch's file of errors may be empty
    if not known:
        raise StimuliError(f"{files[0]} holds no judgments; put one JSON object on each line")
    if all("custom_id" in record for record in known):
        if fresh:
            raise UsageError("the results of a batch complete the run in --out: leave --fresh out")
        ingest_results(files, ledger_path)
    elif len(files) == 1:
        _ingest_recorded(files[0], _OwnLines(files[0], lines), *into)
    else:
        raise StimuliError("only the results of a batch can be in several files; join the others")


# -- recorded judgments ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _OwnLines:
    """A file of recorded judgments; a few lines that are none are noted in `lines`."""

    file: Path
    lines: Tally
    judge: None = None
    scale: None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    left_over: Sequence[str] = ()

    @property
    def unplaced(self) -> int:
        return self.lines.lost

    def records(self) -> Iterator[tuple[dict[str, Any], str]]:
        return records(self.file, LONGEST_DOCUMENT, self.lines)


def _or_where(left_over: Sequence[str]) -> str:
    """How to keep the rows of one kind, where a column that is not read may tell them apart."""
    columns = listed([shorten(one, 60, placeholder="…") for one in left_over], MOST_LISTED)
    return f", or keep one kind of rows: --where COLUMN=VALUE ({columns})" if left_over else ""


def _or_swapped(columns: Collection[str]) -> str:
    """How to tell the two orders of a pair apart, where its columns are always the same."""
    is_open = "first" in columns and "swapped" not in columns
    return ", or say which row shows the two in swapped order (swapped)" if is_open else ""


@uncollected()
def _ingest_recorded(file: Path, log: RecordedLog, ledger_path: Path, fresh: bool) -> None:
    calls: dict[str, tuple[Call, str, str]] = {}
    rated: dict[tuple[str, str, str], Label] = {}
    reader = _Reader(log.columns)
    for record, where in log.records():
        if "human" in record:
            label = _human(record["human"], where)
            if rated.setdefault((label.axis, label.item, label.criterion), label) != label:
                raise StimuliError(
                    f"{where}: {label.item} was rated differently in an earlier row; give all "
                    "its ratings in one row"
                )
            continue
        call, verdict = reader.recorded(record, where)
        if call.id in calls:
            _, known, first = calls[call.id]
            raise StimuliError(
                f"{where}: the same question, response, order and reading as {first}, with "
                f"{'the same' if verdict == known else 'another'} verdict; drop one of the two "
                "lines, or give each response a name of its own (item), and each reading of it a "
                f"number (repeat){_or_swapped(log.columns)}{_or_where(log.left_over)}"
            )
        calls[call.id] = (call, verdict, where)
    if not calls:
        raise StimuliError(f"{file} holds labels but no judgments")
    for number in range(1, log.unplaced + 1):
        lost = _unplaced(call, f"{file.name}, unplaced row {number}")
        calls[lost.id] = (lost, "null", "")
    labels = tuple(rated.values())
    _reject_unknown_stimuli(labels, reader.homes, file)
    axes = list(dict.fromkeys(axis for axis, _ in reader.stimuli))
    provenance = {
        "settings": {"profile": "recorded", "axes": axes, "reply": "recorded", "temperature": None},
        "stimuli": [
            {
                "axis": axis,
                "name": file.name,
                "stimuli": sum(one == axis for one, _ in reader.stimuli),
                "digest": digest("\n".join(calls)),
                **reader.copies(axis),
            }
            for axis in axes
        ],
        "prompts": [],
        **({"scale": log.scale.as_record()} if log.scale else {}),
    }
    plan = Plan(0, tuple(call for call, *_ in calls.values()), labels, provenance)
    judge = {"provider": RECORDED, "model": log.judge or file.name}
    now = file.stat().st_mtime
    verdicts = ((key, verdict, now) for key, (_, verdict, _) in calls.items())
    make_directory(ledger_path.parent, fresh=fresh)
    with Ledger.create_or_open(ledger_path, plan, judge, verdicts) as ledger:
        if not ledger.is_new:  # these questions were ingested before: write those that it lacks
            for key, *_, text, _, _ in ledger.answers():
                if text is not None and text != calls[key][1]:
                    raise OtherRunError(
                        f"{calls[key][2]}: {ledger_path.parent} holds another verdict on this "
                        "question, from an earlier file: start over with --fresh or choose another "
                        "--out"
                    )
            replies = (
                Reply(key, 1, "ok", verdict, verdict, 0.0, None, None, None, now)
                for key, verdict, _ in verdicts
            )
            fill(ledger, replies)


def _unplaced(like: Call, name: str) -> Call:
    """A call of which the file does not say what it judged: on a stimulus of its own, like another.

    It counts among the calls, the lost ones too, and enters no figure of what was read.
    """
    facts = all_axes()[like.axis].FACTS
    cell = {**like.cell, **dict.fromkeys({"item", "pair"} & like.cell.keys(), name)}
    cell |= dict.fromkeys(facts.keys() & cell.keys())
    return replace(like, stimulus=name, cell=cell, repeat=0)


class _Reader:
    """Makes calls of records. What many of them have in common is looked at and held once."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        self.columns = columns
        self.homes: dict[tuple[str, str], str] = {}
        self.stimuli: dict[tuple[str, str], None] = {}  # a set in order
        self._about: dict[tuple[str, str], dict[str, str]] = {}
        self._facts: dict[tuple[str, ...], str] = {}
        self._names: set[str] = set()
        self._cells: dict[str, _Cell] = {}
        self._orders: dict[str, Any] = {}
        self._allowed: dict[tuple[str, str, str], tuple[str, str | None]] = {}
        self._last: _Cell | None = None

    def recorded(self, record: Mapping[str, Any], where: str) -> tuple[Call, str]:
        """The call of a record and its verdict; StimuliError if it is not allowed."""
        if fault := _fault_of_form(record):
            raise StimuliError(f"{where}: {fault}")
        cell, repeat = self._cell(record, where), record.get("repeat", 0)
        fault = cell.fault or _fault_of_repeat(repeat) or self._fault_of_stimulus(record, cell)
        if not fault:
            verdict, fault = self._verdict(record["verdict"], cell)
        if fault := fault or _fault_of_text(record, cell, verdict) or self._fault_among(cell):
            raise StimuliError(f"{where}: {fault}")
        call = Call.known(
            axis=cell.axis.NAME,
            stimulus=cell.stimulus,
            cell=cell.values,
            repeat=repeat,
            messages=(),
            params=_NONE,
            reply="recorded",
            id=digest(f'{cell.head},{repeat},[],{{}},"recorded"]')[:24],  # `Call.content_id`
        )
        return call, verdict

    def copies(self, axis: str) -> dict[str, Any]:
        """How many stimuli are independent and which are copies, if records describe stimuli."""
        described = {name: about for (of, name), about in self._about.items() if of == axis}
        if not described:
            return {}
        found = clusters([Stimulus(name, axis, about, "") for name, about in described.items()])
        stimuli = sum(of == axis for of, _ in self.stimuli)
        return {"independent": stimuli - len(found), **({"clusters": found} if found else {})}

    def _fault_of_stimulus(self, record: Mapping[str, Any], cell: "_Cell") -> str | None:
        """What is wrong with what a record says of its stimulus, which all records say alike."""
        for name in _ABOUT:
            if (text := record.get(name)) is None:
                continue
            if not isinstance(text, str):
                return f"{name} must be words"
            about = self._about.setdefault((cell.axis.NAME, cell.stimulus), {})
            if about.setdefault(name, text) != text:
                return f"{name} of {cell.stimulus} differs from an earlier row"
        return None

    def _cell(self, record: Mapping[str, Any], where: str) -> "_Cell":
        """The cell of a record, which must have one; its repeats mostly stand beside it."""
        name, stimulus, given = record["axis"], record["stimulus"], record["cell"]
        key = repr((name, stimulus, given))
        if key not in self._cells:
            if len(self._cells) >= MOST_REMEMBERED_ROWS:
                self._cells.clear()
            axis, text = _axis(name, where), canonical_json(given)
            self._cells[key] = _Cell(
                fault=axis.fault(given) or _fault_of_numbers(given),
                axis=axis,
                stimulus=intern(stimulus),
                head=f"[{_json_of(name)},{_json_of(stimulus)},{text}",
                read_by=alike(axis, given),
                values=self._compact(given),
                is_ascii=text.isascii() and stimulus.isascii(),
            )
        return self._cells[key]

    def _compact(self, cell: Mapping[str, Any]) -> dict[str, Any]:
        """The cell with names and orders, which most cells of a log have in common, held once."""
        return {
            intern(name): intern(value)
            if isinstance(value, str)
            else self._orders.setdefault(repr(value), value)
            if isinstance(value, list)
            else value
            for name, value in cell.items()
        }

    def _verdict(self, verdict: Any, cell: "_Cell") -> tuple[str, str | None]:
        """A verdict as JSON, and what is wrong with it."""
        key = (cell.axis.NAME, repr(verdict), cell.read_by)
        if key not in self._allowed:
            if len(self._allowed) >= MOST_REMEMBERED_ROWS:
                self._allowed.clear()
            text = intern(json.dumps(verdict))
            is_read = (
                verdict == "invalid"
                or not has_verdict(verdict)
                or reading(cell.axis, text, "recorded", cell.values).verdict is not None
            )
            wrong = f"verdict {verdict!r} is not possible in this cell (null: unreadable)"
            self._allowed[key] = text, None if is_read else wrong
        return self._allowed[key]

    def _fault_among(self, cell: "_Cell") -> str | None:
        """How a cell contradicts those before it in the file; None if it does not."""
        if cell is self._last:
            return None
        self._last, axis, values = cell, cell.axis.NAME, cell.values
        self.stimuli[axis, cell.stimulus] = None
        item = (axis, str(values.get("item")))
        if "item" in values and self.homes.setdefault(item, cell.stimulus) != cell.stimulus:
            fault = f"{item[1]} is listed under two stimuli; an item has one"
            if not {"stimulus", "item"} <= self.columns.keys():
                return f"{fault}: let its name hold that of its stimulus"
            joined = f"{self.columns['stimulus']}+{self.columns['item']}"
            return f"{fault}: join its columns, as in --map {quote(f'item={joined}')}"
        for known, naming in all_axes()[axis].FACTS.items():
            thing = (axis, known, cell.stimulus, *(str(values.get(name)) for name in naming))
            fact = json.dumps(values.get(known))
            if (other := self._facts.setdefault(thing, fact)) != fact:
                fault = f"cell.{known} is {fact}, and {other} in another row on the same stimulus"
                if column := self.columns.get(known):  # a log has neither cells nor our slots
                    fault = f"its {column} contradicts that of another row on the same stimulus"
                return f"{fault}; it must not change with the order"
        self._names |= values.keys()
        more = len(self._names) > MOST_FIELDS
        return f"cells have more than {MOST_FIELDS} fields; drop some" if more else None


class _Cell(NamedTuple):
    """A cell on a stimulus, and its fault if it has one.

    `head` is what the ids of its calls begin with, `read_by` what readings depend on.
    """

    fault: str | None
    axis: Axis
    stimulus: str
    head: str
    read_by: str
    values: Mapping[str, Any]
    is_ascii: bool


_NONE: Mapping[str, Any] = {}
"""The parameters of a call that was not made here."""


def _axis(name: str, where: str) -> Axis:
    axis = all_axes().get(name)
    if axis is None:
        known = ", ".join(all_axes())
        raise StimuliError(f"{where}: there is no axis {name!r}; the axes are {known}")
    return axis


def _fault_of_form(record: Mapping[str, Any]) -> str | None:
    for name, kind in _KINDS.items():
        if not isinstance(record.get(name), kind):
            return (
                f"{name} is missing or not a {kind.__name__}; if this is the log of another "
                "tool, `judgesheet inspect-log FILE` says how to read it"
            )
    return None if "verdict" in record else "verdict is missing (null means unreadable)"


def _fault_of_repeat(repeat: Any) -> str | None:
    if isinstance(repeat, bool) or not isinstance(repeat, int) or not 0 <= repeat <= MOST_REPEATS:
        return f"repeat must be a whole number from 0 to {MOST_REPEATS}"
    return None


@lru_cache(maxsize=1024)  # names recur
def _json_of(name: str) -> str:
    return canonical_json(name)


def _fault_of_numbers(cell: Mapping[str, Any]) -> str | None:
    """What no table can hold."""
    for name, value in cell.items():
        if isinstance(value, int) and abs(value) >= BEYOND_TABLES:
            return f"cell.{name} is a number of more than 64 bits"
    return None


def _fault_of_text(record: Mapping[str, Any], cell: _Cell, verdict: str) -> str | None:
    """What no file can hold."""
    if cell.is_ascii and record.keys() <= _FIELDS and "\\u" not in verdict:  # escaped there
        return None
    try:
        canonical_json(record).encode()
    except UnicodeEncodeError:
        return "it holds half a character (one of \\ud800 to \\udfff alone); write the whole one"
    return None


def _human(row: Any, where: str) -> Label:
    try:
        ratings = tuple(
            None if rating is None else _number(rating) for rating in row.get("ratings", ())
        )
        known = [rating for rating in ratings if rating is not None]
        label = Label(
            axis=str(row["axis"]),
            item=str(row["item"]),
            kind="human",
            score=_number(row["score"] if "score" in row or not known else fmean(known)),
            criterion=str(row.get("criterion", "")),
            ratings=ratings,
        )
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        raise StimuliError(
            f"{where}: a human row needs axis, item and a score, or ratings (one per rater, null "
            "where one gave none)"
        ) from None
    _axis(label.axis, where)
    if not all(map(math.isfinite, (label.score, *known))):
        raise StimuliError(f"{where}: a human row needs a score that is a finite number")
    if any(abs(rating) > LARGEST_COUNT for rating in (label.score, *known)):
        raise StimuliError(f"{where}: a human score is beyond {count(LARGEST_COUNT)}; rescale it")
    if known and abs(label.score - fmean(known)) > MEAN_TOLERANCE:
        raise StimuliError(
            f"{where}: the score {label.score:g} is not the mean of its ratings, {fmean(known):g}"
        )
    return label


def _number(value: Any) -> float:
    """The value as a number; `true` is not one, although Python treats it so."""
    if isinstance(value, bool):
        raise TypeError
    return float(value)


def _reject_unknown_stimuli(
    labels: Iterable[Label], items: Collection[tuple[str, str]], file: Path
) -> None:
    """Refuse the labels of an axis if none names an item that was judged: names are misspelt then.

    A log may hold labels of items without a verdict, so some may name others.
    """
    rated: dict[str, list[str]] = {}
    for label in labels:
        rated.setdefault(label.axis, []).append(label.item)
    for axis, named in rated.items():
        if not any((axis, item) in items for item in named):
            raise StimuliError(
                f"{file}: no human row of {axis} names an item that was judged ({named[0]!r} is "
                "none); write the item as in cell.item of the judgments"
            )
