"""Values of options that are more than a word or a number, each with its own error sentence."""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from judgesheet.errors import UsageError

Value = TypeVar("Value")


class Finite(click.FloatRange):
    """A number in a range; neither infinite nor NaN, which pass every comparison."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number, or click's own message."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number", param, ctx)
        return number


def as_dict(
    _ctx: click.Context, _param: click.Parameter, pairs: Sequence[tuple[str, Value]]
) -> dict[str, Value]:
    """The pairs of a repeatable option, the last one of a name."""
    return dict(pairs)


def on_off(_ctx: click.Context, _param: click.Parameter, told: str | None) -> bool | str | None:
    """`on` and `off` as truth values; any other word as it is."""
    return {"on": True, "off": False}.get(str(told), told)


def axis_file(option: str) -> Callable[[str], tuple[str, Path]]:
    """The parser of `AXIS=FILE`."""

    def parse(text: str) -> tuple[str, Path]:
        from judgesheet.axes import axis_names

        axis, separator, path = text.partition("=")
        if not separator:
            example = f"{axis_names()[0]}=mine.j2"
            raise UsageError(f"{option} {text}: write AXIS=FILE, such as {example}")
        return axis, Path(path)

    return parse


def field_column(text: str) -> tuple[str, str]:
    """The pair of `--map FIELD=COLUMN`."""
    field, separator, column = text.partition("=")
    if not separator or not field or not column:
        raise UsageError(f"--map {text}: write FIELD=COLUMN, such as prompt=question")
    return field, column


def json_object(text: str) -> dict[str, Any]:
    """The object of `--extra-body JSON`."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UsageError(f"--extra-body is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise UsageError("--extra-body must be a JSON object such as '{\"top_p\": 1}'")
    return value


def prices(text: str) -> tuple[float, float]:
    """The two of `--prices IN,OUT`."""
    price_in, price_out = _two_numbers(text, ",")
    if not (price_in >= 0 and price_out >= 0):
        raise UsageError("--prices takes two numbers from 0, such as 0.15,0.60")
    return price_in, price_out


def scale(text: str) -> tuple[float, float]:
    """The ends of `--scale LOW:HIGH`."""
    low, high = _two_numbers(text, ":")
    if not low < high:
        raise UsageError("--scale takes two numbers, such as 1:5")
    return low, high


def _two_numbers(text: str, separator: str) -> tuple[float, float]:
    """Two finite numbers, or NaN twice, which no comparison lets pass."""
    try:
        first, second = (float(part) for part in text.split(separator))
    except ValueError:
        return math.nan, math.nan
    return (first, second) if math.isfinite(first + second) else (math.nan, math.nan)
