"""Files: the only writer, the only reader of each kind, the only check of their content.

A file is written whole or not at all; JSONL is read line by line, and a complaint names the line.
"""

import codecs
import glob
import gzip
import json
import os
import re
import stat
import sys
import time
import tomllib
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from unicodedata import category, normalize
from uuid import uuid4

from judgesheet.base.errors import JudgesheetError, RunError, StimuliError, UsageError
from judgesheet.base.limits import LONGEST_LINE, MOST_DEPTH, MOST_LINES, MOST_UNPACKED
from judgesheet.base.tally import Tally

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")


_DATABASE = b"SQLite format 3\0"
"""How every file of SQLite begins."""
_PART_OF_A_DOCUMENT = re.compile(r"^\s*[\]},:]|[\[{,:]\s*[\r\n]\Z")
"""A line that has another before or behind it in one JSON document: wherever a document is broken
into lines, it is behind one of `[{,:` or before one of `]},:`."""
_LINE_ENDS = re.compile(rb"\r\n?|\n")
_PART = ".part"
_DAY_S = 86_400.0

# -- writing ---------------------------------------------------------------------------------------


def refuse_existing(path: Path) -> None:
    """UsageError if a file with content is there.

    For what a user goes on to edit: stimuli, a policy. Reports are written anew.
    """
    if path.is_file() and path.stat().st_size:
        raise UsageError(f"{path} exists already: name another file, or overwrite it with --force")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that no reader ever sees half of it; RunError if it cannot be written."""
    _write(path, [content])


def remove(path: Path) -> None:
    """Remove a file that an earlier command wrote, if it is there."""
    path.unlink(missing_ok=True)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """As `write_whole`, lines of JSON one by one; errors of the iterable pass through.

    Halves of surrogate pairs, which UTF-8 lacks, are written as JSON escapes.
    """
    _write(path, _encoded(lines))


def write_packed(path: Path, lines: Iterable[str]) -> None:
    """As `write_lines`, packed by gzip without a time: the same lines are the same bytes."""
    _write(path, _packed(_encoded(lines)))


def _packed(parts: Iterable[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)  # with the head and the end of gzip
    yield from map(packer.compress, parts)
    yield packer.flush()


def _encoded(lines: Iterable[str]) -> Iterator[bytes]:
    return (f"{line}\n".encode("utf-8", "backslashreplace") for line in lines)


def _write(path: Path, parts: Iterable[bytes]) -> None:
    if path.is_dir():
        raise RunError(f"{path} is a folder: name a file in it")
    if _is_database(path):
        raise RunError(f"{path} is a database, perhaps the ledger of a run: name another file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if _is_device(path):
            with os.fdopen(_open_device(path), "wb") as device:
                device.writelines(parts)
        else:
            _replace(path, parts)
    except OSError as error:
        raise RunError(f"{path} cannot be written: {error.strerror}") from None


def _is_database(path: Path) -> bool:
    """Whether a file would be lost that is never written as a whole: paid replies, say."""
    if path.is_symlink() or not path.is_file():
        return False
    # What we may not read is no ledger of ours; whether we may write it, writing tells.
    with suppress(PermissionError), path.open("rb") as file:
        return file.read(len(_DATABASE)) == _DATABASE
    return False


def _open_device(path: Path) -> int:
    """Open a device for writing; OSError for a pipe without a reader, instead of waiting."""
    # Open at once or not at all; then writing may wait again.
    at_once = getattr(os, "O_NONBLOCK", 0)
    handle = os.open(path, os.O_WRONLY | at_once)
    if at_once:
        os.set_blocking(handle, True)
    return handle


def _is_device(path: Path) -> bool:
    """Whether this is a pipe, say, which no file may replace.

    A link counts only in the system's own folder (`/dev/stdout`): elsewhere somebody may have laid
    it so that we write where they point.
    """
    own = not path.is_symlink() or path.absolute().is_relative_to("/dev")
    return own and path.exists() and not (path.is_file() or path.is_dir())


def _replace(path: Path, parts: Iterable[bytes]) -> None:
    """Write beside the file and take its place, links included; its permissions are kept."""
    _remove_strays(path)
    part = path.with_name(f".{path.name}.{uuid4().hex[:8]}{_PART}")
    # Nobody may read it who may not enter its folder; who makes a folder says whose a run is.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(part, flags, 0o666 & path.parent.stat().st_mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
            with suppress(FileNotFoundError):  # there is no file to take the place of
                old = path.lstat()
                if stat.S_ISREG(old.st_mode):
                    part.chmod(stat.S_IMODE(old.st_mode))
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _remove_strays(path: Path) -> None:
    """Remove what a process left of this file that was killed more than a day ago."""
    for stray in path.parent.glob(f".{glob.escape(path.name)}.*{_PART}"):
        with suppress(OSError):
            if time.time() - stray.lstat().st_mtime > _DAY_S:
                stray.unlink()


# -- reading ---------------------------------------------------------------------------------------


class NoTextError(StimuliError):
    """A file is no text of the encoding that it should have."""


def numbered_lines(
    path: Path, longest: int = LONGEST_LINE, *, whole: int = sys.maxsize, encoding: str = ""
) -> Iterator[tuple[int, str]]:
    """(number from 1, line with its end) of a text file, gzipped if its name ends in `.gz`.

    It is UTF-8, or UTF-16 with a byte order mark, as Excel writes it, unless `encoding` says
    another. StimuliError if it cannot be read, or a line has more than `longest` characters, all
    lines together more than `whole`.
    """
    packed, name, number = path.suffix == ".gz", path.name, 0
    opened = gzip.open if packed else open
    try:
        with (
            opened(path, "rb") as content,
            TextIOWrapper(content, encoding=encoding or _encoding(content), newline="") as file,
        ):
            read, most = 0, 1_000_000 + MOST_UNPACKED * path.stat().st_size
            # Never more than the limit at once: a file without line ends would be held whole.
            for number, line in enumerate(iter(partial(file.readline, longest + 1), ""), start=1):
                read += len(line)
                if len(line) > longest:
                    raise StimuliError(
                        f"{name}:{number}: the line has more than {longest:,} characters; "
                        "split or drop it"
                    )
                if number > MOST_LINES or (packed and read > most):
                    raise StimuliError(
                        f"{name}:{number}: no file has more than {MOST_LINES:,} lines, and no "
                        f"packed one {MOST_UNPACKED} times its own size; split it"
                    )
                if read > whole:
                    raise StimuliError(
                        f"{name}:{number}: a file that is read as a whole has at most {whole:,} "
                        "characters; split it"
                    )
                yield number, line
    except UnicodeDecodeError as error:
        # What was read before ended within the next line.
        at = number + len(_LINE_ENDS.findall(error.object[: error.start])) + 1
        raise NoTextError(f"{name}:{at}: {_no_text(error)}") from None
    except (OSError, EOFError, zlib.error) as error:  # the last two: a packed file was cut off
        reason = getattr(error, "strerror", None) or error
        raise StimuliError(f"{path} cannot be read: {reason}") from None


def _encoding(content: Any) -> str:
    """That of a text file that is open at its beginning."""
    is_utf16 = content.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return "utf-16" if is_utf16 else "utf-8-sig"


def _no_text(error: UnicodeDecodeError) -> str:
    return f"not UTF-8 text ({error.reason}); save the file as UTF-8"


def kind_of(path: Path) -> str:
    """`jsonl`, `csv`, `parquet` or `xlsx`, by the name of the file without `.gz`."""
    inner = path.with_suffix("") if path.suffix == ".gz" else path
    kinds = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".xlsx": "xlsx"}
    return kinds.get(inner.suffix.lower(), "jsonl")


def records(
    path: Path,
    longest: int = LONGEST_LINE,
    tally: Tally | None = None,
    *,
    whole: int = sys.maxsize,
) -> Iterator[tuple[dict[str, Any], str]]:
    """(object, `file:line`) of every line of a JSONL file that is not blank.

    StimuliError as from `numbered_lines`, and if a line is not a JSON object; with a `tally` a few
    such lines are lost calls, noted there, unless they are parts of a longer document.
    """
    name = path.name
    for number, line in numbered_lines(path, longest, whole=whole):
        if line.isspace():
            continue
        where = f"{name}:{number}"
        try:
            record = record_of(line, where)
        except StimuliError as fault:
            if tally is None or _PART_OF_A_DOCUMENT.search(line):
                raise
            tally.add(fault, str(number))
            continue
        if tally is not None:
            tally.read += 1
        yield record, where
    if tally is not None:
        tally.refuse_many()


def record_of(line: str, where: str) -> dict[str, Any]:
    """The JSON object of a line; StimuliError, which names `where`, if it is not one."""
    try:
        record = decoded(line, unique=True)
    except ValueError as error:
        reason = str(error).split(":")[0]
        is_whole = line.endswith(("\n", "\r"))
        cut = "" if is_whole else ", and it is the last line: is the file complete?"
        problem = f"not JSON ({reason}); each line must be one object{cut}"
        raise StimuliError(f"{where}: {problem}") from None
    if not isinstance(record, dict):
        raise StimuliError(
            f"{where}: a JSON {type(record).__name__}, not an object; write one object per line, "
            "as `jq -c '.[]'` does with a list"
        )
    return record


def decoded(text: str, *, unique: bool = False) -> Any:
    """JSON; ValueError if it is invalid, or nested deeper than `MOST_DEPTH`.

    If `unique`, also where an object gives a name twice.
    """
    too_deep = ValueError(f"more than {MOST_DEPTH} nested lists and objects")
    try:
        value = _ONCE.decode(text) if unique else _of_json(text)
    except RecursionError:
        raise too_deep from None
    if len(text) > MOST_DEPTH and text.count("[") + text.count("{") > MOST_DEPTH:
        layer = [value]
        for _ in range(MOST_DEPTH):
            layer = [part for whole in layer for part in _parts_of(whole)]
        if any(isinstance(part, dict | list) for part in layer):
            raise too_deep
    return value


def _of_json(text: str) -> Any:
    try:
        return _fast_reader()(text)
    except ValueError:  # it reads no half of a surrogate pair
        return json.loads(text)


@cache  # an import in a function takes longer than reading a cell
def _fast_reader() -> Callable[[str], Any]:
    from pydantic_core import from_json  # in a third of the time, but it takes long to load

    return from_json


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        twice = next(name for name, n in Counter(name for name, _ in pairs).items() if n > 1)
        raise ValueError(f"{twice[:100]!r} is given twice in one object{_of_key(content)}")
    return content


_ONCE = json.JSONDecoder(object_pairs_hook=_named_once)


def _parts_of(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def text_of(path: Path, what: str, error: type[JudgesheetError]) -> str:
    """The text of a file; `error` says that `what` cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as fault:
        raise error(f"{what} {path} cannot be read: {fault.strerror}") from None
    except UnicodeDecodeError as fault:
        raise error(f"{what} {path} cannot be read: {_no_text(fault)}") from None


def toml(text: str, name: str, error: type[JudgesheetError]) -> dict[str, Any]:
    """The content of a TOML file called `name`; some editors begin it with a byte order mark."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as fault:  # a number of 5,000 digits is a ValueError alone
        raise error(f"{name} is not valid TOML: {fault}") from None


def checked(
    kind: type[T],
    content: Any,
    where: str,
    error: type[JudgesheetError],
    *,
    place: Sequence[str | int] = (),
    strict: bool = False,
) -> T:
    """The content of a file, or of a `place` in it, as a record; `strict`: no text is a number.

    Where it is none, `error` names the first fault and its field, with lists counted from 1.
    """
    from pydantic import ValidationError

    checks = adapter(kind)  # type: ignore[arg-type]  # hashable
    try:
        if strict:  # of the text: only there is a list as good as a tuple
            text = json.dumps(content, ensure_ascii=False)
            checks.validate_json(text.encode("utf-8", "replace"), strict=True)
        record: T = checks.validate_python(content)
    except ValidationError as faults:
        first, *others = faults.errors(include_url=False, include_input=False)
        said = _said(first, others)
        what = f"{where}: {said}{_of_key(content, *first['loc'])}"
        raise error(what).at(*place, *first["loc"]) from None
    return record


_FIELDS = {"missing": "lacks", "extra_forbidden": "has the unknown"}
"""Faults that concern a field as such; of these the names of all beside it are told."""


def _said(first: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> str:
    """The first fault and its place, with all fields that lack or are unknown there."""
    steps = [str(step + 1) if isinstance(step, int) else step for step in first["loc"]]
    if first["type"] not in _FIELDS or not steps:
        more = f" (and {len(others)} more)" if others else ""
        said = first["msg"].removeprefix("Value error, ")
        return f"{'.'.join(steps)}: {said}{more}" if steps else f"{said}{more}"
    *parents, _ = steps
    beside = [one for one in (first, *others) if one["loc"][:-1] == first["loc"][:-1]]
    named = {kind: [str(one["loc"][-1]) for one in beside if one["type"] == kind]
             for kind in _FIELDS}  # fmt: skip
    whats = [f"{_FIELDS[kind]} {', '.join(names)}" for kind, names in named.items() if names]
    return " ".join([*([".".join(parents)] if parents else []), " and ".join(whats)])


def _of_key(content: Any, *steps: str | int) -> str:
    """Which key the innermost object has that has one, on the way to a place in it."""
    key = None
    with suppress(LookupError, TypeError):
        for step in (None, *steps):
            content = content if step is None else content[step]
            key = content.get("key", key) if isinstance(content, dict) else key
    return f" (of {key[:200]})" if isinstance(key, str) else ""


@cache  # that of a datasheet takes 17 ms
def adapter(kind: Any) -> "TypeAdapter[Any]":
    """What checks content against a type, made once per type."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


# -- names -----------------------------------------------------------------------------------------


def slug(text: str, most: int = 56) -> str:
    """The text as part of a file name: letters and digits of any script, dots, and dashes between.

    What is longer loses its middle: names often begin alike and differ at their ends. A character
    has up to four bytes, a name 255 on most file systems, with what is put before and behind it.
    """
    signs = (c if c == "." or category(c)[0] in "LMN" else "-" for c in normalize("NFC", text))
    name = re.sub("-+", "-", "".join(signs)).strip("-.")
    if len(name) <= most:
        return name
    begins, ends = name[: most // 2].rstrip("-."), name[most // 2 + 1 - most :].lstrip("-.")
    return f"{begins}-{ends}"
