"""Whether what can be done against a bias helps."""

from dataclasses import replace
from typing import Literal

from judgesheet.base.datasheet import by_key
from judgesheet.base.records import AxisResult, Datasheet, Estimate, Gain, Mitigation

SMALL = 0.02
"""A gain that is proven smaller than this part of the scale is next to nothing."""
Outcome = Literal["helps", "harms", "gains nothing", "not shown"]


def with_remedies(sheet: Datasheet) -> Datasheet:
    """The sheet with the gain of every mitigation, and whether that is one."""
    found = by_key(sheet)
    return replace(
        sheet,
        axes=tuple(
            replace(axis, mitigations=tuple(_weighed(one, axis, found) for one in axis.mitigations))
            for axis in sheet.axes
        ),
    )


def _weighed(remedy: Mitigation, axis: AxisResult, found: dict[str, Estimate]) -> Mitigation:
    before, after = found.get(remedy.before), found.get(remedy.after)
    # A remedy without a figure for both is a promise, not a measurement.
    if before is None or after is None or before.value is None or after.value is None:
        return replace(remedy, gained=None, outcome="")
    if remedy.gain:
        known = found.get(remedy.gain)
        gain = None if known is None else Gain(known.value, known.least, known.most)
    else:
        better = {row.key: row.better for row in axis.characteristics}
        gain = _apart(before, after, better.get(remedy.before, ""))
    is_void = any(map(axis.void_reason, (remedy.before, remedy.after)))
    return replace(remedy, gained=gain, outcome="void" if is_void else _outcome(gain))


def _apart(before: Estimate, after: Estimate, better: str) -> Gain | None:
    """The difference, more where `after` is better, as far as the two intervals let it reach.

    Both come from the same calls, so that an interval of the difference itself would be narrower.
    """
    lower, higher = (after, before) if better == "lower" else (before, after)
    ends = (lower.value, lower.least, lower.most, higher.value, higher.least, higher.most)
    if better not in ("lower", "higher") or None in ends:
        return None
    return Gain(
        *(
            (high or 0.0) - (low or 0.0)
            for high, low in (
                (higher.value, lower.value),
                (higher.least, lower.most),
                (higher.most, lower.least),
            )
        )
    )


def _outcome(gain: Gain | None) -> Outcome:
    """What the interval of the gain shows."""
    if gain is None or gain.low is None or gain.high is None:
        return "not shown"
    if gain.low > 0:
        return "helps"
    return "harms" if gain.high < 0 else "gains nothing" if gain.high < SMALL else "not shown"
