"""How many requests an endpoint is sent at once, and how many in a minute.

Both are found out while asking. `ConcurrencyLimit` tries how many requests in flight make it answer
more in the same time. `RateLimit` holds a request back that would go beyond a limit of the user, or
one that the endpoint announces in its headers, rather than have it refused.
"""

import asyncio
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from judgesheet.base.limits import LONGEST_REPLY, MOST_HEARD, MOST_WINDOWS
from judgesheet.base.records import UNBILLED, Allowance, Call, Outcome, Reply, Resource
from judgesheet.base.usage import CHARACTERS_PER_TOKEN

FIRST = 16  # requests in flight before anything is known
GAIN = 1.25  # what twice as many in flight must bring to be kept
REST = 16  # rounds until twice as many are tried again
TOO_MANY: frozenset[Outcome] = frozenset({"rate_limited", "unavailable", "timeout"})

SLACK = 61 / 60  # a request reaches the endpoint a little after it was sent


@dataclass(frozen=True, slots=True)
class Limits:
    """What the user limits: `rate` is in requests per second, the others in any `window_s`.

    What an endpoint says in its headers that it is closed for longer than `longest_wait_s` is not
    believed before it refuses a request.
    """

    rate: float | None = None
    rpm: float | None = None
    tpm: float | None = None
    window_s: float = 60.0
    longest_wait_s: float = 900.0


class ConcurrencyLimit:
    """How many requests may be in flight: found by trying, up to a ceiling.

    Twice as many are tried, round after round, and kept where the endpoint then answers more in
    the same time; else they are tried again later. When it refuses, or does not answer in time,
    half of them are left, and each round without a refusal adds one. Where the judge `adapts`, the
    first request is awaited: what it teaches, the others need not learn.
    """

    def __init__(self, ceiling: int, *, adapts: bool = False) -> None:
        self.in_flight = 0
        self.ceiling = max(1, ceiling)
        self.size = 1 if adapts else min(FIRST, self.ceiling)
        self._is_first = adapts
        self._is_refused = False
        self._since = 0.0
        self._speeds: list[float] = []
        self._size_before = self.size
        self._speed_before: float | None = None
        """Those of half as many, while twice as many are tried."""
        self._rest = 0
        self._queue: deque[asyncio.Future[None]] = deque()

    async def acquire(self) -> None:
        """Wait for a place among the requests in flight, and take it."""
        while self.in_flight >= self.size:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._queue.append(turn)
            await turn
        self.in_flight += 1

    def release(self) -> None:
        """Give the place back."""
        self.in_flight -= 1
        free = self.size - self.in_flight
        while self._queue and free > 0:
            turn = self._queue.popleft()
            if not turn.done():  # else its owner was cancelled while waiting
                turn.set_result(None)
                free -= 1

    def learn(self, outcome: Outcome, asked_at: float, asked: int) -> None:
        """Adapt to the outcome of a request that was sent at `asked_at` (monotonic seconds).

        It was then one of `asked` that were out, not held back by a rate. If these were half of
        the places or fewer, it tells nothing of what the others bring.
        """
        if outcome == "unsupported":
            return
        if self._is_first:
            self._is_first, self.size = False, min(FIRST, self.ceiling)
        if asked_at < self._since:
            return  # it tells nothing about the present size
        if outcome in TOO_MANY:
            self._is_refused, self._speed_before = True, None
            self._begin(max(1, self.size // 2))
        elif asked > self.size / 2 and (self.size < self.ceiling or self._speed_before is not None):
            # While more are tried, places fill up only as replies come in.
            out = self.size if self._speed_before is None else asked
            self._speeds.append(out / max(1e-9, time.monotonic() - asked_at))
            is_settled = self._rest or self._is_refused
            if len(self._speeds) >= (self.size if is_settled else self.size / 2):
                self._end_round()

    def restart(self) -> None:
        """Begin as if nothing were known: after an outage, failures say nothing of the size."""
        self._is_refused, self._rest, self._speed_before = False, 0, None
        self._begin(min(FIRST, self.ceiling))

    def _begin(self, size: int) -> None:
        """Begin a round with so many places."""
        self.size, self._since, self._speeds = size, time.monotonic(), []

    def _end_round(self) -> None:
        speed, before = median(self._speeds), self._speed_before
        brings_little = before is not None and speed < GAIN * before
        if brings_little and len(self._speeds) < 2 * self.size:
            return  # a few slow replies are chance: one more is waited for
        self._speed_before = None
        if brings_little:
            self._rest = REST
            self._begin(self._size_before)
        elif self._is_refused:
            self._begin(min(self.ceiling, self.size + 1))
        elif self._rest:
            self._rest -= 1
            self._begin(self.size)
        elif self.size < self.ceiling:
            self._speed_before, self._size_before = speed, self.size
            self._begin(min(self.ceiling, 2 * self.size))


@dataclass(slots=True, eq=False)
class _Used:
    """What was used of a window, and when."""

    units: float
    at: float
    is_over: bool = False


class Window:
    """At most `most` units in any `seconds`.

    More than that at once is let through alone, and then keeps others waiting accordingly longer.
    """

    def __init__(self, most: float, seconds: float) -> None:
        self._most, self._seconds = most, seconds
        self._used: deque[_Used] = deque()
        self._sum = 0.0

    def wait_s(self, units: float, now: float) -> float:
        """Seconds until so many may be used; 0 for now."""
        while self._used and self._ends(self._used[0]) <= now:
            gone = self._used.popleft()
            gone.is_over, self._sum = True, self._sum - gone.units
        left = self._sum = self._sum if self._used else 0.0
        end = now
        for used in self._used:
            if left + units <= self._most:
                break
            left, end = left - used.units, max(end, self._ends(used))
        return end - now

    def use(self, units: float, at: float) -> _Used:
        """Count so many as used."""
        used = _Used(min(units, MOST_WINDOWS * self._most), at)
        self._used.append(used)
        self._sum += used.units
        return used

    def correct(self, used: _Used, units: float) -> None:
        """Count so many instead, now that it is known."""
        units = min(units, MOST_WINDOWS * self._most)
        if not used.is_over:
            self._sum, used.units = self._sum + units - used.units, units

    def _ends(self, used: _Used) -> float:
        return used.at + self._seconds * max(1.0, used.units / self._most)


@dataclass(slots=True, eq=False)
class _AnnouncedLimits:
    """What an endpoint tells of a limit.

    Since it was told first, requests `spent` so much, and may spend `most`: so says request
    `number`. From `until` on it is whole again, and one request is sent alone, number `test`, to
    hear how much there is. There was nothing left for `idle_s`. `heard` are what replies said of
    `most`, without those that a later one fell below; each with the number of replies until then.
    """

    limit: int | None = None
    spent: float = 0.0
    most: float = 0.0
    number: int = 0
    until: float = 0.0
    test: int = 0
    idle_s: float = 0.0
    heard: list[tuple[int, float]] = field(default_factory=list)

    def hear(self, most: float, ticket: "Ticket", replies: int) -> bool:
        """Whether this is news: from a request that left after the one that is believed.

        Replies come in any order. What came since that request left may know of others that were
        counted after it.
        """
        while self.heard and self.heard[-1][1] >= most:
            self.heard.pop()
        self.heard.append((replies, most))
        if ticket.number <= self.number:
            return False
        self.number = ticket.number
        self.most = next(most for before, most in self.heard if before > ticket.replies)
        del self.heard[:-MOST_HEARD]
        return True


class Load(NamedTuple):
    """What a request uses of an endpoint, as far as that is known before it is answered."""

    characters: int
    used: Mapping[Resource, float]


class Ticket(NamedTuple):
    """A request that has left, with what it uses; so many `replies` had come by then."""

    number: int
    replies: int
    load: Load
    tokens: _Used | None


@dataclass(slots=True)
class _Usage:
    """Tokens of the requests that were answered, to estimate those of the next."""

    characters: int = 0
    tokens_in: int = 0
    longest: int = 0

    def learn(self, characters: int, tokens_in: int, tokens_out: int) -> None:
        self.characters += characters
        self.tokens_in += tokens_in
        self.longest = max(self.longest, tokens_out)

    def load(self, call: Call) -> Load:
        characters = sum(len(message["content"]) for message in call.messages)
        per_character = 1 / CHARACTERS_PER_TOKEN
        if self.characters and self.tokens_in:
            per_character = min(4.0, self.tokens_in / self.characters)
        tokens_in = 1 + characters * per_character
        longest = call.params.get("max_tokens") or self.longest or LONGEST_REPLY
        # A limit on replies alone counts what is said, other ones what may be said.
        tokens_out = min(longest, self.longest or longest)
        return Load(characters, {"requests": 1, "tokens": tokens_in + longest,
                                 "tokens_in": tokens_in, "tokens_out": tokens_out})  # fmt: skip


class RateLimit:
    """When the next request may leave.

    `heard` is set at each reply, which may change that. `told` are the limits that the endpoint
    announces, `doubts` sentences about those that are implausible.
    """

    def __init__(self, limits: Limits) -> None:
        self.heard = asyncio.Event()
        self.told: dict[Resource, int] = {}
        self.doubts: dict[Resource, str] = {}
        self._limits = limits
        self._requests = [*_requests_in(limits)]
        self._tokens: Window | None = None
        if limits.tpm is not None:
            self._tokens = Window(limits.tpm, limits.window_s * SLACK)
        self._closed_until = 0.0
        self._number = self._replies = 0
        self._in_flight: dict[int, Load] = {}
        self._left: dict[Resource, _AnnouncedLimits] = {}
        self._usage = _Usage()

    def recall(self, recent: Iterable[tuple[float, int]]) -> None:
        """Count requests of an earlier session: seconds since they were made, and their tokens."""
        now = time.monotonic()
        for ago, tokens in recent:
            for window in self._requests:
                window.use(1, now - ago)
            if self._tokens:
                self._tokens.use(tokens, now - ago)

    def load(self, call: Call) -> Load:
        """What a call will use."""
        return self._usage.load(call)

    def wait_s(self, load: Load) -> float:
        """Seconds until a request may leave, 0 for now; unless something is `heard` before."""
        now = time.monotonic()
        wait = self._closed_until - now
        for window in self._requests:
            wait = max(wait, window.wait_s(1, now))
        if self._tokens:
            wait = max(wait, self._tokens.wait_s(load.used["tokens"], now))
        for of, told in self._left.items():
            if told.most - told.spent < _needed(load, of, told.limit):
                wait = max(wait, self._limits.longest_wait_s if told.test else told.until - now)
        return max(0.0, wait)

    def send(self, load: Load) -> Ticket:
        """Count a request that leaves now."""
        now, self._number = time.monotonic(), self._number + 1
        for window in self._requests:
            window.use(1, now)
        for of, told in self._left.items():
            told.spent += load.used[of]
            if now >= told.until:
                told.test = self._number
        self._in_flight[self._number] = load
        tokens = self._tokens.use(load.used["tokens"], now) if self._tokens else None
        return Ticket(self._number, self._replies, load, tokens)

    def learn(self, ticket: Ticket, reply: Reply) -> None:
        """Record what the reply to a request says of the limits, and what it used of them."""
        self._replies += 1
        self._count(ticket, reply)
        del self._in_flight[ticket.number]
        if reply.outcome == "rate_limited":
            # Everybody waits: who asks earlier is only turned away again.
            pause = reply.retry_after_s or 0.0
            self._closed_until = max(self._closed_until, time.monotonic() + pause)
            self.doubts.clear()
        tested = [of for of, told in self._left.items() if told.test == ticket.number]
        for of in tested:
            self._left[of].test = 0
            if reply.outcome == "ok" and all(one.of != of for one in reply.allowances):
                del self._left[of]  # it is not told any more
        for allowance in reply.allowances:
            if allowance.reset_s is None:  # a refusal says when to come back in its own header
                allowance = allowance._replace(reset_s=reply.retry_after_s)
            self._believe(allowance, ticket, was_tested=allowance.of in tested)
        self.heard.set()

    def _count(self, ticket: Ticket, reply: Reply) -> None:
        """Count the tokens that a request used instead of those that it might have used."""
        used = 0 if reply.outcome in UNBILLED else None
        if reply.tokens_in is not None and reply.tokens_out is not None:
            used = reply.tokens_in + reply.tokens_out
            self._usage.learn(ticket.load.characters, reply.tokens_in, reply.tokens_out)
        if self._tokens and ticket.tokens and used is not None:
            self._tokens.correct(ticket.tokens, used)

    def _believe(self, allowance: Allowance, ticket: Ticket, *, was_tested: bool) -> None:
        of, limit, left, reset_s = allowance
        told = self._left.setdefault(of, _AnnouncedLimits())
        # Requests in flight may not be counted yet.
        uncounted = sum(load.used[of] for load in self._in_flight.values())
        if not told.hear(told.spent + left - uncounted, ticket, self._replies):
            return
        now, told.limit, longest_s = time.monotonic(), limit, self._limits.longest_wait_s
        if limit is not None:
            self.told[of] = limit
        if reset_s is None:  # what another reply told before still holds
            reset_s = told.until - now if told.until > now else self._limits.window_s
        told.until = now + min(reset_s, longest_s)
        # To wait again and again, for a single request each time, is no limit but nonsense.
        is_spent = left < _needed(ticket.load, of, limit)
        told.idle_s = is_spent * (reset_s + was_tested * told.idle_s)
        if told.idle_s > longest_s:
            of_limit = "" if limit is None else f" of {limit:,}"
            self.doubts[of] = f"{left:,}{of_limit} {WORDS[of]}"
        if of in self.doubts:
            del self._left[of]


def _needed(load: Load, of: Resource, limit: int | None) -> float:
    """What must be left for a request, which may need more than there ever is."""
    return load.used[of] if limit is None else min(load.used[of], limit)


def _requests_in(limits: Limits) -> Iterator[Window]:
    """The user's limits of requests; at most a tenth of a second's leave at once by the `rate`."""
    if limits.rate is not None:
        burst = max(1, int(limits.rate * 0.1))
        yield Window(burst, burst / limits.rate)
    if limits.rpm is not None:
        yield Window(limits.rpm, limits.window_s * SLACK)


WORDS: Mapping[Resource, str] = {
    "requests": "requests",
    "tokens": "tokens",
    "tokens_in": "tokens of prompts",
    "tokens_out": "tokens of replies",
}
"""What is limited, as a reader calls it."""
