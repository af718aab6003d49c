"""Every damage of a run directory is one sentence that says what to do, and nothing hangs."""

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from itertools import cycle
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import judgesheet
from judgesheet.cli import main
from judgesheet.commands.crash_report import WANTED
from judgesheet.ledger.run_directory import DATASHEET, LEDGER
from tests.hostile.damages import kinds

PROBE = ("--model", "sim/fair", "--axis", "score_order", "--profile", "smoke", "--no-pdf")
COMMANDS: dict[str, Callable[[Path, Path], tuple[str | Path, ...]]] = {
    "measure": lambda run, _: ("measure", run, "--no-pdf"),
    "probe": lambda run, _: ("probe", *PROBE, "--out", run),
    "compare": lambda run, whole: ("compare", whole, run),
    "render": lambda run, _: ("render", run, "--to", "md"),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("whole") / "run"
    assert call("probe", *PROBE, "--out", run).exit_code == 0
    return run


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(main, [*map(str, words)])


def expect_a_plain_refusal(kind: str, command: str, done: Result) -> None:
    """A failure is one sentence on standard error."""
    said = [line for line in done.stderr.splitlines() if "calls · " not in line]
    assert isinstance(done.exception, SystemExit | None), (kind, command, repr(done.exception))
    assert done.exit_code in {0, 1, 5}, (kind, command, done.exit_code)
    assert "internal error" not in done.stderr, (kind, command, said)
    assert len(said) == 1 or done.exit_code != 1, (kind, command, said)
    assert "\x1b" not in done.output, (kind, command)


def test_every_damage_is_one_sentence(whole: Path, tmp_path: Path) -> None:
    """Each met by one of the commands; which one changes from damage to damage."""
    for (kind, damage), command in zip(kinds(whole), cycle(COMMANDS), strict=False):
        run = tmp_path / "run"
        shutil.copytree(whole, run)
        damage(run)
        expect_a_plain_refusal(kind, command, call(*COMMANDS[command](run, whole)))
        shutil.rmtree(run)


def test_a_damaged_axis_with_more_in_its_cells_is_a_sentence(tmp_path: Path) -> None:
    run = tmp_path / "run"
    options = {"axes": ["candidate_order"], "profile": "smoke", "pdf": False}
    judgesheet.probe("sim/fair", run, **options)  # type: ignore[arg-type]
    for part, value in {"delta": [[1]], "listing": 5, "delta ": {"a": None}}.items():
        with closing(sqlite3.connect(run / LEDGER)) as db:
            put = "UPDATE call SET cell = json_set(cell, ?, json(?)) WHERE seq = 1"
            db.execute(put, (f"$.{part}", json.dumps(value)))
            db.commit()
        expect_a_plain_refusal(part, "measure", call("measure", run, "--no-pdf"))


def test_a_question_that_was_changed_is_not_paid_for(whole: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    with closing(sqlite3.connect(run / LEDGER)) as db:
        db.execute("UPDATE prompt SET messages = replace(messages, 'a', 'i')")
        db.execute("DELETE FROM attempt")
        db.commit()
    done = call("probe", *PROBE, "--out", run)
    assert "a question in it was changed" in done.stderr
    with closing(sqlite3.connect(run / LEDGER)) as db:
        assert db.execute("SELECT count(*) FROM attempt").fetchone() == (0,)


# -- faults of our own -----------------------------------------------------------------------------


def broken(
    monkeypatch: pytest.MonkeyPatch, run: Path, text: str = "the reply \x1b[2J said\n::warning::x"
) -> Result:
    def fail(*_: object) -> None:
        raise RuntimeError(f"{text} sk-secret-0123456789")

    monkeypatch.setenv("SOME_API_KEY", "sk-secret-0123456789")
    monkeypatch.setattr("judgesheet.commands.render.write", fail)
    return call("render", run, "--to", "md")


def test_a_fault_of_our_own_is_one_sentence(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = broken(monkeypatch, whole)
    assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
    assert "RuntimeError in judgesheet/commands/render.py:" in done.stderr
    assert WANTED in done.stderr
    assert not any(part in done.stderr for part in ("\x1b", "sk-", "said", "Traceback"))


def test_its_traceback_is_shown_when_wanted(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WANTED, "1")
    done = broken(monkeypatch, whole)
    assert "Traceback" in done.stderr
    assert "[U+001B][2J said" in done.stderr
    assert "[redacted]" in done.stderr
    assert "sk-secret" not in done.stderr
    assert not any(line.startswith("::") for line in done.stderr.splitlines())


def test_ctrl_c_while_it_loads_is_no_traceback() -> None:
    program = (
        "import runpy, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'judgesheet.cli': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "runpy.run_module('judgesheet', run_name='__main__')"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "judgesheet: interrupted before it began\n"


# -- secrets of older versions ---------------------------------------------------------------------


@pytest.mark.usefixtures("pages")
def test_secrets_of_an_older_run_are_not_passed_on(whole: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    secrets = ("hunter2", "sk-field-0123456789", "q-0123456789", "a1B2c3D4e5F6g7H8i9J0", "older-pw")
    password, field, query, token, older = secrets
    with closing(sqlite3.connect(run / LEDGER)) as db:
        (judge,) = db.execute("SELECT value FROM meta WHERE key = 'judge'").fetchone()
        kept = {
            **json.loads(judge),
            "base_url": f"https://me:{password}@h.test/{token}/v1?key={query}",
            "extra_body": {"api_key": field, "top_k": 5},
        }
        put = "INSERT OR REPLACE INTO meta VALUES (?, ?)"
        db.execute(put, ("judge", json.dumps(kept)))
        db.execute(put, ("earlier_base_urls", json.dumps([f"http://me:{older}@h.test/v1", None])))
        db.commit()
    measured = call("measure", run, "--no-pdf", "--json")
    resumed = call("probe", *PROBE, "--out", run)
    texts = [measured.output, resumed.output, (run / DATASHEET).read_text("utf-8"),
             (run / "datasheet.html").read_text("utf-8")]  # fmt: skip
    for secret in secrets:
        assert not any(secret in text for text in texts), secret
    assert "https://h.test/[redacted]/v1" in measured.output
    assert '"top_k": 5' in measured.output
