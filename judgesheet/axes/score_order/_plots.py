"""The plots of score_order, each above what one sees in it."""

from dataclasses import replace

from judgesheet.axis.results import FLIPS, Plots, near_enough, nothing
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Plot

COLOURS_END = 3
"""Times the even share at which the colours of the heat map end."""


def _if_even(plot: Plot, estimates: Estimates) -> Plot | None:
    """Even shares only where the orders give them."""
    shares = (one for _, one in estimates.family("position_share") if one.value is not None)
    return plot if all(one.given["balanced"] for one in shares) else None


def _coloured(plot: Plot, estimates: Estimates) -> Plot | None:
    if places := len(estimates.family("position_share")):
        plot = replace(plot, ends=(0.0, min(1.0, COLOURS_END / places)))
    return _if_even(plot, estimates)


def _if_several_scales(plot: Plot, estimates: Estimates) -> Plot | None:
    return plot if any("scale" in dims for dims, _ in estimates.family("cramers_v")) else None


drawn = Plots()


drawn.but(_if_even).plot(
    kind="line",
    title="Where the chosen score stood",
    caption="Share of calls that chose each position of the rubric, with intervals. A judge that "
    "reads the content stays on the dashed line.",
    families=("position_share",),
    x="position",
    x_label="position in the rubric",
    y_label="share of calls",
    even=True,
    shows=("position_share",),
    brief="Share of calls that chose the score listed at each position; a judge that reads the "
    "content stays on the dashed line.",
)(nothing)


drawn.but(_coloured).plot(
    kind="heatmap",
    title="Score by position",
    caption="When a score was given, how often its line stood at each position. Every row of an "
    "unbiased judge is even.",
    families=("selection",),
    x="position",
    y="score",
    x_label="position in the rubric",
    y_label="score given",
    even=True,
)(nothing)


drawn.plot(
    kind="intervals",
    title="Does the order change the score?",
    caption="How often the score of a response changes under another order of the rubric, and when "
    "the same order is asked again (noise), with intervals.",
    families=("order_change_rate", "repeat_change_rate"),
    x_label="share of pairs of readings with different scores",
    words={
        "order_change_rate": "under another order",
        "repeat_change_rate": "under the same order (noise)",
    },
    shows=("order_change_rate",),
    brief="How often the score changes under another order of the rubric, and when the same order "
    "is asked again.",
)(nothing)


drawn.plot(
    kind="intervals",
    title="Does the order decide who is best?",
    caption="Pairs of readings of a prompt's responses that disagree on the best one: under two "
    "orders, under one order (noise), and the difference.",
    families=("order_flip_rate", "repeat_flip_rate", "excess_flip_rate"),
    x_label="share of pairs of readings that disagree",
    words=FLIPS,
    shows=("excess_flip_rate",),
    brief="How often two readings of a prompt's responses disagree on the best one under two "
    "orders, under one order, and the difference.",
)(nothing)


drawn.but(near_enough).plot(
    kind="line",
    title="How many orders are enough?",
    caption="Correlation of the mean over k orders with quality: mean and 2.5 to 97.5 percentile "
    "over all choices of k orders.",
    families=("budget_r",),
    x="k",
    series="arm",
    x_label="number of orders averaged",
    y_label="r with quality",
)(nothing)


drawn.but(_if_several_scales).plot(
    kind="line",
    title="Position preference by rubric length",
    caption="Cramér's V at each number of described scores, with intervals: 0 is no preference for "
    "a position, 1 always the same one.",
    families=("cramers_v",),
    x="scale",
    x_label="scores in the rubric",
    y_label="Cramér's V",
    reference=0.0,
    reference_label="no preference",
)(nothing)


plots = drawn.of
