"""The keys of estimates: `axis.name` or `axis.name[dim=value,dim=value]`.

Written and taken apart here only, so that figures, gates and comparisons agree on what one says.
Values stay text (`12345` may be an order) and may hold keys themselves (`trend[of=r[arm=fixed]]`).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Self

from judgesheet.errors import RunError

ANY = "*"
"""In a pattern: the dimension may have any value."""

_KEY = re.compile(r"(?P<axis>\w+)\.(?P<name>\w+)(?:\[(?P<dims>.*)\])?", re.DOTALL)
_NAME = re.compile(r"(?P<name>\w+)(?:\[(?P<dims>.*)\])?", re.DOTALL)
_PATTERN = re.compile(r"(?P<name>\w*)(?:\[(?P<dims>.*)\])?", re.DOTALL)
_DIMENSION = re.compile(r"(\w+)=(.*?)(?:,(?=\w+=)|$)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Key:
    """The parts of a key: `score_order`, `selection`, `{"score": "3", "position": "1"}`."""

    axis: str
    name: str
    dims: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Take a key apart.

        Raises
        ------
        RunError
            if it is no key.
        """
        axis, name, dims = _parts(text)
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
        """Whether the pattern means this key: the same dimensions, each alike or `*`."""
        same = (self.axis, self.name, set(self.dims)) == (
            *(pattern.axis, pattern.name),
            set(pattern.dims),
        )
        return same and all(pattern.dims[dim] in (ANY, self.dims[dim]) for dim in self.dims)


@dataclass(frozen=True, slots=True)
class Pattern:
    """Figures of an axis: those of this name, or of any where it is "", that have these dimensions.

    Written like a key within its axis: `name`, `[dim=value]`, `name[dim=value]`, "" for all.
    """

    name: str
    dims: Mapping[str, str]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Take a pattern apart.

        Raises
        ------
        ValueError
            if it is none.
        """
        return cls(*_split(text, _PATTERN))

    def fits(self, key: Key) -> bool:
        """Whether it means this key."""
        return self.name in ("", key.name) and self.dims.items() <= key.dims.items()


def key(axis: str, name: str, **dims: object) -> str:
    """Write a key, dimensions in the order given."""
    return str(Key(axis, name).at(**dims))


def split_local(local: str) -> tuple[str, dict[str, str]]:
    """Take `name[dim=value]`, a key within its axis, apart.

    Raises
    ------
    ValueError
        if it is none.
    """
    return _split(local, _NAME)


def _split(local: str, form: re.Pattern[str]) -> tuple[str, dict[str, str]]:
    found = form.fullmatch(local)
    if found is None:
        raise ValueError(f"{local!r} is no name of an estimate")
    return found["name"], dict(_DIMENSION.findall(found["dims"] or ""))


@lru_cache(maxsize=8192)  # a sheet asks for the same few hundred keys again and again
def _parts(text: str) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    found = _KEY.fullmatch(text)
    if found is None:
        raise RunError(
            f"{text[:100]!r} is no key of an estimate; keys look like axis.name[dim=value]"
        )
    return found["axis"], found["name"], tuple(_DIMENSION.findall(found["dims"] or ""))
