"""The command line in processes of its own: real ones, that are killed and end as a user's do.

They are forked from one that has loaded the libraries, so that a start takes milliseconds.
"""

import faulthandler
import multiprocessing
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from tempfile import TemporaryDirectory

LOADED = (
    *("judgesheet.cli", "judgesheet.commands.probing", "judgesheet.commands.publish"),
    *("judgesheet.commands.sweep_loop", "judgesheet.commands.progress"),
    *("judgesheet.judges.http", "judgesheet.judges.simulated", "judgesheet.judges.callable"),
    *("judgesheet.decide.provable", "judgesheet.collect.ingest", "judgesheet.importers"),
    *("judgesheet.sheet.html", "judgesheet.sheet.charts"),
    *("judgesheet.permutation_consensus.command", "pydantic", "asyncio"),
    "torture.processes",
)
INTERRUPTED = 130
CODES = {0, 1, 2, 3, 4, 5, INTERRUPTED}
"""The exit codes of the contract."""
FORGOTTEN = 255
"""What `multiprocessing` says of a process whose fork server ended before it could tell the code,
about one in a thousand; no command ends with it. A process as a shell starts it is asked then."""
LONGEST_S = 180.0
ROOT = Path(__file__).parent.parent
_SENTENCE = re.compile(r"^(judgesheet|Error): .|not complete[;:] .")
_TRACEBACK = re.compile(
    r"Traceback \(most recent call last\)|^Process .*:$|Warning: |: internal error \(", re.M
)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its code (negative: the signal), and what it printed."""

    code: int | None
    out: str
    err: str

    @property
    def has_traceback(self) -> bool:
        """Whether something was printed that is for developers."""
        return bool(_TRACEBACK.search(self.out + self.err))

    @property
    def has_sentence(self) -> bool:
        """Whether a failure says what is wrong, in one sentence or as the result of a check."""
        ours = [line for line in self.err.splitlines() if _SENTENCE.search(line)]
        is_result = not self.err and bool(self.out.strip())
        return self.code == 0 or len(ours) == 1 or (self.code in {1, 3, 4} and is_result)


class Running:
    """A process of the command line; a `fresh` one is started as a shell does, not forked."""

    def __init__(
        self,
        words: Sequence[str | Path],
        env: Mapping[str, str] | None = None,
        here: Path | None = None,
        *,
        fresh: bool = False,
    ) -> None:
        self._files = TemporaryDirectory(prefix="torture-")
        self._printed = [Path(self._files.name) / name for name in ("out", "err")]
        start = _started if fresh else _forked
        given = [str(word) for word in words]
        self._process = start(given, self._printed, dict(env or {}), here or self._files.name)
        self.pid = self._process.pid or 0

    @property
    def has_ended(self) -> bool:
        """Whether it has ended by now."""
        return self.wait(0)

    def wait(self, seconds: float) -> bool:
        """Wait at most so long; whether it has ended."""
        process = self._process
        if isinstance(process, subprocess.Popen):
            with suppress(subprocess.TimeoutExpired):
                process.wait(seconds)
            return process.poll() is not None
        process.join(seconds)
        return process.exitcode is not None

    def end(self) -> Ended:
        """Wait for the end; what hangs is killed, has no code, and says where each thread stood."""
        process, hangs = self._process, not self.wait(LONGEST_S)
        if hangs:
            process.kill()
            self.wait(LONGEST_S)
        code = process.returncode if isinstance(process, subprocess.Popen) else process.exitcode
        out, err = (
            path.read_bytes().decode("utf-8", "replace") if path.exists() else ""
            for path in self._printed
        )
        self._files.cleanup()
        return Ended(None if hangs else code, out, err)


def _started(
    words: list[str], printed: list[Path], env: dict[str, str], here: Path | str
) -> "subprocess.Popen[bytes]":
    out, err = (path.open("wb") for path in printed)
    with out, err:
        return subprocess.Popen(
            [sys.executable, "-m", "judgesheet", *words],
            stdout=out,
            stderr=err,
            cwd=here,
            env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        )


def _forked(
    words: list[str], printed: list[Path], env: dict[str, str], here: Path | str
) -> ForkServerProcess:
    process = _CONTEXT.Process(target=_run, args=(words, [*map(str, printed)], env, str(here)))
    process.start()
    return process


def judgesheet(
    *words: str | Path, env: Mapping[str, str] | None = None, here: Path | None = None
) -> Ended:
    """Run a command to its end."""
    ended = Running(words, env, here).end()
    return ended if ended.code != FORGOTTEN else Running(words, env, here, fresh=True).end()


def _run(words: list[str], printed: list[str], env: dict[str, str], here: str) -> None:
    """In the new process: what `judgesheet WORDS` does in a shell."""
    for number, path in enumerate(printed, start=1):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(handle, number)
        os.close(handle)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    os.environ.update(env)
    os.chdir(here)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    faulthandler.dump_traceback_later(LONGEST_S - 5, exit=False, file=sys.stderr)
    try:
        from judgesheet.cli import main

        main(words, prog_name="judgesheet")
    except KeyboardInterrupt:  # before it listens
        sys.exit(INTERRUPTED)


def _context() -> "multiprocessing.context.ForkServerContext":
    # Arrow's allocator would run a thread: what is forked while it holds a lock waits for ever.
    os.environ.setdefault("JE_ARROW_MALLOC_CONF", "background_thread:false")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*LOADED])
    return context


_CONTEXT = _context()
