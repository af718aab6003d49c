"""The figures of candidate_order."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from judgesheet import axis, stats
from judgesheet.axes import candidate_order as room
from proof.lines import LEAST_AT_EDGES, Case, Line, Part, Rng
from proof.lines import lines as cut
from proof.pairs import Judge
from proof.tables import figures

DEPENDS_ON = (room, axis, stats)


OF_EQUALS = (
    *("dark_current", "raw_false_preference", "stable_cross_sensitivity"),
    *("positional_false_preference", "one_sided_commit", "other_conflict", "no_preference"),
    *("order_inconsistent", "slot1_share", "order_change_rate", "repeat_change_rate"),
    *("excess_change_rate", "filler_preference"),
)
"""Figures of preferences where there is little or nothing to prefer; the rest are of the ladder."""
EQUAL = frozenset({"vacuum", "delta0_same", "delta0_different", "filler", "natural"})
LADDER = frozenset({"ladder", "delta0_same"})


def _parts() -> Iterator[Part]:
    every = {name: one for name, one in room.FIGURES.items() if name != "quality_kappa"}
    equal = {name: every.pop(name) for name in OF_EQUALS}
    sizes = {10: 160, 20: 110, 40: 60, 100: 50}
    yield Part("equal quality", equal, sizes, (2000, 3))
    yield Part("ladder", every, {10: 150, 20: 100, 40: 60, 100: 40}, (2000, 3))


def _cases() -> Iterator[tuple[str, Case]]:
    differ = Judge(slot=0.75, slot_spread=1.0, tie_spread=0.8, padding=0.5)
    yield "tasks differ in slot and ties", _case(differ, "equal quality", "ladder")
    yield "strong slot preference", _case(Judge(slot=2.5, slot_spread=1.0, tie_spread=0.5))
    yield "reacts to surface", _case(Judge(surface=3.0, slot_spread=0.5, tie_spread=0.5))
    coin = Judge(tie=0.0, sensitivity=0.0)
    yield "coin", _case(coin, "equal quality")
    rarely = Judge(tie=3.0, tie_spread=1.0, slot=0.5, slot_spread=0.5, sensitivity=2.5)
    yield "ties often", _case(rarely, "equal quality", "ladder")
    yield "sees little", _case(replace(differ, sensitivity=0.7), "ladder")
    yield "2 % of answers are not allowed", _case(replace(differ, invalid=0.02))
    perfect = Judge(tie=100.0, sensitivity=1000.0, strict=0.0, lapse=0.0)
    yield "perfect", _case(perfect, "equal quality", "ladder")
    first = Judge(slot=1e3, tie=0.0, lapse=1.0)
    yield "always slot 1", _case(first)
    yield "always slot 1 but for a call", _case(replace(first, slips=1 / 240))
    yield "always a tie but for a call", _case(replace(perfect, slips=1 / 240))
    for share in (0.05, 0.1, 0.2):
        few = replace(perfect, slips=0.01, always=share)
        yield (
            f"1 % slips, {share:.0%} of tasks always slot 1",
            _case(few, least=LEAST_AT_EDGES),
        )


def _case(judge: Judge, *parts: str, **more: Any) -> Case:
    def equal(tasks: int, rng: Rng) -> Any:
        return judge.pairs(tasks, rng, EQUAL)

    def steps(tasks: int, rng: Rng) -> Any:
        return judge.pairs(tasks, rng, LADDER)

    draw = {"equal quality": equal, "ladder": steps}
    return Case(draw, judge.truths, frozenset(parts or ("equal quality",)), **more)


def lines() -> Iterator[Line]:
    """Every judge at every size."""
    return cut(dict(_cases()), list(_parts()))


fields = figures
