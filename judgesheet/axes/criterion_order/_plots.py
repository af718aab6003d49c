"""The plots of criterion_order, each above what one sees in it."""

from dataclasses import replace

from judgesheet.axis.results import Plots, near_enough, orders_enough
from judgesheet.axis.statements import at_most, beyond_noise, scale_points, share
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Plot

from .findings import SMALL_CHANGES, clears, moved_criteria, moves_score, points_of_scale

COLOURS_END = 1 / 4
"""Shift, as a part of the scale, at which the colours of the heat map end: 1 point of 1 to 5."""


def _around_the_mean(plot: Plot, estimates: Estimates) -> Plot:
    reach = points_of_scale(estimates, COLOURS_END)
    return replace(plot, ends=(-reach, reach))


def _up_to_the_reach(plot: Plot, estimates: Estimates) -> Plot:
    return replace(plot, ends=(0.0, points_of_scale(estimates, COLOURS_END)))


drawn = Plots()


@drawn.but(_around_the_mean).plot(
    kind="heatmap",
    title="Shift of each criterion by its place",
    caption="Mean score of a criterion at each position minus its mean over positions, in points. "
    "If the place does not matter, all cells are near 0.",
    families=("position_shift",),
    x="position",
    y="criterion",
    x_label="position in the list of criteria",
    y_label=" ",
    reference=0.0,
    reference_label="its mean",
    shows=("delta_pos",),
    brief="Mean score of each criterion at each position minus its mean over positions, in points; "
    "where the place does not matter, all are near 0.",
)
def _shift(estimates: Estimates) -> str:
    """The criterion that moves most with its place, or that none does by much."""
    gaps, most = moved_criteria(estimates), estimates.known("max_delta_pos")
    if gaps:
        name, gap = next(iter(gaps.items()))
        return f"{name} scores {scale_points(gap)} more at its best place than at its worst"
    if most is not None and moves_score(estimates) == "cleared":
        return f"No criterion moves by more than {scale_points(most, 'most')} with its place"
    return ""


@drawn.but(_up_to_the_reach).plot(
    kind="intervals",
    title="Position gap by criterion",
    caption="Best minus worst position of each criterion, in points, with intervals. Noise alone "
    "gives more than 0; an interval that reaches 0 proves nothing.",
    families=("delta_pos",),
    x_label="points between the best and the worst position",
    reference=0.0,
    reference_label="no effect",
)
def _gaps(estimates: Estimates) -> str:
    """How many criteria are shown to depend on their place."""
    gaps, criteria = moved_criteria(estimates), estimates.family("delta_pos")
    if not gaps:
        return ""
    return f"{len(gaps)} of {len(criteria)} criteria: the score depends on the place in the list"


@drawn.plot(
    kind="intervals",
    title="Does the order of the criteria change a score?",
    caption="How often a criterion's score changes under another order of the criteria, when the "
    "same order is asked again (noise), and the difference, with intervals.",
    families=("order_change_rate", "repeat_change_rate", "excess_change_rate"),
    x_label="share of pairs of readings",
    having={"criterion": ""},
    words={
        "order_change_rate": "under another order",
        "repeat_change_rate": "under the same order (noise)",
        "excess_change_rate": "difference: by the order",
    },
    shows=("order_change_rate",),
    brief="How often a criterion's score changes under another order, when asked again, and the "
    "difference.",
)
def _changes(estimates: Estimates) -> str:
    """Whether the order of the criteria does more than noise."""
    excess, change = estimates.known("excess_change_rate"), estimates.known("order_change_rate")
    if excess is not None and beyond_noise(excess):
        return f"The order changes {share(excess)} of scores beyond noise"
    if change is not None and clears(estimates, change, SMALL_CHANGES):
        return f"Another order changes {at_most(change.most or 0.0)} of scores at most"
    return ""


drawn.but(near_enough).plot(
    kind="line",
    title="How many orders of criteria are enough?",
    caption="Correlation of the mean over k orders with quality, mean over criteria; of these "
    "readings, without intervals.",
    families=("budget_r",),
    x="k",
    x_label="number of orders averaged",
    y_label="r with quality",
)(orders_enough)


plots = drawn.of
