"""Opening the file of a ledger: who may use it, and what is said where it cannot be used."""

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Literal

from judgesheet.base.errors import DamagedError, InUseError, RunError
from judgesheet.base.limits import LARGEST_TEXT
from judgesheet.ledger.schema import SQL_FAULTS, distrust

_MAGIC = bytes.fromhex("d9d505f920a163d7")
"""The last bytes of a rollback journal that names a super-journal (https://sqlite.org/fileformat.html)."""


def free_name(directory: Path, why: str) -> Path:
    """A name beside a folder that nothing has: DIR.old-1, DIR.rescued-1."""
    parent, name = directory.parent, directory.name  # "." and "/" have none
    numbered = (parent / f"{name}.{why}-{number}" for number in count(1))
    return next(path for path in numbered if not path.exists())


def _connect(path: Path, mode: Literal["ro", "rw"]) -> sqlite3.Connection:
    """A connection that creates no file, follows no link and believes nothing that a file says."""
    reject_links(path)
    db = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=0.5,
        isolation_level=None,
        check_same_thread=False,
    )
    distrust(db)
    return db


def connect_to_read(path: Path) -> sqlite3.Connection:
    """A connection that cannot write; what a killed process left beside the ledger goes in first.

    Without the right to write, SQLite would need its shared memory and leave it there.
    """
    if any(_beside(path, end).exists() for end in ("-wal", "-journal")):
        with closing(connect_exclusively(path)) as db:
            db.execute("PRAGMA journal_mode = DELETE")
    return _connect(path, "ro")


def reject_links(path: Path) -> None:
    """RunError where opening the ledger would change or delete a file that lies elsewhere."""
    for end in ("", "-journal", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(_beside(path, end).lstat().st_mode):
                raise RunError(
                    f"{_beside(path, end)} is a link or no plain file, and may lead anywhere: "
                    "put a copy in its place"
                )
    with suppress(FileNotFoundError), _beside(path, "-journal").open("rb") as journal:
        journal.seek(-min(len(_MAGIC), os.fstat(journal.fileno()).st_size), os.SEEK_END)
        if journal.tell() and journal.read() == _MAGIC:
            raise RunError(
                f"{journal.name} names another file that SQLite would delete, and judgesheet "
                "writes no such journal: remove it"
            )


def _reject_other_names(path: Path) -> None:
    """RunError where the ledger or its log is a hard link, as `cp -l` makes them.

    The log lies under one name of the ledger and is not seen under another, which then loses what
    is in it, or what was written since.
    """
    for end in ("", "-journal", "-wal"):
        file = _beside(path, end)
        with suppress(FileNotFoundError):
            if file.lstat().st_nlink > 1:
                raise RunError(
                    f"{file} is a hard link: replies written under one name could be lost under "
                    "another; put a copy in its place"
                )


def _beside(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Keep everybody else from a ledger, which may be moved meanwhile; InUseError if it is in use.

    One that is missing or damaged is nobody's.
    """
    with one_sentence(path), ExitStack() as opened:
        try:
            db = opened.enter_context(closing(_connect(path, "rw")))
            # Out of WAL, or closing would delete what then lies under the old name.
            db.execute("PRAGMA locking_mode = EXCLUSIVE")
            db.execute("PRAGMA journal_mode = DELETE")
            db.execute("BEGIN EXCLUSIVE")
        except SQL_FAULTS as error:
            if error_code(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                raise
        yield


def connect_exclusively(path: Path) -> sqlite3.Connection:
    """A connection that locks the file against all others until it is closed.

    The exclusive mode must come before WAL: then SQLite needs no shared memory, and the ledger
    works on network file systems too (https://sqlite.org/wal.html#noshm).
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    reject_links(path)
    _reject_other_names(path)
    if not path.exists():  # another file that it is a hard link of keeps its time
        path.touch(mode=0o600)  # it holds every prompt and reply
    db = _connect(path, "rw")
    try:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("PRAGMA synchronous = FULL")
        # The first write takes the lock; take it now rather than after the first paid reply.
        db.execute("BEGIN IMMEDIATE")
        db.execute("COMMIT")
    except BaseException:
        db.close()
        raise
    return db


def is_empty(db: sqlite3.Connection) -> bool:
    """Whether nothing was written into the file yet."""
    return db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is None


def is_blank(path: Path) -> bool:
    """Whether who made the ledger ended before its plan was in it.

    One that cannot be read is not: whoever opens it says why.
    """
    with suppress(*SQL_FAULTS), closing(connect_to_read(path)) as db:
        return is_empty(db)
    return False


@contextmanager
def one_sentence(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and the system about `path` into a `RunError`."""
    try:
        yield
    except (*SQL_FAULTS, OSError) as error:
        raise _named(path, error) from error
    except UnicodeEncodeError as error:
        raise RunError(
            f"{path} cannot hold {error.object[:60]!r}: half a surrogate pair is not text"
        ) from error


def _named(path: Path, error: Exception) -> RunError:
    code = error_code(error)
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return InUseError(f"{path} is in use by another judgesheet: wait for it or stop it")
    if code == sqlite3.SQLITE_TOOBIG:
        return RunError(
            f"a text of {path} has more than {LARGEST_TEXT:,} bytes, as no prompt or reply has"
        )
    if code == sqlite3.SQLITE_FULL:
        return RunError(
            f"{path} cannot grow, the disk is full: make room and run the same command again"
        )
    if code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}:
        return RunError(f"{path} cannot be written ({error}): choose another --out")
    if code == sqlite3.SQLITE_IOERR:
        return RunError(f"{path} cannot be read or written ({error}): look after the disk")
    if isinstance(error, OSError):
        return RunError(f"{path} cannot be used ({error.strerror or error}): choose another --out")
    # A text that is no UTF-8 is quoted, and may be a reply.
    return damaged(path, f"{error}".partition(" with text")[0])


def damaged(path: Path, what: str) -> DamagedError:
    """What to raise where the ledger at `path` does not hold what it must."""
    return DamagedError(
        f"{path} is not a ledger, or is damaged ({what}): SQLite's .recover writes what can be "
        "read into another file (docs/ledger.md), the same probe with --fresh starts over"
    )


def error_code(error: BaseException | None) -> int:
    """SQLite's error code; the extended ones carry it in their low byte."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
