"""The table of a run's judgments, one row per call: Parquet where pyarrow is, else packed JSONL.

Both have the same columns. JSONL holds what a cell is; a column of Parquet is of one type, and one
that cannot be holds JSON.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, is_dataclass
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from judgesheet.axis import Readings
from judgesheet.base.files import remove, write_packed, write_whole
from judgesheet.ledger.run_directory import JUDGMENT_LINES, JUDGMENTS


def write_table(readings: Mapping[str, Readings], directory: Path) -> None:
    """Write the table in the one form, and remove what an earlier command left in the other."""
    table = judgments(readings)
    if _form() == JUDGMENTS:
        write_whole(directory / JUDGMENTS, as_parquet(table))
        remove(directory / JUDGMENT_LINES)
    else:
        write_packed(directory / JUDGMENT_LINES, as_lines(table))
        remove(directory / JUDGMENTS)


def _form() -> str:
    return JUDGMENTS if find_spec("pyarrow") else JUDGMENT_LINES


def judgments(readings: Mapping[str, Readings]) -> pd.DataFrame:
    """The table: a column for each part of a cell and of a reading.

    `value` is the reading, `score` the same where it is a number, `distribution` the second
    reading, from log-probabilities, as JSON, or the reason why there is none. `outcome` is how the
    call ended, as in `records.Answer.ended`: only what has a reading is `ok`.
    """
    table = pd.concat([read.every for read in readings.values()], ignore_index=True)
    answered_only = (table["outcome"] == "ok") & table["value"].isna()
    table["outcome"] = table["outcome"].mask(answered_only, "unreadable")
    if "distribution" in table:
        table["distribution"] = [_as_text(v) for v in table["distribution"]]
    numbers = [v if isinstance(v, int) else None for v in table["value"]]
    return table.assign(score=pd.array(numbers, dtype="Int64"))


def _as_text(value: Any) -> str | None:
    """A record as JSON, a text as it is; None for what is missing."""
    if is_dataclass(value) and not isinstance(value, type):
        return json.dumps(asdict(value))
    return value if isinstance(value, str) else None


# -- JSONL -----------------------------------------------------------------------------------------


def as_lines(table: pd.DataFrame) -> Iterator[str]:
    """The rows as JSON objects; what is missing is null."""
    cells = table.astype(object)
    cells = cells.where(cells.notna(), None)
    for row in cells.itertuples(index=False, name=None):
        yield json.dumps(dict(zip(cells, row, strict=True)), ensure_ascii=False)


# -- Parquet ---------------------------------------------------------------------------------------


def as_parquet(table: pd.DataFrame) -> bytes:
    """The table as a Parquet file; what is of several types, lists and readings are JSON."""
    made = table.copy(deep=False)
    for column in made:
        if column in ("order", "value") or not _is_of_one_type(made[column]):
            made[column] = _as_json(made[column])
    return made.to_parquet(index=False)


def _as_json(values: pd.Series) -> list[str | None]:
    """The values as JSON; what recurs as the same object is written once."""
    # By identity: equal cells are one object here, and comparing would take longer than writing.
    things = values.to_numpy(dtype=object)
    texts: dict[int, str | None] = {id(None): None}
    for thing in things:
        if id(thing) not in texts:
            texts[id(thing)] = json.dumps(thing)
    return [texts[id(thing)] for thing in things]


def _is_of_one_type(values: pd.Series) -> bool:
    """Whether a table can hold the values as they are; recorded cells may hold anything."""
    import pyarrow as pa
    from pyarrow.parquet import write_table

    try:
        array = pa.array(values, from_pandas=True)
        if pa.types.is_nested(array.type):  # an object without fields is an array, but no column
            write_table(pa.table({"values": array}), BytesIO())
    except (pa.ArrowException, OverflowError):  # the second: whole numbers of more than 64 bits
        return False
    return True
