"""A run directory as a disk, a copy or a person damages one: one damage of each sort."""

import os
import random
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path

from judgesheet.ledger.run_directory import LEDGER, PLAN

Damage = Callable[[Path], object]
"""What is done to a copy of a run directory."""

DEEP = "[" * 10_000 + "]" * 10_000
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n"
ATTEMPT = (
    "call_id, attempt, outcome, latency_s, tokens_in, tokens_out, served_model, at, "
    "retry_after_s, text, raw, finish_reason"
)


def _set(table: str, change: str) -> str:
    """Change a table whose columns take anything: a copy without types and constraints."""
    return (
        f"CREATE TABLE loose AS SELECT * FROM {table}; DROP TABLE {table};"
        f"ALTER TABLE loose RENAME TO {table}; UPDATE {table} SET {change}"
    )


def _again(changed: str, value: str) -> str:
    """One attempt more, with another value in one column."""
    return f"INSERT INTO attempt SELECT {ATTEMPT.replace(changed, value, 1)} FROM attempt LIMIT 1"


def _meta(key: str, text: str) -> str:
    return f"INSERT OR REPLACE INTO meta VALUES ('{key}', '{text}')"


def _part(path: str, text: str) -> str:
    """Other JSON at a place of the provenance."""
    changed = f"json_set(value, '$.{path}', json('{text}'))"
    return f"UPDATE meta SET value = {changed} WHERE key = 'provenance'"


def _cell(part: str, text: str) -> str:
    return f"UPDATE call SET cell = json_set(cell, '$.{part}', json('{text}'))"


STATEMENTS: Mapping[str, str] = {
    "table meta dropped": "DROP TABLE meta",
    "table call emptied": "DELETE FROM call",
    "an endless view for attempt": "ALTER TABLE attempt RENAME TO other;"
    f"CREATE VIEW attempt AS {ENDLESS}",
    "column attempt.text renamed": "ALTER TABLE attempt RENAME COLUMN text TO other",
    "view answer dropped": "DROP VIEW answer",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON attempt BEGIN DELETE FROM attempt; END",
    "a costly index": "CREATE INDEX i ON attempt (length(hex(zeroblob(1000000 + attempt))))",
    "a blob in one call.stimulus": _set("call", "stimulus = x'ff00fe' WHERE rowid = 3"),
    "no UTF-8 in one attempt.text": _set("attempt", "text = CAST(x'ff80' AS TEXT) WHERE rowid = 3"),
    "controls in every attempt.outcome": _set("attempt", "outcome = char(27) || '[2J'"),
    "NaN as text in one call.cell": _set("call", "cell = 'NaN' WHERE rowid = 3"),
    "2**63 - 1 in one call.repeat": _set("call", f"repeat = {2**63 - 1} WHERE rowid = 3"),
    "minus infinity in every label.score": _set("label", "score = -1e999"),
    "NULL in every attempt.at": _set("attempt", "at = NULL"),
    "1e+18 s since the epoch": _set("attempt", "at = 1e18"),
    "a number: label SET ratings": "UPDATE label SET ratings = '7'",
    "an object in meta.seed": _meta("seed", '{"a": 1}'),
    "null in meta.judge": _meta("judge", "null"),
    "not closed in meta.provenance": _meta("provenance", "{"),
    "10,000 deep in meta.prices": _meta("prices", DEEP),
    "5,000 digits in meta.created_at": _meta("created_at", "9" * 5000),
    "an object: call SET cell": """UPDATE call SET cell = '{"a": 1}'""",
    "half a surrogate: prompt SET messages": r"""UPDATE prompt SET messages = '{"\ud800": 1}'""",
    "provenance.settings is []": _part("settings", "[]"),
    'provenance.prompts is ["x"]': _part("prompts", '["x"]'),
    "setting temperature is text": _part("settings.temperature", '"hot"'),
    'cell.order is "x"': _cell("order", '"x"'),
    "one cell.arm is [[1]]": f"{_cell('arm', '[[1]]')} WHERE seq = 1",
    "cell.scale is 1e999": _cell("scale", "1e999"),
    "a call lost": "DELETE FROM call WHERE rowid = 3",
    "a call settled twice": _again("attempt", "2"),
    "a reply to no call": _again("call_id", "'nobody'"),
    "an attempt left out": _again("attempt", "7"),
    "an unknown axis": "UPDATE call SET axis = 'nobody' WHERE seq = 1",
    "two calls exchanged": "UPDATE call SET seq = -1 WHERE seq = 0;"
    "UPDATE call SET seq = 0 WHERE seq = 1; UPDATE call SET seq = 1 WHERE seq = -1",
    "a changed question": "UPDATE prompt SET messages = replace(messages, 'a', 'i')",
    "another plan": _meta("plan", '"0"'),
    "a newer schema": _meta("schema_version", "99"),
    "the first schema": _meta("schema_version", "1"),
}  # fmt: skip


def kinds(source: Path) -> Iterator[tuple[str, Damage]]:
    """Every kind of damage with what does it; `source` tells how large a ledger is."""
    size = (source / LEDGER).stat().st_size
    drawn = random.Random(11)
    for left in (100, size // 2):
        yield f"truncated to {left} bytes", partial(_truncate, left)
    yield "byte 52 of the header flipped", partial(_flip, [52])
    yield "100 bytes flipped", partial(_flip, sorted(drawn.sample(range(100, size), k=100)))
    for name, statement in STATEMENTS.items():
        yield name, partial(_execute, statement)
    for name in (LEDGER, f"{LEDGER}-wal", PLAN):
        yield f"{name} garbage", partial(_write, name, drawn.randbytes(5000))
        yield f"a folder for {name}", partial(_folder, name)
    yield f"{LEDGER} empty", partial(_write, LEDGER, b"")


def _truncate(left: int, run: Path) -> None:
    os.truncate(run / LEDGER, left)


def _flip(places: list[int], run: Path) -> None:
    content = bytearray((run / LEDGER).read_bytes())
    for at in places:
        content[at] ^= 0xFF
    (run / LEDGER).write_bytes(content)


def _execute(script: str, run: Path) -> None:
    with closing(sqlite3.connect(run / LEDGER)) as db:
        db.execute("PRAGMA legacy_alter_table = ON")  # views may break
        db.executescript(script)


def _write(name: str, content: bytes, run: Path) -> None:
    (run / name).write_bytes(content)


def _folder(name: str, run: Path) -> None:
    (run / name).unlink(missing_ok=True)
    (run / name).mkdir()
