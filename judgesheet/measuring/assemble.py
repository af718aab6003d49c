"""The datasheet, from the estimates and what the ledger knows of judge and run."""

import platform
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from judgesheet.axes import all_axes
from judgesheet.base.datasheet import SCHEMA_VERSION
from judgesheet.base.digits import counted
from judgesheet.base.limits import MOST_KINDS
from judgesheet.base.prices import cost
from judgesheet.base.records import END_OF_TIME, AxisResult, Datasheet
from judgesheet.base.sanitize import said_by_server
from judgesheet.base.version import __version__
from judgesheet.measuring.measure import Measured, code_digest
from judgesheet.planning.plan import remarks

if TYPE_CHECKING:
    from judgesheet.ledger.counts import Totals
    from judgesheet.ledger.ledger import Ledger

FREE = ("local", "sim")
"""Providers that send no bill."""
PACKAGES = ("numpy", "pandas", "scipy", "statsmodels", "aiohttp", "xllamacpp", "litellm")
"""Libraries whose version can move a figure or a reply."""


def assemble(ledger: "Ledger", measured: Measured) -> Datasheet:
    """The datasheet of a ledger: identical for an identical ledger, whenever it is made."""
    totals = ledger.totals()
    plan = ledger.provenance
    unequal = ledger.unequal_tokens() if totals.tokens_in else {}
    return Datasheet(
        schema_version=SCHEMA_VERSION,
        judge=_judge(ledger, totals),
        run=_run(ledger, totals, plan.get("settings", {}), measured.results),
        provenance={
            "judgesheet": __version__,
            "measured_with": _versions(),
            "collected_with": ledger.get_meta("judgesheet"),
            "plan_digest": ledger.get_meta("plan"),
            "ledger_schema": ledger.get_meta("schema_version"),
            "stimuli": [_without_clusters(pool) for pool in plan.get("stimuli", [])],
            **{name: plan[name] for name in ("distinct_stimuli", "scale") if name in plan},
            "prompts": [_with_permuted(prompt) for prompt in plan.get("prompts", [])],
            **_parsers(ledger),
            "axis_code": [
                {"axis": axis.name, "digest": code_digest(axis.name)} for axis in measured.results
            ],
            "papers": list(dict.fromkeys(_papers(measured.results))),
        },
        axes=tuple(
            replace(
                one,
                caveats=(
                    *_anothers(*unequal.get(one.name, (0, 0))),
                    *_caveats(one, ledger, plan.get("stimuli")),
                    *one.caveats,
                ),
                **_served(one, ledger, totals),
            )
            for one in measured.results
        ),
        recommendations=measured.recommendations,
    )


def _served(result: AxisResult, ledger: "Ledger", totals: "Totals") -> dict[str, Any]:
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


def _caveats(result: AxisResult, ledger: "Ledger", pools: Any) -> Iterator[str]:
    """Calls that were not made, what the judge says of itself, and stimuli that repeat others."""
    if result.made < result.planned:
        yield (
            f"{result.made:,} of {result.planned:,} planned calls were made: every interval of "
            "this axis is wider than it will be once all are."
        )
    if note := ledger.get_meta("note"):
        yield f"The judge's own note: {note}"
    for pool in pools if isinstance(pools, list) else ():
        if isinstance(pool, Mapping) and pool.get("axis") == result.name:
            yield from remarks(pool)


def _without_clusters(pool: Mapping[str, Any]) -> dict[str, Any]:
    """A pool without the name of every copy in it: a sheet counts them."""
    return {name: value for name, value in pool.items() if name != "clusters"}


def _papers(results: tuple[AxisResult, ...]) -> Iterator[str]:
    """What the measurements of the axes were published in."""
    for result in results:
        axis = all_axes().get(result.name)
        if axis is not None and axis.PAPER:
            yield axis.PAPER


def _with_permuted(prompt: Mapping[str, Any]) -> dict[str, Any]:
    """A prompt with the names of the variables that its axis permutes, which the sheet marks."""
    axis = all_axes().get(str(prompt.get("axis")))
    return {**prompt, "permuted": sorted(axis.PERMUTED) if axis else []}


def _parsers(ledger: "Ledger") -> dict[str, Any]:
    """The user's own parsers, and those that read the same replies before; nothing if none did."""
    known = {"parsers": ledger.parsers(), "parsers_replaced": ledger.get_meta("parsers_replaced")}
    return {name: parsers for name, parsers in known.items() if parsers}


def _judge(ledger: "Ledger", totals: "Totals") -> dict[str, Any]:
    """The judge's identity, named as the user names it: PROVIDER/NAME."""
    identity = ledger.judge
    name = str(identity.get("model", "unknown"))
    model = f"{identity.get('provider', 'unknown')}/{name}"
    moved, hosts = ledger.earlier_base_urls, Counter(ledger.hosts().values())
    return {
        **identity,
        "model": model,
        "name": name,
        "served_models": dict(totals.served_models),
        **({"hosts": dict(hosts.most_common())} if hosts else {}),
        **({"earlier_base_urls": moved} if moved else {}),
        **({"note": note} if (note := ledger.get_meta("note")) else {}),
    }


def _run(
    ledger: "Ledger", totals: "Totals", settings: Mapping[str, Any], axes: tuple[AxisResult, ...]
) -> dict[str, Any]:
    looks = ledger.looks
    batches = ledger.get_meta("batches", [])
    return {
        **settings,
        **_refused(ledger),
        "seed": ledger.get_meta("seed"),
        "planned": totals.planned,
        "settled": totals.settled,
        # A run that stops once decided has settled all that it may ask so far before it ends.
        "complete": totals.settled >= totals.planned and (looks is None or looks.ended),
        **({} if looks is None else {"looks": asdict(looks)}),
        "answered": sum(axis.answered for axis in axes),
        "unreadable": sum(axis.unreadable for axis in axes),
        "refused": sum(axis.refused for axis in axes),
        "failed": sum(axis.failed for axis in axes),
        "attempts": totals.attempts,
        "outcomes": dict(totals.outcomes),
        **_first_readings(ledger),
        **_taken_over(ledger, totals),
        **_failures(ledger),
        **_held_back(ledger),
        "tokens_in": totals.tokens_in,
        "tokens_out": totals.tokens_out,
        **({} if (hidden := ledger.reasoning_tokens()) is None else {"tokens_reasoning": hidden}),
        "longest_prompt_tokens": totals.longest_prompt,
        "cost_usd": _cost(ledger, totals),
        "unmetered_attempts": totals.unmetered,
        "started_at": _iso(totals.first_at),
        "ended_at": _iso(totals.last_at),
        "wall_s": totals.asking_s if totals.first_at else None,
        "latency_p50_s": totals.latency_p50_s,
        "latency_p99_s": totals.latency_p99_s,
        **({"machine": machine} if (machine := ledger.get_meta("machine")) else {}),
        **({"batches": [str(one.get("file")) for one in batches]} if batches else {}),
    }


def _refused(ledger: "Ledger") -> dict[str, Any]:
    """What was planned and not sent so, as the endpoint refuses it; nothing where it takes all."""
    refused = ledger.refused_parameters
    if not refused:
        return {}
    return {"refused_parameters": refused, "temperature": ledger.temperature}


def _first_readings(ledger: "Ledger") -> dict[str, Any]:
    """How many replies could not be read before any was asked again; nothing where none is."""
    if not ledger.settings().get("retry_unreadable"):
        return {}
    lost, replies = ledger.first_readings()
    return {"first_readings": {"replies": replies, "unreadable": lost}}


def _taken_over(ledger: "Ledger", totals: "Totals") -> dict[str, Any]:
    """Where replies are from earlier runs: how many, of how many runs, and the oldest's time."""
    runs = ledger.taken_over
    if not runs:
        return {}
    replies = sum(run["replies"] for run in runs)
    known = {"replies": replies, "runs": len(runs), "oldest_at": _iso(totals.first_at)}
    return {"taken_over": known}


def _held_back(ledger: "Ledger") -> dict[str, Any]:
    """For how many seconds limits held requests back; nothing where none did."""
    # A ledger may come from anywhere: no clock shows such a wait.
    return {"held_back_s": ledger.held_s} if 0 < ledger.held_s < END_OF_TIME else {}


def _failures(ledger: "Ledger") -> dict[str, Any]:
    """The commonest kinds of failure, with what the server said last; nothing without any."""
    kinds = [
        {
            "outcome": outcome,
            "said": said_by_server(str(status or ""), str(raw)),
            "attempts": attempts,
        }
        for outcome, status, raw, attempts in ledger.failures()[:MOST_KINDS]
    ]
    return {"failures": kinds} if kinds else {}


def _cost(ledger: "Ledger", totals: "Totals") -> float | None:
    """US dollars for all attempts; None where the user gave no prices."""
    if ledger.get_meta("judge", {}).get("provider") in FREE:
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
