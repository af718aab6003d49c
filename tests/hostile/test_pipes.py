"""A pipe in the place of a file is written to where somebody reads it, and else not waited for."""

import os
import threading
from pathlib import Path

import pytest

from judgesheet.base.errors import RunError
from judgesheet.base.files import write_whole


def test_a_pipe_that_nobody_reads_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "datasheet.json"
    os.mkfifo(pipe)
    with pytest.raises(RunError):
        write_whole(pipe, b"new")


def test_a_pipe_that_is_read_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "out"
    os.mkfifo(pipe)
    content, read = b"x" * 1_000_000, b""  # more than a pipe holds
    handle = os.open(pipe, os.O_RDWR)
    write = threading.Thread(target=write_whole, args=(pipe, content))
    write.start()
    while len(read) < len(content):
        read += os.read(handle, 65_536)
    write.join()
    os.close(handle)
    assert read == content
