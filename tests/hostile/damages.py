"""Run directories damaged in every way that a disk, a copy or a person can damage one.

`damages` gives the same damage for the same source, whichever machine it is made on.
"""

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import chain, cycle, islice
from pathlib import Path

from judgesheet.ledger.run_directory import DATASHEET, JUDGMENTS, LEDGER, PLAN

Damage = Callable[[Path], object]
"""What is done to a copy of a run directory."""

DEEP = "[" * 10_000 + "]" * 10_000
LARGEST = 2**63 - 1
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n"
TABLES = {
    "meta": ("key", "value"),
    "prompt": ("digest", "messages"),
    "params": ("digest", "params"),
    "call": ("seq", "id", "axis", "stimulus", "cell", "repeat", "reply", "params", "prompt"),
    "label": ("axis", "item", "criterion", "kind", "score", "ratings"),
    "attempt": ("call_id", "attempt", "outcome", "latency_s", "tokens_in", "tokens_out",
                "served_model", "at", "retry_after_s", "text", "raw", "finish_reason"),
}  # fmt: skip
VALUES = {
    "NULL": "NULL",
    "a blob": "x'ff00fe'",
    "a text": "'x'",
    "no UTF-8": "CAST(x'ff80' AS TEXT)",
    "NaN as text": "'NaN'",
    "infinity": "1e999",
    "minus infinity": "-1e999",
    "2**63 - 1": str(LARGEST),
    "-2**63": "-9223372036854775807 - 1",
    "-1": "-1",
    "half": "0.5",
    "nothing": "''",
    "controls": "char(27) || '[2J' || char(0) || char(10) || '::stop-commands::x'",
}
WHOLE = {"call": "seq repeat", "attempt": "attempt tokens_in tokens_out"}
JSON = {
    "not closed": "{",
    "empty": "",
    "10,000 deep": DEEP,
    "null": "null",
    "a number": "7",
    "infinity": "1e999",
    "NaN": "NaN",
    "5,000 digits": "9" * 5000,
    "a text": '"x"',
    "a list": "[1]",
    "a list of lists": '[["a", 1e999]]',
    "an object": '{"a": 1}',
    "an object of objects": '{"a": {"b": [null]}}',
    "half a surrogate": r'{"\ud800": "\udfff"}',
}
META = ("schema_version", "judgesheet", "plan", "seed", "provenance", "judge", "created_at",
        "prices", "parsers", "parsers_replaced", "given_up", "reopened",
        "earlier_base_urls")  # fmt: skip
CELLS = ("prompt SET messages", "params SET params", "call SET cell", "label SET ratings")


def damages(source: Path, into: Path) -> Iterator[tuple[str, Path]]:
    """(kind of damage, damaged copy of the run directory `source` in the folder `into`) pairs.

    `source` is a complete run of a `sim/` judge. Each copy is made when it is asked for.
    """
    for number, (kind, damage) in enumerate(kinds(source)):
        run = into / f"{number:03d}"
        shutil.copytree(source, run)
        damage(run)
        yield kind, run


def kinds(source: Path) -> Iterator[tuple[str, Damage]]:
    """Every kind of damage with what does it; `source` tells how large a ledger is."""
    ledger = source / LEDGER
    parts = (_bytes(ledger), _tables(), _values(), _json(), _cells(ledger), _rows(), _files())
    return chain.from_iterable(parts)


# -- bytes ---------------------------------------------------------------------------------------


def _bytes(ledger: Path) -> Iterator[tuple[str, Damage]]:
    size = ledger.stat().st_size
    page, roots = _layout(ledger)
    for left in (1, 15, 16, 50, 99, 100, 101, page - 1, page, page + 1, 2 * page, size // 4,
                 size // 2, size - page, size - page - 1, size - 1):  # fmt: skip
        yield f"truncated to {left} of {size} bytes", partial(_truncate, LEDGER, left)
    for at in (0, 15, 16, 17, 18, 19, 20, 21, 24, 28, 32, 36, 40, 44, 47, 52, 56, 59, 64, 92, 96):
        yield f"byte {at} of the header flipped", partial(_flip, [at])
    for seed in range(12):
        draw = random.Random(seed)
        few = sorted(draw.sample(range(100, size), k=[1, 10, 100][seed % 3]))
        yield f"{len(few)} bytes flipped, seed {seed}", partial(_flip, few)
    for name, root in roots.items():
        yield f"page of {name} zeroed", partial(_overwrite, root * page, bytes(page))
        noise = random.Random(root).randbytes(page)
        yield f"page of {name} overwritten", partial(_overwrite, root * page, noise)
    for start in (1, size // page // 2):
        half = bytes(size // 2 - page)
        yield f"half of it zeroed from page {start}", partial(_overwrite, start * page, half)


def _layout(ledger: Path) -> tuple[int, dict[str, int]]:
    """The size of a page, and the place of the first page of every table, from 0."""
    with closing(sqlite3.connect(ledger)) as db:
        (page,) = db.execute("PRAGMA page_size").fetchone()
        roots = db.execute("SELECT name, rootpage - 1 FROM sqlite_schema WHERE rootpage").fetchall()
    return page, {"the schema": 0, **dict(roots)}


def _truncate(name: str, left: int, run: Path) -> None:
    os.truncate(run / name, left)


def _flip(places: list[int], run: Path) -> None:
    content = bytearray((run / LEDGER).read_bytes())
    for at in places:
        content[at] ^= 0xFF
    (run / LEDGER).write_bytes(content)


def _overwrite(at: int, content: bytes, run: Path) -> None:
    with (run / LEDGER).open("r+b") as file:
        file.seek(at)
        file.write(content)


# -- tables and columns --------------------------------------------------------------------------


def _tables() -> Iterator[tuple[str, Damage]]:
    for table, columns in TABLES.items():
        yield f"table {table} dropped", _sql(f"DROP TABLE {table}")
        yield f"table {table} renamed", _sql(f"ALTER TABLE {table} RENAME TO other")
        yield f"table {table} emptied", _sql(f"DELETE FROM {table}")
        view = f"ALTER TABLE {table} RENAME TO other; CREATE VIEW {table} AS"
        yield f"a view for {table}", _sql(f"{view} SELECT * FROM other")
        yield f"an endless view for {table}", _sql(f"{view} {ENDLESS}")
        for column in columns:
            rename = f"ALTER TABLE {table} RENAME COLUMN {column} TO other"
            yield f"column {table}.{column} renamed", _sql(rename)
    for view in ("question", "pending", "answer"):
        yield f"view {view} dropped", _sql(f"DROP VIEW {view}")
        yield f"view {view} endless", _sql(f"DROP VIEW {view}; CREATE VIEW {view} AS {ENDLESS}")
    big = "hex(zeroblob(400000000))"
    for what, statement in {
        "a trigger": "CREATE TRIGGER t AFTER INSERT ON attempt BEGIN DELETE FROM attempt; END",
        "a generated column": f"ALTER TABLE label ADD COLUMN more AS ({big})",
        "a costly check": "ALTER TABLE attempt ADD COLUMN more "
        "CHECK (length(hex(zeroblob(attempt * 1000000))) > 0)",
        "a costly index": "CREATE INDEX i ON attempt (length(hex(zeroblob(1000000 + attempt))))",
        "an index that is unique": "CREATE UNIQUE INDEX i ON attempt (call_id)",
        "a virtual table": "DROP TABLE label; CREATE VIRTUAL TABLE label USING "
        "fts5(axis, item, criterion, kind, score, ratings)",
        "a table more": "CREATE TABLE more (a); INSERT INTO more VALUES (1)",
    }.items():
        yield what, _sql(statement)


def _sql(script: str) -> Damage:
    def run_script(run: Path) -> None:
        with closing(sqlite3.connect(run / LEDGER)) as db:
            db.execute("PRAGMA legacy_alter_table = ON")  # views may break
            db.executescript(script)

    return run_script


def _values() -> Iterator[tuple[str, Damage]]:
    """Every column with three values that do not belong there, in one row and in all."""
    values, wheres = cycle(VALUES.items()), cycle([" WHERE rowid = 3", "", " WHERE rowid = 1"])
    for table, columns in TABLES.items():
        for column in columns:
            for (what, value), where in zip(islice(values, 3), wheres, strict=False):
                kind = f"{what} in {'one' if where else 'every'} {table}.{column}"
                yield kind, _set(table, column, value, where)
    for name in WHOLE["attempt"].split():
        for count in (2**53, LARGEST, -LARGEST):
            yield f"{count} in every attempt.{name}", _set("attempt", name, str(count), "")
    for at in (-62135596800.0, -1e18, 1e18, 253402300800.0):
        yield f"{at:g} s since the epoch", _set("attempt", "at", str(at), "")


def _set(table: str, column: str, value: str, where: str) -> Damage:
    """Set a column in a copy of its table that has no types and constraints."""
    return _sql(
        f"CREATE TABLE loose AS SELECT * FROM {table}; DROP TABLE {table};"
        f"ALTER TABLE loose RENAME TO {table}; UPDATE {table} SET {column} = {value}{where}"
    )


# -- JSON ----------------------------------------------------------------------------------------


def _json() -> Iterator[tuple[str, Damage]]:
    texts = cycle(JSON.items())
    for key in META:
        for what, text in islice(texts, 3):
            insert = "INSERT OR REPLACE INTO meta VALUES (?, ?)"
            yield f"{what} in meta.{key}", partial(_execute, insert, (key, text))
    for place in CELLS:
        for what, text in islice(texts, 6):
            yield f"{what}: {place}", partial(_execute, f"UPDATE {place} = ?", (text,))
    for part, text in {
        "settings": "[]", "stimuli": "7", "prompts": '["x"]', "parsers": '[{"axis": 1}]',
        "command": '"other"',
    }.items():  # fmt: skip
        put = "UPDATE meta SET value = json_set(value, ?, json(?)) WHERE key = 'provenance'"
        yield f"provenance.{part} is {text}", partial(_execute, put, (f"$.{part}", text))
    for part, text in {"temperature": '"hot"', "axes": "3", "profile": "[]", "reply": "{}"}.items():
        put = "UPDATE meta SET value = json_set(value, ?, json(?)) WHERE key = 'provenance'"
        yield f"setting {part} is {text}", partial(_execute, put, (f"$.settings.{part}", text))


def _cells(ledger: Path) -> Iterator[tuple[str, Damage]]:
    """Each part of the conditions that calls are made under, in all of them and in one."""
    with closing(sqlite3.connect(ledger)) as db:
        parts = db.execute("SELECT DISTINCT key FROM call, json_each(cell) ORDER BY key").fetchall()
    put = "UPDATE call SET cell = json_set(cell, ?, json(?))"
    for (part,) in parts:
        for text in ('"x"', "null", "1e999", "[[1]]"):
            yield f"cell.{part} is {text}", partial(_execute, put, (f"$.{part}", text))
            one = f"{put} WHERE seq = 1"
            yield f"one cell.{part} is {text}", partial(_execute, one, (f"$.{part}", text))


def _execute(statement: str, values: tuple[str, ...], run: Path) -> None:
    with closing(sqlite3.connect(run / LEDGER)) as db:
        db.execute(statement, values)
        db.commit()


# -- rows ----------------------------------------------------------------------------------------


def _rows() -> Iterator[tuple[str, Damage]]:
    double = "CREATE TABLE loose AS SELECT * FROM {0}; INSERT INTO loose SELECT * FROM {0};"
    replace = "DROP TABLE {0}; ALTER TABLE loose RENAME TO {0}"
    for table in ("call", "attempt", "label", "prompt", "params"):
        yield f"every {table} twice", _sql((double + replace).format(table))
        yield f"a {table} lost", _sql(f"DELETE FROM {table} WHERE rowid = 3")
    again = "INSERT INTO attempt SELECT {} FROM attempt WHERE rowid = 1"
    columns = ", ".join(TABLES["attempt"])
    for what, statement in {
        "a call settled twice": again.format(columns.replace("attempt", "2", 1)),
        "a reply to no call": again.format(columns.replace("call_id", "'nobody'")),
        "an attempt left out": again.format(columns.replace("attempt", "7", 1)),
        "an unknown outcome": "UPDATE attempt SET outcome = 'bogus' WHERE rowid = 2",
        "only unknown outcomes": "UPDATE attempt SET outcome = 'bogus'",
        "an unknown axis": "UPDATE call SET axis = 'nobody' WHERE seq = 1",
        "another axis": "UPDATE call SET axis = 'candidate_order'",
        "another stimulus": "UPDATE call SET stimulus = 'other' WHERE seq = 1",
        "another repeat": "UPDATE call SET repeat = 9 WHERE seq = 1",
        "another reply format": "UPDATE call SET reply = 'other'",
        "two calls exchanged": "UPDATE call SET seq = -1 WHERE seq = 0;"
        "UPDATE call SET seq = 0 WHERE seq = 1; UPDATE call SET seq = 1 WHERE seq = -1",
        "a call far away": f"UPDATE call SET seq = {LARGEST} WHERE seq = 3",
        "a call before the first": "UPDATE call SET seq = -5 WHERE seq = 3",
        "a changed question": "UPDATE prompt SET messages = replace(messages, 'a', 'i')",
        "another plan": """UPDATE meta SET value = '"0"' WHERE key = 'plan'""",
        "another seed": "UPDATE meta SET value = '99' WHERE key = 'seed'",
        "a newer schema": "UPDATE meta SET value = '99' WHERE key = 'schema_version'",
        "the first schema": "UPDATE meta SET value = '1' WHERE key = 'schema_version'",
        "half of the replies lost": "DELETE FROM attempt WHERE rowid % 2",
        "replies that say nothing": "UPDATE attempt SET text = ''",
        "no finish reasons": "ALTER TABLE attempt DROP COLUMN finish_reason",
    }.items():
        yield what, _sql(statement)


# -- files ---------------------------------------------------------------------------------------


def _files() -> Iterator[tuple[str, Damage]]:
    noise = random.Random(0).randbytes(5000)
    for end in ("-wal", "-journal", "-shm"):
        for content in (b"", noise):
            write = partial(_write, LEDGER + end, content)
            yield f"{LEDGER}{end} of {len(content)} bytes of garbage", write
        yield f"a folder for {LEDGER}{end}", partial(_folder, LEDGER + end)
    for name in (LEDGER, PLAN, DATASHEET, JUDGMENTS):
        yield f"{name} missing", partial(_remove, name)
        yield f"{name} empty", partial(_write, name, b"")
        yield f"{name} garbage", partial(_write, name, noise)
        yield f"a folder for {name}", partial(_folder, name)
    for name in (PLAN, DATASHEET, JUDGMENTS):
        yield f"{name} cut off", partial(_truncate, name, 3000)
    yield "a ledger of another kind", partial(_write, LEDGER, b"a letter to my aunt\n" * 500)
    yield "a line more in the plan", _line('{"call_id": "x"}')
    yield "a deep line in the plan", _line(f'{{"call_id": {DEEP}}}')
    yield "a line of the plan twice", _lines(lambda lines: [*lines, lines[0]])
    yield "a line less in the plan", _lines(lambda lines: lines[:-1])
    yield "two lines of the plan exchanged", _lines(lambda lines: [lines[1], lines[0], *lines[2:]])
    yield "a changed plan", _lines(lambda lines: [line.replace("e", "a") for line in lines])
    yield "a sheet of other counts", partial(_edit_sheet, ("run", "attempts"), 1)
    yield "a sheet of another judge", partial(_edit_sheet, ("judge", "model"), "other")
    yield "a sheet of another plan", partial(_edit_sheet, ("provenance", "plan_digest"), "0" * 64)


def _write(name: str, content: bytes, run: Path) -> None:
    (run / name).write_bytes(content)


def _remove(name: str, run: Path) -> None:
    (run / name).unlink()


def _folder(name: str, run: Path) -> None:
    (run / name).unlink(missing_ok=True)
    (run / name).mkdir()


def _lines(change: Callable[[list[str]], list[str]]) -> Damage:
    def change_plan(run: Path) -> None:
        lines = (run / PLAN).read_text(encoding="utf-8").splitlines(keepends=True)
        (run / PLAN).write_text("".join(change(lines)), encoding="utf-8")

    return change_plan


def _line(line: str) -> Damage:
    return _lines(lambda lines: [*lines, f"{line}\n"])


def _edit_sheet(place: tuple[str, str], value: object, run: Path) -> None:
    sheet = json.loads((run / DATASHEET).read_text(encoding="utf-8"))
    sheet[place[0]][place[1]] = value
    (run / DATASHEET).write_text(json.dumps(sheet), encoding="utf-8")
