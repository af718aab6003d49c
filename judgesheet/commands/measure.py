"""`judgesheet measure`: the datasheet of a run, made again from its ledger."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from judgesheet.commands.options import (
    EXISTING,
    JSON,
    NO_CASES,
    NO_PDF,
    POLICY,
    VERBOSE,
    axis_files,
    option,
)
from judgesheet.commands.policy import load_policy
from judgesheet.commands.reporting import report
from judgesheet.commands.sheets import Run
from judgesheet.commands.terminal import say
from judgesheet.sheet import FORMATS


def measure(
    directory: str | Path,
    parsers: Mapping[str, str | Path] | None = None,
    policy: str | Path | None = None,
    *,
    to: Sequence[str] | set[str] = (),
    pdf: bool = True,
    cases: bool = True,
) -> Run:
    """Recompute and render the datasheet of a run directory from its ledger.

    The sheet itself, `datasheet.json`, is always written; `to` names the other formats that are
    wanted (default: all), and those of an earlier sheet that are not are removed.

    `parsers` (axis -> file) read the stored replies from now on; the ledger remembers those before.
    Without a `policy` the sheet carries no verdicts, whatever it carried before.

    RunError if there is no run or its ledger is damaged, ParserError, PolicyError if a file has a
    fault.
    """
    from judgesheet.commands.publish import publish
    from judgesheet.ledger.ledger import Ledger
    from judgesheet.ledger.run_directory import LEDGER
    from judgesheet.measuring.parsing import replace_parsers

    directory, rules, forms = Path(directory), load_policy(policy), to or FORMATS
    if parsers:
        replace_parsers(directory / LEDGER, parsers)
    with Ledger.open(directory / LEDGER) as ledger:
        sheet = publish(ledger, directory, rules, to=forms, pdf=pdf, cases=cases)
    return Run(directory, sheet)


@click.command("measure")
@click.argument("directory", type=EXISTING)
@axis_files("parser", "Read the stored replies with this parser from now on.")
@POLICY
@option("--to", multiple=True, type=click.Choice(FORMATS),
        help="Format to write besides datasheet.json; repeatable. [all]")  # fmt: skip
@NO_PDF
@NO_CASES
@VERBOSE
@JSON
def command(verbose: bool, as_json: bool, **options: Any) -> None:
    """Recompute a datasheet from its ledger. No call is made."""
    run = measure(**options)
    report(run, as_json=as_json, verbose=verbose)
    if not run.datasheet.run.complete:
        say("The run is not complete.", err=True)
