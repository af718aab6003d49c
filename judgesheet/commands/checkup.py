"""Can this machine and this endpoint run a probe? One line per check, with the remedy."""

import os
import platform
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from judgesheet.base import defaults
from judgesheet.base.arguments import checked
from judgesheet.base.async_runner import run
from judgesheet.base.digits import seconds
from judgesheet.base.errors import JudgesheetError, MissingDependencyError
from judgesheet.base.facts import JudgeIdentity, Provenance, RunFacts
from judgesheet.base.records import Datasheet
from judgesheet.base.resources import data_folder
from judgesheet.base.version import __version__
from judgesheet.judges import Connection, open_judge
from judgesheet.judges.check import ASKED, LONG, Examined
from judgesheet.judges.check import examine as examine_judge
from judgesheet.judges.local import INSTALL, SMOLLM2
from judgesheet.judges.providers import PROVIDERS, JudgeRef, refuse_key
from judgesheet.sheet import render

Status = Literal["ok", "missing", "failed", "note"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One check: its subject, its result, and the remedy.

    Where one has `failed` a probe cannot work; something `missing` only limits it.
    """

    what: str
    status: Status
    detail: str


def examine(
    model: str | None = None,
    *,
    temperature: float = defaults.TEMPERATURE,
    max_tokens: int | None = None,
    **how: Any,
) -> list[Diagnosis]:
    """Check the machine, and with `model` also the endpoint (a few tiny questions).

    A reply to them has at most 64 tokens unless `max_tokens` says otherwise, too few to think
    aloud. `how` are fields of `judges.Connection`.
    """
    # A local server may load its model for the first question.
    connection = Connection(**checked(Connection, {**how, "timeout_s": 60.0}))
    if model is not None:
        refuse_key(model)  # else it would stand in the list
    checks = [tried(what, look) for what, look in _MACHINE.items() if _concerns(what, model)]
    if model is not None:
        given = {"temperature": temperature} | ({"max_tokens": max_tokens} if max_tokens else {})
        checks.extend(_endpoint(model, connection, given))
    return checks


def tried(what: str, look: Callable[[], Diagnosis | str]) -> Diagnosis:
    """What was seen, which is well unless it says otherwise; or what went wrong in looking."""
    try:
        seen = look()
    except MissingDependencyError as error:
        return Diagnosis(what, "missing", str(error))
    except (JudgesheetError, OSError) as error:
        return Diagnosis(what, "failed", str(error))
    return seen if isinstance(seen, Diagnosis) else Diagnosis(what, "ok", seen)


EMPTY = Datasheet("1", JudgeIdentity(), RunFacts(), Provenance(), ())


def _pdf() -> str:
    """That the typesetter works, tested with an empty sheet."""
    return f"a test sheet was set ({len(render(EMPTY, 'pdf')):,} bytes)"


def _writable() -> str:
    here = Path.cwd()
    # Only writing tells: on network drives permissions promise too much.
    with tempfile.NamedTemporaryFile(dir=here):
        return f"{here} is writable"


def local_judge() -> Diagnosis | str:
    """That the small model of this machine loads."""
    lacking = [command for module, command in INSTALL.items() if find_spec(module) is None]
    if lacking:
        return Diagnosis("local judge", "missing", " and ".join(lacking))

    async def load() -> None:
        async with open_judge(f"local/{SMOLLM2}", Connection()):
            pass

    try:
        run(load)
    except JudgesheetError as error:  # all other judges can be probed
        return Diagnosis("local judge", "missing", str(error))
    return f"local/{SMOLLM2} was loaded and can be probed without an endpoint"


def _keys() -> Diagnosis:
    known = [one.key_env for one in PROVIDERS.values() if os.environ.get(one.key_env)]
    return Diagnosis("keys", "note", f"{', '.join(known) or 'none of the usual ones is'} set")


_MACHINE: dict[str, Callable[[], Diagnosis | str]] = {
    "judgesheet": lambda: f"{__version__} on Python {platform.python_version()}",
    "templates and stimuli": lambda: f"{data_folder('templates')}, {data_folder('stimuli')}",
    "PDF": _pdf,
    "working folder": _writable,
    "local judge": local_judge,
    "keys": _keys,
}


def _concerns(what: str, model: str | None) -> bool:
    """Whether a check of the machine has to do with the model that is asked about."""
    if model is None:
        return True
    return model.startswith("local/") if what == "local judge" else what != "keys"


def _endpoint(model: str, connection: Connection, given: Mapping[str, Any]) -> Iterator[Diagnosis]:
    try:
        judge = open_judge(model, connection)
        if connection.api_key_env or not connection.auth:
            yield from _key(model, connection.api_key_env)
        seen = run(lambda: examine_judge(judge, **given))
    except JudgesheetError as error:
        yield Diagnosis(model, "failed", str(error).removeprefix(f"{model} "))
        return
    if address := judge.identity.get("base_url"):
        if seen.is_reached:
            yield Diagnosis("address", "ok", f"{address} answers")
        else:
            yield Diagnosis("address", "failed", f"{address} does not answer")
    if seen.problem:
        yield Diagnosis(model, "failed", seen.problem)
        return
    yield Diagnosis(model, "ok", f"answers in {seconds(seen.latency_s)}")
    if seen.mixes_up:
        yield Diagnosis(
            "answers", "failed", "the answers to two simultaneous questions were swapped"
        )
    if seen.finds_beginning is not None:
        yield _long_prompt(finds_beginning=seen.finds_beginning)
    yield _parameters(seen.refused)
    for what, present, otherwise in (
        ("JSON schema", seen.json_schema, "the reply did not keep to one: use --reply text"),
        ("log-probabilities", seen.logprobs, "expected scores are not available"),
    ):
        yield Diagnosis(what, *(("ok", "yes") if present else ("note", f"no: {otherwise}")))
    yield from _repeatability(seen, given["temperature"])


def _long_prompt(*, finds_beginning: bool) -> Diagnosis:
    """Whether the beginning of a long prompt reaches the model."""
    what = f"a prompt of {LONG:,} characters"
    if finds_beginning:
        return Diagnosis("long prompts", "ok", f"{what} was answered from its beginning")
    return Diagnosis(
        "long prompts",
        "note",
        f"{what} was not answered from its beginning: the server may have cut it; give it a larger "
        "context window (num_ctx of Ollama, --ctx-size of llama.cpp, --max-model-len of vLLM)",
    )


def _repeatability(seen: Examined, temperature: float) -> Iterator[Diagnosis]:
    """What was seen of a seed and of repeats, which is less than that answers do not vary."""
    if seen.seed:
        yield Diagnosis("seed", "ok", "accepted; whether it is used cannot be seen")
    else:
        yield Diagnosis("seed", "note", "no: runs with a temperature do not repeat")
    asked = f"{ASKED} answers to one short question at temperature {temperature:g}"
    if seen.alike:
        yield Diagnosis("repeats", "ok", f"{ASKED} of {asked} are equal")
    else:
        yield Diagnosis("repeats", "note", f"{asked} differ: repeats show how much they vary")


def _key(model: str, api_key_env: str | None) -> Iterator[Diagnosis]:
    """Whether the variable with the key is set; nothing where the provider has none."""
    provider = JudgeRef.parse(model).about
    if name := api_key_env or provider.key_env:
        is_set, is_needed = bool(os.environ.get(name, "").strip()), provider.needs_key
        shown = name if name.isupper() else "the variable"  # in lower case it may be a key
        if is_set:
            yield Diagnosis("key", "ok", f"{shown} is set")
        else:
            state = "not set" if is_needed or api_key_env else "not set, and not sent"
            yield Diagnosis("key", "note", f"{shown} is {state}")


def _parameters(refused: Mapping[str, str | None]) -> Diagnosis:
    """Which parameters of a run the endpoint takes."""
    if not refused:
        return Diagnosis("parameters", "ok", "temperature and max_tokens are accepted")
    refusals = (
        f"{name} is refused and " + ("not sent" if other is None else f"sent as {other}")
        for name, other in refused.items()
    )
    return Diagnosis("parameters", "note", "; ".join(refusals))
