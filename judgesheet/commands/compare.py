"""`judgesheet compare`: what changed from one datasheet to others."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgesheet.base.records import Datasheet
from judgesheet.commands.options import ACROSS, EXISTING, OWN_FUNCTION, document, option
from judgesheet.commands.reporting import say_document
from judgesheet.commands.sheets import load
from judgesheet.sheet import Paper

if TYPE_CHECKING:
    from judgesheet.axis import Readings
    from judgesheet.decide.agreement import Agreed
    from judgesheet.decide.compare import Comparison


def compare(
    old: str | Path,
    new: str | Path,
    *others: str | Path,
    force: bool = False,
    across_prompts: bool = False,
) -> "list[Comparison]":
    """What changed from `old` to `new` (and to each of `others`), with intervals and verdicts.

    A comparison for each sheet after the first. A difference is new minus old in the unit of its
    figure, with a 95 % interval; a verdict needs p < .05 after Holm's correction over the figures.

    Each is a run directory or a datasheet.json. Of two run directories with the same stimuli the
    differences are paired by stimulus and call, and `agreement` says how far the two judges agree.
    `across_prompts` compares two prompts on the same stimuli, `force` even answers to different
    questions.

    RunError if a sheet cannot be read, or if they answered different questions.
    """
    from judgesheet.decide import compare as comparing

    sources = (old, new, *others)
    first, *rest = map(load, sources)
    with_settings = partial(comparing.compare, force=force, across_prompts=across_prompts)
    compared = [partial(with_settings, first, sheet) for sheet in rest]
    for one in compared:
        one()  # refuses before the long part
    runs = [readings(one) for one in sources]
    return [
        replace(_paired(one, (runs[0], run)), sources=(str(old), str(source)),
                agreement=_agreement(runs[0], run))
        for one, run, source in zip(compared, runs[1:], sources[1:], strict=True)
    ]  # fmt: skip


def _agreement(
    old: "Mapping[str, Readings]", new: "Mapping[str, Readings]"
) -> "tuple[Agreed, ...]":
    if not old or not new:
        return ()
    from judgesheet.decide.agreement import agreement

    return agreement((old, new))


def comparison_of(
    sources: tuple[str | Path, str | Path],
    sheets: tuple[Datasheet, Datasheet],
    wanted: Collection[str] | None = None,
    *,
    force: bool,
    across_prompts: bool,
) -> "Comparison":
    """Of two sheets, paired where both sources are run directories.

    `wanted` are the keys of the figures that are decided about, None for all.
    """
    from judgesheet.decide import compare as comparing

    compared = partial(comparing.compare, *sheets, force=force, across_prompts=across_prompts)
    compared()  # refuses before the long part
    old, new = map(readings, sources)
    return _paired(compared, (old, new), wanted)


def _paired(
    compared: "Callable[..., Comparison]",
    runs: "tuple[Mapping[str, Readings], Mapping[str, Readings]]",
    wanted: Collection[str] | None = None,
) -> "Comparison":
    """Paired where there are readings of both; that alone needs the arithmetic libraries."""
    comparison = compared()
    if not all(runs):
        return comparison
    from judgesheet.decide.paired import pairings

    known = (row for row in comparison.differences if row.low is not None)
    keys = {row.key for row in known if wanted is None or {row.key, row.debiases} & {*wanted}}
    return compared(pairings(*runs, keys))


def readings(source: str | Path) -> "dict[str, Readings]":
    """What the judge of a run directory answered; nothing where there is no ledger."""
    from judgesheet.ledger.run_directory import LEDGER

    ledger = Path(source) / LEDGER
    if not ledger.is_file():
        return {}
    from judgesheet.ledger.ledger import Ledger
    from judgesheet.measuring.measure import read_known

    with Ledger.open(ledger) as opened:
        return read_known(opened)


@click.command("compare")
@click.argument("old", type=EXISTING)
@click.argument("new", type=EXISTING, nargs=-1, required=True)
@ACROSS
@OWN_FUNCTION
@option("--force", is_flag=True, help="Compare sheets that answer different questions.")
@document("md", "html", "pdf", "json")
def command(
    old: Path,
    new: tuple[Path, ...],
    across_prompts: bool,
    force: bool,
    formats: dict[str, Path | None],
    paper: Paper,
    as_json: bool,
) -> None:
    """Compare datasheets with the first one: differences, intervals and verdicts.

    Each is a run directory or a datasheet.json; two run directories on the same stimuli are
    compared call by call.
    """
    from judgesheet.sheet.comparison import render

    changes = compare(old, *new, force=force, across_prompts=across_prompts)
    say_document(lambda form: render(changes, form, paper), formats, as_json=as_json)
