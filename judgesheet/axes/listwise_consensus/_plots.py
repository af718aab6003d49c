"""The plots of listwise_consensus."""

from dataclasses import replace

from judgesheet.axis.results import FLIPS, Plots, nothing
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Plot

_ARMS = {"direct": "one call", "repeated": "one order again", "permuted": "several orders"}


def _if_even(plot: Plot, estimates: Estimates) -> Plot | None:
    """Even shares by place only where the orders give them."""
    shares = (one for _, one in estimates.family("win_share") if one.value is not None)
    return plot if all(one.given["balanced"] for one in shares) else None


def _against_chance(plot: Plot, estimates: Estimates) -> Plot:
    """With the line that picks at random would follow."""
    chance = estimates.known("chance_accuracy")
    return replace(plot, reference=chance.value) if chance else plot


drawn = Plots()


drawn.but(_against_chance).plot(
    kind="line",
    title="Does deciding from several runs help?",
    caption="How often the right answer is chosen, by number of calls per decision takes: under as "
    "many orders, always in the same order, and with one call. Intervals over prompts; the "
    "dashed line is a random pick.",
    families=("accuracy",),
    x="k",
    series="arm",
    x_label="calls per decision",
    y_label="right answer chosen",
    reference_label="a random pick",
    having={"executions": ""},
    words=_ARMS,
    shows=("accuracy", "gain"),
    brief="How often the right answer is chosen, by the calls that a decision takes.",
)(nothing)


drawn.but(_if_even).plot(
    kind="line",
    title="Where the winner stood",
    caption="Share of single calls won by each place in the list, with intervals. A judge that "
    "reads the content stays on the dashed line.",
    families=("win_share",),
    x="position",
    x_label="place in the list",
    y_label="share of winners",
    even=True,
    shows=("win_share",),
    brief="Share of single calls that each place in the list wins; a judge that reads the content "
    "stays on the dashed line.",
)(nothing)


drawn.plot(
    kind="intervals",
    title="Does the order decide who wins?",
    caption="Pairs of single calls on a list that choose different winners: under two orders, "
    "under one order (noise), and the difference.",
    families=("order_flip_rate", "repeat_flip_rate", "excess_flip_rate"),
    x_label="share of pairs of calls with different winners",
    words=FLIPS,
    shows=("order_flip_rate",),
    brief="How often two single calls on a list choose different winners under two orders, under "
    "one order, and the difference.",
)(nothing)


plots = drawn.of
