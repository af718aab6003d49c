"""The place of an open ledger, and where replies go when that place fails.

A folder is removed while a run writes there, or its disk is full. Replies that have come are paid
for: what cannot be written where it belongs is kept elsewhere, and found again by the next run.
"""

import json
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import IO, Any

from judgesheet.base.records import digest

ROOM_PER_REPLY = 64 * 1024
"""Bytes kept back for each reply that may be in flight: body, index and log of a usual one."""
ROOM_AT_LEAST = 1024 * 1024


class Place:
    """Where the files of an open ledger lie, as they were first seen, and room beside them."""

    def __init__(self, path: Path) -> None:
        path = path.absolute()  # a judge in Python may change the working folder
        self._path, self._log = path, path.with_name(f"{path.name}-wal")
        self._file = _identity(path)
        self._log_file: tuple[int, int] | None = None
        self._room: IO[bytes] | None = None

    @property
    def is_lost(self) -> bool:
        """Whether the ledger's name no longer leads to the file that is written to."""
        return _identity(self._path) != self._file

    @property
    def has_lost_log(self) -> bool:
        """The same of its write-ahead log, which is there after each commit."""
        found = _identity(self._log)
        self._log_file = self._log_file or found
        return found is None or found != self._log_file

    def forget_log(self) -> None:
        """Look at the log anew: it was made again."""
        self._log_file = None

    def reserve(self, size: int) -> None:
        """Keep so many bytes of the disk back; OSError if it has not so many."""
        self.release()
        # Nobody sees it by a name, and no kill leaves a file.
        room = TemporaryFile(buffering=0, dir=self._path.parent)  # noqa: SIM115
        try:
            _allocate(room, size)
        except OSError:
            room.close()
            raise
        self._room = room

    def release(self) -> bool:
        """Give the room back; whether there was any."""
        room, self._room = self._room, None
        if room is not None:
            room.close()
        return room is not None


def _allocate(room: IO[bytes], size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(room.fileno(), 0, size)
        return
    for _ in range(0, size, ROOM_PER_REPLY):
        room.write(bytes(ROOM_PER_REPLY))


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of the file that has this name; None if no file has it."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


# -- overflow --------------------------------------------------------------------------------------


class Overflow:
    """Where the replies to one ledger go that it cannot take: one file, and folders to try.

    Its name follows from the `key` of the run, which finds it again also where it was moved to.
    """

    def __init__(self, path: Path, key: str, named: Path | None) -> None:
        name = f"judgesheet-replies-{digest(key)[:24]}.jsonl"
        self.folders = [folder for folder in (named, Path(gettempdir())) if folder is not None]
        self._files = [folder / name for folder in (*self.folders, path.parent)]

    def keep(self, rows: Sequence[Sequence[Any]]) -> Path | None:
        """Add rows to the first file that takes all of them; None if there is no such place."""
        content = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
        for file in self._files:
            with suppress(OSError):
                _append(file, content)
                return file
        return None

    def found(self) -> Iterator[tuple[Path, list[list[Any]]]]:
        """What was kept, by file; a line that was not written whole is left out."""
        for file in self._files:
            try:
                rows = [*_rows(file)]
            except OSError:  # mostly because there is none
                continue
            yield file, rows


_FLAGS = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK"))
"""A pipe would be waited for; where a system lacks one of them, it has no such files either."""


def _append(file: Path, content: bytes) -> None:
    """All of it on disk, or the file as it was; OSError then."""
    handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | _FLAGS, 0o600)
    try:
        before = _own(handle)
        try:
            written = os.write(handle, content)
            if written != len(content):
                raise OSError("not all of it was written")
            os.fsync(handle)
        except OSError:
            os.ftruncate(handle, before)
            if not before:
                file.unlink()
            raise
    finally:
        os.close(handle)


def _rows(file: Path) -> Iterator[list[Any]]:
    handle = os.open(file, os.O_RDONLY | _FLAGS)
    with os.fdopen(handle, encoding="utf-8", errors="replace") as lines:
        _own(handle)
        for line in lines:
            with suppress(ValueError, RecursionError):
                row = json.loads(line)
                if isinstance(row, list):
                    yield row


def _own(handle: int) -> int:
    """The size of a file that nobody else can have laid there; OSError if somebody can.

    A file of ours with a second name may be one that somebody gave this name.
    """
    found = os.fstat(handle)
    is_ours = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    if not (stat.S_ISREG(found.st_mode) and is_ours and found.st_nlink == 1):
        raise PermissionError("it may be another user's")
    return found.st_size
