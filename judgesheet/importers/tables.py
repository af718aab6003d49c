"""A file as a table, whatever wrote it: text with separators, JSON, Parquet or Excel.

`read_table` is the one way in. What a file means is not known here: cells stay as they are
written, so that `007` and `1e5` are words, and what is empty is missing.
"""

import csv
import math
import re
import zipfile
import zlib
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgesheet.base.digits import counted
from judgesheet.base.errors import MissingDependencyError, StimuliError
from judgesheet.base.files import NoTextError, decoded, numbered_lines, records
from judgesheet.base.limits import (
    LARGEST_BATCH,
    LARGEST_TABLE,
    LONGEST_DOCUMENT,
    LONGEST_LINE,
    MOST_COLUMNS,
    MOST_IN_A_LIST,
    MOST_LINES,
    MOST_UNPACKED,
)
from judgesheet.base.tally import Tally

if TYPE_CHECKING:
    from pandas import DataFrame

Records = Iterator[tuple[str, Mapping[str, Any]]]
"""Rows, each with its place: `file:line` or `file: record 3`."""

SEPARATED, LINES, DOCUMENT, PARQUET, EXCEL = "csv", "jsonl", "json", "parquet", "xlsx"
KINDS = (LINES, SEPARATED, PARQUET, DOCUMENT, EXCEL)
"""The kinds of files that are tables, as `--from` names them."""
DELIMITERS = ",;\t"
_SUFFIXES: Mapping[str, str] = {
    **dict.fromkeys((".csv", ".tsv"), SEPARATED),
    **dict.fromkeys((".jsonl", ".ndjson"), LINES),
    ".parquet": PARQUET,
    ".xlsx": EXCEL,
    ".xlsm": EXCEL,
}
_WRAPPERS = ("data", "results")
"""What holds the rows of a document that holds other things beside them."""
_SEPARATOR = re.compile(r"sep=(.)\s*\Z", re.IGNORECASE)
"""The first line of a file that is meant for Excel."""
_WITH_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
ANSI = "cp1252"
"""Windows-1252, as Excel still writes text in much of Europe."""
UNNAMED = "Unnamed: "
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
ALLOWANCE = 1_000_000
"""Bytes that a packed file may hold however small it is."""


def read_table(path: Path, kind: str | None = None, tally: Tally | None = None) -> "DataFrame":
    """All rows of a file, in columns of objects; the index is the place of each (`file:line`).

    Cells are text where the file is text, else what JSON, Parquet or Excel say; None is a missing
    one, such as an empty cell or a key that an object lacks. `kind` is one of `KINDS`, where the
    file itself does not show it. `attrs["remarks"]` are sentences on what was taken for granted.

    StimuliError names the line, the row or the record that cannot be read; a `tally` is for the
    lines of JSON that may be left out, as `files.records` has it.
    """
    kind = kind_of(path, kind)
    if kind == DOCUMENT:
        return table_of(document(path), path.name)
    style = Style()
    frame = _framed(stream(path, kind, tally, style), path.name)
    if style.encoding:
        frame.attrs["remarks"].append(f"{path.name} is not UTF-8: it was read as {style.encoding}")
    if style.delimiter != "," and (changed := _with_points(frame)):
        frame.attrs["remarks"].append(f"commas in {', '.join(changed)} were read as decimal points")
    return frame


def stream(
    path: Path, kind: str, tally: Tally | None = None, style: "Style | None" = None
) -> Records:
    """The rows of a file that is no document, one at a time, as they are written."""
    if kind == LINES:
        lines = records(path, tally=tally, whole=LARGEST_TABLE)
        return ((where, record) for record, where in lines)
    if kind == SEPARATED:
        return _separated(path, style or Style())
    return _parquet(path) if kind == PARQUET else _excel(path)


def kind_of(path: Path, said: str | None = None) -> str:
    """Which of `KINDS` a file is: as is `said`, by its first bytes, its name, or two of its lines.

    JSON may be lines, too.
    """
    if said in KINDS and said != DOCUMENT:
        return said
    try:
        with path.open("rb") as file:
            beginning = file.read(4)
    except OSError as error:
        raise StimuliError(f"{path} cannot be read: {error.strerror}") from None
    if beginning in (b"PK\x03\x04", b"PAR1"):
        return PARQUET if beginning == b"PAR1" else EXCEL
    if beginning == b"\xd0\xcf\x11\xe0":
        raise StimuliError(f"{path.name} is an old Excel file; save it as .xlsx, or as CSV")
    inner = path.with_suffix("") if path.suffix == ".gz" else path
    known = _SUFFIXES.get(inner.suffix.lower()) if said is None else None
    return known or (LINES if _is_lines(path) else DOCUMENT)


def _is_lines(path: Path) -> bool:
    """Whether a file has an object on each line: the first is one, and another follows."""
    lines = (line for _, line in numbered_lines(path, LONGEST_DOCUMENT) if line.strip())
    with suppress(ValueError):
        return isinstance(decoded(next(lines, "")), dict) and next(lines, None) is not None
    return False


def _framed(rows: Records, name: str) -> "DataFrame":
    """The table of these rows; a column that a row lacks is empty there."""
    from pandas import DataFrame

    places: list[str] = []
    columns: dict[str, list[Any]] = {}
    for number, (place, cells) in enumerate(rows):
        places.append(place)
        for column in [one for one in cells if one not in columns]:
            columns[column] = []
            _refuse_wide(name, len(columns))
        for column, cell in cells.items():
            known = columns[column]
            if len(known) < number:
                known += [None] * (number - len(known))
            known.append(present(cell))
    for column, known in [*columns.items()]:
        known += [None] * (len(places) - len(known))
        if column.startswith(UNNAMED) and _is_empty(known):  # of a delimiter too many
            del columns[column]
    frame = DataFrame(columns, index=places, dtype=object)
    frame.attrs["remarks"] = []
    return frame


def present(cell: Any) -> Any:
    """A cell, None where there is nothing in it: no text, or NaN, as pandas writes what lacks."""
    if isinstance(cell, str):
        return cell if cell and not cell.isspace() else None
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def _refuse_wide(name: str, columns: int) -> None:
    if columns > MOST_COLUMNS:
        raise StimuliError(
            f"{name} has more than {MOST_COLUMNS:,} columns; keep those that are needed"
        )


# -- JSON ------------------------------------------------------------------------------------------


def document(path: Path) -> Any:
    """What a file of one JSON document holds."""
    lines = numbered_lines(path, LONGEST_DOCUMENT, whole=LONGEST_DOCUMENT)
    return json_of("".join(line for _, line in lines), path.name)


def json_of(text: str, where: str) -> Any:
    """The content of a JSON text; StimuliError where it is none."""
    try:
        return decoded(text, unique=True)
    except ValueError as error:
        raise StimuliError(f"{where}: not JSON ({str(error).split(':')[0]})") from None


def table_of(content: Any, name: str) -> "DataFrame":
    """The table that a JSON document holds, in every shape that pandas writes.

    These are `records`, `split` (also MLflow's and Weights & Biases' tables), `index`, `columns`,
    `values`, `table` and lists by column; also such a table under `data`, `results` or the only
    name that holds a list of objects. Any other object is one row.
    """
    parts = _parts(content)
    where = f"{name}: record {{}}" if len(parts) > 1 or isinstance(content, list) else name
    rows = (
        (where.format(number), _record(part, where.format(number)))
        for number, part in enumerate(parts, start=1)
    )
    return _framed(rows, name)


def _record(part: Any, where: str) -> Mapping[str, Any]:
    if isinstance(part, list):  # `values`: pandas names columns without a name by their number
        return {str(number): cell for number, cell in enumerate(part)}
    if not isinstance(part, dict):
        raise StimuliError(f"{where}: a JSON {type(part).__name__}, not an object")
    return part


def _parts(content: Any) -> Sequence[Any]:
    """The records of a document."""
    if not isinstance(content, dict):
        return content if isinstance(content, list) else [content]
    values = [*content.values()]
    names, data = content.get("columns", ()), content.get("data", ())
    if _are(names, str | list) and _are(data, list):
        flat = [".".join(map(str, one)) if isinstance(one, list) else one for one in names]
        return _labelled(content.get("index"), [dict(zip(flat, row, strict=False)) for row in data])
    if wrapped := _wrapped(content):
        return _parts(wrapped)
    if (
        len(values) > 1
        and all(isinstance(one, list) for one in values)
        and _alike(map(len, values))
    ):
        return [dict(zip(content, row, strict=True)) for row in zip(*values, strict=True)]
    if _are(values, dict) and _alike(frozenset(one) for one in values):
        return _of_objects(content)
    return [content]


def _wrapped(content: Mapping[str, Any]) -> Any:
    """What holds the rows of a document, if it is one of its parts."""
    named = [content[name] for name in _WRAPPERS if isinstance(content.get(name), dict | list)]
    return next(iter(named or _only(one for one in content.values() if _are(one, dict))), None)


def _only(found: Iterable[Any]) -> list[Any]:
    several = [*islice(found, 2)]
    return several if len(several) == 1 else []


def _are(values: Any, kind: Any) -> bool:
    """Whether these are some, all of one kind."""
    return isinstance(values, list) and bool(values) and all(isinstance(v, kind) for v in values)


def _alike(values: Iterable[Any]) -> bool:
    return len(set(values)) == 1


def _of_objects(content: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Objects by column, as pandas writes by default, or by row.

    Rows mostly have numbers as names; else they are more than columns.
    """
    labels = [*next(iter(content.values()))]
    by_row = all(map(str.isdecimal, content)) and not all(map(str.isdecimal, labels))
    if not by_row and not all(map(str.isdecimal, labels)):
        by_row = len(content) >= len(labels)
    if by_row:
        return _labelled([*content], [dict(row) for row in content.values()])
    rows = [{name: column[label] for name, column in content.items()} for label in labels]
    return _labelled(labels, rows)


def _labelled(labels: Any, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with what names them, unless those are only numbers in their order."""
    if not isinstance(labels, list) or len(labels) != len(rows):
        return rows
    if [*map(str, labels)] == [*map(str, range(len(rows)))]:
        return rows
    return [{"index": label, **row} for label, row in zip(labels, rows, strict=True)]


# -- text with separators --------------------------------------------------------------------------


@dataclass
class Style:
    """How a text with separators is written; `encoding` is "" where it says itself, or is UTF-8."""

    encoding: str = ""
    delimiter: str = ","


def _separated(path: Path, style: Style) -> Records:
    """Rows of a text with a header; its separator is said, or splits the header most."""
    # Python's own limit, 131,072 characters, is less than a long response has.
    csv.field_size_limit(LONGEST_LINE)
    style.encoding = _encoding(path)
    lines = (line for _, line in numbered_lines(path, whole=LARGEST_TABLE, encoding=style.encoding))
    first, above = next(lines, ""), 1
    try:
        if said := _SEPARATOR.match(first):
            first, above = next(lines, ""), 2
        delimiter = said[1] if said else max(DELIMITERS, key=lambda one: len(_cells(first, one)))
        style.delimiter = delimiter
        header = _header(_cells(first, delimiter), path.name)
        # Not strict, a stray quotation mark would swallow lines without a word.
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        for cells in filter(any, reader):
            where = f"{path.name}:{reader.line_num + above}"
            if len(cells) != len(header):
                raise StimuliError(_uneven(where, cells, header, delimiter, reader, above))
            yield where, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise StimuliError(f"{path} cannot be read as CSV: {error}") from None


def _encoding(path: Path) -> str:
    """Windows-1252 if a text can only be that; "" if it says itself, or is UTF-8."""
    try:
        deque(numbered_lines(path), maxlen=0)
    except NoTextError as error:
        with suppress(NoTextError):
            ansi = (line for _, line in numbered_lines(path, encoding=ANSI))
            if not any(map(_CONTROL.search, ansi)):
                return ANSI
        raise error from None
    return ""


def _header(names: Sequence[str], file: str) -> list[str]:
    """The names of columns; one without a name is called as pandas calls it."""
    _refuse_wide(file, len(names))
    header = [name.strip() or f"{UNNAMED}{number}" for number, name in enumerate(names)]
    twice = sorted(name for name, times in Counter(header).items() if times > 1)
    if twice:
        raise StimuliError(f"{file}:1: the column {twice[0]!r} occurs twice")
    return header


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), [])


def _uneven(
    where: str, cells: list[str], header: list[str], delimiter: str, rest: Any, above: int
) -> str:
    """What is wrong with a row of too few or too many cells, and where `rest` has more of them."""
    others: list[str] = []
    with suppress(csv.Error, StimuliError):  # another fault, which is told when this is mended
        uneven = (f"{rest.line_num + above}" for row in rest if row and len(row) != len(header))
        others.extend(islice(uneven, MOST_IN_A_LIST))
    more = ", …" if len(others) == MOST_IN_A_LIST else ""
    also = f" (others: {', '.join(others)}{more})" if others else ""
    return (
        f"{where}: the header has {counted(len(header), 'column')}, and this line "
        f"{len(cells)}{also}; put quotation marks around a cell that holds a {delimiter!r}, or "
        "drop the line"
    )


def _with_points(frame: "DataFrame") -> list[str]:
    """Write decimal commas as points, in columns with no other commas; return their names.

    The orders `1,2` and `2,1` are no numbers: they hold the same digits.
    """
    changed = []
    for column in frame.columns:
        kinds = {cell for cell in frame[column] if cell is not None and "," in cell}
        parts = {frozenset(cell.split(",")) for cell in kinds}
        is_order = len(parts) == 1 < len(kinds)
        if kinds and all(map(_WITH_COMMA.fullmatch, kinds)) and not is_order:
            frame[column] = [cell and cell.replace(",", ".") for cell in frame[column]]
            frame[column] = frame[column].astype(object)
            changed.append(column)
    return changed


# -- tables with types -----------------------------------------------------------------------------


def _parquet(path: Path) -> Records:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise MissingDependencyError(
            f"{path.name} is Parquet, which pyarrow reads: pip install 'judgesheet[parquet]'"
        ) from None
    try:
        with path.open("rb") as opened:  # its name need not be UTF-8
            # Buffered column chunks: without them a row group, often the whole file, is held.
            file = parquet.ParquetFile(opened, pre_buffer=False, buffer_size=1 << 20)
            _refuse_wide(path.name, file.metadata.num_columns)
            if file.metadata.num_rows > MOST_LINES:
                raise StimuliError(f"{path.name} has more than {MOST_LINES:,} rows; split it")
            _refuse_large_rows(path, file.metadata)
            number = 0
            for batch in file.iter_batches(batch_size=64):  # a row can have megabytes
                if batch.nbytes > LARGEST_BATCH:
                    raise StimuliError(
                        f"{path.name}, after row {number:,}: 64 rows take {batch.nbytes:,} bytes; "
                        f"split or drop those of more than {LONGEST_LINE:,}"
                    )
                for record in batch.to_pylist():
                    number += 1
                    yield f"{path.name}:{number}", {name: _filled(c) for name, c in record.items()}
    # Cells may hold what Python has no value for: no UTF-8, more days than it counts.
    except (OSError, pa.ArrowException, UnicodeDecodeError, OverflowError) as error:
        reason = str(error).splitlines()[0]
        raise StimuliError(f"{path} cannot be read as Parquet: {reason}") from None


def _refuse_large_rows(path: Path, metadata: Any) -> None:
    """Refuse groups of rows that are too large on average, as the file says, before reading one."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    large = (one for one in groups if one.total_byte_size > LONGEST_LINE * max(one.num_rows, 16))
    for one in large:
        raise StimuliError(
            f"{path.name}: {one.num_rows:,} rows take {one.total_byte_size:,} bytes; split or drop "
            f"those of more than {LONGEST_LINE:,}"
        )


def _filled(cell: Any) -> Any:
    """A cell in which NaN, as pandas writes a missing number, is missing."""
    if isinstance(cell, dict):
        return {name: _filled(part) for name, part in cell.items()}
    if isinstance(cell, list):
        return [_filled(part) for part in cell]
    return present(cell)


def _excel(path: Path) -> Records:
    """Rows of the first sheet that holds any; the first of them is the header."""
    try:
        import openpyxl
    except ModuleNotFoundError:
        raise MissingDependencyError(
            f"{path.name} is an Excel file, which openpyxl reads: pip install 'judgesheet[excel]'"
        ) from None
    try:
        _refuse_unpacked(path)
        with path.open("rb") as opened:
            book = openpyxl.load_workbook(opened, read_only=True, data_only=True)
            for sheet in book.worksheets:
                sheet.reset_dimensions()  # what a file says of its size may be a lie
                rows = enumerate(sheet.iter_rows(values_only=True), start=1)
                filled = ((at, cells) for at, cells in rows if not _is_empty(cells))
                if head := next(filled, None):
                    yield from _of_sheet(path, head[1], filled)
                    return
    # Its parts are XML, of which strangers may write any.
    except _DAMAGES as error:
        raise StimuliError(f"{path} cannot be read as an Excel file: {error}") from None


_DAMAGES = (
    *(OSError, zipfile.BadZipFile, EOFError, zlib.error, SyntaxError),
    *(ValueError, LookupError, TypeError, AttributeError, RuntimeError),
)


def _of_sheet(
    path: Path, head: Sequence[Any], rows: Iterable[tuple[int, Sequence[Any]]]
) -> Records:
    width = max(at for at, name in enumerate(head, start=1) if present(name) is not None)
    header = _header(["" if name is None else str(name) for name in head[:width]], path.name)
    for number, cells in rows:
        where = f"{path.name}:{number}"
        if not _is_empty(cells[len(header) :]):
            raise StimuliError(f"{where}: a cell stands under no name of a column; name it")
        yield where, dict(zip(header, map(_plain, cells), strict=False))


def _is_empty(cells: Iterable[Any]) -> bool:
    return all(present(cell) is None for cell in cells)


def _plain(cell: Any) -> Any:
    """A cell of Excel as a word or a number; dates are words."""
    return cell if cell is None or isinstance(cell, str | int | float) else str(cell)


def _refuse_unpacked(path: Path) -> None:
    """Refuse an archive that says that it holds far more than its size; it never gives more."""
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
        is_excel = "[Content_Types].xml" in archive.namelist()
    if not is_excel:
        raise StimuliError(
            f"{path.name} is a ZIP archive, and neither an Excel file nor a log of Inspect: unpack "
            "it and name the file in it"
        )
    if size > min(LONGEST_DOCUMENT, ALLOWANCE + MOST_UNPACKED * path.stat().st_size):
        raise StimuliError(f"{path.name} unpacks to {size:,} bytes; save it as CSV")
