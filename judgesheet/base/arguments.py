"""The arguments of public functions and the fields of their options, held against their types.

A signature says what an argument can be; whoever calls from Python is told so in one sentence, as
the command line tells its user. Types that are written as text are those of parts that are not
loaded yet: they are left to these.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields
from datetime import timedelta
from difflib import get_close_matches
from functools import cache, wraps
from inspect import Parameter, formatannotation, signature
from types import GenericAlias
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from judgesheet.base.errors import UsageError
from judgesheet.base.sanitize import brief

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

P = ParamSpec("P")
R = TypeVar("R")
Record = TypeVar("Record")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which takes what fits its signature; UsageError for anything else.

    What pydantic converts without loss is converted, and a single text stands for a list of one.
    """
    shape, several = signature(function), Parameter.VAR_POSITIONAL
    types: dict[str, Any] = {
        name: GenericAlias(tuple, (one.annotation, ...)) if one.kind is several else one.annotation
        for name, one in shape.parameters.items()
        if not isinstance(one.annotation, str) and one.kind is not Parameter.VAR_KEYWORD
    }

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            given = shape.bind(*args, **kwargs)
        except TypeError:  # a name that it lacks: Python's own words say of which function
            return function(*args, **kwargs)
        given.arguments |= dict(_converted(types, given.arguments))
        return function(*given.args, **given.kwargs)

    return call


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
    return {one.name: one.type for one in fields(kind) if not isinstance(one.type, str)}


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

    # A number stands for its digits: the name of a stimulus, the value of a cell.
    lenient = ConfigDict(
        arbitrary_types_allowed=True,
        coerce_numbers_to_str=True,
        allow_inf_nan=False,
        # As a number it would be in seconds, and an age of replies is in days.
        strict=kind is timedelta,
    )
    return TypeAdapter(kind, config=lenient)


def _wanted(error: "ValidationError", kind: Any) -> str:
    """What a value should be: in the library's words where it has one sentence, else the type."""
    first, *others = error.errors()
    if not others and not first["loc"] and first["msg"].startswith("Input should be "):
        return first["msg"].replace("Input", "it", 1)
    return f"it should be {re.sub(r'[a-z_.]+[.](?=[A-Z])', '', formatannotation(kind))}"
