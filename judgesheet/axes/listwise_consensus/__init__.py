"""Does the order of a list of answers decide which one wins, and do several orders choose better?

A judge scores all candidate answers to a question at once (paper 004, PCFJudge): once in the
canonical order, several times in that order, and once under each of a balanced set of orders.
Runs are aggregated by permutation consensus (equations 1 to 5).

This file holds the material, the cells, the parser and the list of estimates. Their arithmetic is
in `decisions` (is the right answer chosen, what is gained), `places` (does the winner follow its
place) and `agreement` (do the orders agree, how many are enough); `words` says what it all means.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgesheet.axes.listwise_consensus import _design, _material
from judgesheet.axes.listwise_consensus._lists import arrange
from judgesheet.axes.listwise_consensus._plots import plots
from judgesheet.axes.listwise_consensus._reply import Verdict, read
from judgesheet.axes.listwise_consensus._shape import TAKES, shape
from judgesheet.axes.listwise_consensus._simulated import simulate
from judgesheet.axes.listwise_consensus.agreement import (
    agreeing_orders,
    error_correlation,
    independent_error_bound,
    order_agreement,
    subset_agreement,
)
from judgesheet.axes.listwise_consensus.decisions import (
    accuracy,
    calls_per_decision,
    calls_per_point_gained,
    chance_accuracy,
    change_rate,
    gain,
    gain_over_repeated,
    improved,
    regressed,
    sign_test_p,
    unchanged,
    weight_sensitivity,
)
from judgesheet.axes.listwise_consensus.places import (
    excess_flip_rate,
    order_dependence_p,
    order_flip_rate,
    position_bias_p,
    repeat_flip_rate,
    win_share,
    winner_place,
)
from judgesheet.axes.listwise_consensus.words import control, find, mitigate, recommend, warn
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

NAME = "listwise_consensus"
TITLE = "Order of a list of answers"
QUESTION = (
    "Does the order of a list decide which answer wins, and is a decision from several orders "
    "right more often?"
)
TEMPLATE = "listwise_consensus.jinja"

ESTIMATES = {
    function.__name__: function
    for function in (
        accuracy,
        chance_accuracy,
        gain,
        gain_over_repeated,
        improved,
        regressed,
        unchanged,
        sign_test_p,
        calls_per_decision,
        calls_per_point_gained,
        change_rate,
        weight_sensitivity,
        win_share,
        order_dependence_p,
        position_bias_p,
        winner_place,
        order_flip_rate,
        repeat_flip_rate,
        excess_flip_rate,
        order_agreement,
        agreeing_orders,
        subset_agreement,
        error_correlation,
        independent_error_bound,
    )
}
"""Every estimate of the axis, in the order of the appendix; a key's name is its function's."""

_DEPTHS = (2, 4, 6, 7, 8, 10)
"""Numbers of orders that stand in the characteristics table, if they were run."""


_HIGHER = ("accuracy", "order_agreement")
_NEITHER = (
    "gain",
    "gain_over_repeated",
    "win_share",
    "order_dependence_p",
    "position_bias_p",
    "error_correlation",
)


def _characteristics() -> Iterator[Characteristic]:
    def row(name: str, symbol: str, null: float | None = None, noise: str = "") -> Characteristic:
        return Characteristic(
            f"{NAME}.{name}",
            symbol,
            null,
            f"{NAME}.{noise}" if noise else "",
            better(name, higher=_HIGHER, neither=_NEITHER),
        )

    yield row("accuracy[arm=direct,k=1]", "acc")
    for k in _DEPTHS:
        again = f"accuracy[arm=repeated,k={k}]"
        yield row(f"accuracy[arm=permuted,k={k}]", f"acc_{k}", None, again)
    for k in _DEPTHS:
        yield row(f"gain[arm=permuted,k={k}]", f"Δ_{k}", 0.0, f"gain[arm=repeated,k={k}]")
    for k in _DEPTHS:
        yield row(f"gain_over_repeated[k={k}]", f"Δ_{k} − Δ_rep", 0.0)
    yield row("win_share[position=1]", "w_1")
    yield row("order_dependence_p", "p_dep")
    yield row("position_bias_p", "p_pos")
    yield row("order_flip_rate", "f", None, "repeat_flip_rate")
    yield row("excess_flip_rate", "Δf", 0.0)
    yield row("order_agreement", "a")
    yield row("error_correlation", "ρ_err")


MISSING_REASONS = {
    "[arm=repeated]": "the canonical order several times (arm repeated)",
    **dict.fromkeys(
        ("repeat_flip_rate", "excess_flip_rate"), "an order that was read twice (repeat)"
    ),
    "[arm=direct]": "the canonical order (arm direct)",
    "": "several orders of the same candidates (arm permuted)",
}

HEADLINE = tuple(_characteristics())

SWEEP_KEYS = tuple(
    f"{NAME}.{name}" for name in ("excess_flip_rate", "order_flip_rate", "accuracy[arm=direct,k=1]")
)


def material() -> "type[BaseModel]":
    """The schema of one stimulus: a prompt, its candidate answers, and the right one if known."""
    return _material.Material


def labels(stimuli: Sequence[Stimulus]) -> Iterator[Label]:  # noqa: ARG001
    """None: the right answer stands in the cell of each call, which no prompt shows."""
    return iter(())


def design(
    stimuli: Sequence[Stimulus], options: Options, rng: "np.random.Generator"
) -> Iterator[Call]:
    """Every call: canonical once and again, then the other orders, interleaved within a prompt."""
    return _design.build(stimuli, options, rng, TEMPLATE)


def lists(stimulus: Stimulus, orders: Sequence[Sequence[int]], options: Options) -> Iterator[Call]:
    """One call per order of a prompt's candidates, the first as the direct one."""
    return _design.lists(stimulus, [tuple(order) for order in orders], options, TEMPLATE)


def golds(fields: Mapping[str, Any]) -> list[str]:
    """The ids of the right candidates of a prompt; none where they are not known."""
    return _material.golds(fields)


def parse(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> Verdict | None:
    """Score and mark of every candidate by its id; None if the reply does not say exactly one."""
    return read(text, reply, cell["order"])


def fault(cell: Mapping[str, Any]) -> str | None:
    """What is wrong with the cell of a recorded judgment, or None."""
    return _design.fault(cell)


def expect(calls: Sequence[Call]) -> Iterator[Expectation]:
    """Half-widths of the headline intervals under stated assumptions."""
    prompts = len({call.cell["item"] for call in calls})
    if not prompts:
        return
    width = planning.rate_half_width(0.8, prompts, 1, 0.0)
    yield Expectation(f"{NAME}.accuracy[arm=direct,k=1]", width, "true accuracy .80")
    change = planning.excess_flip_half_width(prompts, 0.1**0.5)
    yield Expectation(f"{NAME}.gain", change, "a decision in ten changes for better or worse")
    twice = any(call.cell["arm"] == _design.PERMUTED and call.repeat for call in calls)
    excess = planning.excess_flip_half_width(prompts, 0.2) if twice else None
    yield Expectation(f"{NAME}.excess_flip_rate", excess, "sd .20 between prompts")


def measure(readings: Readings) -> Iterator[Estimate]:
    """Every estimate of `ESTIMATES` that the run allows."""
    lists = arrange(readings)
    if lists is None:
        return
    for name, function in ESTIMATES.items():
        if readings.wants(name):
            yield from function(lists)


def tested_range(readings: Readings) -> Iterator[Rating]:
    """The longest list that was shown."""
    lengths = readings.frame["order"].map(len)
    if len(lengths):
        why = "longer lists have more places to prefer, and none was shown"
        yield Rating("candidates in a list", float(lengths.max()), "candidates", why)


def check(stimuli: Sequence[Stimulus]) -> Iterator[Problem]:
    """Lengths and figures that give the right answer away, equal texts, leaks."""
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
    "golds",
    "labels",
    "lists",
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
