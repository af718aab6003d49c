"""Where `templates/`, `stimuli/` and other data are: in an installed wheel, or in a checkout."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from judgesheet.base.errors import MissingDependencyError, RunError

NO_TYPESETTER = "the PDF is set by the package typst, which cannot be loaded: pip install typst"
PACKAGE = Path(__file__).resolve().parent.parent
"""The folder of the package."""


@cache
def data_folder(name: Literal["templates", "stimuli", "policies", "scaffold"]) -> Path:
    """A folder that comes with judgesheet; `templates` has style sheets, fonts and prompts too.

    RunError if neither the wheel nor the checkout has it.
    """
    for place in (PACKAGE / "_data" / name, PACKAGE.parent / name):
        if place.is_dir():
            return place
    raise RunError(
        f"the folder {name}/ that belongs to judgesheet is missing from {PACKAGE}: "
        "install the package again"
    )


def require_typesetter() -> None:
    """MissingDependencyError where no PDF can be set, found without loading anything."""
    if find_spec("typst") is None:
        raise MissingDependencyError(NO_TYPESETTER)
