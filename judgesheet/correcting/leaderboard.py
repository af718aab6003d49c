"""Several systems beside each other: intervals that hold together, ranks as sets, differences."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from judgesheet.correcting.labelled import EstimatedSystem
from judgesheet.correcting.result import System, SystemDifference, reported
from judgesheet.correcting.table import Scale
from judgesheet.stats.simultaneous import differences, rank_sets, stands, widened


def compared(
    estimated: Sequence[EstimatedSystem], scale: Scale, *, same_unit: bool = True
) -> tuple[tuple[System, ...], tuple[SystemDifference, ...]]:
    """The systems with ranks, best first, and every difference; `parts` are of common clusters.

    `same_unit` says that the judge's own figure is in the unit of what is compared.
    """
    if len(estimated) < 2:
        return tuple(one.system for one in estimated), ()
    # Best first: a difference then is of the better less the worse.
    order = sorted(estimated, key=lambda one: -_value(one))
    parts = np.stack([one.parts for one in order], axis=1)
    intervals = [one.interval for one in order]
    between = differences(intervals, parts)
    known = all(one.value is not None for one in intervals)
    ranks = rank_sets(between, len(order)) if known else [None] * len(order)
    together = widened(intervals, parts, scale)
    systems = tuple(
        replace(one.system, ranks=rank, simultaneous=_ends(wide.low, wide.high))
        for one, rank, wide in zip(order, ranks, together, strict=True)
    )
    return systems, tuple(
        SystemDifference(
            systems[i].name, systems[j].name,
            _less(systems[i].raw.value, systems[j].raw.value) if same_unit else None,
            reported(one, min(systems[i].rows, systems[j].rows)), stands(one) != 0,
        )
        for (i, j), one in between.items()
    )  # fmt: skip


def _value(one: EstimatedSystem) -> float:
    return -np.inf if one.interval.value is None else one.interval.value


def _ends(low: float | None, high: float | None) -> tuple[float, float] | None:
    return None if low is None or high is None else (low, high)


def _less(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first - second
