"""Judges behind HTTP: OpenAI-compatible chat completions, and Anthropic messages.

One class speaks to every endpoint, over `transport`, in one of the `dialects`. Whatever an endpoint
does becomes an `Outcome`.
"""

import asyncio
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from judgesheet import __version__
from judgesheet.errors import JudgeError, UsageError
from judgesheet.judges import Connection, Judge
from judgesheet.judges.dialects import (
    ANTHROPIC,
    COMPATIBLE,
    LONGEST_NAME,
    OPENAI,
    Answer,
    Dialect,
    read_response,
    request_body,
)
from judgesheet.judges.redaction import Redaction
from judgesheet.judges.transport import Address, Carrier, Received, Wire
from judgesheet.records import Call, Outcome, Reply

LONGEST_RAW = 1_000_000  # characters of a body that are kept
LONGEST_WITH_LOGPROBS = 4_000_000  # likewise; a thousand tokens with 20 alternatives are 1.6e6


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and as whom to ask. `key_env` names the environment variable that holds the key.

    `key_required` says whether the endpoint can do without one.
    """

    provider: str
    model: str
    base_url: str
    dialect: Dialect
    key_env: str | None = None
    key_required: bool = False


class HttpJudge(Judge):
    """A chat model behind HTTP."""

    def __init__(
        self, endpoint: Endpoint, connection: Connection, carrier: Carrier | None = None
    ) -> None:
        self._endpoint = endpoint
        self._connection = connection
        self._carrier = carrier
        self._address = Address(endpoint.base_url)
        self._redacted = Redaction()

    @property
    def identity(self) -> Mapping[str, Any]:
        """Provider, model, and the address without anything secret in it."""
        return {
            "provider": self._endpoint.provider,
            "model": self._endpoint.model,
            "base_url": str(self._address),
            "extra_body": dict(self._connection.extra_body),
        }

    async def __aenter__(self) -> Self:
        headers = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",  # a kilobyte of gzip can hold gigabytes
            "Content-Type": "application/json",
            "User-Agent": f"judgesheet/{__version__}",
            **self._credentials(),
        }
        url = self._address.at(self._endpoint.dialect.path)
        self._wire = Wire(url, headers, self._connection.concurrency, self._carrier)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._wire.aclose()

    def advise(self, outcome: Outcome) -> str | None:
        """What to do about an outcome, with the names that the user gave."""
        if outcome == "unauthorized" and self._endpoint.key_env:
            return f"check the key in {self._endpoint.key_env}"
        if outcome == "unauthorized":
            return "name the variable that holds the key with --api-key-env"
        if outcome == "not_found":
            model = self._endpoint.model
            return f"check the model name {model!r} and the base URL {self._address}"
        if outcome in {"unavailable", "malformed"}:
            return f"check that a server answers at {self._address}"
        return None

    async def ask(self, call: Call, attempt: int) -> Reply:
        """Put the question once."""
        started = time.perf_counter()
        answer, retry_after_s = Answer(), None
        outcome: Outcome
        try:
            async with asyncio.timeout(self._connection.timeout_s):
                received = await self._post(call)
        except TimeoutError:
            outcome, raw = "timeout", f"no reply within {self._connection.timeout_s:g} s"
        except ConnectionError as error:
            outcome, raw = "unavailable", self._redacted(str(error))
        else:
            dialect = self._endpoint.dialect
            outcome, answer = read_response(dialect, received.status, received.json())
            logprobs = call.params.get("logprobs")
            raw = self._kept(received, LONGEST_WITH_LOGPROBS if logprobs else LONGEST_RAW)
            if outcome != "ok":
                retry_after_s = received.retry_after_s()
        return Reply(
            call_id=call.id,
            attempt=attempt,
            outcome=outcome,
            text=self._redacted(answer.text),
            raw=raw,
            latency_s=time.perf_counter() - started,
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens_out,
            served_model=answer.served_model and self._redacted(answer.served_model)[:LONGEST_NAME],
            at=time.time(),
            retry_after_s=retry_after_s,
        )

    async def _post(self, call: Call) -> Received:
        endpoint, extra = self._endpoint, self._connection.extra_body
        body = request_body(endpoint.dialect, endpoint.model, call, extra)
        return await self._wire.post(json.dumps(body).encode())

    def _credentials(self) -> Mapping[str, str]:
        """The headers that hold secrets; what must never be written down is remembered."""
        name = self._endpoint.key_env
        key = (os.environ.get(name) or "").strip() if name else ""
        if not key and (self._endpoint.key_required or name):
            raise JudgeError(
                f"{self._endpoint.provider}/{self._endpoint.model} needs a key: "
                f"set the environment variable {name}"
            )
        if not (key.isascii() and key.isprintable()):
            raise JudgeError(f"the key in {name} holds characters that no key has: set it anew")
        self._redacted = Redaction([key, *self._address.secrets])
        headers = dict(self._endpoint.dialect.key_headers(key)) if key else {}
        basic = self._address.basic
        return {"Authorization": f"Basic {basic}", **headers} if basic else headers

    def _kept(self, received: Received, longest: int) -> str:
        """The body for the record: redacted, then cut, since half a key is worth hiding too."""
        redacted = self._redacted(received.body)
        if not received.complete:  # the reading stopped anywhere, so within a key too
            redacted = redacted[: max(0, len(redacted) - self._redacted.longest)]
        if len(redacted) <= longest:
            return redacted
        return f"{redacted[:longest]}… [cut here, {len(received.body)} characters were read]"


def open_http_judge(provider: str, model: str, connection: Connection) -> HttpJudge:
    """The judge `model` of `provider`: openai, anthropic or openai-compatible.

    Raises
    ------
    UsageError
        if the base URL is missing or not valid.
    """
    base_url = connection.base_url
    key_env = connection.api_key_env
    if provider == "anthropic":
        base = base_url or "https://api.anthropic.com/v1"
        endpoint = Endpoint(provider, model, base, ANTHROPIC, key_env or "ANTHROPIC_API_KEY", True)
    elif provider == "openai":
        base = base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
        endpoint = Endpoint(provider, model, base, OPENAI, key_env or "OPENAI_API_KEY", True)
    elif base_url:
        endpoint = Endpoint(provider, model, base_url, COMPATIBLE, key_env)
    else:
        raise UsageError(f"{provider}/{model} needs the address of its server: give --base-url")
    return HttpJudge(endpoint, connection)
