"""The chat APIs: how the body of a request is built, what the body of a response means.

Nothing here needs an HTTP client: `judges.http` uses it for requests, `judges.batch_formats` for
batch files.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NamedTuple

from judgesheet.base.finish_reasons import is_filtered, is_whole
from judgesheet.base.limits import (
    LARGEST_COUNT,
    LONGEST_COMPLAINT,
    LONGEST_LOOK,
    LONGEST_NAME,
    MOST_COMPLAINTS,
)
from judgesheet.base.records import Call, Outcome
from judgesheet.judges import Answer, Refused
from judgesheet.judges.providers import DialectName


class Complaint(NamedTuple):
    """What endpoints complain of: the words and codes, in lower case, by which they tell of it.

    `mend` is the one thing that the user can change; "" where the judge knows it.
    """

    outcome: Outcome
    words: str
    mend: str = ""


_TOO_LONG = (
    "exceed_context_size_error|context_length_exceeded|request_too_large|prompt is too long"
    "|context (?:length|limit|size|window)|input token count|input is too long|`inputs` tokens"
    "|request too large"
)
_TOKENS_FIELD = r"max_(?:[a-z]+_)?tokens"
_LARGER_WINDOW = "serve the model with a larger context window"
_NO_REASONING = (
    "raise --max-tokens, or switch the reasoning off with --extra-body (all words of the replies "
    "are in the field of the reasoning, and those of the answer are missing)"
)
COMPLAINTS = (
    Complaint(
        "unpaid",
        "insufficient_quota|billing_error|billing_hard_limit_reached|credit balance"
        "|insufficient (?:credit|balance)",
    ),
    Complaint(
        "refused",
        "content_filter|content_policy_violation|responsibleaipolicyviolation|prohibited_content"
        "|data_inspection_failed|content management policy|your input was flagged",
    ),
    Complaint(
        "too_long",
        rf"(?s)(?=.*(?:{_TOKENS_FIELD}|completion|requested)).*(?:{_TOO_LONG})",
        f"lower --max-tokens, or {_LARGER_WINDOW}",
    ),
    Complaint("too_long", _TOO_LONG, _LARGER_WINDOW),
    Complaint("rejected", "enable_thinking", """give --extra-body '{"enable_thinking": false}'"""),
    Complaint(
        "rejected",
        r"(?:only|must|require|enable)[\w ]{,20} stream|stream(?:s|ing)? (?:mode|only|is required)"
        "|stream[\"'`]? (?:must be (?:set )?)?(?:to )?true",
        """give --extra-body '{"stream": true}'""",
    ),
    Complaint("rejected", _TOKENS_FIELD, "give a --max-tokens that the endpoint takes"),
    Complaint("rejected", "log_?prob|log prob", "leave --logprobs out"),
    Complaint("rejected", "temperature", "give a --temperature that the endpoint takes"),
    Complaint("rejected", "response_format|json_schema|json schema|guided_", "give --reply text"),
    Complaint("unauthorized", "api[ _-]?key|credentials|unauthenticated|access token"),
    Complaint(
        "not_found",
        "inference profile|model_not_found|(?:unknown|invalid|no such) model"
        "|model.{,60} (?:not found|not exist|unknown|not available|not a chat)",
    ),
    Complaint("empty", r'"reasoning(?:_content)?":\s*"[^"]', _NO_REASONING),
    Complaint("ok", r'"reasoning(?:_content)?":\s*"[^"]', _NO_REASONING),
)
"""In the order in which they are looked for. A new wording is one more word here."""
_ALWAYS = frozenset({"unpaid", "refused", "too_long"})
"""What counts before the status: the same fault comes under several."""
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
    r"|only (?:the default|[\d.]+) is allowed|may only be|strictly positive"
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
    is_silent = answer.outcome == "ok" and not answer.text.strip()
    is_unexplained = is_silent and is_whole(answer.finish_reason)
    # No prompt and no text has 0 tokens: whoever says so does not count them.
    return replace(
        answer,
        outcome="empty" if is_unexplained else answer.outcome,
        tokens_in=answer.tokens_in or None,
        tokens_out=answer.tokens_out or (None if answer.text else answer.tokens_out),
    )


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
    inner.append(_get(error, "metadata"))  # where routers put what the host said
    for part in (*inner, *(_get(one, "detail") for one in inner)):
        if not isinstance(part, str):  # those are said by what holds them
            yield from part if isinstance(part, list) else [part]


def _refuses(complaint: Any, name: str) -> bool:
    """Whether one complaint is that the endpoint does not take the parameter of this name."""
    place = _get(complaint, "loc")
    named = place[-1] if isinstance(place, list) and place else _get(complaint, "param")
    texts = (
        complaint,
        *(_get(complaint, part) for part in ("message", "msg", "raw", "code", "type")),
    )
    said = " ".join(text for text in texts if isinstance(text, str))[:LONGEST_COMPLAINT].lower()
    is_named = named == name if named else re.search(rf"(?<!\w){name}(?!\w)", said) is not None
    return is_named and _REFUSING.search(said) is not None


def _error_outcome(status: int, error: Any) -> Outcome:
    """What an error means for the call, and for those after it.

    Only what concerns the call alone settles it (`records.SETTLING`).
    """
    # A redirect is not followed: the key would be sent to an address that the user did not give.
    plain: Outcome = "not_found" if status < 400 else _BY_STATUS.get(status, "rejected")
    plain = "unavailable" if status >= 500 else plain
    said = _said(error)
    for one in COMPLAINTS:
        if (plain == "rejected" or one.outcome in _ALWAYS) and re.search(one.words, said):
            return one.outcome
    return plain


def mend_of(outcome: Outcome, raw: str) -> str:
    """What the user can change about a reply with this body; "" where it does not say."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        body = None
    error = _error(_first(body) or body) or body
    is_answer = outcome in {"ok", "empty", "malformed"}
    said = raw[:LONGEST_LOOK].lower() if is_answer else _said(error)
    found = (
        one.mend for one in COMPLAINTS if outcome == one.outcome and re.search(one.words, said)
    )
    return next(found, "")


_SAYING = (
    *("error", "innererror", "metadata", "detail", "message", "msg"),
    *("raw", "code", "type", "param"),
)


def _said(error: Any) -> str:
    """What an error says, in lower case, without what it quotes of a request or of a reply."""
    return " ".join(islice(_texts(error), MOST_COMPLAINTS)).lower()


def _texts(value: Any, deep: int = 8) -> Iterator[str]:
    if isinstance(value, str):
        yield value[:LONGEST_COMPLAINT]
        return
    named = map(value.get, _SAYING) if isinstance(value, dict) else ()
    for one in (value if isinstance(value, list) else named) if deep else ():
        yield from _texts(one, deep - 1)


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
    choices = _get(body, "choices")
    choice = _first(choices)
    message = _get(choice, "message")
    finish_reason = _reason(_get(choice, "finish_reason"))
    filtered = choices == [] or is_filtered(finish_reason)
    if not (filtered or isinstance(message, dict)):
        return None
    usage = _get(body, "usage")
    return Answer(
        "refused" if filtered or _text(_get(message, "refusal")) else "ok",
        text=_text(_get(message, "content")),
        tokens_in=_tokens_in(usage),
        tokens_out=_tokens_out(usage),
        served_model=_string(_get(body, "model")),
        finish_reason=finish_reason,
    )


def _tokens_in(usage: Any) -> int | None:
    """All tokens of a prompt, those from a cache among them, which some servers leave out."""
    stated = _count(_get(usage, "prompt_tokens"))
    cached = _count(_get(_get(usage, "prompt_tokens_details"), "cached_tokens")) or 0
    return stated + cached if stated and stated < cached else stated


def _tokens_out(usage: Any) -> int | None:
    """All tokens of a reply, those of hidden reasoning among them.

    Most servers count these as completion tokens; some (Google, xAI) only in the total.
    """
    names = ("completion_tokens", "prompt_tokens", "total_tokens")
    stated, asked, total = [_count(_get(usage, name)) for name in names]
    if stated is None or asked is None or total is None:
        return stated
    # Where the total is no larger, the reply was counted whole.
    return max(stated, total - asked)


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
    return value if isinstance(value, str) and value else None
