"""Files that are whole or not there: written beside the target, then renamed."""

from collections.abc import Iterable
from pathlib import Path
from uuid import uuid4

from judgesheet.errors import RunError


def write_whole(path: Path, content: bytes) -> None:
    """Write a file of which no reader ever sees half.

    Raises
    ------
    RunError
        if it cannot be written.
    """
    _write(path, [content])


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines as they come, likewise; raises likewise."""
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
            part.unlink(missing_ok=True)
