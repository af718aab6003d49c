"""A run directory that somebody else made changes and deletes nothing outside itself."""

import os
import signal
import sqlite3
import struct
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from judgesheet import measure, probe
from judgesheet.base.errors import DamagedError, RunError
from judgesheet.base.files import write_lines, write_whole
from judgesheet.ledger.ledger import Ledger
from tests.command import run as command_line

MAGIC = bytes.fromhex("d9d505f920a163d7")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    probe("sim/fair", folder / "run", axes=["score_order"], profile="smoke", pdf=False)
    return folder / "run"


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    for file in made.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A file of the reader's that no run has to touch."""
    file = tmp_path / "authorized_keys"
    file.write_text("ssh-ed25519 mine\n")
    return file


@pytest.mark.parametrize(
    "name", ["judgments.parquet", "datasheet.json", "datasheet.html", "datasheet.pdf"]
)
@pytest.mark.usefixtures("pages")
def test_a_link_is_replaced_and_not_followed(run: Path, mine: Path, name: str) -> None:
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(mine)
    measure(run, pdf=name == "datasheet.pdf", cases=False)
    assert mine.read_text() == "ssh-ed25519 mine\n"
    assert not (run / name).is_symlink()


@pytest.mark.parametrize("end", ["", "-journal", "-wal", "-shm"])
@pytest.mark.parametrize("command", ["measure", "probe"])
def test_a_ledger_is_no_link(run: Path, mine: Path, end: str, command: str) -> None:
    link = run / f"ledger.sqlite{end}"
    link.unlink(missing_ok=True)
    link.symlink_to(mine)
    words = (run,) if command == "measure" else ("--model", "sim/fair", "--out", run)
    done = command_line(command, *words)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "is a link or no plain file" in done.stderr
    assert mine.read_text() == "ssh-ed25519 mine\n"


def test_a_dangling_link_makes_no_file(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "ledger.sqlite").symlink_to(tmp_path / "new")
    with pytest.raises(RunError):
        probe("sim/fair", tmp_path / "run", axes=["score_order"], profile="smoke", pdf=False)
    assert not (tmp_path / "new").exists()


def journal_naming(victim: Path) -> bytes:
    """A hot journal of no pages; SQLite deletes the super-journal that it names."""
    name = os.fsencode(victim)
    head = MAGIC + struct.pack(">5I", 0, 0, 1, 512, 4096)
    place = struct.pack(">I", 0x40000000 // 4096 + 1)
    return head.ljust(512, b"\0") + place + name + struct.pack(">2I", len(name), sum(name)) + MAGIC


@pytest.mark.parametrize("command", ["measure", "compare", "probe"])
def test_a_journal_deletes_no_other_file(run: Path, mine: Path, command: str) -> None:
    (run / "ledger.sqlite-journal").write_bytes(journal_naming(mine))
    words = {"compare": (run, run), "measure": (run,)}.get(
        command,
        ("--model", "sim/fair", "--axis", "score_order", "--profile", "smoke", "--out", run),
    )
    done = command_line(command, *words)
    assert mine.exists()
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "names another file" in done.stderr


def test_reading_a_ledger_leaves_it_byte_for_byte(run: Path) -> None:
    ledger = run / "ledger.sqlite"
    before, others = ledger.read_bytes(), sorted(run.iterdir())
    ledger.chmod(0o444)
    measure(run, pdf=False)
    assert ledger.read_bytes() == before
    assert sorted(run.iterdir()) == others


def test_what_a_killed_process_left_is_read(run: Path) -> None:
    path = run / "ledger.sqlite"
    program = (
        "import os, sqlite3, sys\n"
        "db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "db.execute('PRAGMA locking_mode = EXCLUSIVE')\n"
        "db.execute('PRAGMA journal_mode = WAL')\n"
        """db.execute("INSERT INTO meta VALUES ('left', '1')")\n"""
        "os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert path.with_name("ledger.sqlite-wal").exists()
    with Ledger.open(path) as ledger:
        assert ledger.get_meta("left") == 1
    assert not list(run.glob("ledger.sqlite-*"))


@pytest.mark.parametrize(
    "statement",
    [
        "DROP VIEW answer; CREATE VIEW answer AS WITH RECURSIVE n(i) AS "
        "(SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n",
        "DROP VIEW pending; CREATE VIEW pending AS WITH RECURSIVE n(i) AS "
        "(SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n",
    ],
)
def test_views_of_a_ledger_are_not_used(run: Path, statement: str) -> None:
    with closing(sqlite3.connect(run / "ledger.sqlite")) as db:
        db.executescript(statement)
    assert measure(run, pdf=False).datasheet.run.complete


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE label; CREATE VIEW label AS WITH RECURSIVE n(i) AS "
        "(SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n",
        "ALTER TABLE label ADD COLUMN more AS (hex(zeroblob(1000000)))",
        "CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM attempt; END",
        "DROP TABLE label",
    ],
)
def test_a_ledger_is_plain_tables(run: Path, statement: str) -> None:
    with closing(sqlite3.connect(run / "ledger.sqlite")) as db:
        db.executescript(statement)
    with pytest.raises(DamagedError):
        measure(run, pdf=False)


# -- the writer ---------------------------------------------------------------------------------


def test_permissions_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("old")
    file.chmod(0o600)
    write_whole(file, b"new")
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("new", 0o600)


def test_a_link_to_a_device_is_replaced(tmp_path: Path) -> None:
    link = tmp_path / "a.json"
    link.symlink_to("/dev/null")
    write_whole(link, b"new")
    assert not link.is_symlink()
    assert link.read_text() == "new"


def test_a_killed_writer_leaves_nothing_for_long(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("whole\n")
    program = (
        "import itertools, sys, pathlib, judgesheet.base.files as files\n"
        "files.write_lines(pathlib.Path(sys.argv[1]), ('x' * 999 for _ in itertools.count()))"
    )
    writer = subprocess.Popen([sys.executable, "-c", program, str(file)])
    while not (strays := [part for part in tmp_path.glob(".a.jsonl.*") if part.stat().st_size]):
        time.sleep(0.01)
    write_lines(file, ["whole"])
    assert strays[0].exists(), "it is being written still"
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    assert file.read_text() == "whole\n"
    os.utime(strays[0], (0, 0))
    write_lines(file, ["again"])
    assert list(tmp_path.iterdir()) == [file]
