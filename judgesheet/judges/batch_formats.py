"""The files of batch APIs: how requests are put into one, what a line of its results means.

As `dialects`, this needs no HTTP client. Limits and shapes are those of the providers' own
documentation; docs/batches.md prints them.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from judgesheet.base.limits import LONGEST_NAME
from judgesheet.base.records import Call, Outcome
from judgesheet.judges import Answer, Refused
from judgesheet.judges.dialects import (
    ANTHROPIC,
    COMPATIBLE,
    DIALECTS,
    OPENAI,
    Dialect,
    read_response,
    request_body,
    without_refused,
)
from judgesheet.judges.providers import BatchName, JudgeRef


@dataclass(frozen=True, slots=True)
class BatchFormat:
    """How a batch API takes requests: at most so many of them, and bytes, in a file.

    `request` makes one of its id and body. A file is its `opening`, one request a line with
    `between` after all but the last, and its `closing`.
    """

    dialect: Dialect
    request: Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
    most_requests: int | None = None
    most_bytes: int | None = None
    opening: str = ""
    between: str = ""
    closing: str = ""

    def lines(self, requests: Sequence[str]) -> Iterator[str]:
        """The lines of a file with these requests."""
        yield from filter(None, [self.opening])
        yield from (f"{request}{self.between}" for request in requests[:-1])
        yield from filter(None, [*requests[-1:], self.closing])


class Result(NamedTuple):
    """A line of results: the answer, and when it was made (seconds since the epoch), if it says."""

    answer: Answer
    created: float | None


def _post(custom_id: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body}


# A megabyte of theirs may be the greater one; files by the smaller one are taken in either case.
BATCH_FORMATS: Mapping[BatchName, BatchFormat] = {
    "openai": BatchFormat(COMPATIBLE, _post, most_requests=50_000, most_bytes=200_000_000),
    "anthropic": BatchFormat(
        ANTHROPIC,
        lambda custom_id, body: {"custom_id": custom_id, "params": body},
        most_requests=100_000,
        most_bytes=256_000_000,
        opening='{"requests": [',
        between=",",
        closing="]}",
    ),
    "vllm": BatchFormat(COMPATIBLE, _post),
}

_STATUS_OF: Mapping[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The HTTP statuses of Anthropic's kinds of error, which its results name alone."""


def batch_format(judge: JudgeRef, name: BatchName | None) -> BatchFormat:
    """The format of this name, or else the one that the provider of a judge takes."""
    return BATCH_FORMATS[name or judge.about.batch]


def batch_request(
    judge: JudgeRef, form: BatchFormat, extra: Mapping[str, Any], refused: Refused
) -> Callable[[Call], Mapping[str, Any]]:
    """The request of a call, with the body that the judge would be sent."""
    own = DIALECTS[judge.about.dialect]
    dialect = own if own.path == form.dialect.path else form.dialect

    def request(call: Call) -> Mapping[str, Any]:
        body = request_body(dialect, judge.name, call, extra)
        return form.request(call.id, without_refused(body, refused))

    return request


def read_result(line: Mapping[str, Any]) -> Result | None:
    """What a line of results means; None if it is something else, such as a request."""
    if "result" in line:
        return _read_message_result(line["result"])
    if "response" in line or "error" in line:
        return _read_response_result(line.get("response"), line.get("error"))
    return None


def _read_response_result(response: Any, error: Any) -> Result:
    """In OpenAI's format. vLLM tells why a request failed in `error`, beside the status."""
    given = response if isinstance(response, dict) else {}
    body = given if "choices" in given else given.get("body")  # so did vLLM at first
    status = given.get("status_code", 200 if isinstance(body, dict) and "choices" in body else None)
    if type(status) is not int:  # true is an int to Python
        return _unfinished(error.get("code") if isinstance(error, dict) else None, error)
    created = body.get("created") if isinstance(body, dict) else None
    if body is None:
        body = error if isinstance(error, dict) and "error" in error else {"error": error}
    is_number = isinstance(created, int | float) and not isinstance(created, bool)
    return Result(_kept(read_response(OPENAI, status, body), body), created if is_number else None)


def _read_message_result(result: Any) -> Result:
    """In Anthropic's format, which has no status and no time."""
    answer = result if isinstance(result, dict) else {}
    if answer.get("type") == "succeeded":
        message = answer.get("message")
        return Result(_kept(read_response(ANTHROPIC, 200, message), message), None)
    error = answer.get("error")
    inner = error["error"] if isinstance(error, dict) and "error" in error else error
    if answer.get("type") != "errored":
        return _unfinished(answer.get("type"), inner)
    kind = inner.get("type") if isinstance(inner, dict) else None
    status = _STATUS_OF.get(kind, 500) if isinstance(kind, str) else 500
    body = {"error": inner}
    return Result(_kept(read_response(ANTHROPIC, status, body), body), None)


def _unfinished(code: Any, error: Any) -> Result:
    """A request that has no response: it expired with its batch, say."""
    reason = code if isinstance(code, str) and code else None
    outcome: Outcome = "timeout" if reason == "request_timeout" else "unavailable"
    body = None if error is None else {"error": error}
    return Result(_kept(Answer(outcome, finish_reason=reason), body), None)


def _kept(answer: Answer, body: Any) -> Answer:
    """The answer as a ledger holds it, with its body and without halves of characters."""
    return replace(
        answer,
        text=answer.text.encode("utf-8", "replace").decode(),
        raw="" if body is None else json.dumps(body),
        served_model=answer.served_model and answer.served_model[:LONGEST_NAME],
        finish_reason=answer.finish_reason and answer.finish_reason[:LONGEST_NAME],
    )
