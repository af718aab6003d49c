"""Does a criterion's score depend on where the criterion stands in the list?

One prompt asks for scores on several criteria (setting 2 of Xu et al.). The same response is graded
on the same criteria, listed in other orders; the described scores of a criterion keep their order.

In reading order: `_material` (what is asked about), `_design` (in which orders, how often),
`_reply` (how a reply is read), `_simulated` (how a simulated judge answers), `_scores` (the
readings as arrays), then the figures: `positions` (does a place score higher), `reversal` (do
scores and winners change), `alignment` (do scores follow quality) and `averaging` (how many orders
are enough). `words` says what it all means.
"""

from collections.abc import Iterator

from judgesheet.axes.criterion_order import alignment, averaging, positions, reversal
from judgesheet.axes.criterion_order._design import arm, design, expect, fault
from judgesheet.axes.criterion_order._material import check, labels, material
from judgesheet.axes.criterion_order._plots import plots
from judgesheet.axes.criterion_order._reply import parse, parts
from judgesheet.axes.criterion_order._scores import arrange
from judgesheet.axes.criterion_order._shape import TAKES, shape
from judgesheet.axes.criterion_order._simulated import simulate
from judgesheet.axes.criterion_order.words import control, find, mitigate, recommend, warn
from judgesheet.axis import Readings
from judgesheet.axis.figure import declared_in, measured
from judgesheet.records import Estimate, Rating

NAME = "criterion_order"
TITLE = "Order of several criteria"
QUESTION = "Does a criterion's score depend on where the criterion stands in the list?"
PERMUTED = frozenset({"criteria"})

ESTIMATES = declared_in(positions, reversal, alignment, averaging)

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
)

MISSING_REASONS = {
    **dict.fromkeys(
        ("repeat_change_rate", "repeat_flip_rate", "excess_change_rate", "excess_flip_rate"),
        "an order that was read twice (repeat)",
    ),
    "[arms=balanced-fixed]": "a balanced and a fixed arm, and labels",
    "[arms=balanced-random]": "a balanced and a random arm, and labels",
    "[arm=fixed]": "a fixed arm (cell.arm)",
    "top1_flip_rate": "a balanced and a fixed arm",
    "kendall_tau": "a balanced and a fixed arm",
    "": "criteria that stood at several places (cell.order)",
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
        return measured([positions.mean_delta_pos], None)
    wanted = (figure for name, figure in ESTIMATES.items() if readings.wants(name))
    return measured(wanted, scores)


def tested_range(readings: Readings) -> Iterator[Rating]:
    """The longest list of criteria that was shown."""
    lengths = readings.frame["order"].map(len)
    if len(lengths):
        why = "longer lists have more places to prefer, and none was shown"
        yield Rating("criteria in a prompt", float(lengths.max()), "criteria", why)
