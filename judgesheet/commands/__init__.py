"""The commands: a module of this name each, with the function of the package and the options.

The function raises errors and prints nothing; `command` beside it is its options, one call of it,
and what is printed. `judgesheet --help` loads all these modules, so each loads the stages that it
calls inside its functions. Modules without a `command` are shared, or are the long part of one.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click

NAMES = (
    *("attach", "cases", "compare", "consensus", "correct", "doctor", "explain", "gate"),
    *("index", "ingest", "init", "inspect-log", "measure", "plan", "policy"),
    *("probe", "render", "stimuli", "verify"),
)


def find(name: str) -> "click.Command":
    """The command of this name; KeyError if there is none."""
    if name not in NAMES:
        raise KeyError(name)
    found: click.Command = import_module(f"{__name__}.{name.replace('-', '_')}").command
    return found
