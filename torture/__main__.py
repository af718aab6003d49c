"""`python -m torture`: break everything around real runs, count what that cost, write the page."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click

from torture import faults, kills, places
from torture.page import PAGE, Table, put

TABLES: dict[str, Callable[[int, int], Table]] = {
    "faults": faults.table,
    "kills": kills.table,
    "places": places.table,
}


@click.command(help=__doc__)
@click.argument("tables", nargs=-1, type=click.Choice([*TABLES]))
@click.option("--fewer", type=int, default=1, help="Take one of so many cases, to try things out.")
@click.option("--to", type=Path, default=PAGE, help="The page to write the tables into.")
@click.option("--jobs", type=int, default=os.cpu_count(), show_default=True)
def main(tables: tuple[str, ...], fewer: int, to: Path, jobs: int) -> None:
    """Make tables; exit 1 if a count that should be 0 is not."""
    # All that is started here would inherit it where a shell had us ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    faulty = 0
    for name in tables or TABLES:
        started = time.monotonic()
        made = TABLES[name](fewer, jobs)
        faulty += made.faulty
        page = (to if to.exists() else PAGE).read_text(encoding="utf-8")
        to.write_text(put(page, name, str(made)), encoding="utf-8")
        for note in made.notes:
            click.echo(f"{name}: {note}", err=True)
        seconds = time.monotonic() - started
        click.echo(
            f"{name}: {len(made.rows)} rows, {made.faulty} in bold, {seconds:.0f} s", err=True
        )
    sys.exit(1 if faulty else 0)


if __name__ == "__main__":
    main()
