"""The datasheet, from the estimates and what the ledger knows of judge and run."""

import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, TypeVar

from judgesheet.axes import all_axes
from judgesheet.base.datasheet import SCHEMA_VERSION
from judgesheet.base.digits import counted
from judgesheet.base.errors import RunError
from judgesheet.base.facts import (
    AxisCode,
    Failure,
    FirstReadings,
    JudgeIdentity,
    Provenance,
    RunFacts,
    StimulusPool,
    TakenOver,
)
from judgesheet.base.files import checked
from judgesheet.base.limits import MOST_KINDS
from judgesheet.base.prices import cost
from judgesheet.base.records import END_OF_TIME, MeasuredAxis, MeasuredSheet
from judgesheet.base.sanitize import said_by_server
from judgesheet.base.version import __version__
from judgesheet.measuring.measure import Measured, code_digest
from judgesheet.planning.plan import remarks

if TYPE_CHECKING:
    from judgesheet.ledger.counts import Totals
    from judgesheet.ledger.ledger import Ledger

T = TypeVar("T", Provenance, JudgeIdentity, RunFacts)

FREE = ("local", "sim")
"""Providers that send no bill."""
PACKAGES = ("numpy", "pandas", "scipy", "statsmodels", "aiohttp", "xllamacpp", "litellm")
"""Libraries whose version can move a figure or a reply."""


def assemble(ledger: "Ledger", measured: Measured) -> MeasuredSheet:
    """What a ledger says of its judge: identical for an identical ledger, whenever it is made.

    RunError where it tells of its plan or its judge what cannot be.
    """
    totals = ledger.totals()
    provenance = _provenance(ledger, measured.results)
    unequal = ledger.unequal_tokens() if totals.tokens_in else {}
    return MeasuredSheet(
        schema_version=SCHEMA_VERSION,
        judge=_judge(ledger, totals),
        run=_run(ledger, totals, measured.results),
        provenance=provenance,
        axes=tuple(
            replace(
                one,
                caveats=(
                    *_anothers(*unequal.get(one.name, (0, 0))),
                    *_caveats(one, ledger, provenance.stimuli),
                    *one.caveats,
                ),
                **_served(one, ledger, totals),
            )
            for one in measured.results
        ),
    )


def _checked(kind: type[T], ledger: "Ledger", content: Mapping[str, Any]) -> T:
    """What a ledger, which may be a stranger's, says of its plan or its judge."""
    return checked(kind, content, str(ledger.path), RunError)


def _provenance(ledger: "Ledger", results: tuple[MeasuredAxis, ...]) -> Provenance:
    """What a ledger says of its plan, with what measured it."""
    replaced = ledger.get_meta("parsers_replaced", [])
    parsers = {"parsers": ledger.parsers(), "parsers_replaced": replaced}
    known = _checked(Provenance, ledger, ledger.provenance | parsers)
    return replace(
        known,
        judgesheet=__version__,
        measured_with=_versions(),
        collected_with=ledger.get_meta("judgesheet"),
        plan_digest=ledger.get_meta("plan"),
        ledger_schema=ledger.get_meta("schema_version"),
        prompts=tuple(replace(one, permuted=_permuted(one.axis)) for one in known.prompts),
        axis_code=tuple(AxisCode(axis.name, code_digest(axis.name)) for axis in results),
        papers=tuple(dict.fromkeys(_papers(results))),
    )


def _served(result: MeasuredAxis, ledger: "Ledger", totals: "Totals") -> dict[str, Any]:
    """Which models answered on an axis; nothing where one answered everywhere."""
    if len(totals.served_models) < 2:
        return {}
    models, mixed = ledger.served_by_axis().get(result.name, ({}, 0))
    return {"served_models": models, "mixed_stimuli": mixed}


def _anothers(asked: int, differ: int) -> Iterator[str]:
    """That answers may belong to other questions, where equal ones were counted differently."""
    if differ:
        yield (
            f"{differ:,} of {counted(asked, 'question')} asked more than once came back with "
            "different numbers of input tokens: an answer may belong to another question. Ask "
            "again with --fresh --concurrency 1; if the numbers differ then, the endpoint counts "
            "unevenly."
        )


def _caveats(
    result: MeasuredAxis, ledger: "Ledger", pools: Iterable[StimulusPool]
) -> Iterator[str]:
    """Calls that were not made, what the judge says of itself, and stimuli that repeat others."""
    if result.made < result.planned:
        yield (
            f"{result.made:,} of {result.planned:,} planned calls were made: every interval of "
            "this axis is wider than it will be once all are."
        )
    if note := ledger.get_meta("note"):
        yield f"The judge's own note: {note}"
    for pool in pools:
        if pool.axis == result.name:
            yield from remarks(pool)


def _papers(results: tuple[MeasuredAxis, ...]) -> Iterator[str]:
    """What the measurements of the axes were published in."""
    for result in results:
        axis = all_axes().get(result.name)
        if axis is not None and axis.PAPER:
            yield axis.PAPER


def _permuted(name: str) -> tuple[str, ...]:
    """The variables of a prompt that its axis permutes, which the sheet marks."""
    axis = all_axes().get(name)
    return tuple(sorted(axis.PERMUTED)) if axis else ()


def _judge(ledger: "Ledger", totals: "Totals") -> JudgeIdentity:
    """The judge's identity, named as the user names it: PROVIDER/NAME."""
    known = _checked(JudgeIdentity, ledger, JudgeIdentity.gathered(ledger.judge))
    provider, name = known.provider or "unknown", known.model or "unknown"
    return replace(
        known,
        model=f"{provider}/{name}",
        name=name,
        served_models=dict(totals.served_models),
        hosts=dict(Counter(ledger.hosts().values()).most_common()),
        earlier_base_urls=tuple(filter(None, ledger.earlier_base_urls)),
        note=ledger.get_meta("note", ""),
    )


def _run(ledger: "Ledger", totals: "Totals", axes: tuple[MeasuredAxis, ...]) -> RunFacts:
    looks, known = ledger.looks, _checked(RunFacts, ledger, ledger.settings())
    # No clock shows such a wait as a stranger's ledger may have.
    held = ledger.held_s if 0 < ledger.held_s < END_OF_TIME else None
    return replace(
        known,
        temperature=None if "temperature" in ledger.refused_parameters else known.temperature,
        refused_parameters=ledger.refused_parameters,
        seed=ledger.get_meta("seed"),
        planned=totals.planned,
        settled=totals.settled,
        # A run that stops once decided has settled all that it may ask so far before it ends.
        complete=totals.settled >= totals.planned and (looks is None or looks.ended),
        looks=looks,
        answered=sum(axis.answered for axis in axes),
        unreadable=sum(axis.unreadable for axis in axes),
        refused=sum(axis.refused for axis in axes),
        failed=sum(axis.failed for axis in axes),
        attempts=totals.attempts,
        outcomes={str(outcome): number for outcome, number in totals.outcomes.items()},
        first_readings=_first_readings(ledger) if known.retry_unreadable else None,
        taken_over=_taken_over(ledger, totals),
        failures=tuple(_failures(ledger)),
        held_back_s=held,
        tokens_in=totals.tokens_in,
        tokens_out=totals.tokens_out,
        tokens_reasoning=ledger.reasoning_tokens(),
        longest_prompt_tokens=totals.longest_prompt,
        cost_usd=_cost(ledger, totals),
        unmetered_attempts=totals.unmetered,
        started_at=_iso(totals.first_at),
        ended_at=_iso(totals.last_at),
        wall_s=totals.asking_s if totals.first_at else None,
        latency_p50_s=totals.latency_p50_s,
        latency_p99_s=totals.latency_p99_s,
        machine=ledger.get_meta("machine", ""),
        batches=tuple(str(one.get("file")) for one in ledger.get_meta("batches", [])),
    )


def _first_readings(ledger: "Ledger") -> FirstReadings:
    """How many replies could not be read before any was asked again."""
    lost, replies = ledger.first_readings()
    return FirstReadings(replies, lost)


def _taken_over(ledger: "Ledger", totals: "Totals") -> TakenOver | None:
    """Where replies are from earlier runs: how many, of how many runs, and the oldest's time."""
    runs = ledger.taken_over
    if not runs:
        return None
    return TakenOver(sum(run["replies"] for run in runs), len(runs), _iso(totals.first_at))


def _failures(ledger: "Ledger") -> Iterator[Failure]:
    """The commonest kinds of failure, with what the server said last."""
    for outcome, status, raw, attempts in ledger.failures()[:MOST_KINDS]:
        yield Failure(outcome, said_by_server(str(status or ""), str(raw)), attempts)


def _cost(ledger: "Ledger", totals: "Totals") -> float | None:
    """US dollars for all attempts; None where the user gave no prices."""
    if ledger.judge.get("provider") in FREE:
        return 0.0
    return cost(totals.tokens_in, totals.tokens_out, ledger.get_meta("prices"))


def _iso(at: float | None) -> str | None:
    """The time; None where it is not known, or no clock shows it."""
    if at is None or not 0 <= at < END_OF_TIME:
        return None
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions
