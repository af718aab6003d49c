"""`judgesheet compare`: what changed from one datasheet to others."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgesheet.base.files import write_whole
from judgesheet.base.records import Datasheet
from judgesheet.commands.options import ACROSS, EXISTING, PATH, option
from judgesheet.commands.sheets import load
from judgesheet.commands.terminal import say, say_json, say_lines

if TYPE_CHECKING:
    from judgesheet.decide.compare import Comparison


def compare(
    old: str | Path,
    new: str | Path,
    *others: str | Path,
    force: bool = False,
    across_prompts: bool = False,
) -> "list[Comparison]":
    """What changed from `old` to `new` (and to each of `others`), with intervals and verdicts.

    Each is a run directory or a datasheet.json. Of two run directories with the same stimuli the
    differences are paired by stimulus. `across_prompts` compares two prompts on the same stimuli,
    `force` even answers to different questions.
    """
    once, first = partial(comparison_of, force=force, across_prompts=across_prompts), load(old)
    return [once((old, one), (first, load(one))) for one in (new, *others)]


def comparison_of(
    sources: tuple[str | Path, str | Path],
    sheets: tuple[Datasheet, Datasheet],
    *,
    force: bool,
    across_prompts: bool,
) -> "Comparison":
    """Paired where both are run directories; that alone needs the arithmetic libraries."""
    from judgesheet.decide import compare as comparing
    from judgesheet.ledger.run_directory import LEDGER

    compared = partial(comparing.compare, *sheets, force=force, across_prompts=across_prompts)
    comparison = compared()  # refuses before the long part
    old, new = map(Path, sources)
    if not (old.is_dir() and new.is_dir()):
        return comparison
    from judgesheet.decide.paired import correlations

    paired = correlations(old / LEDGER, new / LEDGER, sheets)
    return compared(paired)


@click.command("compare")
@click.argument("old", type=EXISTING)
@click.argument("new", type=EXISTING, nargs=-1, required=True)
@option("--to", "form", type=click.Choice(["md", "html", "json"]), default="md", help="Format.")
@option("--out", type=PATH, help="File to write. [standard output]")
@ACROSS
@option("--force", is_flag=True, help="Compare sheets that answer different questions.")
@option("--json", "as_json", is_flag=True, help="The same as --to json.")
def command(
    old: Path,
    new: tuple[Path, ...],
    form: str,
    out: Path | None,
    as_json: bool,
    across_prompts: bool,
    force: bool,
) -> None:
    """Compare datasheets with the first one: differences, intervals and verdicts.

    Each is a run directory or a datasheet.json; two run directories on the same stimuli are
    compared stimulus by stimulus.
    """
    from judgesheet.sheet import comparison

    changes = compare(old, *new, force=force, across_prompts=across_prompts)
    text = comparison.render(changes, "json" if as_json else form)
    if out is None:
        (say_json if as_json or form == "json" else say_lines)(text)
    else:
        write_whole(out, text.encode())
        say(out)
