"""Is the ledger of a run whole? One line per check."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from judgesheet.base.digits import counted
from judgesheet.base.errors import JudgesheetError
from judgesheet.commands.checkup import Diagnosis, tried
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import LEDGER
from judgesheet.planning.plan import planned_first


def examine_run(directory: Path) -> Iterator[Diagnosis]:
    """Check the ledger of a run; nothing is changed."""
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
