"""What a user asks for is settled before anything is paid for."""

import asyncio
import math
import sys
from pathlib import Path
from typing import Any

import pytest

from judgesheet import plan
from judgesheet.base.errors import UsageError
from judgesheet.base.records import Call
from judgesheet.base.resources import data_folder
from judgesheet.collect.options import Request
from judgesheet.collect.request import settle
from judgesheet.judges.callable import CallableJudge
from tests.judges.loopback import completion, serving


def test_an_axis_named_twice_is_asked_once() -> None:
    named = settle(Request("sim/fair", axes=("score_order", "score_order"))).axes
    assert [axis.NAME for axis in named] == ["score_order"]


def test_paths_may_be_text(tmp_path: Path) -> None:
    """Every path of a request is kept as a path, however it was given."""
    place = str(tmp_path)
    paths: dict[str, Any] = {"stimuli": place, "overflow": place}
    by_axis: dict[str, Any] = {"prompts": {"": place}, "parsers": {"": place}}
    given = Request("sim/fair", ["score_order"], **paths, **by_axis)
    files = [*given.prompts.values(), *given.parsers.values()]
    assert {given.stimuli, given.overflow, *files} == {tmp_path}


def test_plan_takes_the_place_of_stimuli_as_text() -> None:
    own = str(data_folder("stimuli"))
    planned, _ = plan("sim/fair", axes=["score_order"], profile="smoke", stimuli=own)
    assert planned.calls


@pytest.mark.parametrize("field", ["messages", "model", "n", "temperature"])
def test_what_the_plan_says_cannot_be_replaced(field: str) -> None:
    with pytest.raises(UsageError, match=field):
        settle(Request("sim/fair", extra_body={field: 1}))


@pytest.mark.parametrize(
    "given",
    [
        {"extra_body": {"top_p": math.nan}},
        {"extra_body": {"nested": [{"top_p": math.inf}]}},
        {"extra_body": {"user": object()}},
        {"temperature": math.nan},
        {"max_cost": math.nan, "prices": (1.0, 1.0)},
        {"max_cost": 1.0, "prices": (math.nan, 1.0)},
        {"max_cost": 1.0, "prices": (-1.0, 1.0)},
        {"rpm": math.nan},
    ],
)
def test_numbers_that_are_none_are_refused_before_anything_is_asked(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Request("sim/fair", **given)


def test_a_judge_that_exits_is_a_failed_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "leaving.py").write_text("def judge(_):\n    raise SystemExit(0)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    call = Call("score_order", "s", {}, 0, ({"role": "user", "content": "?"},), {})
    answer = asyncio.run(CallableJudge.from_name("leaving:judge", 5).answer(call, 1))
    assert answer.outcome == "unavailable"


@pytest.mark.parametrize("limit", [{"max_calls": 3}, {"max_cost": 0.0, "prices": (1.0, 1.0)}])
@pytest.mark.parametrize("asked", [{"reply": "auto"}, {"logprobs": "auto"}])
def test_nothing_is_asked_outside_a_limit(limit: dict[str, Any], asked: dict[str, Any]) -> None:
    with serving(lambda *_: completion("[RESULT] 1")) as server:
        request = Request("openai-compatible/m", base_url=server.base_url, **limit, **asked)
        with pytest.raises(UsageError):
            settle(request)
        assert not server.requests
