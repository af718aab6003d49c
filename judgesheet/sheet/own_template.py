"""A page of the user's own: a Jinja template that becomes HTML and, by WeasyPrint, PDF.

A template sees what our own pages see: `page` (plain strings in reading order), `figures` (the
drawings) and `sheet` (datasheet.json). Our macros can be imported from
`judgesheet/_parts.html.jinja`. It runs in a sandbox that counts its steps; what it refers to is
read from its own folder or from `data:`, and nothing else is read.
"""

from contextlib import redirect_stdout
from dataclasses import asdict
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from jinja2 import ChoiceLoader, FileSystemLoader, PrefixLoader, TemplateError
from markupsafe import Markup

from judgesheet.axis.bounded import FAULTS, Bounded
from judgesheet.base import errors
from judgesheet.base.errors import MissingDependencyError, UsageError
from judgesheet.base.files import write_whole
from judgesheet.base.records import Datasheet
from judgesheet.base.resources import data_folder
from judgesheet.sheet import show
from judgesheet.sheet.html import drawings
from judgesheet.sheet.page import build

if TYPE_CHECKING:
    from weasyprint.urls import URLFetcherResponse

SUFFIX = ".html.jinja"
FORMATS = ("html", "pdf")
NO_PANGO = (
    "the PDF of a template of your own needs WeasyPrint and the system library Pango "
    "(Debian: apt-get install libpango-1.0-0 libpangoft2-1.0-0); the HTML needs neither"
)


def shipped() -> list[str]:
    """Names of the templates that come with judgesheet."""
    return sorted(path.name.removesuffix(SUFFIX) for path in _ours().glob(f"*{SUFFIX}"))


def found(template: str | Path) -> Path:
    """The template in a file, or the shipped one of that name; UsageError if there is neither."""
    path = Path(template)
    if path.is_file():
        if not path.name.endswith(SUFFIX):
            raise UsageError(f"{path} is not named NAME{SUFFIX}, which gives NAME.html")
        return path
    if str(template) in shipped():
        return _ours() / f"{template}{SUFFIX}"
    raise UsageError(
        f"there is no template {template}; give a file NAME{SUFFIX}, or one of the shipped ones: "
        f"{', '.join(shipped())}"
    )


def write(
    sheet: Datasheet, template: Path, directory: Path, formats: tuple[str, ...]
) -> list[Path]:
    """Write NAME.html and NAME.pdf, as `formats` ask; the paths that were written.

    UsageError for another format, TemplateError if the template is at fault;
    MissingDependencyError, after the HTML was written, where the PDF cannot be set on this machine.
    """
    for form in formats:
        if form not in FORMATS:
            raise UsageError(f"a template gives {' and '.join(FORMATS)}, not {form}")
    name, text = template.name.removesuffix(SUFFIX), render(sheet, template)
    written = []
    # The HTML first: it is there even where the PDF cannot be set.
    for form in sorted(formats):
        path = directory / f"{name}.{form}"
        write_whole(path, text.encode() if form == "html" else pdf(text, template.parent))
        written.append(path)
    return written


def render(sheet: Datasheet, template: Path) -> str:
    """The page as HTML; a TemplateError names the template, the line and what is wrong."""
    environment = _Sandbox(template.parent)
    page = build(sheet)
    variables = {
        "page": page,
        "sheet": asdict(sheet),
        "figures": drawings(page),
        "place": _place,
    }
    try:
        return environment.rendered(environment.get_template(template.name), variables)
    except (TemplateError, *FAULTS) as error:
        line = getattr(error, "lineno", None)
        raise errors.TemplateError(f"{template}{f':{line}' if line else ''}: {error}") from None


def pdf(text: str, folder: Path) -> bytes:
    """The HTML as PDF; MissingDependencyError where WeasyPrint or Pango is missing."""
    try:
        # Where Pango is missing the library prints so, and standard output is for results alone.
        with redirect_stdout(StringIO()):
            from weasyprint import HTML
            from weasyprint.urls import URLFetcher
    except (ImportError, OSError) as error:
        raise MissingDependencyError(f"{NO_PANGO} ({error})") from None
    # A class of its own here, as the library is loaded for no other format.
    fetcher = type("Fetcher", (URLFetcher,), {"fetch": partial(_fetch, URLFetcher(), folder)})()
    document = HTML(string=text, base_url=folder.resolve().as_uri() + "/", url_fetcher=fetcher)
    return bytes(document.write_pdf())


def _fetch(fetcher: Any, folder: Path, url: str, headers: Any = None) -> "URLFetcherResponse":
    """What a page refers to, from its folder or from the address itself; ValueError for others."""
    parts = urlsplit(url)
    if parts.scheme != "data":
        path = Path(unquote(parts.path)).resolve()
        if parts.scheme != "file" or parts.netloc or not path.is_relative_to(folder.resolve()):
            raise ValueError(f"{url[:200]} is not in the folder of the template")
    response: URLFetcherResponse = fetcher.fetch(url, headers)
    return response


def _place(drawing: Any) -> Markup:
    """A drawing of ours; what draws it escapes foreign text."""
    return Markup(drawing.svg) if drawing is not None else Markup()  # noqa: S704


def _ours() -> Path:
    return data_folder("templates") / "own"


class _Sandbox(Bounded):
    """Templates of a folder, with ours under `judgesheet/`; what is put in is escaped."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.autoescape = True
        self.trim_blocks = self.lstrip_blocks = True
        ours = FileSystemLoader(data_folder("templates"))
        self.loader = ChoiceLoader([FileSystemLoader(folder), PrefixLoader({"judgesheet": ours})])
        self.filters["visible"] = show.visible
