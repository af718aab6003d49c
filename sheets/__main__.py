"""`python -m sheets`: make the sheet of every judge on which a sheet could lie.

Prints one line per sheet: the judge, the policy, its decision with the exit code of the gate, and
which decision is right. Exits 1 if a decision is not.
"""

import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from sheets import pictures
from sheets.judges import judges
from sheets.making import Made, is_foreign, make

TABLE = "decisions.md"
_FOLDER = click.Path(path_type=Path, file_okay=False)
_HEAD = "| judge | policy | decision | exit | right | agrees | why |\n|---|---|---|--:|---|---|---|"


@click.command(help=__doc__)
@click.argument("names", nargs=-1)
@click.option("--to", type=_FOLDER, default=Path("build/sheets"), help="[build/sheets]")
@click.option("--data", type=_FOLDER, envvar="DATA", help="Public logs (docs/real-judges.md).")
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
    wanted = {known[name]: to.absolute() / name for name in names or known}
    if foreign := [folder for folder in wanted.values() if is_foreign(folder)]:
        raise click.UsageError(f"{foreign[0]} holds something else than a run: choose another --to")
    if png and (lacks := pictures.missing()):
        click.echo(f"no pictures, as this machine lacks {', '.join(lacks)}", err=True)
        png = False
    made = []
    with ThreadPoolExecutor(jobs) as pool:
        for sheet in pool.map(make, wanted, wanted.values()):
            click.echo(_line(sheet))
            made.append(sheet)
    wrong = sum(not sheet.is_right for sheet in made)
    click.echo(f"{len(made)} sheets in {to}, {wrong} with a wrong decision")
    if not names:
        rows = [_HEAD, *map(_row, made)]
        (to / TABLE).write_text("\n".join(rows) + "\n", encoding="utf-8")
    if png:
        taken = sum(1 for _ in pictures.take(wanted.values()))
        click.echo(f"{taken} pictures in {to}/*/{pictures.FOLDER}")
    sys.exit(1 if wrong else 0)


def _line(made: Made) -> str:
    judge, wrong = made.judge, [*made.faults]
    if made.decision not in judge.right:
        wrong.insert(0, f"{' or '.join(sorted(judge.right))} is right: {judge.why}")
    held = f"WRONG: {'; '.join(wrong)}" if wrong else "right"
    return f"{judge.name:30}{judge.policy:14} {made.decision:11}{made.code!s:>4}  {held}"


def _row(made: Made) -> str:
    judge = made.judge
    cells = (
        judge.name, judge.policy, made.decision, made.code, " or ".join(sorted(judge.right)),
        "yes" if made.is_right else "**no**", "; ".join((judge.why, *made.faults)),
    )  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    main()
