"""Does a judge prefer an answer for its style: its length, its markup, what it says of itself?

The same content is asked in another style, made by rule from the same response (`rules`), so that
quality is equal by construction: pairs of the altered and the plain copy in both orders, and scores
of both.

In reading order: `rules` (how a response is altered), `ask` (the stimuli and the calls), `read`
(how a reply is read, what lost ones could have said, what a simulated judge says) and `figures`
(over the verdicts as arrays). `effects` says what they mean.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from judgesheet.axis import Axis, Readings, losses, slices
from judgesheet.axis.failing import Failing
from judgesheet.axis.figure import declared_in, measured
from judgesheet.base.keys import Key, holds
from judgesheet.base.records import Estimate

from . import ask, effects, figures, read
from .ask import FORMER, KINDS, SCORE, is_read
from .figures import arrange, errors, figure
from .rules import RULES

FIGURES = declared_in(figures)
"""The figures of the verdicts."""


class Presentation(Axis):
    """Whether a judge prefers an answer for its length, its markup or what it says of itself."""

    NAME = "presentation"
    TITLE = "Presentation of a response"
    QUESTION = "Does a response win by looks, not by content?"
    READ_BY = frozenset({"ask"})
    FACTS = dict.fromkeys(("dose", "missing", "better"), ("pair", "ask"))
    PERMUTED = frozenset({"responses"})
    TAKES = ask.TAKES
    SIMULATED = read.SIMULATED
    ESTIMATES = {**FIGURES, **figure.adopted(losses, slices)}
    EFFECTS = effects.EFFECTS
    FAILING = Failing(errors, "quality_seen", 2)

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
    warn = staticmethod(effects.warn)

    def measure(self, readings: Readings) -> Iterator[Estimate]:
        """Every estimate of `ESTIMATES` that the run allows and the caller wants."""
        facts = readings.frame.reindex(columns=[*FORMER, "missing"]).to_dict("records")
        read = [is_read(cell) for cell in cast("list[dict[str, Any]]", facts)]
        readings = replace(readings, frame=readings.frame[read].reset_index(drop=True))
        verdicts = arrange(readings)
        if verdicts is not None:
            yield from measured(FIGURES, verdicts, readings)
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
