"""What a ledger holds, and whether the tables of a file are such a ledger.

SQLite enforces neither types nor references, and a file may be damaged or come from anybody.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from judgesheet.base.limits import LARGEST_TEXT, LONGEST_LINE, MOST_REPEATS

SCHEMA = Path(__file__).with_name("ledger.sql").read_text(encoding="utf-8")

VIEWS = [
    statement.replace("CREATE VIEW", "CREATE TEMP VIEW")
    for statement in SCHEMA.split(";\n")
    if "CREATE VIEW" in statement
]
"""Our own reading of the tables: those that a file brings along may be anything, even endless, and
those of an older run settle other outcomes."""

SQL_FAULTS = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite raises: the second where its message quotes a damaged text."""


class Added(NamedTuple):
    """A column that ledgers gained with a `version`, its type, and its value in older rows."""

    version: int
    table: str
    column: str
    kind: str
    value: str


SCHEMA_VERSION = 3
"""Of a ledger that is made now. Any change of a table raises it, so that an older release refuses
the file before it asks, instead of paying for replies that it cannot write."""

_FINISH_REASON = """CASE WHEN json_valid(raw) THEN coalesce(
    json_extract(raw, '$.choices[0].finish_reason'), json_extract(raw, '$.stop_reason')) END"""

ADDED = (
    Added(2, "label", "ratings", "TEXT NOT NULL DEFAULT '[]'", "'[]'"),
    # From the body as received. Ledgers of version 2 may have it: for a time it raised none.
    Added(3, "attempt", "finish_reason", "TEXT", _FINISH_REASON),
)
"""Reading an older ledger shows these in a view; whoever goes on with it adds them."""
_DECODED = frozenset({"prompt", "params"})
_TYPES = {"TEXT": "'text'", "INTEGER": "'integer'", "REAL": "'real', 'integer'"}
_HIGHEST = {"repeat": MOST_REPEATS}
_LONG = frozenset({"cell", "messages", "params", "ratings", "raw", "text", "value"})
"""Columns that hold texts; all others hold names, or one of a few words."""
_PARSER = {"axis": str, "name": str, "digest": str, "source": str}
ALWAYS: Mapping[str, Any] = {
    "schema_version": int,
    "judgesheet": str,
    "plan": str,
    "seed": int,
    "provenance": dict,
    "judge": dict,
    "created_at": (int, float),
}
_LOOKS = {
    "policy": {"name": str, "digest": str},
    "ended": bool,
    **dict.fromkeys(("look", "of", "calls", "needed", "planned"), int),
    "axes": [
        {
            "axis": str,
            "level": (int, float),
            **dict.fromkeys(("look", "of", "stimuli", "stimuli_planned"), int),
        }
    ],
}
SOMETIMES: Mapping[str, Any] = {
    "prices": object,
    "machine": str,
    "note": str,
    "parsers": [_PARSER],
    "parsers_replaced": [dict],
    "given_up": [str],
    "reopened": [list],
    "earlier_base_urls": list,
    "refused_parameters": dict,
    "limits": {"held_s": (int, float)},
    "batches": [dict],
    "looks": _LOOKS,
    "left_out": [str],
    "taken_over": [{"plan": str, "created_at": (int, float), "replies": int}],
}
_PROVENANCE: Mapping[str, Any] = {
    "command": str,
    "settings": dict,
    "stimuli": [dict],
    "prompts": [dict],
    "parsers": [_PARSER],
}
"""The shape of JSON: a type, the names of an object, or the one element of all in a list."""


def distrust(db: sqlite3.Connection) -> None:
    """Believe nothing that a file says, and read no text of it that is too large to be held."""
    db.execute("PRAGMA trusted_schema = OFF")
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_TEXT)


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


def column_names(db: sqlite3.Connection, table: str) -> set[str]:
    """The columns that a table of a file has."""
    return {column.name for column in _columns(db, table)}


def lacking(db: sqlite3.Connection, version: int) -> list[Added]:
    """The columns that a ledger of this version has not, because they came later."""
    return [
        added
        for added in ADDED
        if added.version > version and added.column not in column_names(db, added.table)
    ]


def plain_tables(db: sqlite3.Connection) -> set[str]:
    """Those tables of a ledger that a file has as tables, so that reading them does no more."""
    rows = db.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table' AND rootpage")
    hidden = "SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden"
    there = {name for (name,) in rows} & tables().keys()
    return {table for table in there if not db.execute(hidden, (table,)).fetchone()}


def is_plain(db: sqlite3.Connection) -> bool:
    """Whether a file has every table of a ledger, and nothing that acts by itself."""
    triggers = "SELECT 1 FROM main.sqlite_schema WHERE type = 'trigger'"
    return plain_tables(db) == tables().keys() and not db.execute(triggers).fetchone()


def damage(db: sqlite3.Connection, version: int) -> str | None:
    """What in plain tables of this version cannot be, in words; None if nothing.

    Contents of calls, the most of a ledger, are left to whoever decodes them.
    """
    later = {(added.table, added.column) for added in lacking(db, version)}
    for table, columns in tables().items():
        there = column_names(db, table)
        if lost := {column.name for column in columns if (table, column.name) not in later} - there:
            return f"it lacks {table}.{min(lost)}"
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
    if _is_name(column):
        wrong += f" OR length({name}) > {LONGEST_LINE}"
    if _is_bounded(column):
        wrong += f" OR {name} NOT BETWEEN {_least(column)} AND {_most(column)}"
    return wrong


def _is_name(column: Column) -> bool:
    return column.kind == "TEXT" and column.name not in _LONG


def _is_bounded(column: Column) -> bool:
    return column.name == "score" or (column.kind == "INTEGER" and column.required)


def _least(column: Column) -> int:
    return -_most(column) if column.name == "score" else 0


def _most(column: Column) -> int:
    return _HIGHEST.get(column.name, 1_000_000_000)


def belongs(column: Column, value: Any) -> bool:
    """Whether a column may have this value; the same in Python as in SQL."""
    if value is None:
        return not column.required
    if column.kind == "TEXT":
        return isinstance(value, str) and (not _is_name(column) or len(value) <= LONGEST_LINE)
    is_number = isinstance(value, int if column.kind == "INTEGER" else int | float)
    return is_number and (not _is_bounded(column) or _least(column) <= value <= _most(column))


def misshapen(meta: Mapping[str, Any]) -> Iterator[str]:
    """The keys of `meta` whose values cannot be."""
    for key, shape in {**ALWAYS, **SOMETIMES}.items():
        if (key in ALWAYS or key in meta) and not _fits(meta.get(key), shape):
            yield key
    provenance = meta.get("provenance")
    parts = provenance if isinstance(provenance, dict) else {}
    for key in _PROVENANCE.keys() & parts.keys():
        if not _fits(parts[key], _PROVENANCE[key]):
            yield f"provenance.{key}"
    if isinstance(seed := meta.get("seed"), int) and seed < 0:
        yield "seed"
    looks = meta.get("looks")
    if isinstance(looks, dict) and _fits(looks, _LOOKS):
        sure = all(0.5 < axis["level"] < 1 for axis in looks["axes"])
        if looks.keys() != _LOOKS.keys() or not sure:
            yield "looks"
    prices = meta.get("prices")
    if prices is not None and not (_fits(prices, [(int, float)]) and len(prices) == 2):
        yield "prices"


def _fits(value: Any, shape: Any) -> bool:
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(_fits(value.get(k), s) for k, s in shape.items())
    if isinstance(shape, list):
        return isinstance(value, list) and all(_fits(part, shape[0]) for part in value)
    return isinstance(value, shape)
