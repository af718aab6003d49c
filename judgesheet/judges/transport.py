"""HTTP: a body is posted, a whole response is returned. Only this module imports an HTTP client.

A failure on the way is a `ConnectionError`; whatever an endpoint answers is a `Received`.
"""

import json
import math
import os
import ssl
import sys
import zlib
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import suppress
from types import coroutine
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import certifi
from yarl import URL

from judgesheet.errors import JudgeError
from judgesheet.judges.allowances import seconds_until
from judgesheet.judges.redaction import without_userinfo

LONGEST_BODY = 8_000_000  # bytes that are read; a judgment is never that long
MOST_PARTS = 300_000  # lists and objects in a body; log-probabilities of 7,000 tokens are fewer

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


class _AtOnce(aiohttp.ClientRequest):
    """A request that leaves in the step that makes it, as it does from Python 3.12 on.

    Else it leaves after all other tasks that can go on. Those whose answers came together would
    then ask together again, and each would always wait for all others.
    """

    def write_bytes(self, *what: Any) -> Coroutine[Any, Any, None]:
        """Begin to write; what is left to be done."""
        writing = super().write_bytes(*what)
        try:
            waited = writing.send(None)
        except StopIteration:
            return _nothing()
        return _rest(writing, waited)


async def _nothing() -> None: ...


@coroutine
def _rest(begun: Coroutine[Any, Any, None], waited: Any) -> Iterator[Any]:
    """What a coroutine still does that waits for something."""
    try:
        yield waited
    except BaseException:
        begun.close()
        raise
    yield from begun.__await__()


_REQUEST = aiohttp.ClientRequest if sys.version_info >= (3, 12) else _AtOnce


class Wire:
    """Posts bodies to one URL, over connections that are kept alive."""

    def __init__(self, url: URL, headers: Mapping[str, str], connections: int) -> None:
        self._url = url
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=connections, ssl=_certificates()),
            headers=headers,
            request_class=_REQUEST,
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(),  # one clock, that of the judge, covers a whole call
            auto_decompress=False,
            proxy=_proxy(url),
        )

    async def post(self, body: bytes) -> Received:
        """Send a body and read the response, `LONGEST_BODY` bytes of it at most.

        ConnectionError if there is no response, or it is not what its headers say; a
        ConnectionRefusedError if nothing was sent.
        """
        try:
            async with self._session.post(self._url, data=body, allow_redirects=False) as response:
                return await _read(response)
        except (aiohttp.ClientError, OSError, zlib.error) as error:
            raise _fault(error) from error

    async def aclose(self) -> None:
        """Close all connections."""
        await self._session.close()


def _fault(error: Exception) -> ConnectionError:
    """What broke, in one line."""
    if isinstance(error, zlib.error):
        return ConnectionError(f"DecodingError: {error}")
    # A proxy's complaint quotes its address, password included.
    said = without_userinfo(str(error)) or type(error).__name__
    if isinstance(error, aiohttp.ClientConnectorError):
        return ConnectionRefusedError(f"ConnectError: {said}")
    return ConnectionError(f"ReadError: {said}")


async def _read(response: aiohttp.ClientResponse) -> Received:
    content = bytearray()
    while len(content) <= LONGEST_BODY and (chunk := await response.content.readany()):
        content += chunk
    if len(content) > LONGEST_BODY:
        response.close()  # the rest is not waited for
    plain = _unpacked(content, response.headers.get("Content-Encoding", ""))
    complete = len(content) <= LONGEST_BODY and len(plain) < LONGEST_BODY
    text = plain.decode("utf-8-sig", "replace")  # JSON after a byte order mark is JSON
    return Received(response.status, response.headers, text, complete)


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
