"""Page two: what can be done against a bias, whether it helps, and its price in calls."""

from collections.abc import Iterator
from dataclasses import dataclass

from judgesheet.base.limits import MOST_SHOWN
from judgesheet.base.records import AxisResult, Estimate, Mitigation
from judgesheet.base.sanitize import capital
from judgesheet.base.units import unit
from judgesheet.sheet import show
from judgesheet.sheet.page.parts import VOID, Context, Mark, Trimmed, trim

OUTCOMES = {
    "helps": Mark("✓", "helps", "pass"),
    "harms": Mark("✗", "makes it worse", "fail"),
    "gains nothing": Mark("○", "gains almost nothing", "none-seen"),
    "not shown": Mark("?", "not shown", "not-proven"),
    "void": VOID,
}
"""What came of a mitigation -> how it is marked."""


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
    return trim(queues, MOST_SHOWN)


def _of_axis(axis: AxisResult, context: Context) -> Iterator[Remedy]:
    for remedy in axis.mitigations:
        # A sheet that was edited may lack a figure that its mitigations name.
        before, after = (context.estimates.get(key) for key in (remedy.before, remedy.after))
        if remedy.outcome and before and after:
            yield Remedy(
                action=capital(show.visible(remedy.action, 120)),
                figure=show.visible(before.label, 90),
                before=_figure(before),
                after=_figure(after),
                gain=_gain(remedy, before),
                mark=OUTCOMES[remedy.outcome],
                calls=f"{show.count(remedy.calls)}×",
                is_void=remedy.outcome == "void",
            )


def _gain(remedy: Mitigation, before: Estimate) -> str:
    gained = remedy.gained
    if gained is None or gained.value is None:
        return ""
    # The difference of two shares is in percentage points.
    given_in = "difference" if unit(before.unit).percent else before.unit
    return show.quantity(gained.value, gained.low, gained.high, given_in).in_table


def _figure(estimate: Estimate) -> str:
    """A figure with its interval; a range that reflects no sampling error is left out."""
    shown = show.estimate(estimate)
    is_interval = estimate.bounds is None or estimate.bounds.proves
    return shown.sentence if is_interval else shown.with_unit
