"""The keys of estimates: `axis.name` or `axis.name[dim=value,dim=value]`.

Only this module writes and parses keys, so that figures, gates and comparisons agree on them.
Values stay text (`12345` may be an order) and may hold keys themselves (`trend[of=r[arm=fixed]]`).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Self

from judgesheet.base.errors import RunError
from judgesheet.base.limits import LONGEST_KEY

ANY = "*"
"""In a pattern: the dimension may have any value."""

_FORM = re.compile(r"(?:(?P<axis>\w+)\.)?(?P<name>\w*)(?:\[(?P<dims>.*)\])?", re.DOTALL)
_COMMA = re.compile(r",(?=\w+=)")  # values hold commas too: only one before a name ends a value


@dataclass(frozen=True, slots=True)
class Key:
    """The parts of a key: `score_order`, `selection`, `{"score": "3", "position": "1"}`."""

    axis: str
    name: str
    dims: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a key; RunError if it is not one."""
        axis, name, dims = _parts(text)
        if not axis or not name:
            raise RunError(
                f"{text[:100]!r} is not an estimate key; keys look like axis.name[dim=value]"
            )
        return cls(axis, name, dict(dims))

    def __str__(self) -> str:
        return f"{self.axis}.{self.local}"

    @property
    def local(self) -> str:
        """The key within its axis: `name[dim=value]`."""
        return f"{self.name}{self.bracket}"

    @property
    def bracket(self) -> str:
        """The dimensions alone: `[dim=value]`, or "" for a key without any."""
        inside = ",".join(f"{dim}={value}" for dim, value in self.dims.items())
        return f"[{inside}]" if inside else ""

    def at(self, **dims: object) -> Self:
        """The key with further dimensions, or other values of those that it has."""
        return replace(self, dims={**self.dims, **{dim: str(v) for dim, v in dims.items()}})

    def fits(self, pattern: "Key") -> bool:
        """Whether the pattern matches this key: the same dimensions, each equal or `*`."""
        alike = (self.axis, self.name) == (pattern.axis, pattern.name)
        same = alike and self.dims.keys() == pattern.dims.keys()
        return same and all(pattern.dims[dim] in (ANY, self.dims[dim]) for dim in self.dims)


def key(axis: str, name: str, **dims: object) -> str:
    """The text of a key, dimensions in the order given."""
    return str(Key(axis, name).at(**dims))


def holds(cell: Mapping[str, Any], dims: Mapping[str, str]) -> bool:
    """Whether a cell has these values of its dimensions (`*`: any), numbers as keys write them."""
    return all(wanted in (ANY, _spelled(cell.get(dim))) for dim, wanted in dims.items())


def _spelled(value: Any) -> Any:
    return f"{value:g}" if isinstance(value, int | float) else value


def dims_of(local: str) -> dict[str, str]:
    """The dimensions in `dim=value,dim=value`."""
    return dict(_dims(local))


@lru_cache(maxsize=8192)  # a sheet asks for the same few hundred keys again and again
def _parts(text: str) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    """Axis, name and dimensions; missing parts are empty; so is a non-key."""
    form = _FORM.fullmatch(text) if len(text) <= LONGEST_KEY else None
    if form is None:
        return "", "", ()
    return form["axis"] or "", form["name"], _dims(form["dims"] or "")


def _dims(text: str) -> tuple[tuple[str, str], ...]:
    pairs = (part.partition("=") for part in _COMMA.split(text))
    return tuple((dim, value) for dim, sign, value in pairs if sign and dim)
