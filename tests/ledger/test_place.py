"""Nothing that was paid for is lost when the folder of a run goes, or its disk is full."""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

import judgesheet
from judgesheet.base.errors import RunError
from judgesheet.collect.collect import Progress
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.place import Overflow, Place
from judgesheet.ledger.run_directory import LEDGER
from tests.judges.loopback import Answer, Server, completion, serving

MODEL = "openai-compatible/m"
ASKED: dict[str, Any] = {"axes": ["score_order"], "profile": "smoke", "pdf": False, "cases": False}
CALLS = 78


def soon(*_: object) -> Answer:
    """A reply that leaves time to look at the folder between two of them."""
    time.sleep(0.02)
    return completion("[RESULT] 3")


def probe(server: Server, run: Path, **how: Any) -> judgesheet.Run:
    return judgesheet.probe(MODEL, run, base_url=server.base_url, concurrency=4, **ASKED, **how)


def kept(run: Path) -> int:
    with closing(sqlite3.connect(run / LEDGER)) as db:
        counted: int = db.execute("SELECT count(*) FROM attempt").fetchone()[0]
        return counted


def words_asked_twice(server: Server, run: Path) -> int:
    """Requests beyond those that the plan has."""
    with Ledger.open(run / LEDGER) as ledger:
        return len(server.requests) - ledger.totals().planned


def once(act: Callable[[], object], after: int) -> Callable[[Progress], None]:
    """What acts on a run once, as soon as so many calls are settled."""
    done: list[bool] = []

    def watch(progress: Progress) -> None:
        if progress.settled >= after and not done:
            done.append(True)
            act()

    return watch


def replaced(run: Path) -> None:
    run.rename(run.with_name("elsewhere"))
    run.mkdir()
    (run / LEDGER).write_bytes(b"")


def removed(run: Path, pattern: str) -> None:
    for file in run.glob(pattern):
        file.unlink()


GONE: dict[str, Callable[[Path], object]] = {
    "the folder": shutil.rmtree,
    "the ledger": lambda run: removed(run, LEDGER),
    "the ledger and its log": lambda run: removed(run, f"{LEDGER}*"),
    "moved and made anew": replaced,
}


@pytest.mark.parametrize("what", GONE)
def test_a_ledger_that_is_removed_during_a_run_is_copied(what: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    with serving(soon) as server:
        with pytest.raises(RunError, match=r"run\.rescued-1") as stopped:
            probe(server, run, on_progress=once(lambda: GONE[what](run), 20))
        rescued = tmp_path / "run.rescued-1"
        assert str(rescued) in str(stopped.value)
        asked = len(server.requests)
        assert kept(rescued) == asked < CALLS
        done = probe(server, rescued)
        assert done.datasheet.run.complete
        assert words_asked_twice(server, rescued) == 0


def test_a_log_that_is_removed_during_a_run_is_put_back(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with serving(soon) as server:
        log = run / f"{LEDGER}-wal"
        probe(server, run, on_progress=once(log.unlink, 20))
        assert kept(run) == len(server.requests) == CALLS


def test_a_folder_of_which_the_log_goes_first_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    has_lost_log = vars(Place)["has_lost_log"].fget

    def then_the_rest_goes(place: Place) -> bool:
        """A folder is removed file by file, and a commit may come between two of them."""
        lost: bool = has_lost_log(place)
        if lost:
            shutil.rmtree(run, ignore_errors=True)
        return lost

    monkeypatch.setattr(Place, "has_lost_log", property(then_the_rest_goes))
    with serving(soon) as server:
        with pytest.raises(RunError, match=r"run\.rescued-1"):
            probe(server, run, on_progress=once((run / f"{LEDGER}-wal").unlink, 20))
        assert kept(tmp_path / "run.rescued-1") == len(server.requests) < CALLS


def test_a_folder_that_is_removed_while_it_is_measured_is_reported(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with serving(soon) as server:
        with pytest.raises(RunError, match=r"run\.rescued-1"):
            probe(server, run, on_progress=once(lambda: shutil.rmtree(run), CALLS))
        assert kept(tmp_path / "run.rescued-1") == len(server.requests)


def test_closing_leaves_the_log_of_a_new_run_alone(tmp_path: Path) -> None:
    """SQLite deletes a log by its name, which may be another's by then."""
    run = tmp_path / "run"
    with serving(soon) as server:

        def begin_anew() -> None:
            shutil.rmtree(run)
            run.mkdir()
            (run / f"{LEDGER}-wal").write_bytes(b"another's")

        with pytest.raises(RunError, match="rescued"):
            probe(server, run, on_progress=once(begin_anew, 20))
    assert (run / f"{LEDGER}-wal").read_bytes() == b"another's"


# -- a full disk -----------------------------------------------------------------------------------

LONG = "y" * 20_000


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of four megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(mounting, check=False, capture_output=True).returncode:
        pytest.skip("only root may mount a disk")
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


def test_on_a_full_disk_nothing_is_asked(small_disk: Path) -> None:
    (small_disk / "ballast").write_bytes(bytes(3_000_000))
    with serving(soon) as server:
        for _ in range(3):
            with pytest.raises(RunError):
                probe(server, small_disk / "run")
        assert not server.requests


def test_a_disk_that_fills_up_keeps_every_reply(small_disk: Path) -> None:
    run, ballast = small_disk / "run", small_disk / "ballast"

    def fill() -> None:
        with ballast.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(bytes(4096)):
                pass

    with serving(lambda *_: completion(f"{LONG} [RESULT] 3")) as server:
        with pytest.raises(RunError):
            probe(server, run, on_progress=once(fill, 10))
        asked = len(server.requests)
        assert 10 <= asked < CALLS
        fill()  # what the ledger gave back when it was closed
        with pytest.raises(RunError):
            probe(server, run)
        assert len(server.requests) == asked
        ballast.unlink()
        assert kept(run) == asked
        shutil.move(run, small_disk.parent / "larger")  # the disk is too small for all of it
        assert probe(server, small_disk.parent / "larger").datasheet.run.complete
        assert words_asked_twice(server, small_disk.parent / "larger") == 0


PROGRAM = """
import pathlib, resource, sys, judgesheet
from judgesheet.base.errors import RunError
address, run, overflow, most = sys.argv[1:]
overflow = pathlib.Path(overflow)
if int(most):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(most), int(most)))
try:
    judgesheet.probe("openai-compatible/m", run, base_url=address, concurrency=4, overflow=overflow,
                     axes=["score_order"], profile="smoke", pdf=False, cases=False, tell=print)
except RunError as error:
    print(error)
"""


def test_replies_that_a_disk_cannot_take_are_kept_elsewhere_and_found_again(tmp_path: Path) -> None:
    run, overflow = tmp_path / "run", tmp_path / "overflow"
    overflow.mkdir()

    def said(most: int) -> str:
        words = [sys.executable, "-c", PROGRAM, server.base_url, str(run), str(overflow), str(most)]
        done = subprocess.run(words, check=False, capture_output=True, text=True)
        return done.stdout + done.stderr

    with serving(lambda *_: completion(f"{LONG} [RESULT] 3")) as server:
        # Room can be kept back beside the ledger, and still the ledger itself cannot grow so far.
        sentences = said(1_400_000)
        assert str(overflow) in sentences
        asked = len(server.requests)
        assert asked < CALLS
        run = run.rename(tmp_path / "moved")
        (file,) = overflow.iterdir()
        assert file.stat().st_mode & 0o777 == 0o600
        assert "earlier run" in said(0)
        assert not list(overflow.iterdir())
        assert words_asked_twice(server, run) == 0
    assert kept(run) == CALLS


def test_what_a_disk_does_not_confirm_is_not_taken_for_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Overflow(tmp_path / "run" / LEDGER, "key", tmp_path)
    file = place.keep([["id", 1]])

    def failing(_handle: int) -> None:
        raise OSError("the disk went away")

    monkeypatch.setattr(os, "fsync", failing)
    assert place.keep([["id", 2]]) is None
    assert [*place.found()] == [(file, [["id", 1]])]


def test_what_somebody_else_laid_there_is_not_taken_in(tmp_path: Path) -> None:
    place = Overflow(tmp_path / "run" / LEDGER, "key", tmp_path)
    file = place.keep([["id", 1]])
    assert file is not None
    assert file.parent == tmp_path
    with file.open("a") as lines:
        lines.write('["id", 2')  # the process was killed
    assert [rows for _, rows in place.found()] == [[["id", 1]]]
    link = tmp_path / "link"
    file.rename(link)
    file.symlink_to(link)
    assert not list(place.found())
    file.unlink()
    file.hardlink_to(link)
    assert not list(place.found())
    file.unlink()
    os.mkfifo(file)
    assert not list(place.found())
    file.unlink()
    if not os.geteuid():  # only root can give a file away
        link.rename(file)
        os.chown(file, 12345, -1)
        assert not list(place.found())
