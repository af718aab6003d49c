"""The axes: one file or folder for each.

A new axis is a file or folder here, or a class that an entry point in the group `judgesheet.axes`
of another package names; no other file changes. `judgesheet.axis` says what it must contain.
"""

import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache
from importlib.metadata import entry_points
from inspect import getfile
from pathlib import Path

from judgesheet.axis import Axis
from judgesheet.base.errors import UsageError
from judgesheet.base.keys import Key
from judgesheet.base.records import Stimulus
from judgesheet.base.resources import data_folder


@cache
def all_axes() -> dict[str, Axis]:
    """Every axis by name, in the order of the datasheet: our own first, then entry points."""
    kinds: list[type[Axis]] = [_own(name) for name in _own_names()]
    kinds += [point.load() for point in entry_points(group="judgesheet.axes")]
    return {kind.NAME: kind() for kind in kinds}


def _own(name: str) -> type[Axis]:
    """The class of an axis of this package: `ScoreOrder` of `score_order`."""
    module = importlib.import_module(f"{__name__}.{name}")
    kind: type[Axis] = getattr(module, name.title().replace("_", ""))
    return kind


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
    return Path(getfile(type(axis))).parent


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
