"""The plots of criterion_order, as data."""

from collections.abc import Iterator

from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Plot

_PLOTS = (
    Plot(
        kind="heatmap",
        title="Shift of each criterion by its place",
        caption="Mean score of a criterion at each position less its mean over positions, in "
        "points. Where the place does not matter, all cells are near 0.",
        families=("position_shift",),
        x="position",
        y="criterion",
        x_label="position in the list of criteria",
        y_label=" ",
        reference=0.0,
        shows=("delta_pos",),
        brief="Mean score of each criterion at each position less its mean over positions, in "
        "points; where the place does not matter, all are near 0.",
    ),
    Plot(
        kind="intervals",
        title="Position gap by criterion",
        caption="Best less worst position of each criterion, in points, with intervals. Noise "
        "alone gives more than 0; an interval that reaches 0 proves nothing.",
        families=("delta_pos",),
        x_label="points between the best and the worst position",
        reference=0.0,
    ),
    Plot(
        kind="intervals",
        title="Does the order of the criteria change a score?",
        caption="How often a criterion's score changes under another order of the criteria, when "
        "the same order is asked again (noise), and the difference, with intervals.",
        families=("order_change_rate", "repeat_change_rate", "excess_change_rate"),
        x_label="share of pairs of readings",
        reference=0.0,
        having={"criterion": ""},
        shows=("order_change_rate",),
        brief="How often a criterion's score changes under another order, when asked again, and "
        "the difference.",
    ),
    Plot(
        kind="line",
        title="How many orders of criteria are enough?",
        caption="Correlation of the mean over k orders with quality, mean over criteria.",
        families=("budget_r",),
        x="k",
        x_label="number of orders averaged",
        y_label="r with quality",
    ),
)


def plots(_: Estimates) -> Iterator[Plot]:
    """The plots of this axis; the caller leaves out those without figures in this run."""
    yield from _PLOTS
