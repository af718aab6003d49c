"""`judgesheet index`: one page over the sheets of a folder."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from judgesheet.base.datasheet import to_json
from judgesheet.base.errors import JudgesheetError, RunError
from judgesheet.base.files import remove, slug, write_whole
from judgesheet.base.records import Datasheet, digest
from judgesheet.commands.options import PATH, option
from judgesheet.commands.sheets import load
from judgesheet.commands.terminal import LIVE, note, say
from judgesheet.sheet import render

_OURS = re.compile(r"\d{4,}-.+\.(html|json)")
"""Names of the sheets of a site, numbered; other files there are somebody else's."""


def index(
    folder: str | Path,
    out: str | Path,
    *,
    tell: Callable[[str], None] = lambda _: None,
    watch: Callable[[str], None] = lambda _: None,
) -> Path:
    """Write a page over every datasheet.json in a folder, and the sheets that it opens.

    `out` gets index.html, its tables as index.md, and `sheets/`, and needs no server. A file that
    is not a sheet, a run that was started over, and a copy of a sheet are left out, and `tell` gets
    a sentence on them; `watch` gets how far it is. Sheets that only an earlier page opened are
    removed. RunError if there is no sheet at all.
    """
    from judgesheet.sheet import index as page

    site = Path(out)
    sheets = []
    for number, (place, sheet) in enumerate(_sheets(Path(folder), tell, watch), start=1):
        name = f"{number:04d}-{slug(sheet.judge.model) or 'judge'}"
        for form in ("html", "json"):
            write_whole(site / "sheets" / f"{name}.{form}", render(sheet, form))
        sheets.append(page.Listed(f"sheets/{name}.html", sheet, place))
    if not sheets:
        raise RunError(f"{folder} holds no datasheet.json")
    title = Path(folder).resolve().name
    write_whole(site / "index.html", page.render(sheets, title))
    write_whole(site / "index.md", page.render_markdown(sheets, title))
    opened = {Path(one.address).stem for one in sheets}
    for file in (site / "sheets").iterdir():
        if _OURS.fullmatch(file.name) and file.stem not in opened:
            remove(file)
    return site / "index.html"


def _sheets(
    folder: Path, tell: Callable[[str], None], watch: Callable[[str], None]
) -> Iterator[tuple[str, Datasheet]]:
    """Every sheet with its folder, relative to that which is searched."""
    from judgesheet.ledger.earlier import is_renamed
    from judgesheet.ledger.run_directory import DATASHEET, LEDGER

    seen: dict[str, Path] = {}
    # A run is the original, and a sheet without replies a copy of it.
    found = sorted(
        folder.rglob(DATASHEET), key=lambda file: (not (file.parent / LEDGER).is_file(), file)
    )
    for number, file in enumerate(found, start=1):
        watch(f"sheet {number:,} of {len(found):,}")
        # A link may lead anywhere.
        if file.is_symlink() or not file.is_file():
            continue
        place = file.parent.relative_to(folder)
        if is_renamed(file.parent):
            tell(f"left out: {place}, a run that was started over")
            continue
        try:
            sheet = load(file)
        except JudgesheetError as error:
            tell(f"left out: {error}")
            continue
        first = seen.setdefault(digest(to_json(sheet)), place)
        if first != place:
            tell(f"left out: {place}, a copy of the sheet in {first}")
            continue
        yield str(place), sheet


@click.command("index")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@option("--out", type=PATH, required=True, help="Folder of the site.")
def command(folder: Path, out: Path) -> None:
    """Write one page over all datasheets in a folder, to search and filter.

    Judges measured by the same protocol share a table, sorted by name and not ranked; each row
    opens its sheet. Runs that were started over and copies are left out, and named. The page needs
    no server and no network. index.md has the same tables. A sheet that left the folder also
    leaves the site.
    """
    watch = {"watch": LIVE.show} if LIVE.is_watched else {}
    say(index(folder, out, tell=note, **watch))
