"""Options from files: what a folder may choose by itself, and what only a named file may."""

import json
from pathlib import Path

import pytest

from tests.command import run, sentence

PLAN = ("plan", "--model", "sim/perfect", "--json")
SETTINGS = """
axis = ["score_order"]
profile = "smoke"
prices = [1, 2]
max-tokens = 7
base-url = "https://elsewhere.example/v1"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "judgesheet.toml").write_text(SETTINGS)
    return tmp_path


def planned(folder: Path, *words: str) -> dict[str, object]:
    done = run(*PLAN, *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_a_folder_chooses_what_is_asked_and_nothing_that_sends_or_runs(folder: Path) -> None:
    done = run(*PLAN, "--out", "plan.jsonl", cwd=folder)
    first, *_ = done.stderr.splitlines()
    assert "judgesheet.toml" in first
    assert "base-url" in first
    calls = [json.loads(line) for line in (folder / "plan.jsonl").read_text().splitlines()]
    assert {call["axis"] for call in calls} == {"score_order"}
    assert len(calls) == planned(folder)["calls"] == 78
    assert {call["params"]["max_tokens"] for call in calls} != {7}


def test_a_file_that_is_named_chooses_all(folder: Path) -> None:
    run(*PLAN, "--out", "plan.jsonl", "--config", "judgesheet.toml", cwd=folder)
    calls = [json.loads(line) for line in (folder / "plan.jsonl").read_text().splitlines()]
    assert {call["params"]["max_tokens"] for call in calls} == {7}


def test_what_is_typed_wins(folder: Path) -> None:
    assert planned(folder, "--profile", "first")["calls"] == 36
    axes = planned(folder, "--axis", "candidate_order")["axes"]
    assert isinstance(axes, list)
    assert [one["axis"] for one in axes] == ["candidate_order"]


@pytest.mark.usefixtures("pages")
def test_flags_and_tables_are_written_as_toml_has_them(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'model = "sim/perfect"\nprofile = "first"\naxis = "score_order"\nout = "here"\n'
        'no-pdf = true\nno-cases = true\njson = false\nextra-body = {effort = "low"}\n'
    )
    done = run("probe", "--config", "mine.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "here" / "datasheet.html").is_file()
    assert not (tmp_path / "here" / "datasheet.pdf").exists()
    assert not (tmp_path / "here" / "cases.html").exists()


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("profil = 1", "profile"),
        ("profile = ", "TOML"),
        ("quiet = 1", "true"),
        ("config = 'x'", "config"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(tmp_path: Path, content: str, word: str) -> None:
    (tmp_path / "mine.toml").write_text(content)
    assert word in sentence(run(*PLAN, "--config", "mine.toml", cwd=tmp_path), 2)
