"""HTTP: a body is posted, a whole response is returned. Only this module imports httpx.

A failure on the way is a `ConnectionError`; whatever an endpoint answers is a `Received`.
"""

import base64
import json
import math
import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from judgesheet.errors import JudgeError, UsageError
from judgesheet.judges.redaction import REDACTED, is_token, without_userinfo

LONGEST_BODY = 8_000_000  # bytes that are read; a judgment is never that long
MOST_PARTS = 300_000  # lists and objects in a body; log-probabilities of 7,000 tokens are fewer

TLS_FILES = ("SSL_CERT_FILE", "SSLKEYLOGFILE")
"""The variables by which a user names files to the TLS library."""

Carrier = httpx.AsyncBaseTransport
"""What carries requests; benchmarks compare ours with others."""


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
            seconds = _seconds_until(stated)
        return None if seconds is None else max(0.0, seconds)


def _finite(text: str) -> float | None:
    try:
        value = float(text)
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


class Address:
    """A base URL as the user gave it, what is secret in it included.

    One without a path gets the customary one. UsageError if it is not valid.
    """

    def __init__(self, text: str, customary: str = "/v1") -> None:
        try:
            url = httpx.URL(text)
        except (httpx.InvalidURL, ValueError):
            raise UsageError("the base URL is not valid: give one like https://host/v1") from None
        if url.scheme not in {"http", "https"} or not url.host:
            raise UsageError("the base URL must start with http:// or https:// and name a host")
        self._url = url.copy_with(path=customary) if url.path in {"", "/"} else url

    def __str__(self) -> str:
        """The address without anything secret in it."""
        shown = self._url.copy_with(username=None, password=None, query=None, fragment=None)
        host, path = str(shown.copy_with(path="/"))[:-1], self._url.path
        return host + "/".join(REDACTED if is_token(part) else part for part in path.split("/"))

    @property
    def basic(self) -> str:
        """Its credentials as HTTP basic authentication wants them, "" if it has none."""
        if not self._url.userinfo:
            return ""
        return base64.b64encode(f"{self._url.username}:{self._url.password}".encode()).decode()

    @property
    def secrets(self) -> list[str]:
        """What must never be written down: credentials, values of its query, tokens in its path."""
        values = [value for _, value in self._url.params.multi_items()]
        tokens = [part for part in self._url.path.split("/") if is_token(part)]
        return [self.basic, self._url.username, self._url.password, *values, *tokens]

    def at(self, path: str) -> httpx.URL:
        """The URL under it that requests go to."""
        below = self._url.path.rstrip("/") + path
        return self._url.copy_with(username=None, password=None, path=below)


class Wire:
    """Posts bodies to one URL, over connections that are kept alive."""

    def __init__(
        self,
        url: httpx.URL,
        headers: Mapping[str, str],
        connections: int,
        carrier: Carrier | None = None,
    ) -> None:
        self._url = url
        self._headers = httpx.Headers(headers)
        self._carrier = carrier or _carrier(url, connections)

    async def post(self, body: bytes) -> Received:
        """Send a body and read the response, `LONGEST_BODY` bytes of it at most.

        ConnectionError if there is no response, or it is not what its headers say; a
        ConnectionRefusedError if nothing was sent.
        """
        # Straight to the carrier: a client adds cookies, redirects and authentication flows,
        # none of which is wanted here, at twice the time (docs/decisions/0002).
        request = httpx.Request("POST", self._url, headers=self._headers, content=body)
        try:
            return await _read(await self._carrier.handle_async_request(request))
        except (httpx.HTTPError, aiohttp.ClientError, OSError) as error:
            raise _fault(error) from error

    async def aclose(self) -> None:
        """Close all connections."""
        await self._carrier.aclose()


def _fault(error: Exception) -> ConnectionError:
    """What broke, in httpx's terms; httpx-aiohttp calls a dropped connection a timeout."""
    cause = error.__cause__ or error
    if isinstance(cause, zlib.error):
        return ConnectionError(f"DecodingError: {cause}")
    # A proxy's complaint quotes its address, password included.
    said = without_userinfo(str(cause)) or type(cause).__name__
    if isinstance(cause, aiohttp.ClientConnectorError):
        return ConnectionRefusedError(f"ConnectError: {said}")
    return ConnectionError(f"ReadError: {said}")


async def _read(response: httpx.Response) -> Received:
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
    complete = size <= LONGEST_BODY and len(content) < LONGEST_BODY
    text = content.decode("utf-8-sig", "replace")  # JSON after a byte order mark is JSON
    return Received(response.status_code, response.headers, text, complete)


def _unpacked(content: bytes, encoding: str) -> bytes:
    """A body that was compressed although we did not ask for it, limited to the size of a reply."""
    if encoding.strip().lower() not in {"gzip", "x-gzip", "deflate"}:
        return content
    try:
        return zlib.decompressobj(wbits=47).decompress(content, LONGEST_BODY)
    except zlib.error as error:
        raise httpx.DecodingError(str(error)) from error


def _carrier(url: httpx.URL, connections: int) -> Carrier:
    """The transport over aiohttp, which takes a tenth of the CPU time of httpx's own pool."""

    def open_session() -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=connections, ssl=carrier.ssl_context),
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
        )

    proxy = _proxy(url)
    try:
        carrier = AiohttpTransport(client=open_session, proxy=proxy)
    except OSError as error:  # it reads certificates, even where the address needs none
        named = " or ".join(name for name in TLS_FILES if os.environ.get(name))
        raise JudgeError(
            f"the file that the environment variable {named or TLS_FILES[0]} names cannot be used "
            f"({error.strerror or error}): correct or unset it"
        ) from None
    return carrier


def _proxy(url: httpx.URL) -> httpx.Proxy | None:
    """The proxy that the environment names for this address."""
    proxies = getproxies()
    named = proxies.get(url.scheme) or proxies.get("all")
    if not named or proxy_bypass(url.host):
        return None
    try:
        return httpx.Proxy(named)
    except (httpx.InvalidURL, ValueError):  # not repeated: it may hold a password
        raise JudgeError(
            "the environment variable for the proxy must look like http://host:port"
        ) from None
