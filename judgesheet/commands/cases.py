"""`judgesheet cases`: the calls that a figure reads, with prompts and replies."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from judgesheet.base.records import ShownCall
from judgesheet.commands.option_types import as_dict, pair
from judgesheet.commands.options import EXISTING, JSON, OWN_FUNCTION, PATH, option
from judgesheet.commands.sheets import load
from judgesheet.commands.terminal import say, say_json, say_lines, width


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
) -> tuple[ShownCall, ...]:
    """The calls of a run that the figure `key` reads, in plan order; without a key all of them.

    The other arguments keep some of them: `outcome` is one of `records.Outcome`, `unreadable`, `not
    asked`, or `lost` for any without a verdict. `html` names a file for a page with all calls and
    the same filters.

    RunError if there is no such run, UsageError if the key or a filter means nothing in it.
    """
    from judgesheet.commands.publish import write_cases
    from judgesheet.ledger.ledger import Ledger
    from judgesheet.ledger.run_directory import LEDGER
    from judgesheet.measuring.cases import Filters, known, read_by, require_asked, shown_calls
    from judgesheet.measuring.measure import read_all

    directory = Path(directory)
    filters = Filters(axis, stimulus, cell or {}, outcome, verdict)
    figure = None if key is None else known(key)
    with Ledger.open(directory / LEDGER) as ledger:
        readings = read_all(ledger)
        filters.check(readings)
        calls = filter(filters.keep, shown_calls(ledger, readings))
        if figure is not None:
            require_asked(figure.axis, readings)
            read = frozenset(read_by(ledger, [figure])[str(figure)])
            calls = filter(lambda shown: shown.call.id in read, calls)
        found = tuple(calls)
        if html is not None:
            write_cases(ledger, readings, load(directory), Path(html))
    return found


@click.command("cases")
@click.argument("directory", type=EXISTING)
@click.argument("key", required=False)
@option("--axis", help="Only this axis.")
@option("--stimulus", metavar="ID", help="Only calls on this stimulus.")
@option("--cell", multiple=True, type=pair("--cell", "K=V", "arm=fixed", str), callback=as_dict,
        metavar="K=V", help="Only calls in this experimental condition; repeatable.")  # fmt: skip
@option("--outcome", help="Only calls that ended so: ok, unreadable, refused, timeout; lost: any "
        "without a verdict.")  # fmt: skip
@option("--verdict", help="Only calls with this verdict.")
@option("--limit", type=click.IntRange(1), default=5, help="Calls to show.")
@OWN_FUNCTION
@option("--html", type=PATH, help="Also write a page to browse every call and figure.")
@JSON
def command(limit: int, html: Path | None, as_json: bool, **options: Any) -> None:
    """Show the calls that a figure of a run reads, with prompts and replies. No call is made.

    KEY is that of an estimate, such as axis.name[dim=value]. Without a KEY: every call.
    """
    from judgesheet.sheet import cases as shown

    found = cases(html=html, **options)
    if as_json:
        say_json(shown.as_json(found, limit))
        return
    say_lines("\n".join(shown.as_lines(found, limit, width(160))))
    if html is not None:
        say(html)
