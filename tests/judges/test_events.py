"""Answers of servers that only stream, in both dialects."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from judgesheet.base.records import Outcome, Reply
from judgesheet.judges import Connection, open_judge
from judgesheet.judges.events import body_of
from tests.judges.loopback import Answer, Request, failure, make_call, serving

DONE = "data: [DONE]\n\n"
PIECES = ("We weigh: ", "\u2028 ", "[RESULT] 4")


def streamed(*events: Any) -> str:
    return "".join(f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events)


def chunk(content: str | None = None, **choice: Any) -> dict[str, Any]:
    delta = {"role": "assistant", "content": content}
    return {"id": "c", "model": "served", "choices": [{"index": 0, "delta": delta, **choice}]}


def completion() -> str:
    usage = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
    said = [chunk(piece, finish_reason=None) for piece in PIECES]
    return streamed(chunk(""), *said, chunk(finish_reason="stop"), usage) + DONE


def message() -> str:
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {
            "model": "served", "content": [], "usage": {"input_tokens": 7, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0,
         "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0,
         "delta": {"type": "thinking_delta", "thinking": "perhaps [RESULT] 1"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        *({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": one}}
          for one in PIECES),
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"},
         "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
    ]  # fmt: skip
    return "".join(f"event: {one['type']}\n{streamed(one)}" for one in events)


def ask(
    stream: str,
    model: str = "openai-compatible/m",
    extra_body: Mapping[str, Any] | None = None,
    refusal: str = "This model only supports stream mode",
) -> tuple[Reply, str, Request]:
    """The reply to a question, the advice on it, and what a server that only streams was sent."""

    def script(request: Request, _: int) -> Answer:
        if not request.body.get("stream"):
            return failure(400, message=refusal)
        return Answer(stream.encode(), headers={"Content-Type": "text/event-stream"})

    async def main(url: str) -> tuple[Reply, str]:
        async with open_judge(model, Connection(url, extra_body=extra_body or {})) as judge:
            reply = await judge.ask(make_call(), 1)
            return reply, str(judge.advise(reply))

    with serving(script) as server:
        return *asyncio.run(main(server.base_url)), server.requests[0]


STREAMED = {"stream": True}


@pytest.mark.parametrize(
    ("model", "stream"),
    [
        ("openai-compatible/m", completion()),
        ("openai-compatible/m", completion().replace("\n", "\r\n")),
        ("openai-compatible/m", ": waiting\n\n" + completion()),
        ("openai-compatible/m", completion().replace(DONE, "")),
        ("anthropic/m", message()),
        ("anthropic/m", message().rstrip()),
    ],
)
def test_a_stream_is_the_answer_that_it_holds(
    model: str, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "of-nobody")
    reply, _, request = ask(stream, model, extra_body=STREAMED)
    assert (reply.outcome, reply.text) == ("ok", "".join(PIECES)), reply.raw
    assert (reply.tokens_in, reply.tokens_out, reply.served_model) == (7, 3, "served")
    assert request.body["stream"] is True


@pytest.mark.parametrize(
    "refusal",
    [
        "This model only supports stream mode",
        "This gateway serves streams only",
        "Please set stream to true",
        'parameter "stream" must be set to true',
    ],
)
def test_who_only_streams_names_the_option(refusal: str) -> None:
    reply, advice, _ = ask(completion(), refusal=refusal)
    assert reply.outcome == "rejected"
    assert """--extra-body '{"stream": true}'""" in advice


@pytest.mark.parametrize(
    ("stream", "outcome"),
    [
        (streamed(chunk("[RESULT] 4")), "malformed"),
        (completion()[:-120], "malformed"),
        (
            streamed(chunk("[RESULT] 4"), {"error": {"message": "failed", "code": 502}}),
            "unavailable",
        ),
        (streamed({"type": "error", "error": {"type": "overloaded_error"}}), "unavailable"),
        (streamed(chunk("[RESULT] 4", finish_reason="content_filter")), "refused"),
        (DONE, "malformed"),
        (streamed(["choices"]) + DONE, "malformed"),
        (streamed({"choices": [{"delta": 5}]}) + DONE, "malformed"),
        (streamed({"choices": {"delta": 5}}) + DONE, "malformed"),
        (streamed({"type": "content_block_delta", "delta": {"text": "a"}}) + DONE, "malformed"),
        (streamed(chunk("a"), {"choices": [{"delta": {"content": ["b"]}}]}) + DONE, "malformed"),
        ("data: " + "[" * 100_000 + "\n\n" + DONE, "malformed"),
    ],
)
def test_a_stream_without_its_end_or_of_something_else_is_no_answer(
    stream: str, outcome: Outcome
) -> None:
    reply, _, _ = ask(stream, extra_body=STREAMED)
    assert (reply.outcome, reply.text if outcome == "malformed" else "") == (outcome, "")


def test_log_probabilities_are_put_together() -> None:
    tokens: list[list[Any]] = [
        [{"token": one, "logprob": -0.1, "top_logprobs": []}] for one in ("a", "b")
    ]
    parts = [chunk("x", logprobs={"content": one}) for one in tokens]
    body = json.loads(str(body_of(streamed(*parts, chunk(finish_reason="stop")))))
    assert body["choices"][0]["logprobs"] == {"content": [*tokens[0], *tokens[1]]}
