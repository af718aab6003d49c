"""What response headers say of rate limits; docs/tutorials/hosted.md tells who sends which.

Headers are a stranger's: a number that cannot be one is not there.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from judgesheet.base.limits import LONGEST_TIME
from judgesheet.base.records import Allowance, Resource

_HEADERS: tuple[tuple[Resource, str], ...] = (
    ("requests", "x-ratelimit-{}-requests"),
    ("tokens", "x-ratelimit-{}-tokens"),
    ("requests", "x-ratelimit-{}-req-minute"),  # Mistral
    ("tokens", "x-ratelimit-{}-tokens-minute"),
    ("requests", "anthropic-ratelimit-requests-{}"),
    ("tokens", "anthropic-ratelimit-tokens-{}"),
    ("tokens_in", "anthropic-ratelimit-input-tokens-{}"),
    ("tokens_out", "anthropic-ratelimit-output-tokens-{}"),
)
"""Of what, and the headers that tell its limit, what is remaining, and when it is reset."""
_NAMES = [
    (of, header.format("limit"), header.format("remaining"), header.format("reset"))
    for of, header in _HEADERS
]
_COUNT = re.compile(r"[0-9]{1,15}")  # more digits than any limit has, and too few to take long
_SPAN = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(ns|us|µs|ms|s|m|h|d)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600, "d": 86400}


def read_allowances(headers: Mapping[str, str]) -> tuple[Allowance, ...]:
    """The limits that a response tells of; empty if nothing plausible is stated about what is left.

    The names in `headers` are found whatever their case, or are in lower case.
    """
    return tuple(_read(headers))


def _read(headers: Mapping[str, str]) -> Iterator[Allowance]:
    for of, limit, remaining, reset in _NAMES:
        if remaining in headers and (left := _count(headers[remaining])) is not None:
            reset_s = seconds_until(headers.get(reset, ""), headers)
            yield Allowance(of, _count(headers.get(limit, "")) or None, left, reset_s)


def reset_s(allowances: Iterable[Allowance]) -> float | None:
    """Seconds until no limit is used up any more; None if none is, or if unknown."""
    known = (one.reset_s for one in allowances if one.left == 0)
    return max((seconds for seconds in known if seconds is not None), default=None)


def _count(text: str) -> int | None:
    return int(text) if _COUNT.fullmatch(text.strip()) else None


def seconds_until(told: str, headers: Mapping[str, str]) -> float | None:
    """Seconds, from 0, until a time: `55`, `6m0s`, `12ms` or a date; None if it is not valid.

    Dates are compared with the server's own clock, if its headers show it.
    """
    told = told.strip()[:LONGEST_TIME]
    with suppress(ValueError, OverflowError):
        if parts := _SPAN.findall(told):
            if "".join(map("".join, parts)) == told:
                return float(sum(float(number) * _SECONDS[unit] for number, unit in parts))
        elif _SPAN.fullmatch(f"{told}s"):
            return float(told)
    there, here = _moment(told), _moment(headers.get("date", "")) or datetime.now(UTC)
    return None if there is None else max(0.0, (there - here).total_seconds())


def _moment(date: str) -> datetime | None:
    """The moment that a date of RFC 3339 or HTTP names; one without a zone is UTC."""
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        with suppress(ValueError, OverflowError):
            moment = parse(date)
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None
