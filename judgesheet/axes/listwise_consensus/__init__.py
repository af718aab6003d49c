"""Does the order of a list of answers decide which one wins, and do several orders choose better?

A judge scores all candidate answers to a question at once (paper 004, PCFJudge): several times in
the canonical order, and once under each of a balanced set of orders. Runs are aggregated by
permutation consensus (equations 1 to 5).

In reading order: `ask` (the stimuli, the orders and repeats), `read` (how a reply is read, what
lost ones could have said, what a simulated judge says), `lists` (the replies as arrays) and
`figures`. `effects` says what they mean and what helps.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgesheet.axis import Axis, Readings, losses, order_test, slices
from judgesheet.axis.failing import Failing
from judgesheet.axis.figure import declared_in, measured
from judgesheet.base.keys import Key
from judgesheet.base.records import Estimate

from . import ask, effects, figures, read
from .ask import golds as golds
from .ask import list_calls as list_calls
from .lists import arrange, errors, figure
from .read import points_by_place

FIGURES = {**declared_in(figures), **figures.OF_WINNERS}
"""The figures of the verdicts."""


class ListwiseConsensus(Axis):
    """Whether the order of a list decides which answer wins, and several orders choose better."""

    NAME = "listwise_consensus"
    TITLE = "Order of a list of answers"
    QUESTION = "Does the place in a list decide which answer wins?"
    PAPER = (
        "Huang, Huang, Tang, Chen, Fan: Permutation-Consensus Listwise Judging for Robust "
        "Factuality Evaluation, 2026"
    )
    READ_BY = frozenset({"order"})
    FACTS = {"gold": ("item",)}
    PERMUTED = frozenset({"candidates"})
    TAKES = ask.TAKES
    ESTIMATES = {**FIGURES, **figure.adopted(order_test, losses, slices)}
    EFFECTS = effects.EFFECTS
    FAILING = Failing(errors, "accuracy", 4, points_by_place, "order_flip_rate")

    material = staticmethod(ask.material)
    check = staticmethod(ask.check)
    design = staticmethod(ask.design)
    fault = staticmethod(ask.fault)
    arm = staticmethod(ask.arm)
    shape = staticmethod(ask.shape)
    reading = staticmethod(read.reading)
    parts = staticmethod(read.parts)
    impute = staticmethod(read.impute)
    simulate = staticmethod(read.simulate)
    control = staticmethod(effects.control)
    mitigate = staticmethod(effects.mitigate)
    warn = staticmethod(effects.warn)

    def measure(self, readings: Readings) -> Iterator[Estimate]:
        """Every estimate of `ESTIMATES` that the run allows and the caller wants."""
        arranged = arrange(readings)
        if arranged is not None:
            yield from measured(FIGURES, arranged, readings)
            yield from order_test.measure(self.NAME, readings, points_by_place)
            yield from losses.measure(self.NAME, readings)

    def reads(self, key: Key, cells: Sequence[Mapping[str, Any]]) -> list[bool]:
        """The direct reading, and where the key names no other arm one under each order."""
        figure = self.ESTIMATES.get(key.name)
        shown = key.dims.get("arm", figure.reads if figure else "")
        if shown == read.DIRECT:
            return [cell["arm"] == read.DIRECT for cell in cells]
        if shown == read.PERMUTED and "executions" not in key.dims:
            return [cell["arm"] != read.REPEATED and cell["repeat"] == 0 for cell in cells]
        return [True] * len(cells)
