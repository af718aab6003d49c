"""Does a criterion's score depend on where the criterion stands in the list?

One prompt asks for scores on several criteria (setting 2 of Xu et al.). The same response is graded
on the same criteria, listed in other orders; the described scores of a criterion keep their order.

In reading order: `_material` (what is asked about), `_design` (in which orders, how often),
`_reply` (how a reply is read), `_simulated` (how a simulated judge answers), `_scores` (the
readings as arrays), then the figures: `positions` (does a place score higher), `changes` (does the
order change scores beyond noise), `alignment` (do scores follow quality) and `averaging` (how many
orders are enough). Those that axes share are in `judgesheet.axis`: `reversal` (do scores and
winners change), `raters` and `differences`. `findings` says what the figures mean.
"""

from collections.abc import Iterator

from judgesheet.axes.criterion_order import alignment, averaging, changes, positions
from judgesheet.axes.criterion_order._cases import CASES
from judgesheet.axes.criterion_order._design import arm, design, fault
from judgesheet.axes.criterion_order._impute import impute
from judgesheet.axes.criterion_order._material import check, labels, material
from judgesheet.axes.criterion_order._plots import plots
from judgesheet.axes.criterion_order._reads import reads as reads
from judgesheet.axes.criterion_order._reply import gives, parse, parts, reading
from judgesheet.axes.criterion_order._scores import arrange
from judgesheet.axes.criterion_order._shape import TAKES, shape
from judgesheet.axes.criterion_order._simulated import simulate
from judgesheet.axes.criterion_order.findings import control, find, mitigate, recommend, warn
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
from judgesheet.axis.reply import highest
from judgesheet.axis.words import longest
from judgesheet.base.records import Estimate, Rating

NAME = "criterion_order"
TITLE = "Order of several criteria"
QUESTION = "Does a criterion's score depend on where the criterion stands in the list?"
READ_BY = frozenset({"order", "scale"})
PERMUTED = frozenset({"criteria"})
PAPER = (
    "Xu, Hirasawa, Kozuno, Ushiku: Am I More Pointwise or Pairwise? Revealing Position Bias "
    "in Rubric-Based LLM-as-a-Judge, 2026"
)

ESTIMATES = {
    **declared_in(positions),
    **shared(NAME, reversal, scale_use),
    **declared_in(changes, alignment),
    **shared(NAME, within_prompts, raters, differences),
    **declared_in(averaging),
    **shared(NAME, unequal, losses),
}

HEADLINE = (
    "mean_delta_pos",
    "max_delta_pos",
    "significant_criteria",
    "order_change_rate",
    "excess_change_rate",
    "order_flip_rate",
    "excess_flip_rate",
    "pearson_r[arm=balanced]",
    "single_read_r",
    "pair_accuracy",
    "delta_r[arms=balanced-fixed]",
    "delta_r[arms=balanced-random]",
    "kendall_tau",
    "top1_flip_rate",
    "top_tie_rate",
    "within_item_sd[arm=balanced]",
    "pearson_r[arm=fixed]",
    "repeat_change_rate",
    "repeat_flip_rate",
    "within_item_sd[arm=fixed]",
    "mean_delta_pos_null",
    "unequal_stimuli",
    "largest_stimulus_effect",
)

MISSING_REASONS = {
    ("repeat_change_rate", "repeat_flip_rate", "excess_change_rate", "excess_flip_rate"): (
        "an order that was read twice (repeat)"
    ),
    ("[arms=balanced-fixed]",): "balanced orders and a fixed one (cell.arm), and labels",
    ("[arms=balanced-random]",): "balanced orders and random ones (cell.arm), and labels",
    ("[arm=fixed]",): "one fixed order (cell.arm)",
    ("top1_flip_rate", "kendall_tau"): "balanced orders and a fixed one (cell.arm)",
    ("",): "criteria that stood at several places (cell.order)",
}

SWEEP_KEYS = (
    "criterion_order.mean_delta_pos",
    "criterion_order.order_change_rate",
    "criterion_order.excess_flip_rate",
    "criterion_order.pearson_r[arm=balanced]",
)


def measure(readings: Readings) -> Iterator[Estimate]:
    """Every estimate of `ESTIMATES` that the run allows."""
    scores = arrange(readings)
    if scores is None:
        yield from measured([positions.mean_delta_pos], None)
    else:
        mine = (name for name in ESTIMATES if name not in losses.NAMES | unequal.NAMES)
        yield from measured((ESTIMATES[name] for name in mine if readings.wants(name)), scores)
    yield from unequal.measure(NAME, readings, gives, "points")
    yield from losses.measure(NAME, readings, highest)


def tested_range(readings: Readings) -> Iterator[Rating]:
    """The longest list of criteria that was shown."""
    return longest(readings, "criteria in a prompt", "criteria")
