"""The process in which a template of a user's is set, with a limit on its memory.

`own_template` starts it, ends it when it takes too long, and says what went wrong. A template sees
what our own pages see: `page` (plain strings in reading order), `figures` (the drawings) and
`sheet` (datasheet.json). Our macros can be imported from `judgesheet/_parts.html.jinja`. What it
refers to is a plain file of its own folder, or `data:`; links are resolved, and nothing else is
read.
"""

import pickle
import sys
from contextlib import redirect_stdout, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from jinja2 import ChoiceLoader, FileSystemLoader, FunctionLoader, PrefixLoader, StrictUndefined
from jinja2.sandbox import SandboxedEnvironment
from markupsafe import Markup

from judgesheet.base.limits import LARGEST_TEXT, MOST_MEMORY
from judgesheet.base.records import Datasheet
from judgesheet.base.resources import data_folder
from judgesheet.sheet import show
from judgesheet.sheet.html import drawings
from judgesheet.sheet.own_template import FAULT, NO_LIBRARY
from judgesheet.sheet.page import build

if TYPE_CHECKING:
    from weasyprint.urls import URLFetcherResponse


def html(sheet: Datasheet, template: Path) -> bytes:
    """The page of a sheet; whatever Jinja raises if the template is at fault."""
    page = build(sheet)
    ours = FileSystemLoader(data_folder("templates"))
    own = FunctionLoader(partial(_source, template.parent))
    environment = SandboxedEnvironment(
        loader=ChoiceLoader([own, PrefixLoader({"judgesheet": ours})]),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = show.visible
    known = {"page": page, "sheet": asdict(sheet), "figures": drawings(page), "place": _place}
    text = environment.get_template(template.name).render(known).encode("utf-8", "replace")
    if len(text) > LARGEST_TEXT:
        raise ValueError(f"it makes more than {LARGEST_TEXT:,} bytes")
    return text


def pdf(text: bytes, folder: Path) -> bytes:
    """The HTML as PDF; ImportError or OSError where WeasyPrint or Pango is missing."""
    from weasyprint import HTML
    from weasyprint.urls import URLFetcher

    # A class of its own here, as the library is loaded for no other format.
    fetcher = type("Fetcher", (URLFetcher,), {"fetch": partial(_fetch, URLFetcher(), folder)})()
    document = HTML(string=text.decode(), base_url=f"{folder.as_uri()}/", url_fetcher=fetcher)
    return bytes(document.write_pdf())


def _is_in(folder: Path, path: Path) -> bool:
    """Whether this is a plain file below the folder, wherever links lead."""
    path = path.resolve()
    return path.is_relative_to(folder.resolve()) and path.is_file()


def _source(folder: Path, name: str) -> str | None:
    """A template of the folder; None for what is not there."""
    path = folder / name
    return path.read_text(encoding="utf-8") if _is_in(folder, path) else None


def _fetch(fetcher: Any, folder: Path, url: str, headers: Any = None) -> "URLFetcherResponse":
    """What a page refers to, from its folder or from the address itself; ValueError for others."""
    parts = urlsplit(url)
    is_near = parts.scheme == "file" and not parts.netloc
    if parts.scheme != "data" and not (is_near and _is_in(folder, Path(unquote(parts.path)))):
        raise ValueError(f"{url[:200]} is not in the folder of the template")
    response: URLFetcherResponse = fetcher.fetch(url, headers)
    return response


def _place(drawing: Any) -> Markup:
    """A drawing of ours; what draws it escapes foreign text."""
    return Markup(drawing.svg) if drawing is not None else Markup()  # noqa: S704


def main(form: str, template: Path) -> int:
    """Set what standard input holds; the result goes to standard output, a fault to the other."""
    # Not every system can limit it, or it is limited already.
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, most))
    given = sys.stdin.buffer.read()
    try:
        # Where Pango is missing the library prints so.
        with redirect_stdout(sys.stderr):
            if form == "html":
                made = html(pickle.loads(given), template)  # noqa: S301  (own_template made it)
            else:
                made = pdf(given, template.parent)
    except MemoryError:
        return FAULT + 1
    except RecursionError:
        fault = "it is nested too deeply, or calls itself without end"
    except (ImportError, OSError) as error:
        sys.stderr.write(f"{error}".replace("\n", " "))
        return NO_LIBRARY if form == "pdf" else FAULT
    except Exception as error:  # a template can make the libraries raise anything
        line = getattr(error, "lineno", None)
        fault = f":{line}: {error}" if line else str(error) or type(error).__name__
    else:
        sys.stdout.buffer.write(made)
        return 0
    sys.stderr.write(fault.replace("\n", " "))
    return FAULT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
