"""`python -m proof`: simulate whether intervals cover, tests keep their size, gates hold."""

import os
from pathlib import Path

import click

from proof import runner


@click.command(help=__doc__)
@click.argument("pages", nargs=-1, type=click.Choice(runner.NAMES))
@click.option("--check", is_flag=True, help="Few data sets; compare with the committed results.")
@click.option("--render", is_flag=True, help="Only write the pages from the committed results.")
@click.option("--fewer", type=int, help="Take one of so many data sets, to try things out.")
@click.option("--to", type=Path, help="Write results and pages there instead of docs/proof.")
@click.option("--jobs", type=int, default=os.cpu_count(), show_default=True)
def main(
    pages: tuple[str, ...], check: bool, render: bool, fewer: int | None, to: Path | None, jobs: int
) -> None:
    """Run lines, keep what is done, write the pages."""
    chosen, source = pages or runner.NAMES, runner.COMMITTED if to is None else to
    if check:
        wrong = runner.check(chosen, jobs, source, click.echo, fewer or runner.FEWER)
        raise SystemExit("\n".join(wrong) if wrong else None)
    if not render:
        runner.whole(chosen, jobs, runner.Store(runner.DONE), source, click.echo, fewer or 1)
    for path, text in runner.render(chosen, source):
        (path if to is None else to / path.name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
