"""An endpoint that is down for a time is waited for, with one request at a time."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from judgesheet.base.limits import LONGEST_PAUSE_S
from judgesheet.base.records import NOT_CONNECTED, Outcome, Reply

DOWN: frozenset[Outcome] = frozenset({"unavailable", "timeout", "rate_limited"})
"""Outcomes of an endpoint that is not there, or answers nobody."""
BUSY = frozenset({"HTTP 429", "HTTP 502", "HTTP 503", "HTTP 504", "HTTP 529"})
"""Reasons that speak of the endpoint and not of the call, even where it never answered before."""
SURE_AFTER = 5
"""Failures in a row, without an answer to anybody, that make an outage."""


class Outage:
    """Whether the endpoint is down, since when, and whose turn it is to try.

    While it is, requests leave one at a time, after pauses that double from `pause_s` up to
    `longest_pause_s`; the first that is answered lets all others go on.
    """

    def __init__(self, pause_s: float, longest_pause_s: float) -> None:
        self.since: float | None = None
        """Seconds since the epoch of the first failure in a row; None while all is well."""
        self._first_pause_s = self._pause_s = pause_s
        self._longest_pause_s = min(LONGEST_PAUSE_S, longest_pause_s)
        self._asked_s = 0.0
        self._began = 0.0  # monotonic
        self._failures = 0
        self._calls: set[str] = set()
        self._turn = asyncio.Lock()

    @property
    def lasts_s(self) -> float:
        """For how many seconds nothing but failures came; 0 while all is well."""
        return time.monotonic() - self._began if self.since is not None else 0.0

    def learn(self, reply: Reply, *, has_answers: bool) -> None:
        """Register an attempt; `has_answers` says whether the endpoint ever answered."""
        if reply.outcome not in DOWN:
            self._end()
            return
        if not self._failures:
            self._began = time.monotonic()
        self._failures += 1
        self._calls.add(reply.call_id)
        self._asked_s = reply.retry_after_s or 0.0
        if self.since is None and self._failures >= SURE_AFTER and self._is_of_all(
            reply, has_answers=has_answers
        ):  # fmt: skip
            self.since = time.time() - (time.monotonic() - self._began)

    def _is_of_all(self, reply: Reply, *, has_answers: bool) -> bool:
        """Whether a failure is the endpoint's, and not that of one call or of a wrong address."""
        if reply.finish_reason in BUSY:
            return True
        return has_answers and (reply.finish_reason == NOT_CONNECTED or len(self._calls) > 1)

    def _end(self) -> None:
        if self._failures:
            self.since, self._failures, self._pause_s = None, 0, self._first_pause_s
            self._calls.clear()

    async def ask(
        self, put: Callable[[], Awaitable[Reply]], pause: Callable[[float], Awaitable[None]]
    ) -> Reply:
        """The reply to a request, which is `put` when it is its turn; the others wait behind it."""
        if self.since is not None:
            async with self._turn:
                if self.since is not None:
                    await pause(max(self._pause_s, self._asked_s))
                    self._pause_s = min(self._longest_pause_s, 2 * self._pause_s)
                    return await put()
        return await put()
