"""Does a criterion's score depend on where the criterion stands in the list?

One prompt asks for scores on several criteria (setting 2 of Xu et al.). The same response is graded
on the same criteria, listed in other orders; the described scores of a criterion keep their order.

In reading order: `ask` (what is asked about, in which orders, how often), `read` (how a reply is
read, what lost ones could have said, what a simulated judge says), `scores` (the readings as
arrays) and `figures`. Figures that axes share are in `judgesheet.axis`: `reversal` (do scores and
winners change) and `differences` (what is gained). `effects` says which effects they measure.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgesheet.axis import Axis, Readings, losses, order_test, slices
from judgesheet.axis.arms import balanced
from judgesheet.axis.failing import Failing
from judgesheet.axis.figure import measured
from judgesheet.base.keys import Key
from judgesheet.base.records import Estimate

from . import ask, effects, figures, read
from .figures import FIGURES
from .read import points_by_place
from .scores import arrange, errors, figure


class CriterionOrder(Axis):
    """Whether a criterion's score depends on where the criterion stands in the list."""

    NAME = "criterion_order"
    TITLE = "Order of several criteria"
    QUESTION = "Are criteria scored by quality, not by their place?"
    PAPER = (
        "Xu, Hirasawa, Kozuno, Ushiku: Am I More Pointwise or Pairwise? Revealing Position Bias "
        "in Rubric-Based LLM-as-a-Judge, 2026"
    )
    READ_BY = frozenset({"order", "scale", "low", "step"})
    PERMUTED = frozenset({"criteria"})
    TAKES = ask.TAKES
    ESTIMATES = {
        **FIGURES,
        **figure.adopted(order_test, losses, slices),
    }
    EFFECTS = effects.EFFECTS
    FAILING = Failing(errors, "pearson_r", 25, points_by_place, "order_change_rate")

    material = staticmethod(ask.material)
    labels = staticmethod(ask.labels)
    check = staticmethod(ask.check)
    design = staticmethod(ask.design)
    fault = staticmethod(ask.fault)
    arm = staticmethod(ask.arm)
    shape = staticmethod(ask.shape)
    reading = staticmethod(read.reading)
    parts = staticmethod(read.parts)
    impute = staticmethod(read.impute)
    simulate = staticmethod(read.simulate)
    control = staticmethod(effects.control)
    mitigate = staticmethod(effects.mitigate)
    warn = staticmethod(effects.warn)

    def measure(self, readings: Readings) -> Iterator[Estimate]:
        """Every estimate of `ESTIMATES` that the run allows."""
        arranged = arrange(readings)
        if arranged is None:
            yield from figures.mean_delta_pos(None, readings.level)
        else:
            yield from measured(FIGURES, arranged, readings)
        yield from order_test.measure(self.NAME, readings, points_by_place)
        yield from losses.measure(self.NAME, readings)

    def reads(self, key: Key, cells: Sequence[Mapping[str, Any]]) -> list[bool]:
        """Those of the balanced arm, for figures that say so.

        `passes` are the first readings under every order, `repeats` all of them.
        """
        figure = self.ESTIMATES.get(key.name)
        if figure is None or not figure.reads or key.dims.get("arm", "balanced") != "balanced":
            return [True] * len(cells)
        return balanced(cells, repeats=figure.reads == "repeats")
