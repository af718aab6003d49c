"""Judges behind one protocol: `ask(call, attempt) -> Reply`.

A judge never raises for what an endpoint does: a timeout, a refusal or a page of HTML is a `Reply`
with an `outcome`. It raises `JudgeError` or `MissingDependencyError` only where it cannot be
opened.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from judgesheet.errors import UsageError
from judgesheet.records import Call, Outcome, Reply, ReplyFormat

PROVIDERS = ("openai", "anthropic", "openai-compatible", "local", "sim", "python")


class Judge(Protocol):
    """What the collector needs of a judge. Entered once per run, used from one event loop.

    A judge that derives from this class says only what is particular to it.
    """

    max_concurrency: int | None = None
    """Calls in flight that this judge can bear; None leaves it to the collector."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What a reader must know of this judge (provider, model, base URL, …); never a key."""

    async def ask(self, call: Call, attempt: int) -> Reply:
        """Put one question once. `attempt` counts from 1 and is copied into the reply."""

    def advise(self, outcome: Outcome) -> str | None:  # noqa: ARG002
        """What to do about this outcome, where the judge knows better than the collector."""
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


def default_reply(model: str) -> ReplyFormat:
    """The reply format that a judge is asked for unless the user says otherwise.

    Small models follow an answer format only where the decoding is constrained to it.
    """
    return "json" if model.partition("/")[0] in ("local", "sim") else "text"


def default_logprobs(model: str) -> bool:
    """Whether log-probabilities are asked for unless the user says otherwise.

    A local model gives them for nothing; some hosted ones refuse a request that asks for them.
    """
    return model.startswith("local/")


def check_logprobs(model: str) -> None:
    """Refuse to ask for log-probabilities where there is nobody who could give any.

    Raises
    ------
    UsageError
        if the provider's judges have none.
    """
    if model.partition("/")[0] in ("anthropic", "python"):
        raise UsageError(f"{model} gives no log-probabilities: leave --logprobs out")


def check_name(model: str) -> None:
    """Refuse a name that no judge can have, without opening one.

    Raises
    ------
    UsageError
        if the provider is unknown, the name is empty or a simulated judge does not exist.
    """
    provider, _, name = model.partition("/")
    if provider not in PROVIDERS or not name:
        known = ", ".join(f"{provider}/…" for provider in PROVIDERS)
        raise UsageError(f"there is no judge {model!r}; --model is one of {known}")
    if provider == "sim":
        from judgesheet.judges.simulated import SimulatedJudge

        SimulatedJudge.from_name(name)


def open_judge(
    model: str, connection: Connection, answer_key: Mapping[str, float] | None = None
) -> Judge:
    """The judge that `PROVIDER/NAME` names.

    `answer_key` maps items to their intended level (0..1); only simulated judges are given it.

    Raises
    ------
    UsageError
        if the provider is unknown or the name is empty.
    MissingDependencyError, JudgeError
        if the judge cannot be opened on this machine.
    """
    check_name(model)
    provider, _, name = model.partition("/")
    # Imported here: listing stimuli must not wait for an HTTP client.
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
