"""What one sees in a plot, as its title: decided by intervals, as findings are.

A result is "" where nothing is shown; the plot then says what is drawn.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from judgesheet.axis.findings import changes_winner, enough, hardly_ranks, is_perfect
from judgesheet.axis.statements import (
    FEWEST_PROMPTS,
    NEAR_ENOUGH,
    above,
    curve,
    percentage_points,
    share,
)
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Plot

FLIPS = {
    "order_flip_rate": "under two orders",
    "repeat_flip_rate": "under one order (noise)",
    "excess_flip_rate": "difference: by the order",
}
"""What plots call the figures of winners that change."""
Says = Callable[[Estimates], str]
"""What a plot shows, in at most some sixty characters."""


def with_results(plots: Iterable[tuple[Plot, Says]], estimates: Estimates) -> Iterator[Plot]:
    """The plots, each with what one sees in it."""
    for plot, says in plots:
        yield replace(plot, result=says(estimates))


def nothing(_: Estimates) -> str:
    """Of a plot that shows no single thing."""
    return ""


def orders_enough(figure: str) -> Says:
    """How many orders come near what all of them give, on the curve of a figure.

    Where scores are not shown to follow quality, a curve of that says nothing.
    """

    def says(estimates: Estimates) -> str:
        few = enough(estimates, (figure,))
        if few is None or few.k == few.orders or few.at.clusters < FEWEST_PROMPTS:
            return ""
        r = estimates.of("pearson_r", arm="balanced")
        if figure == "budget_r" and not (above(r, 0.0) or (r is not None and is_perfect(r))):
            return ""
        come = "One order comes" if few.k == 1 else f"{few.k} orders come"
        return f"{come} within {NEAR_ENOUGH} of all {few.orders}"

    return says


def near_enough(plot: Plot, estimates: Estimates) -> Plot:
    """The plot of such a curve, with the line that is near enough to all orders."""
    points = curve(estimates, plot.families[0], arm="balanced")
    if not points:
        return plot
    line = (points[-1][1].value or 0.0) - NEAR_ENOUGH
    return replace(plot, reference=line, reference_label=f"{NEAR_ENOUGH} below all orders")


def flips(order: str, prompts: Callable[[Estimates], int]) -> Says:
    """Whether an order decides what comes out best; `prompts` counts those that were read."""

    def says(estimates: Estimates) -> str:
        excess = estimates.known("excess_flip_rate")
        if ties := hardly_ranks(estimates):
            return f"Several share the best score in {share(ties)} of readings"
        if excess is None or excess.most is None:
            return ""
        known = changes_winner(excess, prompts(estimates))
        if known == "shown":
            return f"{order} alone changes what is best: {percentage_points(excess.value or 0.0)}"
        if known == "cleared":
            most = percentage_points(excess.most or 0.0)
            return f"{order} changes what is best by {most} at most"
        return ""

    return says
