"""Where a run lies, and what an earlier one in the same place settled."""

from pathlib import Path

import pytest

import judgesheet
from judgesheet.run_directory import LEDGER, default_directory, settings_of


@pytest.mark.parametrize(
    ("model", "folder"),
    [("openai/gpt-4o", "openai-gpt-4o"), ("sim/fair?a=1", "sim-fair-a-1"), ("///", "judge")],
)
def test_a_judge_has_a_folder_of_its_own(model: str, folder: str) -> None:
    assert default_directory(model) == Path("runs") / folder


def test_a_run_that_was_killed_before_its_plan_was_stored_settled_nothing(tmp_path: Path) -> None:
    (tmp_path / LEDGER).touch()
    assert settings_of(tmp_path) == {}
    request = judgesheet.Request("sim/fair", ["score_order"], "smoke", logprobs="auto")
    assert judgesheet.probe(request, tmp_path).datasheet.run["complete"]
    assert settings_of(tmp_path)["logprobs"] is True
