"""Files: the one writer, the one reader of JSONL, the one way to make a name that a file can have.

A file is written whole or not at all; a file is read line by line, and a complaint names the line.
"""

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from judgesheet.errors import RunError, StimuliError

MAX_LINE = 4_000_000
"""Characters a line may have; a longer one is no stimulus but an accident."""

# -- writing ---------------------------------------------------------------------------------------


def write_whole(path: Path, content: bytes) -> None:
    """Write a file of which no reader ever sees half.

    Raises
    ------
    RunError
        if it cannot be written.
    """
    _write(path, [content])


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines as they come, likewise; raises likewise, and what making the lines raises."""
    _write(path, (f"{line}\n".encode() for line in lines))


def _write(path: Path, parts: Iterable[bytes]) -> None:
    is_device = path.exists() and not path.is_file()  # a pipe, say, which no file may replace
    part = path if is_device else path.with_name(f".{path.name}.{uuid4().hex[:8]}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.writelines(parts)
        if not is_device:
            part.replace(path)
    except OSError as error:
        raise RunError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        if not is_device:
            with suppress(OSError):
                part.unlink(missing_ok=True)


# -- reading ---------------------------------------------------------------------------------------


def numbered_lines(path: Path, longest: int = MAX_LINE) -> Iterator[tuple[int, str]]:
    """(number from 1, line with its end) of a text file; `.gz` is read as it is.

    Raises
    ------
    StimuliError
        if the file cannot be read, or a line has more than `longest` characters.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
            # Never more than the limit at once: a file without line ends would be held whole.
            for number, line in enumerate(iter(lambda: file.readline(longest + 1), ""), start=1):
                if len(line) > longest:
                    raise StimuliError(
                        f"{path.name}:{number}: the line has more than {longest:,} characters; "
                        "split or drop it"
                    )
                yield number, line
    except UnicodeDecodeError as error:
        raise StimuliError(f"{path} is not UTF-8 text ({error.reason}); save it as UTF-8") from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise StimuliError(f"{path} cannot be read: {reason}") from None


def records(path: Path, longest: int = MAX_LINE) -> Iterator[tuple[dict[str, Any], str]]:
    """(object, `file:line`) of every line of a JSONL file that is not blank.

    Raises
    ------
    StimuliError
        as `numbered_lines` does, and if a line is no JSON object.
    """
    for number, line in numbered_lines(path, longest):
        if line.strip():
            where = f"{path.name}:{number}"
            yield _object(line, where), where


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = str(error).split(":")[0]
        raise StimuliError(f"{where}: not JSON ({reason}); each line must be one object") from None
    if not isinstance(record, dict):
        raise StimuliError(
            f"{where}: a JSON {type(record).__name__}, not an object; write one object per line, "
            "as `jq -c '.[]'` does with a list"
        )
    return record


# -- names -----------------------------------------------------------------------------------------


def slug(text: str) -> str:
    """The text as part of a file name: letters, digits, dots and dashes, with none at the ends."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.")
