"""The plots of score_order, as data."""

from collections.abc import Iterator

from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Plot

_PLOTS = (
    Plot(
        kind="line",
        title="Where the chosen score stood",
        caption="Share of calls that chose each position of the rubric, with intervals. A "
        "judge that reads the content stays on the dashed line.",
        families=("position_share",),
        x="position",
        x_label="position in the rubric",
        y_label="share of calls",
        even=True,
        shows=("position_share",),
        brief="Share of calls that chose the score listed at each position; a judge that reads the "
        "content stays on the dashed line.",
    ),
    Plot(
        kind="line",
        title="Scores drawn and scores expected, by position",
        caption="Share of calls that chose each position, and the probability that the same calls "
        "gave it, with intervals. The judge's draws blur the first, not the second.",
        families=("position_share", "expected_position_mass"),
        x="position",
        x_label="position in the rubric",
        y_label="share",
        even=True,
    ),
    Plot(
        kind="heatmap",
        title="Score by position",
        caption="When a score was given, how often its line stood at each position. Every row of "
        "an unbiased judge is even.",
        families=("selection",),
        x="position",
        y="score",
        x_label="position in the rubric",
        y_label="score given",
        even=True,
    ),
    Plot(
        kind="intervals",
        title="Does the order change the score?",
        caption="How often the score of a response changes under another order of the rubric, and "
        "when the same order is asked again (noise), with intervals.",
        families=("order_change_rate", "repeat_change_rate"),
        x_label="share of pairs of readings",
        reference=0.0,
        shows=("order_change_rate",),
        brief="How often the score changes under another order of the rubric, and when the same "
        "order is asked again.",
    ),
    Plot(
        kind="intervals",
        title="Does the order decide who is best?",
        caption="Pairs of readings of a prompt's responses that disagree on the best one: under "
        "two orders, under one order (noise), and the difference.",
        families=("order_flip_rate", "repeat_flip_rate", "excess_flip_rate"),
        x_label="share of pairs of readings",
        reference=0.0,
        shows=("excess_flip_rate",),
        brief="How often two readings of a prompt's responses disagree on the best one under two "
        "orders, under one order, and the difference.",
    ),
    Plot(
        kind="line",
        title="How many orders are enough?",
        caption="Correlation of the mean over k orders with quality: mean and 2.5 to 97.5 "
        "percentile over all choices of k orders.",
        families=("budget_r",),
        x="k",
        series="arm",
        x_label="number of orders averaged",
        y_label="r with quality",
    ),
    Plot(
        kind="line",
        title="What averaging buys",
        caption="Gain in correlation with quality over a single reading: in all, the part that "
        "repeats of one order would give (noise), and the rest (order), with intervals.",
        families=("averaging_gain", "averaging_gain_noise", "averaging_gain_order"),
        x="k",
        x_label="number of orders averaged",
        y_label="gain in r",
        reference=0.0,
    ),
    Plot(
        kind="line",
        title="Agreement with the full set of orders",
        caption="Correlation of the mean over k orders with the mean over all of them.",
        families=("budget_agreement",),
        x="k",
        series="arm",
        x_label="number of orders averaged",
        y_label="r with all orders",
    ),
    Plot(
        kind="line",
        title="Position preference by rubric length",
        caption="Cramér's V at each number of described scores, with intervals.",
        families=("cramers_v",),
        x="scale",
        x_label="scores in the rubric",
        y_label="Cramér's V",
        reference=0.0,
    ),
)


def plots(estimates: Estimates) -> Iterator[Plot]:
    """The plots that this run has figures for; even shares only where the orders give them."""
    shares = [one for _, one in estimates.family("position_share") if one.value is not None]
    is_even = all(one.given["balanced"] for one in shares)
    several_scales = any("scale" in dims for dims, _ in estimates.family("cramers_v"))
    both_readings = all(map(estimates.family, ("position_share", "expected_position_mass")))
    for plot in _PLOTS:
        if plot.x == "scale" and not several_scales:
            continue
        if plot.even and not is_even:
            continue
        if "expected_position_mass" in plot.families and not both_readings:
            continue
        yield plot
