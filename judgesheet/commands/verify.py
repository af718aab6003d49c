"""`judgesheet verify`: whether a sheet matches its run."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgesheet.commands.options import EXISTING, JSON, OWN_FUNCTION, POLICIES, option
from judgesheet.commands.terminal import say, say_record

if TYPE_CHECKING:
    from judgesheet.commands.verification import Verification


def verify(
    file: str | Path, run: str | Path | None = None, *, policy: str | Path | None = None
) -> "Verification":
    """Check a datasheet.json, or the PDF that holds one, against itself and its `run`.

    A folder is a run, of which the datasheet.json is checked against it.
    `differences` are sentences, none where every field of the sheet is what its run gives: figures,
    counts and facts from the ledger; controls, effects and decision from the figures; verdicts
    from a shipped policy or the one that is given; the pages of a PDF from its JSON.
    Without a run it is compared with what its own figures give. Under a `policy` the judge is
    decided anew: `decision`. A sheet of an `other_version` can only contradict itself. RunError if
    the file is no datasheet.
    """
    from judgesheet.commands.verification import verification
    from judgesheet.decide import policy as policies
    from judgesheet.ledger.run_directory import DATASHEET

    rules = None if policy is None else policies.load(policy)
    sheet, folder = Path(file), None if run is None else Path(run)
    if sheet.is_dir():
        sheet, folder = sheet / DATASHEET, folder or sheet
    return verification(sheet, folder, rules)


@click.command("verify")
@click.argument("file", type=EXISTING)
@option("--run", type=click.Path(path_type=Path, exists=True, file_okay=False),
        help="The run it was made from; every figure is computed again.")  # fmt: skip
@OWN_FUNCTION
@option("--policy", metavar="FILE|NAME",
        help=f"Decide again under these limits: {POLICIES}")  # fmt: skip
@JSON
def command(file: Path, run: Path | None, policy: str | None, as_json: bool) -> None:
    """Check whether a sheet (datasheet.json, a PDF that holds it, or a run) matches its run.

    Exits 0 if it does, 3 with one sentence per difference if not, 4 if only another version of
    judgesheet can tell. With --policy also as `gate` does: 3 for DO NOT ADOPT, 4 for MEASURE MORE.
    """
    from judgesheet.decide import EXIT_CODES, FAILED, NOT_PROVEN

    found = verify(file, run, policy=policy)
    if as_json:
        say_record(asdict(found))
    else:
        say(f"sha256 {found.sha256}  {found.judge}")
        for difference in found.differences:
            say(difference)
        for what in found.notes:
            say(f"not compared: {what}")
        if found.other_version:
            by = found.other_version
            say(f"Only judgesheet {by} can compute this sheet again: install it, then verify.")
        elif not found.differences:
            say("apart from that, nothing differs" if found.notes else "nothing differs")
        if found.decision:
            say(f"Under {found.decision.policy_and_digest}: {found.decision.text}")
    decided = EXIT_CODES[found.decision.verdict] if found.decision else 0
    unknown = NOT_PROVEN if found.other_version else 0
    raise SystemExit(FAILED if found.differences else max(decided, unknown))
