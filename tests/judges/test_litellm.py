"""Judges that LiteLLM asks: with the real package where it is installed, else with a stand-in."""

import asyncio
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from judgesheet.base.errors import MissingDependencyError
from judgesheet.base.records import Outcome, Reply
from judgesheet.judges import Connection, open_judge
from tests.command import sentence, start
from tests.judges.loopback import Answer, Request, Script, failure, make_call, serving
from tests.test_frameworks import completed

IS_THERE = find_spec("litellm") is not None
needs_litellm = pytest.mark.skipif(not IS_THERE, reason="litellm is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # its own, and those of the clients it uses
KEY = "sk-a-secret-key-1234567890"


def ask(script: Script, monkeypatch: pytest.MonkeyPatch, times: int = 1, **params: float) -> Reply:
    monkeypatch.setenv("OWN_KEY", KEY)

    async def main(base_url: str) -> Reply:
        connection = Connection(base_url=base_url, api_key_env="OWN_KEY", timeout_s=20)
        async with open_judge("litellm/openai/gpt-4.1-mini", connection) as judge:
            for attempt in range(1, times + 1):
                reply = await judge.ask(make_call("Grade this.", **params), attempt)
            return reply

    with serving(script) as server:
        return asyncio.run(main(server.base_url))


@pytest.mark.skipif(IS_THERE, reason="litellm is installed")
def test_without_the_package_one_sentence_says_how_to_install_it() -> None:
    with pytest.raises(MissingDependencyError, match=r"pip install 'judgesheet\[litellm\]'"):
        open_judge("litellm/openai/m", Connection())


@needs_litellm
def test_a_completion_is_a_reply_with_its_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Request] = []

    def script(request: Request, _number: int) -> Answer:
        asked.append(request)
        return completed("[RESULT] 4")

    reply = ask(script, monkeypatch)
    assert (reply.outcome, reply.text) == ("ok", "[RESULT] 4")
    assert (reply.tokens_in, reply.tokens_out) == (10, 2)
    (request,) = asked
    sent = {name: request.body[name] for name in ("model", "messages", "temperature")}
    question = {"role": "user", "content": "Grade this."}
    assert sent == {"model": "gpt-4.1-mini", "messages": [question], "temperature": 0.0}
    assert request.headers["authorization"] == f"Bearer {KEY}"


@needs_litellm
@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (failure(401, message=f"Wrong key {KEY}"), "unauthorized"),
        (failure(404, message="no such model"), "not_found"),
        (failure(429, message="slow down"), "rate_limited"),
        (failure(500, message="oops"), "unavailable"),
        (failure(400, message="maximum context length is 5"), "too_long"),
        (failure(400, message="what is this"), "rejected"),
        (Answer(b"<html>"), "unavailable"),
        (Answer(None), "unavailable"),
    ],
)
def test_what_a_provider_does_is_data(
    answer: Answer, outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Request] = []

    def script(request: Request, _number: int) -> Answer:
        asked.append(request)
        return answer

    reply = ask(script, monkeypatch)
    assert reply.outcome == outcome, reply.raw
    assert len(asked) == 1, "only judgesheet asks again"
    assert KEY not in json.dumps([reply.raw, reply.text])


@needs_litellm
def test_a_refused_parameter_is_left_out_of_the_next_attempt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def script(request: Request, _number: int) -> Answer:
        if "temperature" in request.body:
            text = "Unsupported parameter: 'temperature' is not supported with this model."
            return failure(400, message=text, param="temperature", code="unsupported_parameter")
        return completed("[RESULT] 4")

    assert ask(script, monkeypatch).outcome == "unsupported"
    assert ask(script, monkeypatch, times=2).text == "[RESULT] 4"


@needs_litellm
def test_a_model_that_litellm_does_not_know_ends_the_run_with_one_sentence(tmp_path: Path) -> None:
    done = start(
        *("probe", "--model", "litellm/nobody-knows-this", "--axis", "score_order", "--quiet"),
        *("--profile", "smoke", "--out", str(tmp_path / "run")),
    )
    assert "check that LiteLLM knows the model 'nobody-knows-this'" in sentence(done)
    assert not (tmp_path / "run" / "datasheet.json").exists()


# -- without the package: a module with the same public call -----------------------------------


class StandIn(ModuleType):
    """What is used of LiteLLM: three settings, and one call that answers, or raises, `gives`."""

    def __init__(self, gives: dict[str, Any] | Exception) -> None:
        super().__init__("litellm")
        self.suppress_debug_info, self.telemetry, self.drop_params = False, True, True
        self._gives = gives
        self.asked: list[dict[str, Any]] = []

    async def acompletion(self, model: str, messages: list[Any], **others: Any) -> SimpleNamespace:
        self.asked.append({"model": model, "messages": messages, **others})
        if isinstance(self._gives, Exception):
            raise self._gives
        return SimpleNamespace(model_dump_json=lambda: json.dumps(self._gives))


def ask_stand_in(
    gives: dict[str, Any] | Exception, monkeypatch: pytest.MonkeyPatch
) -> tuple[StandIn, Reply]:
    module = StandIn(gives)
    module.__spec__ = SimpleNamespace(name="litellm")  # type: ignore[assignment]
    monkeypatch.setitem(sys.modules, "litellm", module)
    monkeypatch.setenv("OWN_KEY", KEY)

    async def main() -> Reply:
        async with open_judge("litellm/some/model", Connection(api_key_env="OWN_KEY")) as judge:
            return await judge.ask(make_call("Grade this."), 1)

    return module, asyncio.run(main())


def test_the_question_and_the_key_are_handed_over_and_nothing_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module, reply = ask_stand_in(json.loads(completed("[RESULT] 4").body or b""), monkeypatch)
    assert (reply.outcome, reply.text) == ("ok", "[RESULT] 4")
    (asked,) = module.asked
    assert (asked["model"], asked["api_key"]) == ("some/model", KEY)
    assert asked["messages"] == [{"role": "user", "content": "Grade this."}]
    assert (asked["max_retries"], asked["api_base"]) == (0, None)
    assert not module.drop_params
    assert not module.telemetry


def raised(kind: str, status: int | None, **headers: str) -> Exception:
    """An exception as LiteLLM raises it."""
    error: Any = type(kind, (Exception,), {})(f"{kind}: {KEY}")
    error.status_code, error.response = status, SimpleNamespace(headers=headers)
    return error  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (raised("AuthenticationError", 401), "unauthorized"),
        (raised("RateLimitError", 429, **{"retry-after": "7"}), "rate_limited"),
        (raised("ContextWindowExceededError", 400), "too_long"),
        (raised("ContentPolicyViolationError", 400), "refused"),
        (raised("BadRequestError", 400), "rejected"),
        (raised("APIConnectionError", None), "unavailable"),
    ],
)
def test_what_is_raised_is_an_outcome_without_the_key(
    error: Exception, outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, reply = ask_stand_in(error, monkeypatch)
    assert reply.outcome == outcome, reply.raw
    assert reply.retry_after_s == (7 if outcome == "rate_limited" else None)
    assert len(module.asked) == 1
    assert KEY not in reply.raw
