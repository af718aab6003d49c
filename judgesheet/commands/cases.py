"""`judgesheet cases`: the replies behind a figure."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from judgesheet.base.arguments import checked
from judgesheet.base.errors import UsageError
from judgesheet.base.records import Casebook
from judgesheet.commands.option_types import as_dict, pair
from judgesheet.commands.options import EXISTING, JSON, PATH, option
from judgesheet.commands.sheets import load
from judgesheet.commands.terminal import say, say_json, say_parts, width


@checked
def cases(
    directory: str | Path,
    key: str | None = None,
    *,
    axis: str | None = None,
    stimulus: str | None = None,
    cell: Mapping[str, str] | None = None,
    outcome: str | None = None,
    verdict: str | None = None,
    html: str | Path | None = None,
) -> Casebook:
    """The replies behind a figure of a run, the worst first; no call is made.

    Without a `key`: every call on the `stimulus`, or without one the calls without a verdict, by
    the shape of what came instead. `axis`, `stimulus` and `cell` choose calls, `outcome` (one of
    `records.Outcome`, or `unreadable`) and `verdict` cases with a call of this outcome or verdict.
    `html` names a file for a page to browse every call and the cases behind every figure.

    RunError if there is no such run, UsageError if the key or a filter means nothing in it.
    """
    from judgesheet.collect.knob import recall
    from judgesheet.commands.publish import write_cases
    from judgesheet.ledger.ledger import Ledger
    from judgesheet.ledger.run_directory import LEDGER
    from judgesheet.measuring.cases import Filters, casebook, chosen_keys
    from judgesheet.measuring.measure import read_all

    directory = Path(directory)
    if (knob := recall(directory)) is not None:
        folders = ", ".join(str(folder) for folder in knob.begun(directory).values())
        raise UsageError(f"{directory} holds a run for each setting; give one of {folders}")
    filters = Filters(stimulus, cell or {}, outcome, verdict)
    with Ledger.open(directory / LEDGER) as ledger:
        readings = read_all(ledger)
        book = casebook(ledger, readings, chosen_keys(readings, key, axis, stimulus), filters)
        if html is not None:
            write_cases(ledger, readings, load(directory), Path(html))
    return book


@click.command("cases")
@click.argument("directory", type=EXISTING)
@click.argument("key", required=False)
@option("--axis", help="Only this axis.")
@option("--stimulus", metavar="ID", help="Only calls on this stimulus.")
@option("--cell", multiple=True, type=pair("--cell", "K=V", "arm=fixed", str), callback=as_dict,
        metavar="K=V", help="Only calls in this experimental condition; repeatable.")  # fmt: skip
@option(
    "--outcome", help="Only cases with a call of this outcome: ok, unreadable, refused, timeout."
)
@option("--verdict", help="Only cases with this verdict.")
@option("--limit", type=click.IntRange(1), default=5, help="Cases of a figure, or of each group.")
@option("--html", type=PATH, help="Also write a page to browse every call and figure.")
@JSON
def command(limit: int, html: Path | None, as_json: bool, **options: Any) -> None:
    """Show the replies behind a figure of a run, the worst first. No call is made.

    KEY is that of an estimate, such as axis.name[dim=value]. Without a KEY: every call on the
    --stimulus, or without one the calls without a verdict, grouped by the form of the reply, and
    what would read them.
    """
    from judgesheet.sheet import cases as shown

    book = cases(html=html, **options)
    if as_json:
        say_json(shown.as_json(book, limit))
        return
    for line in shown.as_lines(book, limit, width(160)):
        say_parts(line)
    if html is not None:
        say(html)
