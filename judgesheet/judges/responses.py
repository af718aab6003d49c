"""What came back over HTTP, however it was carried; nothing here needs an HTTP client."""

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from judgesheet.base.records import Outcome
from judgesheet.judges.allowances import seconds_until

MOST_PARTS = 300_000  # lists and objects in a body; log-probabilities of 7,000 tokens are fewer


class Received(NamedTuple):
    """A response, its body as text; not `complete` where reading stopped before its end.

    Names of headers are in lower case. `secrets` are what the authentication sent and was sent.
    """

    status: int
    headers: Mapping[str, str]
    body: str
    complete: bool
    secrets: tuple[str, ...] = ()

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


class Failed(NamedTuple):
    """Why there is no response: what it means for the call, the words, and what the user can do.

    `remedy` is "" where only the outcome says that; `reason` may hold the `secrets`.
    """

    outcome: Outcome
    reason: str
    remedy: str = ""
    was_sent: bool = True
    secrets: tuple[str, ...] = ()


def _finite(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
