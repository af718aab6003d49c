"""The figures of listwise consensus."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from judgesheet import axis, stats
from judgesheet.axes import listwise_consensus as room
from proof.lines import LEAST_AT_EDGES, Case, Line, Part
from proof.lines import lines as cut
from proof.lists import Judge
from proof.tables import figures

DEPENDS_ON = (room, axis, stats)


NO_INTERVAL = (
    *("chance_accuracy", "improved", "regressed", "unchanged", "calls_per_decision"),
    "independent_error_bound",
)


def _parts() -> Iterator[Part]:
    # Tests of the order, losses and slices read single calls, which these judges do not give.
    figures = {name: one for name, one in room.FIGURES.items() if name not in NO_INTERVAL}
    yield Part("", figures, {12: 300, 44: 300, 150: 200}, (4000, 5))


def _cases() -> Iterator[tuple[str, Case]]:
    yield "order-blind, no shared errors", _case(Judge(shared=0.0, gap=8.0))
    yield "order-blind, shared errors", _case(Judge())
    yield "first place favoured", _case(Judge(slots=(12.0, 0.0, 0.0, 0.0)))
    yield "every prompt favours other places", _case(Judge(wander=8.0))
    yield "errors differ by order", _case(Judge(perturb=10.0, shared=5.0))
    perfect = Judge(shared=0.0, noise=0.0, unsure=0.0)
    yield "perfect", _case(perfect)
    yield "all answers alike", _case(replace(perfect, gap=0.0))
    slip = 1 / (12 * 10)
    yield "perfect, but for a call that takes the first", _case(replace(perfect, slips=slip))
    for share in (0.05, 0.1, 0.2):
        few = replace(perfect, slips=0.01, always=share)
        yield (
            f"1 % slips, {share:.0%} of prompts always the first",
            _case(few, least=LEAST_AT_EDGES),
        )


def _case(judge: Judge, **more: Any) -> Case:
    return Case({"": judge.lists}, **more)


def lines() -> Iterator[Line]:
    """Every judge at every size."""
    return cut(dict(_cases()), list(_parts()))


fields = figures
