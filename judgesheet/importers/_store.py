"""Pieces grouped by prompt on disk: lines of one prompt may stand anywhere in a file of any size.

Memory holds one prompt with its responses at a time, nothing else.
"""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from judgesheet.errors import StimuliError
from judgesheet.files import MAX_LINE
from judgesheet.importers._piece import Head, Piece, name_of
from judgesheet.records import canonical_json

_SCHEMA = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -16000;
CREATE TABLE prompt (
  number INTEGER PRIMARY KEY, key TEXT UNIQUE, id TEXT UNIQUE, head TEXT, place TEXT
);
CREATE TABLE piece (prompt INTEGER, body TEXT);
"""
_GROUPS = """
SELECT prompt.id, prompt.head, prompt.place, piece.prompt, piece.body
FROM piece JOIN prompt ON prompt.number = piece.prompt ORDER BY piece.prompt, piece.rowid
"""
_CHILDLESS = "SELECT place FROM prompt WHERE number NOT IN (SELECT prompt FROM piece)"

_TOLD = tuple(one.name for one in fields(Head))
_KEPT = tuple(one.name for one in fields(Piece) if one.name not in ("key", "head", "id"))


@dataclass(frozen=True, slots=True)
class Group:
    """A prompt with its pieces, in the order of the source; every piece has an item."""

    id: str
    head: Head
    where: str
    pieces: tuple[Piece, ...]


class Store:
    """A file of pieces; the file is the caller's to delete."""

    def __init__(self, path: Path) -> None:
        # One sitting, one writer: without transactions of its own, everything is one.
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.executescript(_SCHEMA)
        self._db.execute("BEGIN")
        self._last: tuple[str, int, str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._db.close()

    def add(self, piece: Piece) -> None:
        """Keep a piece.

        Raises
        ------
        StimuliError
            if its prompt was told otherwise before; the sentence names both lines.
        """
        number = self._prompt(piece)
        if piece.item is not None:
            body = canonical_json([getattr(piece, name) for name in _KEPT])
            self._db.execute("INSERT INTO piece VALUES (?, ?)", (number, body))

    def groups(self) -> Iterator[Group]:
        """Every prompt that has responses, in the order of first mention."""
        self._db.execute("CREATE INDEX IF NOT EXISTS by_prompt ON piece (prompt)")
        current, size = None, 0
        pieces: list[str] = []
        head: tuple[str, str, str] = ("", "", "")
        for name, text, place, number, body in self._db.execute(_GROUPS):
            if number != current and pieces:
                yield _group(head, pieces)
            if number != current:
                current, pieces, size = number, [], len(text)
            head = (name, text, place)
            size += len(body)
            if size > MAX_LINE:
                raise StimuliError(
                    f"{place}: the responses to this prompt have more than {MAX_LINE:,} characters "
                    "together; give each prompt a name of its own, or fewer responses"
                )
            pieces.append(body)
        if pieces:
            yield _group(head, pieces)

    def childless(self) -> Iterator[str]:
        """Where the prompts stand that nothing responds to."""
        return (place for (place,) in self._db.execute(_CHILDLESS))

    def _prompt(self, piece: Piece) -> int:
        head = _packed(piece.head)
        if self._last and self._last[0] == piece.key and self._last[2] == head:
            return self._last[1]
        row = self._db.execute(
            "SELECT number, head, place FROM prompt WHERE key = ?", (piece.key,)
        ).fetchone()
        if row is None:
            number = self._new(piece, head)
        else:
            number = int(row[0])
            both = _packed(_joined(_head(row[1]), piece, row[2]))
            if both != row[1]:
                self._db.execute("UPDATE prompt SET head = ? WHERE number = ?", (both, number))
        self._last = (piece.key, number, head)
        return number

    def _new(self, piece: Piece, head: str) -> int:
        name = name_of(piece.id or piece.key)
        try:
            made = self._db.execute(
                "INSERT INTO prompt (key, id, head, place) VALUES (?, ?, ?, ?)",
                (piece.key, name, head, piece.where),
            )
        except sqlite3.IntegrityError:
            (place,) = self._db.execute("SELECT place FROM prompt WHERE id = ?", (name,)).fetchone()
            raise StimuliError(
                f"{piece.where}: the id {name!r} names another prompt at {place}; ids must be "
                "unique"
            ) from None
        return int(made.lastrowid or 0)


def _joined(known: Head, piece: Piece, where: str) -> Head:
    """What two lines say about one prompt; what one leaves open, the other may tell."""
    changes: dict[str, Any] = {}
    for name in _TOLD:
        old, new = getattr(known, name), getattr(piece.head, name)
        if old and new and old != new:
            raise StimuliError(
                f"{piece.where}: {piece.key[:60]!r} has another {name} than at {where}; one prompt "
                "needs one name, and another prompt another"
            )
        changes[name] = old or new
    return replace(known, **changes)


def _packed(head: Head) -> str:
    return canonical_json([getattr(head, name) for name in _TOLD])


def _head(text: str) -> Head:
    told = dict(zip(_TOLD, json.loads(text), strict=True))
    if told["rubric"] is not None:
        criterion, levels = told["rubric"]
        told["rubric"] = (criterion, tuple(levels))
    return Head(**told)


def _group(head: tuple[str, str, str], bodies: list[str]) -> Group:
    told = _head(head[1])
    pieces = tuple(
        Piece(key="", head=told, **dict(zip(_KEPT, json.loads(body), strict=True)))
        for body in bodies
    )
    return Group(head[0], told, head[2], pieces)
