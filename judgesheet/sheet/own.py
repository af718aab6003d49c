"""A template of the user's own in place of ours, as HTML and as PDF.

It may be a stranger's: it is set in Jinja's sandbox and in a process of its own, with a limit on
time and memory, which reads nothing but the template's folder and our templates. It sees what ours
sees, may extend any of them, and a file of its folder stands in for ours of the same name.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from jinja2 import ChoiceLoader, FileSystemLoader, FunctionLoader
from jinja2.sandbox import SandboxedEnvironment

from judgesheet.base import defaults
from judgesheet.base.datasheet import to_json
from judgesheet.base.errors import MissingDependencyError, TemplateError, UsageError
from judgesheet.base.files import write_whole
from judgesheet.base.limits import LARGEST_TEXT, LONGEST_PAGE_S, MOST_MEMORY
from judgesheet.base.records import Datasheet
from judgesheet.base.resources import data_folder
from judgesheet.sheet import Paper
from judgesheet.sheet.html import page
from judgesheet.sheet.pdf import is_in, moment, typeset
from judgesheet.sheet.templates import environment

SUFFIX = ".html.jinja"
FORMATS = ("html", "pdf")
FAULT, NO_LIBRARY = 1, 3
"""How that process ends where the template is at fault, and where it cannot set a PDF at all."""


def found(template: str | Path) -> Path:
    """The file of a template; UsageError if there is none, or it is not named NAME.html.jinja."""
    path = Path(template)
    if not path.is_file() or not path.name.endswith(SUFFIX):
        raise UsageError(f"--template {template} is no file NAME{SUFFIX}")
    return path


def write(
    sheet: Datasheet, template: Path, places: Mapping[str, Path], paper: Paper = defaults.PAPER
) -> list[Path]:
    """Write each format to its place; what was written.

    UsageError for another format, TemplateError if the template is at fault;
    MissingDependencyError, after the HTML was written, where the PDF cannot be set on this machine.
    """
    for form in places:
        if form not in FORMATS:
            raise UsageError(f"a template gives {' and '.join(FORMATS)}, not {form}")
    # The HTML first: it is there even where the PDF cannot be set.
    for form in sorted(places):
        write_whole(places[form], render(sheet, form, template, paper))
    return [places[form] for form in sorted(places)]


def render(sheet: Datasheet, form: str, template: Path, paper: Paper = defaults.PAPER) -> bytes:
    """The page in a format, made in a process of its own.

    TemplateError that names the template, the line and what is wrong; MissingDependencyError.
    """
    # It imports what this process does, wherever that lies.
    path = os.pathsep.join(filter(None, sys.path))
    try:
        done = subprocess.run(  # noqa: S603  (our own interpreter)
            [sys.executable, "-P", "-m", "judgesheet.sheet.own", form, template.absolute(), paper],
            input=pickle.dumps(sheet),
            capture_output=True,
            timeout=LONGEST_PAGE_S,
            env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TemplateError(f"{template}: it takes longer than {LONGEST_PAGE_S:g} s") from None
    if done.returncode == 0:
        return done.stdout
    said = " ".join(done.stderr.decode("utf-8", "replace").splitlines()[-1:])
    if done.returncode == NO_LIBRARY:
        raise MissingDependencyError(said)
    fault = said if done.returncode == FAULT else "it takes more memory than any page needs"
    raise TemplateError(f"{template}{fault if fault.startswith(':') else f': {fault}'}")


# -- in the process of its own ---------------------------------------------------------------------


def _set(sheet: Datasheet, form: str, template: Path, paper: Paper) -> bytes:
    """The page of a sheet; whatever Jinja raises if the template is at fault."""
    ours = FileSystemLoader(data_folder("templates"))
    loader = ChoiceLoader([FunctionLoader(partial(_source, template.parent)), ours])
    among = environment(loader, SandboxedEnvironment, autoescape=True)
    when = moment(sheet)
    text = page(sheet, template.name, among, paper=paper if form == "pdf" else None,
                created=when.isoformat())  # fmt: skip
    if len(text) > LARGEST_TEXT:
        raise ValueError(f"it makes more than {LARGEST_TEXT:,} characters")
    if form == "html":
        return text.encode("utf-8", "replace")
    return typeset(text, template.parent, to_json(sheet), when)


def _source(folder: Path, name: str) -> str | None:
    """A template of the folder; None for what is not there."""
    path = folder / name
    return path.read_text(encoding="utf-8") if is_in(folder, path) else None


def main(form: str, template: Path, paper: Paper) -> int:
    """Set the sheet in standard input; the page goes to standard output, a fault to the other."""
    # Not every system can limit it, or it is limited already.
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, most))
    sheet = pickle.loads(sys.stdin.buffer.read())  # noqa: S301  (`render` made it)
    try:
        made = _set(sheet, form, template, paper)
    except MemoryError:
        return FAULT + 1
    except MissingDependencyError as error:
        sys.stderr.write(str(error))
        return NO_LIBRARY
    except RecursionError:
        fault = "it is nested too deeply, or calls itself without end"
    except Exception as error:  # a template can make the libraries raise anything
        line = getattr(error, "lineno", None)
        fault = f":{line}: {error}" if line else str(error) or type(error).__name__
    else:
        sys.stdout.buffer.write(made)
        return 0
    sys.stderr.write(fault.replace("\n", " "))
    return FAULT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3]))  # type: ignore[arg-type]
