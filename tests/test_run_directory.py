"""Where a run lies, and what an earlier one in the same place settled."""

from pathlib import Path
from typing import Any

import pytest

import judgesheet
from judgesheet.errors import RunError
from judgesheet.run_directory import LEDGER, default_directory, make_directory, settings_of
from judgesheet.spine.collect import Progress
from judgesheet.spine.ledger import Ledger

pytestmark = pytest.mark.usefixtures("only_json")


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
    assert judgesheet.probe(request, tmp_path, pdf=False).datasheet.run["complete"]
    assert settings_of(tmp_path)["logprobs"] is True


PROBE: dict[str, Any] = {"axes": ["score_order"], "profile": "smoke", "pdf": False}


def test_a_run_in_use_is_not_kept_aside(tmp_path: Path) -> None:
    run = tmp_path / "run"
    started = judgesheet.Request("sim/fair?latency_ms=2", ["score_order"], "smoke", concurrency=2)

    def start_over(progress: Progress) -> None:
        if not seen:
            with pytest.raises(RunError, match="in use"):
                make_directory(run, fresh=True)
        seen.append(progress)

    seen: list[Progress] = []
    judgesheet.probe(started, run, pdf=False, on_progress=start_over)
    assert seen
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_sweep_in_use_is_not_kept_aside(tmp_path: Path) -> None:
    run = tmp_path / "run"
    judgesheet.probe("sim/fair", run / "01-t-0", **PROBE)
    with (
        Ledger.open(run / "01-t-0" / LEDGER, writable=True),
        pytest.raises(RunError, match="in use"),
    ):
        make_directory(run, fresh=True)
    make_directory(run, fresh=True)
    assert (tmp_path / "run.old-1" / "01-t-0" / LEDGER).is_file()


def test_a_damaged_run_is_kept_aside(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / LEDGER).write_bytes(b"no ledger" * 500)
    make_directory(run, fresh=True)
    assert (tmp_path / "run.old-1" / LEDGER).read_bytes() == b"no ledger" * 500
