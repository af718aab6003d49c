"""Whether what can be done against a bias helps."""

from dataclasses import replace
from typing import Literal

from judgesheet.base.records import AxisResult, Estimate, Mitigation

SMALL = 0.02
"""A gain that is proven smaller than this part of the scale is next to nothing."""
Outcome = Literal["helps", "harms", "gains nothing", "not shown"]


def weighed(remedy: Mitigation, axis: AxisResult, found: dict[str, Estimate]) -> Mitigation:
    """The mitigation, which says whether it helps."""
    before, after = found.get(remedy.before), found.get(remedy.after)
    # A remedy without a figure for both is a promise, not a measurement.
    if before is None or after is None or before.value is None or after.value is None:
        return replace(remedy, outcome="")
    if remedy.gain:
        known = found.get(remedy.gain)
        ends = (None, None) if known is None else (known.least, known.most)
    else:
        better = {row.key: row.better for row in axis.characteristics}
        ends = _apart(before, after, better.get(remedy.before, ""))
    is_void = any(map(axis.void_reason, (remedy.before, remedy.after)))
    return replace(remedy, outcome="void" if is_void else _outcome(*ends))


def _apart(before: Estimate, after: Estimate, better: str) -> tuple[float | None, float | None]:
    """How far the two intervals let the difference reach, above 0 where `after` is better.

    Both come from the same calls, so that an interval of the difference itself would be narrower.
    """
    lower, higher = (after, before) if better == "lower" else (before, after)
    if better not in ("lower", "higher") or lower.least is None or higher.least is None:
        return None, None
    if lower.most is None or higher.most is None:
        return None, None
    return higher.least - lower.most, higher.most - lower.least


def _outcome(low: float | None, high: float | None) -> Outcome:
    """What the interval of the gain shows."""
    if low is None or high is None:
        return "not shown"
    if low > 0:
        return "helps"
    return "harms" if high < 0 else "gains nothing" if high < SMALL else "not shown"
