"""Does the order of a list of answers decide which one wins, and do several orders choose better?

A judge scores all candidate answers to a question at once (paper 004, PCFJudge): several times in
the canonical order, and once under each of a balanced set of orders. Runs are aggregated by
permutation consensus (equations 1 to 5).

`_material` defines the stimuli, `_design` the orders and repeats, `_reply` reads the replies,
`_arrange` turns them into the arrays of `_lists`. The figures are in `decisions` (is the right
answer chosen, what is gained), `places` (does the winner follow its place) and `agreement` (do the
orders agree, how many are enough); `words` says what they mean.
"""

from collections.abc import Iterator

from judgesheet.axes.listwise_consensus import agreement, decisions, places
from judgesheet.axes.listwise_consensus._arrange import arrange
from judgesheet.axes.listwise_consensus._cases import CASES
from judgesheet.axes.listwise_consensus._design import arm, design, fault
from judgesheet.axes.listwise_consensus._design import lists as lists
from judgesheet.axes.listwise_consensus._impute import impute
from judgesheet.axes.listwise_consensus._material import check, labels, material
from judgesheet.axes.listwise_consensus._material import golds as golds
from judgesheet.axes.listwise_consensus._plots import plots
from judgesheet.axes.listwise_consensus._reads import reads as reads
from judgesheet.axes.listwise_consensus._reply import chosen, gives, parse, parts, reading
from judgesheet.axes.listwise_consensus._shape import TAKES, shape
from judgesheet.axes.listwise_consensus._simulated import simulate
from judgesheet.axes.listwise_consensus.findings import (
    control,
    find,
    mitigate,
    recommend,
    tested_range,
    warn,
)
from judgesheet.axis import Readings, losses, unequal
from judgesheet.axis.figure import declared_in, measured, shared
from judgesheet.base.records import Estimate

NAME = "listwise_consensus"
TITLE = "Order of a list of answers"
QUESTION = (
    "Does the order of a list decide which answer wins, and is a decision from several orders "
    "right more often?"
)

ESTIMATES = {**declared_in(decisions, places, agreement), **shared(NAME, unequal, losses)}

# Orders a decision: the paper's 7, and what short lists are balanced at.
_DEPTHS = (2, 4, 6, 7, 8, 10)

HEADLINE = (
    "accuracy[arm=direct,k=1]",
    *(f"accuracy[arm=permuted,k={k}]" for k in _DEPTHS),
    *(f"gain[arm=permuted,k={k}]" for k in _DEPTHS),
    *(f"gain_over_repeated[k={k}]" for k in _DEPTHS),
    "win_share[position=1]",
    "order_dependence_p",
    "position_bias_p",
    "order_flip_rate",
    "excess_flip_rate",
    "top_tie_rate",
    "order_agreement",
    "error_correlation",
    "unequal_stimuli",
    "largest_stimulus_effect",
)

MISSING_REASONS = {
    ("[arm=repeated]",): "the canonical order several times (arm repeated)",
    ("repeat_flip_rate", "excess_flip_rate"): "an order that was read twice (repeat)",
    ("[arm=direct]",): "the canonical order (arm direct)",
    ("",): "several orders of the same candidates (arm permuted)",
}

SWEEP_KEYS = tuple(
    f"{NAME}.{name}" for name in ("excess_flip_rate", "order_flip_rate", "accuracy[arm=direct,k=1]")
)

READ_BY = frozenset({"order"})
PERMUTED = frozenset({"candidates"})
FACTS = {"gold": ("item",)}
PAPER = (
    "Huang, Huang, Tang, Chen, Fan: Permutation-Consensus Listwise Judging for Robust "
    "Factuality Evaluation, 2026"
)


def measure(readings: Readings) -> Iterator[Estimate]:
    """Every estimate of `ESTIMATES` that the run allows and the caller wants."""
    arranged = arrange(readings)
    if arranged is not None:
        mine = (name for name in ESTIMATES if name not in losses.NAMES | unequal.NAMES)
        yield from measured((ESTIMATES[name] for name in mine if readings.wants(name)), arranged)
        yield from unequal.measure(NAME, readings, gives, "points")
        yield from losses.measure(NAME, readings, chosen)
