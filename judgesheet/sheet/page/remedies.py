"""Page two: what can be done against a bias, whether it helps, and its price in calls."""

from collections.abc import Iterator
from dataclasses import dataclass

from judgesheet.base.records import AxisResult, Estimate
from judgesheet.sheet import show
from judgesheet.sheet.page.parts import VOID, Context, Mark, Trimmed, capital, trim

HELPS = Mark("✓", "helps", "pass")
WORSE = Mark("✗", "makes it worse", "fail")
NOTHING = Mark("○", "gains next to nothing", "none-seen")
NOT_SHOWN = Mark("?", "not shown", "not-proven")
SMALL = 0.02
"""A gain that is proven smaller than this part of the scale is next to nothing."""
MOST_REMEDIES = 6


@dataclass(frozen=True, slots=True)
class Remedy:
    """A mitigation: the figure before and after, how much better it becomes, and its price."""

    action: str
    figure: str
    before: str
    after: str
    gain: str
    mark: Mark
    calls: str
    is_void: bool


def remedies(context: Context) -> Trimmed[Remedy]:
    """Every mitigation whose two figures were measured, axis by axis."""
    queues = [list(_of_axis(axis, context)) for axis in context.sheet.axes]
    return trim(queues, lambda _: 1, MOST_REMEDIES)


def _of_axis(axis: AxisResult, context: Context) -> Iterator[Remedy]:
    better = {row.key: row.better for row in axis.characteristics}
    for remedy in axis.mitigations:
        before, after = context.estimates.get(remedy.before), context.estimates.get(remedy.after)
        # A remedy without a figure for both is a promise, not a measurement.
        if before is None or after is None or before.value is None or after.value is None:
            continue
        gain = (
            context.estimates.get(remedy.gain)
            if remedy.gain
            else _apart(before, after, better.get(remedy.before, ""))
        )
        yield Remedy(
            action=capital(show.visible(remedy.action, 120)),
            figure=show.visible(before.label, 90),
            before=_figure(before),
            after=_figure(after),
            gain="" if gain is None or gain.value is None else show.estimate(gain).in_table,
            mark=VOID if axis.name in context.void else _mark(gain),
            calls=f"{show.count(remedy.calls)}×",
            is_void=axis.name in context.void,
        )


def _apart(before: Estimate, after: Estimate, better: str) -> Estimate | None:
    """The difference, more where `after` is better, as far as the two intervals let it reach.

    Both come from the same calls, so that an interval of the difference itself would be narrower.
    """
    lower, higher = (after, before) if better == "lower" else (before, after)
    ends = (lower.value, lower.least, lower.most, higher.value, higher.least, higher.most)
    if better not in ("lower", "higher") or None in ends:
        return None
    value, least, most = (
        (high or 0.0) - (low or 0.0)
        for high, low in (
            (higher.value, lower.value),
            (higher.least, lower.most),
            (higher.most, lower.least),
        )
    )
    return Estimate(before.key, before.label, value, least, most, before.level, before.unit)


def _figure(estimate: Estimate) -> str:
    """A figure with its interval; a range that reflects no sampling error is left out."""
    shown = show.estimate(estimate)
    is_interval = estimate.bounds is None or estimate.bounds.proves
    return shown.sentence if is_interval else shown.with_unit


def _mark(gain: Estimate | None) -> Mark:
    """Whether the interval of the gain shows one."""
    if gain is None or gain.least is None or gain.most is None:
        return NOT_SHOWN
    least, most = gain.least, gain.most
    return HELPS if least > 0 else WORSE if most < 0 else NOTHING if most < SMALL else NOT_SHOWN
