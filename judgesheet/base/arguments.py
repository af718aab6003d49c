"""The options of public functions, which are fields of data classes, held against their types.

Whoever calls from Python is told in one sentence what an option can be, as the command line tells
its user. Types that are written as text are those of parts that are not loaded yet: they are left
to these.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields
from difflib import get_close_matches
from functools import cache
from inspect import formatannotation
from typing import TYPE_CHECKING, Annotated, Any, ForwardRef, TypeVar, get_args, get_origin

from judgesheet.base.errors import UsageError
from judgesheet.base.sanitize import brief

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

Record = TypeVar("Record")


class Said:
    """What an option means, the names that the command line has for it, and its placeholder.

    Without `flags` the command line calls it as the field is called; with an empty one, not at all.
    """

    def __init__(self, meaning: str, *flags: str, metavar: str | None = None) -> None:
        self.meaning, self.flags, self.metavar = meaning, flags, metavar


def converted_fields(record: object) -> Iterator[tuple[str, Any]]:
    """Every field of a data class with what its value stands for; UsageError if that is nothing."""
    types = _types(type(record))
    return _converted(types, {name: getattr(record, name) for name in types})


def refuse_unknown(kind: type, options: Mapping[str, Any]) -> None:
    """UsageError for an option that is no field of the data class."""
    names = [one.name for one in fields(kind)]
    for name in options:
        if name not in names:
            near = get_close_matches(name, names, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
            raise UsageError(f"there is no option {name!r}; {hint}")


def made(kind: type[Record], options: Mapping[str, Any]) -> Record:
    """A data class of options by name; UsageError for a name or a value that it cannot have."""
    refuse_unknown(kind, options)
    return kind(**{**options, **dict(_converted(_types(kind), options))})


def _types(kind: type) -> dict[str, Any]:
    types = {one.name: one.type for one in fields(kind)}
    return {name: of for name, of in types.items() if not isinstance(_bare(of), str | ForwardRef)}


def _bare(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _converted(types: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    from pydantic import ValidationError

    for name in types.keys() & given.keys():
        try:
            yield name, _of_type(types[name], given[name])
        except ValidationError as error:
            is_now = f"{name} is {brief(repr(given[name]))}"
            raise UsageError(f"{is_now}; {_wanted(error, types[name])}") from None


def _of_type(kind: Any, value: Any) -> Any:
    from pydantic import ValidationError

    try:
        return _adapter(kind).validate_python(value)
    except ValidationError:
        if isinstance(value, str):
            with suppress(ValidationError):
                return _adapter(kind).validate_python((value,))
        raise


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
