"""Values of options that are more than a word or a number, each with its own error sentence."""

import json
import math
import operator
import os
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import click

from judgesheet.base.errors import UsageError
from judgesheet.base.files import text_of, toml
from judgesheet.base.resources import is_shipped
from judgesheet.base.sanitize import brief
from judgesheet.judges.user_code import is_name

Value = TypeVar("Value")


class Finite(click.FloatRange):
    """A number in a range; infinity and NaN, which click would accept, are refused."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number, or click's own message."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number", param, ctx)
        return number


class Place(click.Path):
    """A path; "", which would be the folder that the user is in, is refused."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """The path, or click's own message."""
        if not os.fspath(value):
            self.fail("the path is empty", param, ctx)
        return super().convert(value, param, ctx)


def as_dict(
    _ctx: click.Context, _param: click.Parameter, pairs: Sequence[tuple[str, Value]]
) -> dict[str, Value]:
    """The pairs of a repeatable option as a dict; the last of a name counts."""
    return dict(pairs)


def single(_ctx: click.Context, param: click.Parameter, given: Sequence[str]) -> str:
    """The one value of an option that other commands let repeat: none is dropped unsaid."""
    if len(given) > 1:
        raise click.BadParameter("give one; run the command once for each", param=param)
    return given[0]


def column_map(
    _ctx: click.Context, _param: click.Parameter, given: Sequence[str]
) -> dict[str, str]:
    """The pairs of `--map A=B,C=D`, of all times it is given; a comma may stand in a column.

    What is no pair is a TOML file of them. UsageError where a field has two columns: one of them
    would not be read.
    """
    columns: dict[str, str] = {}
    for field, column in (one for text in given for one in _mapped(text)):
        if columns.setdefault(field, column) != column:
            raise UsageError(
                f"--map {field}={column}: {field} has the column {columns[field]} already; ratings "
                "of several people stand in one column as lists, such as [4, 5, 3]"
            )
    return columns


def _mapped(text: str) -> list[tuple[str, str]]:
    if not text.endswith(".toml"):
        parse = pair("--map", "FIELD=COLUMN", "verdict=score,item=id", str)
        return [parse(one) for one in re.split(r",(?=[^,=]+=)", text)]
    content = toml(text_of(Path(text), "the map", UsageError), text, UsageError)
    words = content.pop("words", {})
    pairs = [*content.items(), *(words.items() if isinstance(words, dict) else [("words", words)])]
    for name, value in pairs:
        if not isinstance(value, str | int | float):
            raise UsageError(f"{text}: {name} must be the name of a column, or what a word means")
    return [(name, str(value)) for name, value in pairs]


def on_off(_ctx: click.Context, _param: click.Parameter, value: str | None) -> bool | str | None:
    """`on` and `off` as truth values; any other word unchanged."""
    return {"on": True, "off": False}.get(str(value), value)


def pair(
    option: str, form: str, example: str, second: Callable[[str], Value]
) -> Callable[[str], tuple[str, Value]]:
    """The parser of a value of the form `NAME=VALUE`."""

    def parse(text: str) -> tuple[str, Value]:
        name, _, value = text.partition("=")
        if not name or not value:
            raise UsageError(f"{option} {text}: write {form}, such as {example}")
        return name, second(value)

    return parse


def word_pair(text: str) -> tuple[str, str]:
    """The two of `--verdict WORD=VERDICT`, split at the last sign: `A=B=tie` is about `A=B`."""
    said, _, meant = text.rpartition("=")
    if not said or not meant:
        raise UsageError(f"--verdict {text}: write WORD=VERDICT, such as C=tie or 'A>B=1'")
    return said, meant


def axis_file(name: str) -> Callable[[str], tuple[str, Path]]:
    """The parser of `--prompt AXIS=FILE`, or FILE alone: that of the one axis that is asked about.

    A prompt may be one of `templates/prompts/`, by its name, a parser `module:function`.
    UsageError if there is no such file.
    """

    def parse(text: str) -> tuple[str, Path]:
        axis, _, file = text.rpartition("=")
        if not re.fullmatch(r"\w*", axis):  # a sign in the name of the file
            axis, file = "", text
        with suppress(OSError):  # of a name that is too long for a file
            is_other = is_shipped(file) if name == "prompt" else is_name(file)
            if Path(file).exists() or is_other:
                return axis, Path(file)
        raise UsageError(
            f"--{name} {brief(text)}: there is no such file; write AXIS=FILE, or FILE and one "
            "--axis"
        )

    return parse


def format_file(formats: Collection[str]) -> Callable[[str], tuple[str, Path | None]]:
    """The parser of `--to FORMAT=FILE`, or FORMAT alone."""

    def parse(text: str) -> tuple[str, Path | None]:
        form, sign, file = text.partition("=")
        if form not in formats or (sign and not file):
            raise UsageError(
                f"--to {brief(text)}: write FORMAT or FORMAT=FILE; formats are {', '.join(formats)}"
            )
        return form, Path(file) if file else None

    return parse


def name_functions(_ctx: click.Context, _param: click.Parameter, given: Sequence[str]) -> None:
    """Let the user's functions read the replies of a run that a command only looks at."""
    from judgesheet.measuring.parsing import Parser

    for text in given:
        Parser.named(text.rpartition("=")[2])


def json_object(text: str) -> dict[str, Any]:
    """The object of `--extra-body JSON`."""
    try:
        value = json.loads(text)
    # The second is raised by what is nested too deeply.
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--extra-body is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise UsageError("--extra-body must be a JSON object such as '{\"top_p\": 1}'")
    return value


def days(text: str) -> timedelta:
    """The time of `--reuse-for 30d`, in days or hours."""
    match = re.fullmatch(r"(\d{1,5})([dh])", text.strip())
    if match is None:
        raise UsageError(f"--reuse-for {text}: write days or hours, such as 30d or 12h")
    return timedelta(**{"days" if match[2] == "d" else "hours": int(match[1])})


def prices(text: str) -> tuple[float, float]:
    """The two of `--prices IN,OUT`."""
    return _two_numbers(text, ",", lambda price_in, price_out: min(price_in, price_out) >= 0,
                        "--prices takes two numbers from 0, such as 0.15,0.60")  # fmt: skip


def scale(text: str) -> tuple[float, ...]:
    """The ends of `--scale LOW:HIGH[:STEP]`, and the step."""
    *ends, step = text.split(":") if text.count(":") == 2 else (text, None)
    given = _ends(":".join(ends))
    return given if step is None else (*given, _ends(f"0:{step}")[1])


def _ends(text: str, option: str = "--scale") -> tuple[float, float]:
    return _two_numbers(text, ":", operator.lt, f"{option} takes two numbers, such as 1:5")


def ends_of(
    _ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[float, float] | None:
    """The ends of an option that takes them, None where it is left out."""
    return None if value is None else _ends(value, param.opts[0])


def _two_numbers(
    text: str, separator: str, fit: Callable[[float, float], bool], otherwise: str
) -> tuple[float, float]:
    """Two finite numbers that `fit` each other."""
    with suppress(ValueError):
        first, second = (float(part) for part in text.split(separator))
        # The sum is finite only where both are.
        if math.isfinite(first + second) and fit(first, second):
            return first, second
    raise UsageError(otherwise)
