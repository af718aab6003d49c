"""What can still be read of a damaged ledger, and a new ledger made of it."""

import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from judgesheet.base.errors import RunError, StimuliError
from judgesheet.base.files import decoded, records
from judgesheet.base.limits import LONGEST_DOCUMENT
from judgesheet.base.records import Call, Label, Plan, Reply
from judgesheet.judges.redaction import address_without_secrets, identity_without_secrets
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.opening import reject_links
from judgesheet.ledger.schema import (
    ALWAYS,
    SOMETIMES,
    SQL_FAULTS,
    belongs,
    column_names,
    distrust,
    misshapen,
    plain_tables,
    tables,
)
from judgesheet.planning.plan import call_of, planned_first

STEPS = 1000
"""Rows that are tried one by one in a damaged place, before larger steps are made."""
LAST_ROW = 2**63 - 1  # SQLite numbers no row beyond it
BATCH = 500


@dataclass(frozen=True, slots=True)
class Saved:
    """Calls of a run, attempts at them that were read, and calls that these settle."""

    calls: int
    attempts: int
    settled: int


def readable(path: Path) -> int:
    """How many attempts at calls can be read in the ledger at `path`."""
    with _copied(path) as db:
        return sum(1 for _ in _replies(db))


def save(path: Path, plan_path: Path, target: Path) -> tuple[Plan, Saved]:
    """Make a ledger at `target` of what can be read at `path`, which is left as it is.

    The calls are taken from the ledger, or from `plan_path` where it has lost some. RunError if
    neither has all of them, or nothing tells what the replies belong to.
    """
    if target.exists():
        raise RunError(f"{target.parent} holds a run already: choose another folder")
    with _copied(path) as db:
        meta = _meta(db)
        if lost := next(misshapen(meta), None):
            raise RunError(
                f"{path} has lost its {lost}; nothing else says which calls its replies answer: "
                "start over with --fresh"
            )
        earlier = meta.get("earlier_base_urls", [])
        meta["earlier_base_urls"] = [*map(address_without_secrets, earlier)]
        planned, calls = _calls(db, meta["plan"], plan_path)
        labels = tuple(_labels(db))
        plan = Plan(meta["seed"], tuple(calls[:planned]), labels, meta["provenance"])
        with Ledger.create_or_open(target, plan, identity_without_secrets(meta["judge"])) as ledger:
            ledger.add(calls[planned:])
            for key in SOMETIMES.keys() & meta.keys():
                ledger.set_meta(key, meta[key])
            _record(ledger, _replies(db), {call.id for call in calls})
            totals = ledger.totals()
        return plan, Saved(totals.planned, totals.attempts, totals.settled)


def _record(ledger: Ledger, replies: Iterable[Reply], known: set[str]) -> None:
    seen: set[tuple[str, int]] = set()
    batch: list[Reply] = []
    for reply in replies:
        place = (reply.call_id, reply.attempt)
        if reply.call_id in known and place not in seen:
            seen.add(place)
            batch.append(reply)
        if len(batch) >= BATCH:
            ledger.record(batch)
            batch = []
    ledger.record(batch)


@contextmanager
def _copied(path: Path) -> Iterator[sqlite3.Connection]:
    """A copy of a ledger with what lies beside it, so that opening it changes neither."""
    reject_links(path)
    if not path.is_file():
        raise RunError(f"there is no ledger at {path}")
    with TemporaryDirectory(prefix="judgesheet-") as folder:
        for end in ("", "-wal", "-journal"):
            with suppress(FileNotFoundError):  # both others are left by a killed process alone
                shutil.copyfile(path.with_name(path.name + end), Path(folder) / f"ledger{end}")
        with closing(sqlite3.connect(Path(folder) / "ledger")) as db:
            distrust(db)
            # Damaged text is still text: a letter is lost, and not a reply that was paid for.
            db.text_factory = lambda raw: raw.decode("utf-8", "replace")
            yield db


def _meta(db: sqlite3.Connection) -> dict[str, Any]:
    """The readable values, read separately because each may lie on several pages."""
    meta: dict[str, Any] = {}
    for key in {**ALWAYS, **SOMETIMES}:
        with suppress(sqlite3.Error, TypeError, ValueError):
            row = db.execute("SELECT value FROM main.meta WHERE key = ?", (key,)).fetchone()
            meta[key] = decoded(row and row[0])
    return meta


def _calls(db: sqlite3.Connection, digest: str, plan_path: Path) -> tuple[int, list[Call]]:
    """How many calls the plan has, and all calls: of the ledger, or of the plan beside it."""
    for calls in (list(_kept_calls(db)), list(_planned_calls(plan_path))):
        if planned := planned_first((call.id for call in calls), digest):
            return planned, calls
    raise RunError(
        f"neither the ledger nor {plan_path} holds every call: `judgesheet plan --out {plan_path}` "
        "with the options of the run writes them again, then save once more"
    )


def _kept_calls(db: sqlite3.Connection) -> Iterator[Call]:
    prompts = {row["digest"]: row["messages"] for row in _rows(db, "prompt")}
    params = {row["digest"]: row["params"] for row in _rows(db, "params")}
    for row in _rows(db, "call"):
        # A damaged row is left out; the plan beside the ledger may still have its call.
        with suppress(TypeError, ValueError, KeyError):
            call = call_of(
                row
                | {
                    "call_id": row["id"],
                    "cell": decoded(row["cell"]),
                    "messages": decoded(prompts[row["prompt"]]),
                    "params": decoded(params[row["params"]]),
                }
            )
            if call is not None:
                yield call


def _planned_calls(path: Path) -> Iterator[Call]:
    with suppress(StimuliError):
        for record, _ in records(path, LONGEST_DOCUMENT):
            if call := call_of(record):
                yield call


def _labels(db: sqlite3.Connection) -> Iterator[Label]:
    for row in _rows(db, "label"):
        with suppress(TypeError, ValueError):
            yield Label(**row | {"ratings": tuple(decoded(row["ratings"]))})


def _replies(db: sqlite3.Connection) -> Iterator[Reply]:
    return (Reply(**row) for row in _rows(db, "attempt"))


def _rows(db: sqlite3.Connection, table: str) -> Iterator[dict[str, Any]]:
    """Every row that can be read and holds what it may, in sequence; damaged pages are skipped."""
    columns = tables()[table]
    with suppress(*SQL_FAULTS):
        there = column_names(db, table) if table in plain_tables(db) else set()
        present = [column for column in columns if column.name in there]
        if any(column.required and column not in present for column in columns):
            return
        names = ", ".join(column.name for column in present)
        for _, *values in _pages(db, f"SELECT rowid, {names} FROM main.{table}"):  # noqa: S608
            if all(map(belongs, present, values)):
                known = {column.name: value for column, value in zip(present, values, strict=True)}
                yield {**dict.fromkeys(column.name for column in columns), **known}


def _pages(db: sqlite3.Connection, query: str) -> Iterator[tuple[Any, ...]]:
    last, failed = -1, 0
    while last < LAST_ROW:
        rows = _page(db, query, last, BATCH) or _page(db, query, last, 1)
        if rows is None:
            failed += 1
            # A damaged page may hide many rows: after so many single ones the steps double.
            last += max(1, 2 ** (failed - STEPS)) if failed < STEPS + 63 else LAST_ROW
        elif rows:
            yield from rows
            last, failed = rows[-1][0], 0
        else:
            return


def _page(db: sqlite3.Connection, query: str, last: int, most: int) -> list[tuple[Any, ...]] | None:
    """The next rows; None where they cannot be read."""
    place = "WHERE rowid > ? ORDER BY rowid LIMIT ?"
    try:
        return db.execute(f"{query} {place}", (last, most)).fetchall()
    except SQL_FAULTS:
        return None
