import asyncio
import json
import re
from itertools import count

import pytest

from judgesheet import doctor
from judgesheet.judges import Connection, open_judge
from judgesheet.judges.check import Examined, examine
from tests.judges.loopback import Answer, Request, Script, completion, failure, serving


def examined(script: Script) -> Examined:
    with serving(script) as server:
        judge = open_judge("openai-compatible/m", Connection(base_url=server.base_url))
        return asyncio.run(examine(judge))


def test_a_capable_endpoint() -> None:
    def script(request: Request, _number: int) -> Answer:
        logprobs = {"content": [{"token": "5"}]} if request.body.get("logprobs") else None
        return completion(json.dumps({"score": 5}), logprobs=logprobs)

    found = examined(script)
    assert not found.problem
    assert (found.json_schema, found.logprobs, found.seed) == (True, True, True)
    assert found.alike
    assert found.latency_s > 0


def test_a_schema_that_is_ignored_is_not_kept() -> None:
    """JSON that the words asked for says nothing about the schema."""

    def script(request: Request, _number: int) -> Answer:
        return completion('{"score": 5}' if "JSON" in request.words else "Right. [RESULT] 5")

    assert not examined(script).json_schema


@pytest.mark.usefixtures("only_endpoint")
def test_doctor_asks_as_it_is_told() -> None:
    with serving(lambda *_: completion('{"score": 5}')) as server:
        doctor(
            "openai-compatible/m",
            base_url=server.base_url,
            temperature=1.0,
            max_tokens=512,
            extra_body={"effort": "low"},
        )
        for request in server.requests:
            sent = {name: request.body[name] for name in ("temperature", "max_tokens", "effort")}
            assert sent == {"temperature": 1.0, "max_tokens": 512, "effort": "low"}


@pytest.mark.usefixtures("only_endpoint")
def test_doctor_says_no_more_than_it_saw() -> None:
    """A seed that is taken need not be used, and three answers alike are three answers."""
    with serving(lambda *_: completion('{"score": 5}')) as server:
        found = doctor("openai-compatible/m", base_url=server.base_url)
    reported = {one.what: one.detail for one in found}
    assert reported["seed"] == "accepted; whether it is used cannot be seen"
    assert reported["repeats"].startswith("3 of 3 answers")


def test_an_endpoint_that_can_only_talk() -> None:
    numbers = count()

    def script(request: Request, _number: int) -> Answer:
        if "response_format" in request.body or "seed" in request.body:
            return failure(400, message="unknown field")
        return completion(f"Well, {next(numbers)}.")

    found = examined(script)
    assert not found.problem
    assert (found.json_schema, found.logprobs, found.seed) == (False, False, False)
    assert not found.alike


def remembering(kept: int) -> Script:
    """An endpoint that sees the last characters of a prompt, and repeats the word in them."""

    def script(request: Request, _number: int) -> Answer:
        found = re.search(r"remember is (\w+)", request.words[-kept:])
        return completion(found[1] if found else '{"score": 5}')

    return script


def test_a_server_that_cuts_long_prompts() -> None:
    assert examined(remembering(10**6)).finds_beginning is True
    assert examined(remembering(8_000)).finds_beginning is False

    def refusing(request: Request, _number: int) -> Answer:
        if len(request.words) > 8_000:
            return failure(400, code="context_length_exceeded")
        return completion('{"score": 5}')

    assert examined(refusing).finds_beginning is None


def test_an_endpoint_that_refuses_the_key() -> None:
    found = examined(lambda _request, _number: failure(401, message="who are you"))
    assert "who are you" in found.problem
    assert "--api-key-env" in found.problem
