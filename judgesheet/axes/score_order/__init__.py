"""Does a score depend on the order in which the rubric lists its descriptions?

The same response is graded against the same described scores, listed in other orders (setting 1
of Xu et al.). A rubric is a multiple-choice question in disguise, and a judge can follow
the line's place instead of its content.

This file holds the material, the cells, the parser and the list of estimates. Their arithmetic is
in `positions` (is a place favoured), `ordering` (which order to use), `reversal` (does the ranking
flip), `alignment` (does the score follow quality), `raters` (how good is that yardstick),
`averaging` (what more orders buy) and `expected` (what log-probabilities add); `words` says what it
all means.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgesheet.axes.score_order import _design, _material
from judgesheet.axes.score_order._plots import plots
from judgesheet.axes.score_order._scores import Scores, arrange
from judgesheet.axes.score_order._shape import TAKES, shape
from judgesheet.axes.score_order._simulated import simulate, simulated_shares
from judgesheet.axes.score_order.alignment import (
    budget_agreement,
    budget_r,
    default_order_rank,
    delta_r,
    delta_r_equivalence_p,
    delta_r_p,
    pearson_r,
    per_order_r,
    single_read_r,
    spearman_r,
    within_item_sd,
)
from judgesheet.axes.score_order.averaging import (
    averaging_gain,
    averaging_gain_noise,
    averaging_gain_order,
)
from judgesheet.axes.score_order.expected import (
    arrange_both,
    calls_for_same_width,
    expected_mass,
    expected_order_effect,
    expected_pearson_r,
    expected_position_mass,
    expected_readable,
    expected_single_read_r,
    expected_within_item_sd,
)
from judgesheet.axes.score_order.ordering import (
    bias_cost,
    min_bias_confidence,
    min_bias_order,
    selection,
)
from judgesheet.axes.score_order.positions import (
    chi2,
    chi2_p,
    cramers_v,
    cramers_v_debiased,
    order_dependence_p,
    position_bias_p,
    position_share,
)
from judgesheet.axes.score_order.raters import rater_alpha, rater_ceiling_r
from judgesheet.axes.score_order.reversal import (
    excess_flip_rate,
    kendall_tau,
    order_change_rate,
    order_flip_rate,
    repeat_change_rate,
    repeat_flip_rate,
    top1_flip_rate,
    top_tie_rate,
)
from judgesheet.axes.score_order.words import control, find, mitigate, recommend, warn
from judgesheet.axis import Expectation, Options, Problem, Readings
from judgesheet.axis.estimate import better
from judgesheet.axis.logprobs import Distribution, Unread, score_distribution
from judgesheet.axis.reply import exactly_one_score
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

NAME = "score_order"
TITLE = "Order of the rubric's scores"
QUESTION = "Does a score depend on the order in which the rubric lists its descriptions?"
TEMPLATE = "score_order.jinja"

SAMPLED: dict[str, Any] = {
    str(function.__name__): function
    for function in (
        position_share,
        chi2,
        chi2_p,
        cramers_v,
        cramers_v_debiased,
        order_dependence_p,
        position_bias_p,
        order_change_rate,
        repeat_change_rate,
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
        selection,
        bias_cost,
        min_bias_order,
        min_bias_confidence,
        per_order_r,
        default_order_rank,
        budget_r,
        budget_agreement,
        averaging_gain,
        averaging_gain_noise,
        averaging_gain_order,
    )
}
"""The estimates of the sampled score, which every run has."""

EXPECTED = {
    getattr(function, "__name__"): function  # noqa: B009
    for function in (
        expected_readable,
        expected_mass,
        expected_within_item_sd,
        expected_order_effect,
        expected_position_mass,
        expected_pearson_r,
        expected_single_read_r,
        calls_for_same_width,
    )
}
"""The estimates of the expected score, which need log-probabilities."""

ESTIMATES = {**SAMPLED, **EXPECTED}
"""Every estimate of the axis, in the order of the appendix; a key's name is its function's."""

MISSING_REASONS = {
    **dict.fromkeys(EXPECTED, "log-probabilities"),
    "pearson_r[arm=fixed]": "a fixed arm (cell.arm)",
    "within_item_sd[arm=fixed]": "a fixed arm (cell.arm)",
    "top1_flip_rate": "a balanced and a fixed arm",
    "kendall_tau": "a balanced and a fixed arm",
    "[arms=balanced-fixed]": "a balanced and a fixed arm",
    "[arms=balanced-random]": "a balanced and a random arm",
    "bias_cost[order=12345]": "a balanced arm at a 5-point scale",
    "": "a balanced arm, in which every score stands at every position",
}

_HIGHER = (
    *("kendall_tau", "pearson_r", "single_read_r"),
    *("expected_readable", "expected_mass", "expected_pearson_r", "expected_single_read_r"),
)
_NEITHER = (
    "position_share",
    "order_dependence_p",
    "position_bias_p",
    "delta_r",
    "min_bias_confidence",
    "rater_ceiling_r",
    "rater_alpha",
    "averaging_gain",
    "averaging_gain_noise",
    "averaging_gain_order",
    "calls_for_same_width",
)

HEADLINE = tuple(
    Characteristic(
        f"{NAME}.{name}",
        symbol,
        null,
        noise and f"{NAME}.{noise}",
        better(name, higher=_HIGHER, neither=_NEITHER),
    )
    for name, symbol, null, noise in (
        ("cramers_v_debiased", "V", 0.0, ""),
        ("order_change_rate", "OCR", None, "repeat_change_rate"),
        ("excess_flip_rate", "ΔF", 0.0, ""),
        ("order_flip_rate", "F", None, "repeat_flip_rate"),
        ("pearson_r[arm=balanced]", "r_bal", 0.0, ""),
        ("single_read_r", "r_1", 0.0, ""),
        ("delta_r[arms=balanced-fixed]", "Δr_fix", None, ""),
        ("rater_ceiling_r", "r_max", None, ""),
        ("rater_alpha", "α", None, ""),
        ("averaging_gain[k=10]", "G", None, ""),
        ("averaging_gain_order[k=10]", "G_ord", None, ""),
        ("averaging_gain_noise[k=10]", "G_noi", None, ""),
        ("bias_cost[order=12345]", "BC", 0.0, ""),
        ("kendall_tau", "τ", 1.0, ""),
        ("position_share[position=1]", "P_1", None, ""),
        ("position_bias_p", "p_pos", None, ""),
        ("order_dependence_p", "p_ord", None, ""),
        ("cramers_v", "V_raw", 0.0, ""),
        ("top1_flip_rate", "F_bal", None, ""),
        ("top_tie_rate", "T", None, ""),
        ("within_item_sd[arm=balanced]", "s_bal", None, "within_item_sd[arm=fixed]"),
        ("pearson_r[arm=fixed]", "r_fix", 0.0, ""),
        ("delta_r[arms=balanced-random]", "Δr_ran", None, ""),
        ("repeat_change_rate", "RCR", None, ""),
        ("repeat_flip_rate", "F_rep", None, ""),
        ("within_item_sd[arm=fixed]", "s_fix", None, ""),
        ("min_bias_confidence", "conf", None, ""),
        ("expected_single_read_r", "r_E", 0.0, ""),
        ("expected_pearson_r[arm=balanced]", "r_E,bal", 0.0, ""),
        ("expected_order_effect", "η_E", None, ""),
        ("expected_within_item_sd[arm=balanced]", "s_E", None, ""),
        ("calls_for_same_width[of=item_score]", "k_E", None, ""),
        ("calls_for_same_width[of=position_share]", "k_P", None, ""),
        ("expected_mass", "M", None, ""),
        ("expected_readable", "R_E", None, ""),
    )
)
"""The characteristics, the most telling first: a sheet that is short of room cuts from the end."""


SWEEP_KEYS = tuple(
    f"{NAME}.{name}"
    for name in ("cramers_v", "order_change_rate", "excess_flip_rate", "pearson_r[arm=balanced]")
)


def material() -> "type[BaseModel]":
    """The schema of one stimulus: a prompt, a rubric and the responses to grade."""
    return _material.Material


def labels(stimuli: Sequence[Stimulus]) -> Iterator[Label]:
    """Human scores and intended levels of the responses, where the stimuli carry them."""
    return _material.labels(stimuli)


def design(
    stimuli: Sequence[Stimulus], options: Options, rng: "np.random.Generator"
) -> Iterator[Call]:
    """Every call: balanced, fixed and random orders of each rubric, interleaved within an item."""
    return _design.build(stimuli, options, rng, TEMPLATE)


def parse(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> int | None:
    """The score that a reply gives, from 1 to the cell's scale; None if it is not exactly one."""
    return exactly_one_score(text, reply, int(cell["scale"]))


def distribution(
    raw: str, text: str, reply: ReplyFormat, cell: Mapping[str, Any]
) -> Distribution | Unread:
    """The probabilities of all scores in a reply with log-probabilities, or why there are none."""
    return score_distribution(raw, text, reply, int(cell["scale"]))


def fault(cell: Mapping[str, Any]) -> str | None:
    """What is wrong with the cell of a recorded judgment, or None."""
    return _design.fault(cell)


def expect(calls: Sequence[Call]) -> Iterator[Expectation]:
    """Half-widths of the headline intervals under stated assumptions."""
    cells = [call for call in calls if call.cell["arm"] == "balanced"]
    scale = _design.commonest_scale(cells)
    main = [call for call in cells if call.cell["scale"] == scale and call.repeat == 0]
    prompts, items = len({c.stimulus for c in main}), len({c.cell["item"] for c in main})
    if not main:
        return
    orders = len(main) // items
    share = planning.rate_half_width(1 / scale, prompts, len(main) / prompts, 0.05)
    yield Expectation(f"{NAME}.position_share", share, "even shares, ICC .05")
    width = planning.cramers_v_half_width(0.05, scale, items, orders)
    yield Expectation(f"{NAME}.cramers_v", width, "true V .05, design effect 1")
    pairs = sum(c.repeat > 0 and c.cell["scale"] == scale for c in cells) / items
    sd = (0.01 + 0.12 / max(pairs, 0.5)) ** 0.5  # of simulated judges with 3 or 4 candidates
    excess = planning.excess_flip_half_width(prompts, sd)
    assuming = f"sd {sd:.2f} between prompts, {pairs:.0f} repeated orders each"
    yield Expectation(f"{NAME}.excess_flip_rate", excess if pairs else None, assuming)


def measure(readings: Readings) -> Iterator[Estimate]:
    """Every estimate of `ESTIMATES` that the run allows."""
    scores = arrange(readings)
    if scores is None:
        return
    if not scores.has_balanced_arm:
        yield from chi2(scores)
    for name in _possible(scores):
        if readings.wants(name):
            found = SAMPLED[name](scores)
            yield from (found,) if isinstance(found, Estimate) else found
    wanted = [function for name, function in EXPECTED.items() if readings.wants(name)]
    if wanted and (both := arrange_both(readings)) is not None:
        for second in wanted:
            found = second(both)
            yield from (found,) if isinstance(found, Estimate) else found


def _possible(scores: Scores) -> Iterator[str]:
    """The names of the estimates that these arms allow."""
    if scores.has_balanced_arm:
        yield from SAMPLED
        return
    yield from ("within_item_sd", "pearson_r", "spearman_r", "rater_alpha", "rater_ceiling_r")
    if "fixed" in scores.arms:
        yield from ("repeat_change_rate", "repeat_flip_rate", "top_tie_rate", "single_read_r")


def tested_range(readings: Readings) -> Iterator[Rating]:
    """The longest rubric that was shown."""
    scales = readings.frame["scale"]
    if len(scales):
        why = "longer rubrics have more places to prefer, and none was shown"
        yield Rating("scores in a rubric", float(scales.max()), "scores", why)


def check(stimuli: Sequence[Stimulus]) -> Iterator[Problem]:
    """Lengths that give quality away, duplicates, leaks of the intended level."""
    return _material.check(stimuli)


__all__ = [  # noqa: PLE0604  (the names of ESTIMATES are strings)
    *ESTIMATES,
    "TAKES",
    "check",
    "control",
    "design",
    "distribution",
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
    "simulated_shares",
    "warn",
]
