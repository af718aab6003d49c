"""The parameter that a sweep varies: its name, its values, and their folders."""

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite

from judgesheet.base.errors import UsageError
from judgesheet.base.files import slug
from judgesheet.judges.redaction import is_secret_name

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
# Parameters that make up the question; another value would ask something else.
_FIXED = frozenset({"model", "messages", "system", "response_format", "stream", "n"})


@dataclass(frozen=True, slots=True)
class SweptParameter:
    """A request parameter and its values, as they were typed and in that sequence."""

    name: str
    values: tuple[str, ...]

    def folder(self, value: str) -> str:
        """The name of the folder of a value."""
        return f"{self.name}-{slug(value) or 'empty'}"


def parse_sweep(text: str) -> SweptParameter:
    """The parameter of `--sweep NAME=VALUE,VALUE,…`.

    UsageError if it is not valid, or names what must not vary.
    """
    name, separator, rest = text.partition("=")
    if is_secret_name(name):  # its values become names of folders
        raise UsageError(f"--sweep cannot vary {name}: secrets stay out of the record")
    values = tuple(value.strip() for value in rest.split(","))
    if not separator or not _NAME.fullmatch(name):
        raise UsageError(f"--sweep {text[:80]}: write NAME=VALUE,VALUE, such as temperature=0,0.5")
    if name in _FIXED:
        raise UsageError(f"--sweep cannot vary {name}: it is part of the question")
    if "" in values or len(set(map(typed, values))) < len(values):
        raise UsageError(f"--sweep {name} needs different values, such as 0,0.5,1")
    places = [number(value) for value in values]
    if name == "temperature" and any(place is None or not 0 <= place <= 5 for place in places):
        raise UsageError("--sweep temperature takes numbers from 0 to 5")
    if name == "max_tokens" and not all(value.isdecimal() and int(value) for value in values):
        raise UsageError("--sweep max_tokens takes whole numbers from 1")
    swept = SweptParameter(name, values)
    if len(set(map(swept.folder, values))) < len(values):
        raise UsageError(f"--sweep {name}: two of its values have one name as a folder")
    return swept


def number(text: str) -> float | None:
    """The finite number that a text is, or None."""
    with suppress(ValueError):
        return value if isfinite(value := float(text)) else None
    return None


def typed(text: str) -> int | float | bool | str:
    """The value that is sent: a JSON number or truth value where it is one, else the word."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, int | float | bool) else text
