"""`datasheet.pdf`: the page of the browser set on A4 or Letter by WeasyPrint, the data attached.

Tagged as PDF/UA, so that programs that read aloud find headings and tables. The same sheet gives
the same bytes on one machine.
"""

import logging
import os
import re
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from judgesheet.base.datasheet import to_json
from judgesheet.base.errors import MissingDependencyError, RunError
from judgesheet.base.limits import LARGEST_PAGE
from judgesheet.base.records import Datasheet
from judgesheet.base.resources import data_folder
from judgesheet.sheet import Paper, show
from judgesheet.sheet.html import page

if TYPE_CHECKING:
    from weasyprint.urls import URLFetcherResponse

SUFFIX = "pdf"
NO_PANGO = (
    "a PDF needs WeasyPrint and the system library Pango (Debian: apt-get install libpango-1.0-0 "
    "libpangoft2-1.0-0 libharfbuzz-subset0); HTML and JSON need neither"
)
# For a sheet that does not say when it ended: any fixed date will do.
EPOCH = datetime(1980, 1, 1, tzinfo=UTC)


def render(sheet: Datasheet, paper: Paper) -> bytes:
    """The sheet for paper; MissingDependencyError if this machine cannot set a PDF."""
    when = moment(sheet)
    text = page(sheet, paper=paper, created=when.isoformat())
    return typeset(text, data_folder("templates"), to_json(sheet), when)


def moment(sheet: Datasheet) -> datetime:
    """All that a PDF says of the time: SOURCE_DATE_EPOCH, or when the run ended."""
    with suppress(ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "")), UTC)
    ended = show.parse_moment(sheet.run.ended_at) or EPOCH
    return ended.astimezone(UTC) if ended.tzinfo else ended.replace(tzinfo=UTC)


def library() -> Any:
    """WeasyPrint; MissingDependencyError where it or Pango is missing."""
    try:
        # Where Pango is missing the library prints so.
        with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
            import weasyprint
    except (ImportError, OSError) as error:
        said = f"{error}".partition("\n")[0] or type(error).__name__
        raise MissingDependencyError(f"{NO_PANGO} ({said})") from None
    for name in ("weasyprint", "fontTools"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return weasyprint


def typeset(text: str, folder: Path, attached: str, when: datetime) -> bytes:
    """A page in HTML as PDF with the data attached; it reads nothing but files of its folder.

    MissingDependencyError if WeasyPrint or Pango is missing; RunError if the page is too long.
    """
    if len(text) > LARGEST_PAGE:
        raise RunError("the datasheet is too large for a PDF: leave it out (--no-pdf, --to html)")
    weasyprint = library()
    fetcher = _fetcher(folder)
    data = weasyprint.Attachment(
        string=attached, name="datasheet.json", created=when, modified=when,
        description="The datasheet as data", relationship="Data", url_fetcher=fetcher,
    )  # fmt: skip
    document = weasyprint.HTML(
        string=painted(text), base_url=f"{folder.as_uri()}/", url_fetcher=fetcher
    )
    return bytes(document.write_pdf(pdf_variant="pdf/ua-1", attachments=[data]))


def painted(text: str) -> str:
    """The page with the theme of charts and margins as values: neither knows names in a PDF.

    Later definitions count, so that a template of one's own changes page and charts alike. Only
    attributes have quotation marks: in texts they are escaped.
    """
    css = " ".join(re.findall(r"<style>(.*?)</style>", text, re.DOTALL))
    on_paper = re.sub(r"@media screen.*?\}\s*\}", "", css, flags=re.DOTALL)
    named: dict[str, str] = dict(re.findall(r"(--[\w-]+):\s*([^;}]+)", on_paper))

    def valued(name: re.Match[str]) -> str:
        return named.get(name[1], "none").strip().replace('"', "'")

    def margin(block: re.Match[str]) -> str:
        return re.sub(r"var\((--[\w-]+)\)", valued, block[0])

    text = re.sub(r"@bottom-\w+ ?\{[^}]*\}", margin, text)
    return re.sub(r'"var\((--[\w-]+)\)"', lambda name: f'"{valued(name)}"', text)


def _fetcher(folder: Path) -> Any:
    """What reads the files that a page refers to: plain ones of its folder, and `data:`."""
    from weasyprint.urls import URLFetcher

    ours = data_folder("templates")
    known = folder, ours

    class Near(URLFetcher):  # type: ignore[misc]
        def fetch(self, url: str, headers: Any = None) -> "URLFetcherResponse":
            parts = urlsplit(url)
            near = parts.scheme == "file" and not parts.netloc
            path = Path(unquote(parts.path))
            if near and not is_in(folder, path) and path.is_relative_to(folder):
                # Of ours a template of somebody's own has what it does not replace: the fonts.
                path = ours / path.relative_to(folder)
                url = path.as_uri()
            if parts.scheme != "data" and not (near and any(is_in(one, path) for one in known)):
                raise ValueError(f"{url[:200]} is not in the folder of the template")
            read: Callable[..., URLFetcherResponse] = super().fetch
            return read(url, headers)

    return Near()


def is_in(folder: Path, path: Path) -> bool:
    """Whether this is a plain file below the folder, wherever links lead."""
    path = path.resolve()
    return path.is_relative_to(folder.resolve()) and path.is_file()
