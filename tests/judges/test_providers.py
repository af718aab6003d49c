"""Providers by name, and endpoints that refuse what they are usually asked."""

import asyncio
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from judgesheet.base.errors import UsageError
from judgesheet.base.records import Reply
from judgesheet.collect.collect import CollectSettings, Progress
from judgesheet.judges import Connection, open_judge
from judgesheet.judges.dialects import DIALECTS
from judgesheet.judges.providers import BEHIND_HTTP, PROVIDERS, JudgeRef
from judgesheet.judges.redaction import of_environment
from judgesheet.ledger.ledger import Ledger
from tests.collect.test_collect import run_http
from tests.command import Done, run, sentence
from tests.judges.loopback import (
    Answer,
    Request,
    Script,
    completion,
    failure,
    make_call,
    serving,
)

EXPECTED = {
    *("openai", "anthropic", "azure", "bedrock", "google", "mistral", "groq", "together"),
    *("fireworks", "deepseek", "openrouter", "xai", "ollama", "vllm", "llama.cpp", "lm-studio"),
    *("tgi", "openai-compatible", "local", "sim", "python", "litellm"),
}


# -- the table --------------------------------------------------------------------------------


def test_the_usual_providers_have_names() -> None:
    assert PROVIDERS.keys() >= EXPECTED


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_row_makes_sense(name: str) -> None:
    row = PROVIDERS[name]
    assert re.fullmatch(r"[a-z][a-z0-9._-]*", name)
    for variable in filter(None, (row.key_env, row.url_env)):
        assert re.fullmatch(r"[A-Z][A-Z0-9_]*", variable)
    assert row.url_path.startswith("/")
    assert row.dialect in DIALECTS
    if row.base_url:
        address = urlsplit(row.base_url)
        is_here = address.hostname == "localhost"
        assert address.scheme == ("http" if is_here else "https")
        assert address.hostname
        assert address.path.strip("/")
        assert not any((address.query, address.fragment, address.username))
        assert bool(row.key_env and row.needs_key) != is_here


@pytest.mark.parametrize("name", [one for one in BEHIND_HTTP if PROVIDERS[one].base_url])
def test_a_name_is_enough(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row = PROVIDERS[name]
    if row.url_env:
        monkeypatch.delenv(row.url_env, raising=False)
    identity = open_judge(f"{name}/org/model", Connection()).identity
    assert (identity["provider"], identity["model"]) == (name, "org/model")
    assert identity["base_url"] == row.base_url


def test_what_old_ledgers_hold_is_what_judges_are_called_today() -> None:
    for name, url in (
        ("openai", "https://api.openai.com/v1"),
        ("anthropic", "https://api.anthropic.com/v1"),
    ):
        identity = {"provider": name, "model": "m", "base_url": url, "extra_body": {}}
        assert open_judge(f"{name}/m", Connection()).identity == identity


@pytest.mark.parametrize(
    ("name", "near"),
    [("opanai/m", "openai/…"), ("togetherai/m", "together/…"), ("llamacpp/m", "llama.cpp/…"),
     ("OpenRouter/m", "openrouter/…"), ("nobody/m", "openai-compatible/…")],
)  # fmt: skip
def test_an_unknown_provider_is_answered_with_the_nearest(name: str, near: str) -> None:
    with pytest.raises(UsageError) as refusal:
        open_judge(name, Connection())
    assert near in str(refusal.value)
    assert near in sentence(run("plan", "--model", name), 2)


def test_a_provider_without_a_model_is_told_so() -> None:
    with pytest.raises(UsageError, match="groq/NAME"):
        open_judge("groq/", Connection())


@pytest.mark.parametrize("name", ["azure", "bedrock"])
def test_an_address_of_the_users_own_comes_from_a_variable(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    variable = PROVIDERS[name].url_env
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(UsageError, match=variable):
        open_judge(f"{name}/m", Connection())
    for given in ("https://mine.example", "https://mine.example/openai/v1/"):
        monkeypatch.setenv(variable, given)
        identity = open_judge(f"{name}/m", Connection()).identity
        assert str(identity["base_url"]).rstrip("/") == "https://mine.example/openai/v1"


# -- asking -----------------------------------------------------------------------------------


def asked(model: str, script: Script, times: int = 1, **how: Any) -> tuple[list[Reply], list[Any]]:
    """The replies to one call, and the bodies that were sent."""
    with serving(script) as server:
        judge = open_judge(model, Connection(base_url=server.base_url, **how))

        async def main() -> list[Reply]:
            async with judge:
                return [await judge.ask(make_call(seed=1), n + 1) for n in range(times)]

        return asyncio.run(main()), server.requests


def test_azure_is_given_its_key_in_its_own_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-key-0123456789")
    (reply,), (request,) = asked("azure/m", lambda *_: completion("[RESULT] 1"))
    assert reply.outcome == "ok"
    assert request.headers["api-key"] == "azure-key-0123456789"
    assert "authorization" not in request.headers
    assert request.body["max_completion_tokens"] == 24


@pytest.mark.parametrize("model", ["vllm/m", "llama.cpp/m"])
def test_a_server_of_ones_own_needs_no_key_but_gets_one(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    variable = JudgeRef.parse(model).about.key_env
    monkeypatch.delenv(variable, raising=False)
    _, (request,) = asked(model, lambda *_: completion("[RESULT] 1"))
    assert "authorization" not in request.headers
    monkeypatch.setenv(variable, "own-key-0123456789")
    _, (request,) = asked(model, lambda *_: completion("[RESULT] 1"))
    assert request.headers["authorization"] == "Bearer own-key-0123456789"


def refusing(name: str, answer: Answer) -> Script:
    """An endpoint that answers so whatever holds this parameter."""
    return lambda request, _: answer if name in request.body else completion("[RESULT] 1")


def body(status: int, content: Any) -> Answer:
    return Answer(json.dumps(content).encode(), status)


EXTRA = {
    "type": "extra_forbidden",
    "loc": ["body", "seed"],
    "msg": "Extra inputs are not permitted",
}
DIALECTS_OF_REFUSAL: Mapping[str, tuple[str, Answer]] = {
    "openai, a value": (
        "temperature",
        failure(
            400,
            message="Unsupported value: 'temperature' does not support 0 with this model. Only the "
            "default (1) value is supported.",
            type="invalid_request_error",
            param="temperature",
            code="unsupported_value",
        ),
    ),
    "openai, a name": (
        "max_tokens",
        failure(
            400,
            message="Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead.",
            type="invalid_request_error",
            param="max_tokens",
            code="unsupported_parameter",
        ),
    ),
    "anthropic": (
        "temperature",
        body(400, {"type": "error", "error": {"type": "invalid_request_error",
             "message": "`temperature` is deprecated for this model."}}),
    ),
    "bedrock": (
        "temperature",
        body(400, {"message": "The model returned the following errors: `temperature` is "
             "deprecated for this model."}),
    ),
    "mistral": ("seed", body(422, {"object": "error", "message": {"detail": [EXTRA]}})),
    "mistral, quoted": (
        "seed",
        body(422, {"object": "error", "message": json.dumps({"detail": [EXTRA]}), "param": None,
             "type": "internal_error_proxy"}),
    ),
    "pydantic": ("seed", body(422, {"detail": [EXTRA]})),
    "google": (
        "seed",
        body(400, [{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "Invalid JSON "
             'payload received. Unknown name "seed": Cannot find field.'}}]),
    ),
    "xai": (
        "temperature",
        body(400, {"code": "Client specified an invalid argument",
             "error": "Argument not supported on this model: temperature"}),
    ),
    "a gateway": (
        "temperature",
        failure(400, message='BadRequest - {"error":{"message":"`temperature` is deprecated."}}'),
    ),
}  # fmt: skip


@pytest.mark.parametrize("which", DIALECTS_OF_REFUSAL)
def test_what_is_refused_is_not_sent_again(which: str) -> None:
    name, refusal = DIALECTS_OF_REFUSAL[which]
    replies, requests = asked("openai-compatible/m", refusing(name, refusal), times=3)
    assert [reply.outcome for reply in replies] == ["unsupported", "ok", "ok"]
    assert name in requests[0].body
    assert all(name not in request.body for request in requests[1:])
    kept = {"temperature", "seed", "messages", "model"} - {name}
    assert kept <= requests[1].body.keys()
    assert (requests[1].body.get("max_completion_tokens") == 24) == (name == "max_tokens")


@pytest.mark.parametrize(
    "refusal",
    [
        failure(400, message="Invalid 'temperature': above the maximum of 2", param="temperature"),
        failure(400, message="max_tokens is too large: this model supports at most 16"),
        failure(400, message="'response_format' of type json_schema is not supported"),
        failure(400, message="not supported with temperature", param="response_format"),
        failure(404, message="temperature is not supported"),
        body(422, {"detail": [{**EXTRA, "loc": ["body", "logprobs"], "input": "seed"}]}),
        body(400, {"detail": [[[]], {"loc": [[]]}, None, 3], "error": {"message": {"detail": {}}}}),
        body(400, [[]]),
    ],
)
def test_other_refusals_stay_what_they_are(refusal: Answer) -> None:
    replies, requests = asked("openai-compatible/m", lambda *_: refusal, times=2)
    assert {reply.outcome for reply in replies} <= {"rejected", "not_found"}
    assert requests[0].body == requests[1].body


def test_a_limit_that_has_neither_name_is_not_given_up() -> None:
    def script(request: Request, _number: int) -> Answer:
        name = next(name for name in request.body if name.startswith("max_"))
        return failure(400, message=f"{name} is not supported", param=name)

    replies, _ = asked("openai-compatible/m", script, times=3)
    assert [reply.outcome for reply in replies] == ["unsupported", "rejected", "rejected"]


# -- runs -------------------------------------------------------------------------------------

SETTINGS = CollectSettings(backoff_s=0.001, longest_backoff_s=0.002)
NO_TEMPERATURE = DIALECTS_OF_REFUSAL["openai, a value"][1]
NO_MAX_TOKENS = DIALECTS_OF_REFUSAL["openai, a name"][1]


def reasoning(request: Request, _number: int) -> Answer:
    """A model that takes neither a temperature nor the older limit, and thinks unseen."""
    if "temperature" in request.body:
        return NO_TEMPERATURE
    if "max_tokens" in request.body:
        return NO_MAX_TOKENS
    message = {"content": "[RESULT] 2", "reasoning_content": "Perhaps [RESULT] 5?"}
    usage = {"prompt_tokens": 10, "completion_tokens": 40, "total_tokens": 50,
             "completion_tokens_details": {"reasoning_tokens": 30}}  # fmt: skip
    answer = {"model": "served", "choices": [{"message": message}], "usage": usage}
    return Answer(json.dumps(answer).encode())


def collected(
    path: Path, script: Script, how: CollectSettings = SETTINGS, calls: int = 40
) -> tuple[Progress, list[Request]]:
    return run_http(path, script, calls, how)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def test_each_parameter_is_refused_once_and_no_call_fails(path: Path) -> None:
    progress, requests = collected(path, reasoning)
    assert (progress.settled, progress.failed, progress.attempts) == (40, 0, 42)
    assert len(requests) == 42
    assert [sorted(one.body) for one in requests[2:]] == [
        ["max_completion_tokens", "messages", "model"]
    ] * 40
    with Ledger.open(path) as ledger:
        assert ledger.totals().outcomes == {"ok": 40, "unsupported": 2}
        assert ledger.failures() == []
        assert ledger.temperature is None
        assert ledger.refused_parameters == {
            "temperature": None,
            "max_tokens": "max_completion_tokens",
        }


def test_a_resumed_run_asks_as_it_did_and_the_budget_counts_all(path: Path) -> None:
    few = CollectSettings(backoff_s=0.001, max_calls=7)
    progress, requests = collected(path, reasoning, few)
    assert (progress.settled, progress.asked, progress.stopped) == (5, 7, "max_calls")
    assert len(requests) == 7
    # Even where the endpoint would take it now: one sheet, one protocol.
    progress, requests = collected(path, lambda *_: completion("[RESULT] 2"))
    assert (progress.settled, len(requests)) == (40, 35)
    assert all("temperature" not in request.body for request in requests)


def test_a_run_that_ended_with_the_refusal_knows_it(path: Path) -> None:
    once = CollectSettings(max_calls=1)
    collected(path, reasoning, once)
    with Ledger.open(path, writable=True) as ledger:
        assert ledger.refused_parameters == {"temperature": None}
        assert [reply.outcome for reply in ledger.replies()] == []
        ledger.give_up()  # nobody has tried in vain yet
    progress, requests = collected(path, reasoning)
    assert (progress.settled, len(requests)) == (40, 41)


def test_what_is_refused_after_an_answer_is_rejected(path: Path) -> None:
    collected(path, lambda *_: completion("[RESULT] 2"), CollectSettings(max_calls=5))
    with pytest.raises(Exception, match="temperature"):
        collected(path, reasoning)
    with Ledger.open(path) as ledger:
        assert ledger.refused_parameters == {}
        assert ledger.totals().outcomes.keys() == {"ok", "rejected"}


def probe(out: Path, script: Script, *more: str) -> tuple[Done, list[Request]]:
    with serving(script) as server:
        asking = ("--model", "openai-compatible/m", "--base-url", server.base_url)
        what = ("--axis", "score_order", "--profile", "smoke", "--no-pdf", "--no-cases")
        return run("probe", *asking, *what, "--out", str(out), *more), server.requests


@pytest.mark.usefixtures("pages")
def test_the_sheet_says_what_was_not_sent_and_counts_hidden_tokens(tmp_path: Path) -> None:
    done, requests = probe(tmp_path / "run", reasoning, "--prices", "1,10")
    assert done.returncode == 0, done.stderr
    reported = "temperature not sent: the endpoint refuses it"
    assert reported in done.stderr
    assert "failed attempts" not in done.stderr
    sheet = json.loads((tmp_path / "run/datasheet.json").read_text("utf-8"))
    ran = sheet["run"]
    assert ran["refused_parameters"] == {"temperature": None, "max_tokens": "max_completion_tokens"}
    assert (ran["temperature"], ran["failed"], ran["failures"]) == (None, 0, [])
    calls = ran["planned"]
    assert len(requests) == ran["attempts"] == calls + 2
    # Hidden tokens are part of those that are paid for, and are not added to them.
    assert (ran["tokens_out"], ran["tokens_reasoning"]) == (40 * calls, 30 * calls)
    assert ran["cost_usd"] == pytest.approx((10 * calls + 40 * calls * 10) / 1e6)
    page = (tmp_path / "run/datasheet.html").read_text("utf-8")
    conditions = page[page.index('id="conditions"') :]
    assert reported in conditions
    assert "max_tokens sent as max_completion_tokens" in conditions
    assert "at temperature 0" not in page.lower()
    with Ledger.open(tmp_path / "run/ledger.sqlite") as ledger:
        assert {reply.text for reply in ledger.replies()} == {"[RESULT] 2"}


def test_a_sweep_of_what_is_refused_stops(tmp_path: Path) -> None:
    done, requests = probe(tmp_path / "run", reasoning, "--sweep", "temperature=0,1")
    assert done.returncode == 5
    assert "does not support 0" in done.stderr
    assert all("temperature" in request.body for request in requests)


@pytest.mark.parametrize(
    ("usage", "out"),
    [
        ({"completion_tokens": 9, "total_tokens": 109}, 99),  # reasoning in the total alone
        ({"completion_tokens": 40, "total_tokens": 50}, 40),
        ({"completion_tokens": 40}, 40),
        ({"completion_tokens": 40, "total_tokens": 3}, 40),
        ({"total_tokens": 50}, None),
    ],
)
def test_tokens_that_are_paid_for_are_all_counted(usage: dict[str, int], out: int | None) -> None:
    answer = {
        "choices": [{"message": {"content": "[RESULT] 2"}}],
        "usage": {"prompt_tokens": 10, **usage},
    }
    (reply,), _ = asked("google/m", lambda *_: body(200, answer), api_key_env="PATH")
    assert reply.tokens_out == out


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "reasoning_content": "[RESULT] 5"},
        {"content": "", "reasoning": "[RESULT] 5"},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "[RESULT] 5"}]}]},
    ],
)
def test_reasoning_is_never_a_reply(message: dict[str, Any]) -> None:
    answer = {"choices": [{"message": message, "finish_reason": "stop"}]}
    (reply,), _ = asked("openai-compatible/m", lambda *_: body(200, answer))
    assert (reply.outcome, reply.text) == ("empty", "")


def test_bodies_may_say_anything_of_reasoning(path: Path) -> None:
    reported = iter([7, "7", -7, 10**12, [7], {"a": 7}, None, True, 8])

    def script(_request: Request, number: int) -> Answer:
        if number == 1:
            return Answer(b'{"usage": {"reasoning_tokens"')
        usage = {"completion_tokens_details": {"reasoning_tokens": next(reported)}}
        return body(200, {"choices": [{"message": {"content": "2"}}], "usage": usage})

    one_by_one = CollectSettings(concurrency=1, backoff_s=0.001)
    progress, _ = collected(path, script, one_by_one, calls=9)
    assert (progress.settled, progress.attempts) == (9, 10)
    with Ledger.open(path) as ledger:
        assert ledger.reasoning_tokens() == 7 + 8


def test_what_a_ledger_of_somebody_elses_refuses_changes_no_other_field(path: Path) -> None:
    collected(path, reasoning, CollectSettings(max_calls=1))
    with Ledger.open(path, writable=True) as ledger:
        odd = {"messages": None, "model": "dear", "seed": ["x"], "temperature": {"a": 1}}
        ledger.set_meta("refused_parameters", odd)
    _, requests = collected(path, reasoning, CollectSettings(max_calls=3))
    assert [one.body["model"] for one in requests] == ["m"] * 3
    assert requests[0].body.keys() == {"model", "messages", "max_tokens"}


def test_the_key_of_every_provider_is_kept_out_of_a_python_judges_replies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for row in filter(lambda row: row.key_env, PROVIDERS.values()):
        monkeypatch.setenv(row.key_env, f"secret-of-{row.key_env}")
        assert "secret-of" not in of_environment()(f"said secret-of-{row.key_env}")


# -- doctor -----------------------------------------------------------------------------------


def examined(script: Script, model: str = "vllm/m") -> dict[str, Any]:
    with serving(script) as server:
        done = run("doctor", "--model", model, "--base-url", server.base_url, "--json")
    return {found["what"]: found for found in json.loads(done.stdout)}


@pytest.mark.usefixtures("only_endpoint")
def test_doctor_tells_what_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", "own-key-0123456789")
    found = examined(reasoning)
    assert found["key"]["detail"] == "VLLM_API_KEY is set"
    assert "own-key" not in json.dumps(found)
    assert found["address"]["status"] == "ok"
    assert found["parameters"]["detail"] == (
        "temperature is refused and not sent; max_tokens is refused and sent as "
        "max_completion_tokens"
    )
    assert {"JSON schema", "log-probabilities", "seed"} <= found.keys()


@pytest.mark.usefixtures("only_endpoint")
def test_doctor_tells_what_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_API_KEY", raising=False)
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)
    found = examined(lambda *_: Answer(None))
    assert "not set" in found["key"]["detail"]
    assert found["address"]["status"] == "failed"
    found = examined(lambda *_: failure(401))
    assert found["address"]["status"] == "ok"
    assert found["vllm/m"]["status"] == "failed"
    found = examined(lambda *_: completion("[RESULT] 1"), "mistral/m")
    assert "MISTRAL_API_KEY" in found["mistral/m"]["detail"]
    assert found["key"]["status"] == "note"


def test_a_model_without_its_provider_is_told_how_judges_are_named() -> None:
    with pytest.raises(UsageError, match="openai/gpt-9"):
        open_judge("gpt-9", Connection())
