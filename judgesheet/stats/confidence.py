"""The confidence of the intervals that are being measured. Nothing here needs numpy.

It is `LEVEL` wherever the number of stimuli was settled beforehand. Where a run is looked at while
it grows, each look has a level of its own (`stats.spending`); it is passed here in one place, so
that no figure need know of looks.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from judgesheet.base.records import LEVEL

_LEVEL: ContextVar[float] = ContextVar("level", default=LEVEL)


def confidence() -> float:
    """Level of the two-sided intervals, and of each of the one-sided bounds."""
    return _LEVEL.get()


@contextmanager
def at_confidence(level: float) -> Iterator[None]:
    """Everything that is measured in the block has this level."""
    token = _LEVEL.set(level)
    try:
        yield
    finally:
        _LEVEL.reset(token)
