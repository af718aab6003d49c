"""Where `templates/`, `stimuli/` and `policies/` are: in an installed wheel, or in a checkout."""

from functools import cache
from pathlib import Path

from judgesheet.errors import RunError

_PACKAGE = Path(__file__).resolve().parent


def template_dir() -> Path:
    """The folder of report templates, style sheets, fonts and prompts.

    Raises
    ------
    RunError
        if neither the wheel nor the checkout has it.
    """
    return _find("templates")


def stimuli_dir() -> Path:
    """The folder of built-in stimuli.

    Raises
    ------
    RunError
        if neither the wheel nor the checkout has it.
    """
    return _find("stimuli")


def policies_dir() -> Path:
    """The folder of the policies that come with judgesheet.

    Raises
    ------
    RunError
        if neither the wheel nor the checkout has it.
    """
    return _find("policies")


@cache
def _find(name: str) -> Path:
    for folder in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise RunError(
        f"the folder {name}/ that belongs to judgesheet is missing from {_PACKAGE}: "
        "install the package again"
    )
