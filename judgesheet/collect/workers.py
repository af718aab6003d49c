"""A judge that is asked by workers of a Ray cluster.

A worker is a remote judge: it puts the questions that it is handed and hands the replies back.
Everything else stays with the driver, in `collect`: which question is next, limits, budget, when to
ask again or to stop, and the one ledger. So a run with workers is the run of one process, and what
a worker has in flight when it dies is a failed attempt like any other.

The only module that knows Ray. Nothing that travels is secret: workers find keys in the environment
of their machine.
"""

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from threading import current_thread, main_thread
from typing import Any, NamedTuple, Self, cast

from judgesheet.base.errors import (
    JudgeError,
    JudgesheetError,
    MissingDependencyError,
    RunError,
    UsageError,
)
from judgesheet.base.records import Call, Label, Reply, canonical_json
from judgesheet.base.version import __version__
from judgesheet.collect.options import Request
from judgesheet.collect.request import connection
from judgesheet.judges import Answer, Connection, Judge, Refused, open_judge
from judgesheet.judges.redaction import (
    address_without_secrets,
    of_environment,
    secrets_in,
    without_userinfo,
)
from judgesheet.judges.simulated import answer_key

WORKER_LOST = "worker lost"
"""The finish reason of a question whose worker died before it handed over a reply."""
START_S = 300.0
"""A worker that a cluster cannot start within so many seconds is given up."""
DEATHS = 3
"""A worker that dies so often before its first reply is not replaced."""
LINGER_S = 0.01
"""How long a result waits for others: a message costs as much as asking."""

Question = tuple[Call, int]
"""A call, and which attempt at it this is."""
Result = tuple[str, Reply | JudgesheetError]
"""What came of a call with this id."""


@dataclass(frozen=True, slots=True)
class Order:
    """Which judge a worker opens. Nothing in it is secret."""

    model: str
    connection: Connection
    identity: Mapping[str, Any]
    answer_key: Mapping[str, float] | None = None
    version: str = __version__


class Worker:
    """Puts the questions of an order's judge; runs as an actor, on another machine."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._judge: Judge
        self._asking: set[asyncio.Task[None]] = set()
        self._results: list[Result] = []
        self._has_results = asyncio.Event()

    async def open(self) -> str:
        """Open the judge. The sentence of the error where that is not possible, else ""."""
        order = self._order
        # Another version may word requests or read replies differently: one sheet, one program.
        if order.version != __version__:
            return (
                f"judgesheet {__version__} is installed, and {order.version} where the run began: "
                "install the same version on every machine"
            )
        try:
            judge = open_judge(order.model, order.connection, order.answer_key)
            if _comparable(judge.identity) != _comparable(order.identity):
                return f"{order.model} is a different judge: install the same one on every machine"
            self._judge = await judge.__aenter__()
        except JudgesheetError as error:
            return str(error)
        return ""

    async def put(self, questions: Sequence[Question], refused: Refused, *, is_final: bool) -> None:
        """Begin to ask; `refused` and `is_final` are those of `Judge.recall`."""
        self._judge.recall(refused, is_final=is_final)
        for call, attempt in questions:
            task = asyncio.create_task(self._ask(call, attempt))
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)

    async def take(self) -> tuple[list[Result], Refused]:
        """Wait for results and hand them over, with what the endpoint refuses by now."""
        await self._has_results.wait()
        if self._asking:
            await asyncio.sleep(LINGER_S)
        self._has_results.clear()
        results, self._results = self._results, []
        return results, self._judge.refused

    async def _ask(self, call: Call, attempt: int) -> None:
        result: Reply | JudgesheetError
        try:
            result = await self._judge.ask(call, attempt)
        except JudgesheetError as error:
            result = error
        except Exception as error:
            result = JudgeError(f"a worker failed ({of_environment()(repr(error))})")
        self._results.append((call.id, result))
        self._has_results.set()


def _comparable(identity: Mapping[str, Any]) -> str:
    """Where a judge is reached may differ from machine to machine, what it is may not."""
    return canonical_json({**identity, "base_url": None})


# -- the driver ------------------------------------------------------------------------------------


class _Asked(NamedTuple):
    """A question that a worker was handed, since when, and who waits for the reply."""

    question: Question
    since: float
    reply: "asyncio.Future[Reply]"


@dataclass(slots=True, eq=False)
class _Seat:
    """A worker as the driver sees it, with what it has not answered yet by the id of the call."""

    actor: Any
    asked: dict[str, _Asked] = field(default_factory=dict)


class RemoteJudge:
    """A judge whose questions are put by workers; in all else it is the judge that it is given."""

    def __init__(self, judge: Judge, order: Order, address: str | None) -> None:
        self._judge = judge
        self._order = order
        self._address = address
        self._is_final = False
        self._waiting: list[_Asked] = []
        self._seats: list[_Seat] = []
        self._staffing: list[asyncio.Task[None]] = []
        self._given_up = 0
        self._began = asyncio.Event()
        self._fault: Exception | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._judge, name)

    async def __aenter__(self) -> Self:
        """Start workers, and wait for the first; JudgesheetError if there can be none."""
        async with AsyncExitStack() as stack:
            cluster = stack.enter_context(_connected(self._address))
            stack.push_async_callback(self._dismiss)
            workers = min(cluster.processors, self._order.connection.concurrency)
            self._staffing = [asyncio.create_task(self._staff(cluster)) for _ in range(workers)]
            await self._began.wait()
            if self._fault:
                raise self._fault
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def recall(self, refused: Refused, *, is_final: bool) -> None:
        """As `Judge.recall`, for all workers."""
        self._judge.recall(refused, is_final=is_final)
        self._is_final = is_final

    async def ask(self, call: Call, attempt: int) -> Reply:
        """Have one question put by a worker. A worker that dies with it is a failed attempt."""
        if self._fault:
            raise self._fault
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._hand_over)  # together with what else is asked at this moment
        asked = _Asked((call, attempt), time.monotonic(), loop.create_future())
        self._waiting.append(asked)
        return await asked.reply

    def _hand_over(self) -> None:
        """Hand what waits to those who have the least to do, as soon as anybody is there."""
        if not self._seats:
            return
        questions: dict[_Seat, list[Question]] = {}
        for asked in self._waiting:
            if not asked.reply.done():  # else nobody waits for it any more
                seat = min(self._seats, key=lambda one: len(one.asked))
                seat.asked[asked.question[0].id] = asked
                questions.setdefault(seat, []).append(asked.question)
        self._waiting = []
        for seat, some in questions.items():
            seat.actor.put.remote(some, self._judge.refused, is_final=self._is_final)

    async def _staff(self, cluster: "_Cluster") -> None:
        """Keep one worker at work: where it dies, start another."""
        deaths, why = 0, ""
        try:
            while deaths < DEATHS:
                seat = _Seat(cluster.start(self._order))
                try:
                    await self._open(seat)
                    while True:
                        self._receive(seat, *await seat.actor.take.remote())
                        deaths = 0
                except cluster.death as error:
                    # Ray hands on whole tracebacks; their last line says what happened.
                    deaths, why = deaths + 1, str(error).strip().rpartition("\n")[2]
                finally:
                    self._close(seat)
                    cluster.end(seat.actor)
            self._give_up(
                f"workers end before they answer ({of_environment()(why)}): check that "
                "judgesheet runs on every machine of the cluster"
            )
        except TimeoutError:
            self._give_up("the cluster starts no worker: check that it has free processors")
        except Exception as error:
            self._end(error)

    async def _open(self, seat: _Seat) -> None:
        async with asyncio.timeout(START_S):
            fault = await seat.actor.open.remote()
        if fault:
            raise JudgeError(f"on a worker: {fault}")
        self._seats.append(seat)
        self._began.set()
        self._hand_over()

    def _receive(self, seat: _Seat, results: Sequence[Result], refused: Refused) -> None:
        """Pass on what a worker handed over."""
        for key, result in results:
            reply = seat.asked.pop(key).reply
            if reply.done():
                continue
            if isinstance(result, Reply):
                self._is_final = self._is_final or result.outcome == "ok"
                reply.set_result(result)
            else:
                reply.set_exception(result)
        known = self._judge.refused
        if refused.keys() - known.keys():
            self._judge.recall({**refused, **known}, is_final=self._is_final)

    def _close(self, seat: _Seat) -> None:
        """Remove a worker. Whether what it had in flight was answered is unknown."""
        if seat in self._seats:
            self._seats.remove(seat)
        now = time.monotonic()
        for (call, attempt), since, reply in seat.asked.values():
            if not reply.done():
                lost = Answer("unavailable", raw="its worker died", finish_reason=WORKER_LOST)
                reply.set_result(lost.as_reply(call.id, attempt, now - since, time.time()))

    def _give_up(self, why: str) -> None:
        """Continue without one worker; without any, end the run."""
        self._given_up += 1
        if self._given_up == len(self._staffing):
            self._end(JudgeError(why))

    def _end(self, fault: Exception) -> None:
        """Ask nothing more; what is in flight is still answered."""
        self._fault = self._fault or fault
        self._began.set()
        for asked in self._waiting:
            if not asked.reply.done():
                asked.reply.set_exception(fault)
        self._waiting = []

    async def _dismiss(self) -> None:
        """End all workers."""
        for task in self._staffing:
            task.cancel()
        await asyncio.gather(*self._staffing, return_exceptions=True)


def by_workers(request: Request, judge: Judge, labels: Iterable[Label]) -> Judge:
    """The judge of a request, asked by the workers of its cluster, which never see the `labels`.

    Only a simulated judge is given what it may know of them. UsageError for a judge that lives on
    this machine, and for secrets on the command line.
    """
    known = connection(request)
    if judge.machine:
        raise UsageError(
            "a model on this machine cannot be asked by others: leave --engine out, or serve it "
            "and give --base-url"
        )
    if known.base_url is not None and address_without_secrets(known.base_url) != known.base_url:
        raise UsageError(
            "--base-url holds a credential, which would travel over the cluster: put the key into "
            "a variable on its machines and name it with --api-key-env"
        )
    if known.transport is not None or not isinstance(known.auth, str | None):
        raise UsageError(
            "an authentication or a transport cannot travel over the cluster: give "
            "auth='module:function', which every worker loads"
        )
    if any(secrets_in(known.extra_body)):
        raise UsageError("--extra-body holds a secret, which would travel over the cluster")
    key = answer_key(labels) if judge.is_simulated else None
    order = Order(request.model, known, dict(judge.identity), key)
    return cast("Judge", RemoteJudge(judge, order, request.engine_address))


# -- Ray -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Cluster:
    """A cluster that this process is connected to."""

    ray: Any
    processors: int
    death: type[Exception]
    """What awaiting a worker raises that is gone."""

    def start(self, order: Order) -> Any:
        """A handle of a new worker, on one processor, as soon as there is one."""
        options = {"num_cpus": 1, "scheduling_strategy": "SPREAD"}
        return self.ray.remote(**options)(Worker).remote(order)

    def end(self, actor: Any) -> None:
        """End a worker, unless it is gone."""
        with suppress(Exception):
            self.ray.kill(actor)


@contextmanager
def _connected(address: str | None) -> Iterator[_Cluster]:
    """The cluster at an address; without one, a cluster on this machine that ends with the block.

    MissingDependencyError without Ray, RunError if there is no such cluster.
    """
    # Ray tells its makers of every cluster unless this says otherwise before it is loaded.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    on_sigterm = signal.getsignal(signal.SIGTERM)
    try:
        import ray
    except ImportError:
        raise MissingDependencyError(
            "--engine ray needs Ray: pip install 'judgesheet[ray]'"
        ) from None
    started = not ray.is_initialized()
    if started:
        try:
            _knock(address)
            ray.init(
                address or "local",
                log_to_driver=False,
                logging_level="error",
                **({} if address else {"include_dashboard": False}),  # it would listen on a port
            )
        except Exception as error:
            said = without_userinfo(str(error)).strip().partition("\n")[0]
            if address is None:
                raise RunError(f"Ray does not start on this machine ({said})") from None
            raise RunError(
                f"there is no Ray cluster at {address}, or access is denied ({said}): check "
                "the address; for a cluster with tokens set RAY_AUTH_MODE=token"
            ) from None
    if current_thread() is main_thread():
        signal.signal(signal.SIGTERM, on_sigterm)  # Ray's own would end us at once
    try:
        processors = max(1, int(ray.cluster_resources().get("CPU", 1)))
        # Ray tells of workers that die on the standard output, which is for results.
        with redirect_stdout(sys.stderr):
            yield _Cluster(ray, processors, ray.exceptions.RayError)
    finally:
        if started:
            ray.shutdown()


def _knock(address: str | None) -> None:
    """OSError if nothing listens at HOST:PORT: Ray itself would try for minutes."""
    host, colon, port = (address or "").rpartition(":")
    if colon and port.isdecimal() and "://" not in host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
