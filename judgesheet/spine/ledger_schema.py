"""For stage two: what a ledger holds, and whether the tables of a file are such a ledger.

SQLite enforces neither types nor references, and a file may be damaged or come from anybody.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

SCHEMA = Path(__file__).with_name("ledger.sql").read_text(encoding="utf-8")

VIEWS = [
    statement.replace("CREATE VIEW", "CREATE TEMP VIEW")
    for statement in SCHEMA.split(";\n")
    if "CREATE VIEW" in statement
]
"""Our own reading of the tables: those that a file brings along may be anything, even endless, and
those of an older run settle other outcomes."""

ADDED_LATER = frozenset({"finish_reason"})
"""Columns that older runs lack; whoever opens one to write adds them."""
_DECODED = frozenset({"prompt", "params"})
_TYPES = {"TEXT": "'text'", "INTEGER": "'integer'", "REAL": "'real', 'integer'"}
_MOST = {"repeat": 1000, "score": 1_000_000_000}
_MOST_ROWS = 1_000_000_000
_PARSER = {"axis": str, "name": str, "digest": str, "source": str}
_ALWAYS: Mapping[str, Any] = {
    "schema_version": int,
    "judgesheet": str,
    "plan": str,
    "seed": int,
    "provenance": dict,
    "judge": dict,
    "created_at": (int, float),
}
_SOMETIMES: Mapping[str, Any] = {
    "prices": [(int, float)],
    "parsers": [_PARSER],
    "parsers_replaced": [dict],
    "given_up": [str],
    "reopened": [list],
    "earlier_base_urls": list,
}
_PROVENANCE: Mapping[str, Any] = {
    "command": str,
    "settings": dict,
    "stimuli": [dict],
    "prompts": [dict],
    "parsers": [_PARSER],
}
"""The shape of JSON: a type, the names of an object, or the one element of all in a list."""


class Column(NamedTuple):
    """A column of a table; `required` means never NULL."""

    name: str
    kind: str
    required: bool


@cache
def tables() -> dict[str, list[Column]]:
    """The columns of every table of a ledger."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(SCHEMA)
        names = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        return {name: _columns(db, name) for (name,) in names}


def _columns(db: sqlite3.Connection, table: str) -> list[Column]:
    rows = db.execute(f"PRAGMA main.table_info({table})")
    return [Column(name, kind, bool(filled or key)) for _, name, kind, filled, _, key in rows]


def is_plain(db: sqlite3.Connection) -> bool:
    """Whether every table of a ledger is there as a table, and reading them does nothing else."""
    rows = db.execute("SELECT name, type, rootpage FROM main.sqlite_schema WHERE type != 'index'")
    kinds = {name: kind for name, kind, root in rows if root or kind == "trigger"}
    hidden = "SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden"
    return "trigger" not in kinds.values() and all(
        kinds.get(table) == "table" and not db.execute(hidden, (table,)).fetchone()
        for table in tables()
    )


def damage(db: sqlite3.Connection) -> str | None:
    """What in plain tables cannot be, in words; None if nothing.

    Contents of calls, the most of a ledger, are left to whoever decodes them.
    """
    for table, columns in tables().items():
        there = {column.name for column in _columns(db, table)}
        lacking = {column.name for column in columns} - there - ADDED_LATER
        if lacking:
            return f"it lacks {table}.{min(lacking)}"
        if table in _DECODED:
            continue
        present = [column for column in columns if column.name in there]
        cases = " ".join(f"WHEN {_is_wrong(column)} THEN '{column.name}'" for column in present)
        rows = f"SELECT CASE {cases} END AS wrong FROM main.{table}"  # noqa: S608
        for (wrong,) in db.execute(f"{rows} WHERE wrong NOT NULL LIMIT 1"):
            return f"{table}.{wrong} holds what does not belong there"
    return None


def _is_wrong(column: Column) -> str:
    """A condition in SQL that holds where a column has a value that it cannot have."""
    name, types = column.name, _TYPES[column.kind] + ("" if column.required else ", 'null'")
    wrong = f"typeof({name}) NOT IN ({types})"
    if name == "score" or (column.kind == "INTEGER" and column.required):
        most = _MOST.get(name, _MOST_ROWS)
        wrong += f" OR {name} NOT BETWEEN {-most if column.kind == 'REAL' else 0} AND {most}"
    return wrong


def misshapen(meta: Mapping[str, Any]) -> Iterator[str]:
    """The keys of `meta` whose values cannot be."""
    for key, shape in {**_ALWAYS, **_SOMETIMES}.items():
        value = meta.get(key)
        if (key in _ALWAYS or value is not None) and not _fits(value, shape):
            yield key
    provenance = meta.get("provenance")
    parts = provenance if isinstance(provenance, dict) else {}
    for key in _PROVENANCE.keys() & parts.keys():
        if not _fits(parts[key], _PROVENANCE[key]):
            yield f"provenance.{key}"
    if isinstance(seed := meta.get("seed"), int) and seed < 0:
        yield "seed"
    if isinstance(prices := meta.get("prices"), list) and len(prices) != 2:
        yield "prices"


def _fits(value: Any, shape: Any) -> bool:
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(_fits(value.get(k), s) for k, s in shape.items())
    if isinstance(shape, list):
        return isinstance(value, list) and all(_fits(part, shape[0]) for part in value)
    return isinstance(value, shape)
