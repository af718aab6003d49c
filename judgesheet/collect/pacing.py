"""When the next request may leave.

One request at a time leaves until the endpoint has answered, and again while it is down. Else the
number in flight grows with the answers and is halved when the endpoint is overloaded. All wait as
long as the endpoint asks for, and until the user's own limits have room.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from aiolimiter import AsyncLimiter

from judgesheet.base import defaults
from judgesheet.base.limits import LONGEST_PAUSE_S, LONGEST_REPLY
from judgesheet.base.records import NOT_CONNECTED, SETTLING, UNBILLED, Call, Outcome, Reply
from judgesheet.base.usage import tokens_of

FIRST = 4
"""Requests in flight after the first answer: what a small server takes."""
SURE_AFTER = 5
"""Failures in a row, without an answer to anybody, that say that the endpoint is down."""
DOWN: frozenset[Outcome] = frozenset({"unavailable", "timeout", "rate_limited"})
"""Outcomes of an endpoint that is not there, or answers nobody."""
BUSY = frozenset({"HTTP 429", "HTTP 502", "HTTP 503", "HTTP 504", "HTTP 529"})
"""Reasons that speak of the endpoint and not of the call."""
WINDOW_S = 60.0
"""In which providers count requests and tokens."""
SLACK = 61 / 60  # a request reaches the endpoint a little after it left
BURST_S = 0.1


class OverError(Exception):
    """No further request in this session; the call stays pending."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What the user limits: `rate` is in requests per second, `rpm` and `tpm` are per minute.

    While the endpoint is down, pauses double from `backoff_s` up to `longest_backoff_s`.
    """

    concurrency: int = defaults.CONCURRENCY
    rate: float | None = None
    rpm: float | None = None
    tpm: float | None = None
    backoff_s: float = 1.0
    longest_backoff_s: float = 60.0


class Leave(NamedTuple):
    """When a request left (by the loop's clock), and with how many tokens it was counted."""

    at: float
    tokens: float


class Pace:
    """How many requests are in flight, and when the next may leave; `most` is a judge's own limit.

    The number does not grow before it `may_grow`: while no reply was of any use.
    """

    def __init__(self, limits: Limits, most: int | None = None) -> None:
        self.ceiling = min(limits.concurrency, most or limits.concurrency)
        self.in_flight = 0
        self.may_grow = True
        self.is_down = False
        self.opens_at = 0.0
        """When the next request may leave, by the loop's clock."""
        self._held_s = 0.0
        self._held_since: float | None = None
        self._size = float(min(FIRST, self.ceiling))
        self._is_alone = True
        self._has_answered = self._was_overloaded = False
        self._cut_at = 0.0
        """Requests that left before tell nothing of the present number."""
        self._failing_since = 0.0
        self._failed: list[str] = []
        """The calls of the failures in a row."""
        self._first_pause_s = self._pause_s = limits.backoff_s
        self._longest_pause_s = min(LONGEST_PAUSE_S, limits.longest_backoff_s)
        per_minute = [limits.rpm / (WINDOW_S * SLACK)] if limits.rpm else []
        rates = [*per_minute, *([limits.rate] if limits.rate else [])]
        self._requests = _bucket(min(rates)) if rates else None
        self._tokens = _bucket(limits.tpm / (WINDOW_S * SLACK)) if limits.tpm else None
        self._most_owed = limits.tpm or 0.0
        self._owed = 0.0
        """Tokens that replies used and were not counted with."""
        self._turn, self._changed = asyncio.Lock(), asyncio.Event()
        self._end: asyncio.Timeout | None = None
        self._is_over = False

    @property
    def failing_s(self) -> float:
        """For how many seconds nothing but failures came; 0 while all is well."""
        return _now() - self._failing_since if self._failed else 0.0

    @property
    def held_s(self) -> float:
        """Seconds for which requests were held back so far."""
        return self._held_s + (0.0 if self._held_since is None else _now() - self._held_since)

    @contextmanager
    def _holding_back(self) -> Iterator[None]:
        self._held_since = _now()
        try:
            yield
        finally:
            self._held_s, self._held_since = self.held_s, None

    def stop(self) -> None:
        """Let nothing leave any more: whoever waits gets an OverError."""
        if self._end and not self._is_over:
            self._end.reschedule(0)
        self._is_over = True

    async def leave(self, call: Call) -> Leave:
        """Wait until a request may leave, in the order of asking, and count it as in flight."""
        tokens = _most_tokens(call) if self._tokens else 0.0
        is_limited = self._requests or self._tokens
        if is_limited or self._turn.locked() or not self._has_place or self.opens_at > _now():
            async with self._turn:
                await self._wait(tokens if is_limited else None)
        if self._is_over:
            raise OverError
        self.in_flight += 1
        return Leave(_now(), tokens)

    @property
    def _has_place(self) -> bool:
        return self.in_flight < (1 if self._is_alone else int(self._size))

    async def _wait(self, tokens: float | None) -> None:
        if self._is_over:
            raise OverError
        try:
            async with asyncio.timeout(None) as self._end:
                if tokens is not None:
                    await self._take(tokens)
                await self._wait_for_endpoint()
        except TimeoutError:
            raise OverError from None
        finally:
            self._end = None

    async def _take(self, tokens: float) -> None:
        """Wait until the user's limits have room."""
        with self._holding_back():
            if self._requests:
                await self._requests.acquire()
            self._owed += tokens
            while self._tokens and (part := min(self._owed, self._tokens.max_rate)) > 0:
                await self._tokens.acquire(part)
                self._owed -= part

    async def _wait_for_endpoint(self) -> None:
        while True:
            if not self._has_place:
                self._changed.clear()
                await self._changed.wait()
            elif (wait := self.opens_at - _now()) > 0:
                with self._holding_back():
                    await asyncio.sleep(wait)
            else:
                return

    def arrive(self) -> None:
        """A request is in flight no more."""
        self.in_flight -= 1
        self._changed.set()

    def learn(self, reply: Reply, left: Leave) -> None:
        """Adapt to a reply that arrives, to a request that left so."""
        asked = reply.retry_after_s or 0.0
        # Whoever answers, and asks for more than a minute, speaks of something else.
        if reply.outcome in DOWN or asked <= WINDOW_S:
            self.opens_at = max(self.opens_at, _now() + asked)
        if self._tokens:
            self._pay(reply, left.tokens)
        if reply.outcome in DOWN:
            self._fail(reply, left.at)
        elif reply.outcome != "unsupported":
            self._failed, self.is_down, self._pause_s = [], False, self._first_pause_s
        if reply.outcome in SETTLING:
            self._has_answered = True
            self._grow(left.at)

    def _grow(self, left_at: float) -> None:
        """Twice as many in a round until the endpoint was overloaded once, then one more."""
        is_news = left_at >= self._cut_at
        if self._is_alone:
            self._is_alone, self._cut_at = False, _now()
        elif is_news and self.may_grow and self.in_flight > self._size / 2:  # else none are missing
            more = 1 / self._size if self._was_overloaded else 1
            self._size = min(self._size + more, self.ceiling)
        self._changed.set()

    def _fail(self, reply: Reply, left_at: float) -> None:
        if not self._failed:
            self._failing_since = _now()
        self._failed.append(reply.call_id)
        is_news = left_at >= self._cut_at
        is_overload = reply.outcome != "unavailable" or reply.finish_reason in BUSY
        if is_news and is_overload and not self._is_alone:
            self._was_overloaded, self._cut_at = True, _now()
            self._size = max(1.0, self._size / 2)
        if len(self._failed) >= SURE_AFTER and self._is_of_all(reply):
            if is_news or not self.is_down:
                self._cut_at = self.opens_at = max(self.opens_at, _now() + self._pause_s)
                self._pause_s = min(self._longest_pause_s, 2 * self._pause_s)
            self.is_down = self._is_alone = True

    def _is_of_all(self, reply: Reply) -> bool:
        """Whether failures are the endpoint's, and not those of one call or of a wrong address."""
        is_busy = reply.outcome == "rate_limited" or reply.finish_reason in BUSY
        if self.is_down or is_busy:
            return True
        is_of_several = reply.finish_reason == NOT_CONNECTED or len(set(self._failed)) > 1
        return self._has_answered and is_of_several

    def _pay(self, reply: Reply, counted: float) -> None:
        """Have the next requests make up for what a reply used beyond what it was counted with."""
        used = counted
        if reply.tokens_in is not None and reply.tokens_out is not None:
            used = min(reply.tokens_in + reply.tokens_out, self._most_owed)
        elif reply.outcome in UNBILLED:
            used = 0.0
        self._owed = min(self._owed + used - counted, self._most_owed)


def _most_tokens(call: Call) -> float:
    """The tokens that a call may use."""
    characters = sum(len(message["content"]) for message in call.messages)
    return tokens_of(None, characters) + (call.params.get("max_tokens") or LONGEST_REPLY)


def _bucket(per_s: float) -> AsyncLimiter:
    """A limit that lets no more through at once than in a tenth of a second, or one."""
    burst = max(1.0, per_s * BURST_S)
    return AsyncLimiter(burst, burst / per_s)


def _now() -> float:
    return asyncio.get_running_loop().time()
