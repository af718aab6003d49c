"""Replies of earlier runs in a folder, so that the same question to the same judge is paid once.

A run that makes room for another leaves its replies in `earlier.sqlite`, and a new one takes over
those to its own questions: same id of the call, same judge, same served version.
"""

import json
import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from judgesheet.base.errors import RunError
from judgesheet.base.files import decoded
from judgesheet.base.records import Call, Outcome, Reply, canonical_json
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.opening import free_name, held, reject_links
from judgesheet.ledger.rows import REPLY
from judgesheet.ledger.run_directory import LEDGER
from judgesheet.ledger.schema import SQL_FAULTS, belongs, distrust, tables

EARLIER = "earlier.sqlite"
_PAGE = 500

FromRun = tuple[Reply, int]
"""A reply, and the number of the run that it is from."""

_TABLES = (
    """CREATE TABLE run (
    id          INTEGER PRIMARY KEY,
    judge       TEXT NOT NULL,
    plan        TEXT NOT NULL,
    created_at  REAL NOT NULL,
    refused     TEXT NOT NULL,
    UNIQUE (plan, created_at)
)""",
    f"""CREATE TABLE reply (
    run  INTEGER NOT NULL REFERENCES run (id),
    {", ".join(REPLY)},
    PRIMARY KEY (call_id, at)
) WITHOUT ROWID""",
)
"""The runs and their replies. What an earlier run had taken over itself has the same time."""


def is_renamed(directory: Path) -> bool:
    """Whether a folder is called as `make_room` calls a run that was started over."""
    return re.search(r"\.old-\d+\Z", directory.name) is not None


def make_room(directory: Path) -> Path:
    """Keep the replies of the run in a directory, and rename it: DIR.old-1. The new name.

    RunError, with nothing changed, where the replies cannot be kept.
    """
    with held(directory / LEDGER):
        pass  # RunError if somebody uses it
    _keep(directory)
    with held(directory / LEDGER):
        aside = directory.rename(free_name(directory, "old"))
    directory.mkdir(mode=0o700)
    # The run may have lain on another disk, behind a link.
    shutil.move(aside / EARLIER, directory / EARLIER)
    return aside


def candidates(ledger: Ledger, since: float) -> list[list[FromRun]]:
    """Replies of this judge to each pending call of a ledger by served version, in plan order.

    The newest, after those that it was asked again for since they could not be read; none that is
    from before `since`, in seconds.
    """
    path = ledger.path.with_name(EARLIER)
    if not path.is_file():
        return []
    columns = {column.name: column for column in tables()["attempt"]}
    of_reply = [columns[name] for name in REPLY]
    found: dict[str, dict[str | None, list[FromRun]]] = {}
    anchors = {call for call, *_, cell, _ in ledger.cells() if "anchor" in json.loads(cell)}
    # An anchor tells of the time at which it was asked.
    pending = {call: made for call, made in ledger.attempts().items() if call not in anchors}
    if not pending:
        return []
    with _opened(path) as db:
        rows = db.execute(
            f"SELECT run, {', '.join(REPLY)} FROM reply"  # noqa: S608
            " WHERE run IN (SELECT id FROM run WHERE judge = ?) AND at >= ? ORDER BY at",
            (_identity(ledger.judge), since),
        )
        for run, *row in rows:
            if all(map(belongs, of_reply, row)):
                reply = Reply(*row)
                before = found.setdefault(reply.call_id, {}).setdefault(reply.served_model, [])
                if reply.attempt == 1:  # of the answers to a call: not one that was asked for again
                    before.clear()
                before.append((reply, run))
    return [
        [(replace(one, attempt=attempts + n), run) for n, (one, run) in enumerate(replies, start=1)]
        for call, attempts in pending.items()
        for replies in found.get(call, {}).values()
    ]


def take_over(
    ledger: Ledger,
    found: Iterable[Sequence[FromRun]],
    version: str,
    is_readable: Callable[[Call, Reply], bool],
) -> int:
    """Write those of the `candidates` that this served version gave into a ledger; how many.

    Where they are from stands in its `taken_over`: per run its plan, when it began, and how many.
    """
    again = ledger.settings().get("retry_unreadable", 0)
    calls = {call.id: call for call in ledger.calls()} if again else {}

    def settles(number: int, reply: Reply) -> bool:
        return number == again or reply.outcome != "ok" or is_readable(calls[reply.call_id], reply)

    of_version = (replies for replies in found if replies[0][0].served_model == version)
    taken = [one for replies in of_version for one in _as_asked_now(replies, settles)]
    if not taken:
        return 0
    runs, counts = _runs(ledger.path.with_name(EARLIER)), Counter(run for _, run in taken)
    for start in range(0, len(taken), _PAGE):
        ledger.record([reply for reply, _ in taken[start : start + _PAGE]])
    runs_taken = [
        {"plan": runs[run]["plan"], "created_at": runs[run]["created_at"], "replies": replies}
        for run, replies in counts.items()
    ]
    ledger.set_meta("taken_over", [*ledger.taken_over, *runs_taken])
    # What the endpoint refused then was not sent with these questions either.
    refused = {k: v for run in counts for k, v in runs[run]["refused"].items()}
    if refused:
        ledger.set_meta("refused_parameters", {**refused, **ledger.refused_parameters})
    return len(taken)


def _as_asked_now(
    replies: Iterable[FromRun], settles: Callable[[int, Reply], bool]
) -> Iterator[FromRun]:
    """The replies to a call up to the one that settles it in this run."""
    for number, (reply, run) in enumerate(replies):
        if settles(number, reply):
            yield reply, run
            break
        yield replace(reply, outcome="unreadable"), run


def _keep(directory: Path) -> None:
    """Add the answers of the run in a directory to its `earlier.sqlite`."""
    path = directory / EARLIER
    with Ledger.open(directory / LEDGER) as ledger, _opened(path, make=True) as db:
        run = (
            _identity(ledger.judge),
            ledger.get_meta("plan"),
            ledger.get_meta("created_at"),
            json.dumps(ledger.refused_parameters),
        )
        db.execute("BEGIN IMMEDIATE")
        db.execute(
            "INSERT OR IGNORE INTO run (judge, plan, created_at, refused) VALUES (?, ?, ?, ?)", run
        )
        (number,) = db.execute(
            "SELECT id FROM run WHERE plan = ? AND created_at = ?", run[1:3]
        ).fetchone()
        marks = ", ".join("?" * (1 + len(REPLY)))
        names = f"run, {', '.join(REPLY)}"
        db.executemany(
            f"INSERT OR IGNORE INTO reply ({names}) VALUES ({marks})",  # noqa: S608
            ((number, *(getattr(reply, name) for name in REPLY)) for reply in _answers(ledger)),
        )
        db.execute("COMMIT")


def _answers(ledger: Ledger) -> Iterator[Reply]:
    """Every answer, numbered from 1 for each call; of what was unreadable a new run decides."""
    cut, numbers = ledger.cut_calls(), Counter[str]()
    for reply in ledger.answered():
        if reply.call_id not in cut:
            numbers[reply.call_id] += 1
            outcome: Outcome = "ok" if reply.outcome == "unreadable" else reply.outcome
            yield replace(reply, attempt=numbers[reply.call_id], outcome=outcome)


def _identity(judge: Mapping[str, Any]) -> str:
    """What a judge is, wherever it is served: a server may move."""
    return canonical_json({key: value for key, value in judge.items() if key != "base_url"})


def _runs(path: Path) -> dict[int, dict[str, Any]]:
    """The runs by number; RunError where one of them tells what no run does."""
    with _opened(path) as db:
        rows = db.execute("SELECT id, plan, created_at, refused FROM run").fetchall()
    with suppress(ValueError, TypeError):
        known = [(number, plan, at, decoded(text)) for number, plan, at, text in rows]
        if all(isinstance(refused, dict) for *_, refused in known):
            names = ("plan", "created_at", "refused")
            return {number: dict(zip(names, rest, strict=True)) for number, *rest in known}
    raise RunError(f"{path} is damaged: remove it")


@contextmanager
def _opened(path: Path, *, make: bool = False) -> Iterator[sqlite3.Connection]:
    """The file of earlier replies; RunError if it is something else, or cannot be used."""
    reject_links(path)
    if make and not path.exists():
        path.touch(mode=0o600)  # it holds replies
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            distrust(db)
            schema = "SELECT sql FROM sqlite_schema WHERE sql NOT NULL"
            there = [sql for (sql,) in db.execute(schema)]
            if make and not there:
                db.execute("PRAGMA synchronous = FULL")
                for table in _TABLES:
                    db.execute(table)
            elif sorted(there) != sorted(_TABLES):
                raise RunError(f"{path} is not a file of earlier replies: remove it")
            yield db
    except SQL_FAULTS as error:
        raise RunError(f"{path} cannot be used ({error}): remove it") from None
