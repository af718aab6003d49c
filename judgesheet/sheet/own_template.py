"""A page of the user's own: a Jinja template that becomes HTML and, by WeasyPrint, PDF.

A template may be a stranger's. It is set in a process of its own (`own_page`), which is ended when
it takes too long, and which reads nothing but the template's folder.
"""

import os
import pickle
import subprocess
import sys
from pathlib import Path

from judgesheet.base import errors
from judgesheet.base.errors import MissingDependencyError, UsageError
from judgesheet.base.files import write_whole
from judgesheet.base.limits import LONGEST_PAGE_S
from judgesheet.base.records import Datasheet
from judgesheet.base.resources import data_folder

SUFFIX = ".html.jinja"
FORMATS = ("html", "pdf")
FAULT, NO_LIBRARY = 1, 3
"""How that process ends where the template is at fault, and where it cannot set a PDF at all."""
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
        write_whole(path, text if form == "html" else pdf(text, template))
        written.append(path)
    return written


def render(sheet: Datasheet, template: Path) -> bytes:
    """The page as HTML; a TemplateError names the template, the line and what is wrong."""
    return _apart("html", template, pickle.dumps(sheet))


def pdf(text: bytes, template: Path) -> bytes:
    """The HTML as PDF; MissingDependencyError where WeasyPrint or Pango is missing."""
    return _apart("pdf", template, text)


def _apart(form: str, template: Path, given: bytes) -> bytes:
    """What `own_page` makes; it imports what this process does, wherever that lies."""
    path = os.pathsep.join(filter(None, sys.path))
    try:
        done = subprocess.run(  # noqa: S603  (our own interpreter)
            [sys.executable, "-P", "-m", "judgesheet.sheet.own_page", form, template.absolute()],
            input=given,
            capture_output=True,
            timeout=LONGEST_PAGE_S,
            env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise errors.TemplateError(
            f"{template}: it takes longer than {LONGEST_PAGE_S:g} s as {form}"
        ) from None
    if done.returncode == 0:
        return done.stdout
    said = " ".join(done.stderr.decode("utf-8", "replace").splitlines()[-1:])
    if done.returncode == NO_LIBRARY:
        raise MissingDependencyError(f"{NO_PANGO} ({said})")
    fault = said if done.returncode == FAULT else "it takes more memory than any page needs"
    raise errors.TemplateError(f"{template}{fault if fault.startswith(':') else f': {fault}'}")


def _ours() -> Path:
    return data_folder("templates") / "own"
