"""Does a judge prefer an answer for its dress: its length, its markup, what it says of itself?

The same content is asked in another dress, made by rule from the same response (`_rules`), so that
quality is equal by construction: pairs of the dressed and the plain copy in both orders, and scores
of both.

In reading order: `_rules` (how a response is dressed), `_material` (the stimuli), `_design` (the
calls), `_reply` (how a reply is read), `_verdicts` (the verdicts as arrays), then the figures:
`preference` (equal content) and `natural` (own pairs). `effects` says what they mean.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from judgesheet.axes.presentation import natural, preference
from judgesheet.axis import Axis, Readings, losses, slices
from judgesheet.axis.failing import Failing
from judgesheet.axis.figure import declared_in, measured
from judgesheet.base.keys import Key, holds
from judgesheet.base.records import Estimate

from . import _design, _material, _reply, effects
from ._design import FORMER, KINDS, SCORE, is_read
from ._rules import RULES
from ._verdicts import arrange, errors, figure

FIGURES = declared_in(preference, natural)
"""The figures of the verdicts."""


class Presentation(Axis):
    """Whether a judge prefers an answer for its length, its markup or what it says of itself."""

    NAME = "presentation"
    TITLE = "Presentation of a response"
    QUESTION = "Does a response win by looks, not by content?"
    READ_BY = frozenset({"ask"})
    FACTS = dict.fromkeys(("dose", "missing", "better"), ("pair", "ask"))
    PERMUTED = frozenset({"responses"})
    TAKES = _material.TAKES
    SIMULATED = _reply.SIMULATED
    ESTIMATES = {**FIGURES, **figure.adopted(losses, slices)}
    EFFECTS = effects.EFFECTS
    FAILING = Failing(errors, "quality_seen", 2)

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
    warn = staticmethod(effects.warn)

    def measure(self, readings: Readings) -> Iterator[Estimate]:
        """Every estimate of `ESTIMATES` that the run allows and the caller wants."""
        facts = readings.frame.reindex(columns=[*FORMER, "missing"]).to_dict("records")
        read = [is_read(cell) for cell in cast("list[dict[str, Any]]", facts)]
        readings = replace(readings, frame=readings.frame[read].reset_index(drop=True))
        verdicts = arrange(readings)
        if verdicts is not None:
            yield from measured(FIGURES, verdicts, readings.families)
            yield from losses.measure(self.NAME, readings)

    def reads(self, key: Key, cells: Sequence[Mapping[str, Any]]) -> list[bool]:
        """The calls of the kind or dose that a key names."""
        declared = self.ESTIMATES.get(key.name)
        what = declared.reads if declared else ""
        if not what:
            return [True] * len(cells)
        return [_is_read(what, key.dims, cell) for cell in cells]


def _is_read(what: str, dims: Mapping[str, str], cell: Mapping[str, Any]) -> bool:
    if not is_read(cell) or (cell.get("ask") == SCORE) != (what == "scores"):
        return False
    named = holds(cell, {name: value for name, value in dims.items() if name in ("kind", "dose")})
    kind = cell["kind"]
    return what == "scores" or (named and (kind == what if what in KINDS else kind in RULES))
