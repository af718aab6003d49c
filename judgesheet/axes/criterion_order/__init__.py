"""Does a criterion's score depend on where the criterion stands in the list?

One prompt asks for scores on several criteria (setting 2 of Xu et al.). The same response is graded
on the same criteria, listed in other orders; the described scores of a criterion keep their order.

In reading order: `_questions` (what is asked about, in which orders, how often), `_reply` (how a
reply is read, what lost ones could have said), `_scores` (the readings as arrays), then the
figures: `positions` (does a place score higher), `scores` (does the order change scores, do they
follow quality) and `averaging` (how many orders are enough). Those that axes share are in
`judgesheet.axis`: `reversal` (do scores and winners change), `raters` and `differences`. `effects`
says which effects they measure.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgesheet.axis import (
    Axis,
    Readings,
    differences,
    losses,
    order_test,
    reversal,
    scale_use,
    slices,
)
from judgesheet.axis.arms import balanced
from judgesheet.axis.failing import Failing
from judgesheet.axis.figure import declared_in, measured
from judgesheet.axis.scored import FIXED_TOO, RANDOM_TOO
from judgesheet.base.keys import Key
from judgesheet.base.records import Estimate

from . import _questions, _reply, averaging, effects, positions, scores
from ._reply import points_by_place
from ._scores import REPEATED, arrange, errors, figure

_OF_SCORES = {"top1_flip_rate", "kendall_tau"}
"""Figures of the order of scores in a rubric, which are not asked of criteria."""
_SHARED = figure.adopted(reversal, scale_use).items()
FIGURES = {
    **declared_in(positions),
    **{name: one for name, one in _SHARED if name not in _OF_SCORES},
    **declared_in(scores),
    **figure.adopted(differences),
    **declared_in(averaging),
    "repeat_change_rate": figure.of(reversal.repeat_change_rate, missing=REPEATED),
    "excess_change_rate": figure.of(reversal.excess_change_rate, missing=REPEATED),
    "repeat_flip_rate": figure.of(reversal.repeat_flip_rate, missing=REPEATED),
    "excess_flip_rate": figure.of(reversal.excess_flip_rate, headline=45, missing=REPEATED),
    "delta_r": figure.of(
        differences.delta_r,
        missing={
            "arms=balanced-fixed": f"{FIXED_TOO}, and labels",
            "arms=balanced-random": f"{RANDOM_TOO}, and labels",
        },
    ),
}
"""The figures of the scores."""


class CriterionOrder(Axis):
    """Whether a criterion's score depends on where the criterion stands in the list."""

    NAME = "criterion_order"
    TITLE = "Order of several criteria"
    QUESTION = "Does a criterion's place in the list change its score?"
    PAPER = (
        "Xu, Hirasawa, Kozuno, Ushiku: Am I More Pointwise or Pairwise? Revealing Position Bias "
        "in Rubric-Based LLM-as-a-Judge, 2026"
    )
    READ_BY = frozenset({"order", "scale", "low", "step"})
    PERMUTED = frozenset({"criteria"})
    TAKES = _questions.TAKES
    ESTIMATES = {
        **FIGURES,
        **figure.adopted(order_test, losses, slices),
    }
    EFFECTS = effects.EFFECTS
    FAILING = Failing(errors, "pearson_r", 25, points_by_place, "order_change_rate")

    material = staticmethod(_questions.material)
    labels = staticmethod(_questions.labels)
    check = staticmethod(_questions.check)
    design = staticmethod(_questions.design)
    fault = staticmethod(_questions.fault)
    arm = staticmethod(_questions.arm)
    shape = staticmethod(_questions.shape)
    reading = staticmethod(_reply.reading)
    parts = staticmethod(_reply.parts)
    impute = staticmethod(_reply.impute)
    simulate = staticmethod(_reply.simulate)
    control = staticmethod(effects.control)
    mitigate = staticmethod(effects.mitigate)
    warn = staticmethod(effects.warn)

    def measure(self, readings: Readings) -> Iterator[Estimate]:
        """Every estimate of `ESTIMATES` that the run allows."""
        arranged = arrange(readings)
        if arranged is None:
            yield from positions.mean_delta_pos(None)
        else:
            yield from measured(FIGURES, arranged, readings.families)
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
