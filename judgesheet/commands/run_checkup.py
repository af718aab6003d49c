"""Is a run directory whole, and what can be saved of it? One line per check, with the remedy."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgesheet.base.datasheet import from_json
from judgesheet.base.digits import counted
from judgesheet.base.errors import (
    JudgesheetError,
    MissingDependencyError,
    RunError,
    StimuliError,
)
from judgesheet.base.files import records
from judgesheet.base.limits import LONGEST_DOCUMENT
from judgesheet.base.records import Datasheet
from judgesheet.collect.knob import recall
from judgesheet.commands.checkup import Diagnosis, tried
from judgesheet.commands.verification import differences, other_origin
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import DATASHEET, LEDGER, PLAN
from judgesheet.ledger.salvage import readable, save
from judgesheet.planning.plan import call_of, planned_first, write_plan

if TYPE_CHECKING:
    import pandas as pd

ANEW = "`judgesheet measure {}` makes it again"


def examine_run(directory: Path) -> Iterator[Diagnosis]:
    """Check a run directory, or those of a sweep; nothing in it is changed."""
    knob = recall(directory)
    if knob is not None:
        for folder in knob.begun(directory).values():
            yield from (
                replace(one, what=f"{folder.name}: {one.what}") for one in examine_run(folder)
            )
        return
    yield from _strays(directory)
    try:
        with Ledger.open(directory / LEDGER) as ledger:
            # All of them before any is told: the last question below depends on how they ended.
            checks = [
                tried(what, partial(look, ledger, directory)) for what, look in _LEDGER.items()
            ]
            yield from checks
            # A consensus run has decisions and no sheet.
            if "command" not in ledger.provenance:
                yield from _what_was_made(ledger, directory)
    except JudgesheetError as error:
        checks = [Diagnosis("ledger", "failed", str(error))]
        yield from checks
    if any(check.status == "failed" for check in checks):
        yield tried("what can be saved", partial(_remains, directory))


def save_run(directory: Path, target: Path) -> Diagnosis:
    """Make a new run directory of all that can be read in a damaged one.

    RunError if nothing tells what the replies belong to, or calls of the plan are lost.
    """
    plan, saved = save(directory / LEDGER, directory / PLAN, target / LEDGER)
    write_plan(plan.calls, target / PLAN)
    return Diagnosis(
        "saved",
        "ok",
        f"{counted(saved.attempts, 'attempt, which settles', 'attempts, which settle')} "
        f"{saved.settled:,} of {counted(saved.calls, 'call')}: "
        f"`judgesheet measure {target}` makes a sheet of them, the same probe with --out {target} "
        "asks for the rest",
    )


# -- the ledger ------------------------------------------------------------------------------------


def _integrity(ledger: Ledger, _directory: Path) -> Diagnosis | str:
    if faults := ledger.integrity():
        return Diagnosis("ledger", "failed", f"{len(faults)} faults, the first: {faults[0][:200]}")
    return f"schema {ledger.get_meta('schema_version')}, and SQLite finds nothing wrong with it"


def _calls(ledger: Ledger, _directory: Path) -> Diagnosis | str:
    wrong, ids = 0, []
    for call in ledger.calls():
        wrong += replace(call).id != call.id
        ids.append(call.id)
    if wrong:
        return Diagnosis("calls", "failed", f"{wrong:,} of {len(ids):,} are not what was asked")
    if not planned_first(ids, ledger.get_meta("plan")):
        return Diagnosis("calls", "failed", f"these {len(ids):,} are not those of its plan")
    return f"{len(ids):,}, each with the id of its content"


def _replies(ledger: Ledger, _directory: Path) -> Diagnosis | str:
    totals, odd = ledger.totals(), ledger.miscounts()
    if odd:
        text = ", ".join(f"{count:,} {what}" for what, count in odd.items())
        return Diagnosis("replies", "failed", text)
    attempts = counted(totals.attempts, "attempt settles", "attempts settle")
    text = f"{attempts} {totals.settled:,} of {counted(totals.planned, 'call')}"
    if totals.settled < totals.planned:
        return Diagnosis("replies", "note", f"{text}, each once; the same command resumes it")
    return f"{text}, each once"


def _plan(ledger: Ledger, directory: Path) -> Diagnosis | str:
    again = "the same probe writes it again"
    if not (directory / PLAN).is_file():
        if "command" in ledger.provenance or ledger.settings().get("reply") == "recorded":
            return "there is none, as such a run needs none"
        return Diagnosis(PLAN, "missing", f"there is none; {again}")
    ids = [call.id for call in ledger.calls()]
    kept = ids[: planned_first(ids, ledger.get_meta("plan"))]
    lines = (call_of(record) for record, _ in records(directory / PLAN, LONGEST_DOCUMENT))
    try:
        for number, (line, known) in enumerate(zip_longest(lines, kept), start=1):
            if line is None or line.id != known:
                fault = f"line {number} is not that call of the ledger; {again}"
                return Diagnosis(PLAN, "failed", fault)
    except StimuliError as error:
        return Diagnosis(PLAN, "failed", f"{error}; {again}")
    return f"{counted(len(kept), 'call')}, those of the ledger"


_LEDGER: Mapping[str, Callable[[Ledger, Path], Diagnosis | str]] = {
    "ledger": _integrity,
    "calls": _calls,
    "replies": _replies,
    PLAN: _plan,
}


def _remains(directory: Path) -> Diagnosis:
    count = readable(directory / LEDGER)
    how = (
        f": `judgesheet doctor {directory} --save NEW_FOLDER` makes a run of them" if count else ""
    )
    return Diagnosis("what can be saved", "note", f"{counted(count, 'attempt')} can be read{how}")


# -- what was made of it ---------------------------------------------------------------------------


def _what_was_made(ledger: Ledger, directory: Path) -> Iterator[Diagnosis]:
    from judgesheet.commands.judgment_table import form_of, judgments
    from judgesheet.measuring.assemble import assemble
    from judgesheet.measuring.measure import measure

    try:
        measured = measure(ledger)
        sheet = assemble(ledger, measured)
    except JudgesheetError as error:
        yield Diagnosis("reading", "failed", str(error))
        return
    yield tried(DATASHEET, partial(_sheet, directory, sheet))
    table = form_of(directory)
    yield tried(table, partial(_table, directory / table, judgments(measured.readings)))


def _sheet(directory: Path, made: Datasheet) -> Diagnosis | str:
    anew = ANEW.format(directory)
    if not (directory / DATASHEET).is_file():
        return Diagnosis(DATASHEET, "missing", f"there is none; {anew}")
    try:
        held = from_json(directory / DATASHEET)
    except JudgesheetError as error:
        return Diagnosis(DATASHEET, "failed", f"{error}; {anew}")
    if origin := other_origin(held, made):
        return Diagnosis(DATASHEET, "failed", f"{origin} is not that of this ledger; {anew}")
    if differs := next(differences(held, made), None):
        if _read_by(held) != _read_by(made):
            fault = f"another version of the programs computed it ({differs.place} differs); {anew}"
            return Diagnosis(DATASHEET, "note", fault)
        fault = f"{differs.place} is not that of this ledger; {anew}"
        return Diagnosis(DATASHEET, "failed", fault)
    return "made from this ledger"


def _read_by(sheet: Datasheet) -> list[Any]:
    return [sheet.provenance.get(part) for part in ("judgesheet", "measured_with", "axis_code")]


def _table(path: Path, made: "pd.DataFrame") -> Diagnosis | str:
    from judgesheet.commands.judgment_table import is_alike

    anew = ANEW.format(path.parent)
    if not path.is_file():
        return Diagnosis(path.name, "missing", f"there is none; {anew}")
    try:
        alike = is_alike(path, made)
    except MissingDependencyError as error:
        return Diagnosis(path.name, "note", str(error))
    except RunError as error:
        return Diagnosis(path.name, "failed", f"{error}; {anew}")
    if not alike:
        return Diagnosis(path.name, "failed", f"its rows are not those of this ledger; {anew}")
    return f"{counted(len(made), 'row')}, those of the ledger"


def _strays(directory: Path) -> Iterator[Diagnosis]:
    """What a killed process left; the ledger's own goes in when the ledger is next opened."""
    for name in sorted(path.name for path in directory.glob(".*.part")):
        why = "left by a killed process, or being written now: remove it only if no process is"
        yield Diagnosis(name, "note", why)
    for end in ("-wal", "-journal"):
        if (directory / f"{LEDGER}{end}").exists():
            why = "it belongs to the ledger, and is merged when that is opened"
            yield Diagnosis(f"{LEDGER}{end}", "note", why)
