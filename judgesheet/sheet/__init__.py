"""One protocol, one module per format, and the only place that writes their files.

A renderer sees a `Datasheet` and nothing else. Modules are imported when their format is asked
for, so `--to html` does not load the typesetting library.
"""

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Literal, Protocol, cast, runtime_checkable

from judgesheet.base import defaults
from judgesheet.base.errors import UsageError
from judgesheet.base.files import write_whole
from judgesheet.base.records import Datasheet

Paper = Literal["a4", "letter"]
"""The sheet size of the PDF."""


class Renderer(Protocol):
    """The members of a format; any module with these names is one."""

    SUFFIX: str
    """What follows `datasheet.` in the file name."""

    def render(self, sheet: Datasheet, paper: Paper) -> bytes:
        """The file's content; the same sheet and paper give the same bytes."""


@runtime_checkable
class Linking(Renderer, Protocol):
    """A format that links to another file if that lies in the same folder."""

    CASES: str
    """The name of that file, which `render` takes as its third argument."""


RENDERERS: dict[str, str] = {
    "html": f"{__name__}.html",
    "pdf": f"{__name__}.pdf",
    "md": f"{__name__}.markdown",
    "json": f"{__name__}.json",
    "csv": f"{__name__}.csv",
    "junit": f"{__name__}.junit",
    "model-card": f"{__name__}.model_card",
}
"""Format name -> module."""
FORMATS = ("json", "html", "pdf")
"""The formats in a run directory; the first is the sheet itself, the others show it."""


def renderer(name: str) -> Renderer:
    """The renderer of a format.

    UsageError if there is none; the sentence lists those that exist.
    """
    if name not in RENDERERS:
        raise UsageError(f"there is no format {name!r}; the formats are {', '.join(RENDERERS)}")
    return cast("Renderer", import_module(RENDERERS[name]))


def render(sheet: Datasheet, name: str, paper: Paper = defaults.PAPER) -> bytes:
    """The datasheet in the format of that name."""
    return renderer(name).render(sheet, paper)


def write(
    sheet: Datasheet, directory: Path, formats: Iterable[str], paper: Paper = defaults.PAPER
) -> list[Path]:
    """Write `datasheet.<suffix>` for each format; a file is either whole or not there.

    RunError if a file cannot be written.
    """
    written = []
    for name in formats:
        each = renderer(name)
        path = directory / f"datasheet.{each.SUFFIX}"
        write_whole(path, each.render(sheet, paper, *_beside(each, directory)))
        written.append(path)
    return written


def _beside(each: Renderer, directory: Path) -> tuple[str, ...]:
    """The file in this folder that a format links to, if it links and the file is there."""
    if isinstance(each, Linking) and (directory / each.CASES).is_file():
        return (each.CASES,)
    return ()
