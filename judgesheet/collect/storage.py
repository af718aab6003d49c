"""For stage two: a folder that all workers see, on a shared disk or in an object store.

An object store locks nothing, appends nothing, and replaces an object as a whole or not at all. So
all that is done here is to create a small object that was not there, to replace one, to list, to
read and to remove. How, fsspec knows, with the credentials in the environment of each machine.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from judgesheet.base.errors import JudgesheetError, MissingDependencyError, RunError, UsageError
from judgesheet.judges.redaction import is_token, of_environment, without_userinfo

LARGEST = 100_000_000
"""Bytes that are read of an object: nobody wrote one of more."""
READ_AT_ONCE = 32_000_000
"""Bytes of several objects that are read together, which takes as long as to read one."""
PAUSES_S = (1.0, 3.0)
"""Before writing is tried for the second and for the last time."""


Mode = Literal["create", "overwrite"]


@dataclass(frozen=True, slots=True)
class Folder:
    """`path` within `root`, an absolute path of a disk or an address that fsspec knows."""

    root: str
    path: str = ""

    def __str__(self) -> str:
        return "/".join(part.rstrip("/") for part in (self.root, self.path) if part)

    def within(self, name: str) -> "Folder":
        """A folder in this one."""
        return Folder(self.root, f"{self.path}/{name}".lstrip("/"))

    def make(self) -> None:
        """Make the folder on a disk; elsewhere a folder is the objects in it.

        There, making one could make a bucket, for which nobody asked.
        """
        fs, path = self._opened()
        if _is_disk(fs):
            with self._in_one_sentence("written"):
                fs.makedirs(path, exist_ok=True)

    def listed(self) -> dict[str, int | None]:
        """Names in it, with the size in bytes of an object, None for a folder; no links."""
        fs, path = self._opened()
        fs.invalidate_cache()
        try:
            with self._in_one_sentence("listed"):
                there = fs.ls(path, detail=True)
        except FileNotFoundError:
            return {}
        return {
            one["name"].rstrip("/").rpartition("/")[2]: one["size"]
            if one["type"] == "file"
            else None
            for one in there
            if one["type"] in {"file", "directory"}
        }

    def create(self, name: str, content: bytes) -> bool:
        """Whether the object was made by us: of several who try, one makes it."""
        try:
            self._write(name, content, "create")
        except FileExistsError:
            return False
        return True

    def replace(self, name: str, content: bytes) -> None:
        """Write an object, which is durable when this returns; RunError after the third try."""
        self._write(name, content, "overwrite")

    def read(self, names: Sequence[str]) -> Iterator[bytes]:
        """The contents of objects, as far as they go; those that are not there are left out."""
        fs, path = self._opened()
        with self._in_one_sentence("read"):
            paths = [f"{path}/{name}" for name in names]
            for content in fs.cat_ranges(paths, 0, LARGEST) if paths else ():
                if isinstance(content, bytes):
                    yield content
                elif not isinstance(content, FileNotFoundError):
                    raise content

    def remove(self) -> None:
        """Remove the folder and all that is in it, if it is there."""
        fs, path = self._opened()
        fs.invalidate_cache()
        with suppress(FileNotFoundError), self._in_one_sentence("removed"):
            fs.rm(path, recursive=True)

    def _write(self, name: str, content: bytes, mode: Mode) -> None:
        fs, path = self._opened()
        for pause_s in (*PAUSES_S, None):
            try:
                with self._in_one_sentence("written"):
                    _write(fs, f"{path}/{name}", content, mode)
                return
            except FileNotFoundError as error:
                raise RunError(f"there is no {self} to write to ({error})") from None
            except RunError:
                if pause_s is None:
                    raise
                time.sleep(pause_s)

    def _opened(self) -> tuple[Any, str]:
        fs, root = _opened(self.root)
        return fs, f"{root}/{self.path}".rstrip("/")

    @contextmanager
    def _in_one_sentence(self, done: str) -> Iterator[None]:
        """RunError for whatever else went wrong: every file system has errors of its own."""
        try:
            yield
        except (FileNotFoundError, FileExistsError, JudgesheetError):
            raise
        except Exception as error:
            raise RunError(
                f"{self} cannot be {done} ({_said(error)}): look after the storage and this "
                "machine's access to it, then run the same command again"
            ) from None


def require_no_secret(address: str) -> None:
    """UsageError for an address that holds a credential, or leads through another address.

    A name before the host is allowed: it is a user, or a container of Azure's.
    """
    _, is_address, place = address.partition("://")
    user = place.partition("/")[0].rpartition("@")[0]
    if "::" in address or (is_address and ("?" in place or ":" in user or is_token(user))):
        raise UsageError(
            "--shards is a folder, or an address such as s3://BUCKET/FOLDER with no credential in "
            "it, which would be written down: put that into the environment of each machine"
        )


@cache
def _opened(root: str) -> tuple[Any, str]:
    """The file system of an address, and what it calls that place."""
    try:
        from fsspec import filesystem
        from fsspec.core import url_to_fs

        if "://" not in root:
            return filesystem("file"), root.rstrip("/")
        fs, path = url_to_fs(root)
    except ImportError as error:
        raise MissingDependencyError(
            f"workers wrote, or are to write, to {root}: pip install 'judgesheet[ray]' and what "
            f"fsspec needs for such an address, on every machine ({_said(error)})"
        ) from None
    except Exception as error:
        raise RunError(f"{root} cannot be opened ({_said(error)}): check the address") from None
    return fs, fs._strip_protocol(path).rstrip("/")  # noqa: SLF001


def _write(fs: Any, path: str, content: bytes, mode: Mode) -> None:
    """Write an object as a whole, in one request where the file system has its own way to."""
    from fsspec import AbstractFileSystem

    if getattr(fs.pipe_file, "__func__", None) is not AbstractFileSystem.pipe_file:
        fs.pipe_file(path, content, **({"mode": mode} if mode == "create" else {}))
        return
    # The one that all inherit looks whether there is an object, and then creates it all the same.
    with fs.open(path, "xb" if mode == "create" else "wb") as file:
        file.write(content)
        if _is_disk(fs):
            file.flush()
            os.fsync(file.fileno())


def _is_disk(fs: Any) -> bool:
    return bool(getattr(fs, "local_file", False))


def _said(error: Exception) -> str:
    """What an error says, without addresses' queries: they may be signed."""
    said = without_userinfo(of_environment()(str(error))).strip().partition("\n")[0]
    return " ".join(word.partition("?")[0] for word in said.split())[:300] or type(error).__name__
