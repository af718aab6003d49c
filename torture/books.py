"""Holds what a run kept against what the server gave: ledger, table of judgments, sheet.

The ledger is read with SQLite itself, not with the code that wrote it.
"""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pyarrow import parquet

from torture.server import Entry

SETTLED = ("ok", "refused", "too_long")
_NAME = re.compile(r"reply-\d{6}")


class Attempt(NamedTuple):
    """A row of the ledger: the words that were asked, and the name of the reply that is kept."""

    call: str
    number: int
    words: str
    outcome: str
    name: str


@dataclass(frozen=True, slots=True)
class Balance:
    """What differs between the books of both sides; all but `requests` should be nothing."""

    requests: int
    lost: int
    twice: int
    wrong: int
    differs: tuple[str, ...]


def attempts(ledger: Path) -> list[Attempt]:
    """Every attempt that a ledger holds, in the sequence in which they were made."""
    query = """
        SELECT call_id, attempt, messages, outcome, text, raw FROM attempt
        JOIN call ON call.id = call_id JOIN prompt ON prompt.digest = prompt ORDER BY at"""
    with closing(sqlite3.connect(f"{ledger.absolute().as_uri()}?mode=ro", uri=True)) as db:
        rows = db.execute(query).fetchall()
    return [
        Attempt(call, number, _words(messages), outcome, _name(text, raw))
        for call, number, messages, outcome, text, raw in rows
    ]


def planned(ledger: Path) -> Counter[str]:
    """How many calls ask these words."""
    query = "SELECT messages FROM call JOIN prompt ON prompt.digest = prompt"
    with closing(sqlite3.connect(f"{ledger.absolute().as_uri()}?mode=ro", uri=True)) as db:
        return Counter(_words(messages) for (messages,) in db.execute(query))


def _words(messages: str) -> str:
    return str(json.loads(messages)[-1]["content"])


def _name(text: str, raw: str) -> str:
    named = _NAME.search(text) or _NAME.search(raw)
    return named[0] if named else ""


def balance(run: Path, log: Sequence[Entry], *, is_away: bool = False) -> Balance:
    """Compare a finished run with the log of its server."""
    kept = attempts(run / "ledger.sqlite")
    given = {entry.asked.name: entry for entry in log if entry.given.kind != "failure"}
    settling = {attempt.name for attempt in kept if attempt.outcome in SETTLED}
    lost = [name for name, entry in given.items() if entry.is_sent and name not in settling]
    return Balance(
        requests=len(log),
        lost=len(lost),
        twice=_twice(run, kept, log),
        wrong=sum(_wrong(run, kept, given)),
        differs=tuple(_differs(run, log, is_away=is_away)),
    )


def _twice(run: Path, kept: Sequence[Attempt], log: Sequence[Entry]) -> int:
    """Calls that were asked although they had their answer."""
    settled: set[str] = set()
    again = 0
    for attempt in kept:
        again += attempt.call in settled
        settled |= {attempt.call} if attempt.outcome in SETTLED else set()
    answered = Counter(
        entry.asked.words for entry in log if entry.given.kind != "failure" and entry.is_sent
    )
    return max(again, (answered - planned(run / "ledger.sqlite")).total())


def _wrong(run: Path, kept: Sequence[Attempt], given: dict[str, Entry]) -> Iterator[bool]:
    """For every call, whether it was read as something else than the server meant."""
    last = {attempt.call: attempt for attempt in kept}
    table = parquet.read_table(run / "judgments.parquet", columns=["call_id", "value"])
    for call, value in zip(*table.to_pydict().values(), strict=True):
        entry = given.get(last[call].name) if call in last else None
        meant = entry.given.verdict if entry else None
        strays = entry is not None and entry.asked.words != last[call].words
        yield strays or (None if value is None else json.loads(value)) != meant


def _differs(run: Path, log: Sequence[Entry], *, is_away: bool) -> Iterator[str]:
    """What the sheet counts otherwise than the server does."""
    facts: dict[str, Any] = json.loads((run / "datasheet.json").read_text(encoding="utf-8"))["run"]
    unreached = facts["outcomes"].get("unavailable", 0) if is_away else 0
    given = [entry for entry in log if entry.is_sent]
    unheard = sum(entry.is_unheard for entry in log)
    counts = Counter(entry.given.kind for entry in given)
    verdicts = sum(entry.given.verdict is not None for entry in given)
    expected = {
        "attempts": len(given) + unreached if is_away else len(log) - unheard,
        "answered": verdicts,
        "unreadable": counts["answer"] - verdicts,
        "refused": counts["refused"],
        "failed": facts["planned"] - counts["answer"] - counts["refused"],
        "tokens_in": sum(entry.given.tokens[0] for entry in given),
        "tokens_out": sum(entry.given.tokens[1] for entry in given),
    }
    for name, number in expected.items():
        if (facts[name] or 0) != number:
            yield f"{name}: {facts[name]}, the server {number}"
