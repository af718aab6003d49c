"""Stage two: put every pending call of a ledger to a judge until it is settled.

Each attempt is a row of the ledger, and nothing counts before it is on disk. What an endpoint does
is data; a run stops early only when its budget is spent, when further calls would be wasted, or
when somebody interrupts it. In each case the same command resumes it.
"""

import asyncio
import json
import re
import time
from collections import deque
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count

from aiolimiter import AsyncLimiter
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_result,
    stop_after_attempt,
    wait_exponential,
    wait_random,
)

from judgesheet.errors import JudgeError
from judgesheet.judges import Judge
from judgesheet.prices import Prices, cost
from judgesheet.records import HOPELESS, RETRYABLE, Call, Outcome, Reply
from judgesheet.spine.ledger import SETTLING, Ledger

REPORT_EVERY_S = 0.1
LINGER_S = 0.003  # a transaction waits this long for company: a tenth of them costs a third


@dataclass(frozen=True, slots=True)
class CollectSettings:
    """How hard to ask, and when to stop.

    `rate` is in requests per second. `max_calls` limits the requests of this session, retries
    included. `max_cost` (US dollars, needs `prices`) limits the whole ledger, so that resuming does
    not spend it again; only the very first requests, when nobody knows yet what one costs, can
    overrun it. The pause between attempts doubles from
    `backoff_s` up to `longest_backoff_s`; a `Retry-After` beyond `longest_wait_s` stops the run.
    So do `hopeless_after` authentication or not-found errors in a row, and `fruitless_after`
    failures in a row (attempts at the start, calls given up later on).
    """

    concurrency: int = 16
    rate: float | None = None
    max_attempts: int = 5
    max_calls: int | None = None
    max_cost: float | None = None
    prices: Prices | None = None
    backoff_s: float = 1.0
    longest_backoff_s: float = 60.0
    longest_wait_s: float = 900.0
    hopeless_after: int = 5
    fruitless_after: int = 10


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands; only what is on disk counts.

    Of the whole ledger: `planned`, `settled`, `attempts`, tokens. Of this session, which has lasted
    `seconds`: `done_now` (settled), `failed` (given up until the run is resumed), `unreadable`.
    `stopped` names the setting that ended the session early, `max_calls` or `max_cost`.
    """

    planned: int
    settled: int
    attempts: int
    tokens_in: int
    tokens_out: int
    prices: Prices | None
    seconds: float = 0.0
    in_flight: int = 0
    done_now: int = 0
    failed: int = 0
    unreadable: int = 0
    stopped: str | None = None

    @property
    def cost(self) -> float | None:
        """US dollars of the whole ledger; None without prices."""
        return cost(self.tokens_in, self.tokens_out, self.prices)

    @property
    def rate(self) -> float:
        """Calls settled per second."""
        return self.done_now / max(1e-9, self.seconds)

    @property
    def eta_s(self) -> float | None:
        """Seconds until all is settled, at this rate; None before the first call."""
        return (self.planned - self.settled - self.failed) / self.rate if self.rate else None


IsReadable = Callable[[Call, str], bool]


async def collect(
    judge: Judge,
    ledger: Ledger,
    settings: CollectSettings,
    on_progress: Callable[[Progress], None] = lambda _: None,
    is_readable: IsReadable | None = None,
    only: Container[str] | None = None,
) -> Progress:
    """Ask everything that is pending, in plan order, and return where the run stands.

    `judge` is entered already. `on_progress` is called at most about ten times a second. `only`
    holds the ids of the calls to ask, where not all are wanted. When this is cancelled, replies
    that have arrived are committed first; the run can then be resumed.

    Raises
    ------
    JudgeError
        if the endpoint does not answer in any useful way.
    RunError
        if the ledger cannot be written.
    """
    return await _Session(judge, ledger, settings, on_progress, is_readable, only).run()


async def enter_and_collect(
    judge: Judge,
    ledger: Ledger,
    settings: CollectSettings,
    on_progress: Callable[[Progress], None],
    is_readable: IsReadable,
) -> Progress:
    """Enter the judge, `collect`, and leave it again."""
    async with judge:
        return await collect(judge, ledger, settings, on_progress, is_readable)


class AdaptiveLimit:
    """How many requests may be in flight: one more per round that went well, half on push-back."""

    def __init__(self, ceiling: int) -> None:
        self.in_flight = 0
        self._ceiling = max(1, ceiling)
        self._size = float(self._ceiling)
        self._halved_at = 0.0
        self._queue: deque[asyncio.Future[None]] = deque()

    @property
    def size(self) -> int:
        """Requests that may be in flight now."""
        return int(self._size)

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

    def learn(self, outcome: Outcome, asked_at: float) -> None:
        """Adapt to the outcome of a request that was sent at `asked_at` (monotonic seconds)."""
        if outcome not in {"rate_limited", "unavailable"}:
            self._size = min(self._ceiling, self._size + 1 / self._size)
        elif asked_at >= self._halved_at:
            # Requests sent before the last cut tell nothing about the present size.
            self._size = max(1.0, self._size / 2)
            self._halved_at = time.monotonic()


class Circuit:
    """Stops a run that gets nowhere, with one sentence.

    There are three ways to get nowhere: the endpoint refuses the key or the model time after time;
    the first attempts all fail; later on, one call after the other is given up.
    """

    def __init__(self, settings: CollectSettings, judge: Judge) -> None:
        self._settings = settings
        self._judge = judge
        self._answered = False
        self._hopeless = 0
        self._fruitless = 0
        self._given_up = 0

    def attempted(self, reply: Reply) -> None:
        """Take note of one attempt.

        Raises
        ------
        JudgeError
            if further calls would be wasted.
        """
        self._hopeless = self._hopeless + 1 if reply.outcome in HOPELESS else 0
        if reply.outcome in {"ok", "refused", "too_long"}:
            self._answered, self._given_up = True, 0
        elif reply.outcome != "rate_limited":
            self._fruitless += 1
        if self._hopeless >= self._settings.hopeless_after:
            self._stop(reply, f"{self._hopeless} times in a row")
        if not self._answered and self._fruitless >= self._settings.fruitless_after:
            self._stop(reply, f"{self._fruitless} times and never answered")
        if (
            reply.outcome in RETRYABLE
            and (reply.retry_after_s or 0) > self._settings.longest_wait_s
        ):
            self._stop(reply, f"and asks to wait {reply.retry_after_s:.0f} s")

    def gave_up(self, reply: Reply) -> None:
        """Take note of a call whose attempts are exhausted; raises likewise."""
        self._given_up += 1
        if self._given_up >= self._settings.fruitless_after:
            self._stop(reply, f"for {self._given_up} calls in a row, retries included")

    def _stop(self, reply: Reply, how_often: str) -> None:
        did, usual = _TROUBLE[reply.outcome]
        advice = self._judge.advise(reply.outcome) or usual
        said = server_message(reply.raw)
        quote = f" (“{said}”)" if said else ""
        raise JudgeError(f"the judge {did} {how_often}{quote}: {advice}, then run the same again")


_TROUBLE: dict[Outcome, tuple[str, str]] = {
    "timeout": ("did not answer in time", "check the base URL or raise --timeout"),
    "unavailable": ("could not be reached", "check that it is running, and the base URL"),
    "rate_limited": ("limited the rate", "wait, or lower --rate"),
    "rejected": ("rejected the request", "check --temperature, --reply and --extra-body"),
    "unauthorized": ("refused the key", "check the API key"),
    "not_found": ("knows no such model or address", "check the model name and the base URL"),
    "malformed": ("did not answer with a chat completion", "check the base URL"),
}
"""What a judge did, and what to do about it."""


def server_message(raw: str, length: int = 120) -> str:
    """What a server said, on one line of at most `length` characters.

    That is the error's message where the body has one, otherwise the body without its markup.
    """
    said = _error_message(raw) or re.sub(r"<[^>]*>", " ", raw[:10_000])
    printable = "".join(letter if letter.isprintable() else " " for letter in said)
    line = " ".join(printable.split())
    return line if len(line) <= length else f"{line[: length - 1]}…"


def _error_message(raw: str) -> str | None:
    """The message of the usual shapes: {"error": {"message"}}, {"error": ""}, {"message"}."""
    with suppress(ValueError, RecursionError):
        body = json.loads(raw)
        if isinstance(body, dict):
            error = body.get("error", body)
            message = error.get("message") if isinstance(error, dict) else error
            return message if isinstance(message, str) else None
    return None


class _BudgetSpentError(Exception):
    """No further request in this session; the call stays pending."""


class _Session:
    """One run of `collect`: workers that take pending calls in plan order."""

    def __init__(
        self,
        judge: Judge,
        ledger: Ledger,
        settings: CollectSettings,
        on_progress: Callable[[Progress], None],
        is_readable: IsReadable | None,
        only: Container[str] | None,
    ) -> None:
        self._judge = judge
        self._ledger = ledger
        self._settings = settings
        self._on_progress = on_progress
        self._pending = (one for one in ledger.pending() if only is None or one.call.id in only)
        self._circuit = Circuit(settings, judge)
        self._limit = AdaptiveLimit(min(settings.concurrency, judge.max_concurrency or 1_000_000))
        self._rate = _limiter(settings.rate)
        self._retrying = self._make_retrying()
        self._arrived: list[tuple[Call, Reply]] = []
        self._one_transaction = asyncio.Lock()
        self._writing: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._writing.set_result(None)
        self._spent = asyncio.Event()
        self._asked = 0
        self._is_readable = is_readable or (lambda _call, _text: True)
        self._started_at, self._reported_at = time.monotonic(), 0.0
        before = ledger.totals()
        self._attempts_before = before.attempts
        self._now = Progress(
            planned=before.planned,
            settled=before.settled,
            attempts=before.attempts,
            tokens_in=before.tokens_in or 0,
            tokens_out=before.tokens_out or 0,
            prices=settings.prices,
        )

    async def run(self) -> Progress:
        """Work until nothing is pending or the budget is spent."""
        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(self._limit.size):
                    workers.create_task(self._work())
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None
        finally:
            # Workers that were stopped may have left replies behind. Transactions end in the order
            # in which they were begun, so the last is enough.
            await self._writing
            self._report(at_once=True)
        return self._now

    async def _work(self) -> None:
        for call, attempts in self._pending:
            with suppress(_BudgetSpentError):
                await self._settle(call, attempts)
            if self._spent.is_set():
                return

    async def _settle(self, call: Call, attempts: int) -> None:
        """Ask until there is a settling reply or the attempts of this session are exhausted."""
        reply: Reply = await self._retrying.copy()(self._attempt, call, count(attempts + 1))
        if reply.outcome not in SETTLING:
            self._now = replace(self._now, failed=self._now.failed + 1)
            self._circuit.gave_up(reply)

    async def _attempt(self, call: Call, numbers: Iterator[int]) -> Reply:
        """Ask once; the reply is on disk when this returns."""
        await self._limit.acquire()
        try:
            if self._rate:
                await self._rate.acquire()
            self._spend_one()
            asked_at = time.monotonic()
            reply = await self._judge.ask(call, next(numbers))
            self._limit.learn(reply.outcome, asked_at)
        finally:
            self._limit.release()
        await self._commit(call, reply)
        self._circuit.attempted(reply)
        self._require_usage(reply)
        return reply

    def _commit(self, call: Call, reply: Reply) -> "asyncio.Future[None]":
        """Have a reply written in the next transaction; done when it is on disk."""
        self._arrived.append((call, reply))
        if len(self._arrived) == 1:
            self._writing = asyncio.create_task(self._write())
        # Shielded: a commit under way is finished even if the worker that waits is stopped.
        return asyncio.shield(self._writing)

    async def _write(self) -> None:
        """Write all replies that have arrived by now in one transaction."""
        if self._limit.in_flight:
            await asyncio.sleep(LINGER_S)
        async with self._one_transaction:
            batch, self._arrived = self._arrived, []
            await asyncio.to_thread(self._ledger.record, [reply for _, reply in batch])
            for call, reply in batch:
                self._count(call, reply)
            self._report()

    def _count(self, call: Call, reply: Reply) -> None:
        """Count a reply that was committed."""
        now, settled = self._now, reply.outcome in SETTLING
        is_lost = reply.outcome == "ok" and not self._is_readable(call, reply.text)
        self._now = replace(
            now,
            settled=now.settled + settled,
            done_now=now.done_now + settled,
            attempts=now.attempts + 1,
            tokens_in=now.tokens_in + (reply.tokens_in or 0),
            tokens_out=now.tokens_out + (reply.tokens_out or 0),
            unreadable=now.unreadable + is_lost,
        )

    # -- budget ------------------------------------------------------------------------------

    def _spend_one(self) -> None:
        """Take one request out of the budget, or say that it is spent."""
        if not self._spent.is_set():
            self._now = replace(self._now, stopped=self._exhausted())
        if self._now.stopped:
            self._spent.set()
            raise _BudgetSpentError
        self._asked += 1

    def _exhausted(self) -> str | None:
        """The setting that forbids another request, or None."""
        settings, now = self._settings, self._now
        if settings.max_calls is not None and self._asked >= settings.max_calls:
            return "max_calls"
        if settings.max_cost is not None:
            # What is in flight will cost as much as an average request did so far.
            unpaid = self._asked - (now.attempts - self._attempts_before) + 1
            spent = now.cost or 0.0
            if spent + unpaid * spent / max(1, now.attempts) > settings.max_cost:
                return "max_cost"
        return None

    def _require_usage(self, reply: Reply) -> None:
        unknown = reply.tokens_in is None or reply.tokens_out is None
        if self._settings.max_cost is not None and reply.outcome == "ok" and unknown:
            raise JudgeError(
                "the judge does not report its token usage, so a limit on cost cannot be kept: "
                "use --max-calls instead of --max-cost"
            )

    # -- retries -----------------------------------------------------------------------------

    def _make_retrying(self) -> AsyncRetrying:
        settings = self._settings
        # Calls that failed together must not all come back at once.
        jitter = wait_random(0, settings.backoff_s)
        backoff = wait_exponential(settings.backoff_s, settings.longest_backoff_s)

        def wait(state: RetryCallState) -> float:
            asked = _result(state).retry_after_s
            return (backoff(state) if asked is None else asked) + jitter(state)

        return AsyncRetrying(
            sleep=self._pause,
            stop=stop_after_attempt(settings.max_attempts),
            wait=wait,
            retry=retry_if_result(lambda reply: reply.outcome in RETRYABLE),
            retry_error_callback=_result,
        )

    async def _pause(self, seconds: float) -> None:
        """Sleep, but not beyond the end of the budget."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._spent.wait(), seconds)

    # -- progress ----------------------------------------------------------------------------

    def _report(self, *, at_once: bool = False) -> None:
        at = time.monotonic()
        if at_once or at - self._reported_at >= REPORT_EVERY_S:
            self._reported_at = at
            seconds, in_flight = at - self._started_at, self._limit.in_flight
            self._now = replace(self._now, seconds=seconds, in_flight=in_flight)
            self._on_progress(self._now)


def _limiter(rate: float | None) -> AsyncLimiter | None:
    """A limiter to `rate` requests per second that lets at most a tenth of a second's through."""
    if rate is None:
        return None
    burst = max(1.0, rate * 0.1)
    return AsyncLimiter(burst, burst / rate)


def _result(state: RetryCallState) -> Reply:
    """The reply of the attempt that a retry decision is about."""
    if state.outcome is None:  # pragma: no cover - tenacity asks only after an attempt
        raise RuntimeError("no attempt was made")
    reply: Reply = state.outcome.result()
    return reply
