"""The plots of listwise_consensus, as data."""

from collections.abc import Iterator
from dataclasses import replace

from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Plot

_ARMS = {"direct": "one call", "repeated": "one order again", "permuted": "several orders"}

_PLOTS = (
    Plot(
        kind="line",
        title="Does deciding from several runs help?",
        caption="How often the right answer is chosen, by number of calls a decision takes: under "
        "as many orders, in one order again and again, and with one call. Intervals over "
        "prompts; the dashed line is a blind pick.",
        families=("accuracy",),
        x="k",
        series="arm",
        x_label="calls a decision",
        y_label="right answer chosen",
        having={"executions": ""},
        words=_ARMS,
        shows=("accuracy", "gain"),
        brief="How often the right answer is chosen, by the calls that a decision takes; the "
        "dashed line is a blind pick.",
    ),
    Plot(
        kind="heatmap",
        title="Who won under which order",
        caption="Where the winner of a single call stood, by where the right answer stood. A judge "
        "that finds it everywhere is dark on the diagonal; a place that wins by itself is a dark "
        "column.",
        families=("winner_place",),
        x="position",
        y="gold",
        x_label="place of the winner",
        y_label="place of the right answer",
        even=True,
    ),
    Plot(
        kind="line",
        title="Where the winner stood",
        caption="Share of single calls won by each place in the list, with intervals. A judge "
        "that reads the content stays on the dashed line.",
        families=("win_share",),
        x="position",
        x_label="place in the list",
        y_label="share of winners",
        even=True,
        shows=("win_share",),
        brief="Share of single calls that each place in the list wins; a judge that reads the "
        "content stays on the dashed line.",
    ),
    Plot(
        kind="bars",
        title="How many orders agree?",
        caption="Share of prompts on which this many single orders choose the winner of all orders "
        "together. All at the right: the order never matters.",
        families=("agreeing_orders",),
        x="orders",
        x_label="orders that agree",
        y_label="share of prompts",
        reference=0.0,
    ),
    Plot(
        kind="intervals",
        title="Does the order decide who wins?",
        caption="Pairs of single calls on a list that choose different winners: under two orders, "
        "under one order (noise), and the difference.",
        families=("order_flip_rate", "repeat_flip_rate", "excess_flip_rate"),
        x_label="share of pairs of calls",
        reference=0.0,
        shows=("order_flip_rate",),
        brief="How often two single calls on a list choose different winners under two orders, "
        "under one order, and the difference.",
    ),
    Plot(
        kind="line",
        title="How many orders are enough?",
        caption="How often the decision from k orders is that of all of them, with intervals "
        "over prompts.",
        families=("subset_agreement",),
        x="k",
        x_label="orders a decision",
        y_label="same winner as with all",
    ),
)


def plots(estimates: Estimates) -> Iterator[Plot]:
    """The plots of this axis, with the line that blind picks would follow.

    Even shares by place only where the orders give them.
    """
    shares = [one for _, one in estimates.family("win_share") if one.value is not None]
    is_even = all(one.given["balanced"] for one in shares)
    chance = estimates.known("chance_accuracy")
    for plot in _PLOTS:
        if plot.even and not is_even:
            continue
        blind = chance if plot.families == ("accuracy",) else None
        yield replace(plot, reference=blind.value) if blind else plot
