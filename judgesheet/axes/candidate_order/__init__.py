"""Does the judge prefer where there is nothing to prefer, follow the slot, see a difference?

Two responses are compared in both orders (paper 003, the Judge Datasheet): pairs with nothing in
them, pairs of equal quality, pairs that are a known number of steps apart, under an ordinary and a
strict instruction about ties.

This file holds the material, the cells, the parser and the list of estimates. Their arithmetic is
in `vacuum` (dark current), `delta0` (equal quality), `ladder` (steps) and `operating_point` (what
the prompt does); `_compose` writes the responses, `words` says what it all means.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgesheet.axes.candidate_order import _design, _material
from judgesheet.axes.candidate_order._pair import arrange, read
from judgesheet.axes.candidate_order._plots import plots
from judgesheet.axes.candidate_order._shape import TAKES, shape
from judgesheet.axes.candidate_order._simulated import simulate
from judgesheet.axes.candidate_order.delta0 import (
    content_component,
    filler_preference,
    no_preference,
    noise_component,
    one_sided_commit,
    order_change_rate,
    order_inconsistent,
    other_conflict,
    position_component,
    positional_false_preference,
    raw_false_preference,
    repeat_change_rate,
    slot1_share,
    stable_cross_sensitivity,
)
from judgesheet.axes.candidate_order.ladder import (
    d_prime,
    miss_by_tie,
    target_sensitivity,
    target_sensitivity_decided,
    threshold75,
    tie_rate,
    wrong_rate,
)
from judgesheet.axes.candidate_order.operating_point import criterion, criterion_shift, format_cue
from judgesheet.axes.candidate_order.vacuum import dark_current
from judgesheet.axes.candidate_order.words import control, find, mitigate, recommend, warn
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

NAME = "candidate_order"
TITLE = "Comparing two responses"
QUESTION = (
    "Does the judge prefer where there is nothing to prefer, and how small a difference does it "
    "see, whichever response stands first?"
)
TEMPLATE = "candidate_order.jinja"

ESTIMATES = {
    function.__name__: function
    for function in (
        dark_current,
        raw_false_preference,
        stable_cross_sensitivity,
        positional_false_preference,
        one_sided_commit,
        other_conflict,
        no_preference,
        order_inconsistent,
        slot1_share,
        position_component,
        content_component,
        noise_component,
        order_change_rate,
        repeat_change_rate,
        target_sensitivity,
        target_sensitivity_decided,
        wrong_rate,
        tie_rate,
        miss_by_tie,
        threshold75,
        d_prime,
        criterion,
        criterion_shift,
        filler_preference,
        format_cue,
    )
}
"""Every estimate of the axis, in the order of the appendix; a key's name is its function's."""

MISSING_REASONS = {
    "dark_current": "pairs with nothing to prefer (condition vacuum)",
    "target_sensitivity[set=natural]": "own pairs whose better response is known (cell.better)",
    "[set=natural]": "own pairs (condition natural)",
    "[set=same_subset]": "pairs of equal quality (condition delta0_same)",
    "criterion_shift": "the same pairs under both prompts (cell.prompt)",
    "format_cue": "equal pairs with the answers listed in another order (cell.listing)",
    "filler_preference": "pairs with filler added (condition filler)",
    "": "pairs a known number of steps apart (condition ladder)",
}

_HIGHER = ("target_sensitivity",)
_NEITHER = ("criterion_shift",)
_NEARER = ("slot1_share", "format_cue", "filler_preference")

HEADLINE = tuple(
    Characteristic(
        f"{NAME}.{name}",
        symbol,
        null,
        noise and f"{NAME}.{noise}",
        better(name, higher=_HIGHER, neither=_NEITHER, nearer=_NEARER),
    )
    for name, symbol, null, noise in (
        ("order_inconsistent[set=natural]", "OI_nat", 0.0, "repeat_change_rate[set=natural]"),
        ("order_inconsistent[set=same_subset]", "OI", 0.0, "repeat_change_rate[set=same_subset]"),
        ("slot1_share[set=natural]", "S1_nat", 0.5, ""),
        ("slot1_share[set=same_subset]", "S1", 0.5, ""),
        ("dark_current[kind=identical]", "DC_=", 0.0, ""),
        ("target_sensitivity[set=natural]", "TS_nat", 0.5, ""),
        ("target_sensitivity[delta=1]", "TS_1", 0.5, ""),
        ("threshold75", "Δ75", None, ""),
        ("raw_false_preference[set=same_subset]", "RFP", 0.0, ""),
        ("positional_false_preference[set=same_subset]", "PFP", 0.0, ""),
        ("stable_cross_sensitivity[set=same_subset]", "SCS", 0.0, ""),
        ("criterion_shift[delta=1]", "ΔC_1", None, ""),
        ("dark_current[kind=empty]", "DC_0", 0.0, ""),
        ("dark_current[kind=whitespace]", "DC_s", 0.0, ""),
        ("filler_preference", "FP", 0.5, ""),
        ("format_cue", "FC", 0.0, ""),
        ("position_component[set=same_subset]", "C_pos", 0.0, ""),
        ("content_component[set=same_subset]", "C_con", 0.0, ""),
        ("noise_component[set=same_subset]", "C_noi", 0.0, ""),
        ("order_change_rate[set=natural]", "OCR", None, "repeat_change_rate[set=natural]"),
        ("repeat_change_rate[set=natural]", "RCR", None, ""),
        ("wrong_rate[delta=1]", "W_1", 0.0, ""),
        ("miss_by_tie[delta=1]", "MBT_1", 0.0, ""),
        ("target_sensitivity[delta=5]", "TS_5", 0.5, ""),
        ("criterion_shift[delta=0]", "ΔC_0", None, ""),
    )
)
"""The characteristics, the most telling first: a sheet that is short of room cuts from the end."""


SWEEP_KEYS = tuple(
    f"{NAME}.{name}"
    for name in (
        "positional_false_preference[set=same_subset]",
        "positional_false_preference[set=natural]",
        "dark_current[kind=identical]",
        "target_sensitivity[delta=1]",
    )
)


def material() -> "type[BaseModel]":
    """The schema of one stimulus: a bank of sentences to compose from, or a pair of responses."""
    return _material.Material


def labels(stimuli: Sequence[Stimulus]) -> Iterator[Label]:  # noqa: ARG001
    """None: what is known about a pair (its step, the better response) stands in its cell."""
    return iter(())


def design(
    stimuli: Sequence[Stimulus], options: Options, rng: "np.random.Generator"
) -> Iterator[Call]:
    """Every call: vacuum, equal pairs and the ladder, each in both orders, arms mixed in a task."""
    return _design.build(stimuli, options, rng, TEMPLATE)


def both_orders(stimulus: Stimulus, options: Options) -> tuple[Call, Call]:
    """One call in each order of an own pair: the direct one shows u first, the swapped one v."""
    return _design.both_orders(stimulus, options, TEMPLATE)


def parse(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> str | None:  # noqa: ARG001
    """The verdict: `1`, `2`, `tie` or `abstain`; None if the reply does not say exactly one."""
    return read(text, reply)


def fault(cell: Mapping[str, Any]) -> str | None:
    """What is wrong with the cell of a recorded judgment, or None."""
    return _design.fault(cell)


def expect(calls: Sequence[Call]) -> Iterator[Expectation]:
    """Half-widths of the headline intervals under stated assumptions."""
    usual = [c for c in calls if c.cell["prompt"] == "baseline" and c.cell["order"][0] == "u"]
    vacuum = [c for c in usual if c.cell["condition"] == "vacuum"]
    same = [c for c in usual if c.cell["condition"] == "delta0_same" and c.repeat == 0]
    one = [c for c in usual if c.cell["condition"] == "ladder" and c.cell["delta"] == 1]
    for key, mine, share, per_pair, assuming in (
        ("dark_current", vacuum, 0.1, 2, "true rate .10, ICC .2"),
        ("positional_false_preference[set=same_subset]", same, 0.1, 1, "true rate .10, ICC .2"),
        ("target_sensitivity[delta=1]", one, 0.75, 2, "true rate .75, ICC .2"),
    ):
        tasks = len({call.stimulus for call in mine})
        if tasks:
            width = planning.rate_half_width(share, tasks, per_pair * len(mine) / tasks, 0.2)
            yield Expectation(f"{NAME}.{key}", width, assuming)


def measure(readings: Readings) -> Iterator[Estimate]:
    """Every estimate of `ESTIMATES` that the run allows."""
    pairs = arrange(readings)
    if pairs is None:
        return
    for name, function in ESTIMATES.items():
        if readings.wants(name):
            yield from function(pairs)


def tested_range(readings: Readings) -> Iterator[Rating]:  # noqa: ARG001
    """Two candidates are shown, whatever the run."""
    yield Rating("candidates in a comparison", 2, "candidates", "longer lists are another question")


def check(stimuli: Sequence[Stimulus]) -> Iterator[Problem]:
    """Leaks of the level, several sentences in a slot, duplicates; prints the spread of lengths."""
    return _material.check(stimuli)


__all__ = [  # noqa: PLE0604  (the names of ESTIMATES are strings)
    *ESTIMATES,
    "TAKES",
    "both_orders",
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
