"""Any table: JSONL, CSV, Parquet, JSON or Excel, with a map from our fields to its columns.

Each `FIELD=COLUMN` names a column; in JSON and Parquet a dot selects a field of an object
(`meta.model`). Either a row is one response (`prompt`, `text`), or one pair (`prompt`, `u`, `v`).
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain
from typing import Any, TypeVar

from judgesheet.axis.shaping import UNNAMED
from judgesheet.base.errors import StimuliError, UsageError
from judgesheet.importers._piece import Format, ImportOptions, Piece, Skip, key_of
from judgesheet.importers._rows import Row, having
from judgesheet.importers.logs import UNKNOWN, as_option
from judgesheet.importers.words import slot_of

T = TypeVar("T")


FIELDS = (
    *("prompt", "text", "stimulus", "item", "group", "domain", "source", "reference"),
    *("human", "human.NAME", "model", "rater", "gold", "u", "v", "better"),
)
"""What a map can name; docs/stimuli.md says what each holds."""
_YES_NO = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_USUAL_NAMES: Mapping[str, tuple[str, ...]] = {
    "prompt": ("prompt", "question", "instruction", "request", "query", "input"),
    "text": ("text", "response", "answer", "reply", "output", "completion"),
    "u": ("u", "response_a", "response_1", "answer_a", "answer_1", "output_a", "output_1"),
    "v": ("v", "response_b", "response_2", "answer_b", "answer_2", "output_b", "output_2"),
    "better": ("better", "best", "winner", "preference", "label"),
    "item": ("item", "model", "system"),
    "human": ("human", "human_score", "human_rating"),
}


def read(rows: Iterator[Row], choice: ImportOptions) -> Iterator[Piece | Skip]:
    """The rows as the user's map says."""
    first = next(rows, None)
    _refuse_map(choice.columns, first.cells if first else {})
    return mapped(chain([first] if first else [], rows), choice, choice.columns)


def mapped(
    rows: Iterator[Row], choice: ImportOptions, columns: Mapping[str, str]
) -> Iterator[Piece | Skip]:
    """The rows as a map says; `--system` chooses by `item`."""
    pieces = _pair if "u" in columns else _response
    needed = _needed(columns)
    for row in having(rows, columns.values()):
        cells = {field: row.at(column) for field, column in columns.items()}
        if any(cells[name] in (None, "") for name in needed):
            yield Skip(row.where, f"a row without {' or '.join(needed)}")
            continue
        own = Row(row.where, cells, columns)
        if choice.keeps(own.optional("item")):
            yield from pieces(own)
        else:
            yield Skip(row.where)


def _refuse_map(columns: Mapping[str, str], cells: Mapping[str, Any]) -> None:
    for name in columns:
        if name not in FIELDS and not name.startswith("human."):
            raise UsageError(f"--map {name}=…: there is no such field; fields: {', '.join(FIELDS)}")
    missing = [name for name in _needed(columns) if name not in columns]
    if missing:
        guess = {**proposed(cells), **columns}
        pair = "of a pair u and v in place of text; " * ("text" in guess)
        raise UsageError(
            f"say which column holds the {missing[0]} (--map {missing[0]}=COLUMN), perhaps "
            f"{as_option(guess)} ({pair}fields: {', '.join(FIELDS)})"
        )


def _needed(columns: Mapping[str, str]) -> tuple[str, ...]:
    return ("prompt", "u", "v") if {"u", "v"} & columns.keys() else ("prompt", "text")


def proposed(cells: Mapping[str, Any]) -> dict[str, str]:
    """The columns of a first row that are called as their field often is."""
    found = {
        field: column
        for field, names in _USUAL_NAMES.items()
        for column in cells
        if column.lower() in names
    }
    if {"u", "v"} <= found.keys():  # of a pair only the better one is known
        kept = ["prompt", "u", "v"]
        with suppress(KeyError):
            _side(cells.get(found.get("better", "")), found)
            kept.append("better")
    else:
        kept = ["prompt", "text", "item", "human"]
    return {name: found.get(name, UNKNOWN) for name in kept if name in found or name in kept[:2]}


def _response(row: Row) -> Iterator[Piece]:
    prompt = row.text("prompt")
    yield Piece(
        where=row.where,
        key=row.optional("stimulus") or key_of(prompt),
        **_about_prompt(row),
        # A response without a name has that of its line, which is unique.
        item=row.optional("item") or f"r{_line(row)}",
        text=row.text("text"),
        human={
            name.partition(".")[2] or UNNAMED: row.numbers(name)
            for name in row.cells
            if name.partition(".")[0] == "human"
        },
        model=row.numbers("model") if "model" in row.cells else [],
        rater=row.optional("rater"),
        seated="rater" in row.cells,
        gold=_word(row, "gold", _YES_NO),
    )


def _pair(row: Row) -> Iterator[Piece]:
    try:
        better = _side(row.cells.get("better"), row.names)
    except KeyError:
        given = str(row.cells["better"])[:60]
        raise StimuliError(
            f"{row.where}: {row.names['better']} is {given!r}; it can be u or v, A or B, 1 or 2, "
            "tie, A>B, or the name of the column"
        ) from None
    for side in ("u", "v"):
        yield Piece(
            where=row.where,
            key=row.optional("stimulus") or f"pair-{_line(row)}",
            **_about_prompt(row),
            item=side,
            text=row.text(side),
            gold=None if better is None else side == better,
        )


def _side(better: Any, columns: Mapping[str, str]) -> str | None:
    """The better one of a pair, None for neither or nothing; KeyError for a word of no family.

    Who fills in a table may write the name of its column.
    """
    word = "" if better is None else str(better).strip().lower()
    for side in ("u", "v"):
        if word in (side, columns[side].lower()):
            return side
    won = slot_of(better) if word else None
    return {1: "u", 2: "v"}.get(won) if isinstance(won, int) else None


def _about_prompt(row: Row) -> dict[str, Any]:
    known = {name: row.optional(name) for name in ("group", "domain", "source", "reference")}
    return {"prompt": row.text("prompt"), **known}


def _line(row: Row) -> str:
    return re.split("[: ]", row.where)[-1]


def _word(row: Row, field: str, words: Mapping[str, T]) -> T | None:
    """What a word in a field stands for; None where the field is absent or empty."""
    word = row.optional(field)
    if word is None:
        return None
    if word.lower() not in words:
        raise StimuliError(
            f"{row.where}: {row.names[field]} is {word[:60]!r}; it can be {', '.join(words)}"
        )
    return words[word.lower()]


FORMAT = Format(read)
