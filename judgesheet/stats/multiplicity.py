"""Several tests at once. Nothing here needs numpy: a gate corrects, too, and starts at once."""

from collections.abc import Sequence
from functools import lru_cache
from math import atan, cos, erfc, isnan, pi, sin, sqrt

from judgesheet.base.limits import LARGEST_T

NORMAL_FROM = 10_000
"""Degrees of freedom from which Student's t is the normal law, to 1e-5 of a tail."""


def holm(p: Sequence[float | None]) -> tuple[float | None, ...]:
    """Holm's step-down adjusted p-values.

    Entries that are None or NaN were not tested: they pass through and do not count towards the
    number of tests. Adjusted p-values stand in the same sequence and are at most 1.

    References
    ----------
    Holm, S. (1979), "A simple sequentially rejective multiple test procedure", Scandinavian
    Journal of Statistics 6, 65-70.
    """
    tested = sorted((v, index) for index, v in enumerate(p) if v is not None and not isnan(v))
    adjusted = list(p)
    running = 0.0
    for step, (value, index) in enumerate(tested):
        running = max(running, min(1.0, value * (len(tested) - step)))
        adjusted[index] = running
    return tuple(adjusted)


def student_tail(t: float, df: float) -> float:
    """P(T > t) of Student's t with `df` degrees of freedom, a whole number or infinite.

    References
    ----------
    Abramowitz, M. and Stegun, I. A. (1964), "Handbook of Mathematical Functions", 26.7.3, 26.7.4.
    """
    if df >= NORMAL_FROM:
        return erfc(t / sqrt(2)) / 2
    angle = atan(t / sqrt(df))
    odd, term, total = int(df) % 2, 1.0, 0.0
    for n in range(1 + odd, int(df), 2):
        total += term
        term *= n / (n + 1) * cos(angle) ** 2
    inside = sin(angle) * total
    return (1 - (2 / pi * (angle + cos(angle) * inside) if odd else inside)) / 2


@lru_cache(maxsize=256)
def student_quantile(tail: float, df: float) -> float:
    """The t with P(T > t) = tail, for a tail below one half."""
    low, high = 0.0, LARGEST_T
    while high - low > 1e-9 * max(1.0, low):
        middle = (low + high) / 2
        low, high = (middle, high) if student_tail(middle, df) > tail else (low, middle)
    return low
