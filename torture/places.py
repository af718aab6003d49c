"""Where a run lies, while it is under way: folders that go, disks that fill up, other releases."""

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer

from torture.books import balance
from torture.faults import ASKED, MODEL
from torture.page import Table
from torture.processes import Ended, Running
from torture.server import Asked, Given, Server, answer, serving

HALF = 30
"""Requests until it happens, of 78."""
SMALL = "4m"


@dataclass(slots=True)
class Scene:
    """A run that is under way: its server, its folder, and what it has found to be wrong."""

    server: Server
    run: Path
    ended: list[Ended] = field(default_factory=list)
    running: Running | None = None
    wrong: list[str] = field(default_factory=list)

    def probe(self, code: int, *more: str, run: Path | None = None) -> None:
        """Start or go on with a run, to its end, which must have this code and one sentence."""
        self.running = self.start(*more, run=run)
        ended = self.running.end()
        self.ended.append(ended)
        if ended.code != code or not ended.has_sentence or ended.has_traceback:
            self.wrong.append(f"{ended.code} instead of {code}: {ended.err[-300:]}")

    def start(self, *more: str, run: Path | None = None) -> Running:
        """Start the same command, and do not wait."""
        asked = ("--model", MODEL, "--base-url", self.server.url, *ASKED, "--concurrency", "4")
        words = ("probe", *asked, *more, "--out", str(run or self.run))
        return Running(words, {"TMPDIR": str(self.run.parent)})

    def once(self, act: Callable[[], object]) -> None:
        """Have it happen while the judge is being asked."""

        def script(asked: Asked) -> Given:
            if asked.number == HALF:
                act()
            given = answer(asked)
            return Given([0.02, *given.pieces], given.kind, given.verdict, given.tokens)

        self.server.script = script

    def require(self, *, holds: bool, what: str) -> None:
        """Note what is not as announced."""
        if not holds:
            self.wrong.append(what)


Play = Callable[[Scene], Path]
"""What happens; where the whole run lies in the end."""


# -- folders that go -------------------------------------------------------------------------------


def _gone(act: Callable[[Path], object]) -> Play:
    def play(scene: Scene) -> Path:
        scene.once(lambda: act(scene.run))
        scene.probe(1)
        rescued = scene.run.with_name("run.rescued-1")
        scene.require(holds=str(rescued) in scene.ended[-1].err, what="nobody said where")
        scene.probe(0, run=rescued)
        return rescued

    return play


def _log_gone(scene: Scene) -> Path:
    scene.once(lambda: _unlink(scene.run, "ledger.sqlite-wal"))
    scene.probe(0)
    return scene.run


def _unlink(run: Path, pattern: str) -> None:
    for file in run.glob(pattern):
        file.unlink()


def _replaced(run: Path) -> None:
    run.rename(run.with_name("elsewhere"))
    run.mkdir()


# -- disks -----------------------------------------------------------------------------------------


@contextmanager
def _small_disk(place: Path) -> Iterator[Path]:
    """A disk of its own, where this machine lets us have one."""
    place.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(place)]
    subprocess.run(mounting, check=True)
    try:
        yield place
    finally:
        unmounting = ["umount", str(place)]
        subprocess.run(unmounting, check=True)


def _fill(disk: Path) -> Path:
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4096)):
            pass
    return ballast


def _full_from_the_start(scene: Scene) -> Path:
    with _small_disk(scene.run.parent / "disk") as disk:
        _fill(disk)
        for _ in range(3):
            scene.probe(1, run=disk / "run")
        scene.require(holds=not scene.server.log, what="it asked on a full disk")
    scene.probe(0)
    return scene.run


def _full_half_way(scene: Scene) -> Path:
    with _small_disk(scene.run.parent / "disk") as disk:
        run = disk / "run"
        scene.once(lambda: _fill(disk))
        scene.probe(1, run=run)
        (disk / "ballast").unlink()
        shutil.copytree(run, scene.run)
    scene.probe(0)
    return scene.run


def _cannot_grow(scene: Scene) -> Path:
    """As a quota does it: there is room elsewhere, but not in this file."""

    def limit() -> None:
        assert scene.running is not None  # noqa: S101
        size = (scene.run / "ledger.sqlite-wal").stat().st_size
        resource.prlimit(scene.running.pid, resource.RLIMIT_FSIZE, (size, size))

    scene.once(limit)
    scene.probe(1)
    kept = list(scene.run.parent.glob("judgesheet-replies-*"))
    scene.require(holds=len(kept) == 1, what="no replies lie elsewhere")
    scene.probe(0)
    scene.require(holds=not any(file.exists() for file in kept), what="they lie there still")
    return scene.run


# -- other releases --------------------------------------------------------------------------------

OLDER = """
DROP VIEW answer;
ALTER TABLE attempt DROP COLUMN finish_reason;
UPDATE meta SET value = '2' WHERE key = 'schema_version';
"""
NEWER = "UPDATE meta SET value = '99' WHERE key = 'schema_version';"


def _change(run: Path, statements: str) -> None:
    with closing(sqlite3.connect(run / "ledger.sqlite")) as db:
        db.executescript(statements)


def _refused(statements: str, *more: str) -> Play:
    def play(scene: Scene) -> Path:
        scene.probe(5, "--max-calls", str(HALF))
        whole = (scene.run / "ledger.sqlite").read_bytes()
        _change(scene.run, statements)
        before, asked = (scene.run / "ledger.sqlite").read_bytes(), len(scene.server.log)
        scene.probe(1, *more)
        after = (scene.run / "ledger.sqlite").read_bytes()
        scene.require(holds=after == before, what="a refused ledger was changed")
        scene.require(holds=len(scene.server.log) == asked, what="it asked before it refused")
        (scene.run / "ledger.sqlite").write_bytes(whole)
        scene.probe(0)
        return scene.run

    return play


def _two_at_once(scene: Scene) -> Path:
    """The second is refused at once, while the first waits for an answer."""
    others: list[Ended] = []
    scene.once(lambda: others.append(scene.start().end()))
    scene.probe(0)
    refused = [ended.code == 1 and "in use" in ended.err for ended in others]
    scene.require(holds=refused == [True], what=f"the second was not refused: {others}")
    return scene.run


def _stopped(scene: Scene) -> Path:
    """As by Ctrl-Z, for longer than a call may take; what is asked is answered meanwhile."""

    def stop() -> None:
        assert scene.running is not None  # noqa: S101
        pid = scene.running.pid
        os.kill(pid, signal.SIGSTOP)
        Timer(3, os.kill, (pid, signal.SIGCONT)).start()

    scene.once(stop)
    scene.probe(0, "--timeout", "2")
    return scene.run


PLAYS: dict[str, Play] = {
    "the folder is removed": _gone(shutil.rmtree),
    "the ledger is removed": _gone(lambda run: _unlink(run, "ledger.sqlite")),
    "the ledger and its log are removed": _gone(lambda run: _unlink(run, "ledger.sqlite*")),
    "the folder is moved and made anew": _gone(_replaced),
    "the ledger's log is removed": _log_gone,
    "the disk is full from the start": _full_from_the_start,
    "the disk fills up half way": _full_half_way,
    "the ledger cannot grow any more": _cannot_grow,
    "an older ledger and another plan": _refused(OLDER, "--seed", "9"),
    "an older ledger and another judge": _refused(OLDER, "--extra-body", '{"top_p": 0.5}'),
    "a newer ledger": _refused(NEWER),
    "the same command a second time": _two_at_once,
    "the process stands still for longer than its timeout": _stopped,
}
_NEEDS_ROOT = ("the disk is full from the start", "the disk fills up half way")


def play(act: Play) -> tuple[int, int, int, list[str]]:
    """Requests, replies lost, calls asked twice, and what else was wrong."""
    with TemporaryDirectory(prefix="torture-") as folder, ExitStack() as stack:
        server = stack.enter_context(serving(answer))
        scene = Scene(server, Path(folder) / "run")
        run = act(scene)
        books = balance(run, server.log)
        return books.requests, books.lost, books.twice, [*scene.wrong, *books.differs]


def table(fewer: int, jobs: int) -> Table:
    """What happened to the place of a run, one after the other: some change the whole process."""
    del jobs
    made = Table(["during a run", "requests", "lost", "asked twice", "not as announced"])
    chosen = [name for name in PLAYS if os.geteuid() == 0 or name not in _NEEDS_ROOT]
    made.after = (
        ""
        if len(chosen) == len(PLAYS)
        else f"Left out, for want of root: {', '.join(_NEEDS_ROOT)}."
    )
    for name in chosen[::fewer]:
        requests, lost, twice, wrong = play(PLAYS[name])
        made.add(name, requests, *map(made.nought, (lost, twice, len(wrong))))
        made.notes += [f"{name}: {what}" for what in wrong]
    return made
