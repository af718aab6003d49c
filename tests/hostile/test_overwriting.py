"""No command writes over a file that it reads, or over another of its outputs."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from judgesheet import ingest, probe
from judgesheet.base.errors import RunError
from judgesheet.base.resources import data_folder
from judgesheet.ledger.run_directory import DATASHEET, LEDGER, PLAN
from tests.command import run, sentence

POLICY = '[[limit]]\nkey = "score_order.cramers_v"\nmax = 0.9\n'
PLANNING = ("plan", "--model", "sim/fair", "--axis", "score_order", "--profile", "smoke")
Words = tuple[str | Path, ...]


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two run directories, a policy and a sheet."""
    folder = tmp_path_factory.mktemp("probed")
    for name in ("run", "later"):
        probe("sim/fair", folder / name, axes=["score_order"], profile="smoke", pdf=False)
    (folder / "policy.toml").write_text(POLICY)
    shutil.copy(folder / "run" / DATASHEET, folder / "sheet.json")
    return folder


@pytest.fixture
def place(probed: Path, tmp_path: Path) -> Path:
    """A copy to spoil."""
    return Path(shutil.copytree(probed, tmp_path / "place"))


COMMANDS: dict[str, tuple[str, Callable[[Path, Path], Words]]] = {
    "plan over the policy": (
        "policy.toml",
        lambda at, out: (*PLANNING, "--policy", at / "policy.toml", "--out", out),
    ),
    "batch over the policy": (
        "policy.toml",
        lambda at, out: (*PLANNING, "--policy", at / "policy.toml", "--export-batch", out),
    ),
    "gate over the policy": (
        "policy.toml",
        lambda at, out: ("gate", at / "run", "--policy", at / "policy.toml", "--junit", out),
    ),
    "gate over the sheet": (
        f"run/{DATASHEET}",
        lambda at, out: ("gate", at / "run", "--policy", at / "policy.toml", "--junit", out),
    ),
    "gate over the plan": (
        f"run/{PLAN}",
        lambda at, out: ("gate", at / "run", "--policy", at / "policy.toml", "--junit", out),
    ),
    "gate over the baseline": (
        f"later/{DATASHEET}",
        lambda at, out: (
            *("gate", at / "run", "--policy", at / "policy.toml"),
            *("--baseline", at / "later", "--junit", out),
        ),
    ),
    "compare over the first": (
        f"run/{DATASHEET}",
        lambda at, out: ("compare", at / "run", at / "later", "--out", out),
    ),
    "compare over the second": (
        f"later/{DATASHEET}",
        lambda at, out: ("compare", at / "run", at / "later", "--to", "html", "--out", out),
    ),
    "attach to the sheet": ("sheet.json", lambda at, out: ("attach", out, at / "sheet.json")),
    "cases over the sheet": (
        f"run/{DATASHEET}",
        lambda at, out: ("cases", at / "run", "--html", out),
    ),
    "cases over the plan": (
        f"run/{PLAN}",
        lambda at, out: ("cases", at / "run", "--html", out),
    ),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_an_input_stays(place: Path, name: str) -> None:
    victim, words = COMMANDS[name]
    _refused(place / victim, words(place, place / victim))


@pytest.mark.parametrize("link", [Path.hardlink_to, Path.symlink_to])
def test_an_input_stays_under_another_name(place: Path, link: Callable[[Path, Path], None]) -> None:
    policy, other = place / "policy.toml", place / "other"
    link(other, policy)
    _refused(policy, ("gate", place / "run", "--policy", policy, "--junit", other))
    _refused(policy, ("gate", place / "run", "--policy", other, "--junit", policy))


@pytest.mark.parametrize("option", ["--out", "--export-batch"])
def test_a_plan_does_not_replace_its_stimuli(place: Path, option: str) -> None:
    own = Path(shutil.copy(data_folder("stimuli") / "score_order.jsonl", place))
    _refused(own, (*PLANNING, "--stimuli", own, option, own))


def _refused(precious: Path, words: Words) -> None:
    before = precious.read_bytes()
    assert "is read by this command" in sentence(run(*words))
    assert precious.read_bytes() == before


def test_two_outputs_are_two_files(place: Path) -> None:
    out = place / "calls.jsonl"
    said = sentence(run(*PLANNING, "--out", out, "--export-batch", place / "run" / ".." / out.name))
    assert "written by this command already" in said
    assert "call_id" in json.loads(out.read_text().splitlines()[0])


TABLE = "q,one,other\nHow long?,Seven minutes.,An hour.\n"
EDITED: dict[str, Callable[[Path], Words]] = {
    "stimuli": lambda at: (
        *("stimuli", "import", "csv", at / "table.csv", "--axis", "candidate_order"),
        *("--map", "prompt=q,u=one,v=other"),
    ),
    "policy": lambda at: ("policy", "suggest", at / "run"),
}
REPORTS: dict[str, Callable[[Path], Words]] = {
    "compare": lambda at: ("compare", at / "run", at / "later", "--out"),
    "correct": lambda at: ("correct", at / "verdicts.csv", "--labels", "random", "--out"),
    "gate": lambda at: ("gate", at / "run", "--policy", at / "policy.toml", "--junit"),
    "cases": lambda at: ("cases", at / "run", "--html"),
    "plan": lambda _: (*PLANNING, "--out"),
    "batch": lambda _: (*PLANNING, "--export-batch"),
}


@pytest.mark.parametrize("name", EDITED)
def test_what_is_edited_is_written_over_by_force_alone(place: Path, name: str) -> None:
    (place / "table.csv").write_text(TABLE)
    words, out = (*EDITED[name](place), "--out", place / "mine"), place / "mine"
    out.touch()
    assert run(*words).returncode == 0, "an empty file holds nobody's work"
    out.write_text("edited")
    assert "--force" in sentence(run(*words), 2)
    assert out.read_text() == "edited"
    assert run(*words, "--force").returncode == 0
    assert out.read_text() != "edited"


@pytest.mark.parametrize("name", REPORTS)
def test_reports_are_written_anew(place: Path, name: str) -> None:
    rows = [f"q{n},{'pass' if n % 3 else 'fail'},{'pass' if n % 2 else 'fail'}" for n in range(12)]
    (place / "verdicts.csv").write_text("\n".join(["id,verdict,label", *rows]))
    out = place / "report"
    out.write_text("of yesterday")
    assert run(*REPORTS[name](place), out).returncode in (0, 3, 4)
    assert out.read_text() != "of yesterday"


def test_a_recorded_log_is_not_replaced_by_the_sheet(place: Path) -> None:
    log = place / DATASHEET
    cell = {"item": "a", "arm": "balanced", "scale": 5, "order": [1, 2, 3, 4, 5]}
    row = {"axis": "score_order", "stimulus": "a", "cell": cell, "repeat": 0, "verdict": 3}
    log.write_text(json.dumps(row))
    with pytest.raises(RunError):
        ingest(log, place, pdf=False)
    assert json.loads(log.read_text()) == row


def test_a_sheet_is_rendered_beside_itself(place: Path) -> None:
    sheet = place / "run" / DATASHEET
    sheet.write_text(json.dumps(json.loads(sheet.read_text()) | {"mine": 1}))
    done = run("render", place / "run", "--to", "json", "--to", "md")
    assert (done.returncode, str(sheet) in done.stdout) == (0, True), done.stderr
    assert json.loads(sheet.read_text())["mine"] == 1


def test_a_device_is_read_and_written(place: Path) -> None:
    done = run("gate", place / "run", "--policy", place / "policy.toml", "--junit", os.devnull)
    assert done.returncode in (0, 3, 4), done.stderr


def test_what_one_command_read_the_next_may_write(place: Path) -> None:
    """The rule is about one command, not about the life of a process."""
    assert run("gate", place / "run", "--policy", place / "policy.toml").returncode in (0, 3, 4)
    done = run("render", place / "later", "--to", "json", "--out", place / "run")
    assert done.returncode == 0, done.stderr
    assert (place / "run" / LEDGER).is_file()


@pytest.mark.parametrize("out", [".", "run"])
def test_a_folder_is_no_file(place: Path, out: str) -> None:
    for words in (("cases", "run", "--html", out), (*PLANNING, "--out", out)):
        said = sentence(run(*words, cwd=place))
        assert "is a folder: name a file in it" in said
