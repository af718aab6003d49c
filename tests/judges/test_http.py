import asyncio
import gzip
import json
import socket
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from threading import Semaphore
from typing import Any

import pytest

from judgesheet import judges
from judgesheet.base.errors import JudgeError, UsageError
from judgesheet.base.limits import LONGEST_BODY, LONGEST_NAME, LONGEST_RAW
from judgesheet.base.records import Call, Outcome, Reply
from judgesheet.judges import Connection, open_judge
from judgesheet.judges.http import recorded
from judgesheet.judges.redaction import Redaction
from judgesheet.judges.responses import Received
from tests.judges.loopback import Answer, Script, completion, failure, make_call, serving

KEY = "sk-very-secret-0123456789"


def ask(
    script: Script,
    call: Call | None = None,
    model: str = "openai-compatible/m",
    times: int = 1,
    **connection: Any,
) -> list[Reply]:
    async def main(base_url: str) -> list[Reply]:
        judge = open_judge(model, Connection(**{"base_url": base_url, **connection}))
        async with judge:
            return [await judge.ask(call or make_call(), n) for n in range(1, times + 1)]

    with serving(script) as server:
        return asyncio.run(main(server.base_url))


def failed(outcome: Outcome, raw: str = "") -> Reply:
    return judges.Answer(outcome, raw=raw).as_reply("call", 1, 0.0, 0.0)


def always(answer: Answer) -> Script:
    return lambda _request, _number: answer


def test_a_completion_is_read_with_its_usage_and_kept_verbatim() -> None:
    (reply,) = ask(always(completion("Fine.\n[RESULT] 4")))
    assert (reply.outcome, reply.text) == ("ok", "Fine.\n[RESULT] 4")
    assert (reply.tokens_in, reply.tokens_out, reply.served_model) == (10, 2, "served-model")
    assert json.loads(reply.raw)["choices"][0]["message"]["role"] == "assistant"
    assert reply.call_id == make_call().id


def erring(**error: object) -> Answer:
    """A completion beside an error, as gateways send it whose 200 had left already."""
    body = json.loads(completion("[RESULT] 4").body or b"")
    return Answer(json.dumps({**body, "error": {"message": "upstream", **error}}).encode())


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (failure(401, message="bad key"), "unauthorized"),
        (failure(403), "unauthorized"),
        (failure(404, message="no such model"), "not_found"),
        (Answer(b"", 301, {"Location": "http://127.0.0.1/"}), "not_found"),
        (failure(408), "unavailable"),
        (failure(409), "unavailable"),
        (failure(500), "unavailable"),
        (failure(529), "unavailable"),
        (failure(429), "rate_limited"),
        (failure(400, message="temperature is not supported"), "unsupported"),
        (failure(400, message="temperature must be at most 2", param="temperature"), "rejected"),
        (failure(400, message="response_format is not supported"), "rejected"),
        (failure(500, message="temperature is not supported"), "unavailable"),
        (failure(422), "rejected"),
        (failure(400, type="exceed_context_size_error", n_ctx=4096), "too_long"),
        (failure(400, code="context_length_exceeded"), "too_long"),
        (failure(400, message="prompt is too long: 9 tokens > 8 maximum"), "too_long"),
        (Answer(b'{"error": [[1]]}', 400), "rejected"),
        (Answer(b"<html><body>Welcome</body></html>"), "malformed"),
        (Answer(b""), "malformed"),
        (Answer(b"null"), "malformed"),
        (Answer(b'{"choices": []}'), "refused"),
        (Answer(b'{"choices": null}'), "malformed"),
        (Answer(b'{"choices": [{"finish_reason": "PROHIBITED_CONTENT"}]}'), "refused"),
        (Answer(b'{"choices": [{"finish_reason": "stop"}]}'), "malformed"),
        (completion("", finish_reason="content_filter: SAFETY"), "refused"),
        (Answer(b'{"choices": [{"message": "hello"}]}'), "malformed"),
        (Answer(b'{"error": {"message": "upstream"}}'), "unavailable"),
        (failure(402, message="pay"), "unpaid"),
        (failure(400, message="Your credit balance is too low to access the API"), "unpaid"),
        (failure(429, code="insufficient_quota", message="check your plan"), "unpaid"),
        (failure(429, message="You exceeded your current quota"), "rate_limited"),
        (failure(413), "too_long"),
        (failure(400, code="content_filter"), "refused"),
        (failure(403, message="Your input was flagged"), "refused"),
        (erring(), "unavailable"),
        (erring(code=429), "rate_limited"),
        (erring(code=402), "unpaid"),
        (completion("[RESULT] 4", finish_reason="error"), "unavailable"),
        (completion("[RESULT] 4", error={"code": 502, "message": "gone"}), "unavailable"),
        (completion(""), "empty"),
        (completion(" ", finish_reason="stop"), "empty"),
        (completion("", finish_reason="length"), "ok"),
        (Answer(b"[" * 100_000), "malformed"),
        (Answer(b"not gzip", 200, {"Content-Encoding": "gzip"}), "unavailable"),
        (Answer(None), "unavailable"),
        (completion("I cannot.", finish_reason="content_filter"), "refused"),
        (completion("I cannot help with that.", finish_reason="stop"), "ok"),
    ],
)
def test_every_response_has_an_outcome(answer: Answer, outcome: Outcome) -> None:
    (reply,) = ask(always(answer))
    assert reply.outcome == outcome


def test_a_refusal_is_what_the_api_calls_one() -> None:
    message = {"role": "assistant", "content": None, "refusal": "I will not."}
    (reply,) = ask(always(Answer(json.dumps({"choices": [{"message": message}]}).encode())))
    assert (reply.outcome, reply.text) == ("refused", "")
    assert "I will not." in reply.raw


def test_why_the_judge_stopped_is_kept() -> None:
    for given, kept in (("stop", "stop"), ("length", "length"), (None, None), (["x"], '["x"]')):
        (reply,) = ask(always(completion("[RESULT] 4", finish_reason=given)))
        assert (reply.outcome, reply.finish_reason) == ("ok", kept)
    (reply,) = ask(always(completion("[RESULT] 4", finish_reason="x" * 10_000)))
    assert len(reply.finish_reason or "") == LONGEST_NAME


@pytest.mark.parametrize(
    "content",
    [
        ["[RESULT] ", "2"],
        [{"type": "text", "text": "[RESULT] "}, "2"],
        [{"type": "output_text", "text": "[RESULT] 2", "annotations": []}],
        [{"type": ["text"], "text": "5?"}, {"type": "text", "text": "[RESULT] 2"}],
        [{"type": "reasoning", "text": "5?"}, {"type": "output_text", "text": "[RESULT] 2"}],
    ],
)
def test_content_may_come_in_parts(content: Any) -> None:
    (reply,) = ask(always(completion(content)))
    assert (reply.outcome, reply.text) == ("ok", "[RESULT] 2")


@pytest.mark.parametrize("error", [{"code": 0, "message": ""}, {"code": None}, {}, "", None])
def test_a_field_for_errors_that_holds_none_is_no_error(error: Any) -> None:
    body = {**json.loads(completion("[RESULT] 4").body or b""), "error": error}
    (reply,) = ask(always(Answer(json.dumps(body).encode())))
    assert (reply.outcome, reply.text) == ("ok", "[RESULT] 4")


def test_reasoning_stays_out_of_the_text() -> None:
    message = {"content": "[RESULT] 2", "reasoning_content": "Perhaps [RESULT] 5?"}
    (reply,) = ask(always(Answer(json.dumps({"choices": [{"message": message}]}).encode())))
    assert reply.text == "[RESULT] 2"
    assert "Perhaps" in reply.raw


@pytest.mark.parametrize("usage", [None, 3, [], {"prompt_tokens": "9"}, {"prompt_tokens": -1}])
def test_usage_that_makes_no_sense_is_unknown(usage: Any) -> None:
    body = {"choices": [{"message": {"content": "x"}}], "usage": usage, "model": 7}
    (reply,) = ask(always(Answer(json.dumps(body).encode())))
    assert (reply.outcome, reply.tokens_in, reply.served_model) == ("ok", None, None)


def test_hostile_bytes_arrive_as_text() -> None:
    body = b'{"choices": [{"message": {"content": "\\u0000 \\ud800 \xff\xfe [RESULT] 1"}}]}'
    (reply,) = ask(always(Answer(body)))
    assert reply.outcome == "ok"
    assert "\x00" in reply.text
    assert "\ufffd" in reply.text


def test_a_compressed_body_is_decompressed() -> None:
    body = completion("[RESULT] 3").body or b""
    (reply,) = ask(always(Answer(gzip.compress(body), 200, {"Content-Encoding": "gzip"})))
    assert reply.text == "[RESULT] 3"


def test_a_compressed_bomb_is_not_unpacked() -> None:
    bomb = gzip.compress(b" " * 100_000_000)
    (reply,) = ask(always(Answer(bomb, 200, {"Content-Encoding": "gzip"})))
    assert reply.outcome == "malformed"
    assert len(reply.raw) < 2_000_000


def test_a_long_body_is_read_and_its_record_cut() -> None:
    (reply,) = ask(always(completion("x" * (LONGEST_RAW + 10))))
    assert reply.outcome == "ok"
    assert len(reply.text) == LONGEST_RAW + 10
    assert len(reply.raw) < LONGEST_RAW + 100
    assert "cut here" in reply.raw


def test_log_probabilities_may_take_more_room() -> None:
    long = always(completion("x" * (LONGEST_RAW + 10)))
    (reply,) = ask(long, make_call(logprobs=True))
    assert json.loads(reply.raw)["choices"]


def test_an_endless_body_is_not_read_to_its_end() -> None:
    (reply,) = ask(always(Answer(b" " * (LONGEST_BODY + 2_000_000))))
    assert reply.outcome == "malformed"
    assert len(reply.raw) < LONGEST_RAW + 100


def test_a_slow_server_is_a_timeout() -> None:
    def slow(_request: object, _number: int) -> Answer:
        time.sleep(0.4)
        return completion("late")

    (reply,) = ask(slow, timeout_s=0.1)
    assert reply.outcome == "timeout"


def test_answers_that_came_while_the_process_stood_still_are_taken() -> None:
    arrived = Semaphore(0)

    def soon(_request: object, _number: int) -> Answer:
        arrived.release()
        time.sleep(0.1)
        return completion("[RESULT] 2")

    async def main(url: str) -> list[Reply]:
        async with open_judge("vllm/m", Connection(base_url=url, timeout_s=1)) as judge:
            asked = [asyncio.create_task(judge.ask(make_call(), 1)) for _ in range(5)]
            for _ in asked:
                await asyncio.to_thread(arrived.acquire)
            time.sleep(1.5)  # noqa: ASYNC251  # all stands still, as while a process is stopped
            return await asyncio.gather(*asked)

    with serving(soon) as server:
        replies = asyncio.run(main(server.base_url))
    assert [reply.outcome for reply in replies] == ["ok"] * 5


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_refused_connection_is_unavailable(scheme: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, never listening
        url = f"{scheme}://127.0.0.1:{taken.getsockname()[1]}"
        (reply,) = ask(always(completion("")), base_url=url)
    assert reply.outcome == "unavailable"
    assert "ConnectError" in reply.raw
    assert "ssl:" not in reply.raw


IN_AN_HOUR = "a date"
"""Stands for the date an hour after the request, which may be long after this file was read."""


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"Retry-After": "7"}, 7, 7),
        ({"retry-after-ms": "1500", "Retry-After": "9"}, 1.5, 1.5),
        ({"Retry-After": IN_AN_HOUR}, 3000, 3600),
        ({"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0, 0),
        ({"Retry-After": "-5"}, 0, 0),
        ({"Retry-After": "1e99"}, 31_622_400, 31_622_400),
        ({"retry-after-ms": "soon", "Retry-After": "9"}, 9, 9),
        (
            {
                "x-ratelimit-remaining-requests": "3",
                "x-ratelimit-reset-requests": "100",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-tokens": "6m0.5s",
            },
            360.5,
            360.5,
        ),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": IN_AN_HOUR}, 3000, 3600),
        (
            {
                "date": "Thu, 21 Aug 2025 12:40:00 GMT",
                "anthropic-ratelimit-input-tokens-remaining": "0",
                "anthropic-ratelimit-input-tokens-reset": "2025-08-21T12:40:09Z",
            },
            9,
            9,
        ),
        (
            {
                "date": "Thu, 21 Aug 2025 12:40:00 GMT",
                "x-ratelimit-remaining": "0",
                "x-ratelimit-reset": "1755780009000",
            },
            9,
            9,
        ),
    ],
)
def test_retry_after_is_understood(headers: dict[str, str], low: float, high: float) -> None:
    hour = format_datetime(datetime.now(UTC) + timedelta(hours=1))
    stated = {name: hour if value == IN_AN_HOUR else value for name, value in headers.items()}
    (reply,) = ask(always(failure(429, stated)))
    assert reply.retry_after_s is not None
    assert low <= reply.retry_after_s <= high


@pytest.mark.parametrize("stated", ["soon", "inf", "nan", "", "Thu, 99 Foo 99999 00:00:00"])
def test_retry_after_that_nobody_can_read_is_none(stated: str) -> None:
    (reply,) = ask(always(failure(429, {"Retry-After": stated})))
    assert reply.retry_after_s is None


@pytest.mark.parametrize("reported", ["soon", "5x", "5s5", "9" * 400, "s" * 1000, "87600h", ""])
def test_a_reset_that_cannot_be_is_none(reported: str) -> None:
    headers = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": reported}
    (reply,) = ask(always(failure(429, headers)))
    assert reply.retry_after_s is None


def test_google_says_in_the_body_when_to_come_back() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.5s"}]
    (reply,) = ask(always(failure(429, message="quota", details=details)))
    assert reply.retry_after_s == 1.5


# -- keys -------------------------------------------------------------------------------------


def test_a_key_is_sent_and_appears_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)

    def echo(request: Any, _number: int) -> Answer:
        return completion(f"you sent {request.headers['authorization']}")

    (reply,) = ask(echo, api_key_env="MY_KEY")
    assert reply.text == "you sent Bearer [redacted]"
    assert KEY not in repr(reply)


def test_an_error_that_echoes_the_key_is_redacted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    (reply,) = ask(always(failure(401, message=f"no such key: {KEY}")), api_key_env="MY_KEY")
    assert KEY not in repr(reply)


@pytest.mark.parametrize("key", [KEY, "sk\\very-secret"])
def test_a_key_that_comes_back_in_json_is_redacted(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", key)
    echo = json.dumps({"message": f"no such key: {key}."})
    (reply,) = ask(always(Answer(echo.encode(), 401)), api_key_env="MY_KEY")
    assert "no such key: [redacted]." in reply.raw


@pytest.mark.parametrize("shown", range(1, len(KEY)))
def test_no_part_of_a_key_survives_a_cut(shown: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    body = json.loads(completion("x").body or b"")
    body["model"] = "m" * (LONGEST_NAME - shown) + KEY
    start = len(json.dumps({"pad": ""})) - len('"}')
    body = {"pad": "p" * (LONGEST_RAW - start - shown) + KEY, **body}
    (reply,) = ask(always(Answer(json.dumps(body).encode())), api_key_env="MY_KEY")
    assert reply.served_model is not None
    assert len(reply.served_model) <= LONGEST_NAME
    assert "cut here" in reply.raw
    assert "sk-" not in reply.raw + reply.served_model
    assert f"p{KEY[0]}" not in reply.raw
    assert f"m{KEY[0]}" not in reply.served_model


def test_no_part_of_a_key_survives_where_reading_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    key = KEY * 40
    monkeypatch.setenv("MY_KEY", key)
    echoes = key.encode() * (LONGEST_BODY // len(key) + 2)
    (reply,) = ask(always(Answer(echoes)), api_key_env="MY_KEY")
    assert reply.outcome == "malformed"
    assert "very" not in reply.raw


@pytest.mark.parametrize("size", [5, 100, 1_000, 1_001, 30_013])
def test_no_part_of_a_key_survives_wherever_reading_stops(size: int) -> None:
    received = Received(200, {}, (KEY * 2000)[:size], complete=False)
    assert "sk-" not in recorded(received, LONGEST_RAW, Redaction([KEY * 40]))


def test_redacting_takes_linear_time_on_a_body_of_backslashes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_KEY", "\\" * 40 + "x")
    (reply,) = ask(always(Answer(b"\\" * 100_000)), api_key_env="MY_KEY")
    assert reply.outcome == "malformed"


def test_a_placeholder_key_does_not_mangle_replies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "none")
    (reply,) = ask(always(completion("none of it fits")), api_key_env="MY_KEY")
    assert reply.text == "none of it fits"


def test_credentials_in_the_base_url_are_used_and_hidden() -> None:
    def echo(request: Any, _number: int) -> Answer:
        return completion(request.headers["authorization"])

    async def main(base_url: str) -> tuple[Reply, str]:
        url = base_url.replace("//", "//someone:long-password@") + "/arn%3Aaws?token=another-secret"
        judge = open_judge("openai-compatible/m", Connection(base_url=url))
        async with judge:
            return await judge.ask(make_call(), 1), repr(judge.identity)

    with serving(echo) as server:
        reply, identity = asyncio.run(main(server.base_url))
        path = server.requests[0].path
    assert reply.text == "Basic [redacted]"
    assert path == "/v1/arn%3Aaws/chat/completions?token=another-secret", "as it is signed"
    assert "long-password" not in identity
    assert "someone" not in identity
    assert "another-secret" not in identity


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_missing_key_is_named_before_the_first_call(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    variable = f"{provider.upper()}_API_KEY"
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(JudgeError, match=variable):
        ask(always(completion("")), model=f"{provider}/m")


def test_advice_names_what_the_user_gave() -> None:
    judge = open_judge("openai/gpt-x", Connection(base_url="http://h/v1"))
    assert "OPENAI_API_KEY" in str(judge.advise(failed("unauthorized")))
    assert "gpt-x" in str(judge.advise(failed("not_found")))
    assert "http://h/v1" in str(judge.advise(failed("unavailable")))


# -- requests ---------------------------------------------------------------------------------


def sent(model: str, call: Call, **connection: Any) -> tuple[str, dict[str, str], Any]:
    async def main(base_url: str) -> None:
        judge = open_judge(model, Connection(base_url=base_url, **connection))
        async with judge:
            await judge.ask(call, 1)

    with serving(always(completion("ok"))) as server:
        asyncio.run(main(server.base_url))
        request = server.requests[0]
    return request.path, dict(request.headers), request.body


FORMAT = {
    "type": "json_schema",
    "json_schema": {"name": "n", "strict": True, "schema": {"type": "object"}},
}


def test_compatible_servers_get_the_params_as_they_are() -> None:
    path, headers, body = sent("openai-compatible/m", make_call(seed=3, response_format=FORMAT))
    assert path == "/v1/chat/completions"
    assert "authorization" not in headers
    assert (body["model"], body["seed"], body["max_tokens"]) == ("m", 3, 24)
    assert body["response_format"] == FORMAT


def test_openai_gets_the_newer_name_of_max_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    _, headers, body = sent("openai/m", make_call())
    assert headers["authorization"] == f"Bearer {KEY}"
    assert "max_tokens" not in body
    assert body["max_completion_tokens"] == 24


def test_anthropic_gets_its_own_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    call = Call(
        axis="score_order",
        stimulus="s",
        cell={},
        repeat=0,
        messages=({"role": "system", "content": "Be fair."}, {"role": "user", "content": "Hi"}),
        params={"temperature": 0.0, "max_tokens": 9, "seed": 1, "response_format": FORMAT},
    )
    path, headers, body = sent("anthropic/m", call)
    assert path == "/v1/messages"
    assert headers["x-api-key"] == KEY
    assert "anthropic-version" in headers
    assert body == {
        "model": "m",
        "system": "Be fair.",
        "messages": [{"role": "user", "content": "Hi"}],
        "temperature": 0.0,
        "max_tokens": 9,
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
    }


@pytest.mark.parametrize(("stop", "outcome"), [("end_turn", "ok"), ("refusal", "refused")])
def test_anthropic_replies_are_read(
    stop: str, outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    body = {
        "model": "served",
        "stop_reason": stop,
        "content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "A"},
            {"type": "text", "text": "B"},
        ],
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": 3},
    }
    (reply,) = ask(always(Answer(json.dumps(body).encode())), model="anthropic/m")
    assert (reply.outcome, reply.text) == (outcome, "AB")
    assert (reply.tokens_in, reply.tokens_out) == (12, 3)


def test_extra_body_is_merged_last_and_null_takes_a_field_out() -> None:
    extra = {"max_tokens": 5, "temperature": None, "top_k": 1}
    _, _, body = sent("openai-compatible/m", make_call(), extra_body=extra)
    assert body["max_tokens"] == 5
    assert body["top_k"] == 1
    assert "temperature" not in body


def test_the_base_url_of_the_environment_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere:1/api")
    judge = open_judge("openai/m", Connection())
    assert judge.identity["base_url"] == "http://elsewhere:1/api"


@pytest.mark.parametrize(
    ("model", "base_url"),
    [
        ("openai-compatible/m", None),
        ("openai-compatible/m", "localhost:8000"),
        ("openai-compatible/m", "ftp://h/v1"),
        ("openai-compatible/m", "http://[::1"),
        ("openai-compatible/m", "http://xn--a/v1"),
        ("openai-compatible/m", f"http://h/{'v1/' * 30_000}"),
        ("openai-compatible/m", f"http://{'h' * 70_000}"),
        ("openai-compatible/", "http://h"),
        ("nonsense", None),
        ("nobody/m", None),
    ],
)
def test_what_cannot_be_asked_is_a_usage_error(model: str, base_url: str | None) -> None:
    with pytest.raises(UsageError):
        open_judge(model, Connection(base_url=base_url))


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(always(completion("through the proxy"))) as proxy:
        monkeypatch.setenv("http_proxy", proxy.base_url.removesuffix("/v1"))
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)

        async def main() -> Reply:
            judge = open_judge("openai-compatible/m", Connection(base_url="http://far.invalid/v1"))
            async with judge:
                return await judge.ask(make_call(), 1)

        reply = asyncio.run(main())
        assert proxy.requests[0].path == "http://far.invalid/v1/chat/completions"
    assert reply.text == "through the proxy"


def test_a_proxy_without_a_scheme_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "someone:secret@localhost:3128")
    monkeypatch.setenv("no_proxy", "")
    with pytest.raises(JudgeError, match="http://host:port") as caught:
        ask(always(completion("")), base_url="http://far.invalid/v1")
    assert "secret" not in str(caught.value)
