"""`python -m sheets`: make the sheet of every judge on which a sheet could lie.

Prints one line per sheet: the judge, the policy, its decision with the exit code of the gate, and
which decision is right. Exits 1 if a decision is not.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from sheets import pictures
from sheets.judges import Judge, judges
from sheets.making import Made, make

TABLE = "decisions.md"
_HEAD = "| judge | policy | decision | exit | right | agrees | why |\n|---|---|---|--:|---|---|---|"


@click.command(help=__doc__)
@click.argument("names", nargs=-1)
@click.option("--to", type=click.Path(path_type=Path), default=Path("build/sheets"),
              show_default=True, help="A folder, in which each sheet has one of its own.")
@click.option("--data", type=click.Path(path_type=Path, exists=True), envvar="DATA",
              help="A folder with public logs (docs/real-judges.md); left out without it. [$DATA]")
@click.option("--local", is_flag=True, help="Also the small real model, which takes minutes.")
@click.option("--png", is_flag=True, help="Also picture pages one and two, and the HTML.")
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True)
def main(
    names: Sequence[str], to: Path, data: Path | None, local: bool, png: bool, jobs: int
) -> None:  # fmt: skip
    """Make the sheets of NAMES (default: all)."""
    known = judges(data, local=local)
    if unknown := [name for name in names if name not in known]:
        raise click.UsageError(f"there is no judge {unknown[0]}; there are {', '.join(known)}")
    if png and (lacks := pictures.missing()):
        raise click.UsageError(f"--png needs {', '.join(lacks)}")
    wanted, made = [known[name] for name in names or known], []
    for sheet in _made(wanted, to.absolute(), jobs):
        click.echo(_line(sheet))
        made.append(sheet)
    wrong = sum(not sheet.is_right for sheet in made)
    click.echo(f"{len(made)} sheets in {to}, {wrong} with a wrong decision")
    if not names:
        rows = [_HEAD, *map(_row, made)]
        (to / TABLE).write_text("\n".join(rows) + "\n", encoding="utf-8")
    if png:
        taken = sum(1 for _ in pictures.take(to.absolute() / judge.name for judge in wanted))
        click.echo(f"{taken} pictures in {to}/*/{pictures.FOLDER}")
    sys.exit(1 if wrong else 0)


def _made(wanted: Sequence[Judge], to: Path, jobs: int) -> Iterator[Made]:
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(lambda judge: make(judge, to / judge.name), wanted)


def _line(made: Made) -> str:
    judge, right = made.judge, " or ".join(sorted(made.judge.right))
    held = "right" if made.is_right else f"WRONG, {right} is right: {judge.why}"
    told = "".join(f" ({fault})" for fault in made.faults)
    return f"{judge.name:30}{judge.policy:14} {made.decision:11}{made.code!s:>4}  {held}{told}"


def _row(made: Made) -> str:
    judge = made.judge
    cells = (
        judge.name, judge.policy, made.decision, made.code, " or ".join(sorted(judge.right)),
        "yes" if made.is_right else "**no**", "; ".join((judge.why, *made.faults)),
    )  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    main()
