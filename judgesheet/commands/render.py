"""`judgesheet render`: a datasheet that is there in other formats."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from judgesheet.base import defaults
from judgesheet.base.errors import UsageError
from judgesheet.commands.options import EXISTING, PAPER, PATH, option
from judgesheet.commands.sheets import load, sheet_of
from judgesheet.commands.terminal import say
from judgesheet.sheet import RENDERERS, Paper, renderer, write


def render(
    source: str | Path,
    formats: Sequence[str],
    out: str | Path | None = None,
    paper: Paper = defaults.PAPER,
    template: str | Path | None = None,
) -> list[Path]:
    """Write the datasheet of a run directory or a datasheet.json in these formats.

    Files land beside the source unless `out` names another folder. A datasheet.json that is
    rendered as JSON where it lies stays as it is. With a `template`, a file NAME.html.jinja or the
    name of a shipped one, NAME.html and NAME.pdf are written instead.
    """
    from judgesheet.ledger.run_directory import DATASHEET

    sheet, file = load(source), sheet_of(source)
    directory = Path(out) if out is not None else file.parent
    _refuse_file(directory, formats)
    if template is not None:
        from judgesheet.sheet import own_template

        return own_template.write(sheet, own_template.found(template), directory, tuple(formats))
    there = directory / DATASHEET
    # Written anew by a later version it would no longer be the file whose digest others hold.
    itself = ["json"] if there.exists() and there.samefile(file) else []
    others = [form for form in formats if form not in itself]
    written = write(sheet, directory, others, paper)
    return written if len(others) == len(formats) else [*written, there]


def _refuse_file(directory: Path, formats: Sequence[str]) -> None:
    """UsageError for `--out sheet.pdf`, which would become a folder of that name."""
    names = [f"datasheet.{renderer(form).SUFFIX}" for form in formats]
    for name in names:
        if directory.suffix == Path(name).suffix and not directory.is_dir():
            raise UsageError(f"--out {directory} is the name of a file: name a folder for {name}")


@click.command("render")
@click.argument("source", type=EXISTING)
@option("--to", "formats", multiple=True, required=True, type=click.Choice(list(RENDERERS)),
        help="Format; repeatable.")  # fmt: skip
@option("--out", type=PATH, help="Folder to write to. [beside the source]")
@option(
    "--template", metavar="FILE|NAME", help="A page of your own, NAME.html.jinja, or a shipped one."
)
@PAPER
def command(**options: Any) -> None:
    """Write a datasheet (run directory or datasheet.json) in other formats."""
    for path in render(**options):
        say(path)
