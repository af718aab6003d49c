"""The options of public functions, which are fields of data classes, held against their types.

Whoever calls from Python is told in one sentence what an option can be, as the command line tells
its user. Types that are written as text are those of parts that are not loaded yet: they are left
to these.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields
from difflib import get_close_matches
from functools import cache
from inspect import formatannotation
from typing import TYPE_CHECKING, Annotated, Any, ForwardRef, get_args, get_origin

from judgesheet.base.errors import UsageError
from judgesheet.base.sanitize import brief

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError


class Said:
    """What an option means, the names that the command line has for it, and its placeholder.

    Without `flags` the command line calls it as the field is called; with an empty one, not at all.
    """

    def __init__(self, meaning: str, *flags: str, metavar: str | None = None) -> None:
        self.meaning, self.flags, self.metavar = meaning, flags, metavar


def checked(kind: type, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that are fields of a data class, with what their values stand for.

    UsageError for a name or a value that it cannot have.
    """
    types = {one.name: one.type for one in fields(kind)}
    for name in options:
        if name not in types:
            near = get_close_matches(name, types, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(types)}"
            raise UsageError(f"there is no option {name!r}; {hint}")
    return {name: _converted(name, types[name], value) for name, value in options.items()}


def _converted(name: str, kind: Any, value: Any) -> Any:
    from pydantic import ValidationError

    if isinstance(_bare(kind), str | ForwardRef):
        return value
    try:
        return _adapter(kind).validate_python(value)
    except ValidationError as error:
        if isinstance(value, str):  # one text stands for a list of it
            with suppress(ValidationError):
                return _adapter(kind).validate_python((value,))
        is_now = f"{name} is {brief(repr(value))}"
        raise UsageError(f"{is_now}; {_wanted(error, kind)}") from None


def _bare(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


@cache
def _adapter(kind: Any) -> "TypeAdapter[Any]":
    from pydantic import ConfigDict, TypeAdapter

    # A number stands for its digits, as on the command line.
    lenient = ConfigDict(
        arbitrary_types_allowed=True, coerce_numbers_to_str=True, allow_inf_nan=False
    )
    return TypeAdapter(kind, config=lenient)


def _wanted(error: "ValidationError", kind: Any) -> str:
    """What a value should be: in the library's words where it has one sentence, else the type."""
    first, *others = error.errors()
    if not others and not first["loc"] and first["msg"].startswith("Input should be "):
        return first["msg"].replace("Input", "it", 1)
    return f"it should be {re.sub(r'[a-z_.]+[.](?=[A-Z])', '', formatannotation(_bare(kind)))}"
