"""Any table: JSONL, CSV or Parquet, with a map from our fields to its columns.

Each `FIELD=COLUMN` names a column; in JSON and Parquet a dot selects a field of an object
(`meta.model`). Either a row is one response (`prompt`, `text`), or one pair (`prompt`, `u`, `v`).
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from judgesheet.axis.shaping import UNNAMED
from judgesheet.base.errors import StimuliError, UsageError
from judgesheet.importers._piece import Format, ImportOptions, Piece, Skip, key_of
from judgesheet.importers._rows import Row

T = TypeVar("T")

KINDS = ("jsonl", "csv", "parquet")

FIELDS = (
    *("prompt", "text", "stimulus", "item", "group", "domain", "source", "reference"),
    *("human", "human.NAME", "model", "rater", "gold", "u", "v", "better"),
)
"""What a map can name; docs/stimuli.md says what each holds."""
_YES_NO = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_SIDES = {"u": "u", "a": "u", "1": "u", "v": "v", "b": "v", "2": "v", "tie": None, "none": None}


def read(rows: Iterator[Row], choice: ImportOptions) -> Iterator[Piece | Skip]:
    """The rows as the map says; `--system` chooses by `item`."""
    columns = choice.columns
    _refuse_map(columns)
    pieces = _pair if "u" in columns else _response
    for row in rows:
        cells = {field: row.at(column) for field, column in columns.items()}
        for piece in pieces(Row(row.where, cells, columns)):
            yield piece if choice.keeps(piece.item) else Skip(row.where)


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
    better = _word(row, "better", _SIDES)
    for side in ("u", "v"):
        yield Piece(
            where=row.where,
            key=row.optional("stimulus") or f"pair-{_line(row)}",
            **_about_prompt(row),
            item=side,
            text=row.text(side),
            gold=None if better is None else side == better,
        )


def _about_prompt(row: Row) -> dict[str, Any]:
    known = {name: row.optional(name) for name in ("group", "domain", "source", "reference")}
    return {"prompt": row.text("prompt"), **known}


def _line(row: Row) -> str:
    return row.where.rpartition(":")[2]


def _word(row: Row, field: str, words: Mapping[str, T]) -> T | None:
    """What a word in a field stands for; None where the field is absent or empty."""
    told = row.optional(field)
    if told is None:
        return None
    if told.lower() not in words:
        raise StimuliError(
            f"{row.where}: {row.names[field]} is {told[:60]!r}; it can be {', '.join(words)}"
        )
    return words[told.lower()]


FORMAT = Format(read)
