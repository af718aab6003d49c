"""Does the judge prefer one of two equal responses, follow the slot, miss a difference?

Two responses are compared in both orders (paper 003, the Judge Datasheet): empty or identical
pairs, pairs of equal quality, and pairs that are a known number of steps apart, under an ordinary
and a strict instruction about ties.

In reading order: `ask` (the stimuli, responses written from them, and the calls), `read` (how a
reply is read, what lost ones could have said, what a simulated judge says), `pairs` (the verdicts
as arrays) and `figures`. `effects` says what they mean and what helps.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judgesheet.axis import Axis, Readings, losses, order_test, slices
from judgesheet.axis.failing import Failing
from judgesheet.axis.figure import declared_in, measured
from judgesheet.base.keys import Key, holds
from judgesheet.base.records import Estimate

from . import ask, effects, figures, read
from .ask import BASELINE, LISTING
from .ask import both_orders as both_orders
from .pairs import SWAPPED_SETS, arrange, errors, figure
from .read import chosen as chosen
from .read import points_by_place

if TYPE_CHECKING:
    import pandas as pd
FIGURES = declared_in(figures)
"""The figures of the verdicts."""


class CandidateOrder(Axis):
    """Whether the judge prefers one of two equal responses, follows the slot, misses steps."""

    NAME = "candidate_order"
    TITLE = "Comparing two responses"
    QUESTION = "Is the better of two found, in either order, and do equals tie?"
    PAPER = (
        "Usami, Hara, Tsuboi, Matsuda: LLM Judges Have Dark Current: A Psychometric Datasheet for "
        "LLM-as-a-Judge Evaluation, arXiv:2606.15610, 2026"
    )
    READ_BY: frozenset[str] = frozenset()
    FACTS = {"better": ("pair", "condition"), "delta": ("pair", "condition")}
    PERMUTED = frozenset({"first", "second"})
    TAKES = ask.TAKES
    ESTIMATES = {**FIGURES, **figure.adopted(order_test, losses, slices)}
    EFFECTS = effects.EFFECTS
    FAILING = Failing(errors, "target_sensitivity", 3, points_by_place, "order_change_rate")

    material = staticmethod(ask.material)
    check = staticmethod(ask.check)
    design = staticmethod(ask.design)
    fault = staticmethod(ask.fault)
    arm = staticmethod(ask.arm)
    shape = staticmethod(ask.shape)
    reading = staticmethod(read.reading)
    complete = staticmethod(read.complete)
    impute = staticmethod(read.impute)
    simulate = staticmethod(read.simulate)
    control = staticmethod(effects.control)
    mitigate = staticmethod(effects.mitigate)
    warn = staticmethod(effects.warn)

    def measure(self, readings: Readings) -> Iterator[Estimate]:
        """Every estimate of `ESTIMATES` that the run allows."""
        pairs = arrange(readings)
        if pairs is not None:
            yield from measured(FIGURES, pairs, readings)
            usual = replace(readings, frame=_usual(readings.frame))
            yield from order_test.measure(self.NAME, usual, points_by_place)
            yield from losses.measure(self.NAME, readings)

    def reads(self, key: Key, cells: Sequence[Mapping[str, Any]]) -> list[bool]:
        """The calls in the condition, kind or step that a key names, under one prompt."""
        dims, figure = key.dims, self.ESTIMATES.get(key.name)
        condition = figure.reads if figure else ""
        where = {"prompt": dims.get("prompt", BASELINE), "listing": LISTING}
        if "set" in dims:
            condition = SWAPPED_SETS.get(dims["set"], condition)
        elif condition == "ladder" and "delta" in dims:
            where["delta"] = dims["delta"]
        elif condition == "ladder":
            condition = ""  # its steps together
        if not condition:
            return [True] * len(cells)
        where["condition"] = condition
        if "kind" in dims:
            where["kind"] = dims["kind"]
        return [holds(cell, where) for cell in cells]


def _usual(frame: "pd.DataFrame") -> "pd.DataFrame":
    """The calls under the prompt that a user has; recordings may not say."""
    import pandas as pd

    prompt, listing = (
        frame.get(name, pd.Series(usual, frame.index)).fillna(usual)
        for name, usual in (("prompt", BASELINE), ("listing", LISTING))
    )
    return frame[(prompt == BASELINE) & (listing == LISTING)]
