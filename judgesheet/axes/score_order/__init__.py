"""Does a score depend on the order in which the rubric lists its descriptions?

The same response is graded against the same described scores, listed in other orders (setting 1 of
Xu et al.). A rubric is in effect a multiple-choice question, and a judge can follow the place of a
line instead of its content.

In reading order: `ask` (what is asked about, in which orders, how often), `read` (how a reply is
read, what lost ones could have said, what a simulated judge says), `scores` (the readings as
arrays) and `figures`. Figures that axes share are in `judgesheet.axis`: `reversal` (do scores and
winners change), `raters` (how reliable are the labels) and `differences` (what is gained).
`effects` says which effects they measure.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from judgesheet.axis import Axis, Readings, losses, order_test, slices
from judgesheet.axis.arms import balanced
from judgesheet.axis.failing import Failing
from judgesheet.axis.figure import measured
from judgesheet.base.keys import Key
from judgesheet.base.records import Estimate

from . import ask, effects, figures, read
from .ask import MAIN_SCALE
from .figures import EXPECTED, SAMPLED
from .read import points_by_place
from .scores import Scores, arrange, errors, figure


class ScoreOrder(Axis):
    """Whether a score depends on the order in which the rubric lists its descriptions."""

    NAME = "score_order"
    TITLE = "Order of the rubric's scores"
    QUESTION = "Are scores given by quality, not by the order of the rubric?"
    PAPER = (
        "Xu, Hirasawa, Kozuno, Ushiku: Am I More Pointwise or Pairwise? Revealing Position Bias "
        "in Rubric-Based LLM-as-a-Judge, 2026"
    )
    READ_BY = frozenset({"scale", "low", "step"})
    PERMUTED = frozenset({"options"})
    TAKES = ask.TAKES
    ONE_CRITERION = ask.ONE_CRITERION
    ESTIMATES = {
        **SAMPLED,
        **EXPECTED,
        **figure.adopted(order_test, losses, slices),
    }
    EFFECTS = effects.EFFECTS
    FAILING = Failing(errors, "pearson_r", 5, points_by_place, "order_change_rate")

    material = staticmethod(ask.material)
    labels = staticmethod(ask.labels)
    check = staticmethod(ask.check)
    design = staticmethod(ask.design)
    fault = staticmethod(ask.fault)
    cannot_show = staticmethod(ask.cannot_show)
    arm = staticmethod(ask.arm)
    shape = staticmethod(ask.shape)
    reading = staticmethod(read.reading)
    distribution = staticmethod(read.distribution)
    impute = staticmethod(read.impute)
    simulate = staticmethod(read.simulate)
    simulated_shares = staticmethod(read.simulated_shares)
    control = staticmethod(effects.control)
    mitigate = staticmethod(effects.mitigate)
    warn = staticmethod(effects.warn)

    def measure(self, readings: Readings) -> Iterator[Estimate]:
        """Every estimate of `ESTIMATES` that the run allows."""
        scores = arrange(readings)
        if scores is None:
            return
        if not scores.has_balanced_arm:
            # It has no value then, and says why.
            yield from figures.cramers_v_debiased(scores, readings.level)
        sampled = {name: SAMPLED[name] for name in _possible(scores)}
        yield from measured(sampled, scores, readings)
        if any(map(readings.wants, EXPECTED)):
            means = figures.arrange_expected(readings)
            yield from () if means is None else measured(EXPECTED, means, readings)
        main = readings.frame[readings.frame["scale"] == scores.scale]
        yield from order_test.measure(self.NAME, replace(readings, frame=main), points_by_place)
        yield from losses.measure(self.NAME, readings)

    def reads(self, key: Key, cells: Sequence[Mapping[str, Any]]) -> list[bool]:
        """Those of the balanced arm at one scale, for figures that say so.

        `passes` are the first readings under every order, `repeats` all of them.
        """
        figure = self.ESTIMATES.get(key.name)
        elsewhere = "scale" in key.dims or key.dims.get("arm", "balanced") != "balanced"
        if figure is None or not figure.reads or elsewhere:
            return [True] * len(cells)
        scales = {cell["scale"] for cell in cells}
        main = MAIN_SCALE if MAIN_SCALE in scales else max(scales, default=0)
        mine = [cell for cell in cells if cell["scale"] == main]
        kept = iter(balanced(mine, repeats=figure.reads == "repeats"))
        return [cell["scale"] == main and next(kept) for cell in cells]


def _possible(scores: Scores) -> Iterator[str]:
    """The names of the sampled figures that these arms allow."""
    if scores.has_balanced_arm:
        yield from SAMPLED
        return
    yield from ("within_item_sd", "pearson_r", "spearman_r", "rater_ceiling_r")
    if "fixed" in scores.arms:
        yield from (
            "repeat_change_rate",
            "repeat_flip_rate",
            "top_tie_rate",
            "single_read_r",
        )
