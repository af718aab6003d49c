"""Does a criterion's score depend on where the criterion stands in the list?

One prompt asks for scores on several criteria (setting 2 of Xu et al.). The same response is graded
on the same criteria, listed in other orders; the described scores of a criterion keep their order.

This file holds the material, the cells, the parser and the list of estimates. Their arithmetic is
in `positions` (does a place score higher), `reversal` (do scores and winners change) and
`alignment` (do scores follow quality); `words` says what it all means.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgesheet.axes.criterion_order import _design, _material
from judgesheet.axes.criterion_order._plots import plots
from judgesheet.axes.criterion_order._reply import scores_from
from judgesheet.axes.criterion_order._scores import arrange
from judgesheet.axes.criterion_order._shape import TAKES, shape
from judgesheet.axes.criterion_order._simulated import simulate
from judgesheet.axes.criterion_order.alignment import (
    budget_agreement,
    budget_r,
    delta_r,
    delta_r_equivalence_p,
    delta_r_p,
    pearson_r,
    single_read_r,
    spearman_r,
    within_item_sd,
)
from judgesheet.axes.criterion_order.positions import (
    delta_pos,
    delta_pos_null,
    delta_pos_null95,
    friedman_p,
    friedman_p_holm,
    max_delta_pos,
    max_delta_pos_null,
    mean_delta_pos,
    mean_delta_pos_null,
    position_mean,
    position_shift,
    significant_criteria,
    without_orders,
)
from judgesheet.axes.criterion_order.raters import rater_alpha, rater_ceiling_r
from judgesheet.axes.criterion_order.reversal import (
    excess_change_rate,
    excess_flip_rate,
    kendall_tau,
    order_change_rate,
    order_flip_rate,
    repeat_change_rate,
    repeat_flip_rate,
    top1_flip_rate,
    top_tie_rate,
)
from judgesheet.axes.criterion_order.words import control, find, mitigate, recommend, warn
from judgesheet.axis import Expectation, Options, Problem, Readings
from judgesheet.axis.estimate import better
from judgesheet.records import (
    Call,
    Characteristic,
    Estimate,
    Label,
    Rating,
    ReplyFormat,
    Stimulus,
)
from judgesheet.stats import planning

if TYPE_CHECKING:
    import numpy as np
    from pydantic import BaseModel

NAME = "criterion_order"
TITLE = "Order of several criteria"
QUESTION = "Does a criterion's score depend on where the criterion stands in the list?"
TEMPLATE = "criterion_order.jinja"

ESTIMATES = {
    getattr(function, "__name__"): function  # noqa: B009
    for function in (
        mean_delta_pos,
        mean_delta_pos_null,
        max_delta_pos,
        max_delta_pos_null,
        significant_criteria,
        delta_pos,
        delta_pos_null,
        delta_pos_null95,
        friedman_p,
        friedman_p_holm,
        position_shift,
        position_mean,
        order_change_rate,
        repeat_change_rate,
        excess_change_rate,
        order_flip_rate,
        repeat_flip_rate,
        excess_flip_rate,
        top_tie_rate,
        top1_flip_rate,
        kendall_tau,
        within_item_sd,
        pearson_r,
        single_read_r,
        spearman_r,
        rater_alpha,
        rater_ceiling_r,
        delta_r,
        delta_r_p,
        delta_r_equivalence_p,
        budget_r,
        budget_agreement,
    )
}
"""Every estimate of the axis, in the order of the appendix; a key's name is its function's."""

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
_HIGHER = ("kendall_tau", "pearson_r", "single_read_r")
_NEITHER = ("delta_r", "mean_delta_pos_null")

HEADLINE = tuple(
    Characteristic(
        f"{NAME}.{name}",
        symbol,
        null,
        noise and f"{NAME}.{noise}",
        better(name, higher=_HIGHER, neither=_NEITHER),
    )
    for name, symbol, null, noise in (
        ("mean_delta_pos", "ΔP", None, "mean_delta_pos_null"),
        ("max_delta_pos", "ΔP_max", None, "max_delta_pos_null"),
        ("significant_criteria", "S", 0.0, ""),
        ("order_change_rate", "OCR", None, "repeat_change_rate"),
        ("excess_change_rate", "ΔC", 0.0, ""),
        ("order_flip_rate", "F", None, "repeat_flip_rate"),
        ("excess_flip_rate", "ΔF", 0.0, ""),
        ("pearson_r[arm=balanced]", "r_bal", 0.0, ""),
        ("single_read_r", "r_1", 0.0, ""),
        ("delta_r[arms=balanced-fixed]", "Δr_fix", 0.0, ""),
        ("delta_r[arms=balanced-random]", "Δr_ran", 0.0, ""),
        ("kendall_tau", "τ", 1.0, ""),
        ("top1_flip_rate", "F_bal", None, ""),
        ("top_tie_rate", "T", None, ""),
        ("within_item_sd[arm=balanced]", "s_bal", None, "within_item_sd[arm=fixed]"),
        ("pearson_r[arm=fixed]", "r_fix", 0.0, ""),
        ("repeat_change_rate", "RCR", None, ""),
        ("repeat_flip_rate", "F_rep", None, ""),
        ("within_item_sd[arm=fixed]", "s_fix", None, ""),
        ("mean_delta_pos_null", "ΔP_0", None, ""),
    )
)
"""The characteristics, the most telling first."""

SWEEP_KEYS = tuple(
    f"{NAME}.{name}"
    for name in (
        "mean_delta_pos",
        "order_change_rate",
        "excess_flip_rate",
        "pearson_r[arm=balanced]",
    )
)


def material() -> "type[BaseModel]":
    """The schema of one stimulus: a prompt, criteria and the responses to grade."""
    return _material.Material


def labels(stimuli: Sequence[Stimulus]) -> Iterator[Label]:
    """Human scores and intended levels of the responses by criterion, where stimuli carry them."""
    return _material.labels(stimuli)


def design(
    stimuli: Sequence[Stimulus], options: Options, rng: "np.random.Generator"
) -> Iterator[Call]:
    """Every call: balanced, fixed and random orders of the criteria, interleaved within an item."""
    return _design.build(stimuli, options, rng, TEMPLATE)


def parse(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> dict[str, int] | None:
    """The score of every criterion; None if the reply does not give each exactly once."""
    return scores_from(text, reply, cell["order"], cell.get("scale"))


def fault(cell: Mapping[str, Any]) -> str | None:
    """What is wrong with the cell of a recorded judgment, or None."""
    return _design.fault(cell)


def expect(calls: Sequence[Call]) -> Iterator[Expectation]:
    """Half-widths of the headline intervals under stated assumptions."""
    cells = [call for call in calls if call.cell["arm"] == "balanced"]
    prompts, items = len({c.stimulus for c in cells}), len({c.cell["item"] for c in cells})
    if not cells:
        return
    criteria = len(cells[0].cell["order"])
    first = sum(call.repeat == 0 for call in cells)
    gap = planning.position_gap_half_width(criteria, prompts, first / prompts / criteria)
    yield Expectation(f"{NAME}.delta_pos", gap, "sd .5 points within a response, prompts alike")
    pairs = (len(cells) - first) / items
    sd = (0.01 + 0.12 / max(pairs, 0.5)) ** 0.5
    excess = planning.excess_flip_half_width(prompts, sd) if pairs else None
    assuming = f"sd {sd:.2f} between prompts, {pairs:.0f} repeated orders each"
    yield Expectation(f"{NAME}.excess_flip_rate", excess, assuming)


def measure(readings: Readings) -> Iterator[Estimate]:
    """Every estimate of `ESTIMATES` that the run allows."""
    scores = arrange(readings)
    if scores is None:
        yield without_orders()
        return
    for name, function in ESTIMATES.items():
        if readings.wants(name):
            found = function(scores)
            yield from (found,) if isinstance(found, Estimate) else found


def tested_range(readings: Readings) -> Iterator[Rating]:
    """The longest list of criteria that was shown."""
    lengths = readings.frame["order"].map(len)
    if len(lengths):
        why = "longer lists have more places to prefer, and none was shown"
        yield Rating("criteria in a prompt", float(lengths.max()), "criteria", why)


def check(stimuli: Sequence[Stimulus]) -> Iterator[Problem]:
    """Lengths that give quality away, duplicates, leaks, criteria whose levels go together."""
    return _material.check(stimuli)


__all__ = [  # noqa: PLE0604  (the names of ESTIMATES are strings)
    *ESTIMATES,
    "TAKES",
    "check",
    "control",
    "design",
    "expect",
    "fault",
    "plots",
    "find",
    "labels",
    "material",
    "measure",
    "mitigate",
    "parse",
    "tested_range",
    "recommend",
    "shape",
    "simulate",
    "warn",
]
