"""Calls, replies and labels as the rows of a ledger's tables."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

from judgesheet.base.records import Call, Label, Reply, digest

REPLY = tuple(field.name for field in fields(Reply))
LABEL = tuple(field.name for field in fields(Label))
MESSAGE = {"role", "content"}
CALL = ("seq", "id", "axis", "stimulus", "cell", "repeat", "reply", "params", "prompt")
"""Columns of the tables `attempt`, `label` and `call`."""


def insert(
    db: sqlite3.Connection, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    """Write rows into these columns of a table."""
    marks = ", ".join("?" * len(columns))
    db.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)  # noqa: S608


def insert_calls(db: sqlite3.Connection, calls: Sequence[Call], start: int = 0) -> None:
    """Write calls, and of their contents those that are not there yet."""
    insert(db, "call", CALL, _rows_of(db, calls, start))


def insert_labels(db: sqlite3.Connection, labels: Iterable[Label]) -> None:
    """Write labels, their single ratings as JSON."""
    insert(db, "label", LABEL, ((*_OF_LABEL(one), as_json(one.ratings)) for one in labels))


_OF_LABEL = attrgetter(*LABEL[:-1])


def _rows_of(db: sqlite3.Connection, calls: Sequence[Call], start: int) -> Iterator[Sequence[Any]]:
    """The rows of calls, whose contents are written first; neighbours have much in common."""
    seen: set[str] = set()

    def written(table: str, value: Any) -> str:
        key, text = content(value)
        if key not in seen:
            seen.add(key)
            db.execute(f"INSERT OR IGNORE INTO {table} VALUES (?, ?)", (key, text))  # noqa: S608
        return key

    last, cell, params, prompt = None, "", "", ""
    for seq, call in enumerate(calls, start):
        if last is None or call.cell is not last.cell:
            cell = as_json(call.cell)
        if last is None or call.params is not last.params:
            params = written("params", call.params)
        if last is None or call.messages is not last.messages:
            prompt = written("prompt", call.messages)
        asked = (seq, call.id, call.axis, call.stimulus, cell, call.repeat, call.reply)
        yield (*asked, params, prompt)
        last = call


def content(value: Any) -> tuple[str, str]:
    """The digest of messages or parameters, and their JSON, as a ledger holds them."""
    # As given: in a JSON schema the order of the properties is the order of the answer.
    text = as_json(value, in_order=True)
    return digest(text)[:24], text


def row_of(reply: Reply) -> tuple[Any, ...]:
    """The fields of a reply with lone surrogates replaced: SQLite holds UTF-8, which has none."""
    return tuple(
        value
        if not isinstance(value, str) or value.isascii()
        else value.encode("utf-8", "replace").decode()
        for value in _OF_REPLY(reply)
    )


_OF_REPLY = attrgetter(*REPLY)


_SORTED, _IN_ORDER = (
    json.JSONEncoder(sort_keys=is_sorted, separators=(",", ":"), ensure_ascii=False)
    for is_sorted in (True, False)
)


def as_json(value: Any, *, in_order: bool = False) -> str:
    """Compact JSON, keys sorted unless `in_order`; lone surrogates, which UTF-8 lacks, escaped."""
    text = (_IN_ORDER if in_order else _SORTED).encode(value)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
