"""`judgesheet render`: a datasheet that is there in other formats."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from judgesheet.base import defaults
from judgesheet.base.errors import UsageError
from judgesheet.base.files import write_whole
from judgesheet.commands.options import EXISTING, PAPER, PATH, option, to_file
from judgesheet.commands.sheets import load, sheet_of
from judgesheet.commands.terminal import say
from judgesheet.sheet import RENDERERS, Paper, renderer, write
from judgesheet.sheet import render as sheet_in


def render(
    source: str | Path,
    formats: Sequence[str] | Mapping[str, str | Path | None],
    out: str | Path | None = None,
    paper: Paper = defaults.PAPER,
    template: str | Path | None = None,
) -> list[Path]:
    """Write the datasheet of a run directory or a datasheet.json in these formats.

    A mapping names the file of a format. Other files land beside the source, or in the folder
    `out`. A datasheet.json that is rendered as JSON where it lies stays as it is. A
    `template`, a file NAME.html.jinja, replaces the built-in one of HTML and PDF.

    RunError if there is no sheet, UsageError if a format does not exist, TemplateError if the
    template has a fault, MissingDependencyError for a PDF without Pango.
    """
    from judgesheet.ledger.run_directory import DATASHEET

    sheet, file = load(source), sheet_of(source)
    directory = Path(out) if out is not None else file.parent
    named = formats if isinstance(formats, Mapping) else dict.fromkeys(formats)
    files = {form: Path(place) for form, place in named.items() if place is not None}
    rest = [form for form in named if form not in files]
    _refuse_file(directory, rest)
    if template is not None:
        from judgesheet.sheet import own

        places = {form: directory / f"datasheet.{form}" for form in rest} | files
        return own.write(sheet, own.found(template), places, paper)
    for form, path in files.items():
        write_whole(path, sheet_in(sheet, form, paper))
    there = directory / DATASHEET
    # Written anew by a later version it would no longer be the file whose digest others hold.
    itself = ["json"] if there.exists() and there.samefile(file) else []
    others = [form for form in rest if form not in itself]
    written = [*files.values(), *write(sheet, directory, others, paper)]
    return written if len(others) == len(rest) else [*written, there]


def _refuse_file(directory: Path, formats: Sequence[str]) -> None:
    """UsageError for `--out sheet.pdf`, which would become a folder of that name."""
    for form in formats:
        if (
            directory.suffix == f".{renderer(form).SUFFIX.split('.')[-1]}"
            and not directory.is_dir()
        ):
            raise UsageError(f"--out names a folder: for a file write --to {form}={directory}")


@click.command("render")
@click.argument("source", type=EXISTING)
@to_file(*RENDERERS, meaning="A format, and its file. [datasheet.… in --out]", required=True)
@option("--out", type=PATH, help="Folder to write to. [beside the source]")
@option("--template", metavar="FILE", help="NAME.html.jinja in place of the built-in template.")
@PAPER
def command(**options: Any) -> None:
    """Write a datasheet (run directory or datasheet.json) in other formats."""
    for path in render(**options):
        say(path)
