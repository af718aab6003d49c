"""A batch's answers whose fields are anything are refused in one sentence."""

import json
from pathlib import Path

import pytest

from judgesheet import ingest, plan
from judgesheet.base.errors import StimuliError


def test_an_answer_to_no_call_is_refused(tmp_path: Path) -> None:
    run, file = tmp_path / "run", tmp_path / "answers.jsonl"
    plan("openai/m", run / "plan.jsonl", tmp_path / "b", axes=["score_order"], profile="smoke")
    for name in (["x"], {"x": 1}, None, 7, True, "../x"):
        file.write_text(json.dumps({"custom_id": name, "response": {}}))
        with pytest.raises(StimuliError, match="custom_id"):
            ingest(file, run, pdf=False)
