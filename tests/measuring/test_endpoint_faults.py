"""What a server did to prompts, and which of several hosts answered: lost calls and a control."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from judgesheet import judges, measure
from judgesheet.base.errors import StoppedError
from judgesheet.base.records import Datasheet
from judgesheet.base.usage import PromptSizes
from judgesheet.commands.probe import probe
from judgesheet.ledger.ledger import Ledger
from tests.judges.loopback import Answer, Request, Script, serving

WINDOW = 300


def sizes(*prompts: tuple[int, int | None]) -> int | None:
    found = PromptSizes()
    for number, (characters, tokens) in enumerate(prompts):
        found.add(str(number), characters, tokens)
    return found.window


LONG = [(4000 + 250 * n, 512) for n in range(5)]


@pytest.mark.parametrize(
    ("prompts", "window"),
    [
        ([(800, 200), *LONG], 512),
        # Nearly as long as each other, but far too long for so few tokens.
        ([(800, 200), *((3200 + n, 512) for n in range(5))], 512),
        ([(800, 200), *LONG[:4]], None),
        (LONG, None),  # a constant
        ([(800, 200), (8000, 1900), *LONG], None),  # a longer one was counted whole
        ([(800, 200), *((1000 + n, 250) for n in range(9))], None),  # chance among alike
        ([(800, 200)] + [(3000, 750)] * 9, None),  # one item in several orders
        ([(4000 + 250 * n, 90 - n) for n in range(9)], None),  # a cache leaves out what it held
        ([(800, 0), (800, None), *LONG], None),
    ],
)
def test_when_prompts_were_cut(prompts: list[tuple[int, int | None]], window: int | None) -> None:
    assert sizes(*prompts) == window


def answered(tokens: int, request: Request, score: int = 3, **more: Any) -> Answer:
    asks_for_pair = "winner" in request.words
    text = json.dumps({"winner": "1"}) if asks_for_pair else f"Well.\n[RESULT] {score}"
    usage = {"prompt_tokens": tokens, "completion_tokens": 9}
    choice = {"message": {"content": text}, "finish_reason": "stop"}
    return Answer(json.dumps({"model": "m", "choices": [choice], "usage": usage, **more}).encode())


def stimuli(path: Path) -> Path:
    """Short and long requests, half of each."""
    words = random.Random(7)
    levels = ["Wrong.", "Mostly wrong.", "Half right.", "Nearly right.", "Right."]
    rows = []
    for number in range(16):
        text = " ".join(words.choices(["alpha", "beta", "gamma"], k=20 if number % 2 else 900))
        rows.append({
            "id": f"s{number}", "prompt": f"Explain {number}.",
            "rubric": {"criterion": "Correctness", "levels": levels},
            "candidates": [{"id": "a", "text": text}],
        })  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def asked(tmp_path: Path, script: Script, profile: str = "first", **more: Any) -> Datasheet:
    with serving(script) as server:
        return probe(
            "openai-compatible/m", tmp_path / "run", base_url=server.base_url,
            axes=["score_order"], stimuli=stimuli(tmp_path / "own.jsonl"), profile=profile,
            pdf=False, cases=False, **more,
        ).datasheet  # fmt: skip


def cutting(window: int) -> Script:
    return lambda request, _: answered(min(window, len(request.words) // 4), request)


def test_cut_prompts_stop_a_run_are_lost_and_are_asked_again(tmp_path: Path) -> None:
    with pytest.raises(StoppedError, match=f"{WINDOW}"):
        asked(tmp_path, cutting(WINDOW))
    sheet = measure(tmp_path / "run", pdf=False, cases=False).datasheet
    with Ledger.open(tmp_path / "run/ledger.sqlite") as ledger:
        lost = len(ledger.cut_calls())
    assert lost >= 5
    assert sheet.axes[0].failed == lost
    assert not sheet.run.complete
    messages: list[str] = []
    mended = asked(tmp_path, cutting(10**6), tell=messages.append)
    assert mended.run.complete
    assert mended.axes[0].failed == 0
    assert mended.axes[0].answered == mended.run.planned
    assert any(str(lost) in sentence for sentence in messages)


def routed(lenient: int, field: str) -> Script:
    """Two hosts in turn; the second gives `lenient` points more."""

    def script(request: Request, number: int) -> Answer:
        second = random.Random(number).random() < 0.5
        score = 2 + lenient * second
        return answered(len(request.words) // 4, request, score, **{field: "b" if second else "a"})

    return script


@pytest.mark.parametrize("field", ["provider", "system_fingerprint"])
@pytest.mark.parametrize("lenient", [0, 1])
def test_two_hosts_fail_a_run_only_where_they_judge_differently(
    tmp_path: Path, field: str, lenient: int
) -> None:
    sheet = asked(tmp_path, routed(lenient, field), repeats=9)
    assert sheet.judge.hosts.keys() == {"a", "b"}
    (found,) = [one for one in sheet.axes[0].controls if one.code == "hosts_alike"]
    assert found.passed is (False if lenient else None), found.text
    assert found.of == "run"


def test_one_host_is_recorded_and_no_control(tmp_path: Path) -> None:
    sheet = asked(tmp_path, lambda r, _: answered(300, r, provider="only"))
    assert [*sheet.judge.hosts] == ["only"]
    assert not [one for one in sheet.axes[0].controls if one.code == "hosts_alike"]


@pytest.mark.parametrize(
    ("outcome", "error", "option"),
    [
        ("too_long", "context length is 900 tokens, you asked for 200 and max_tokens=800", "--max"),
        ("too_long", "the request exceeds the available context size, try increasing it", "window"),
        ("rejected", "max_new_tokens must be at most 512", "--max-tokens"),
        ("rejected", "top_logprobs must be less than 6", "--logprobs"),
        ("rejected", "this model only supports streaming: stream mode", "stream"),
        ("rejected", "temperature should lie between 0.1 and 1", "--temperature"),
    ],
)
def test_an_error_names_the_option_that_mends_it(outcome: Any, error: str, option: str) -> None:
    with serving(lambda *_: Answer(b"")) as server:
        judge = judges.open_judge("vllm/m", judges.Connection(base_url=server.base_url))
    for body in ({"error": {"message": error}}, [{"error": {"message": error}}], {"detail": error}):
        reply = judges.Answer(outcome, raw=json.dumps(body)).as_reply("call", 1, 0.0, 0.0)
        assert option in str(judge.advise(reply))
