"""What each figure means: how its limit came out, else what the figure shows by itself."""

from collections.abc import Iterator
from dataclasses import replace

from judgesheet.base.datasheet import by_key, worst_verdicts
from judgesheet.base.keys import Key
from judgesheet.base.records import (
    AxisResult,
    Characteristic,
    Datasheet,
    Estimate,
    FigureCode,
    FigureStatus,
    Summary,
    Verdict,
)
from judgesheet.base.units import unit
from judgesheet.decide.bounded_value import BoundedValue
from judgesheet.decide.findings import GOOD, PROBLEM, STOP, UNKNOWN, kind
from judgesheet.decide.gate import weight

SIGNIFICANT = 0.05
VISIBLE = 0.10
"""Without a limit, a null result counts as seen if a tenth of the scale would have shown."""
ODD_REPLY = 0.01
"""Where "no effect" is the end of the scale, one odd reply moves an interval off it: so much less
than this share is still none."""


def with_statuses(sheet: Datasheet) -> Datasheet:
    """The sheet with the meaning of every figure that is marked, and each axis in one figure."""
    found, verdicts = by_key(sheet), worst_verdicts(sheet)
    axes = []
    for axis in sheet.axes:
        marked = replace(axis, statuses=dict(_statuses(axis, found, verdicts)))
        axes.append(replace(marked, summary=_summary(marked, verdicts)))
    return replace(sheet, axes=tuple(axes))


def _statuses(
    axis: AxisResult, found: dict[str, Estimate], verdicts: dict[str, Verdict]
) -> Iterator[tuple[str, FigureStatus]]:
    rows = {row.key: row for row in axis.characteristics}
    limited = (key for key in verdicts if Key.parse(key).axis == axis.name)
    problems = {
        key
        for finding in axis.findings
        if finding.tone == "bad" and not finding.void
        for key in finding.evidence[:1]
    }
    evidence = (key for finding in axis.findings for key in finding.evidence)
    for key in dict.fromkeys((*rows, *limited, *evidence)):
        if (estimate := found.get(key)) is not None:
            row = rows.get(key) or Characteristic(key)
            noise = found.get(row.noise)
            null = _is_null(estimate, row.null)
            code, why = _meaning(axis, key, verdicts.get(key), is_problem=key in problems)
            code = code or _alone(estimate, row.null, noise)
            yield key, FigureStatus(code, detectable(estimate) if null else None, why)


def _meaning(
    axis: AxisResult, key: str, verdict: Verdict | None, *, is_problem: bool
) -> tuple[FigureCode, str]:
    """What is known of a figure beside its interval, and why it is void; "" where nothing is.

    A limit says more than whether there is any effect, and a finding more than one interval.
    """
    unearned = axis.unearned.get(key, "")
    if verdict is not None:
        # An open limit is no fault: what is well in its figure is no merit all the same.
        if unearned and verdict.status == "inconclusive":
            return "invalid", unearned
        return verdict.status, verdict.why if verdict.status == "invalid" else ""
    if why := axis.silent_reason(key):
        return "invalid", why
    if is_problem:
        return "problem", ""
    return ("invalid" if unearned else ""), unearned


def _alone(estimate: Estimate, null: float | None, noise: Estimate | None) -> FigureCode:
    """What a figure shows by itself, beside its noise or the value that would mean no effect."""
    value = estimate.value
    if value is None:
        return ""
    if noise is not None and noise.value is not None:
        return _beyond_noise(estimate, noise.value, noise.most)
    if unit(estimate.unit).kind == "p-value":
        greatest = value if estimate.greatest is None else estimate.greatest
        return "effect" if greatest < SIGNIFICANT else "open"
    if null is None or estimate.least is None:
        return ""
    least = detectable(estimate) if _is_null(estimate, null) else None
    if least is not None:
        # A tenth means something on a scale with ends alone.
        bounded = unit(estimate.unit).ends is not None
        return "none seen" if bounded and least <= VISIBLE else "open"
    # Where noise counts and nobody asked twice, what is not 0 may all be noise.
    return "effect" if noise is None and _excludes(estimate, null) else "open"


def _beyond_noise(estimate: Estimate, noise: float, most: float | None) -> FigureCode:
    """Whether the intervals separate the effect of the order from repetition."""
    low, high = estimate.least, estimate.most
    if low is None or high is None:
        return ""
    if (noise if most is None else most) < low:
        return "effect"
    return "noise" if low <= noise <= high else "open"


def detectable(estimate: Estimate) -> float | None:
    """The smallest effect that this design would find in 80 of 100 runs; None without interval."""
    value, low, high = estimate.value, estimate.low, estimate.high
    if value is None or low is None or high is None or not 0 < estimate.level < 1:
        return None
    return BoundedValue(value, low, high).detectable(estimate.level)


def _is_null(estimate: Estimate, null: float | None) -> bool:
    """Whether the interval has two ends and holds the value that would mean no effect."""
    if null is None or estimate.least is None or estimate.most is None:
        return False
    return not _excludes(estimate, null)


def _excludes(estimate: Estimate, null: float) -> bool:
    """Whether the value that would mean no effect lies beyond an end of the interval."""
    low, high = estimate.least, estimate.most
    slack = ODD_REPLY if null in (unit(estimate.unit).ends or ()) else 0.0
    return (low is not None and null < low - slack) or (high is not None and null > high + slack)


# -- an axis in one figure -------------------------------------------------------------------------


def _summary(axis: AxisResult, verdicts: dict[str, Verdict]) -> Summary:
    """The figure that stands for the axis, and the outcome of the axis as a whole.

    Where limits decide, that is the figure that decides most.
    """
    mine = [v for key, v in verdicts.items() if Key.parse(key).axis == axis.name]
    limited = sorted(mine, key=weight)
    ranked = sorted(axis.findings, key=lambda finding: finding.rank)
    measured = {estimate.key for estimate in axis.estimates if estimate.value is not None}
    candidates = (
        *(verdict.key for verdict in limited),
        *(key for finding in ranked for key in finding.evidence),
        *(row.key for row in axis.characteristics),
    )
    key = next((key for key in candidates if key in measured), "")
    if axis.invalid is not None:
        return Summary(key, "invalid")
    if limited and limited[0].status == "fail":
        return Summary(key, "fail")
    kinds = {kind(finding) for finding in axis.findings}
    if kinds & {STOP, PROBLEM}:
        return Summary(_first(axis, {STOP, PROBLEM}, measured) or key, "problem")
    if limited:
        return Summary(key, limited[0].status)
    if axis.void_reason(key):
        return Summary(key, "invalid")
    is_open = any(kind(one) == UNKNOWN and key in one.evidence for one in axis.findings)
    return Summary(key, "good" if GOOD in kinds and not is_open else "open")


def _first(axis: AxisResult, kinds: set[int], measured: set[str]) -> str:
    """The first measured figure behind the first finding of these kinds."""
    ranked = sorted(axis.findings, key=lambda finding: finding.rank)
    keys = (key for one in ranked if kind(one) in kinds for key in one.evidence)
    return next((key for key in keys if key in measured), "")
