"""`doctor DIR`: what it verifies, and what it says to do."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import judgesheet
from judgesheet.base.errors import UsageError
from judgesheet.ledger.run_directory import PLAN
from tests.hostile.damages import kinds

PROBE: dict[str, Any] = {"axes": ["score_order"], "profile": "smoke", "pdf": False}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("whole") / "run"
    judgesheet.probe("sim/fair", run, **PROBE)
    return run


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "run"))


def damaged(run: Path, kind: str) -> Path:
    dict(kinds(run))[kind](run)
    return run


def failed(run: Path) -> dict[str, str]:
    """The checks that failed, and what they say."""
    checks = judgesheet.doctor(directory=run)
    return {check.what: check.detail for check in checks if check.status == "failed"}


def test_a_whole_run(run: Path) -> None:
    before = {file.name: file.read_bytes() for file in run.iterdir()}
    checks = judgesheet.doctor(directory=run)
    assert [check.status for check in checks] == ["ok"] * 3
    assert [check.what for check in checks] == ["ledger", "calls", "replies"]
    assert {file.name: file.read_bytes() for file in run.iterdir()} == before


@pytest.mark.parametrize(
    ("kind", "check", "words"),
    [
        ("byte 52 of the header flipped", "ledger", "faults, the first"),
        ("a changed question", "calls", "are not what was asked"),
        ("a call lost", "calls", "not those of its plan"),
        ("another plan", "calls", "not those of its plan"),
        ("two calls exchanged", "calls", "not those of its plan"),
        ("a call settled twice", "replies", "1 calls settled twice"),
        ("an attempt left out", "replies", "1 calls with a missing attempt"),
        ("a reply to no call", "replies", "1 replies to no call"),
    ],
)
def test_each_fault_is_named(run: Path, kind: str, check: str, words: str) -> None:
    damaged(run, kind)
    assert words in failed(run)[check]


def test_an_unfinished_run_goes_on(tmp_path: Path) -> None:
    judgesheet.probe("sim/fair", tmp_path / "run", max_calls=20, **PROBE)
    checks = {check.what: check for check in judgesheet.doctor(directory=tmp_path / "run")}
    assert checks["replies"].status == "note"
    assert (
        "settle 20 of 78 calls, each once; the same command resumes it" in checks["replies"].detail
    )


def test_the_same_probe_writes_its_plan_anew(run: Path) -> None:
    before = (run / PLAN).read_bytes()
    damaged(run, "plan.jsonl garbage")
    judgesheet.probe("sim/fair", run, **PROBE)
    assert (run / PLAN).read_bytes() == before


def test_a_directory_or_a_model(run: Path) -> None:
    with pytest.raises(UsageError):
        judgesheet.doctor("sim/fair", directory=run)
