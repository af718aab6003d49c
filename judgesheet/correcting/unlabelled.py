"""What is identified without labels, from the design and the judge's datasheet; the rest is null.

A position that every pair was shown in both ways cancels by itself. Where only one order was shown,
the slot preference on the sheet's stimuli bounds it. Readings that are not what the judge says most
often pull results together, so that differences can be bounded by the noise of the sheet. What the
judge gets wrong beyond that, a sheet of other stimuli does not tell.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from judgesheet.base.keys import Key
from judgesheet.base.records import Datasheet, Estimate
from judgesheet.correcting.labelled import EstimatedSystem
from judgesheet.correcting.leaderboard import compared
from judgesheet.correcting.result import (
    ReportedNumber,
    Result,
    System,
    SystemDifference,
    not_reported,
    reported,
)
from judgesheet.correcting.sample import Sample, by_system, whole
from judgesheet.correcting.table import SHARES, Table
from judgesheet.stats import correction
from judgesheet.stats.correction import Corrected

SLOT, NOISE = "slot1_share", "repeat_change_rate"
"""Figures of a sheet: the share of decided calls that took the first slot, and how often a second
reading of the same prompt differs."""
NOT_YOUR_DATA = "no correction: the sheet's stimuli are not your data"
NO_LABELS = "no correction: without labels the judge's errors cannot be separated from the results"
SIGN_ONLY = "the sign comes from the judge's own verdicts; the size is not known"
BOTH_ORDERS = (
    "every pair was shown in both orders, so position favours neither response; the judge's other "
    "errors are not removed"
)


def bounded(start: Result, table: Table, sheet: Datasheet | None) -> Result:
    """The result without labels."""
    sample = whole(table)
    raw = correction.plain_mean(sample.verdicts, sample.clusters, table.scale)
    plain = reported(raw.interval, sample.verdicts.size)
    figures = list(_figures(sheet)) if sheet else []
    if table.paired:
        corrected = _position(sample, plain, _reach(figures, SLOT), _by_slot(table))
        one = System(sample.name, sample.verdicts.size, 0, plain, corrected)
        return replace(start, raw=plain, corrected=corrected, systems=(one,))
    nothing = not_reported(NOT_YOUR_DATA if sheet else NO_LABELS, "no_labels", sample.verdicts.size)
    start = replace(start, raw=plain, corrected=nothing)
    if len(table.systems) == 1:
        one = System(table.systems[0], sample.verdicts.size, 0, plain, nothing)
        return replace(start, systems=(one,))
    return _ranked(start, table, figures, nothing)


def _figures(sheet: Datasheet) -> Iterator[Estimate]:
    """The figures of comparisons that may be used: of axes that know a first slot."""
    for axis in sheet.axes:
        if any(Key.parse(one.key).name == SLOT for one in axis.estimates):
            yield from (one for one in axis.estimates if not axis.void_reason(one.key))


def _reach(figures: list[Estimate], name: str) -> tuple[float, float] | None:
    """The ends of the figure of a name that rests on most calls; None where none has ends.

    The farthest of all would be those of a set with few calls, which bound nothing.
    """
    known = [
        (one.n, (one.low, one.high))
        for one in figures
        if Key.parse(one.key).name == name and one.low is not None and one.high is not None
    ]
    return max(known)[1] if known else None


def _by_slot(table: Table) -> int:
    """How many pairs the same slot won in both orders, which say nothing of the responses."""
    verdicts: defaultdict[str, list[float | None]] = defaultdict(list)
    for row in table.rows:
        verdicts[row.id].append(row.verdict)
    return sum(said in ([1.0, 1.0], [0.0, 0.0]) for said in verdicts.values())


def _position(
    sample: Sample, raw: ReportedNumber, slot: tuple[float, float] | None, by_slot: int
) -> ReportedNumber:
    """A win rate without what the slot adds to it.

    With w1 and w2 the rates under the two orders, the sheet's share s of slot 1 is (w1 + 1 - w2)/2,
    so (w1 + w2) / 2 = w1 - (s - 1/2): a pair shown first only is too high by s - 1/2, one shown
    second only too low. On other pairs the effect may be smaller, down to none.
    """
    rows, once = sample.verdicts.size, int((sample.shown != 0).sum())
    if not once:
        told = f"{by_slot:,} of {rows:,} pairs were won by the same slot twice, which counts half"
        note = f"{BOTH_ORDERS}; {told} to each and draws the rate towards 50 %"
        return replace(
            raw,
            note=note if by_slot else BOTH_ORDERS,
            method=f"both orders averaged; {raw.method}",
        )
    told = f"{once:,} of {rows:,} pairs were shown in one order only"
    if slot is None or raw.low is None or raw.high is None:
        why = f"{told}, and no sheet limits the judge's slot preference"
        return not_reported(f"no correction: {why}", "one_order", rows)
    tilt = float(sample.shown.mean())
    moves = [tilt * (share - 0.5) for share in (min(slot[0], 0.5), max(slot[1], 0.5))]
    bounds = max(0.0, raw.low - max(moves)), min(1.0, raw.high - min(moves))
    note = (
        f"{told}: bounds for a slot preference between none and the sheet's; no value, as the "
        "sheet's stimuli are not your data"
    )
    return not_reported(note, "bounded", rows, bounds, "partial identification of the slot effect")


def _ranked(
    start: Result, table: Table, figures: list[Estimate], nothing: ReportedNumber
) -> Result:
    """Systems by their raw results: noise moves no rank, and differences are at least as large."""
    every = sorted({row.group for row in table.rows})
    estimated = [_raw(one, table, every, nothing) for one in by_system(table)]
    systems, differences = compared(estimated, table.scale)
    factor = _attenuation(_reach(figures, NOISE)) if table.kind != "mean" else None
    return replace(
        start,
        systems=systems,
        differences=tuple(_undone(one, factor, shares=table.kind != "mean") for one in differences),
        warnings=(
            *start.warnings,
            "ranks are those of the judge's own verdicts: errors that affect all systems equally "
            "do not change them, a preference of the judge for one, or more noise there, does",
        ),
    )


def _raw(
    sample: Sample, table: Table, every: list[str], nothing: ReportedNumber
) -> EstimatedSystem:
    found: Corrected = correction.plain_mean(sample.verdicts, sample.clusters, table.scale)
    rows = sample.verdicts.size
    system = System(sample.name, rows, 0, reported(found.interval, rows), nothing)
    return EstimatedSystem(system, found.interval, sample.aligned(found.parts, every))


def _attenuation(changes: tuple[float, float] | None) -> float | None:
    """What is left of a difference at least, where two readings of a row differ so often.

    A reading that is not the most frequent one of its row at rate e moves a mean by e at most, so
    1 - 2e of a difference is left. Two readings differ at rate e or more, and at no more than that
    where few rows have all the noise: sqrt(1 - 2 changes) would hold of equal noise alone. Where
    the rows of one system have more noise than those of another, a difference may even turn.
    """
    return None if changes is None or changes[1] >= 0.5 else 1 - 2 * changes[1]


def _undone(
    difference: SystemDifference, factor: float | None, *, shares: bool
) -> SystemDifference:
    """A difference as far as noise may have shrunk it: no value, but bounds."""
    raw = difference.figure
    if raw.low is None or raw.high is None:
        return difference
    known = SIGN_ONLY if difference.stands else NO_LABELS
    if factor is None:
        why = "noise may have shrunk it by any factor"
        if not shares:
            why = "no sheet says how far the judge's scale is from that of people"
        return replace(difference, figure=not_reported(f"{known}; {why}", "no_labels", raw.n))
    low = raw.low / factor if raw.low < 0 else raw.low
    high = raw.high / factor if raw.high > 0 else raw.high
    bounds = max(-SHARES[1], low), min(SHARES[1], high)
    note = (
        "bounds for noise between none and the sheet's largest, if it is alike for both systems; "
        "no other error is removed"
    )
    method = "partial identification of the attenuation"
    return replace(difference, figure=not_reported(note, "bounded", raw.n, bounds, method))
