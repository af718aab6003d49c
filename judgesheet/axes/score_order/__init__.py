"""Does a score depend on the order in which the rubric lists its descriptions?

The same response is graded against the same described scores, listed in other orders (setting 1 of
Xu et al.). A rubric is in effect a multiple-choice question, and a judge can follow the place of a
line instead of its content.

In reading order: `_material` (what is asked about), `_design` (in which orders, how often),
`_reply` (how a reply is read), `_impute` (what lost calls could have said), `_scores` (the readings
as arrays), then the figures: `positions` (is a place favoured), `alignment` (does the score agree
with quality), `ordering` (which order to print), `averaging` (how many orders are enough) and
`expected` (what log-probabilities add). Those that axes share are in `judgesheet.axis`: `reversal`
(do scores and winners change), `raters` (how reliable are the labels) and `differences` (what is
gained). `findings` says what the figures mean.
"""

from collections.abc import Iterator
from dataclasses import replace

from judgesheet.axes.score_order import alignment, averaging, expected, ordering, positions
from judgesheet.axes.score_order._cases import CASES
from judgesheet.axes.score_order._design import arm, design, fault
from judgesheet.axes.score_order._impute import impute
from judgesheet.axes.score_order._material import check, labels, material
from judgesheet.axes.score_order._plots import plots
from judgesheet.axes.score_order._reads import reads as reads
from judgesheet.axes.score_order._reply import chosen, distribution, gives, parse, reading
from judgesheet.axes.score_order._scores import Scores, arrange
from judgesheet.axes.score_order._shape import TAKES, shape
from judgesheet.axes.score_order._simulated import simulate, simulated_shares
from judgesheet.axes.score_order.findings import control, find, mitigate, recommend, warn
from judgesheet.axis import (
    Readings,
    differences,
    losses,
    raters,
    reversal,
    scale_use,
    unequal,
    within_prompts,
)
from judgesheet.axis.figure import declared_in, measured, shared
from judgesheet.axis.words import made
from judgesheet.base.records import Estimate, Rating

NAME = "score_order"
TITLE = "Order of the rubric's scores"
QUESTION = "Does a score depend on the order in which the rubric lists its descriptions?"
READ_BY = frozenset({"scale"})
PERMUTED = frozenset({"options"})
PARTS = "grading"
PAPER = (
    "Xu, Hirasawa, Kozuno, Ushiku: Am I More Pointwise or Pairwise? Revealing Position Bias "
    "in Rubric-Based LLM-as-a-Judge, 2026"
)

SAMPLED = {
    **declared_in(positions),
    **shared(NAME, reversal, scale_use),
    **declared_in(alignment),
    **shared(NAME, within_prompts, raters, differences),
    **declared_in(ordering, averaging),
}
"""The figures of the sampled score, which every run has."""
EXPECTED = declared_in(expected)
"""The figures of the expected score, which need log-probabilities."""
ESTIMATES = SAMPLED | EXPECTED | shared(NAME, unequal, losses)

HEADLINE = (
    "cramers_v_debiased",
    "order_change_rate",
    "excess_flip_rate",
    "order_flip_rate",
    "pearson_r[arm=balanced]",
    "single_read_r",
    "pair_accuracy",
    "delta_r[arms=balanced-fixed]",
    "rater_ceiling_r",
    "rater_alpha",
    "averaging_gain[k=10]",
    "averaging_gain_order[k=10]",
    "averaging_gain_noise[k=10]",
    "bias_cost[order=12345]",
    "kendall_tau",
    "position_share[position=1]",
    "position_bias_p",
    "order_dependence_p",
    "unequal_stimuli",
    "largest_stimulus_effect",
    "cramers_v",
    "top1_flip_rate",
    "top_tie_rate",
    "within_item_sd[arm=balanced]",
    "pearson_r[arm=fixed]",
    "delta_r[arms=balanced-random]",
    "repeat_change_rate",
    "repeat_flip_rate",
    "within_item_sd[arm=fixed]",
    "min_bias_confidence",
    "expected_single_read_r",
    "expected_pearson_r[arm=balanced]",
    "expected_order_effect",
    "expected_within_item_sd[arm=balanced]",
    "calls_for_same_width[of=item_score]",
    "calls_for_same_width[of=position_share]",
    "expected_mass",
    "expected_readable",
)

MISSING_REASONS = {
    tuple(EXPECTED): "log-probabilities",
    ("pearson_r[arm=fixed]", "within_item_sd[arm=fixed]"): "one fixed order (cell.arm)",
    (
        "top1_flip_rate",
        "kendall_tau",
        "[arms=balanced-fixed]",
    ): "balanced orders and a fixed one (cell.arm)",
    ("[arms=balanced-random]",): "balanced orders and random ones (cell.arm)",
    ("bias_cost[order=12345]",): "balanced orders (cell.arm) at a 5-point scale",
    ("",): "balanced orders (cell.arm), in which every score stands at every position",
}

SWEEP_KEYS = tuple(
    f"{NAME}.{name}"
    for name in ("cramers_v", "order_change_rate", "excess_flip_rate", "pearson_r[arm=balanced]")
)


def measure(readings: Readings) -> Iterator[Estimate]:
    """Every estimate of `ESTIMATES` that the run allows."""
    scores = arrange(readings)
    if scores is None:
        return
    if not scores.has_balanced_arm:
        yield from positions.chi2(scores)  # has no value then, and says why
    sampled = [SAMPLED[name] for name in _possible(scores) if readings.wants(name)]
    yield from measured(sampled, scores)
    second = [figure for name, figure in EXPECTED.items() if readings.wants(name)]
    if second and (both := expected.arrange_both(readings)) is not None:
        yield from measured(second, both)
    main = readings.frame[readings.frame["scale"] == scores.scale]
    yield from unequal.measure(NAME, replace(readings, frame=main), gives)
    yield from losses.measure(NAME, readings, chosen)


def _possible(scores: Scores) -> Iterator[str]:
    """The names of the sampled figures that these arms allow."""
    if scores.has_balanced_arm:
        yield from SAMPLED
        return
    yield from ("within_item_sd", "pearson_r", "spearman_r", "rater_alpha", "rater_ceiling_r")
    if "fixed" in scores.arms:
        yield from ("repeat_change_rate", "repeat_flip_rate", "top_tie_rate", "single_read_r")


def tested_range(readings: Readings) -> Iterator[Rating]:
    """The longest rubric that was shown."""
    scales = made(readings)["scale"]
    if len(scales):
        why = "longer rubrics have more places to prefer, and none was shown"
        yield Rating("scores in a rubric", float(scales.max()), "scores", why)
