"""Does the judge prefer one of two equal responses, follow the slot, miss a difference?

Two responses are compared in both orders (paper 003, the Judge Datasheet): empty or identical
pairs, pairs of equal quality, and pairs that are a known number of steps apart, under an ordinary
and a strict instruction about ties.

In reading order: `_material` (the stimuli, and responses written from them), `_design` (the calls),
`_reply` (how a reply is read), `_pairs` (the verdicts as arrays), then the figures: `equal_quality`
(preferences where there is little or nothing to prefer) and `ladder` (steps of quality, and what
changes verdicts besides). `effects` says what they mean and what helps.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judgesheet.axis import Axis, Readings, losses, order_test, slices
from judgesheet.axis.failing import Failing
from judgesheet.axis.figure import declared_in, measured
from judgesheet.base.keys import Key, holds
from judgesheet.base.records import Estimate

from . import _design, _material, _reply, effects, equal_quality, ladder
from ._design import BASELINE, LISTING
from ._design import both_orders as both_orders
from ._pairs import SWAPPED_SETS, arrange, errors, figure
from ._reply import chosen as chosen
from ._reply import points_by_place

if TYPE_CHECKING:
    import pandas as pd
FIGURES = declared_in(equal_quality, ladder)
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
    TAKES = _material.TAKES
    ESTIMATES = {**FIGURES, **figure.adopted(order_test, losses, slices)}
    EFFECTS = effects.EFFECTS
    FAILING = Failing(errors, "target_sensitivity", 3, points_by_place, "order_change_rate")

    material = staticmethod(_material.material)
    labels = staticmethod(_material.labels)
    check = staticmethod(_material.check)
    design = staticmethod(_design.design)
    fault = staticmethod(_design.fault)
    arm = staticmethod(_design.arm)
    shape = staticmethod(_material.shape)
    reading = staticmethod(_reply.reading)
    complete = staticmethod(_reply.complete)
    impute = staticmethod(_reply.impute)
    simulate = staticmethod(_reply.simulate)
    control = staticmethod(effects.control)
    mitigate = staticmethod(effects.mitigate)
    warn = staticmethod(effects.warn)

    def measure(self, readings: Readings) -> Iterator[Estimate]:
        """Every estimate of `ESTIMATES` that the run allows."""
        pairs = arrange(readings)
        if pairs is not None:
            yield from measured(FIGURES, pairs, readings.families)
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
