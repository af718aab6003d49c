"""Bodies with log-probabilities, as servers send them and as they should not: one case a line."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from judgesheet.axis.logprobs import (
    Distribution,
    distribution_at,
    reply_tokens,
    score_distribution,
)
from judgesheet.base.scale import Scale

BODIES = Path(__file__).parent.parent / "logprobs" / "bodies.jsonl"


def cases() -> list[Any]:
    lines = BODIES.read_text(encoding="utf-8").splitlines()
    return [pytest.param(case, id=case["name"]) for case in map(json.loads, lines)]


def read(case: dict[str, Any]) -> object:
    return score_distribution(
        json.dumps(case["body"]), case["text"], case["reply"], Scale(case["scale"])
    )


@pytest.mark.parametrize("case", cases())
def test_a_body_is_read_as_expected(case: dict[str, Any]) -> None:
    found = read(case)
    if "unread" in case:
        assert found == case["unread"]
        return
    assert isinstance(found, Distribution), found
    assert found.expected == pytest.approx(case["expected"])
    assert found.mass == pytest.approx(case["mass"])
    assert math.fsum(found.probabilities) == pytest.approx(1)
    assert len(found.probabilities) == case["scale"]


def token(text: str, *alternatives: tuple[str, float]) -> dict[str, Any]:
    listed = [{"token": one, "logprob": math.log(p)} for one, p in alternatives]
    return {"token": text, "logprob": 0.0, "top_logprobs": listed}


def body(*tokens: dict[str, Any]) -> str:
    return json.dumps({"choices": [{"logprobs": {"content": tokens}}]})


def test_slack_bounds_what_unlisted_scores_could_change() -> None:
    raw = body(token('{"score":'), token("4", ("4", 0.8), ("5", 0.15), ("x", 0.01)), token("}"))
    found = score_distribution(raw, '{"score":4}', "json", Scale(5))
    assert isinstance(found, Distribution)
    shares = [0.01, 0.01, 0.01, 0.8, 0.15]  # three are not listed: each at most .01
    most = math.fsum(s * p for s, p in enumerate(shares, start=1)) / math.fsum(shares)
    assert 0 < found.expected - most <= found.slack < 0.1
    assert found.probabilities[:3] == (0, 0, 0)


def test_several_places_of_one_reply_can_be_read() -> None:
    tokens = reply_tokens(body(token("[a] "), token("2", ("2", 1.0)), token(" 1", (" 1", 1.0))))
    assert isinstance(tokens, list)
    first, second = (
        distribution_at(tokens, (4, 5), Scale(3)),
        distribution_at(tokens, (6, 7), Scale(3)),
    )
    assert isinstance(first, Distribution)
    assert isinstance(second, Distribution)
    assert (first.expected, second.expected) == (2, 1)


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "<html>",
        "null",
        '{"choices"' * 9,
        "[" * 100_000,
        '{"choices":[{"logprobs":{"content":' + "[" * 50_000,
        body(*[token("4", *[("4", 1e-6)] * 20)] * 5_000),
        body(token("4" * 100_000)),
        body(token('"score":' * 10_000)),
        body(*[token("")] * 20_000),
    ],
    ids=range(10),
)
@pytest.mark.parametrize(("reply", "text"), [("json", '{"score":4}'), ("text", "[RESULT] 4")])
def test_hostile_bodies_are_unread_and_harmless(raw: str, reply: str, text: str) -> None:
    assert isinstance(score_distribution(raw, text, reply, Scale(5)), str)
