"""Judges behind one protocol: `ask(call, attempt) -> Reply`.

A judge never raises for what an endpoint does: a timeout, a refusal or a page of HTML is an
`Answer` with an `outcome`. It raises `JudgeError` or `MissingDependencyError` only where it cannot
be opened.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self

from judgesheet.base import defaults
from judgesheet.base.errors import UsageError
from judgesheet.base.records import Call, Outcome, Reply
from judgesheet.judges.auth import opener
from judgesheet.judges.providers import JudgeRef

if TYPE_CHECKING:
    import httpx

    OwnAuth = httpx.Auth | str
    """The user's authentication, or `module:factory` that makes it."""
    OwnTransport = httpx.AsyncBaseTransport
    """What carries the requests in the place of our own transport."""

Refused = Mapping[str, str | None]
"""Parameters that an endpoint refuses: the name each is sent under instead, None: not sent."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of one attempt at a call; the fields are those of `records.Reply`."""

    outcome: Outcome
    text: str = ""
    raw: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    served_model: str | None = None
    retry_after_s: float | None = None
    finish_reason: str | None = None

    def as_reply(self, call_id: str, attempt: int, latency_s: float, at: float) -> Reply:
        """The answer as the record of an attempt."""
        mine = {name: getattr(self, name) for name in self.__slots__}
        return Reply(call_id=call_id, attempt=attempt, latency_s=latency_s, at=at, **mine)


class Judge(Protocol):
    """What the collector needs from a judge. Entered once per run, used from one event loop.

    A judge that derives from this class says only what is particular to it: `answer`.
    """

    max_concurrency: int | None = None
    """Most calls in flight that this judge can handle; None leaves it to the collector."""

    is_simulated: bool = False
    """Whether its calls cost neither money nor time, so that none is spared."""

    machine: str = ""
    """The hardware of a judge that runs on this machine, which its latency depends on."""

    note: str = ""
    """What every sheet of this judge must say: what it hides, sorts or rounds, for one."""

    axes: tuple[str, ...] = ()
    """Names of the axes that it can be asked about; empty for all of them."""

    code: str = ""
    """The version of the user's own code that answers: two versions are two judges of one name."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What a reader must know of this judge (provider, model, base URL, …); never a key."""

    async def ask(self, call: Call, attempt: int) -> Reply:
        """Put one question once. `attempt` counts from 1 and is copied into the reply."""
        started = time.perf_counter()
        answer = await self.answer(call, attempt)
        return answer.as_reply(call.id, attempt, time.perf_counter() - started, time.time())

    async def answer(self, call: Call, attempt: int, /) -> Answer:
        """The answer to one question."""

    def advise(self, reply: Reply) -> str | None:  # noqa: ARG002
        """What to do about this reply, if the judge can say more than the collector."""
        return None

    @property
    def refused(self) -> Refused:
        """The parameters that its endpoint refuses, as far as that is known."""
        return {}

    def recall(self, refused: Refused, *, is_final: bool) -> None:  # noqa: ARG002
        """Ask as an earlier session found out; in no other way any more where that `is_final`."""
        return

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach an endpoint, as the user gave it."""

    base_url: str | None = None
    api_key_env: str | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    must_send: tuple[str, ...] = ()
    """Parameters that are not left out, whatever the endpoint says."""
    timeout_s: float = defaults.TIMEOUT_S
    concurrency: int = defaults.CONCURRENCY
    auth: "OwnAuth | None" = field(default=None, repr=False)
    transport: "OwnTransport | None" = field(default=None, repr=False)


def check_name(judge: JudgeRef, auth: "OwnAuth | None" = None) -> None:
    """Refuse a name that no judge can have, or no authentication, without opening a judge."""
    if auth is not None:
        _refuse_access(judge)
        opener(auth, None)
    if judge.provider == "sim":
        from judgesheet.judges.simulated import SimulatedJudge

        SimulatedJudge.from_name(judge.name)


def declared(judge: JudgeRef) -> Judge | None:
    """The judge, if it is one that says itself what it can be asked about; none is asked here."""
    return open_judge(str(judge), Connection()) if judge.provider == "python" else None


def open_judge(
    model: str, connection: Connection, answer_key: Mapping[str, float] | None = None
) -> Judge:
    """The judge that `PROVIDER/NAME` names.

    `answer_key` maps items to their intended level (0..1); only simulated judges are given it.
    MissingDependencyError or JudgeError if the judge cannot be opened on this machine.
    """
    judge = JudgeRef.parse(model)
    provider, name = judge.provider, judge.name
    if connection.auth is not None or connection.transport is not None:
        _refuse_access(judge)
    # Imported here so that listing stimuli does not load an HTTP client.
    if provider == "sim":
        from judgesheet.judges.simulated import SimulatedJudge

        return SimulatedJudge.from_name(name, answer_key)
    if provider == "python":
        from judgesheet.judges.callable import CallableJudge

        return CallableJudge.from_name(name, connection.timeout_s)
    if provider == "local":
        from judgesheet.judges.local import LocalJudge

        return LocalJudge.from_name(name, connection)
    if provider == "litellm":
        from judgesheet.judges.litellm import LitellmJudge

        return LitellmJudge.from_name(name, connection)
    from judgesheet.judges.http import open_http_judge

    return open_http_judge(provider, name, connection)


def _refuse_access(judge: JudgeRef) -> None:
    if not judge.is_behind_http:
        raise UsageError(
            f"leave --auth out: {judge.provider}/ sends its requests itself, or sends none"
        )
