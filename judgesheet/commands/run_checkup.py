"""Is the ledger of a run whole? One line per check."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from judgesheet.base.datasheet import by_key
from judgesheet.base.digits import counted
from judgesheet.base.errors import JudgesheetError
from judgesheet.base.records import Datasheet
from judgesheet.collect.knob import recall
from judgesheet.commands.checkup import Diagnosis, tried
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import LEDGER
from judgesheet.planning.plan import planned_first

READ = frozenset({"answered", "unreadable", "failed"})
"""Counts of a run that depend on who reads its replies."""
COUNTS = ("planned", "answered", "unreadable", "refused", "failed")
PLANNED = "the plan's digest"
TOLERANCE = 1e-9
"""By how much a figure may differ, as a part of it: machines round differently."""


def examine_run(directory: Path) -> Iterator[Diagnosis]:
    """Check the ledger of a run, or those of a sweep; nothing is changed."""
    knob = recall(directory)
    if knob is not None:
        for folder in knob.begun(directory).values():
            yield from (
                replace(one, what=f"{folder.name}: {one.what}") for one in examine_run(folder)
            )
        return
    try:
        with Ledger.open(directory / LEDGER) as ledger:
            yield from [tried(what, partial(look, ledger)) for what, look in _LEDGER.items()]
    except JudgesheetError as error:
        yield Diagnosis("ledger", "failed", str(error))


# -- the ledger ------------------------------------------------------------------------------------


def _integrity(ledger: Ledger) -> Diagnosis | str:
    if faults := ledger.integrity():
        return Diagnosis("ledger", "failed", f"{len(faults)} faults, the first: {faults[0][:200]}")
    return f"schema {ledger.get_meta('schema_version')}, and SQLite finds nothing wrong with it"


def _calls(ledger: Ledger) -> Diagnosis | str:
    wrong, ids = 0, []
    for call in ledger.calls():
        wrong += replace(call).id != call.id
        ids.append(call.id)
    if wrong:
        return Diagnosis("calls", "failed", f"{wrong:,} of {len(ids):,} are not what was asked")
    if not planned_first(ids, ledger.get_meta("plan")):
        return Diagnosis("calls", "failed", f"these {len(ids):,} are not those of its plan")
    return f"{len(ids):,}, each with the id of its content"


def _replies(ledger: Ledger) -> Diagnosis | str:
    totals, odd = ledger.totals(), ledger.miscounts()
    if odd:
        text = ", ".join(f"{count:,} {what}" for what, count in odd.items())
        return Diagnosis("replies", "failed", text)
    attempts = counted(totals.attempts, "attempt settles", "attempts settle")
    text = f"{attempts} {totals.settled:,} of {counted(totals.planned, 'call')}"
    if totals.settled < totals.planned:
        return Diagnosis("replies", "note", f"{text}, each once; the same command resumes it")
    return f"{text}, each once"


_LEDGER: Mapping[str, Callable[[Ledger], Diagnosis | str]] = {
    "ledger": _integrity,
    "calls": _calls,
    "replies": _replies,
}


# -- whether a sheet is that of a run, for `verify` ------------------------------------------------


def other_origin(held: Datasheet, made: Datasheet) -> Iterator[str]:
    """What shows that two sheets are of two runs: their judge, their plan, when they began."""
    pairs = {
        "judge.model": (held.judge.get("model"), made.judge.get("model")),
        PLANNED: [one.provenance.get("plan_digest") for one in (held, made)],
        "run.started_at": (held.run.get("started_at"), made.run.get("started_at")),
    }
    yield from (name for name, (first, second) in pairs.items() if first != second)


def other_facts(held: Datasheet, made: Datasheet) -> Iterator[str]:
    """What of the judge, the plan and the attempts two sheets do not share."""
    for part in ("judge", "run"):
        first, second = getattr(held, part), getattr(made, part)
        yield from (f"{part}.{k}" for k in second.keys() - READ if first.get(k) != second[k])
    if held.provenance.get("plan_digest") != made.provenance["plan_digest"]:
        yield PLANNED


def other_figures(held: Datasheet, made: Datasheet) -> Iterator[str]:
    """The keys of figures, and the axes, whose numbers two sheets do not share."""
    first, second = numbers(held), numbers(made)
    for key in {**second, **first}:
        one, other = first.get(key), second.get(key)
        if one is None or other is None or not all(map(_is_near, one.values(), other.values())):
            yield key


def numbers(sheet: Datasheet) -> dict[str, dict[str, float | None]]:
    """Value and interval of every figure, and the counts of every axis, each number by its name."""
    counts: dict[str, dict[str, float | None]] = {
        axis.name: {part: getattr(axis, part) for part in COUNTS} for axis in sheet.axes
    }
    figures = by_key(sheet).items()
    return counts | {
        key: {part: getattr(one, part) for part in ("value", "low", "high")} for key, one in figures
    }


def _is_near(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is second
    return math.isclose(first, second, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
