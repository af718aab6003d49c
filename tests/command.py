"""The command line as its user meets it: what it prints, and its exit code."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from judgesheet.cli import main
from judgesheet.commands import publish
from judgesheet.sheet import FORMATS

Done = subprocess.CompletedProcess[str]


def run(*arguments: str | Path, cwd: Path | None = None, **environment: str) -> Done:
    """The command in this process, which need not load the libraries again."""
    words, handler, places = (
        list(map(str, arguments)),
        signal.getsignal(signal.SIGTERM),
        sys.path[:],
    )
    try:
        with chdir(cwd or Path.cwd()):
            done = CliRunner(env=environment, catch_exceptions=False).invoke(main, words)
    finally:
        signal.signal(signal.SIGTERM, handler)
        sys.path[:] = places
    return Done(words, done.exit_code, done.stdout, done.stderr)


def start(*arguments: str | Path, cwd: Path | None = None, **environment: str) -> Done:
    """The same in a process of its own, where the claim is about processes."""
    return subprocess.run(
        [sys.executable, "-m", "judgesheet", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONWARNINGS": "error::DeprecationWarning:judgesheet", **environment},
        timeout=300,
        check=False,
    )


@contextmanager
def with_pages() -> Iterator[None]:
    """Runs of this process write all pages, which tests else do without."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publish, "FORMATS", FORMATS)
        yield


def sentence(done: Done, code: int = 1) -> str:
    """The one line of an expected failure."""
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("judgesheet: ")]
    assert len(lines) == 1, done.stderr
    return lines[0]
