"""A sweep whose judge stops answering: what it did answer is on a sheet that says so."""

import json
from pathlib import Path
from typing import Any

import pytest

import judgesheet
from judgesheet.base.errors import JudgeError, RunError, StoppedError
from tests.judges.loopback import Answer, Request, Script, completion, failure, serving

REVOKED = failure(401, message="revoked")


def sweep(run: Path, script: Script) -> judgesheet.Run:
    with serving(script) as server:
        return judgesheet.probe(
            "openai-compatible/m",
            run,
            sweep="temperature=0,1",
            axes=("score_order",),
            profile="smoke",
            base_url=server.base_url,
            pdf=False,
        )


def sheet(run: Path) -> Any:
    return json.loads((run / "datasheet.json").read_text())["run"]


def until(setting: float, number: int) -> Script:
    """A judge that answers settings below this one, and so many requests in all."""

    def script(request: Request, count: int) -> Answer:
        answers = request.body["temperature"] < setting or count <= number
        return completion("[RESULT] 1") if answers else REVOKED

    return script


@pytest.mark.parametrize("answered", [0, 90])
def test_a_sweep_that_its_endpoint_ends_has_a_sheet(tmp_path: Path, answered: int) -> None:
    run = tmp_path / "run"
    with pytest.raises(StoppedError, match="revoked") as stopped:
        sweep(run, until(1, answered))
    assert stopped.value.exit_code == 5
    told = sheet(run)
    assert (told["complete"], told["answered"] >= 78) == (False, True)
    assert judgesheet.measure(run, pdf=False).datasheet.run["complete"] is False
    assert sweep(run, lambda *_: completion("[RESULT] 1")).datasheet.run["complete"] is True
    assert sheet(run)["answered"] == 2 * 78


def test_a_sweep_without_an_answer_has_none(tmp_path: Path) -> None:
    with pytest.raises(JudgeError) as stopped:
        sweep(tmp_path / "run", lambda *_: REVOKED)
    assert stopped.value.exit_code == 5
    assert not (tmp_path / "run" / "datasheet.json").exists()


def test_a_setting_that_was_killed_before_its_plan_was_stored_is_none(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with pytest.raises(StoppedError):
        sweep(run, until(1, 0))
    (run / "02-temperature-1" / "ledger.sqlite").write_bytes(b"")
    assert judgesheet.measure(run, pdf=False).datasheet.run["complete"] is False


def test_a_sweep_of_which_nothing_was_asked_has_no_sheet(tmp_path: Path) -> None:
    (tmp_path / "sweep.json").write_text('{"knob": "temperature", "values": ["0", "1"]}')
    with pytest.raises(RunError):
        judgesheet.measure(tmp_path)
