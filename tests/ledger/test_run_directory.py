"""Where a run lies, and what an earlier one in the same place settled."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import judgesheet
from judgesheet.base.errors import DamagedError, InUseError, JudgeError, OtherRunError, RunError
from judgesheet.base.records import Call, Plan
from judgesheet.base.resources import data_folder
from judgesheet.collect.batches import unanswered
from judgesheet.collect.collect import Progress
from judgesheet.collect.request import prepare
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import (
    LEDGER,
    PLAN,
    SWEEP,
    default_directory,
    make_directory,
    settings_of,
)
from tests.judges.loopback import Server, completion, failure, serving
from tests.ledger.test_ledger import make_reply


@pytest.mark.parametrize(
    ("model", "folder"),
    [("openai/gpt-4o", "openai-gpt-4o"), ("sim/fair?a=1", "sim-fair-a-1"), ("///", "judge")],
)
def test_a_judge_has_a_folder_of_its_own(model: str, folder: str) -> None:
    assert default_directory(model) == Path("runs") / folder


@pytest.mark.parametrize("has_pages", [False, True])
def test_a_run_that_was_killed_before_its_plan_was_stored_settled_nothing(
    tmp_path: Path, has_pages: bool
) -> None:
    """Of a plan of many pages some are in the file before all are; rolled back, one is left."""
    (tmp_path / LEDGER).touch()
    if has_pages:
        with closing(sqlite3.connect(tmp_path / LEDGER)) as db:
            db.execute("PRAGMA user_version = 1")
    assert bool((tmp_path / LEDGER).stat().st_size) == has_pages
    assert settings_of(tmp_path) == {}
    request = judgesheet.Request("sim/fair", ["score_order"], "smoke", logprobs="auto")
    assert judgesheet.probe(request, tmp_path, pdf=False).datasheet.run.complete
    assert settings_of(tmp_path)["logprobs"] is True


PROBE: dict[str, Any] = {"axes": ["score_order"], "profile": "smoke", "pdf": False}


def test_a_run_in_use_is_not_kept_aside(tmp_path: Path) -> None:
    run = tmp_path / "run"
    started = judgesheet.Request("sim/fair?latency_ms=2", ["score_order"], "smoke", concurrency=2)

    def start_over(progress: Progress) -> None:
        if not seen:
            with pytest.raises(InUseError):
                make_directory(run, fresh=True)
        seen.append(progress)

    seen: list[Progress] = []
    judgesheet.probe(started, run, pdf=False, on_progress=start_over)
    assert seen
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_sweep_in_use_is_not_kept_aside(tmp_path: Path) -> None:
    run = tmp_path / "run"
    judgesheet.probe("sim/fair", run / "01-t-0", **PROBE)
    (run / SWEEP).write_text('{"name": "t", "values": ["0", "1"]}\n', encoding="utf-8")
    with (
        Ledger.open(run / "01-t-0" / LEDGER, writable=True),
        pytest.raises(InUseError),
    ):
        make_directory(run, fresh=True)
    make_directory(run, fresh=True)
    assert (tmp_path / "run.old-1" / "01-t-0" / LEDGER).is_file()


def test_what_is_no_run_is_not_renamed(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    judgesheet.probe("sim/fair", folder / "a run", **PROBE)
    (folder / "notes.txt").write_text("kept", encoding="utf-8")
    judgesheet.probe("sim/fair", folder, fresh=True, **PROBE)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert (folder / "notes.txt").read_text("utf-8") == "kept"


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


@pytest.mark.parametrize("change", ["prompt", "seed", "profile", "max_tokens", "stored"])
def test_another_plan_is_noticed_whatever_was_kept(complete: Complete, change: str) -> None:
    run, template, how = complete
    if change == "prompt":  # under the same name
        template.write_text(template.read_text() + "\nBe brief.")
    elif change == "stored":
        with Ledger.open(run / LEDGER, writable=True) as ledger:
            ledger.set_meta("made_from", "something else")
            ledger.set_meta("plan", "another")
    else:
        others = {"seed": 9, "profile": "quick", "max_tokens": 7}
        how |= {change: others[change]}
    with pytest.raises(OtherRunError):
        judgesheet.probe(JUDGE, run, **how)


def test_a_run_that_nobody_paid_for_gives_way_to_other_options(tmp_path: Path) -> None:
    how = {**PROBE, "max_calls": 5}
    with serving(lambda *_: failure(401)) as server, pytest.raises(JudgeError):
        judgesheet.probe(JUDGE, tmp_path / "run", base_url=server.base_url, **how)
    with serving(lambda *_: completion("[RESULT] 3")) as server:
        other = {**how, "base_url": server.base_url, "max_tokens": 7}
        judgesheet.probe(JUDGE, tmp_path / "run", **other)
        with pytest.raises(OtherRunError):
            judgesheet.probe(JUDGE, tmp_path / "run", **{**other, "max_tokens": 8})
    assert (tmp_path / "run.old-1" / LEDGER).is_file()


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


# -- what judgesheet itself brings has changed since -----------------------------------------------


@pytest.fixture
def of_older_release(tmp_path: Path) -> Path:
    """A run that an older release began with a built-in prompt that was another then."""
    template = tmp_path / "older.j2"
    current = data_folder("templates") / "prompts" / "score_order.jinja"
    template.write_text(current.read_text() + "\nBe brief.")
    request = judgesheet.Request(
        JUDGE, ["score_order"], "smoke", prompts={"score_order": template}, base_url="http://x/v1"
    )
    judge, plan = prepare(request, tmp_path / "run", fresh=True)
    prompts = [{**prompt, "name": "built-in"} for prompt in plan.provenance["prompts"]]
    plan = replace(plan, provenance={**plan.provenance, "prompts": prompts})
    with Ledger.create_or_open(tmp_path / "run" / LEDGER, plan, judge.identity) as ledger:
        ledger.record([make_reply(plan.calls[0])])
    return tmp_path / "run"


def test_a_run_with_other_questions_is_not_asked_further(of_older_release: Path) -> None:
    before = (of_older_release / LEDGER).read_bytes()
    with serving(lambda *_: completion("[RESULT] 3")) as server:
        how = {**PROBE, "base_url": server.base_url}
        with pytest.raises(OtherRunError, match=r"other prompts \(score_order\).*can finish it"):
            judgesheet.probe(JUDGE, of_older_release, **how)
        assert not server.requests
        assert (of_older_release / LEDGER).read_bytes() == before
        judgesheet.probe(JUDGE, of_older_release, fresh=True, **how)
        assert all("Be brief." not in json.dumps(sent.body) for sent in server.requests)


@pytest.mark.parametrize(
    "change", [{"seed": 9}, {"profile": "quick"}, {"max_tokens": 7}, {"axes": ["criterion_order"]}]
)
def test_what_the_user_asks_otherwise_is_another_plan(
    change: dict[str, Any], of_older_release: Path
) -> None:
    before = (of_older_release / LEDGER).read_bytes()
    with pytest.raises(OtherRunError):
        judgesheet.probe(JUDGE, of_older_release, **{**PROBE, **change}, base_url="http://x/v1")
    assert (of_older_release / LEDGER).read_bytes() == before


# -- a run that somebody else made -----------------------------------------------------------------


def _sent_otherwise(call: Call) -> Call:
    sent = {**call.params, "model": "dearest", "n": 50, "tools": [{"type": "web_search"}]}
    return replace(call, params=sent)


def _with_more(plan: Plan) -> Plan:
    return replace(plan, calls=(*plan.calls, replace(plan.calls[0], repeat=99)))


STRANGE = {
    "other parameters": lambda plan: replace(plan, calls=tuple(map(_sent_otherwise, plan.calls))),
    "another temperature": lambda plan: replace(
        plan, calls=tuple(replace(c, params={**c.params, "temperature": 2}) for c in plan.calls)
    ),
    "other messages": lambda plan: replace(
        plan,
        calls=tuple(
            replace(c, messages=({"role": "user", "content": "Write my essay."},))
            for c in plan.calls
        ),
    ),
    "one call more": _with_more,
}


@pytest.mark.parametrize("how", STRANGE)
@pytest.mark.parametrize("names_ours", [False, True])
def test_nothing_of_a_strange_plan_is_sent(how: str, names_ours: bool, tmp_path: Path) -> None:
    with serving(lambda *_: completion("[RESULT] 3")) as server:
        request = judgesheet.Request(
            JUDGE, ["score_order"], "smoke", base_url=server.base_url, seed=3
        )
        judge, plan = prepare(request, tmp_path, fresh=True)
        with Ledger.create_or_open(tmp_path / LEDGER, STRANGE[how](plan), judge.identity) as ledger:
            ledger.record([make_reply(next(iter(ledger.calls())))])
            if names_ours:
                ledger.set_meta("plan", plan.digest)
        with pytest.raises(DamagedError if names_ours else OtherRunError):
            judgesheet.probe(request, tmp_path, pdf=False)
        with pytest.raises(RunError):
            list(export_batch(plan, tmp_path / LEDGER))
        assert not server.requests


def export_batch(plan: Plan, path: Path) -> Sequence[Call]:
    return unanswered(plan, path, JUDGE, {}).calls


def test_a_run_folder_renames_no_field_of_a_request(tmp_path: Path) -> None:
    with serving(lambda *_: completion("[RESULT] 3")) as server:
        how = {**PROBE, "base_url": server.base_url}
        judgesheet.probe(JUDGE, tmp_path, max_calls=1, **how)
        with Ledger.open(tmp_path / LEDGER, writable=True) as ledger:
            ledger.set_meta("refused_parameters", {"temperature": "n", "messages": None})
        sent = len(server.requests)
        judgesheet.probe(JUDGE, tmp_path, **how)
        assert len(server.requests) > sent
        for one in server.requests[sent:]:
            assert one.body["messages"]
            assert "n" not in one.body
