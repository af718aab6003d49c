"""`doctor DIR`: what it verifies, what it says to do, and what can be saved."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import judgesheet
from judgesheet.base.errors import RunError, UsageError
from judgesheet.commands.checkup import Diagnosis
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import DATASHEET, JUDGMENTS, LEDGER, PLAN
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
    assert [check.status for check in checks] == ["ok"] * 6
    assert [check.what for check in checks] == [
        "ledger", "calls", "replies", PLAN, DATASHEET, JUDGMENTS,
    ]  # fmt: skip
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
        ("plan.jsonl garbage", PLAN, "the same probe writes it again"),
        ("plan.jsonl empty", PLAN, "line 1 is not"),
        ("a line more in the plan", PLAN, "line 79 is not"),
        ("a line less in the plan", PLAN, "line 78 is not"),
        ("two lines of the plan exchanged", PLAN, "line 1 is not"),
        ("a changed plan", PLAN, "the same probe writes it again"),
        ("datasheet.json garbage", DATASHEET, "measure"),
        ("a sheet of other counts", DATASHEET, "run.attempts is not that of this ledger"),
        ("a sheet of another judge", DATASHEET, "judge.model is not that of this ledger"),
        ("a sheet of another plan", DATASHEET, "plan's digest is not that of this ledger"),
        ("replies that say nothing", DATASHEET, "is not that of this ledger"),
        ("judgments.parquet cut off", JUDGMENTS, "cannot be read"),
        ("the text of a reply", JUDGMENTS, "its rows are not"),
        ("a figure", DATASHEET, "score_order.cramers_v.value is not that of this ledger"),
    ],
)
def test_each_fault_is_named_with_its_remedy(run: Path, kind: str, check: str, words: str) -> None:
    own: dict[str, Callable[[Path], object]] = {
        "the text of a reply": another_score,
        "a figure": another_figure,
    }
    (own.get(kind) or (lambda run: damaged(run, kind)))(run)
    assert words in failed(run)[check]


def another_score(run: Path) -> None:
    with closing(sqlite3.connect(run / LEDGER)) as db:
        scores = "CASE text WHEN '{\"score\": 3}' THEN '{\"score\": 2}' ELSE '{\"score\": 3}' END"
        db.execute(f"UPDATE attempt SET text = {scores} WHERE rowid = 7")
        db.commit()


def another_figure(run: Path) -> None:
    sheet = json.loads((run / DATASHEET).read_text("utf-8"))
    for axis in sheet["axes"]:
        for estimate in axis["estimates"]:
            if estimate["key"] == "score_order.cramers_v":
                estimate["value"] = 0.001
    (run / DATASHEET).write_text(json.dumps(sheet), "utf-8")


def test_another_version_may_have_read_it(run: Path) -> None:
    another_figure(run)
    sheet = json.loads((run / DATASHEET).read_text("utf-8"))
    sheet["provenance"]["judgesheet"] = "0.0.1"
    (run / DATASHEET).write_text(json.dumps(sheet), "utf-8")
    checks = {check.what: check for check in judgesheet.doctor(directory=run)}
    assert checks[DATASHEET].status == "note"
    assert "another version" in checks[DATASHEET].detail


def test_what_a_killed_process_left_is_told(run: Path) -> None:
    (run / ".datasheet.json.0a1b2c3d.part").touch()
    (run / PLAN).unlink()
    told = {check.what: check.status for check in judgesheet.doctor(directory=run)}
    assert told[".datasheet.json.0a1b2c3d.part"] == "note"
    assert told[PLAN] == "missing"


def test_an_unfinished_run_goes_on(tmp_path: Path) -> None:
    judgesheet.probe("sim/fair", tmp_path / "run", max_calls=20, **PROBE)
    checks = {check.what: check for check in judgesheet.doctor(directory=tmp_path / "run")}
    assert checks["replies"].status == "note"
    assert (
        "settle 20 of 78 calls, each once; the same command resumes it" in checks["replies"].detail
    )


def test_the_same_probe_writes_its_plan_anew(run: Path) -> None:
    damaged(run, "plan.jsonl garbage")
    judgesheet.probe("sim/fair", run, **PROBE)
    assert not failed(run)


def test_recorded_judgments_have_no_plan(tmp_path: Path) -> None:
    rows = [
        {"axis": "score_order", "stimulus": f"s{n}", "verdict": 1 + n % 5,
         "cell": {"item": f"i{n}", "arm": "fixed", "scale": 5, "order": [1, 2, 3, 4, 5]}}
        for n in range(6)
    ]  # fmt: skip
    file = tmp_path / "log.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    judgesheet.ingest(file, tmp_path / "run", pdf=False)
    assert {check.status for check in judgesheet.doctor(directory=tmp_path / "run")} == {"ok"}


def test_the_runs_of_a_sweep_are_verified_each(tmp_path: Path) -> None:
    sweep = tmp_path / "sweep"
    judgesheet.probe("sim/fair", sweep, sweep="temperature=0,1", **PROBE)
    damaged(sweep / "02-temperature-1", "a line less in the plan")
    assert list(failed(sweep)) == ["02-temperature-1: plan.jsonl"]


def test_a_directory_or_a_model(run: Path) -> None:
    with pytest.raises(UsageError):
        judgesheet.doctor("sim/fair", directory=run)
    with pytest.raises(UsageError, match="--save"):
        judgesheet.doctor(save=run)


# -- saving ---------------------------------------------------------------------------------------


def saved(run: Path) -> Diagnosis:
    (done,) = judgesheet.doctor(directory=run, save=run.parent / "saved")
    return done


@pytest.mark.parametrize(
    "kind",
    ["page of attempt_outcome zeroed", "page of attempt_of_call overwritten",
     "page of call zeroed", "table prompt dropped", "table call renamed", "a trigger",
     "an endless view for label", "every call twice", "column attempt.served_model renamed"],
)  # fmt: skip
def test_every_reply_of_a_damaged_ledger_is_saved(run: Path, kind: str) -> None:
    with Ledger.open(run / LEDGER) as ledger:
        replies = [(reply.call_id, reply.text) for reply in ledger.replies()]
    damaged(run, kind)
    before = (run / LEDGER).read_bytes()
    assert "78 attempts, which settle 78 of 78 calls" in saved(run).detail
    assert (run / LEDGER).read_bytes() == before
    with Ledger.open(run.parent / "saved" / LEDGER) as ledger:
        assert [(reply.call_id, reply.text) for reply in ledger.replies()] == replies


def test_a_saved_run_is_measured_and_goes_on(run: Path) -> None:
    with closing(sqlite3.connect(run / LEDGER)) as db:
        (page,) = db.execute("PRAGMA page_size").fetchone()
        (root,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name='attempt'").fetchone()
    content = bytearray((run / LEDGER).read_bytes())
    lost = content.rindex(b'{"score"') // page * page  # a page full of replies
    assert lost != (root - 1) * page
    content[lost : lost + page] = bytes(page)
    (run / LEDGER).write_bytes(content)
    assert "what can be saved" in {one.what for one in judgesheet.doctor(directory=run)}
    detail = saved(run).detail
    new = run.parent / "saved"
    assert f"the same probe with --out {new} asks for the rest" in detail
    with Ledger.open(new / LEDGER) as ledger:
        kept = ledger.totals().settled
    assert 40 <= kept < 78
    assert not judgesheet.measure(new, pdf=False).datasheet.run["complete"]
    done = judgesheet.probe("sim/fair", new, **PROBE)
    assert done.progress is not None
    assert done.progress.asked == 78 - kept
    assert not failed(new)


@pytest.mark.parametrize(
    ("kind", "words"),
    [("table meta dropped", "has lost its"), ("truncated to 100 of", "has lost its")],
)
def test_what_cannot_be_saved_says_so(run: Path, kind: str, words: str) -> None:
    (name,) = [known for known, _ in kinds(run) if known.startswith(kind)]
    damaged(run, name)
    with pytest.raises(RunError, match=words):
        saved(run)


def test_lost_questions_are_planned_again(run: Path) -> None:
    damaged(run, "table prompt dropped")
    plan = (run / PLAN).read_bytes()
    (run / PLAN).unlink()
    with pytest.raises(RunError, match="judgesheet plan --out"):
        saved(run)
    (run / PLAN).write_bytes(plan)
    assert "settle 78 of 78" in saved(run).detail
    with pytest.raises(RunError):
        saved(run)
