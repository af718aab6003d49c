"""Where a judge is: the base URL as the user gave it, and what of it may be shown."""

import base64
import re
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from judgesheet.base.errors import UsageError
from judgesheet.base.limits import LONGEST_ADDRESS
from judgesheet.judges.redaction import REDACTED, is_token

_NO_HOST = re.compile(r"[^\w.:\-]")
_SAFE = "%/?:@!$&'()+*,;=~"
ENDPOINTS = ("/chat/completions", "/messages")
"""What an API adds to its base URL, and examples show with it."""


class Address:
    """A base URL as the user gave it, what is secret in it included.

    One without a path gets the customary one. UsageError if it is not valid.
    """

    def __init__(self, text: str, customary: str = "/v1") -> None:
        try:
            url = urlsplit(text[: LONGEST_ADDRESS + 1].strip())
            encoded = (url.hostname or "").encode("idna")
            host = encoded.decode("ascii")
            if url.port == 0 or _NO_HOST.search(encoded.decode("idna")):
                raise ValueError
        except ValueError:
            raise UsageError("the base URL is not valid: give one like https://host/v1") from None
        if len(text) > LONGEST_ADDRESS:
            raise UsageError(f"the base URL has more than {LONGEST_ADDRESS:,} characters")
        if url.scheme not in {"http", "https"} or not host:
            raise UsageError("the base URL must start with http:// or https:// and name a host")
        path = quote(url.path, safe=_SAFE)  # what is quoted stays as it is
        for end in ENDPOINTS:  # copied with what is added to it
            path = path.removesuffix(end)
        # Who names a host alone means its API, who gives a path means that path.
        self._path = path if path not in {"", "/"} else customary
        self._user = url.netloc.rpartition("@")[0]
        place = f"[{host}]" if ":" in host else host
        self._origin = f"{url.scheme}://{place}" + (f":{url.port}" if url.port else "")
        self._query = quote(url.query, safe=_SAFE)

    def __str__(self) -> str:
        """The address without anything secret in it."""
        parts = self._path.split("/")
        return self._origin + "/".join(REDACTED if is_token(p) else p for p in parts)

    @property
    def basic(self) -> str:
        """Its credentials as HTTP basic authentication wants them, "" if it has none."""
        user, _, password = map(unquote, self._user.partition(":"))
        return base64.b64encode(f"{user}:{password}".encode()).decode() if self._user else ""

    @property
    def secrets(self) -> list[str]:
        """What must never be written down: credentials, values of its query, tokens in its path."""
        user, _, password = self._user.partition(":")
        values = [value for _, value in parse_qsl(self._query)]
        tokens = [part for part in unquote(self._path).split("/") if is_token(part)]
        return [self.basic, unquote(user), unquote(password), *values, *tokens]

    def at(self, path: str) -> str:
        """The URL under it that requests go to."""
        # Credentials go into a header: as part of the address they would stand in every log.
        query = f"?{self._query}" if self._query else ""
        return f"{self._origin}{self._path.rstrip('/')}{path}{query}"
