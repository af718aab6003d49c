"""From a ledger to the files of its run directory: the sheet in every format, and the table."""

from collections.abc import Collection, Mapping
from pathlib import Path

from judgesheet.axis import Readings
from judgesheet.base.files import remove, write_whole
from judgesheet.base.keys import Key
from judgesheet.base.limits import MOST_CALLS_OF_A_PAGE
from judgesheet.base.records import Datasheet
from judgesheet.commands.judgment_table import write_table
from judgesheet.decide import decide
from judgesheet.decide.policy import Policy
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import CASES
from judgesheet.measuring.assemble import assemble
from judgesheet.measuring.cases import read_by, shown_calls
from judgesheet.measuring.measure import measure
from judgesheet.sheet import FORMATS, case_page, write


def publish(
    ledger: Ledger,
    directory: Path,
    policy: Policy | None,
    *,
    to: Collection[str] = FORMATS,
    pdf: bool = True,
    cases: bool = True,
) -> Datasheet:
    """Measure the ledger, apply the policy, and write the sheet, the table and the cases.

    The page of the cases belongs to the sheet in HTML, which links to it.
    """
    forms = formats(directory, to, pdf=pdf)
    measured = measure(ledger)
    sheet = decide(assemble(ledger, measured), policy)
    write_table(measured.readings, directory)
    if cases and "html" in forms and (sheet.run.planned or 0) <= MOST_CALLS_OF_A_PAGE:
        write_cases(ledger, measured.readings, sheet, directory / CASES)
    else:
        remove(directory / CASES)  # that of an earlier sheet
    write(sheet, directory, forms)
    return sheet


def formats(directory: Path, to: Collection[str], *, pdf: bool) -> list[str]:
    """What to write: the sheet, and what else is wanted; the rest of an earlier sheet goes."""
    sheet, *others = FORMATS
    wanted = [form for form in others if form in to and (pdf or form != "pdf")]
    for form in others:
        if form not in wanted:
            remove(directory / f"datasheet.{form}")
    return [sheet, *wanted]


def write_cases(
    ledger: Ledger, readings: Mapping[str, Readings], sheet: Datasheet, path: Path
) -> None:
    """The page of all calls, and of those that each figure of a sheet reads."""
    keys = [Key.parse(one.key) for axis in sheet.axes for one in axis.estimates]
    calls = [*shown_calls(ledger, readings)]
    write_whole(path, case_page.render(calls, read_by(ledger, keys), sheet))
