"""What came back over HTTP, however it was carried; nothing here needs an HTTP client."""

import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from secrets import token_hex
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from judgesheet.base.limits import LONGEST_WAIT_S, MOST_PARTS_OF_A_BODY
from judgesheet.base.records import Outcome, digest
from judgesheet.judges.allowances import seconds_until

_REPEATED_IN = ("x-request-id", "x-client-request-id", "x-correlation-id", "request-id")
_REQUEST_NAME = re.compile(r"judgesheet-[0-9a-f]{16}-[0-9a-f]{8}")


def request_name(messages: Any) -> str:
    """A name for a request that asks this, which its answer may repeat: no two have the same.

    It begins with what is asked: where a cache answers, the name is that of an earlier request.
    """
    return f"judgesheet-{digest(json.dumps(messages))[:16]}-{token_hex(4)}"


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
        """The body as JSON; None if it is not valid, or too large."""
        parts = self.body.count("[") + self.body.count("{")
        try:
            return (
                json.loads(self.body) if self.complete and parts <= MOST_PARTS_OF_A_BODY else None
            )
        except (ValueError, RecursionError):
            return None

    def is_anothers(self, name: str) -> bool:
        """Whether this answers another question than the request of this name.

        Known only of servers that repeat the name, in a header or as the completion's id.
        """
        body = self.json() if "judgesheet-" in self.body else None
        told = [self.headers.get(header, "") for header in _REPEATED_IN]
        told.append(str(body.get("id", "")) if isinstance(body, dict) else "")
        names = [found for one in told for found in _REQUEST_NAME.findall(one)]
        return any(found.rpartition("-")[0] != name.rpartition("-")[0] for found in names)

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
        return None if seconds is None else min(max(0.0, seconds), LONGEST_WAIT_S)


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
