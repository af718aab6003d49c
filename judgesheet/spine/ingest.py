"""For stage two: verdicts from elsewhere, as recorded judgments or results of a batch."""

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from statistics import fmean
from sys import intern
from typing import Any, NamedTuple, Protocol

from judgesheet.axes import all_axes
from judgesheet.axis import Axis, StatingFacts
from judgesheet.digits import count
from judgesheet.errors import StimuliError
from judgesheet.files import records
from judgesheet.records import Call, Label, Plan, Reply, canonical_json, digest
from judgesheet.spine.batches import fill, ingest_results
from judgesheet.spine.ledger import Ledger
from judgesheet.spine.parsing import alike, read
from judgesheet.spine.plan import LONGEST_LINE

MOST_REPEATS = 1000
MOST_CELLS = 10_000
"""Cells, and verdicts on them, that are remembered: those of a response stand together."""
AT_ONCE = 10_000
"""Verdicts that are written in one transaction."""
_FIELDS = {"axis", "stimulus", "cell", "repeat", "verdict"}
MOST_NAMES = 100
"""Fields that the cells of a file may have: each is a column of a table."""
BEYOND_TABLES = 2**63
ROUNDING = 0.051
"""How far a recorded mean may be from that of its ratings: it may be rounded to one digit."""
LARGEST_SCORE = 1e9
"""No scale that people rate on reaches so far, whichever its sign."""


class Log(Protocol):
    """What a file of another tool says, as recorded judgments."""

    @property
    def judge(self) -> str | None:
        """Who judged, where the file says; known when all records were read."""

    def records(self) -> Iterator[tuple[dict[str, Any], str]]:
        """Every recorded judgment, and where it stands."""


def ingest(
    files: Sequence[Path], ledger_path: Path, plan_path: Path, log: Log | None = None
) -> None:
    """Fill a ledger from `files`, whose first lines show which kind they are, or from a `log`.

    Lines with a `custom_id` are results of a batch and need the run that they belong to, or the
    exported plan at `plan_path`; lines with an `axis` are recorded judgments, in one file. A
    StimuliError names the line that cannot be read.
    """
    if log is not None:
        _ingest_recorded(files[0], log.records(), ledger_path, lambda: log.judge)
        return
    firsts = [next(records(file, LONGEST_LINE), None) for file in files]
    told = [record for record, _ in filter(None, firsts)]  # a batch's file of errors may be empty
    if not told:
        raise StimuliError(f"{files[0]} holds no judgments; put one JSON object on each line")
    if all("custom_id" in record for record in told):
        ingest_results(files, ledger_path, plan_path)
    elif len(files) == 1:
        _ingest_recorded(files[0], records(files[0], LONGEST_LINE), ledger_path)
    else:
        raise StimuliError("only the results of a batch may lie in several files; join the others")


# -- recorded judgments ------------------------------------------------------------------------


def _ingest_recorded(
    file: Path,
    rows: Iterable[tuple[Mapping[str, Any], str]],
    ledger_path: Path,
    judged_by: Callable[[], str | None] = lambda: None,
) -> None:
    calls: dict[str, tuple[Call, str]] = {}
    rated: dict[tuple[str, str, str], Label] = {}
    home: dict[tuple[str, str], str] = {}
    names: set[str] = set()
    reader = _Reader()
    facts: dict[tuple[str, ...], str] = {}
    for record, where in rows:
        if "human" in record:
            label = _human(record["human"], where)
            if rated.setdefault((label.axis, label.item, label.criterion), label) != label:
                told = "was rated before, and differently; give all its ratings in one row"
                raise StimuliError(f"{where}: {label.item} {told}")
            continue
        call, verdict = reader.recorded(record, where)
        item = (call.axis, str(call.cell.get("item")))
        if "item" in call.cell and home.setdefault(item, call.stimulus) != call.stimulus:
            raise StimuliError(f"{where}: {item[1]} is listed under two stimuli; an item has one")
        for field, thing in _facts(call):
            said = json.dumps(call.cell.get(field))
            if facts.setdefault(thing, said) != said:
                told = f"cell.{field} is {said}, and {facts[thing]} in another row on the same"
                raise StimuliError(f"{where}: {told} stimulus; it must not change with the order")
        names |= call.cell.keys()
        if len(names) > MOST_NAMES:
            raise StimuliError(f"{where}: cells have more than {MOST_NAMES} fields; drop some")
        if call.id in calls:
            raise StimuliError(
                f"{where}: the same cell and repeat occurs twice in the file; give each reading of "
                "it a number of its own (repeat)"
            )
        calls[call.id] = (call, verdict)
    if not calls:
        raise StimuliError(f"{file} holds labels but no judgments")
    labels = tuple(rated.values())
    _refuse_strangers(labels, home, file)
    axes = list(dict.fromkeys(call.axis for call, _ in calls.values()))
    provenance = {
        "settings": {"profile": "recorded", "axes": axes, "reply": "recorded", "temperature": None},
        "stimuli": [
            {
                "axis": axis,
                "name": file.name,
                "stimuli": len({c.stimulus for c, _ in calls.values() if c.axis == axis}),
                "digest": digest("\n".join(calls)),
            }
            for axis in axes
        ],
        "prompts": [],
    }
    plan = Plan(0, tuple(call for call, _ in calls.values()), labels, provenance)
    judge = {"provider": "recorded", "model": judged_by() or file.name}
    now = file.stat().st_mtime
    replies = (
        Reply(call.id, 1, "ok", verdict, verdict, 0.0, None, None, None, now)
        for call, verdict in calls.values()
    )
    with Ledger.create_or_open(ledger_path, plan, judge) as ledger:
        _record(ledger, replies)


def _record(ledger: Ledger, replies: Iterator[Reply]) -> None:
    """Write the verdicts; where the file was ingested before, those that it lacks."""
    if ledger.was_asked:
        fill(ledger, replies)
    while some := list(islice(replies, AT_ONCE)):
        ledger.record(some)


def _facts(call: Call) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The fields that are true of what was judged, each with what that is."""
    for field, naming in _stated(call.axis).items():
        thing = (call.axis, field, call.stimulus, *(str(call.cell.get(name)) for name in naming))
        yield field, thing


@cache  # what a protocol asks of an axis is looked up anew each time
def _stated(name: str) -> Mapping[str, tuple[str, ...]]:
    axis: object = all_axes()[name]
    return axis.FACTS if isinstance(axis, StatingFacts) else {}


class _Reader:
    """Makes calls of records. What many of them have in common is looked at and held once."""

    def __init__(self) -> None:
        self._cells: dict[str, _Cell] = {}
        self._orders: dict[str, Any] = {}
        self._allowed: dict[tuple[str, str, str], str | None] = {}

    def recorded(self, record: Mapping[str, Any], where: str) -> tuple[Call, str]:
        """The call of a record and its verdict; StimuliError if it is not allowed."""
        for name, kind in (("axis", str), ("stimulus", str), ("cell", dict)):
            if not isinstance(record.get(name), kind):
                raise StimuliError(
                    f"{where}: {name} is missing or not a {kind.__name__}; of another tool's log, "
                    "`judgesheet inspect-log FILE` says what it is"
                )
        if "verdict" not in record:
            raise StimuliError(f"{where}: verdict is missing (null means unreadable)")
        axis, repeat = _axis(record["axis"], where), record.get("repeat", 0)
        cell, verdict = self._cell(axis, record["cell"]), json.dumps(record["verdict"])
        fault = (
            cell.fault
            or _fault_of_repeat(repeat)
            or self._fault_of_verdict(axis, record["verdict"], verdict, cell)
            or _fault_of_text(record, cell.text, verdict)
        )
        if fault:
            raise StimuliError(f"{where}: {fault}")
        said = f"{_json_of(axis.NAME)},{_json_of(record['stimulus'])},{cell.text},{repeat}"
        call = Call.known(
            axis=axis.NAME,
            stimulus=intern(record["stimulus"]),
            cell=cell.values,
            repeat=repeat,
            messages=(),
            params=_NONE,
            reply="recorded",
            id=digest(f'[{said},[],{{}},"recorded"]')[:24],  # that of `Call.content_id`
        )
        return call, intern(verdict)

    def _cell(self, axis: Axis, given: Mapping[str, Any]) -> "_Cell":
        text = canonical_json(given)
        key = f"{axis.NAME} {text}"
        if key not in self._cells:
            if len(self._cells) >= MOST_CELLS:
                self._cells.clear()
            fault = axis.fault(given) or _fault_of_numbers(given)
            self._cells[key] = _Cell(fault, text, alike(axis, given), self._compact(given))
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

    def _fault_of_verdict(self, axis: Axis, verdict: Any, text: str, cell: "_Cell") -> str | None:
        if verdict in (None, "invalid"):
            return None
        key = (axis.NAME, text, cell.read_by)
        if key not in self._allowed:
            if len(self._allowed) >= MOST_CELLS:
                self._allowed.clear()
            is_read = read(axis, text, "recorded", cell.values) is not None
            wrong = f"verdict {verdict!r} is none that this cell allows (null: unreadable)"
            self._allowed[key] = None if is_read else wrong
        return self._allowed[key]


class _Cell(NamedTuple):
    """A cell: its fault if it has one, its JSON, that of which readings depend, its values."""

    fault: str | None
    text: str
    read_by: str
    values: Mapping[str, Any]


_NONE: Mapping[str, Any] = {}
"""The parameters of a call that was not made here."""


def _axis(name: str, where: str) -> Axis:
    axis = all_axes().get(name)
    if axis is None:
        known = ", ".join(all_axes())
        raise StimuliError(f"{where}: there is no axis {name!r}; the axes are {known}")
    return axis


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


def _fault_of_text(record: Mapping[str, Any], cell: str, verdict: str) -> str | None:
    """What no file can hold."""
    is_plain = record.keys() <= _FIELDS and record["stimulus"].isascii() and cell.isascii()
    if is_plain and "\\u" not in verdict:  # escaped there
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
    if any(abs(rating) > LARGEST_SCORE for rating in (label.score, *known)):
        raise StimuliError(f"{where}: a human score is beyond {count(LARGEST_SCORE)}; rescale it")
    if known and abs(label.score - fmean(known)) > ROUNDING:
        raise StimuliError(
            f"{where}: the score {label.score:g} is not the mean of its ratings, {fmean(known):g}"
        )
    return label


def _number(value: Any) -> float:
    """The value as a number; `true` is not one, although Python treats it so."""
    if isinstance(value, bool):
        raise TypeError
    return float(value)


def _refuse_strangers(
    labels: Iterable[Label], items: Collection[tuple[str, str]], file: Path
) -> None:
    """Refuse labels of an axis if all of them name items without a judgment: they must be misspelt.

    Some may: a log can hold more labels than verdicts.
    """
    told: dict[str, list[str]] = {}
    for label in labels:
        told.setdefault(label.axis, []).append(label.item)
    for axis, named in told.items():
        if not any((axis, item) in items for item in named):
            raise StimuliError(
                f"{file}: no human row of {axis} names an item that was judged ({named[0]!r} is "
                "none); write the item as in cell.item of the judgments"
            )
