"""Where `templates/`, `stimuli/` and other data are: in an installed wheel, or in a checkout."""

from functools import cache
from pathlib import Path
from typing import Literal

from judgesheet.errors import RunError

_PACKAGE = Path(__file__).resolve().parent


@cache
def data_folder(name: Literal["templates", "stimuli", "policies", "scaffold"]) -> Path:
    """A folder that comes with judgesheet; `templates` has style sheets, fonts and prompts too.

    RunError if neither the wheel nor the checkout has it.
    """
    for place in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if place.is_dir():
            return place
    raise RunError(
        f"the folder {name}/ that belongs to judgesheet is missing from {_PACKAGE}: "
        "install the package again"
    )
