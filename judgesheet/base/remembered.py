"""A function that remembers its last result: one sheet is put into several formats, in turn."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def remembered(function: Callable[[K], V]) -> Callable[[K], V]:
    """The function; asked about the same object (not an equal one) again, it computes nothing."""
    last: list[tuple[K, V]] = []

    @wraps(function)
    def once(of: K) -> V:
        for known, value in last:
            if known is of:
                return value
        last[:] = [(of, function(of))]
        return last[0][1]

    return once
