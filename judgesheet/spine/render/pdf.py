"""`datasheet.pdf`: the HTML page set on A4 or Letter, tagged, with `datasheet.json` attached."""

import gc
import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from markupsafe import Markup

from judgesheet.errors import MissingDependencyError
from judgesheet.records import Datasheet, digest
from judgesheet.resources import data_folder
from judgesheet.spine.datasheet import to_json
from judgesheet.spine.render import Paper, show
from judgesheet.spine.render.figures import Drawing
from judgesheet.spine.render.forest import forest
from judgesheet.spine.render.html import Drawings, document, drawings, style
from judgesheet.spine.render.page import build
from judgesheet.spine.render.page.parts import Room

SUFFIX = "pdf"
VARIANT = "pdf/ua-1"
ROOM: Mapping[Paper, Room] = {
    "a4": Room(),
    "letter": replace(Room(), features=15, advice=8, side=16, effects=10, rows=27),
}
"""What the first two pages hold, in lines."""
SHARES = (1.0, 0.85, 0.7, 0.5, 0.3, 0.15, 0.0)
"""Parts of the room that are tried, one after the other, until a page holds."""
SIZES = {"a4": "210mm 297mm", "letter": "8.5in 11in"}
_SCHEME = "figure:"
_EPOCH = datetime(1980, 1, 1, tzinfo=UTC)
_LOGGERS = ("weasyprint", "fontTools", "fontTools.subset", "fontTools.ttLib.ttFont")


def render(sheet: Datasheet, paper: Paper) -> bytes:
    """The sheet for paper; the same sheet gives the same bytes.

    The number of lines that fit on the first two pages is estimated. If the estimate was too high,
    the sheet is laid out again with fewer, so that neither page ever overflows.

    Raises
    ------
    MissingDependencyError
        if the typesetting libraries of the system are absent.
    """
    with _undisturbed():
        room = ROOM[paper]
        figures = drawings(build(sheet, room), room.effects)
        laid_out = _set(sheet, paper, room, figures)
        if _overflows(laid_out) != (False, False):
            laid_out = _set(sheet, paper, _fitting(sheet, paper, figures), figures)
        return finish(laid_out, sheet)


def _fitting(sheet: Datasheet, paper: Paper, figures: Drawings) -> Room:
    """The most room, in steps, that keeps the first two pages; they are set alone to find out."""
    steps, last = [0, 0], len(SHARES) - 1
    while True:
        room = ROOM[paper].part(*(SHARES[step] for step in steps))
        overflows = _overflows(_set(sheet, paper, room, figures, whole=False))
        wider = [min(step + over, last) for step, over in zip(steps, overflows, strict=True)]
        if wider == steps:
            return room
        steps = wider


def _set(
    sheet: Datasheet, paper: Paper, room: Room, figures: Drawings, *, whole: bool = True
) -> Any:
    """The sheet as pages."""
    page = build(sheet, room)
    figures = replace(figures, forest=forest(page.axes, room.effects))
    size = f"@page {{ size: {SIZES[paper]}; }}"
    css = "\n".join([style("sheet.css"), style("paper.css"), size])
    images = {drawing.name: drawing.svg for drawing in figures.every()}
    return lay_out(document(page, css, figures, _image, whole=whole), images)


def lay_out(text: str, images: Mapping[str, str]) -> Any:
    """The pages of an HTML document, not yet written."""
    page = _engine().HTML(
        string=text,
        base_url=data_folder("templates").as_uri() + "/",
        url_fetcher=_fetcher(images),
    )
    return page.render(pdf_variant=VARIANT)


def finish(laid_out: Any, sheet: Datasheet) -> bytes:
    """The PDF of laid-out pages, with the sheet as an attachment."""
    json = to_json(sheet)
    # The end of the run: a date that does not change when the sheet is rendered again.
    ended = show.parse_moment(sheet.run.get("ended_at")) or _EPOCH
    when = ended.astimezone(UTC) if ended.tzinfo else ended.replace(tzinfo=UTC)
    attachment = _engine().Attachment(
        string=json.encode(),
        name="datasheet.json",
        description="The datasheet as data",
        relationship="Source",
        created=when,
        modified=when,
    )
    identifier = digest(json)[:32].encode()
    return bytes(
        laid_out.write_pdf(pdf_variant=VARIANT, pdf_identifier=identifier, attachments=[attachment])
    )


def _overflows(laid_out: Any) -> tuple[bool, bool]:
    """Whether the first and whether the second page overflow."""
    first, second = (
        next(number for number, page in enumerate(laid_out.pages) if anchor in page.anchors)
        for anchor in ("characteristics", "appendix")
    )
    return first > 1, second > first + 1


def _image(drawing: Drawing) -> Markup:
    """A reference to the drawing: an image skips the style cascade, and so a third of the time."""
    html = '<img class="figure" src="{}{}" alt="{}. {}">'
    return Markup(html).format(_SCHEME, drawing.name, drawing.title, drawing.description)  # noqa: S704


def _engine() -> Any:
    try:
        import weasyprint
    except (ImportError, OSError) as error:
        raise MissingDependencyError(
            "the PDF needs the system library Pango: apt-get install libpango-1.0-0 "
            f"libpangoft2-1.0-0 libharfbuzz-subset0 ({str(error).splitlines()[0][:120]})"
        ) from None
    return weasyprint


def _fetcher(images: Mapping[str, str]) -> Any:
    """A fetcher that knows our fonts and these images, and refuses every other address."""
    from weasyprint.urls import URLFetcher, URLFetcherResponse

    class OwnFilesOnly(URLFetcher):  # type: ignore[misc]
        def fetch(self, url: str, headers: Any = None) -> Any:
            if url.startswith(_SCHEME) and url.removeprefix(_SCHEME) in images:
                svg = images[url.removeprefix(_SCHEME)]
                return URLFetcherResponse(url, svg.encode(), {"Content-Type": "image/svg+xml"})
            if own_font(url):
                return super().fetch(url, headers)
            raise ValueError("a datasheet fetches nothing from outside")

    return OwnFilesOnly()


def own_font(url: str) -> bool:
    """Whether the address is a font of ours."""
    parts = urlsplit(url)
    if parts.scheme != "file" or parts.netloc:
        return False
    fonts = (data_folder("templates") / "fonts").resolve()
    return Path(unquote(parts.path)).resolve().parent == fonts


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Suppress the libraries' messages, and pause the garbage collector.

    Collecting while the page tree grows takes a sixth of the time and frees nothing.
    """
    levels = {name: logging.getLogger(name).level for name in _LOGGERS}
    collecting = gc.isenabled()
    try:
        gc.disable()
        for name in levels:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
        if collecting:
            gc.enable()
