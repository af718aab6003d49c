"""`judgesheet attach`: the judge's section in a model card."""

from pathlib import Path
from typing import Any

import click

from judgesheet.base import defaults
from judgesheet.commands.options import EXISTING, PAPER, option
from judgesheet.commands.sheets import load
from judgesheet.commands.terminal import say
from judgesheet.sheet import Paper


def attach(
    card: str | Path,
    source: str | Path,
    *,
    metadata: bool = False,
    paper: Paper = defaults.PAPER,
) -> list[Path]:
    """Insert or replace the judge's section in a model card and put the PDF beside it.

    `metadata` also puts the model-index into the card's front matter. Returns what was written.

    RunError if there is no sheet.
    """
    from judgesheet.sheet.attach import attach as attach_section

    return attach_section(Path(card), load(source), with_metadata=metadata, paper=paper)


@click.command("attach")
@click.argument("card", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("source", type=EXISTING, metavar="DATASHEET")
@option("--metadata", is_flag=True, help="Also put the model-index into the card's front matter.")
@PAPER
def command(**options: Any) -> None:
    """Insert or replace the judge's section in a model card, and put the PDF beside it.

    DATASHEET is a run directory or a datasheet.json. Everything outside the markers of the section
    stays the same, byte for byte.
    """
    for path in attach(**options):
        say(path)
