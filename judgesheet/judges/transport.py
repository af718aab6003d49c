"""HTTP: a body is posted, a whole response is returned. Only this module imports an HTTP client.

A failure on the way is a `ConnectionError`; whatever an endpoint answers is a `Received`.
"""

import asyncio
import json
import math
import os
import ssl
import zlib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import certifi
from aiohttp.connector import Connection
from aiohttp.http import HttpProcessingError
from yarl import URL

from judgesheet.base.errors import JudgeError
from judgesheet.judges.allowances import seconds_until
from judgesheet.judges.redaction import without_userinfo

LONGEST_BODY = 8_000_000  # bytes that are read; a judgment is never that long
MOST_PARTS = 300_000  # lists and objects in a body; log-probabilities of 7,000 tokens are fewer

_NO_CLOCK = aiohttp.ClientTimeout()  # that of the judge covers a whole call
TLS_FILES = ("SSL_CERT_FILE", "SSLKEYLOGFILE")
"""The variables by which a user names files to the TLS library."""


class Received(NamedTuple):
    """An HTTP response, its body as text; not `complete` where reading stopped before its end."""

    status: int
    headers: Mapping[str, str]
    body: str
    complete: bool

    def json(self) -> Any:
        """The body as JSON; None where it is none, or too much to wait for."""
        parts = self.body.count("[") + self.body.count("{")
        try:
            return json.loads(self.body) if self.complete and parts <= MOST_PARTS else None
        except (ValueError, RecursionError):
            return None

    @property
    def redirected_to(self) -> str | None:
        """The host that the server sends its clients to; None where it does not."""
        if not 300 <= self.status < 400 or "location" not in self.headers:
            return None
        with suppress(ValueError):
            return urlsplit(self.headers["location"]).hostname or "another path of its own"
        return "an address that cannot be read"

    def retry_after_s(self) -> float | None:
        """Seconds that the server asks to wait; None if it gives none that can be read."""
        stated = self.headers.get("retry-after", "")
        milliseconds, seconds = _finite(self.headers.get("retry-after-ms", "")), _finite(stated)
        if milliseconds is not None:
            seconds = milliseconds / 1000
        elif seconds is None:
            seconds = seconds_until(stated, self.headers)
        return None if seconds is None else max(0.0, seconds)


def _finite(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


class Wire:
    """Posts bodies to one URL, over connections that are kept alive.

    Connections, TLS, proxies and the parser are aiohttp's; its session, which prepares every
    request anew and takes longer than all the rest, is not used: all requests have one head.
    """

    def __init__(self, url: URL, headers: Mapping[str, str], connections: int) -> None:
        proxy, loop = _proxy(url), asyncio.get_running_loop()
        is_secure = "https" in {url.scheme, proxy and proxy.scheme}
        self._connector = aiohttp.TCPConnector(
            limit=connections, ssl=_certificates() if is_secure else True
        )
        self._request = aiohttp.ClientRequest("POST", url, headers=headers, loop=loop, proxy=proxy)
        self._head = b""

    async def post(self, body: bytes) -> Received:
        """Send a body and read the response, `LONGEST_BODY` bytes of it at most.

        ConnectionError if there is no response, or it is not what its headers say; a
        ConnectionRefusedError if nothing was sent.
        """
        try:
            connection = await self._connected()
            try:
                received = await self._exchange(connection, body)
            except BaseException:
                connection.close()
                raise
            connection.release()
        except (aiohttp.ClientError, HttpProcessingError, OSError, zlib.error) as error:
            raise _fault(error) from error
        return received

    async def _connected(self) -> Connection:
        """A connection, kept or new, on which nothing came after the last answer."""
        for _ in range(1 + self._connector.limit):  # so many may be kept
            connection = await self._connector.connect(self._request, [], _NO_CLOCK)
            if connection.protocol is None or not connection.protocol.should_close:
                break
            connection.close()
        return connection

    async def _exchange(self, connection: Connection, body: bytes) -> Received:
        protocol, transport = connection.protocol, connection.transport
        if protocol is None or transport is None:
            raise aiohttp.ServerDisconnectedError
        protocol.set_response_params(read_until_eof=True, auto_decompress=False)
        self._head = self._head or _head(self._request)
        transport.write(b"%b%d\r\n\r\n%b" % (self._head, len(body), body))
        message, content = await protocol.read()
        while 100 <= message.code < 200 and message.code != 101:  # an answer is still to come
            message, content = await protocol.read()
        read = bytearray()
        while len(read) <= LONGEST_BODY and (chunk := await content.readany()):
            read += chunk
        if len(read) > LONGEST_BODY or transport.get_write_buffer_size():
            connection.close()  # the rest is neither waited for nor sent
        return _received(message.code, message.headers, read)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._connector.close()


def _head(request: aiohttp.ClientRequest) -> bytes:
    """What every request begins with, up to the length of its body.

    Once connected, the request has the headers that a proxy needs.
    """
    is_relayed = request.proxy and not request.is_ssl()
    path = str(request.url) if is_relayed else request.url.raw_path_qs
    headers = {**request.headers}
    headers.pop("Content-Length", None)
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "Content-Length: "]).encode()


def _fault(error: Exception) -> ConnectionError:
    """What broke, in one line."""
    if isinstance(error, zlib.error):
        return ConnectionError(f"DecodingError: {error}")
    # A proxy's complaint quotes its address, password included.
    said = " ".join(without_userinfo(str(error)).split()) or type(error).__name__
    if isinstance(error, aiohttp.ClientConnectorError):
        return ConnectionRefusedError(f"ConnectError: {said}")
    return ConnectionError(f"ReadError: {said}")


def _received(status: int, headers: Mapping[str, str], content: bytearray) -> Received:
    plain = _unpacked(content, headers.get("Content-Encoding", ""))
    complete = len(content) <= LONGEST_BODY and len(plain) < LONGEST_BODY
    text = plain.decode("utf-8-sig", "replace")  # JSON after a byte order mark is JSON
    return Received(status, headers, text, complete)


def _unpacked(content: bytes | bytearray, encoding: str) -> bytes | bytearray:
    """A body that was compressed although we did not ask for it, limited to the size of a reply."""
    if encoding.strip().lower() not in {"gzip", "x-gzip", "deflate"}:
        return content
    return zlib.decompressobj(wbits=47).decompress(content, LONGEST_BODY)


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
