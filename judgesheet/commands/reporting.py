"""What `probe`, `measure`, `ingest` and `consensus` print of a run."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from judgesheet.base.datasheet import to_json
from judgesheet.base.errors import UsageError
from judgesheet.base.files import write_whole
from judgesheet.base.records import Datasheet
from judgesheet.commands.sheets import Run
from judgesheet.commands.terminal import say, say_json, say_lines, say_markdown, say_wrapped

if TYPE_CHECKING:
    from judgesheet.collect.collect import Progress

INCOMPLETE = 5
"""The exit code of a run that can be resumed, apart from errors (1) and wrong use (2)."""
MARKS = {"good": "✓", "bad": "✗", "unknown": "?", "neutral": "·"}


def report(run: Run, *, as_json: bool) -> None:
    """Print the datasheet itself, or what it says and where it is.

    What failed is printed on standard error.
    """
    from judgesheet.sheet.page.identity import failures, refusals
    from judgesheet.sheet.verdicts import as_text

    sheet = run.datasheet
    failed = (f"failed attempts: {kind}" for kind in failures(sheet.run))
    for trouble in (*refusals(sheet.run.refused_parameters), *failed):
        say(trouble, err=True)
    if as_json:
        say_json(to_json(sheet))
        return
    _say_findings(sheet)
    if sheet.decision is not None:
        say_lines(as_text(sheet))
    for name in ("datasheet.pdf", "datasheet.html", "datasheet.json"):
        if (run.directory / name).is_file():
            say(run.directory / name)


def say_document(
    render: Callable[[str], bytes], formats: Mapping[str, Path | None], *, as_json: bool
) -> None:
    """Write a document to the file of each format, and print the one that has none.

    UsageError for two to print, or a PDF.
    """
    forms = {**formats, **({"json": None} if as_json else {})} or {"md": None}
    printed = [form for form, file in forms.items() if file is None]
    if len(printed) > 1 or printed == ["pdf"]:
        raise UsageError(f"only one format is printed, and no PDF: write --to {printed[-1]}=FILE")
    made = {form: render(form) for form in forms}
    for form, file in forms.items():
        if file is not None:
            write_whole(file, made[form])
            say(file, err=bool(printed))
    how = {"json": say_json, "md": say_markdown}
    for form in printed:
        how.get(form, say_lines)(made[form].decode())


def _say_findings(sheet: Datasheet) -> None:
    from judgesheet.sheet.page.parts import axis_title

    for axis in sheet.axes:
        say(f"{axis.title}: {axis.answered} of {axis.planned} calls read")
        for finding in sorted(axis.findings, key=lambda finding: finding.rank):
            if finding.void:
                say_wrapped("∅", f"not usable ({finding.void}): {finding.text}")
            else:
                say_wrapped(MARKS[finding.tone], finding.text)
    for advice in sheet.recommendations:
        if not advice.void:
            say_wrapped("→", f"{axis_title(sheet, advice.axis)}: {advice.text}")


def exit_incomplete(what: str, progress: "Progress | None", if_failed: str = "") -> NoReturn:
    """Say how to complete the run, with `if_failed` added where calls failed, and exit with 5."""
    spent = progress.stopped if progress is not None else None
    # A budget of the run is spent for good; one of the session begins anew by itself.
    of_run = spent if spent in {"max_cost", "max_total_tokens"} else None
    how = f"with a higher --{of_run.replace('_', '-')} " if of_run else ""
    failed = if_failed if progress is not None and progress.failed else ""
    say(f"{what} not complete; {how}the same command resumes it{failed}.", err=True)
    raise SystemExit(INCOMPLETE)
