"""One question over HTTP: a request, sent as the user's authentication has it; what came back.

Whatever carries it and whatever the endpoint sends, no more is read and unpacked than a reply can
be long, and what fails is a `Failed`. Authentication and transport are the user's own code; of what
they say and send, no secret is kept.
"""

import re
import zlib
from base64 import b64decode
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import aclosing, suppress
from typing import Self, cast
from urllib.parse import unquote_plus

import httpx

from judgesheet.base.errors import JudgesheetError
from judgesheet.base.limits import LONGEST_BODY, LONGEST_HEAD, MOST_CODINGS, MOST_REMEMBERED
from judgesheet.judges.events import body_of
from judgesheet.judges.redaction import without_userinfo
from judgesheet.judges.responses import Failed, Received

REQUEST_ID = "X-Request-Id"

_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError,
               httpx.UnsupportedProtocol, httpx.LocalProtocolError)  # fmt: skip
_CLIENT_CERTIFICATE = {
    "TLSV13_ALERT_CERTIFICATE_REQUIRED", "TLSV1_ALERT_UNKNOWN_CA", "SSLV3_ALERT_BAD_CERTIFICATE",
    "SSLV3_ALERT_CERTIFICATE_EXPIRED", "SSLV3_ALERT_CERTIFICATE_UNKNOWN",
    "SSLV3_ALERT_HANDSHAKE_FAILURE",
}  # fmt: skip
"""What OpenSSL reports where a server wants another certificate of its client, or wants one."""
_PASSING = {408, 409, 425, 429}
_PACKED = {"content-encoding", "transfer-encoding", "content-length"}
_PUBLIC = {"accept", "accept-encoding", "connection", "content-length", "content-type", "date",
           "host", "user-agent", "x-amz-date", "x-request-id"}  # fmt: skip
"""Headers that an authentication may set and that hold no secret."""
_WORD = re.compile(r"""[^\s"'<>&=,;]{8,2000}""")


class ProxyRefusedError(httpx.ProxyError):
    """A proxy refuses everybody, or this user."""


class Client:
    """Posts bodies to one URL through a transport, each with the user's authentication, if any."""

    def __init__(
        self,
        url: httpx.URL,
        headers: Mapping[str, str],
        transport: httpx.AsyncBaseTransport,
        auth: httpx.Auth | None = None,
    ) -> None:
        self._url = url
        self._transport = transport
        self._auth = auth
        self._remembered: dict[str, None] = {}
        # Made once: httpx takes longer to prepare a request's headers than to send it.
        self._headers = httpx.Headers({"Host": url.netloc.decode("ascii"), **headers})

    async def __aenter__(self) -> Self:
        await self._transport.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._transport.__aexit__(None, None, None)

    async def post(self, body: bytes, name: str = "") -> Received | Failed:
        """Send a body and read the response, `LONGEST_BODY` bytes of it at most.

        `name` is sent as the id of the request, which many servers repeat in their answer.

        JudgesheetError if the transport cannot be used at all.
        """
        stream = httpx.ByteStream(body)
        request = httpx.Request("POST", self._url, headers=self._headers, stream=stream)
        request.headers["Content-Length"] = str(len(body))
        if name:
            request.headers[REQUEST_ID] = name
        request.read()
        if self._auth is None:
            return await self._attempt(self._received(request))
        secrets = dict(self._remembered)
        answer = await self._attempt(self._authenticated(request, self._auth, secrets))
        both = self._remembered | secrets
        self._remembered = dict.fromkeys([*both][-MOST_REMEMBERED:])
        return answer._replace(secrets=tuple(secrets))

    async def _attempt(self, exchange: Awaitable[Received]) -> Received | Failed:
        try:
            return await exchange
        except JudgesheetError:
            raise
        except _FlowError as error:
            return _failed_flow(error.cause)
        except Exception as error:  # of any transport
            return _failed(error, self._url)

    async def _received(self, request: httpx.Request) -> Received:
        response = await self._transport.handle_async_request(request)
        return _received(response, *await _content(response))

    async def _authenticated(
        self, request: httpx.Request, auth: httpx.Auth, secrets: dict[str, None]
    ) -> Received:
        """The response to the last request of a flow; what it keeps secret is noted."""
        async with aclosing(auth.async_auth_flow(request)) as flow:
            request = await _flowing(anext(flow))
            while True:
                secrets.update(dict.fromkeys(self._secrets_of(request)))
                response = await self._transport.handle_async_request(request)
                content, complete = await _content(response)
                received = _received(response, content, complete)
                if self._is_elsewhere(request):
                    secrets.update(dict.fromkeys(_words(received.body[:LONGEST_HEAD])))
                try:
                    request = await _flowing(flow.asend(_whole(response, content, request)))
                except StopAsyncIteration:
                    return received

    def _is_elsewhere(self, request: httpx.Request) -> bool:
        """Whether a request of the authentication's own fetches a token, for one."""
        there = request.url
        return (there.host, there.path) != (self._url.host, self._url.path)

    def _secrets_of(self, request: httpx.Request) -> Iterator[str]:
        """What an authentication put into a request."""
        for name, value in request.headers.multi_items():
            if name not in _PUBLIC and value not in self._headers.get_list(name):
                yield from _words(value)
        if request.url != self._url:
            yield from _words(request.url.query.decode("ascii"))
        if self._is_elsewhere(request):
            yield from _words(request.content.decode("utf-8", "replace")[:LONGEST_HEAD])


class _FlowError(Exception):
    """What the user's authentication raised."""

    def __init__(self, cause: BaseException) -> None:
        self.cause = cause


async def _flowing(request: Awaitable[httpx.Request]) -> httpx.Request:
    """The next request of a flow, whose author is the user."""
    try:
        given: object = await request
    except StopAsyncIteration:
        raise
    except (Exception, SystemExit) as error:
        raise _FlowError(error) from error
    if not isinstance(given, httpx.Request):
        raise _FlowError(TypeError(f"it gives {type(given).__name__}, not a request"))
    return given


def _words(text: str) -> Iterator[str]:
    """What may be a secret in a header, a form or JSON: long words, and what Basic stands for."""
    for word in _WORD.findall(text):
        yield word
        if "%" in word:
            yield unquote_plus(word)
    if text[:6].lower() == "basic ":
        with suppress(ValueError):
            yield from b64decode(text[6:]).decode("utf-8").split(":", 1)


# -- what came back --------------------------------------------------------------------------------


async def _content(response: httpx.Response) -> tuple[bytes, bool]:
    """The unpacked body of a response, which is closed then, and whether that is all of it."""
    if response.is_stream_consumed:  # a transport that records has read and unpacked it
        content = response.content
        return content[:LONGEST_BODY], len(content) <= LONGEST_BODY
    content = await _read(response)
    is_whole = len(content) <= LONGEST_BODY
    if codings := response.headers.get("content-encoding"):
        content, is_unpacked = _unpacked(content, codings)
        is_whole = is_whole and is_unpacked
    return (content if is_whole else content[:LONGEST_BODY]), is_whole


async def _read(response: httpx.Response) -> bytes:
    """The body of a response as it is sent, until it ends or is too long."""
    read = bytearray()
    try:
        async for part in cast("httpx.AsyncByteStream", response.stream):
            read += part
            if len(read) > LONGEST_BODY:
                break
    finally:
        await response.aclose()
    return bytes(read)


def _received(response: httpx.Response, content: bytes, complete: bool) -> Received:
    headers = {
        name.decode("latin-1").lower(): value.decode("latin-1")
        for name, value in response.headers.raw
    }
    text = content.decode("utf-8-sig", "replace")  # JSON after a byte order mark is JSON
    if complete:
        text = body_of(text) or text
    return Received(response.status_code, headers, text, complete)


def _whole(response: httpx.Response, content: bytes, request: httpx.Request) -> httpx.Response:
    """The response as an authentication may read it: it is whole, and no larger than ours."""
    packed = {name.encode() for name in _PACKED}
    headers = [field for field in response.headers.raw if field[0].lower() not in packed]
    return httpx.Response(response.status_code, headers=headers, content=content, request=request)


def _unpacked(content: bytes, codings: str) -> tuple[bytes, bool]:
    """A body without the codings that we did not ask for, no longer than a reply can be.

    httpx.DecodingError if it is not what it is called.
    """
    named = [coding.strip().lower() for coding in codings.split(",")]
    known = [coding for coding in named if coding in _UNPACKERS]
    if len(known) > MOST_CODINGS:
        raise httpx.DecodingError(f"the answer is packed {len(known)} times")
    complete = True
    for coding in reversed(known):  # the last one was put on last
        try:
            content = _UNPACKERS[coding](content)
        except zlib.error as error:
            raise httpx.DecodingError(f"the answer is not {coding}: {error}") from error
        complete = complete and len(content) < LONGEST_BODY
    return content, complete


def _gunzip(content: bytes) -> bytes:
    """All members of a gzip file, or what zlib made."""
    found = bytearray()
    while len(found) < LONGEST_BODY:
        member = zlib.decompressobj(wbits=47)
        found += member.decompress(content, LONGEST_BODY - len(found))
        content = member.unused_data
        if not content.startswith(b"\x1f\x8b"):  # the end, or padding
            break
    return bytes(found)


def _inflate(content: bytes) -> bytes:
    """What zlib made, with its header as it should be, or without."""
    try:
        return _gunzip(content)
    except zlib.error:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(content, LONGEST_BODY)


_UNPACKERS = {"gzip": _gunzip, "x-gzip": _gunzip, "deflate": _inflate}


# -- what failed -----------------------------------------------------------------------------------


def _failed(error: Exception, url: httpx.URL) -> Failed:
    """What an exception on the way means, with a remedy if only the user can change it."""
    host, was_sent = url.host, not isinstance(error, _NEVER_SENT)
    said = f"{type(error).__name__}: {_words_of(error)}"
    for cause in _causes(error):
        if why := getattr(cause, "verify_message", ""):  # of ssl.SSLCertVerificationError
            why = f"the certificate of {host} is refused: {why}"
            remedy = (
                "set SSL_CERT_FILE to a file with the authority that issued it, if it is one of "
                "your own, or have the certificate corrected"
            )
            return Failed("unreachable", why, remedy, was_sent=False)
        reason = getattr(cause, "reason", "")  # of ssl.SSLError
        if reason in _CLIENT_CERTIFICATE:
            why = f"{host} refuses the client certificate, or the lack of one: {reason}"
            remedy = "give a certificate that it accepts, as docs/corporate.md shows"
            return Failed("unreachable", why, remedy, was_sent=False)
    if isinstance(error, ProxyRefusedError):
        remedy = "put user name and password into its address, http://USER:PASSWORD@HOST:PORT"
        return Failed("unreachable", said, remedy, was_sent=False)
    if was_sent and isinstance(error, TimeoutError | httpx.TimeoutException):
        return Failed("timeout", said)
    # Since TLS 1.3 a client learns that it lacks a certificate after it has sent its request.
    is_cut = url.scheme == "https" and isinstance(error, httpx.NetworkError) and was_sent
    remedy = f"check that {host} answers, and whether it asks for a client certificate"
    return Failed("unavailable", said, remedy if is_cut else "", was_sent)


def _failed_flow(error: BaseException) -> Failed:
    """What it means that an authentication gave up."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    passes = isinstance(error, OSError | httpx.TransportError) or (
        isinstance(status, int) and (status >= 500 or status in _PASSING)
    )
    said = f"the authentication raised {type(error).__name__}: {_words_of(error)}"
    return Failed("unavailable" if passes else "unauthorized", said, was_sent=False)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An exception and what it came from."""
    cause: BaseException | None = error
    for _ in range(10):  # two may name each other
        if cause is not None:
            yield cause
            cause = cause.__cause__ or cause.__context__


def _words_of(error: BaseException) -> str:
    """What an exception says, in one line; an address in it may hold a password."""
    try:
        return " ".join(without_userinfo(str(error)).split())
    except Exception:  # one that fails to say what it is
        return ""
