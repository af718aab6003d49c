"""The chat APIs: how the body of a request is built, what the body of a response means.

Nothing here needs an HTTP client: `judges.http` uses it for requests, `judges.batch_formats` for
batch files.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from judgesheet.base.finish_reasons import is_whole
from judgesheet.base.limits import (
    LARGEST_COUNT,
    LONGEST_COMPLAINT,
    LONGEST_NAME,
    MOST_COMPLAINTS,
)
from judgesheet.base.records import Call, Outcome
from judgesheet.judges import Answer, Refused
from judgesheet.judges.providers import DialectName

_SAID: tuple[tuple[Outcome, frozenset[str], tuple[str, ...]], ...] = (
    (
        "unpaid",
        frozenset({"insufficient_quota", "billing_error", "billing_hard_limit_reached"}),
        ("credit balance", "insufficient credit", "insufficient balance"),
    ),
    (
        "refused",
        frozenset({"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"}),
        ("content management policy", "your input was flagged"),
    ),
    (
        "too_long",
        frozenset({"exceed_context_size_error", "context_length_exceeded", "request_too_large"}),
        ("prompt is too long", "maximum context length"),
    ),
)
"""Outcomes with the codes, and the words in lower case, by which endpoints tell of them."""
_BY_STATUS: Mapping[int, Outcome] = {
    401: "unauthorized",
    402: "unpaid",
    403: "unauthorized",
    404: "not_found",
    408: "unavailable",
    409: "unavailable",
    413: "too_long",
    425: "unavailable",
    429: "rate_limited",
}
OTHER_NAME: Refused = {
    "temperature": None,
    "seed": None,
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}
"""Parameters that can do without their name: how else to send them, None: not at all."""
_REFUSING = re.compile(
    r"unsupported|not support|deprecated|not permitted|not allowed|forbidden|unknown"
    r"|unrecogni[sz]ed|unexpected|cannot find"
)
"""Words, in lower case, of an endpoint that knows a parameter not at all; not those of one that
finds its value too large."""
_WORDS = ("text", "output_text")  # parts of a message; others are thoughts, calls of tools


@dataclass(frozen=True, slots=True)
class Dialect:
    """What distinguishes one API from another.

    `headers` are sent with every request, `key_headers` where there is a key. `body` makes a
    request's body from the model and the call, `read` takes a decoded response and gives None where
    that is no chat completion.
    """

    path: str
    key_headers: Callable[[str], Mapping[str, str]]
    body: Callable[[str, Call], dict[str, Any]]
    read: Callable[[Any], Answer | None]
    headers: Mapping[str, str] = field(default_factory=dict)


def request_body(
    dialect: Dialect, model: str, call: Call, extra: Mapping[str, Any]
) -> dict[str, Any]:
    """The body of a request, with `extra` merged last as in RFC 7396: a null takes a field out."""
    if not extra:
        return dialect.body(model, call)
    merged = {**dialect.body(model, call), **extra}
    return {key: value for key, value in merged.items() if key not in extra or value is not None}


def read_response(dialect: Dialect, status: int, body: Any) -> Answer:
    """What a response means, however it was received; only this function decides its outcome.

    `body` is the decoded JSON, None where it is none. Nothing is cut or redacted yet.
    """
    error = _error(body) or _error(_first(_get(body, "choices")))
    if not 200 <= status < 300:
        outcome = _error_outcome(status, error if error else body)
        return Answer(outcome, finish_reason=f"HTTP {status}")
    answer = dialect.read(body)
    if error or (answer and answer.finish_reason == "error"):
        # A gateway had sent its 200 before the model failed: what was said until then is no answer.
        failed = _error_outcome(_own_status(error), error)
        return replace(answer or Answer(failed), outcome=failed, text="")
    if answer is None:
        return Answer("malformed")
    silent = answer.outcome == "ok" and not answer.text.strip()
    unexplained = silent and is_whole(answer.finish_reason)
    return replace(answer, outcome="empty") if unexplained else answer


def without_refused(body: Mapping[str, Any], refused: Refused) -> dict[str, Any]:
    """The body of a request without what the endpoint refuses, or with it under its other name."""
    named = ((refused.get(name, name), value) for name, value in body.items())
    return {name: value for name, value in named if name is not None}


def refused_parameter(status: int, body: Any, sent: Mapping[str, Any]) -> str | None:
    """The parameter of those `sent` for whose sake alone a response refuses a request.

    None where it is none of `OTHER_NAME`: what decides the protocol is never left out.
    """
    if status not in {400, 422}:
        return None
    for complaint in islice(_complaints(body), MOST_COMPLAINTS):
        for name in OTHER_NAME:
            if name in sent and _refuses(complaint, name):
                return name
    return None


def _complaints(body: Any) -> Iterator[Any]:
    """What an error says, one thing at a time: some servers list what is wrong."""
    body = _first(body) or body  # one server puts the whole body into a list
    error = _get(body, "error")
    yield from (body, error)
    inner = [_get(part, name) for part in (body, error) for name in ("detail", "message")]
    for part in (*inner, *(_get(one, "detail") for one in inner)):
        if not isinstance(part, str):  # those are said by what holds them
            yield from part if isinstance(part, list) else [part]


def _refuses(complaint: Any, name: str) -> bool:
    """Whether one complaint is that the endpoint does not take the parameter of this name."""
    place = _get(complaint, "loc")
    named = place[-1] if isinstance(place, list) and place else _get(complaint, "param")
    texts = (complaint, *(_get(complaint, part) for part in ("message", "msg", "code", "type")))
    said = " ".join(text for text in texts if isinstance(text, str))[:LONGEST_COMPLAINT].lower()
    is_named = named == name if named else re.search(rf"(?<!\w){name}(?!\w)", said) is not None
    return is_named and _REFUSING.search(said) is not None


def _error_outcome(status: int, error: Any) -> Outcome:
    """What an error means for the call, and for those after it.

    Only what concerns the call alone settles it (`records.SETTLING`). What is said counts before
    the status: the same fault comes under several.
    """
    inner = _get(error, "innererror")
    kinds = {_text(_get(error, "type")), _text(_get(error, "code")), _text(_get(inner, "code"))}
    said = _text(_get(error, "message") if isinstance(error, dict) else error).lower()
    for outcome, codes, words in _SAID:
        if kinds & codes or any(one in said for one in words):
            return outcome
    # A redirect is not followed: the key would be sent to an address that the user did not give.
    if status < 400:
        return "not_found"
    return "unavailable" if status >= 500 else _BY_STATUS.get(status, "rejected")


def _error(body: Any) -> Any:
    """The error that a body states, None if it states none: some gateways fill in the field."""
    error = _get(body, "error")
    is_filled_in = isinstance(error, dict) and not any(error.values())
    return None if is_filled_in else error


def _own_status(error: Any) -> int:
    """The status that an error inside a 200 states; where it has none, the server failed."""
    code = _count(_get(error, "code"))
    return code if code and 400 <= code < 600 else 502


# -- OpenAI chat completions -----------------------------------------------------------------------


def _compatible_body(model: str, call: Call) -> dict[str, Any]:
    return {"model": model, "messages": call.messages, **call.params}


def _openai_body(model: str, call: Call) -> dict[str, Any]:
    body = _compatible_body(model, call)
    # OpenAI's newer models reject the older name; other servers know only that one.
    if "max_tokens" in body:
        body["max_completion_tokens"] = body.pop("max_tokens")
    return body


def _read_completion(body: Any) -> Answer | None:
    choice = _first(_get(body, "choices"))
    message = _get(choice, "message")
    if not isinstance(message, dict):
        return None
    usage = _get(body, "usage")
    finish_reason = _reason(_get(choice, "finish_reason"))
    filtered = finish_reason == "content_filter"
    return Answer(
        "refused" if filtered or _text(message.get("refusal")) else "ok",
        text=_text(message.get("content")),
        tokens_in=_count(_get(usage, "prompt_tokens")),
        tokens_out=_tokens_out(usage),
        served_model=_string(_get(body, "model")),
        finish_reason=finish_reason,
    )


def _tokens_out(usage: Any) -> int | None:
    """All tokens of a reply, those of hidden reasoning among them.

    Most servers count these as completion tokens; some (Google, xAI) only in the total.
    """
    names = ("completion_tokens", "prompt_tokens", "total_tokens")
    told, asked, total = [_count(_get(usage, name)) for name in names]
    if told is None or asked is None or total is None:
        return told
    # Where the total is no larger, the reply was counted whole.
    return max(told, total - asked)


# -- Anthropic messages ----------------------------------------------------------------------------


def _anthropic_body(model: str, call: Call) -> dict[str, Any]:
    """The call in Anthropic's terms.

    System messages move to `system`; `response_format` becomes `output_config.format`, which is
    how this API constrains a reply to a schema (it was a forced tool call before that, which puts
    the reply into a tool's arguments and so changes the protocol). There is no `seed`.
    """
    params = dict(call.params)
    # There is none in this API, and an unknown field is refused.
    params.pop("seed", None)
    params.setdefault("max_tokens", 1024)  # required here
    schema = _get(_get(params.pop("response_format", None), "json_schema"), "schema")
    if schema is not None:
        params["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    system = [message["content"] for message in call.messages if message["role"] == "system"]
    if system:
        params["system"] = "\n\n".join(system)
    messages = [message for message in call.messages if message["role"] != "system"]
    return {"model": model, "messages": messages, **params}


def _read_message(body: Any) -> Answer | None:
    blocks = _get(body, "content")
    if not isinstance(blocks, list):
        return None
    usage = _get(body, "usage")
    tokens_in = _count(_get(usage, "input_tokens"))
    if tokens_in is not None:  # it does not count tokens that came from the prompt cache
        cached = ("cache_creation_input_tokens", "cache_read_input_tokens")
        tokens_in += sum(_count(_get(usage, name)) or 0 for name in cached)
    stop_reason = _reason(_get(body, "stop_reason"))
    return Answer(
        "refused" if stop_reason == "refusal" else "ok",
        text=_text(blocks),
        tokens_in=tokens_in,
        tokens_out=_count(_get(usage, "output_tokens")),
        served_model=_string(_get(body, "model")),
        finish_reason=stop_reason,
    )


OPENAI = Dialect(
    "/chat/completions",
    key_headers=lambda key: {"Authorization": f"Bearer {key}"},
    body=_openai_body,
    read=_read_completion,
)
COMPATIBLE = replace(OPENAI, body=_compatible_body)
ANTHROPIC = Dialect(
    "/messages",
    key_headers=lambda key: {"x-api-key": key},
    body=_anthropic_body,
    read=_read_message,
    headers={"anthropic-version": "2023-06-01"},
)
DIALECTS: Mapping[DialectName, Dialect] = {
    "compatible": COMPATIBLE,
    "openai": OPENAI,
    "azure": replace(OPENAI, key_headers=lambda key: {"api-key": key}),
    "anthropic": ANTHROPIC,
}


# -- reading what may be anything ------------------------------------------------------------------


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else None


def _text(content: Any) -> str:
    """A message's words: a string, or the strings and text parts of a list."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (_get(part, "text") if _get(part, "type") in _WORDS else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str))


def _count(value: Any) -> int | None:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and 0 <= value <= LARGEST_COUNT else None


def _reason(value: Any) -> str | None:
    """Why a reply ended, None if not stated; what is not a text is an unknown reason."""
    return value if value is None or isinstance(value, str) else json.dumps(value)[:LONGEST_NAME]


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None
