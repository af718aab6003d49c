"""How far calls without a verdict could move the estimates.

Whether a judge answers may depend on what it would have answered; the calls that were read are then
misleading, however few are lost. So is a log from which calls are missing. The axis answers the
lost calls by each place in turn, and in the judge's favour; every figure is measured again on these
tables, and its bounds are widened to the extremes. Stimuli that were refused whole are left out:
they are a condition of any use, and no figure is about them.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from judgesheet.axis import Axis, Readings, losses
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Bounds, Estimate, Imputed


def with_imputed(axis: Axis, readings: Readings, estimates: Estimates) -> Estimates:
    """The estimates with bounds that hold whatever the lost calls would have said.

    As they are where no call was lost, where none was read, or where the axis imputes nothing.
    """
    whole = replace(readings, frame=axis.complete(readings.frame))
    imputed: defaultdict[str, list[Estimate]] = defaultdict(list)
    for table in _tables(axis, whole):
        for estimate in axis.measure(table):
            imputed[estimate.key].append(estimate)
    if not imputed:
        return estimates
    counted = losses.lost(whole.frame) & ~losses.refused_whole(whole.frame)
    calls = int(counted.sum())
    widened = (_widened(read, imputed[read.key], calls) for read in estimates.values())
    return Estimates(axis.NAME, widened)


def _tables(axis: Axis, readings: Readings) -> Iterator[Readings]:
    frame = readings.frame[~losses.refused_whole(readings.frame)].reset_index(drop=True)
    gone, made = losses.lost(frame), frame["outcome"].notna()
    # Where all calls were lost nothing was measured that others could move.
    if not gone.any() or gone.sum() == made.sum():
        return
    every = frozenset(axis.ESTIMATES) - losses.NAMES
    wanted = every if readings.families is None else every & readings.families
    for answered in axis.impute(replace(readings, frame=frame)):
        yield replace(readings, frame=answered, families=wanted)


def _widened(read: Estimate, imputed: Sequence[Estimate], calls: int) -> Estimate:
    """The estimate of the calls read, with its bounds widened; as it is where nothing moves it."""
    if read.value is None or all(_same(other, read) for other in imputed):
        return read
    if any(estimate.value is None for estimate in imputed):
        return replace(read, imputed=Imputed(calls, None, None), bounds=None)
    every = read, *imputed
    lows, highs = zip(*(_ends(estimate, read) for estimate in every), strict=True)
    values = [estimate.value or 0.0 for estimate in every]
    return replace(
        read,
        imputed=Imputed(calls, min(lows), max(highs), min(values), max(values)),
        bounds=None if read.bounds is None else _bounds(read.bounds, imputed),
    )


def _same(one: Estimate, other: Estimate) -> bool:
    return (one.value, one.low, one.high, one.n) == (other.value, other.low, other.high, other.n)


def _ends(one: Estimate, read: Estimate) -> tuple[float, float]:
    """The ends of its interval; its value where it has none, or where the figure never has one."""
    value = one.value or 0.0
    if read.low is None and read.high is None:
        return value, value
    return value if one.low is None else one.low, value if one.high is None else one.high


def _bounds(read: Bounds, imputed: Sequence[Estimate]) -> Bounds:
    """Bounds that reach as far as those of any table, or its value where it has none."""
    values = [estimate.value or 0.0 for estimate in imputed]
    others = [
        one.bounds or Bounds(value, value) for one, value in zip(imputed, values, strict=True)
    ]
    every = (read, *others)
    seen = [one.seen or (one.low, one.high) for one in every]
    return replace(
        read,
        low=min(one.low for one in every),
        high=max(one.high for one in every),
        method=f"{read.method}; lost calls answered against the limit",
        seen=read.seen and (min(low for low, _ in seen), max(high for _, high in seen)),
    )
