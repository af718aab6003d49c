"""Page two: what can be done against a bias, whether it helps, and its price in calls."""

from collections.abc import Iterator
from dataclasses import dataclass

from judgesheet.records import AxisResult, Characteristic, Estimate, Mitigation
from judgesheet.spine.render import show
from judgesheet.spine.render.page.parts import Context, Mark, Trimmed, capital, trim

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
    void: str


def remedies(context: Context) -> Trimmed[Remedy]:
    """Every mitigation whose two figures were measured, axis by axis."""
    queues = [list(_of_axis(axis, context)) for axis in context.sheet.axes]
    return trim(queues, lambda _: 1, MOST_REMEDIES)


def _of_axis(axis: AxisResult, context: Context) -> Iterator[Remedy]:
    better = {row.key: row for row in axis.characteristics}
    for remedy in axis.mitigations:
        before, after, gain = map(context.estimates.get, (remedy.before, remedy.after, remedy.gain))
        if before is None or after is None or before.value is None or after.value is None:
            continue
        yield Remedy(
            action=capital(show.visible(remedy.action, 120)),
            figure=show.visible(before.label, 90),
            before=_figure(before),
            after=_figure(after),
            gain="" if gain is None or gain.value is None else _gain(gain),
            mark=_mark(remedy, before, after, gain, better.get(remedy.before)),
            calls=f"{show.count(remedy.calls)}×",
            void=context.void.get(axis.name, ""),
        )


def _figure(estimate: Estimate) -> str:
    """A figure with its interval; a range that reflects no sampling error is left out."""
    shown = show.estimate(estimate)
    is_interval = estimate.bounds is None or estimate.bounds.proves
    return shown.sentence if is_interval else shown.with_unit


def _gain(estimate: Estimate) -> str:
    """The difference with its interval; the columns beside it name the quantity."""
    shown = show.estimate(estimate)
    number = f"{shown.value} %" if shown.percent else shown.value
    return f"{number} ({shown.interval})" if shown.interval else number


def _mark(
    remedy: Mitigation,
    before: Estimate,
    after: Estimate,
    gain: Estimate | None,
    row: Characteristic | None,
) -> Mark:
    """Whether the gain is shown; without a figure of it, whether the two intervals lie apart."""
    if gain is not None and gain.least is not None and gain.most is not None:
        least, most = gain.least, gain.most
        return HELPS if least > 0 else WORSE if most < 0 else NOTHING if most < SMALL else NOT_SHOWN
    ends = (before.least, before.most, after.least, after.most)
    if remedy.gain or row is None or None in ends:
        return NOT_SHOWN
    lower, higher = (after.most or 0) < (before.least or 0), (after.least or 0) > (before.most or 0)
    if not (lower or higher) or row.better not in ("lower", "higher"):
        return NOT_SHOWN
    return HELPS if (row.better == "higher") == higher else WORSE
