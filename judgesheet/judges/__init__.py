"""Judges behind one protocol: `ask(call, attempt) -> Reply`.

A judge never raises for what an endpoint does: a timeout, a refusal or a page of HTML is an
`Answer` with an `outcome`. It raises `JudgeError` or `MissingDependencyError` only where it cannot
be opened.
"""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol, Self

from judgesheet.errors import UsageError
from judgesheet.records import Call, Outcome, Reply, ReplyFormat


@dataclass(frozen=True, slots=True)
class Provider:
    """What is known about a provider's judges before one is opened.

    `reply` and `logprobs` are what they are asked for unless the user says otherwise. A hosted
    provider has a `base_url`, and `key_env` names the variable with the key that it needs.
    """

    reply: ReplyFormat = "text"
    logprobs: bool = False
    has_logprobs: bool = True
    base_url: str = ""
    key_env: str = ""


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(base_url="https://api.openai.com/v1", key_env="OPENAI_API_KEY"),
    "anthropic": Provider(
        has_logprobs=False, base_url="https://api.anthropic.com/v1", key_env="ANTHROPIC_API_KEY"
    ),
    "openai-compatible": Provider(),
    # Small models follow an answer format only where the decoding is constrained to it. A local one
    # gives log-probabilities for nothing; some hosted ones refuse a request that asks for them.
    "local": Provider(reply="json", logprobs=True),
    "sim": Provider(reply="json"),
    "python": Provider(has_logprobs=False),
}


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
        return Reply(call_id=call_id, attempt=attempt, latency_s=latency_s, at=at, **asdict(self))


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

    def advise(self, outcome: Outcome) -> str | None:  # noqa: ARG002
        """What to do about this outcome, if the judge can say more than the collector."""
        return None

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
    timeout_s: float = 120.0
    concurrency: int = 16


def provider_of(model: str) -> Provider:
    """The provider of `PROVIDER/NAME`; UsageError if no judge can have that name."""
    provider, _, name = model.partition("/")
    if provider not in PROVIDERS or not name:
        known = ", ".join(f"{provider}/…" for provider in PROVIDERS)
        raise UsageError(f"there is no judge {model!r}; --model is one of {known}")
    return PROVIDERS[provider]


def check_name(model: str) -> None:
    """Refuse a name that no judge can have, without opening one: `provider_of`, simulated ones."""
    provider_of(model)
    if model.startswith("sim/"):
        from judgesheet.judges.simulated import SimulatedJudge

        SimulatedJudge.from_name(model.removeprefix("sim/"))


def open_judge(
    model: str, connection: Connection, answer_key: Mapping[str, float] | None = None
) -> Judge:
    """The judge that `PROVIDER/NAME` names.

    `answer_key` maps items to their intended level (0..1); only simulated judges are given it.
    MissingDependencyError or JudgeError if the judge cannot be opened on this machine.
    """
    provider_of(model)
    provider, _, name = model.partition("/")
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
    from judgesheet.judges.http import open_http_judge

    return open_http_judge(provider, name, connection)
