"""What one sees in a plot, as its title: decided by intervals, as findings are.

A result is "" where nothing is shown; the plot then says what is drawn.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import ParamSpec

from judgesheet.axis.statements import NEAR_ENOUGH, curve
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


Adjust = Callable[[Plot, Estimates], Plot | None]
"""A plot as it fits a run; None where the run has nothing for it."""
P = ParamSpec("P")


def as_declared(plot: Plot, _: Estimates) -> Plot:
    """The plot as it is, whatever the run."""
    return plot


class Plots:
    """The decorator with which an axis declares its plots: each above what one sees in it.

    A plot that shows no single thing is declared for `nothing`; `adjust` fits plots to a run.
    """

    def __init__(
        self,
        adjust: Adjust = as_declared,
        declared: list[tuple[Plot, Says, Adjust]] | None = None,
    ) -> None:
        self._adjust = adjust
        self._declared = [] if declared is None else declared
        self.plot = self._declaring(Plot)

    def _declaring(self, make: Callable[P, Plot]) -> Callable[P, Callable[[Says], Says]]:
        def declared(*args: P.args, **kwargs: P.kwargs) -> Callable[[Says], Says]:
            def with_result(says: Says) -> Says:
                self._declared.append((make(*args, **kwargs), says, self._adjust))
                return says

            return with_result

        return declared

    def but(self, adjust: Adjust) -> "Plots":
        """The same decorator for plots that fit a run in another way."""
        return Plots(adjust, self._declared)

    def of(self, estimates: Estimates) -> Iterator[Plot]:
        """The plots of a run in the order of their declaration, each with what one sees in it."""
        for plot, says, adjust in self._declared:
            if (fitted := adjust(plot, estimates)) is not None:
                yield replace(fitted, result=says(estimates))


def nothing(_: Estimates) -> str:
    """Of a plot that shows no single thing."""
    return ""


def near_enough(plot: Plot, estimates: Estimates) -> Plot:
    """The plot of such a curve, with the line that is near enough to all orders."""
    points = curve(estimates, plot.families[0], arm="balanced")
    if not points:
        return plot
    line = (points[-1][1].value or 0.0) - NEAR_ENOUGH
    return replace(plot, reference=line, reference_label=f"{NEAR_ENOUGH} below all orders")
