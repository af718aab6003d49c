"""Judges behind HTTP: OpenAI-compatible chat completions, and Anthropic messages.

One class calls every endpoint in one of the `dialects`, through httpx's transport protocol: with
the transport of the user's own, or with that of `transport`. Whatever an endpoint does becomes an
`Answer`.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from judgesheet.base.async_runner import time_limit
from judgesheet.base.errors import JudgeError, UsageError
from judgesheet.base.limits import LONGEST_LINE, LONGEST_NAME, LONGEST_RAW
from judgesheet.base.records import ANOTHERS, NOT_CONNECTED, Call, Reply
from judgesheet.base.version import __version__
from judgesheet.judges import Answer, Connection, Judge, Refused
from judgesheet.judges.address import Address
from judgesheet.judges.auth import opener, secrets_held
from judgesheet.judges.dialects import (
    DIALECTS,
    OTHER_NAME,
    Dialect,
    mend_of,
    read_response,
    refused_parameter,
    request_body,
    without_refused,
)
from judgesheet.judges.providers import PROVIDERS
from judgesheet.judges.redaction import Redaction, of_environment, secrets_in, without_secrets
from judgesheet.judges.responses import Failed, Received, request_name

if TYPE_CHECKING:
    import httpx

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a service. `key_env` names the environment variable with the key, if any.

    Where one is set there, it is sent; only an endpoint that `needs_key` cannot do without.
    """

    provider: str
    model: str
    base_url: str
    dialect: Dialect
    key_env: str | None = None
    needs_key: bool = True
    customary_path: str = "/v1"


class HttpJudge(Judge):
    """A chat model behind HTTP.

    What its endpoint refuses it does not send any more, until there is an answer: all answers of a
    run are given to the same request.
    """

    def __init__(self, endpoint: Endpoint, connection: Connection) -> None:
        self._endpoint = endpoint
        self._connection = connection
        self._address = Address(endpoint.base_url, endpoint.customary_path)
        self._access = opener(connection.auth, connection.transport)
        self._redacted = Redaction()
        self._remedy = ""
        self._refused: dict[str, str | None] = {}
        self._is_final = False

    @property
    def identity(self) -> Mapping[str, Any]:
        """Provider, model, and the address without anything secret in it."""
        return {
            "provider": self._endpoint.provider,
            "model": self._endpoint.model,
            "base_url": str(self._address),
            "extra_body": without_secrets(self._connection.extra_body),
        }

    @property
    def refused(self) -> Refused:
        """The parameters that the endpoint refuses, as far as that is known."""
        return dict(self._refused)

    def recall(self, refused: Refused, *, is_final: bool) -> None:
        """Ask as an earlier session found out; in no other way any more where that `is_final`."""
        self._refused = {name: other for name, other in OTHER_NAME.items() if name in refused}
        self._is_final = is_final

    async def __aenter__(self) -> Self:
        import httpx  # a run that is complete needs no HTTP

        from judgesheet.judges.exchange import Client

        auth, transport = self._access()
        headers = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",  # a kilobyte of gzip can hold gigabytes
            "Content-Type": "application/json",
            "User-Agent": f"judgesheet/{__version__}",
            **self._endpoint.dialect.headers,
            **self._credentials(is_signed=auth is not None),
        }
        if auth is not None:  # it has its own keys
            self._redacted = of_environment([*self._redacted.known, *secrets_held(auth)])
        url = httpx.URL(self._address.at(self._endpoint.dialect.path))
        self._client = Client(url, headers, transport or self._transport(url), auth)
        await self._client.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.__aexit__()

    def _transport(self, url: "httpx.URL") -> "httpx.AsyncBaseTransport":
        """What carries the requests where the user has nothing for it."""
        from judgesheet.judges.transport import HttpTransport

        transport = HttpTransport()
        transport.prepare(url)
        return transport

    def advise(self, reply: Reply) -> str | None:
        """What to do about a reply, with the names that the user gave."""
        outcome = reply.outcome
        if advice := mend_of(outcome, reply.raw):
            return advice
        if self._remedy and outcome in {"unreachable", "unavailable"}:
            return self._remedy
        if outcome == "unauthorized" and self._connection.auth:
            return "check the authentication that --auth names"
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

    async def answer(self, call: Call, _attempt: int, /) -> Answer:
        """Put the question once."""
        body, name = self._body(call), request_name(call.messages)
        try:
            async with time_limit(self._connection.timeout_s):
                received = await self._client.post(json.dumps(body).encode(), name)
        except TimeoutError:
            return Answer("timeout", raw=f"no reply within {self._connection.timeout_s:g} s")
        redacted = self._redacted.with_these(received.secrets)
        self._remedy = received.remedy if isinstance(received, Failed) else ""
        if isinstance(received, Failed):
            reason = None if received.was_sent else NOT_CONNECTED
            return Answer(received.outcome, raw=redacted(received.reason), finish_reason=reason)
        answer = read_response(self._endpoint.dialect, received.status, received.json())
        if answer.outcome == "rejected" and self._learns(received, body):
            answer = replace(answer, outcome="unsupported")
        if received.is_anothers(name):
            answer = replace(answer, outcome="malformed", text="", finish_reason=ANOTHERS)
        self._is_final = self._is_final or answer.outcome == "ok"
        longest = LONGEST_LINE if call.params.get("logprobs") else LONGEST_RAW
        return replace(
            answer,
            text=redacted(answer.text),
            raw=recorded(received, longest, redacted),
            served_model=_short(answer.served_model, redacted),
            finish_reason=_short(answer.finish_reason, redacted),
            retry_after_s=received.pause_s(),
        )

    def _body(self, call: Call) -> dict[str, Any]:
        endpoint, extra = self._endpoint, self._connection.extra_body
        body = request_body(endpoint.dialect, endpoint.model, call, extra)
        return without_refused(body, self._refused) if self._refused else body

    def _learns(self, received: Received, sent: Mapping[str, Any]) -> bool:
        """Whether a refused request is to be sent again without what was refused in it."""
        name = refused_parameter(received.status, received.json(), sent)
        if name is None:
            return False
        if name not in self._refused:
            other = OTHER_NAME[name]
            is_needed = other is None and name in self._connection.must_send
            if self._is_final or is_needed or other in self._refused:  # or neither name is taken
                return False
            self._refused[name] = other
        return True

    def _credentials(self, *, is_signed: bool = False) -> Mapping[str, str]:
        """The headers that hold secrets, which are noted for redaction.

        What the user's own authentication signs needs no key but one that they name as well.
        """
        name = self._connection.api_key_env if is_signed else self._endpoint.key_env
        key = (os.environ.get(name) or "").strip() if name else ""
        if name and not key and self._endpoint.needs_key:
            # In lower case it may be the key itself, typed by mistake.
            shown = name if name.isupper() else "that --api-key-env names"
            raise JudgeError(
                f"{self._endpoint.provider}/{self._endpoint.model} needs a key: "
                f"set the environment variable {shown}"
            )
        if not (key.isascii() and key.isprintable()):
            raise JudgeError(
                f"the key in {name} has characters that a key cannot have: set it again"
            )
        self._redacted = Redaction(
            [key, *self._address.secrets, *secrets_in(self._connection.extra_body)]
        )
        headers = dict(self._endpoint.dialect.key_headers(key)) if key else {}
        basic = self._address.basic
        return {"Authorization": f"Basic {basic}", **headers} if basic else headers


def recorded(received: Received, longest: int, redacted: Redaction) -> str:
    """The body for the ledger: redacted first, then cut, so that no part of a key remains."""
    if host := received.redirected_to:  # its address may hold a key
        return redacted(f"the server redirects to {host}")
    body = redacted(received.body)
    if not received.complete:  # the reading stopped anywhere, so within a key too
        body = body[: max(0, len(body) - redacted.longest)]
    if len(body) <= longest:
        return body
    return f"{body[:longest]}… [cut here, {len(received.body)} characters were read]"


def _short(given: str | None, redacted: Redaction) -> str | None:
    """A short word of the endpoint's for the record."""
    return given and redacted(given)[:LONGEST_NAME]


def open_http_judge(provider: str, model: str, connection: Connection) -> HttpJudge:
    """The judge `model` of `provider`; UsageError if the base URL is missing or not valid."""
    usual = PROVIDERS[provider]
    named = os.environ.get(usual.url_env) if usual.url_env else None
    base_url = connection.base_url or named or usual.base_url
    if not base_url:
        way = f"set {usual.url_env} or give --base-url" if usual.url_env else "give --base-url"
        raise UsageError(f"{provider}/{model} needs the address of its server: {way}")
    if connection.api_key_env and not _VARIABLE.fullmatch(connection.api_key_env):
        raise UsageError("--api-key-env takes the name of a variable that holds the key, not a key")
    endpoint = Endpoint(
        provider,
        model,
        base_url,
        DIALECTS[usual.dialect],
        key_env=connection.api_key_env or usual.key_env or None,
        needs_key=usual.needs_key or connection.api_key_env is not None,
        customary_path=usual.url_path,
    )
    return HttpJudge(endpoint, connection)
