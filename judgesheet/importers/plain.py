"""Anybody's table: JSONL, CSV or Parquet, with a map from our fields to its columns.

Each `FIELD=COLUMN` names a column; in JSON and Parquet a dot goes into an object (`meta.model`).
Either a row is one response (`prompt`, `text`), or one pair (`prompt`, `u`, `v`).
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from judgesheet.errors import StimuliError, UsageError
from judgesheet.importers import _piece
from judgesheet.importers._piece import (
    CRITERION,
    Choice,
    Head,
    Piece,
    Row,
    Rows,
    Skip,
    key_of,
    numbers,
)

NAME = "plain"
AXES = ("score_order", "criterion_order", "candidate_order", "listwise_consensus")
LICENCE = ""
ATTRIBUTION = ""
SCALE = None
RUBRICS: dict[str, tuple[str, ...]] = {}
KINDS = ("jsonl", "csv", "parquet")

FIELDS: Mapping[str, str] = {
    "prompt": "what was asked",
    "text": "the response",
    "stimulus": "name of the prompt; rows with one name are one stimulus [the prompt itself]",
    "item": "name of the response [the number of its line]",
    "domain": "subject",
    "source": "where the prompt comes from",
    "reference": "reference answer",
    "human": "people's score, or a list with one per rater",
    "human.NAME": "the same for the criterion NAME",
    "model": "score of another model, or a list of them",
    "rater": "who gave this row's ratings, where each rater has a row",
    "gold": "whether it is a best response: true/false, yes/no, 1/0",
    "u": "first response of a pair",
    "v": "second response of a pair",
    "better": "the better one of a pair: u/v, A/B, 1/2; tie or empty for none",
}
_YES_NO = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_SIDES = {"u": "u", "a": "u", "1": "u", "v": "v", "b": "v", "2": "v", "tie": None, "none": None}


def read(rows: Rows, choice: Choice) -> Iterator[Piece | Skip]:
    """The rows as the map says; `--system` chooses by `item`."""
    columns = choice.columns
    _refuse_map(columns)
    paired = "u" in columns
    for where, row in rows:
        for piece in _pair(where, row, columns) if paired else [_response(where, row, columns)]:
            if choice.systems and piece.item not in choice.systems:
                yield Skip(where, "a system that was not chosen")
            else:
                yield piece


def _refuse_map(columns: Mapping[str, str]) -> None:
    for name in columns:
        if name not in FIELDS and not name.startswith("human."):
            raise UsageError(f"--map {name}=…: there is no such field; fields: {', '.join(FIELDS)}")
    needed = ("prompt", "u", "v") if {"u", "v"} & columns.keys() else ("prompt", "text")
    missing = [name for name in needed if name not in columns]
    if missing:
        raise UsageError(
            f"say which column holds the {missing[0]}: --map {missing[0]}=COLUMN "
            f"(fields: {', '.join(FIELDS)})"
        )


def _response(where: str, row: Row, columns: Mapping[str, str]) -> Piece:
    prompt = _text(row, columns, "prompt", where)
    criteria = {
        name.partition(".")[2] or CRITERION: column
        for name, column in columns.items()
        if name == "human" or name.startswith("human.")
    }
    return Piece(
        where=where,
        key=_optional(row, columns, "stimulus", where) or key_of(prompt),
        head=_head(row, columns, prompt, where),
        item=_optional(row, columns, "item", where) or f"r{where.rpartition(':')[2]}",
        text=_text(row, columns, "text", where),
        human={name: _ratings(_at(row, column, where), where, column)
               for name, column in criteria.items()},
        model=_ratings(_at(row, columns["model"], where), where, columns["model"])
        if "model" in columns else [],
        rater=_optional(row, columns, "rater", where),
        seated="rater" in columns,
        gold=_told(row, columns, "gold", _YES_NO, where),
    )  # fmt: skip


def _pair(where: str, row: Row, columns: Mapping[str, str]) -> Iterator[Piece]:
    prompt = _text(row, columns, "prompt", where)
    better = _told(row, columns, "better", _SIDES, where)
    key = _optional(row, columns, "stimulus", where) or f"pair-{where.rpartition(':')[2]}"
    for side in ("u", "v"):
        yield Piece(
            where=where,
            key=key,
            head=_head(row, columns, prompt, where),
            item=side,
            text=_text(row, columns, side, where),
            gold=None if better is None else side == better,
        )


def _head(row: Row, columns: Mapping[str, str], prompt: str, where: str) -> Head:
    return Head(
        prompt=prompt,
        domain=_optional(row, columns, "domain", where) or "",
        source=_optional(row, columns, "source", where) or "",
        reference=_optional(row, columns, "reference", where),
    )


def _at(row: Row, column: str, where: str) -> Any:
    """The content of a column; the whole name first, then a path into objects."""
    if column in row or "." not in column:
        return _piece.value(row, column, where)
    found: Any = row
    for part in column.split("."):
        if not isinstance(found, Mapping):
            raise StimuliError(f"{where}: {column}: there is no object to look {part!r} up in")
        found = _piece.value(found, part, where)
    return found


def _text(row: Row, columns: Mapping[str, str], name: str, where: str) -> str:
    column = columns[name]
    return _piece.text({column: _at(row, column, where)}, column, where)


def _optional(row: Row, columns: Mapping[str, str], name: str, where: str) -> str | None:
    if name not in columns or _at(row, columns[name], where) in (None, ""):
        return None
    return _text(row, columns, name, where) or None


def _ratings(found: Any, where: str, column: str) -> list[float | None]:
    """A number, a list, or a list written as JSON in a cell of a CSV file."""
    if isinstance(found, str) and found.lstrip().startswith("["):
        try:
            found = json.loads(found)
        except ValueError:
            raise StimuliError(f"{where}: {column} is no list of numbers: {found[:60]!r}") from None
    return numbers(found, where, column)


def _told(
    row: Row, columns: Mapping[str, str], name: str, words: Mapping[str, Any], where: str
) -> Any:
    told = _optional(row, columns, name, where)
    if told is None:
        return None
    if told.lower() not in words:
        raise StimuliError(
            f"{where}: {columns[name]} is {told[:60]!r}; it can be {', '.join(words)}"
        )
    return words[told.lower()]
