"""Where a judge is: the base URL as the user gave it, and what of it may be shown."""

import base64

from yarl import URL

from judgesheet.base.errors import UsageError
from judgesheet.base.limits import LONGEST_ADDRESS
from judgesheet.judges.redaction import REDACTED, is_token

ENDPOINTS = ("/chat/completions", "/messages")
"""What an API adds to its base URL, and examples show with it."""


class Address:
    """A base URL as the user gave it, what is secret in it included.

    One without a path gets the customary one. UsageError if it is not valid.
    """

    def __init__(self, text: str, customary: str = "/v1") -> None:
        try:
            url = URL(text[: LONGEST_ADDRESS + 1])
            host = url.host  # decodes the name of a host in other letters
        except ValueError:
            raise UsageError("the base URL is not valid: give one like https://host/v1") from None
        if len(text) > LONGEST_ADDRESS:
            raise UsageError(f"the base URL has more than {LONGEST_ADDRESS:,} characters")
        if url.scheme not in {"http", "https"} or not host:
            raise UsageError("the base URL must start with http:// or https:// and name a host")
        # Who names a host alone means its API, who gives a path means that path.
        for end in ENDPOINTS:
            if url.path.endswith(end):  # copied with what is added to it
                url = url.with_path(url.path.removesuffix(end), keep_query=True)
        is_bare = url.path in {"", "/"}
        self._url = url.with_path(customary, keep_query=True) if is_bare else url

    def __str__(self) -> str:
        """The address without anything secret in it."""
        parts = self._url.raw_path.split("/")
        return str(self._url.origin()) + "/".join(REDACTED if is_token(p) else p for p in parts)

    @property
    def basic(self) -> str:
        """Its credentials as HTTP basic authentication wants them, "" if it has none."""
        user, password = self._url.user, self._url.password
        if user is None and password is None:
            return ""
        return base64.b64encode(f"{user or ''}:{password or ''}".encode()).decode()

    @property
    def secrets(self) -> list[str]:
        """What must never be written down: credentials, values of its query, tokens in its path."""
        known = [self.basic, self._url.user or "", self._url.password or ""]
        tokens = [part for part in self._url.path.split("/") if is_token(part)]
        return [*known, *self._url.query.values(), *tokens]

    def at(self, path: str) -> str:
        """The URL under it that requests go to."""
        # Credentials go into a header: as part of the address they would stand in every log.
        below = self._url.raw_path.rstrip("/") + path
        return str(self._url.with_user(None).with_path(below, encoded=True, keep_query=True))
