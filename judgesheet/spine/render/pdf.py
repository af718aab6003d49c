"""`datasheet.pdf`: the HTML page set on A4 or Letter, tagged, with `datasheet.json` attached."""

import gc
import logging
import warnings
import zlib
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
from judgesheet.spine.render.html import Part, document, drawings, style
from judgesheet.spine.render.page import build, refit
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
PAGES: tuple[Part, Part] = ("first", "second")
"""The parts that are one page each."""
SIZES = {"a4": "210mm 297mm", "letter": "8.5in 11in"}
_BEGIN, _END = b"\nstream\n", b"\nendstream"
_SCHEME = "figure:"
_EPOCH = datetime(1980, 1, 1, tzinfo=UTC)
_LOGGERS = ("weasyprint", "fontTools", "fontTools.subset", "fontTools.ttLib.ttFont")


def render(sheet: Datasheet, paper: Paper) -> bytes:
    """The sheet for paper; the same sheet gives the same bytes.

    Raises
    ------
    MissingDependencyError
        if the typesetting libraries of the system are absent.
    """
    with _undisturbed():
        first, second, appendix = lay_out_sheet(sheet, paper)
        return finish(first.copy([*first.pages, *second.pages, *appendix.pages]), sheet)


def lay_out_sheet(sheet: Datasheet, paper: Paper) -> tuple[Any, Any, Any]:
    """Page one, page two and the appendix, each laid out alone; their pages can be joined.

    The appendix comes first, after two blank pages, because every page says how many there are.
    """
    parts = _Parts(sheet, paper)
    appendix = parts.lay_out("rest")
    first, second = (
        parts.fit(
            part, f'@page {{ @bottom-right {{ content: "Page {at} of {len(appendix.pages)}" }} }}'
        )
        for at, part in enumerate(PAGES, 1)
    )
    return first, second, appendix.copy(appendix.pages[len(PAGES) :])


class _Parts:
    """Lays out the parts of a sheet; style sheets and fonts are read once, figures drawn once."""

    def __init__(self, sheet: Datasheet, paper: Paper) -> None:
        self._sheet, self._room = sheet, ROOM[paper]
        self._page = build(sheet, self._room)
        self._figures = drawings(self._page, self._room.effects)
        size = f"@page {{ size: {SIZES[paper]}; }}"
        self._press = Press("\n".join([style("sheet.css"), style("paper.css"), size]))

    def fit(self, part: Part, css: str) -> Any:
        """A page with the most room, in steps, with which it is a single one.

        How many lines fit is an estimate; the last step has no room for any that could be left out.
        """
        for share in SHARES:
            laid_out = self.lay_out(part, share, css)
            if len(laid_out.pages) == 1:
                break
        return laid_out

    def lay_out(self, part: Part, share: float = 1, css: str = "") -> Any:
        """A part in which the first two pages have this share of their room."""
        page, figures = self._page, self._figures
        if share != 1:
            room = self._room.part(share)
            page = refit(page, self._sheet, room)
            figures = replace(figures, forest=forest(page.axes, room.effects))
        images = {drawing.name: drawing.svg for drawing in figures.every()}
        return self._press.lay_out(document(page, css, figures, _image, part=part), images)


class Press:
    """Lays out HTML documents that share a style sheet and its fonts."""

    def __init__(self, css: str = "") -> None:
        engine = _engine()
        self._base = data_folder("templates").as_uri() + "/"
        self._fonts = engine.text.fonts.FontConfiguration()
        self._css = engine.CSS(
            string=css,
            base_url=self._base,
            url_fetcher=_fetcher({}),
            font_config=self._fonts,
        )

    def lay_out(self, text: str, images: Mapping[str, str]) -> Any:
        """The pages of a document, not yet written."""
        page = _engine().HTML(string=text, base_url=self._base, url_fetcher=_fetcher(images))
        return page.render(stylesheets=[self._css], font_config=self._fonts, pdf_variant=VARIANT)


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
    return bytes(
        laid_out.write_pdf(
            finisher=_write_once,
            pdf_variant=VARIANT,
            pdf_identifier=digest(json)[:32].encode(),
            attachments=[attachment],
        )
    )


def _write_once(_document: Any, pdf: Any) -> None:
    """Compress every stream: it is written twice, to digest it and to keep it."""
    for each in pdf.objects:
        if getattr(each, "compress", False):
            each.compress = False
            packed = zlib.compress(each.data.partition(_BEGIN)[2].removesuffix(_END))
            each.stream, each.extra["Filter"] = [packed], "/FlateDecode"


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
