"""The axes: one file or folder for each.

A new axis is a file or folder here, or an entry point in the group `judgesheet.axes` of another
package; no other file changes. `judgesheet.axis` says what it must contain.
"""

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from judgesheet.axis import LEFT_OUT, Axis
from judgesheet.base.errors import UsageError
from judgesheet.base.keys import Key
from judgesheet.base.records import ReplyFormat, Stimulus
from judgesheet.base.resources import data_folder
from judgesheet.reading import NO_VERDICT, Reading


@cache
def all_axes() -> dict[str, Axis]:
    """Every axis by name, in the order of the datasheet: our own first, then entry points."""
    modules = [importlib.import_module(f"{__name__}.{name}") for name in _own_names()]
    modules += [point.load() for point in entry_points(group="judgesheet.axes")]
    return {module.NAME: _completed(module) for module in modules}


def _completed(module: ModuleType) -> Axis:
    """The axis, with what it left out: of reading a reply, either follows from the other."""
    axis = cast("Axis", module)
    follow = {"parse": partial(_parsed, axis), "reading": partial(_read, axis)}
    for name, left_out in {**LEFT_OUT, **follow}.items():
        if not hasattr(module, name):
            setattr(module, name, left_out)
    return axis


def _parsed(axis: Axis, text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> Any | None:
    return axis.reading(text, reply, cell).verdict


def _read(axis: Axis, text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> Reading:
    value = axis.parse(text, reply, cell)
    return NO_VERDICT if value is None else Reading(value)


def axis_names() -> list[str]:
    """The names of `all_axes`, without importing them: an entry point has the name of its axis."""
    return [*_own_names(), *(point.name for point in entry_points(group="judgesheet.axes"))]


def _own_names() -> list[str]:
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def get_axis(name: str) -> Axis:
    """The axis of that name; if there is none, a UsageError lists those that exist."""
    axes = all_axes()
    if name not in axes:
        raise UsageError(f"there is no axis {name!r}; the axes are {', '.join(axes)}")
    return axes[name]


def folder(axis: Axis) -> Path:
    """The folder that holds the axis's module."""
    return Path(str(cast("ModuleType", axis).__file__)).parent


def pool(axis: Axis) -> Path:
    """The built-in stimuli of an axis: `<name>.jsonl` beside its module, else in `stimuli/`."""
    beside = folder(axis) / f"{axis.NAME}.jsonl"
    return beside if beside.is_file() else data_folder("stimuli") / beside.name


def prompt(axis: Axis, stimuli: Sequence[Stimulus] = ()) -> str:
    """The source of the axis's prompt: `<name>.jinja` beside it, else in `templates/prompts/`."""
    beside = folder(axis) / f"{axis.template(stimuli) or axis.NAME}.jinja"
    file = beside if beside.is_file() else data_folder("templates") / "prompts" / beside.name
    return file.read_text(encoding="utf-8")


def declared_unit(key: Key) -> str:
    """The name of the unit of a figure, whether or not it was measured; "" if there is none."""
    axis = all_axes().get(key.axis)
    figure = None if axis is None else axis.ESTIMATES.get(key.name)
    return "" if figure is None else figure.unit


def explain(axis: str, name: str) -> str | None:
    """The docstring of the function that computes `axis.name`, or None if there is none."""
    figure = get_axis(axis).ESTIMATES.get(name)
    return None if figure is None else figure.__doc__
