"""What the chat APIs look like: how a request's body is built, what a response's body means.

Nothing here needs an HTTP client: `judges.http` asks with it, `plan --export-batch` and
`spine.ingest` write and read files of batches with it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from judgesheet.records import Call, Outcome

LONGEST_NAME = 200  # characters of a served model's name that are kept

_TOO_LONG_TYPES = {"exceed_context_size_error", "context_length_exceeded", "request_too_large"}
_TOO_LONG_WORDS = ("prompt is too long", "maximum context length")


class Answer(NamedTuple):
    """What a chat completion says, uncut: what is secret in it has yet to be redacted."""

    text: str = ""
    refused: bool = False
    tokens_in: int | None = None
    tokens_out: int | None = None
    served_model: str | None = None


@dataclass(frozen=True, slots=True)
class Dialect:
    """What distinguishes one API from another.

    `body` makes a request's body from the model and the call, `read` takes a decoded response and
    gives None where that is no chat completion.
    """

    path: str
    key_headers: Callable[[str], Mapping[str, str]]
    body: Callable[[str, Call], dict[str, Any]]
    read: Callable[[Any], Answer | None]


def request_body(
    dialect: Dialect, model: str, call: Call, extra: Mapping[str, Any]
) -> dict[str, Any]:
    """The body of a request, with `extra` merged last as in RFC 7396: a null takes a field out."""
    merged = {**dialect.body(model, call), **extra}
    return {key: value for key, value in merged.items() if key not in extra or value is not None}


def batch_body(model: str, extra: Mapping[str, Any]) -> Callable[[Call], dict[str, Any]]:
    """The body of a request as the judge `PROVIDER/NAME` would send it, for a batch file."""
    provider, _, name = model.partition("/")
    dialect = OPENAI if provider == "openai" else COMPATIBLE
    return lambda call: request_body(dialect, name, call, extra)


def read_response(dialect: Dialect, status: int, body: Any) -> tuple[Outcome, Answer]:
    """What a response means, by whichever way it came; the answer is empty unless there is one.

    `body` is the decoded JSON, None where it is none.
    """
    if not 200 <= status < 300:
        return _error_outcome(status, body), Answer()
    answer = dialect.read(body)
    if answer is None:
        return "malformed", Answer()
    return ("refused" if answer.refused else "ok"), answer


def _error_outcome(status: int, body: Any) -> Outcome:
    """What a status other than 2xx means."""
    if status in {401, 403}:
        return "unauthorized"
    # A redirect is not followed: the key would be sent to an address that nobody typed.
    if status == 404 or status < 400:
        return "not_found"
    if status == 429:
        return "rate_limited"
    if status in {408, 409} or status >= 500:
        return "unavailable"
    return "too_long" if _says_too_long(_get(body, "error")) else "rejected"


def _says_too_long(error: Any) -> bool:
    kinds = {_text(_get(error, "type")), _text(_get(error, "code"))}
    message = _text(_get(error, "message") if isinstance(error, dict) else error).lower()
    return bool(kinds & _TOO_LONG_TYPES) or any(words in message for words in _TOO_LONG_WORDS)


# -- OpenAI chat completions -----------------------------------------------------------------------


def _bearer(key: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"}


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
    return Answer(
        text=_text(message.get("content")),
        refused=bool(_text(message.get("refusal")))
        or _get(choice, "finish_reason") == "content_filter",
        tokens_in=_count(_get(usage, "prompt_tokens")),
        tokens_out=_count(_get(usage, "completion_tokens")),
        served_model=_string(_get(body, "model")),
    )


# -- Anthropic messages ----------------------------------------------------------------------------


def _anthropic_key(key: str) -> Mapping[str, str]:
    return {"x-api-key": key, "anthropic-version": "2023-06-01"}


def _anthropic_body(model: str, call: Call) -> dict[str, Any]:
    """The call in Anthropic's terms.

    System messages move to `system`; `response_format` becomes `output_config.format`, which is
    how this API constrains a reply to a schema (it was a forced tool call before that, which puts
    the reply into a tool's arguments and so changes the protocol). There is no `seed`.
    """
    params = dict(call.params)
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
    if tokens_in is not None:  # it leaves out what went through the prompt cache
        cached = ("cache_creation_input_tokens", "cache_read_input_tokens")
        tokens_in += sum(_count(_get(usage, name)) or 0 for name in cached)
    return Answer(
        text=_text(blocks),
        refused=_get(body, "stop_reason") == "refusal",
        tokens_in=tokens_in,
        tokens_out=_count(_get(usage, "output_tokens")),
        served_model=_string(_get(body, "model")),
    )


OPENAI = Dialect("/chat/completions", _bearer, _openai_body, _read_completion)
COMPATIBLE = Dialect("/chat/completions", _bearer, _compatible_body, _read_completion)
ANTHROPIC = Dialect("/messages", _anthropic_key, _anthropic_body, _read_message)


# -- reading what may be anything ------------------------------------------------------------------


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else None


def _text(content: Any) -> str:
    """A message's words: a string, or the text parts of a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (_get(part, "text") for part in parts if _get(part, "type") == "text")
    return "".join(text for text in texts if isinstance(text, str))


def _count(value: Any) -> int | None:
    """A number of tokens, or None if it is nothing of the kind."""
    plausible = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    return value if plausible else None


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None
