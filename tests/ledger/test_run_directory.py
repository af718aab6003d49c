"""Where a run lies, and what an earlier one in the same place settled."""

from pathlib import Path
from typing import Any

import pytest

import judgesheet
from judgesheet.base.errors import JudgeError, RunError
from judgesheet.base.resources import data_folder
from judgesheet.collect.collect import Progress
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import (
    LEDGER,
    PLAN,
    default_directory,
    make_directory,
    settings_of,
)
from tests.judges.loopback import Server, completion, serving

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


# -- resuming without making the plan again --------------------------------------------------------

JUDGE = "openai-compatible/m"


@pytest.fixture
def complete(tmp_path: Path) -> tuple[Path, Path, dict[str, Any]]:
    """A complete run, a prompt of the user's own, and how both were asked for."""
    built_in = data_folder("templates") / "prompts" / "score_order.jinja"
    template = tmp_path / "own.j2"
    template.write_text(built_in.read_text())
    how = {**PROBE, "prompts": {"score_order": template}, "reply": "json"}
    with serving(lambda *_: completion('{"score": 3}')) as server:
        judgesheet.probe(JUDGE, tmp_path / "run", base_url=server.base_url, **how)
    return tmp_path / "run", template, {**how, "base_url": server.base_url}


Complete = tuple[Path, Path, dict[str, Any]]


def test_a_complete_run_needs_no_endpoint_and_no_key(complete: Complete) -> None:
    run, _, how = complete
    plan = (run / PLAN).read_bytes()
    (run / PLAN).write_text("garbage")
    done = judgesheet.probe(JUDGE, run, api_key_env="NEVER_SET", **how)
    assert done.progress is not None
    assert (done.progress.asked, done.progress.settled) == (0, done.progress.planned)
    assert (run / PLAN).read_bytes() == plan
    with pytest.raises(JudgeError, match="NEVER_SET"):
        judgesheet.probe(JUDGE, run, fresh=True, api_key_env="NEVER_SET", **how)


@pytest.mark.parametrize("change", ["prompt", "seed", "profile", "stored"])
def test_another_plan_is_noticed_whatever_was_kept(complete: Complete, change: str) -> None:
    run, template, how = complete
    if change == "prompt":  # under the same name
        template.write_text(template.read_text() + "\nBe brief.")
    elif change == "stored":
        with Ledger.open(run / LEDGER, writable=True) as ledger:
            ledger.set_meta("made_from", "something else")
            ledger.set_meta("plan", "another")
    else:
        how |= {"seed": 9} if change == "seed" else {"profile": "quick"}
    with pytest.raises(RunError, match="another plan"):
        judgesheet.probe(JUDGE, run, **how)


def test_a_run_that_was_not_finished_goes_on(tmp_path: Path) -> None:
    def ask(server: Server, **how: Any) -> Progress:
        run = judgesheet.probe(JUDGE, tmp_path, base_url=server.base_url, **PROBE, **how)
        assert run.progress is not None
        return run.progress

    with serving(lambda *_: completion("[RESULT] 3")) as server:
        first = ask(server, max_calls=5)
        second = ask(server)
    assert (first.settled, second.settled) == (5, second.planned)
    assert len(server.requests) == second.planned
