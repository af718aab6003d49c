"""Send every pending call of a ledger to a judge until it is settled.

Each attempt is a row of the ledger, and nothing counts before it is on disk. Whatever an endpoint
does is data; a run stops early only when its budget is spent, when further calls would be wasted,
or when it is interrupted. In each case the same command resumes it.
"""

import asyncio
import json
import time
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from random import uniform
from typing import NamedTuple

from judgesheet.base import defaults, digits
from judgesheet.base.errors import JudgeError, JudgesheetError, RunError, StoppedError
from judgesheet.base.finish_reasons import is_token_limit, is_whole
from judgesheet.base.limits import LONGEST_REPLY, MOST_DOUBLINGS
from judgesheet.base.prices import Prices, cost
from judgesheet.base.records import ANOTHERS, HOPELESS, RETRYABLE, SETTLING, Call, Outcome, Reply
from judgesheet.base.sanitize import brief, said_by_server
from judgesheet.base.usage import PromptSizes, tokens_of
from judgesheet.collect.pacing import BUSY, DOWN, Limits, OverError, Pace
from judgesheet.judges import Judge
from judgesheet.ledger.counts import Spent
from judgesheet.ledger.ledger import Ledger, Pending
from judgesheet.ledger.rows import content

REPORT_EVERY_S = 0.1
TELL_WAIT_EVERY_S = 1.0
LINGER_S = (
    0.001  # waiting for more replies halves the transactions; longer, and calls wait for the disk
)

MIXED_UP = (
    "the endpoint, or a gateway in front of it, returns answers for the wrong questions ({}): "
    "concurrent answers cannot be trusted; use another address, or --concurrency 1"
)

CUT = (
    "the server cuts prompts to {:,} tokens, so that the judge does not see all of them: give it a "
    "larger context window (num_ctx of Ollama, --ctx-size of llama.cpp, --max-model-len of vLLM), "
    "then the same command asks these calls again"
)


@dataclass(frozen=True, slots=True)
class CollectSettings(Limits):
    """Concurrency, limits of requests and tokens, retries, and when to stop.

    Up to `concurrency` requests are in flight, as many as the endpoint takes. `max_calls` limits
    the requests of this session, retries included. `max_cost` (US dollars, needs `prices`) and
    `max_total_tokens` limit what the whole ledger spends, so that resuming does not spend them
    again, and what it took over from earlier runs does not count; a request is sent only where the
    most that it can cost is left. A call has `max_attempts`; one that a rate limit turned away, or
    that was made while the endpoint was down, is none. The pause between attempts doubles from
    `backoff_s` up to `longest_backoff_s`. An endpoint that answers nobody, or asks to wait, is
    waited for `patience_s`. Beyond that, the run stops. So do `hopeless_after` answers in a row
    that only the user can change (key, credit, model, parameters; before any call was answered one
    that does not concern the call), `fruitless_after` failures in a row (attempts at the start,
    calls given up later on), and the first `unreadable_after` replies where none of them can be
    read: `if_unreadable` says what helps then. A reply that cannot be read is asked for again
    `retry_unreadable` times.
    """

    max_attempts: int = 5
    max_calls: int | None = None
    max_cost: float | None = None
    max_total_tokens: int | None = None
    prices: Prices | None = None
    patience_s: float = defaults.PATIENCE_S
    hopeless_after: int = 5
    fruitless_after: int = 10
    unreadable_after: int = 20
    retry_unreadable: int = 0
    if_unreadable: str = "choose another --reply or --prompt, and start over with --fresh"


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run; only what is on disk counts.

    Of the whole ledger: `planned`, `settled`, `attempts`, tokens (in and out), of which
    `tokens_before` this session. Of this session, which has lasted
    `seconds`: `asked` (requests), `done_now` (settled), `failed` (given up until the run is
    resumed), `unreadable`. `waiting_s` are the seconds to the next request where all calls wait,
    `held_s` those for which requests were held back so far, to keep to a limit. The endpoint is
    down since `down_since` (seconds since the epoch; None: it is not). A budget counts
    `by_characters` the tokens of so many replies. `stopped` names the setting that ended the
    session early: `max_calls`, `max_cost` or `max_total_tokens`.
    """

    planned: int
    settled: int
    attempts: int
    tokens_in: int
    tokens_out: int
    prices: Prices | None
    tokens_before: tuple[int, int] = (0, 0)
    seconds: float = 0.0
    in_flight: int = 0
    waiting_s: float | None = None
    asked: int = 0
    done_now: int = 0
    failed: int = 0
    unreadable: int = 0
    held_s: float = 0.0
    down_since: float | None = None
    by_characters: int = 0
    stopped: str | None = None

    @property
    def cost(self) -> float | None:
        """US dollars of the whole ledger; None without prices."""
        return cost(self.tokens_in, self.tokens_out, self.prices)

    @property
    def cost_now(self) -> float | None:
        """US dollars of this session; None without prices."""
        tokens_in, tokens_out = self.tokens_before
        return cost(self.tokens_in - tokens_in, self.tokens_out - tokens_out, self.prices)

    @property
    def rate(self) -> float:
        """Calls settled per second."""
        return self.done_now / max(1e-9, self.seconds)

    @property
    def eta_s(self) -> float | None:
        """Seconds until all is settled, at this rate; None before the first call."""
        return (self.planned - self.settled - self.failed) / self.rate if self.rate else None


IsReadable = Callable[[Call, Reply], bool]


async def collect(
    judge: Judge,
    ledger: Ledger,
    settings: CollectSettings,
    on_progress: Callable[[Progress], None] = lambda _: None,
    is_readable: IsReadable | None = None,
    only: Container[str] | None = None,
    pace: Pace | None = None,
) -> Progress:
    """Ask everything that is pending, in plan order, and return where the run stands.

    `judge` must be entered already. `on_progress` is called at most about ten times a second.
    `only` holds the ids of the calls to make, if not all. `pace` is that of an earlier session with
    the same judge, which knows how much it takes. On cancellation, replies that have arrived
    are committed first; the run can then be resumed.

    StoppedError if the endpoint does not answer in any useful way.
    RunError if the ledger cannot be written, or is not where it was; it says where the replies are.
    """
    pace = pace or Pace(settings, judge.max_concurrency)
    return await _Session(judge, ledger, settings, on_progress, is_readable, only, pace).run()


async def enter_and_collect(
    judge: Judge,
    ledger: Ledger,
    settings: CollectSettings,
    on_progress: Callable[[Progress], None],
    reader: Callable[[], IsReadable],
    extend: Callable[[], bool] = lambda: False,
) -> Progress:
    """Enter the judge, `collect`, and leave it again; if nothing is pending, it is not entered.

    `reader` makes what tells whether a reply can be read. Whenever all is settled, `extend` says
    whether the ledger now has more to ask.
    """
    while _is_settled(ledger):
        if not extend():
            return await collect(judge, ledger, settings, on_progress)
    is_readable = reader()  # before the first question, while nobody waits
    pace = Pace(settings, judge.max_concurrency)
    async with judge:
        progress = await collect(judge, ledger, settings, on_progress, is_readable, pace=pace)
        while _is_settled(ledger) and extend():
            left = settings.max_calls and settings.max_calls - progress.asked
            further = replace(settings, max_calls=left)
            more = await collect(judge, ledger, further, on_progress, is_readable, pace=pace)
            asked, before = progress.asked + more.asked, progress.tokens_before
            progress = replace(more, asked=asked, tokens_before=before)
    return progress


def _is_settled(ledger: Ledger) -> bool:
    totals = ledger.totals()
    return totals.settled == totals.planned


class Circuit:
    """Stops a run that makes no progress, with one sentence.

    There are eight such cases: the endpoint mixes up its answers; it refuses the key, the model or
    the parameters; it answers no call and refuses those on several stimuli; it cuts prompts; the
    first attempts all fail; later on, one call after the other is given up; failing for too long;
    the first replies can all not be read. `replies` are those in the ledger at the start, `prompts`
    what they tell of the sizes of prompts.
    """

    def __init__(
        self,
        settings: CollectSettings,
        judge: Judge,
        replies: int,
        pace: Pace,
        prompts: PromptSizes,
    ) -> None:
        self._settings = settings
        self._judge = judge
        self._pace = pace
        self._replies = replies
        self._prompts = prompts
        self._turned_away: set[str] = set()
        """Stimuli on which a call was refused."""
        self.is_start = replies < settings.unreadable_after and not judge.is_simulated
        """Whether no reply could be read so far, of so few that this may be chance."""
        self._has_answers = False
        """Whether any call was answered in this session."""
        self._hopeless = 0
        self._fruitless = 0
        self._given_up = 0

    def read(self, *, is_readable: bool) -> None:
        """Register whether a reply could be read."""
        self._replies += 1
        self.is_start = self.is_start and not is_readable

    def attempted(self, call: Call, reply: Reply) -> None:
        """Register one attempt; JudgeError if further calls would be wasted."""
        self._hopeless = self._hopeless + 1 if reply.outcome in HOPELESS else 0
        if reply.outcome in SETTLING:
            self._has_answers, self._given_up = True, 0
        elif reply.outcome in RETRYABLE and reply.finish_reason not in BUSY:
            self._fruitless += reply.outcome != "unsupported"
        if reply.finish_reason == ANOTHERS:
            raise JudgeError(MIXED_UP.format("an answer has the id of another request"))
        is_of_all = reply.outcome != "rejected" and reply.finish_reason != "HTTP 403"
        if self._hopeless and not self._has_answers and is_of_all:
            self._stop(reply)
        if self._hopeless >= self._settings.hopeless_after:
            self._stop(reply, f" {self._hopeless} times in a row")
        if not self._has_answers and self._fruitless >= self._settings.fruitless_after:
            self._stop(reply, f" {self._fruitless} times and never answered")
        if reply.outcome in RETRYABLE:
            self._wait(reply)
        if reply.outcome in SETTLING:
            self._settled(call, reply)

    def gave_up(self, reply: Reply) -> None:
        """Register a call whose attempts are exhausted; raises like `attempted`."""
        self._given_up += 1
        if self._given_up >= self._settings.fruitless_after:
            self._stop(reply, f" for {self._given_up} calls in a row, retries included")

    def _settled(self, call: Call, reply: Reply) -> None:
        if reply.outcome == "ok":
            self._require_whole(call, reply)
            if self.is_start:
                self._require_sense(reply)
            return
        self._turned_away.add(call.stimulus)
        if len(self._turned_away) >= self._settings.hopeless_after:
            self.require_answer(reply)

    def require_answer(self, reply: Reply) -> None:
        """JudgeError if no call was ever answered; this one was not."""
        if not self._replies and not self._judge.is_simulated:
            self._stop(reply, " so far")

    def _require_whole(self, call: Call, reply: Reply) -> None:
        if self._judge.is_simulated:
            return
        prompt, text = content(call.messages)
        self._prompts.add(prompt, len(text), reply.tokens_in)
        if window := self._prompts.window:
            raise JudgeError(CUT.format(window))

    def _wait(self, reply: Reply) -> None:
        patience, failing_s = self._settings.patience_s, self._pace.failing_s
        if (asked := reply.retry_after_s or 0) > patience:
            longest = f"--patience is {digits.seconds(patience)}"
            self._stop(reply, f" and asks to wait {digits.seconds(asked)} ({longest})")
        if reply.outcome in DOWN and failing_s > patience:
            self._stop(reply, f" for {digits.seconds(failing_s)} without an answer")

    def _require_sense(self, reply: Reply) -> None:
        if self._replies < self._settings.unreadable_after:
            return
        is_cut = not is_whole(reply.finish_reason)
        why = f", finish reason {brief(reply.finish_reason or '')}" if is_cut else ""
        if mend := not reply.text.strip() and self._judge.advise(reply):
            advice = f"{mend}, and start over with --fresh"
        elif is_token_limit(reply.finish_reason):
            advice = "raise --max-tokens and start over with --fresh"
        else:
            advice = self._settings.if_unreadable
        raise JudgeError(
            f"none of the first {self._replies} replies can be read "
            f"(“{brief(reply.text)}”{why}): {advice}; the same command continues anyway"
        )

    def _stop(self, reply: Reply, how_often: str = "") -> None:
        did, usual = _TROUBLE[reply.outcome]
        advice = self._judge.advise(reply) or usual
        for name in ("tpm", "rpm", "rate"):
            if reply.outcome == "rate_limited" and getattr(self._settings, name):
                advice = f"wait, or lower --{name}"
        said = said_by_server(reply.finish_reason, reply.raw)
        quote = f" (“{said}”)" if said else ""
        again = "then run the same again"
        # Before the first reply a change just starts over.
        if reply.outcome in {"rejected", "too_long"} and self._replies:
            again = "a change of options needs --fresh"
        # A server may fail at some questions only, which no patience mends.
        if reply.outcome == "rejected" or (reply.outcome in DOWN and self._replies):
            again += "; --give-up leaves out the calls that were tried"
        raise JudgeError(f"the judge {did}{how_often}{quote}: {advice}, {again}")


_TROUBLE: dict[Outcome, tuple[str, str]] = {
    "timeout": ("did not answer in time", "check the base URL or raise --timeout"),
    "unavailable": ("failed or could not be reached", "check that it runs, and the base URL"),
    "unreachable": ("could not be reached", "check its certificate and the proxy"),
    "empty": ("answered with an empty text", "check the server's log"),
    "rate_limited": ("limited the request rate", "wait, or set --rpm, --tpm or --rate"),
    "unpaid": ("asks for payment", "top up the account"),
    "rejected": ("rejected the request", "check --temperature, --reply and --extra-body"),
    "unauthorized": ("refused the key", "check the API key"),
    "not_found": ("does not know this model or address", "check the model name and the base URL"),
    "malformed": ("did not answer with a chat completion", "check the base URL"),
    "too_long": ("refused every request as too long", "lower --max-tokens"),
    "refused": ("withheld every answer by a filter", "try another prompt or other stimuli"),
}
"""What a judge did, and what to do about it."""


@dataclass(slots=True)
class _BudgetLimit:
    """What may be spent of one limit: dollars, or tokens, which then have the price of one each.

    `paid` is spent, `reserved` is what requests in flight may cost, `dearest` the most that one
    did.
    """

    name: str
    most: float
    prices: Prices
    paid: float
    dearest: float
    reserved: float = 0.0

    def price(self, tokens_in: int, tokens_out: int) -> float:
        """What so many tokens cost."""
        return cost(tokens_in, tokens_out, self.prices) or 0.0


def _budget_limits(settings: CollectSettings, before: Spent) -> Iterator[_BudgetLimit]:
    """The limits that are set, with what the ledger has spent of each."""
    for name, most, prices in (
        ("max_cost", settings.max_cost, settings.prices),
        ("max_total_tokens", settings.max_total_tokens, (1e6, 1e6)),
    ):
        if most is not None and prices is not None:
            paid = cost(before.tokens_in, before.tokens_out, prices) or 0.0
            mean = paid / max(1, before.attempts - before.unknown)
            yield _BudgetLimit(name, most, prices, paid + before.unknown * mean, mean)


class Budget:
    """What a session may still ask for and spend.

    Before a request is sent, the most that it can cost is reserved: as many tokens as its text has
    bytes, and the longest reply; or what the dearest request so far did cost. Where an answer comes
    without a plausible usage, it is counted `by_characters`.
    """

    def __init__(self, settings: CollectSettings, ledger: Ledger) -> None:
        before = ledger.spent()
        self.asked = 0
        self.by_characters = 0
        self.spent_by: str | None = None
        self.is_over = asyncio.Event()
        self._max_calls = settings.max_calls
        self._budget_limits = [*_budget_limits(settings, before)]
        self._in_flight = 0
        self._is_known = before.attempts > 0
        self._returned = asyncio.Event()

    async def reserve(self, call: Call) -> tuple[float, ...]:
        """Make one request of the budget, with its prices; OverError if it does not suffice."""
        while self._must_wait(prices := self._prices(call)):
            self._returned.clear()
            await self._returned.wait()
        self.asked += 1
        self._in_flight += 1
        for limit, price in zip(self._budget_limits, prices, strict=True):
            limit.reserved += price
        return prices

    def take_back(self, prices: tuple[float, ...]) -> None:
        """End what `reserve` began."""
        self._in_flight -= 1
        for limit, price in zip(self._budget_limits, prices, strict=True):
            limit.reserved = limit.reserved - price if self._in_flight else 0.0
        self._is_known = True
        self._returned.set()

    def pay(self, call: Call, reply: Reply, prices: tuple[float, ...]) -> None:
        """Record what a reply did cost; its whole price where only the endpoint knows."""
        if not self._budget_limits:
            return
        stated = used = reply.tokens_in or 0, reply.tokens_out or 0
        if reply.outcome == "ok":
            characters = len(content(call.messages)[1]), len(reply.text)
            used = tokens_of(stated[0], characters[0]), tokens_of(stated[1], characters[1])
        self.by_characters += used != stated
        is_unknown = reply.is_unmetered and used == stated
        for limit, price in zip(self._budget_limits, prices, strict=True):
            paid = limit.price(*used)
            limit.paid += price if is_unknown else paid
            limit.dearest = max(limit.dearest, paid)

    def end(self, spent_by: str | None = None) -> None:
        """Reserve nothing more: because one of the limits is spent, or for another reason."""
        self.spent_by = spent_by
        self.is_over.set()
        self._returned.set()

    def _must_wait(self, prices: tuple[float, ...]) -> bool:
        """Whether what is in flight may leave enough; OverError if nothing can."""
        if self.is_over.is_set():
            raise OverError
        if self._max_calls is not None and self.asked >= self._max_calls:
            self.end("max_calls")
            raise OverError
        # The first tells what one costs where the endpoint counts otherwise.
        if self._budget_limits and self._in_flight and not self._is_known:
            return True
        for limit, price in zip(self._budget_limits, prices, strict=True):
            if limit.paid + limit.reserved + price > limit.most:
                if self._in_flight:
                    return True
                self.end(limit.name)
                raise OverError
        return False

    def _prices(self, call: Call) -> tuple[float, ...]:
        """The most that a call may cost, of each limit."""
        if not self._budget_limits:
            return ()
        text = json.dumps([call.messages, call.params], ensure_ascii=False)
        longest = call.params.get("max_tokens", LONGEST_REPLY)
        most = len(text.encode("utf-8", "replace")), longest
        return tuple(max(limit.price(*most), limit.dearest) for limit in self._budget_limits)


class _Arrived(NamedTuple):
    """A reply on its way to the ledger."""

    reply: Reply
    is_lost: bool
    """Whether it settles its call and nobody can read it."""


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
        pace: Pace,
    ) -> None:
        self._judge = judge
        self._ledger = ledger
        self._settings = settings
        self._on_progress = on_progress
        self._pending = (
            pending for pending in ledger.pending() if only is None or pending.call.id in only
        )
        self._is_whole = only is None
        before = ledger.totals()
        answers = before.outcomes.get("ok", 0) + before.outcomes.get("unreadable", 0)
        self._circuit = Circuit(settings, judge, answers, pace, ledger.prompt_sizes())
        judge.recall(ledger.refused_parameters, is_final=answers > 0)
        self._pace = pace
        self._held_s = pace.held_s
        self._budget = Budget(settings, ledger)
        self._fault: JudgesheetError | None = None
        self._wake_at: list[float] = []
        self._arrived: asyncio.Queue[_Arrived | None] = asyncio.Queue()
        self._unwritten = 0
        self._written = asyncio.Event()
        self._is_readable = is_readable or (lambda _call, _reply: True)
        self._started_at, self._reported_at = time.monotonic(), 0.0
        self._now = Progress(
            planned=before.planned,
            settled=before.settled,
            attempts=before.attempts,
            tokens_in=before.tokens_in or 0,
            tokens_out=before.tokens_out or 0,
            tokens_before=(before.tokens_in or 0, before.tokens_out or 0),
            prices=settings.prices,
        )

    async def run(self) -> Progress:
        """Work until nothing is pending or the budget is spent, with room for what comes."""
        left = self._now.planned - self._now.settled
        with self._ledger.room_for(min(self._pace.ceiling, left)):
            return await self._run()

    async def _run(self) -> Progress:
        telling = asyncio.create_task(self._tell_waits())
        writing = asyncio.create_task(self._write())
        try:
            async with asyncio.TaskGroup() as group:
                workers = [group.create_task(self._work()) for _ in range(self._pace.ceiling)]
                # It ends before they do only where it cannot write.
                writing.add_done_callback(lambda _: [worker.cancel() for worker in workers])
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None
        finally:
            telling.cancel()
            self._arrived.put_nowait(None)
            await writing  # what workers left behind that were stopped, too
            self._report(at_once=True)
        self._ledger.require_place()
        self._require_answer()
        if self._fault:
            raise StoppedError(str(self._fault))
        return self._now

    def _require_answer(self) -> None:
        """Stop a run that is over and whose calls were all refused."""
        is_over = self._is_whole and self._now.settled == self._now.planned
        last = next(self._ledger.replies(), None) if is_over else None
        if last is not None and not self._fault:
            try:
                self._circuit.require_answer(last)
            except JudgeError as fault:
                self._fault = fault

    async def _work(self) -> None:
        for pending in self._pending:
            try:
                await self._settle(pending)
            except OverError:
                return
            except JudgeError as fault:
                self._stop(fault)

    def _stop(self, fault: JudgesheetError) -> None:
        """Ask nothing more. What is in flight is paid for: the others still take their answers."""
        self._fault = self._fault or fault
        self._budget.end()
        self._pace.stop()

    async def _settle(self, pending: Pending) -> None:
        """Ask until there is a settling reply or the attempts of this session are exhausted."""
        call, attempts, unreadable = pending
        left, failures = self._settings.max_attempts, 0
        for number in count(attempts + 1):
            is_last = unreadable >= self._settings.retry_unreadable
            reply = await self._attempt(call, number, is_last=is_last)
            if reply.outcome in SETTLING:
                return
            if reply.outcome == "unreadable":
                unreadable += 1
                continue
            # What says nothing of the call uses up no attempt.
            is_of_all = self._pace.is_down or reply.outcome in {"rate_limited", "unsupported"}
            left -= not is_of_all
            if reply.outcome not in RETRYABLE or not left:
                break
            # Else it waits for its turn, as all do.
            if not (self._pace.is_down or reply.retry_after_s or reply.outcome == "unsupported"):
                await self._pause(self._backoff_s(failures))
                failures += 1
        self._now = replace(self._now, failed=self._now.failed + 1)
        self._circuit.gave_up(reply)

    async def _attempt(self, call: Call, number: int, *, is_last: bool) -> Reply:
        """Ask once, and hand the reply over to be written.

        One that cannot be read settles its call only if it `is_last`.
        """
        prices = await self._budget.reserve(call)
        try:
            reply = await self._ask(call, number)
            self._budget.pay(call, reply, prices)
        finally:
            self._budget.take_back(prices)
        kept = self._keep(call, reply, is_last=is_last)
        self._circuit.attempted(call, reply)
        # A kill loses what is in flight, and what is on its way to the disk: that is kept short.
        while self._unwritten > self._pace.ceiling // 4:
            self._written.clear()
            await self._written.wait()
        return kept

    def _backoff_s(self, failures: int) -> float:
        """Seconds before the next attempt at a call: twice those before the last one."""
        first, longest = self._settings.backoff_s, self._settings.longest_backoff_s
        # Calls that failed together must not all come back at once.
        return min(longest, first * 2.0 ** min(failures, MOST_DOUBLINGS)) + uniform(0, first)  # noqa: S311

    async def _ask(self, call: Call, number: int) -> Reply:
        """Put the question as soon as a request may leave."""
        left = await self._pace.leave(call)
        try:
            reply = await self._judge.ask(call, number)
            self._pace.may_grow = not self._circuit.is_start  # one reply was readable
            self._pace.learn(reply, left)
        finally:
            self._pace.arrive()
        return reply

    def _keep(self, call: Call, reply: Reply, *, is_last: bool) -> Reply:
        """Have a reply written in the next transaction; as what it is written."""
        is_lost = reply.outcome == "ok" and not self._is_readable(call, reply)
        if reply.outcome == "ok":
            self._circuit.read(is_readable=not is_lost)
        kept = replace(reply, outcome="unreadable") if is_lost and not is_last else reply
        self._unwritten += 1
        self._arrived.put_nowait(_Arrived(kept, is_lost and is_last))
        return kept

    async def _write(self) -> None:
        """Write what has arrived, one transaction after the other, until the session ends."""
        is_open = True
        while is_open:
            batch = [await self._arrived.get()]
            if self._pace.in_flight and self._unwritten < self._pace.ceiling // 8:
                await asyncio.sleep(LINGER_S)
            while not self._arrived.empty():
                batch.append(self._arrived.get_nowait())
            is_open = None not in batch
            arrived = [one for one in batch if one is not None]
            await asyncio.to_thread(self._record, [one.reply for one in arrived])
            if self._ledger.trouble:
                self._stop(RunError(self._ledger.trouble))
            self._count(arrived)
            self._unwritten -= len(arrived)
            self._written.set()
            self._report()
        held_s = self._pace.held_s - self._held_s
        if held_s and not self._ledger.trouble:
            whole = {"held_s": self._ledger.held_s + held_s}
            await asyncio.to_thread(self._ledger.set_meta, "limits", whole)

    def _record(self, replies: list[Reply]) -> None:
        """Write replies, and first what they taught: a resumed run asks in the same way."""
        if not replies:
            return
        if any(reply.outcome == "unsupported" for reply in replies) and not self._ledger.trouble:
            self._ledger.set_meta("refused_parameters", dict(self._judge.refused))
        self._ledger.record(replies)

    def _count(self, arrived: list[_Arrived]) -> None:
        """Count replies that were committed."""
        now, replies = self._now, [one.reply for one in arrived]
        settled = sum(reply.outcome in SETTLING for reply in replies)
        self._now = replace(
            now,
            settled=now.settled + settled,
            asked=self._budget.asked,
            done_now=now.done_now + settled,
            attempts=now.attempts + len(replies),
            tokens_in=now.tokens_in + sum(reply.tokens_in or 0 for reply in replies),
            tokens_out=now.tokens_out + sum(reply.tokens_out or 0 for reply in replies),
            unreadable=now.unreadable + sum(one.is_lost for one in arrived),
        )

    async def _pause(self, seconds: float) -> None:
        """Sleep, but not beyond the end of the budget."""
        wake_at = time.monotonic() + seconds
        self._wake_at.append(wake_at)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._budget.is_over.wait()
        self._wake_at.remove(wake_at)
        if self._budget.is_over.is_set():
            raise OverError

    # -- progress ----------------------------------------------------------------------------

    def _report(self, *, at_once: bool = False) -> None:
        at = time.monotonic()
        if at_once or at - self._reported_at >= REPORT_EVERY_S:
            self._reported_at = at
            waiting = None if self._pace.in_flight else self._waiting_s(at)
            self._now = replace(
                self._now,
                seconds=at - self._started_at,
                in_flight=self._pace.in_flight,
                waiting_s=waiting,
                held_s=self._pace.held_s - self._held_s,
                down_since=time.time() - self._pace.failing_s if self._pace.is_down else None,
                by_characters=self._budget.by_characters,
                stopped=self._budget.spent_by,
            )
            self._on_progress(self._now)

    def _waiting_s(self, at: float) -> float | None:
        """Seconds until somebody who sleeps goes on; None if nobody does."""
        wakes = [*self._wake_at, *([self._pace.opens_at] if self._pace.opens_at > at else [])]
        return max(0.0, min(wakes) - at) if wakes else None

    async def _tell_waits(self) -> None:
        """Report while everybody waits, when there is no reply to report."""
        while True:
            await asyncio.sleep(TELL_WAIT_EVERY_S)
            if not self._pace.in_flight:
                self._report(at_once=True)
