"""The built-in transport: aiohttp's session behind httpx's protocol.

Only this module imports aiohttp, and yarl, in whose form aiohttp takes an address as it is.
"""

import asyncio
import os
import re
import ssl
from contextlib import suppress
from contextvars import ContextVar
from io import BytesIO
from typing import Any, cast
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx
from yarl import URL

from judgesheet.base.errors import JudgeError
from judgesheet.base.limits import LONGEST_BODY, LONGEST_HEAD
from judgesheet.judges.exchange import ProxyRefusedError
from judgesheet.judges.redaction import without_userinfo

_PROXY_REFUSES = {401, 403, 407}  # of a tunnel; other answers may pass
_HEAD_ENDS = re.compile(rb"\r?\n\r?\n")
_LENGTH = re.compile(rb"\r?\ncontent-length:([^\r\n]*)", re.IGNORECASE)
_SET_BY_AIOHTTP = {b"content-length", b"transfer-encoding"}
_LEFT_OUT = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")  # it would add its own
_LARGE = 2**20  # aiohttp takes longer bodies as files
_TLS_FILES = ("SSL_CERT_FILE", "SSLKEYLOGFILE")


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
        self._opened: aiohttp.ClientSession | None = None
        self._proxies: dict[tuple[str, str], URL | None] = {}

    def prepare(self, url: httpx.URL) -> None:
        """JudgeError if the environment names a proxy or certificates that cannot be used."""
        self._proxy(url.scheme, url.host)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, and read the response, `LONGEST_BODY` bytes and a few of it at most.

        httpx.ConnectError or httpx.ProxyError if nothing was sent, httpx.ReadError if there is no
        answer or it is not HTTP.
        """
        await request.aread()
        proxy = self._proxy(request.url.scheme, request.url.host)
        _CARRIER.set(None)
        try:
            try:
                answer = await self._answer(request, proxy)
            except aiohttp.ClientConnectionError:
                carrier = _CARRIER.get()
                if carrier is None or carrier.asked == 1 or carrier.is_heard:
                    raise
                answer = await self._answer(request, proxy)
            content = await _content(answer)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _fault(error, proxy) from error
        if answer.status == 407 and proxy and request.url.scheme == "http":
            raise ProxyRefusedError(f"the proxy {proxy.with_user(None)} asks for a password")
        stream = httpx.ByteStream(content)
        return httpx.Response(answer.status, headers=[*answer.raw_headers], stream=stream)

    async def aclose(self) -> None:
        """Close all connections; where the transport is used again, it makes others."""
        if self._opened is not None:
            await self._opened.close()
        self._opened = None

    async def _answer(self, request: httpx.Request, proxy: URL | None) -> aiohttp.ClientResponse:
        url, body = request.url, request.content
        target = b"%b://%b%b" % (url.raw_scheme, url.netloc, url.raw_path)
        headers = [
            (name.decode("ascii"), value.decode())
            for name, value in request.headers.raw
            if name.lower() not in _SET_BY_AIOHTTP
        ]
        return await self._session().request(
            request.method,
            URL(target.decode("ascii"), encoded=True),  # as it was signed
            headers=headers,
            data=BytesIO(body) if len(body) > _LARGE else body,
            allow_redirects=False,
            proxy=proxy,
            ssl=self._ssl_context or True,
        )

    def _session(self) -> aiohttp.ClientSession:
        if self._opened is None:  # it belongs to one event loop; whoever asks has a limit
            pool = _UnixPool(self._uds, limit=0) if self._uds else _Pool(limit=0)
            self._opened = aiohttp.ClientSession(
                connector=pool,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(),
                skip_auto_headers=_LEFT_OUT,
                auto_decompress=False,
            )
        return self._opened

    def _proxy(self, scheme: str, host: str) -> URL | None:
        """The proxy to a host, if any; authorities are loaded where the first host needs them."""
        if (scheme, host) not in self._proxies:
            proxy = None if self._uds else _proxy(scheme, host)
            if "https" in {scheme, proxy and proxy.scheme} and self._ssl_context is None:
                self._ssl_context = _authorities()
            self._proxies[scheme, host] = proxy
        return self._proxies[scheme, host]


# -- connections -----------------------------------------------------------------------------------


class _Carrier:
    """Hands on what comes over a connection to the protocol that reads it for aiohttp.

    It knows whether an answer has begun, and lets a length be stated twice where it is the same
    (RFC 9110, 8.6): aiohttp refuses that.
    """

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self.asked = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def begin(self) -> None:
        """Wait for another answer."""
        self.asked += 1
        self.is_heard = False
        self._head: bytes | None = b""  # what is there of an answer's headers; None: all

    def data_received(self, data: bytes) -> None:
        self.is_heard = True
        if self._head is not None:
            data = self._head + data
            end = _HEAD_ENDS.search(data)
            may_end = data.startswith(b"HTTP/1."[: len(data)]) and len(data) < LONGEST_HEAD
            if end is None and may_end:
                self._head = data
                return
            self._head = None
            data = _length_once(data, end.start()) if end else data
        self._reader.data_received(data)


_CARRIER: ContextVar[_Carrier | None] = ContextVar("carrier")
"""The connection of the request that a task is at; None before it has one."""


class _Solicited(aiohttp.BaseConnector):
    """Gives no connection on which anything came after its last answer.

    A request that comes again gets a new one.
    """

    async def connect(self, *what: Any, **how: Any) -> aiohttp.connector.Connection:
        while True:
            connection = await super().connect(*what, **how)
            protocol, transport = connection.protocol, connection.transport
            if protocol is None or transport is None:
                raise aiohttp.ServerDisconnectedError
            carrier: object = transport.get_protocol()
            if not isinstance(carrier, _Carrier):
                carrier = _Carrier(protocol)
                transport.set_protocol(cast("asyncio.Protocol", carrier))
            elif _CARRIER.get() or protocol.should_close:
                connection.close()
                continue
            carrier.begin()
            _CARRIER.set(carrier)
            return connection


class _Pool(_Solicited, aiohttp.TCPConnector):
    pass


class _UnixPool(_Solicited, aiohttp.UnixConnector):
    pass


def _length_once(data: bytes, end: int) -> bytes:
    """An answer whose headers take up so many bytes, without a length that only repeats another."""
    lengths = [one for stated in _LENGTH.findall(data, 0, end) for one in stated.split(b",")]
    if len(lengths) < 2 or len({length.strip() for length in lengths}) > 1:
        return data
    head = _LENGTH.sub(b"", data[:end])
    return b"%b\r\nContent-Length: %b%b" % (head, lengths[0].strip(), data[end:])


async def _content(answer: aiohttp.ClientResponse) -> bytes:
    """The body of an answer; its connection is kept where that is all of it."""
    if answer.content.is_eof():  # all of it came with the head, as it does with most judgments
        return answer.content.read_nowait()
    read = bytearray()
    async with answer:
        async for part in answer.content.iter_any():
            read += part
            if len(read) > LONGEST_BODY:
                answer.close()
                break
    return bytes(read)


# -- what fails, and what the environment names ----------------------------------------------------


def _fault(error: Exception, proxy: URL | None) -> httpx.TransportError:
    """What broke, in one line: where no connection was made, nothing was sent."""
    # aiohttp quotes the whole address, and a proxy's with its password.
    said = error.message if isinstance(error, aiohttp.ClientResponseError) else str(error)
    said = " ".join(without_userinfo(said).split()) or type(error).__name__
    if isinstance(error, aiohttp.ClientHttpProxyError):
        kind = ProxyRefusedError if error.status in _PROXY_REFUSES else httpx.ProxyError
        return kind(f"the proxy {proxy and proxy.with_user(None)} answers {error.status} {said}")
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return httpx.ProxyError(said)
    if isinstance(error, aiohttp.ClientConnectorError) or _CARRIER.get() is None:
        # aiohttp adds `ssl:default` also where nothing is encrypted, else a Python object.
        return httpx.ConnectError(re.sub(r" ssl:(default|<[^>]*>) ", " ", said))
    if isinstance(error, aiohttp.ClientError | OSError):
        return httpx.ReadError(said)
    return httpx.LocalProtocolError(said)  # a header with more than one line


def _authorities() -> ssl.SSLContext:
    """Whom to trust: what the environment names, else the usual authorities."""
    try:
        return httpx.create_ssl_context()
    except OSError as error:
        named = " or ".join(name for name in _TLS_FILES if os.environ.get(name))
        raise JudgeError(
            f"the file that the environment variable {named or _TLS_FILES[0]} names cannot be used "
            f"({error.strerror or error}): correct or unset it"
        ) from None


def _proxy(scheme: str, host: str) -> URL | None:
    """The proxy that the environment names for this host."""
    proxies = getproxies()
    named = proxies.get(scheme) or proxies.get("all")
    if not named or proxy_bypass(host):
        return None
    with suppress(ValueError):
        proxy = URL(named)
        if proxy.scheme in {"http", "https"} and proxy.host:
            return proxy
    raise JudgeError(  # not repeated: it may hold a password
        "the environment variable for the proxy must look like http://host:port"
    )
