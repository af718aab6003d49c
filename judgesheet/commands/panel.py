"""`judgesheet panel`: judges that answered the same stimuli, together."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
from annotated_types import Interval

from judgesheet.base.arguments import checked
from judgesheet.base.errors import RunError, UsageError
from judgesheet.base.limits import MOST_JUDGES
from judgesheet.base.sanitize import told_apart
from judgesheet.commands.option_types import Finite
from judgesheet.commands.options import EXISTING, document, option
from judgesheet.commands.reporting import say_document
from judgesheet.commands.sheets import load
from judgesheet.sheet import Paper

if TYPE_CHECKING:
    from judgesheet.panels.result import Panel


@checked
def panel(
    *sources: str | Path, accuracy: Annotated[float, Interval(ge=0, le=1)] | None = None
) -> "Panel":
    """How far judges agree, which few decide best, and where they part; no call is made.

    Each source is a run directory, or a datasheet.json that lies in its run directory: verdicts are
    in the run, a sheet alone has none. Only choices between two responses are read.
    `accuracy` is the share right that the cheapest way is to be proven to reach. RunError where a
    run is missing, has no such choices, or nothing was judged by all.
    """
    from judgesheet.ledger.ledger import Ledger
    from judgesheet.ledger.run_directory import LEDGER
    from judgesheet.measuring.measure import read_all
    from judgesheet.panels.run import panel as together

    if not 2 <= len(sources) <= MOST_JUDGES:
        raise UsageError(f"a panel is made of 2 to {MOST_JUDGES} judges, not {len(sources)}")
    folders = [Path(one) if Path(one).is_dir() else Path(one).parent for one in sources]
    runs, names = [], []
    seen: dict[tuple[object, ...], str | Path] = {}
    for folder, source in zip(folders, sources, strict=True):
        if not (folder / LEDGER).is_file():
            raise RunError(
                f"{source}: a panel needs every judge's verdicts, and a sheet alone has none: give "
                "the run directory"
            )
        with Ledger.open(folder / LEDGER) as ledger:
            begun = ledger.get_meta("plan"), ledger.get_meta("created_at")
            if begun in seen:
                raise UsageError(f"{source} is the same run as {seen[begun]}: a judge votes once")
            seen[begun] = source
            runs.append(read_all(ledger))
        names.append(str(load(folder).judge.get("model") or folder.name))
    return together(told_apart(names, sources), runs, folders, accuracy)


@click.command("panel")
@click.argument("sheets", type=EXISTING, nargs=-1, required=True)
@option("--accuracy", type=Finite(0.5, 1), help="Share of right decisions to be proven.")
@document("md", "html", "pdf", "json")
def command(
    sheets: tuple[Path, ...],
    accuracy: float | None,
    formats: tuple[str, ...],
    out: Path | None,
    paper: Paper,
    as_json: bool,
) -> None:
    """Compare judges on the same stimuli: agreement, the best panel, where they disagree.

    SHEETS are run directories of judges that answered the same stimuli and chose between two
    responses, in both orders; verdicts that are scores are not read. Panels of 2, 3 and 5 are
    shown beside the best single judge in both orders, by calls per decision.
    """
    from judgesheet.sheet.panel import render

    made = panel(*sheets, accuracy=accuracy)
    say_document(lambda form: render(made, form, paper), formats, out, as_json=as_json)
