"""What `probe`, `measure`, `ingest` and `consensus` print of a run."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, NoReturn

from judgesheet.base.datasheet import by_key, to_json
from judgesheet.base.errors import UsageError
from judgesheet.base.files import write_whole
from judgesheet.base.records import Datasheet
from judgesheet.commands.sheets import Run
from judgesheet.commands.terminal import say, say_json, say_lines, say_markdown

if TYPE_CHECKING:
    from judgesheet.collect.collect import Progress

INCOMPLETE = 5
"""The exit code of a run that can be resumed, apart from errors (1) and wrong use (2)."""


def report(run: Run, *, as_json: bool, verbose: bool = False) -> None:
    """Print the datasheet itself, or its decision and where it is.

    What failed is printed on standard error.
    """
    from judgesheet.sheet.identity import failures, refusals

    sheet = run.datasheet
    failed = (f"failed attempts: {kind}" for kind in failures(sheet.run))
    for trouble in (*refusals(sheet.run.refused_parameters), *failed):
        say(trouble, err=True)
    if as_json:
        say_json(to_json(sheet))
        return
    say_decision(sheet, verbose=verbose)
    if sheet.decision is None and sheet.run.complete:
        _say_policies(run.directory, sheet)
    for name in ("datasheet.pdf", "datasheet.html", "datasheet.json"):
        if (run.directory / name).is_file():
            say(run.directory / name)


def say_decision(sheet: Datasheet, *, verbose: bool, run: Path | None = None) -> None:
    """What was decided in a few lines; `verbose` adds every limit and every effect.

    `run` is the directory that the sheet lies in, for the commands that show more of it.
    """
    from judgesheet.sheet import terminal
    from judgesheet.sheet.verdicts import as_text

    if not verbose:
        say_lines("\n".join(terminal.lines(sheet)))
        return
    say_lines("\n".join(terminal.lines(sheet, most=sys.maxsize)))
    for sign, text in terminal.effects(sheet):
        say_lines("\n".join(terminal.wrapped(sign, text)))
    if sheet.decision is not None:
        say_lines(as_text(sheet, run))


def _say_policies(directory: Path, sheet: Datasheet) -> None:
    """The command that decides, and what it can decide by, with how much of it was measured.

    No call is made. The policy of which most was measured stands first: others may decide nothing.
    """
    from judgesheet.decide import policy as policies
    from judgesheet.decide.gate import members

    say("To decide, apply a policy to these replies; nothing is asked again:")
    say(f"  judgesheet measure {quote(str(directory))} --policy NAME")
    found = {key: one for key, one in by_key(sheet).items() if one.value is not None}
    ranked = []
    for name in policies.shipped():
        rules = policies.load(name)
        has = sum(any(key in found for key in members(one.key, found)) for one in rules.limit)
        text = f"    {name:15} {rules.title} ({has} of {len(rules.limit)} limits measured)"
        ranked.append((-has / len(rules.limit), text))
    for _, text in sorted(ranked):
        say(text)


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


def exit_incomplete(what: str, progress: "Progress | None", if_failed: str = "") -> NoReturn:
    """Say how to complete the run, with `if_failed` added where calls failed, and exit with 5."""
    spent = progress.stopped if progress is not None else None
    # A budget of the run is spent for good; one of the session begins anew by itself.
    of_run = spent if spent in {"max_cost", "max_total_tokens"} else None
    how = f"with a higher --{of_run.replace('_', '-')} " if of_run else ""
    failed = if_failed if progress is not None and progress.failed else ""
    say(f"{what} not complete; {how}the same command resumes it{failed}.", err=True)
    raise SystemExit(INCOMPLETE)
