"""What came back over HTTP, however it was carried; nothing here needs an HTTP client."""

import json
import math
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from secrets import token_hex
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from judgesheet.base.limits import LONGEST_TIME, LONGEST_WAIT_S, MOST_PARTS_OF_A_BODY
from judgesheet.base.records import Outcome, digest

_REPEATED_IN = ("x-request-id", "x-client-request-id", "x-correlation-id", "request-id")
_RETRY_DELAY = re.compile(r'"retryDelay":\s*"(\d{1,9}(?:\.\d{1,9})?)s"')
_SPAN = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(ns|us|µs|ms|s|m|h|d)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600, "d": 86400}
TOO_MANY = 429
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
        headers = [self.headers.get(header, "") for header in _REPEATED_IN]
        headers.append(str(body.get("id", "")) if isinstance(body, dict) else "")
        names = [found for one in headers for found in _REQUEST_NAME.findall(one)]
        return any(found.rpartition("-")[0] != name.rpartition("-")[0] for found in names)

    @property
    def redirected_to(self) -> str | None:
        """The host that the server sends its clients to; None where it does not."""
        if not 300 <= self.status < 400 or "location" not in self.headers:
            return None
        with suppress(ValueError):
            return urlsplit(self.headers["location"]).hostname or "another path of its own"
        return "an address that cannot be read"

    def pause_s(self) -> float | None:
        """Seconds until the endpoint wants to be asked again; None if it does not say.

        It says so itself (`Retry-After`, Google in the body), or tells when a limit is reset of
        which nothing is left.
        """
        stated = [self._seconds("retry-after-ms", unit=1e-3), self._seconds("retry-after")]
        if self.status == TOO_MANY and (delay := _RETRY_DELAY.search(self.body)):
            stated.append(float(delay[1]))
        resets = (
            self._seconds(name.replace("remaining", "reset"))
            for name, left in self.headers.items()
            if "ratelimit-" in name and "remaining" in name and left.strip() == "0"
        )
        first = next((pause for pause in stated if pause is not None), None)
        used_up = [pause for pause in resets if pause is not None and pause <= LONGEST_WAIT_S]
        pause = max(used_up, default=None) if first is None else first
        return None if pause is None else min(max(0.0, pause), LONGEST_WAIT_S)

    def _seconds(self, header: str, unit: float = 1.0) -> float | None:
        """Seconds until the time that a header tells: `55`, `6m0s`, `12ms`, a date, or an epoch.

        Dates are compared with the server's own clock, if its headers show it.
        """
        text = self.headers.get(header, "").strip()[:LONGEST_TIME]
        if not text:
            return None
        now = _moment(self.headers.get("date", "")) or time.time()
        if (number := _finite(text)) is not None:
            # So many seconds, or milliseconds, are those since 1970.
            epoch = next((number / per for per in (1, 1000) if 1e9 <= number / per < 1e10), None)
            return number * unit if epoch is None else epoch - now
        parts = _SPAN.findall(text)
        if parts and "".join(map("".join, parts)) == text:
            return float(sum(float(number) * _SECONDS[span] for number, span in parts))
        moment = _moment(text)
        return None if moment is None else moment - now


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


def _moment(date: str) -> float | None:
    """The moment that a date of RFC 3339 or HTTP names; one without a zone is UTC."""
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        with suppress(ValueError, OverflowError):
            moment = parse(date)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return None
