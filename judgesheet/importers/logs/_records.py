"""The records of any file: lines, rows of a table, a JSON document, an archive of Inspect.

Every size is bounded: no line, document or member of an archive is held beyond its limit, whatever
its packed size or its header says.
"""

import sys
import zipfile
import zlib
from collections.abc import Iterator
from io import BufferedIOBase, BytesIO
from pathlib import Path
from typing import IO, Any

from judgesheet.base.errors import StimuliError
from judgesheet.base.files import decoded, kind_of, numbered_lines
from judgesheet.base.limits import LONGEST_DOCUMENT, MOST_MEMBERS, MOST_UNPACKED
from judgesheet.base.tally import Tally
from judgesheet.importers._rows import Row, read_rows

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ALLOWANCE = 1_000_000
"""Bytes that a packed member may hold however small it is."""
ZSTD = 93
"""The number of this way to pack in a ZIP archive; Python's own reader knows it from 3.14."""


def raw(path: Path, kind: str | None = None, tally: Tally | None = None) -> Iterator[Row]:
    """Every record of a file in its own form; `kind` says which file it is, if the name does not.

    A StimuliError names the line, the record or the member; a `tally` is for lines that are none.
    """
    if kind in ("csv", "parquet", "jsonl"):
        return read_rows(path, kind, tally)
    beginning = _beginning(path)
    if beginning.startswith(b"PK\x03\x04"):
        return _archived(path)
    if kind is None and (beginning.startswith(b"PAR1") or kind_of(path) != "jsonl"):
        return read_rows(path, "parquet" if beginning.startswith(b"PAR1") else kind_of(path))
    return read_rows(path, "jsonl", tally) if _is_lines(path) else _document(path)


def _beginning(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(4)
    except OSError as error:
        raise StimuliError(f"{path} cannot be read: {error.strerror}") from None


def _is_lines(path: Path) -> bool:
    """Whether a file has an object on each line: by its name, or because two lines are some."""
    if {".jsonl", ".ndjson"} & set(path.suffixes):
        return True
    lines = (line for _, line in numbered_lines(path, LONGEST_DOCUMENT) if line.strip())
    try:
        return isinstance(decoded(next(lines, "")), dict) and next(lines, None) is not None
    except ValueError:
        return False


def _document(path: Path) -> Iterator[Row]:
    parts, size = [], 0
    for number, line in numbered_lines(path, LONGEST_DOCUMENT):
        parts.append(line)
        size += len(line)
        if size > LONGEST_DOCUMENT:
            raise StimuliError(
                f"{path.name}:{number}: no JSON document has more than {LONGEST_DOCUMENT:,} "
                "characters; write one object per line, as `jq -c '.[]'` does with a list"
            )
    yield from _listed(_decoded("".join(parts), path.name), path.name)


def _listed(content: Any, name: str) -> Iterator[Row]:
    """The objects of a list, or the one object of a document."""
    for number, record in enumerate(content if isinstance(content, list) else [content], start=1):
        where = f"{name}: record {number}" if isinstance(content, list) else name
        if not isinstance(record, dict):
            raise StimuliError(f"{where}: a JSON {type(record).__name__}, not an object")
        yield Row(where, record)


def _decoded(text: str, where: str) -> Any:
    try:
        return decoded(text, unique=True)
    except ValueError as error:
        raise StimuliError(f"{where}: not JSON ({str(error).split(':')[0]})") from None


# -- archives --------------------------------------------------------------------------------------


# Of the archive, of what Python's reader unpacks or knows not.
_DAMAGES = (
    *(OSError, zipfile.BadZipFile, EOFError, zlib.error, zstd.ZstdError),
    *(ValueError, RuntimeError),
)


def _archived(path: Path) -> Iterator[Row]:
    """Every sample of an archive of Inspect, with `eval` and `status` of the head of the log."""
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            infos = archive.infolist()
            if len(infos) > MOST_MEMBERS:
                raise StimuliError(f"{path.name} has more than {MOST_MEMBERS:,} members; split it")
            by_name = {info.filename: info for info in infos}
            head = by_name.get("header.json") or by_name.get("_journal/start.json")
            if head is None:
                raise StimuliError(
                    f"{path.name} is a ZIP archive without header.json, so it is not a log of "
                    "Inspect; unpack "
                    "it and name the file in it"
                )
            cells = _member(path, file, archive, head).cells
            top = {name: cells.get(name) for name in ("eval", "status")}
            for info in infos:
                if info.filename.startswith("samples/") and info.filename.endswith(".json"):
                    sample = _member(path, file, archive, info)
                    yield Row(sample.where, {**sample.cells, **top})
    except _DAMAGES as error:
        raise StimuliError(f"{path} cannot be read as a ZIP archive: {error}") from None


def _member(path: Path, file: IO[bytes], archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Row:
    where = f"{path.name}: {info.filename[:200]}"
    # What an archive says of the size of a member may be a lie: only reading tells.
    most = min(LONGEST_DOCUMENT, ALLOWANCE + MOST_UNPACKED * info.compress_size)
    packed = _zstd(file, info) if info.compress_type == ZSTD else archive.open(info)
    with packed as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise StimuliError(
            f"{where}: no sample has more than {LONGEST_DOCUMENT:,} characters, and none more than "
            f"{MOST_UNPACKED} times its packed size; drop it"
        )
    try:
        text = bytes(content).decode("utf-8")
    except UnicodeDecodeError as error:
        raise StimuliError(f"{where}: not UTF-8 text ({error.reason})") from None
    return next(_listed(_decoded(text, where), where), Row(where, {}))


def _zstd(file: IO[bytes], info: zipfile.ZipInfo) -> BufferedIOBase:
    """A member that was packed with Zstandard."""
    file.seek(info.header_offset)
    head = file.read(30)  # of which the last four bytes are the lengths of two fields behind it
    skip = int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
    file.seek(info.header_offset + 30 + skip)
    packed = BytesIO(file.read(info.compress_size))
    return zstd.ZstdFile(packed)
