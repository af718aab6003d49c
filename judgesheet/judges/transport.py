"""The built-in transport: aiohttp's connections, TLS, proxies and parser behind httpx's protocol.

aiohttp's session, which prepares every request anew and takes longer than all the rest, is left out
(decision 49). Only this module imports aiohttp.
"""

import asyncio
import os
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from urllib.request import getproxies, proxy_bypass

import aiohttp
import certifi
import httpx
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http import HttpProcessingError
from aiohttp.http_parser import RawResponseMessage
from aiohttp.streams import StreamReader
from yarl import URL

from judgesheet.base.errors import JudgeError
from judgesheet.base.limits import LONGEST_HEAD
from judgesheet.judges.exchange import ProxyRefusedError
from judgesheet.judges.redaction import without_userinfo

_NO_CLOCK = aiohttp.ClientTimeout()  # that of the judge covers a whole call
_FAULTS = (aiohttp.ClientError, HttpProcessingError, OSError)
_PROXY_REFUSES = {401, 403, 407}  # of a tunnel; other answers may pass
_HEAD_ENDS = re.compile(rb"\r?\n\r?\n")
_LENGTH = re.compile(rb"\r?\ncontent-length:([^\r\n]*)", re.IGNORECASE)
_STATED_ELSEWHERE = (b"content-length", b"transfer-encoding")
TLS_FILES = ("SSL_CERT_FILE", "SSLKEYLOGFILE")
"""The variables by which a user names files to the TLS library."""


class HttpTransport(httpx.AsyncBaseTransport):
    """Requests over connections that are kept alive, as many as there are requests in flight.

    `ssl_context` replaces the usual authorities, and may hold a client certificate; `uds` is the
    path of a Unix socket that all requests go through. Proxies are those of the environment. There
    is no timeout: whoever asks has one.

    A request is sent once more over a new connection where a kept one ended before the first byte
    of an answer: servers close what is idle without a word.
    """

    def __init__(
        self, *, ssl_context: ssl.SSLContext | None = None, uds: str | None = None
    ) -> None:
        self._ssl_context = ssl_context
        self._uds = uds
        self._pool: aiohttp.BaseConnector | None = None
        self._routes: dict[tuple[bytes, bytes], _Route] = {}

    def prepare(self, url: httpx.URL) -> None:
        """Find the way to an address, in the event loop that will ask.

        JudgeError if the environment names a proxy or certificates that cannot be used.
        """
        self._route(url)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the caller reads the body of the response, and closes it.

        httpx.ConnectError or httpx.ProxyError if nothing was sent, httpx.ReadError if there is no
        answer or it is not HTTP.
        """
        body = await request.aread()
        route = self._route(request.url)
        try:
            try:
                return await self._exchange(request, body, route)
            except _UnheardError:
                return await self._exchange(request, body, route, anew=True)
        except _FAULTS as error:
            raise _fault(error, route.proxy_name) from error

    async def aclose(self) -> None:
        """Close all connections; where the transport is used again, it makes others."""
        if self._pool is not None:
            await self._pool.close()
        self._pool = None
        self._routes.clear()

    async def _exchange(
        self, request: httpx.Request, body: bytes, route: "_Route", *, anew: bool = False
    ) -> httpx.Response:
        connection, answers = await self._connected(route, anew=anew)
        try:
            message, content = await answers.after(route.head(request, len(body)) + body)
            if message.code == 407 and route.is_relayed:
                raise ProxyRefusedError(f"the proxy {route.proxy_name} asks for a password")
        except BaseException as error:
            connection.close()
            is_gone = isinstance(error, aiohttp.ServerDisconnectedError | OSError)
            if is_gone and answers.asked > 1 and not answers.have_begun:
                raise _UnheardError from error
            raise
        stream: httpx.AsyncByteStream = _Body(connection, content)
        if content.is_eof():  # all of it came with the head, as it does with most judgments
            stream = httpx.ByteStream(content.read_nowait())
            _give_back(connection)
        return httpx.Response(message.code, headers=list(message.raw_headers), stream=stream)

    async def _connected(self, route: "_Route", *, anew: bool) -> "tuple[Connection, _Answers]":
        """A connection, kept or new; none on which anything came after its last answer."""
        while True:
            connection = await self._connections().connect(route.target, [], _NO_CLOCK)
            protocol, transport = connection.protocol, connection.transport
            if protocol is None or transport is None:
                raise aiohttp.ServerDisconnectedError
            answers = transport.get_protocol()
            if not isinstance(answers, _Answers):
                answers = _Answers(protocol, transport)
                transport.set_protocol(answers)
                return connection, answers
            if not (anew or protocol.should_close):
                return connection, answers
            connection.close()

    def _connections(self) -> aiohttp.BaseConnector:
        if self._pool is None:  # it belongs to one event loop; whoever asks has a limit
            self._pool = (
                aiohttp.UnixConnector(self._uds, limit=0)
                if self._uds
                else aiohttp.TCPConnector(limit=0)
            )
        return self._pool

    def _route(self, url: httpx.URL) -> "_Route":
        origin = url.raw_scheme, url.netloc
        if origin not in self._routes:
            target = URL((b"%b://%b" % origin).decode("ascii"), encoded=True)
            proxy = None if self._uds else _proxy(target)
            is_secure = "https" in {target.scheme, proxy and proxy.scheme}
            if is_secure and self._ssl_context is None:
                self._ssl_context = _certificates()
            request = aiohttp.ClientRequest(
                "POST",
                target,
                loop=asyncio.get_running_loop(),
                proxy=proxy,
                ssl=self._ssl_context or True,
            )
            self._routes[origin] = _Route(request)
        return self._routes[origin]


@dataclass(frozen=True, slots=True)
class _Route:
    """The way to one origin: the request by which aiohttp makes its connections."""

    target: aiohttp.ClientRequest

    @property
    def is_relayed(self) -> bool:
        """Whether a proxy reads the requests itself, and opens no tunnel."""
        return self.target.proxy is not None and not self.target.is_ssl()

    @property
    def proxy_name(self) -> str:
        """Host and port of the proxy, without its password."""
        proxy = self.target.proxy
        return f"{proxy.host}:{proxy.port}" if proxy else "on the way"

    def head(self, request: httpx.Request, length: int) -> bytes:
        """What a request begins with, up to its body of so many bytes."""
        fields = [
            b"%b: %b\r\n" % field
            for field in request.headers.raw
            if field[0].lower() not in _STATED_ELSEWHERE
        ]
        path = request.url.raw_path
        if self.is_relayed:
            path = b"http://%b%b" % (request.url.netloc, path)
            if login := self.target.headers.get("Proxy-Authorization"):  # set when connecting
                fields.append(f"Proxy-Authorization: {login}\r\n".encode())
        told = b"".join(fields)
        if not told.count(b"\n") == told.count(b"\r") == len(fields):
            raise httpx.LocalProtocolError("a header of the request has more than one line")
        method = request.method.encode("ascii")
        return b"%b %b HTTP/1.1\r\n%bContent-Length: %d\r\n\r\n" % (method, path, told, length)


class _UnheardError(Exception):
    """A kept connection ended before the first byte of an answer."""


class _Answers(asyncio.Protocol):
    """What comes over a connection, handed on to aiohttp's reader of responses.

    It knows whether an answer has begun, and lets a length be stated twice where it is the same
    (RFC 9110, 8.6): the reader refuses that.
    """

    def __init__(self, reader: ResponseHandler, transport: asyncio.Transport) -> None:
        self._reader = reader
        self._transport = transport
        self._head: bytes | None = None  # what is there of an answer's headers; None: all
        self.asked = 0
        self.have_begun = False

    async def after(self, request: bytes) -> tuple[RawResponseMessage, StreamReader]:
        """Send a request; the head and the body of the answer."""
        self.asked += 1
        self.have_begun, self._head = False, b""
        self._reader.set_response_params(read_until_eof=True, auto_decompress=False)
        self._transport.write(request)
        message, content = await self._reader.read()
        while 100 <= message.code < 200 and message.code != 101:  # an answer is still to come
            message, content = await self._reader.read()
        return message, content

    def data_received(self, data: bytes) -> None:
        self.have_begun = True
        if self._head is not None:
            data = self._head + data
            end = _HEAD_ENDS.search(data)
            is_http = data.startswith(b"HTTP/1."[: len(data)])
            if end is None and is_http and len(data) < LONGEST_HEAD:
                self._head = data
                return
            self._head = None
            data = _length_once(data, end.start()) if end else data
        self._reader.data_received(data)

    def eof_received(self) -> None:
        self._reader.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._reader.connection_lost(exc)

    def pause_writing(self) -> None:
        self._reader.pause_writing()

    def resume_writing(self) -> None:
        self._reader.resume_writing()


def _length_once(data: bytes, end: int) -> bytes:
    """An answer whose headers take up so many bytes, without a length that only repeats another."""
    lengths = [one for stated in _LENGTH.findall(data, 0, end) for one in stated.split(b",")]
    if len(lengths) < 2 or len({length.strip() for length in lengths}) > 1:
        return data
    head = _LENGTH.sub(b"", data[:end])
    return b"%b\r\nContent-Length: %b%b" % (head, lengths[0].strip(), data[end:])


class _Body(httpx.AsyncByteStream):
    """The body of a response, whose connection is kept where all of it was read."""

    def __init__(self, connection: Connection, content: StreamReader) -> None:
        self._connection = connection
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            while chunk := await self._content.readany():
                yield chunk
        except _FAULTS as error:
            raise _fault(error) from error

    async def aclose(self) -> None:
        _give_back(self._connection)


def _give_back(connection: Connection) -> None:
    """Keep a connection for the next request, if its last answer was read to the end."""
    transport = connection.transport
    if transport is not None and transport.get_write_buffer_size():
        connection.close()  # the answer came before the question had left
    connection.release()


def _fault(error: Exception, proxy: str = "") -> httpx.TransportError:
    """What broke, in one line."""
    # A proxy's complaint quotes its address, password included.
    said = " ".join(without_userinfo(str(error)).split()) or type(error).__name__
    if isinstance(error, aiohttp.ClientHttpProxyError):
        kind = ProxyRefusedError if error.status in _PROXY_REFUSES else httpx.ProxyError
        return kind(f"the proxy {proxy} answers {error.status} {error.message}".strip())
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return httpx.ProxyError(said)
    if isinstance(error, aiohttp.ClientConnectorError):
        # aiohttp adds `ssl:default` also where nothing is encrypted.
        return httpx.ConnectError(said.replace(" ssl:default ", " "))
    return httpx.ReadError(said)


def _certificates() -> ssl.SSLContext:
    """Whom to trust: what the environment names, else the usual authorities."""
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    try:
        if file or folder:
            return ssl.create_default_context(cafile=file or None, capath=folder or None)
        return ssl.create_default_context(cafile=certifi.where())
    except OSError as error:
        named = " or ".join(name for name in TLS_FILES if os.environ.get(name))
        raise JudgeError(
            f"the file that the environment variable {named or TLS_FILES[0]} names cannot be used "
            f"({error.strerror or error}): correct or unset it"
        ) from None


def _proxy(url: URL) -> URL | None:
    """The proxy that the environment names for this address."""
    proxies = getproxies()
    named = proxies.get(url.scheme) or proxies.get("all")
    if not named or proxy_bypass(url.host or ""):
        return None
    with suppress(ValueError):
        proxy = URL(named)
        if proxy.scheme in {"http", "https"} and proxy.host:
            return proxy
    raise JudgeError(  # not repeated: it may hold a password
        "the environment variable for the proxy must look like http://host:port"
    )
