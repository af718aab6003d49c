"""Does the judge prefer one of two equal responses, follow the slot, miss a difference?

Two responses are compared in both orders (paper 003, the Judge Datasheet): empty or identical
pairs, pairs of equal quality, and pairs that are a known number of steps apart, under an ordinary
and a strict instruction about ties.

`_material` defines the stimuli, `_compose` writes the responses, `_design` the calls, `_reply`
reads the replies, `_pairs` turns them into arrays; `_simulated` answers in place of a judge. The
figures are in `vacuum` (dark current), `equal_quality`, `ladder` (steps) and `operating_point`
(what changes verdicts besides quality); `findings` says what they mean, `advice` what to do.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from judgesheet.axes.candidate_order import equal_quality, ladder, operating_point, vacuum
from judgesheet.axes.candidate_order._cases import CASES
from judgesheet.axes.candidate_order._design import BASELINE, LISTING, arm, design, fault
from judgesheet.axes.candidate_order._design import both_orders as both_orders
from judgesheet.axes.candidate_order._impute import complete as complete
from judgesheet.axes.candidate_order._impute import impute
from judgesheet.axes.candidate_order._material import check, labels, material
from judgesheet.axes.candidate_order._pairs import arrange
from judgesheet.axes.candidate_order._plots import plots
from judgesheet.axes.candidate_order._reads import reads as reads
from judgesheet.axes.candidate_order._reply import chosen, gives, parse, reading
from judgesheet.axes.candidate_order._shape import TAKES, shape
from judgesheet.axes.candidate_order._simulated import simulate
from judgesheet.axes.candidate_order.advice import control, mitigate, recommend, warn
from judgesheet.axes.candidate_order.findings import find
from judgesheet.axis import Readings, losses, unequal
from judgesheet.axis.figure import declared_in, measured, shared
from judgesheet.axis.words import made
from judgesheet.base.records import Estimate, Rating

if TYPE_CHECKING:
    import pandas as pd

NAME = "candidate_order"
TITLE = "Comparing two responses"
QUESTION = (
    "Does the judge prefer where there is nothing to prefer, and how small a difference does it "
    "see, whichever response stands first?"
)
READ_BY: frozenset[str] = frozenset()
PERMUTED = frozenset({"first", "second"})
PARTS = "comparison"
FACTS = {"better": ("pair", "condition"), "delta": ("pair", "condition")}
PAPER = (
    "Usami, Hara, Tsuboi, Matsuda: LLM Judges Have Dark Current: A Psychometric Datasheet for "
    "LLM-as-a-Judge Evaluation, arXiv:2606.15610, 2026"
)

ESTIMATES = {
    **declared_in(vacuum, equal_quality, ladder, operating_point),
    **shared(NAME, unequal, losses),
}

HEADLINE = (
    "order_inconsistent[set=natural]",
    "order_inconsistent[set=same_subset]",
    "slot1_share[set=natural]",
    "slot1_share[set=same_subset]",
    "dark_current[kind=identical]",
    "target_sensitivity[set=natural]",
    "target_sensitivity[delta=1]",
    "threshold75",
    "raw_false_preference[set=same_subset]",
    "positional_false_preference[set=same_subset]",
    "stable_cross_sensitivity[set=same_subset]",
    "criterion_shift[delta=1]",
    "dark_current[kind=empty]",
    "dark_current[kind=whitespace]",
    "filler_preference",
    "format_cue",
    "position_component[set=same_subset]",
    "content_component[set=same_subset]",
    "noise_component[set=same_subset]",
    "order_change_rate[set=natural]",
    "repeat_change_rate[set=natural]",
    "wrong_rate[delta=1]",
    "miss_by_tie[delta=1]",
    "target_sensitivity[delta=5]",
    "criterion_shift[delta=0]",
    "order_dependence_p[set=natural]",
    "order_dependence_p[set=same_subset]",
    "unequal_stimuli",
    "largest_stimulus_effect",
)

MISSING_REASONS = {
    ("dark_current",): "pairs with nothing to prefer (condition vacuum)",
    ("target_sensitivity[set=natural]",): "own pairs whose better response is known (cell.better)",
    ("[set=natural]",): "own pairs (condition natural)",
    ("[set=same_subset]",): "pairs of equal quality (condition delta0_same)",
    ("criterion_shift",): "the same pairs under both prompts (cell.prompt)",
    ("format_cue",): "equal pairs with the answers listed in another order (cell.listing)",
    ("filler_preference",): "pairs with filler added (condition filler)",
    ("",): "pairs a known number of required elements apart (condition ladder)",
}

SWEEP_KEYS = (
    "candidate_order.positional_false_preference[set=same_subset]",
    "candidate_order.positional_false_preference[set=natural]",
    "candidate_order.dark_current[kind=identical]",
    "candidate_order.target_sensitivity[delta=1]",
)


def measure(readings: Readings) -> Iterator[Estimate]:
    """Every estimate of `ESTIMATES` that the run allows."""
    pairs = arrange(readings)
    if pairs is not None:
        mine = (name for name in ESTIMATES if name not in losses.NAMES | unequal.NAMES)
        yield from measured((ESTIMATES[name] for name in mine if readings.wants(name)), pairs)
        yield from unequal.measure(NAME, replace(readings, frame=_usual(readings.frame)), gives)
        yield from losses.measure(NAME, readings, chosen)


def _usual(frame: "pd.DataFrame") -> "pd.DataFrame":
    """The calls under the prompt that a user has; recordings may not say."""
    import pandas as pd

    prompt, listing = (
        frame.get(name, pd.Series(usual, frame.index)).fillna(usual)
        for name, usual in (("prompt", BASELINE), ("listing", LISTING))
    )
    return frame[(prompt == BASELINE) & (listing == LISTING)]


def tested_range(readings: Readings) -> Iterator[Rating]:
    """Two candidates are shown, whatever the run."""
    if len(made(readings)):
        why = "longer lists are another question"
        yield Rating("candidates in a comparison", 2.0, "candidates", why)
