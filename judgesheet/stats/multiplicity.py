"""Several tests at once."""

from collections.abc import Sequence
from math import isnan


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
