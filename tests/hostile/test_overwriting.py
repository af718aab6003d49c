"""What a user edits is written over by --force alone; reports are written anew."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from judgesheet import probe
from judgesheet.ledger.run_directory import DATASHEET
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


TABLE = "q,one,other\nHow long?,Seven minutes.,An hour.\n"
REPORTS: dict[str, Callable[[Path], Words]] = {
    "compare": lambda at: ("compare", at / "run", at / "later", "--to"),
    "correct": lambda at: ("correct", at / "verdicts.csv", "--labels", "random", "--to"),
    "gate": lambda at: ("gate", at / "run", "--policy", at / "policy.toml", "--junit"),
    "cases": lambda at: ("cases", at / "run", "--html"),
    "plan": lambda _: (*PLANNING, "--out"),
    "batch": lambda _: (*PLANNING, "--export-batch"),
}


def test_what_is_edited_is_written_over_by_force_alone(place: Path) -> None:
    (place / "table.csv").write_text(TABLE)
    out = place / "mine"
    words = (
        *("stimuli", "import", "csv", place / "table.csv", "--axis", "candidate_order"),
        *("--map", "prompt=q,u=one,v=other", "--out", out),
    )
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
    words = REPORTS[name](place)
    written = f"md={out}" if words[-1] == "--to" else out
    assert run(*words, written).returncode in (0, 3, 4)
    assert out.read_text() != "of yesterday"


def test_a_sheet_is_rendered_beside_itself(place: Path) -> None:
    sheet = place / "run" / DATASHEET
    sheet.write_text(json.dumps(json.loads(sheet.read_text()) | {"mine": 1}))
    done = run("render", place / "run", "--to", "json", "--to", "md")
    assert (done.returncode, str(sheet) in done.stdout) == (0, True), done.stderr
    assert json.loads(sheet.read_text())["mine"] == 1


def test_a_device_is_read_and_written(place: Path) -> None:
    done = run("gate", place / "run", "--policy", place / "policy.toml", "--junit", os.devnull)
    assert done.returncode in (0, 3, 4), done.stderr


@pytest.mark.parametrize("out", [".", "run"])
def test_a_folder_is_no_file(place: Path, out: str) -> None:
    for words in (("cases", "run", "--html", out), (*PLANNING, "--out", out)):
        said = sentence(run(*words, cwd=place))
        assert "is a folder: name a file in it" in said
