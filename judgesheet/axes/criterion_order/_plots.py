"""The plots of criterion_order, each above what one sees in it."""

from dataclasses import replace

from judgesheet.axis.results import Plots, near_enough, nothing
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Plot

COLOURS_END = 1 / 4
"""Shift, as a part of the scale, at which the colours of the heat map end: 1 point of 1 to 5."""


def _reach(estimates: Estimates) -> float:
    gap = estimates.of("mean_delta_pos")
    lists = {} if gap is None else gap.given
    return COLOURS_END * float(((lists.get("scale") or 5) - 1) * lists.get("step", 1))


def _around_the_mean(plot: Plot, estimates: Estimates) -> Plot:
    reach = _reach(estimates)
    return replace(plot, ends=(-reach, reach))


def _up_to_the_reach(plot: Plot, estimates: Estimates) -> Plot:
    return replace(plot, ends=(0.0, _reach(estimates)))


drawn = Plots()


drawn.but(_around_the_mean).plot(
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
)(nothing)


drawn.but(_up_to_the_reach).plot(
    kind="intervals",
    title="Position gap by criterion",
    caption="Best minus worst position of each criterion, in points, with intervals. Noise alone "
    "gives more than 0; an interval that reaches 0 proves nothing.",
    families=("delta_pos",),
    x_label="points between the best and the worst position",
    reference=0.0,
    reference_label="no effect",
)(nothing)


drawn.plot(
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
)(nothing)


drawn.but(near_enough).plot(
    kind="line",
    title="How many orders of criteria are enough?",
    caption="Correlation of the mean over k orders with quality, mean over criteria; of these "
    "readings, without intervals.",
    families=("budget_r",),
    x="k",
    x_label="number of orders averaged",
    y_label="r with quality",
)(nothing)


plots = drawn.of
