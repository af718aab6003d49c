"""Judges behind HTTP: OpenAI-compatible chat completions, and Anthropic messages.

This module alone imports httpx. One class speaks to every endpoint; what differs between the two
APIs is a `Dialect` of three small functions. Whatever an endpoint does becomes an `Outcome`.
"""

import asyncio
import base64
import json
import math
import os
import re
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from judgesheet import __version__
from judgesheet.errors import JudgeError, UsageError
from judgesheet.judges import Connection
from judgesheet.records import Call, Outcome, Reply

LONGEST_RAW = 1_000_000  # characters of a body that are kept
LONGEST_WITH_LOGPROBS = 4_000_000  # likewise; a thousand tokens with 20 alternatives are 1.6e6
LONGEST_BODY = 16_000_000  # bytes that are read; a judgment is never that long
LONGEST_NAME = 200  # characters of a served model's name that are kept
LONGEST_SPELLING = 18  # characters for one of a secret, as JSON within JSON may escape it
SHORTEST_SECRET = 8  # characters; "none" and "EMPTY" protect nothing, and are words of replies

_TOO_LONG_TYPES = {"exceed_context_size_error", "context_length_exceeded", "request_too_large"}
_TOO_LONG_WORDS = ("prompt is too long", "maximum context length")


class Answer(NamedTuple):
    """What a chat completion says, uncut: what is secret in it has yet to be redacted."""

    text: str
    refused: bool
    tokens_in: int | None
    tokens_out: int | None
    served_model: str | None


@dataclass(frozen=True, slots=True)
class Dialect:
    """What distinguishes one API from another.

    `body` makes a request's body from the model and the call, `read` takes a decoded reply and
    gives None where that is no chat completion.
    """

    path: str
    key_headers: Callable[[str], Mapping[str, str]]
    body: Callable[[str, Call], dict[str, Any]]
    read: Callable[[Any], Answer | None]


# -- OpenAI chat completions ------------------------------------------------------------------


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


# -- Anthropic messages -----------------------------------------------------------------------


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
    system = [one["content"] for one in call.messages if one["role"] == "system"]
    if system:
        params["system"] = "\n\n".join(system)
    messages = [one for one in call.messages if one["role"] != "system"]
    return {"model": model, "messages": messages, **params}


def _read_message(body: Any) -> Answer | None:
    blocks = _get(body, "content")
    if not isinstance(blocks, list):
        return None
    usage = _get(body, "usage")
    cached = ("cache_creation_input_tokens", "cache_read_input_tokens")
    tokens_in = _count(_get(usage, "input_tokens"))
    if tokens_in is not None:
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


# -- reading what may be anything -------------------------------------------------------------


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


def _decoded(body: str) -> Any:
    """The body as JSON, or None."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


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


def reading(dialect: Dialect, status: int, body: Any) -> tuple[Outcome, Answer | None]:
    """What a response means, by whichever way it came; no answer unless it is a chat completion.

    `body` is the decoded JSON, None where it is none.
    """
    if not 200 <= status < 300:
        return _error_outcome(status, body), None
    answer = dialect.read(body)
    if answer is None:
        return "malformed", None
    return ("refused" if answer.refused else "ok"), answer


def _says_too_long(error: Any) -> bool:
    kinds = {_text(_get(error, "type")), _text(_get(error, "code"))}
    message = _text(_get(error, "message") if isinstance(error, dict) else error).lower()
    return bool(kinds & _TOO_LONG_TYPES) or any(words in message for words in _TOO_LONG_WORDS)


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait; None where it does not say or nobody can read it."""
    milliseconds = _finite(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return max(0.0, milliseconds / 1000)
    stated = headers.get("retry-after")
    seconds = _finite(stated)
    if seconds is None and stated:
        seconds = _seconds_until(stated)
    return None if seconds is None else max(0.0, seconds)


def _finite(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _seconds_until(date: str) -> float | None:
    try:
        then = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return None
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return (then - datetime.now(UTC)).total_seconds()


# -- the judge --------------------------------------------------------------------------------


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


class Received(NamedTuple):
    """A complete HTTP response, its body as text."""

    status: int
    headers: Mapping[str, str]
    body: str
    complete: bool


class HttpJudge:
    """A chat model behind HTTP."""

    max_concurrency: int | None = None

    def __init__(
        self,
        endpoint: Endpoint,
        connection: Connection,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._connection = connection
        self._transport = transport
        self._base = _base_url(endpoint.base_url)
        self._secrets: tuple[re.Pattern[str], ...] = ()
        self._longest_secret = 0

    @property
    def identity(self) -> Mapping[str, Any]:
        """Provider, model, and the address without anything secret in it."""
        address = self._base.copy_with(username=None, password=None, query=None, fragment=None)
        return {
            "provider": self._endpoint.provider,
            "model": self._endpoint.model,
            "base_url": str(address),
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
        self._headers = httpx.Headers(headers)
        self._url = self._base.copy_with(
            username=None,
            password=None,
            path=self._base.path.rstrip("/") + self._endpoint.dialect.path,
        )
        self._transport = self._transport or Transport(self._url, self._connection.concurrency)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._transport:
            await self._transport.aclose()
            self._transport = None

    def advise(self, outcome: Outcome) -> str | None:
        """What to do about an outcome, with the names that the user gave."""
        if outcome == "unauthorized" and self._endpoint.key_env:
            return f"check the key in {self._endpoint.key_env}"
        if outcome == "unauthorized":
            return "name the variable that holds the key with --api-key-env"
        if outcome == "not_found":
            address = self.identity["base_url"]
            return f"check the model name {self._endpoint.model!r} and the base URL {address}"
        if outcome in {"unavailable", "malformed"}:
            return f"check that a server answers at {self.identity['base_url']}"
        return None

    async def ask(self, call: Call, attempt: int) -> Reply:
        """Put the question once."""
        started = time.perf_counter()
        retry_after_s = None
        answer = Answer("", refused=False, tokens_in=None, tokens_out=None, served_model=None)
        outcome: Outcome
        try:
            async with asyncio.timeout(self._connection.timeout_s):
                received = await self._post(self._request_body(call))
        except (TimeoutError, httpx.TimeoutException):
            outcome, raw = "timeout", f"no reply within {self._connection.timeout_s:g} s"
        except httpx.HTTPError as error:
            outcome, raw = "unavailable", self._redacted(f"{type(error).__name__}: {error}")
        else:
            outcome, answer = self._read(received, answer)
            logprobs = call.params.get("logprobs")
            raw = self._kept(received, LONGEST_WITH_LOGPROBS if logprobs else LONGEST_RAW)
            if outcome != "ok":
                retry_after_s = _retry_after_s(received.headers)
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

    def _request_body(self, call: Call) -> bytes:
        body = self._endpoint.dialect.body(self._endpoint.model, call)
        return json.dumps(_merged(body, self._connection.extra_body)).encode()

    async def _post(self, body: bytes) -> Received:
        # Straight to the transport: a client adds cookies, redirects and authentication flows,
        # none of which is wanted here, at twice the time (docs/decisions/0002).
        if self._transport is None:
            raise RuntimeError("a judge is entered before it is asked")
        request = httpx.Request("POST", self._url, headers=self._headers, content=body)
        response = await self._transport.handle_async_request(request)
        chunks: list[bytes] = []
        size = 0
        try:
            async for chunk in response.aiter_raw():
                chunks.append(chunk)
                size += len(chunk)
                if size > LONGEST_BODY:
                    break
        finally:
            await response.aclose()
        content = _unpacked(b"".join(chunks), response.headers.get("content-encoding", ""))
        whole = size <= LONGEST_BODY and len(content) < LONGEST_BODY
        text = content.decode("utf-8", "replace")
        return Received(response.status_code, response.headers, text, whole)

    def _read(self, received: Received, nothing: Answer) -> tuple[Outcome, Answer]:
        body = _decoded(received.body) if received.complete else None
        outcome, answer = reading(self._endpoint.dialect, received.status, body)
        return outcome, answer or nothing

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
        basic = _basic(self._base)
        found = [key, basic, self._base.password, *(v for _, v in self._base.params.multi_items())]
        # The longest first: one that begins with another is redacted whole.
        secrets = sorted((s for s in found if len(s) >= SHORTEST_SECRET), key=len, reverse=True)
        self._secrets = tuple(map(_spellings, secrets))
        self._longest_secret = len(secrets[0]) if secrets else 0
        headers = dict(self._endpoint.dialect.key_headers(key)) if key else {}
        return {"Authorization": f"Basic {basic}", **headers} if basic else headers

    def _redacted(self, text: str) -> str:
        for spellings in self._secrets:
            text = spellings.sub("[redacted]", text)
        return text

    def _kept(self, received: Received, longest: int) -> str:
        """The body for the record: redacted, then cut, since half a key is worth hiding too."""
        body = received.body
        if not received.complete:  # the reading stopped anywhere, so within a key too
            body = body[: len(body) - LONGEST_SPELLING * self._longest_secret]
        redacted = self._redacted(body)
        if len(redacted) <= longest:
            return redacted
        return f"{redacted[:longest]}… [cut here, {len(received.body)} characters were read]"


def _base_url(text: str) -> httpx.URL:
    """The base URL; one without a path gets the customary `/v1`."""
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, ValueError):
        raise UsageError("the base URL is not valid: give one like https://host/v1") from None
    if url.scheme not in {"http", "https"} or not url.host:
        raise UsageError("the base URL must start with http:// or https:// and name a host")
    return url.copy_with(path="/v1") if url.path in {"", "/"} else url


def _basic(url: httpx.URL) -> str:
    """The credentials embedded in a URL as HTTP basic authentication wants them."""
    if not url.userinfo:
        return ""
    return base64.b64encode(f"{url.username}:{url.password}".encode()).decode()


def _spellings(secret: str) -> re.Pattern[str]:
    """What matches the secret as it is, and in every way to write it in JSON.

    No two spellings of a character begin alike for longer than a few characters, so that matching
    takes linear time.
    """
    escaped = "".join(map(_spelling, secret))
    return re.compile(f"{escaped}|{re.escape(secret)}")


def _spelling(character: str) -> str:
    r"""A pattern of one character in JSON: itself, `\/` for a slash, or `\uXXXX` in either case.

    JSON within a JSON string, as a gateway quotes the error of another, has more backslashes.
    """
    units = character.encode("utf-16-be", "surrogatepass").hex()
    code = "".join(rf"\\{{1,4}}u(?i:{units[at : at + 4]})" for at in range(0, len(units), 4))
    plain = re.escape(json.dumps(character, ensure_ascii=False)[1:-1])
    if character in '/"':
        plain = rf"\\{{0,4}}{character}"
    return f"(?:{plain}|{code})"


class Transport(AiohttpTransport):
    """httpx's interface over aiohttp's connections, with the detours left out.

    The parent class maps a dropped connection to a timeout, waits for one inside the library too
    (here `ask` alone keeps time), and knows no proxy from the environment.
    """

    def __init__(self, url: httpx.URL, connections: int) -> None:
        super().__init__(client=self._open)
        self._connections = connections
        self._proxy = _proxy(url)

    def _open(self) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(limit=self._connections, ssl=self.ssl_context)
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None),
            auto_decompress=False,
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request whose body is in memory."""
        if not isinstance(self.client, aiohttp.ClientSession):
            self.client = self._open()
        with _connection_errors():
            response = await self.client.request(
                request.method,
                str(request.url),
                headers=request.headers,
                data=request.content,
                allow_redirects=False,
                proxy=self._proxy,
            )
        return httpx.Response(
            response.status, headers=response.raw_headers, stream=_Body(response), request=request
        )


class _Body(httpx.AsyncByteStream):
    """The body of a response as it arrives."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _connection_errors():
            async for chunk in self._response.content.iter_any():
                yield chunk

    async def aclose(self) -> None:
        # A body that was not read to its end takes its connection along.
        self._response.release()


@contextmanager
def _connection_errors() -> Iterator[None]:
    """Turn aiohttp's errors, all of which are broken connections, into httpx's."""
    try:
        yield
    except aiohttp.ClientConnectorError as error:
        raise httpx.ConnectError(str(error)) from error
    except (aiohttp.ClientError, OSError) as error:
        raise httpx.ReadError(str(error) or type(error).__name__) from error


def _proxy(url: httpx.URL) -> str | None:
    """The proxy that the environment names for this address."""
    if proxy_bypass(url.host):
        return None
    proxies = getproxies()
    return proxies.get(url.scheme) or proxies.get("all")


def batch_body(model: str, extra_body: Mapping[str, Any]) -> Callable[[Call], dict[str, Any]]:
    """The body of a request as the judge `PROVIDER/NAME` would send it, for a batch file."""
    provider, _, name = model.partition("/")
    dialect = OPENAI if provider == "openai" else COMPATIBLE
    return lambda call: _merged(dialect.body(name, call), extra_body)


def _unpacked(content: bytes, encoding: str) -> bytes:
    """A body that came compressed although none was asked for; never more than can be a reply.

    Raises
    ------
    httpx.DecodingError
        if it is not what the header says.
    """
    if encoding.strip().lower() not in {"gzip", "x-gzip", "deflate"}:
        return content
    try:
        return zlib.decompressobj(wbits=47).decompress(content, LONGEST_BODY)
    except zlib.error as error:
        raise httpx.DecodingError(str(error)) from None


def _merged(body: dict[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """The body with `extra` merged last as in RFC 7396: a null takes a field out."""
    merged = {**body, **extra}
    return {key: value for key, value in merged.items() if key not in extra or value is not None}


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
