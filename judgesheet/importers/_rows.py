"""Rows of a foreign file, one at a time: JSONL, CSV or Parquet, gzip or not.

Nothing here holds more than one row (one batch of a Parquet file), however long the file is.
"""

import csv
import gzip
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from judgesheet.errors import StimuliError
from judgesheet.files import MAX_LINE
from judgesheet.importers._piece import Row, Rows

BATCH = 64
"""Rows of a Parquet file that are held at once; a row can be long."""
BUFFER = 1 << 20
KINDS = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet"}
DELIMITERS = ",;\t"
HALVES = re.compile("[\ud800-\udfff]")


def kind_of(path: Path) -> str:
    """`jsonl`, `csv` or `parquet`, by the name of the file without `.gz`."""
    inner = path.with_suffix("") if path.suffix == ".gz" else path
    return KINDS.get(inner.suffix.lower(), "jsonl")


def rows(path: Path, kind: str) -> Rows:
    """(where, record) of every row.

    Halves of surrogate pairs, which no UTF-8 file can hold, become U+FFFD.

    Raises
    ------
    StimuliError
        one sentence that names the file, and the line where there is one.
    """
    read = {"jsonl": _jsonl, "csv": _csv, "parquet": _parquet}[kind]
    try:
        for number, row in read(path):
            yield f"{path.name}:{number}", row
    except UnicodeDecodeError as error:
        raise StimuliError(
            f"{path} is not UTF-8 text ({error.reason}); save it as UTF-8, or name the format "
            "that it has"
        ) from None
    except csv.Error as error:
        raise StimuliError(f"{path} is no CSV file that can be read: {error}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise StimuliError(f"{path} cannot be read: {error}") from None


def _opened(path: Path, encoding: str = "utf-8-sig") -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding=encoding, newline="")
    return path.open(encoding=encoding, newline="")


def _lines(path: Path, file: IO[str]) -> Iterator[tuple[int, str]]:
    """Numbered lines; a line beyond the limit is refused before it is read whole."""
    number = 0
    while line := file.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            raise StimuliError(
                f"{path.name}:{number}: the line has more than {MAX_LINE:,} characters; "
                "split or drop it"
            )
        yield number, line


def _jsonl(path: Path) -> Iterator[tuple[int, Row]]:
    with _opened(path) as file:
        for number, line in _lines(path, file):
            if line.strip():
                yield number, _object(line, f"{path.name}:{number}")


def _object(line: str, where: str) -> Row:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = str(error).split(":")[0]
        record = None
    else:
        reason = f"it is a JSON {type(record).__name__}"
    if isinstance(record, list):
        reason += "; write one object a line, as `jq -c '.[]'` does"
    if not isinstance(record, dict):
        raise StimuliError(f"{where}: not a JSON object ({reason})")
    return _clean(record) if "\\u" in line else record


def _clean(found: Any) -> Any:
    if isinstance(found, str):
        return HALVES.sub("\ufffd", found)
    if isinstance(found, dict):
        return {_clean(key): _clean(part) for key, part in found.items()}
    if isinstance(found, list):
        return [_clean(part) for part in found]
    return found


def _csv(path: Path) -> Iterator[tuple[int, Row]]:
    """Rows of a CSV file with a header; the delimiter is the one that splits the header most."""
    csv.field_size_limit(MAX_LINE)
    with _opened(path) as file:
        lines = (line for _, line in _lines(path, file))
        first = next(lines, "")
        delimiter = max(DELIMITERS, key=lambda mark: len(next(csv.reader([first], delimiter=mark))))
        header = [name.strip() for name in next(csv.reader([first], delimiter=delimiter))]
        _refuse_header(path, header)
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        for cells in reader:
            where = reader.line_num + 1
            if len(cells) != len(header) and cells:
                raise StimuliError(
                    f"{path.name}:{where}: {len(cells)} cells under {len(header)} columns; "
                    f"the delimiter taken from the header is {delimiter!r}"
                )
            if cells:
                yield where, dict(zip(header, cells, strict=True))


def _refuse_header(path: Path, header: list[str]) -> None:
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise StimuliError(f"{path.name}:1: the column {twice[0]!r} stands there twice")


def _parquet(path: Path) -> Iterator[tuple[int, Row]]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        # Buffered column chunks: without them a row group, often the whole file, is held at once.
        file = parquet.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER)
        number = 0
        for batch in file.iter_batches(batch_size=BATCH):
            for row in batch.to_pylist():
                number += 1
                yield number, row
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise StimuliError(f"{path} is no Parquet file that can be read: {reason}") from None
