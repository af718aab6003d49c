"""Where a probe asks from: this process (`local`), or workers on other machines (`ray`).

Every worker asks its shard (`collect.sharding`) with the same collector, and an engine only starts
workers: anything that runs a function elsewhere and gives a `Future` will do.
"""

import asyncio
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import islice
from threading import Event, Thread
from typing import Any, Self, cast

from judgesheet import __version__
from judgesheet.base.errors import JudgeError, JudgesheetError, RunError, StoppedError, UsageError
from judgesheet.base.prices import cost
from judgesheet.base.records import Call, Reply, canonical_json
from judgesheet.collect import sharding
from judgesheet.collect.collect import CollectSettings, Progress, enter_and_collect, recent
from judgesheet.collect.request import Request, collect_settings, connection
from judgesheet.collect.sharding import Lease, Log, Shard, ShardLedger, Spent
from judgesheet.collect.storage import Folder
from judgesheet.judges import Connection, Judge, Refused, open_judge
from judgesheet.judges.redaction import address_without_secrets, of_environment, secrets_in
from judgesheet.judges.simulated import answer_key
from judgesheet.ledger.ledger import Ledger
from judgesheet.measuring.parsing import readable_by

LOOK_EVERY_S = 0.5  # between two lines of progress
GRACE_S = 10.0
"""Workers that are told to stop are waited for; they write down what has arrived."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a worker is told. Nothing in it is secret: keys it has in its own environment.

    A request costs at most `of_one`, and `unseen` answers at most die with a worker. With
    `is_final`, the judge is asked in the way that is known.
    """

    shard: Shard
    model: str
    connection: Connection
    settings: CollectSettings
    identity: Mapping[str, Any]
    answer_key: Mapping[str, float] | None
    parsers: Sequence[Mapping[str, str]]
    refused: Refused = field(default_factory=dict)
    is_final: bool = False
    of_one: Spent = sharding.NOTHING
    unseen: int = 0
    expiry_s: float = sharding.EXPIRY_S
    version: str = __version__


@dataclass(frozen=True, slots=True)
class Ended:
    """How a worker ended: `fault` is a sentence for the user, `stopped` a limit of its share."""

    fault: str = ""
    stopped: str | None = None
    is_lost: bool = False
    """Whether it did not finish, for a reason that a next worker need not have."""


Submit = Callable[[Callable[[Order], Ended], Order], "Future[Ended]"]
"""Runs a function with an order in a worker; it may run it again where that worker dies."""


# -- the worker ------------------------------------------------------------------------------------


def work(order: Order) -> Ended:
    """Take the shard of an order, and ask what no earlier holder of it has an answer to."""
    try:
        # Another version may word prompts or read replies differently: one sheet, one program.
        if order.version != __version__:
            raise JudgeError(
                f"a worker runs judgesheet {__version__}, this is {order.version}: install the "
                "same on every machine"
            )
        judge = open_judge(order.model, order.connection, order.answer_key)
        _require_same(judge.identity, order.identity)
        lease = Lease.claim(order.shard, order.expiry_s)
        return asyncio.run(_Worker(order, lease, judge).run()) if lease else Ended(is_lost=True)
    except JudgesheetError as error:
        return Ended(f"on a worker: {error}")


def _require_same(mine: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Where a judge is reached may differ from machine to machine, what it is may not."""
    texts = [canonical_json({**identity, "base_url": None}) for identity in (mine, wanted)]
    if texts[0] != texts[1]:
        raise JudgeError("a worker has another judge by this name: install the same everywhere")


class _Held:
    """A judge that is asked only while the worker holds its shard."""

    def __init__(self, judge: Judge, lease: Lease, *, is_final: bool) -> None:
        self._judge = judge
        self._lease = lease
        self._is_final = is_final
        self.adapts = judge.adapts and not is_final

    def __getattr__(self, name: str) -> Any:
        return getattr(self._judge, name)

    async def ask(self, call: Call, attempt: int) -> Reply:
        if not self._lease.may_ask:
            self._lease.state = "finish"
            raise JudgeError("the shard is not this worker's any more, or the run ends")
        return await self._judge.ask(call, attempt)

    def recall(self, refused: Refused, *, is_final: bool) -> None:
        self._judge.recall(refused, is_final=is_final or self._is_final)

    async def __aenter__(self) -> Self:
        await self._judge.__aenter__()
        return self

    async def __aexit__(self, *how: object) -> None:
        await self._judge.__aexit__(*how)


class _Worker:
    """The work on one shard, with signs of life from a thread: what blocks the work is no death."""

    def __init__(self, order: Order, lease: Lease, judge: Judge) -> None:
        self._order = order
        self._lease = lease
        self._judge = cast("Judge", _Held(judge, lease, is_final=order.is_final))
        self._told: dict[str, Any] = {}
        self._ended = Event()

    async def run(self) -> Ended:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        cancel = partial(loop.call_soon_threadsafe, task.cancel) if task else loop.stop
        # It must not keep a process that is to end.
        beating = Thread(target=self._beat, args=(cancel,), daemon=True)
        beating.start()
        try:
            return await self._ask()
        # Ended by the beat, or refused by `_Held`: the shard is another's now, which is no fault.
        except (asyncio.CancelledError, JudgeError):
            if self._lease.state == "asking":
                raise
            return Ended(is_lost=True)
        finally:
            self._ended.set()
            beating.join()
            self._lease.release(self._told)

    async def _ask(self) -> Ended:
        order, lease = self._order, self._lease
        calls, spent = sharding.left(lease, order.settings.prices, order.of_one, order.unseen)
        if not calls:
            return Ended()
        ledger = ShardLedger(calls, order.refused, Log(order.shard, lease.holder))
        settings = sharding.less(order.settings, spent)
        if settings.rate:  # whoever asked before may have used up the first burst
            await asyncio.sleep(1 / min(settings.rate, sharding.LEAST_RATE))
        if lease.holder > 1 and (settings.rpm or settings.tpm):  # likewise, the whole window
            await asyncio.sleep(settings.window_s)
        reader = partial(readable_by, order.parsers)
        done = await enter_and_collect(self._judge, ledger, settings, self._tell, reader)
        return Ended(stopped=done.stopped)

    def _tell(self, progress: Progress) -> None:
        self._told = asdict(replace(progress, prices=None))

    def _beat(self, cancel: Callable[[], object]) -> None:
        """Renew the lease; end the work where the run is to end at once."""
        while not self._ended.wait(self._lease.beat_s):
            with suppress(RunError):  # the storage may come back before others take over
                self._lease.renew(self._told)
            if self._lease.state == "cancel":
                cancel()
                return


# -- the driver ------------------------------------------------------------------------------------


def refuse_what_cannot_travel(judge: Judge, connection: Connection) -> None:
    """UsageError for a judge that lives on this machine, and for secrets on the command line."""
    if judge.machine:
        raise UsageError(
            "a model on this machine cannot be asked by others: leave --engine out, or serve it "
            "and give --base-url"
        )
    address = connection.base_url
    if address is not None and address_without_secrets(address) != address:
        raise UsageError(
            "--base-url holds a credential, which would travel over the cluster: put the key into "
            "a variable on its machines and name it with --api-key-env"
        )
    if connection.transport is not None or not isinstance(connection.auth, str | None):
        raise UsageError(
            "an authentication or a transport cannot travel over the cluster: give "
            "auth='module:function', which every worker loads"
        )
    if any(secrets_in(connection.extra_body)):
        raise UsageError("--extra-body holds a secret, which would travel over the cluster")


class Driver:
    """Has what is pending in a ledger asked by workers, and puts together what they were told."""

    def __init__(
        self,
        ledger: Ledger,
        shards: str | None,
        order: Order,
        on_progress: Callable[[Progress], None],
        *,
        is_simulated: bool = False,
    ) -> None:
        """`shards` is where rounds are to lie, if not where they did or in the run directory.

        `order` is the pattern of all orders; its settings are those of all workers together.
        """
        self._ledger = ledger
        self._given = shards
        self._folder: Folder | None = None
        self._pattern = order
        self._settings = order.settings
        self._on_progress = on_progress
        self._began, self._before = time.monotonic(), ledger.totals()
        answers = self._before.outcomes.get("ok", 0)
        self._trial = 0 if is_simulated else max(0, self._settings.unreadable_after - answers)
        self._tried = {key: tries for key, tries in ledger.attempts().items() if tries}
        self._totals = self._before
        self._failed = self._unreadable = 0
        self._limits: dict[str, int] = {}
        self._held_s = 0.0
        self._of_one, self._unseen, self._lost = sharding.NOTHING, 0, sharding.NOTHING

    def run(self, submit: Submit, workers: int) -> Progress:
        """Ask round after round until nothing is left that can be asked in this session.

        The first replies are those of one worker: whether the endpoint answers, what it refuses
        and whether it can be read is learned once. What uneven shards leave of a budget is one's.
        """
        self._began = time.monotonic()
        width, stopped = sharding.useful_workers(self._settings, workers), None
        while next(self._pending(), None) is not None:
            is_trial, attempts = self._trial > 0, self._totals.attempts
            ended = self._round(submit, 1 if is_trial else width)
            stopped = next((one.stopped for one in ended if one.stopped), None)
            if is_trial and not stopped:
                self._trial = 0
            elif stopped and width > 1 and not is_trial:
                width = 1
            elif stopped or attempts == self._totals.attempts or not _lost(ended):
                break
        self._on_progress(now := self._progress(stopped))
        return now

    def _pending(self) -> Iterator[Call]:
        """What was not tried yet in this session; the first of it, while one worker tries."""
        tried = self._tried
        untried = (call for call, tries in self._ledger.pending() if tries == tried.get(call.id, 0))
        return islice(untried, self._trial or None)

    def _round(self, submit: Submit, workers: int) -> list[Ended]:
        """Have shards of what is pending asked, and put together what came, whatever happens."""
        self._let_window_pass()
        self._folder = sharding.begin(self._ledger, self._given)
        futures: list[Future[Ended]] = []
        try:
            shards = sharding.divide(self._pending, self._folder, workers)
            futures += [submit(work, order) for order in self._orders(shards)]
            self._watch(self._folder, futures)
        except BaseException:
            with suppress(RunError):  # what cannot be put in now is, by the next command
                sharding.end(self._folder, "cancel")
                wait(futures, GRACE_S)
                self._gather(patience_s=0.0)
            raise
        attempts = self._totals.attempts
        # By then whoever was believed dead has stopped by its own clock.
        if alive := self._gather(2 * sharding.EXPIRY_S):
            raise RunError(f"a worker that was given up still asks ({alive[0]}): end it, or wait")
        crashes = [error for one in futures if (error := one.exception())]
        if crashes and attempts == self._totals.attempts:
            # Ray hands on whole tracebacks; their last line says what happened.
            said = of_environment()(str(crashes[0]).strip().rpartition("\n")[2])
            raise JudgeError(
                f"no worker could do its work ({said}): see that judgesheet runs on each"
            )
        ended = [Ended(is_lost=True) if one.exception() else one.result() for one in futures]
        if fault := next((one.fault for one in ended if one.fault), ""):
            raise (StoppedError if self._totals.outcomes.get("ok") else JudgeError)(fault)
        return ended

    def _let_window_pass(self) -> None:
        """Wait until limits by the minute hold of no earlier request: the shards know of none."""
        settings = self._settings
        if settings.rpm or settings.tpm:
            requests = recent(self._ledger, settings)
            if requests:
                time.sleep(settings.window_s - min(requests)[0])

    def _orders(self, shards: Sequence[Shard]) -> Iterator[Order]:
        """One for each shard, with its share of what is left of the limits."""
        settings = replace(sharding.less(self._settings, self._spent()), beside=())
        if not self._trial:  # whether replies can be read was seen
            settings = replace(settings, unreadable_after=0)
        shares = sharding.shares(settings, shards)
        is_limited = (settings.max_cost, settings.max_total_tokens) != (None, None)
        priced = self._pending() if is_limited else ()
        self._of_one = sharding.most_of_one(priced, settings.prices)
        # As many answers as the collector holds before they are on disk (decision 35).
        self._unseen = shares[0].concurrency + shares[0].concurrency // 4
        for shard, share in zip(shards, shares, strict=True):
            yield replace(
                self._pattern,
                shard=shard,
                settings=share,
                connection=replace(self._pattern.connection, concurrency=share.concurrency),
                refused=self._ledger.refused_parameters,
                is_final=self._totals.outcomes.get("ok", 0) > 0,
                of_one=self._of_one,
                unseen=self._unseen,
            )

    def _spent(self) -> Spent:
        """What is used up of the budgets, what died with workers included."""
        totals, asked = self._totals, self._totals.attempts - self._before.attempts
        read, written = totals.tokens_in or 0, totals.tokens_out or 0
        paid = cost(read, written, self._settings.prices) or 0.0
        # What was not metered counts as the mean of what was.
        more = totals.attempts / max(1, totals.attempts - totals.unmetered)
        return self._lost.and_more(Spent(asked, paid * more, math.ceil((read + written) * more)))

    def _watch(self, folder: Folder, futures: Sequence["Future[Ended]"]) -> None:
        """Wait for all workers, tell how far they are, and stop them where one met a fault."""
        working = set(futures)
        while working:
            done, working = wait(working, LOOK_EVERY_S, FIRST_COMPLETED)
            with suppress(RunError):  # the storage may come back before they are through
                if working:
                    self._on_progress(self._progress())
            if any(not one.exception() and one.result().fault for one in done):
                sharding.end(folder, "finish")

    def _gather(self, patience_s: float) -> list[str]:
        """Put what the workers were told into the ledger; the leases of those who ask on."""
        told = self._told()
        # Other machines write the leases: anything but a plain true is no end.
        dead = sum(one.get("over") is not True for one in told)
        self._lost = self._lost.and_more(self._of_one, dead * self._unseen)
        self._failed += _sum(told, "failed")
        self._unreadable += _sum(told, "unreadable")
        self._note_limits(told)
        self._folder = None
        alive = sharding.gather(self._ledger, patience_s)
        self._totals = self._ledger.totals()
        return alive

    def _note_limits(self, told: Sequence[Mapping[str, Any]]) -> None:
        """Keep what the endpoint told the workers, and how long it held one back at most."""
        for one in told:  # leases lie where others write: what is of another type is not theirs
            if isinstance(limits := one.get("limits"), dict):
                self._limits |= {of: most for of, most in limits.items() if type(most) is int}
            if isinstance(held_s := one.get("held_s"), float):
                self._held_s = max(self._held_s, held_s)

    def _told(self) -> list[dict[str, Any]]:
        """What the workers of this round tell."""
        return sharding.told(self._folder) if self._folder else []

    def _progress(self, stopped: str | None = None) -> Progress:
        """Where the run stands: what is put together, and what the workers tell of the rest."""
        told = self._told()
        working = [one for one in told if one.get("over") is not True]
        waits = [wait for one in working if isinstance(wait := one.get("waiting_s"), float)]
        self._note_limits(told)
        totals, before, now = self._totals, self._before, partial(_sum, told)
        settled, attempts = totals.settled + now("settled"), totals.attempts + now("attempts")
        return Progress(
            planned=totals.planned,
            settled=settled,
            attempts=attempts,
            tokens_in=(totals.tokens_in or 0) + now("tokens_in"),
            tokens_out=(totals.tokens_out or 0) + now("tokens_out"),
            prices=self._settings.prices,
            seconds=time.monotonic() - self._began,
            in_flight=now("in_flight"),
            waiting_s=min(waits) if waits and len(waits) == len(working) else None,
            asked=attempts - before.attempts,
            done_now=settled - before.settled,
            failed=self._failed + now("failed"),
            unreadable=self._unreadable + now("unreadable"),
            limits=self._limits,
            held_s=self._held_s,
            doubts=(*{doubt: None for one in told for doubt in one.get("doubts", ())},),
            stopped=stopped,
        )


def _sum(told: Sequence[Mapping[str, Any]], name: str) -> int:
    numbers = (one.get(name) for one in told)
    return sum(number for number in numbers if isinstance(number, int))


def _lost(ended: Sequence[Ended]) -> bool:
    return any(one.is_lost for one in ended)


def ask_elsewhere(
    request: Request,
    judge: Judge,
    ledger: Ledger,
    on_progress: Callable[[Progress], None],
) -> Progress:
    """As `collect.collect.collect`, by workers of the request's engine."""
    from judgesheet.collect.engines.ray import cluster

    refuse_what_cannot_travel(judge, connection(request))
    key = answer_key(ledger.labels()) if judge.is_simulated else None
    order = Order(
        shard=Shard(Folder(""), 0, 0),
        model=request.model,
        connection=connection(request),
        settings=collect_settings(request),
        identity=dict(judge.identity),
        answer_key=key,
        parsers=ledger.parsers(),
    )
    driver = Driver(ledger, request.shards, order, on_progress, is_simulated=judge.is_simulated)
    with cluster(request.engine_address) as (submit, workers):
        return driver.run(submit, workers)
