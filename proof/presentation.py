"""The figures of presentation."""

from collections.abc import Iterator
from typing import Any

from judgesheet import axis, stats
from judgesheet.axes import presentation as room
from proof.dresses import Judge
from proof.lines import LEAST_AT_EDGES, Case, Line, Part
from proof.lines import lines as cut
from proof.tables import figures

MOVED_BY = (room, axis, stats)


REST, REMEDIES = "", "remedies"


def _parts() -> Iterator[Part]:
    gains = {name: one for name, one in room.FIGURES.items() if name.endswith("_gain")}
    others = {name: one for name, one in room.FIGURES.items() if name not in gains}
    yield Part(REST, others, {12: 60, 24: 60, 60: 30}, (3000, 4))
    yield Part(REMEDIES, gains, {12: 200, 24: 200}, (3000, 4))


def _cases() -> Iterator[tuple[str, Case]]:
    yield "no taste, noise", _case(Judge())
    yield "no taste, hardly any noise", _case(Judge(tie=6.0, sensitivity=12.0, noise=0.1))
    yield "coin", _case(Judge(tie=0.0, sensitivity=0.0))
    yield "slots differ between stimuli", _case(Judge(slot=1.0, slot_spread=1.5))
    yield "loves length", _case(Judge(taste=2.0, taste_spread=1.0, own=1.0))
    yield "loves length, outweighs two points", _case(Judge(taste=5.0, tie=1.0, sensitivity=2.5))
    yield "loves it here and hates it there", _case(Judge(taste_spread=3.0))
    yield "always the dressed copy", _case(Judge(taste=1e3, tie=0.0))
    for share in (0.05, 0.2):
        few = Judge(tie=6.0, sensitivity=12.0, obeys=share, noise=0.1)
        yield f"obeys on {share:.0%} of stimuli, else sound", _case(few, least=LEAST_AT_EDGES)
        few = Judge(tie=6.0, sensitivity=12.0, always=share, noise=0.1)
        yield f"loves dress on {share:.0%} of stimuli", _case(few, least=LEAST_AT_EDGES)
    yield from _remedied()


def _remedied() -> Iterator[tuple[str, Case]]:
    """Judges by what the remedies leave of their taste for dress."""
    yield "remedies, no taste", _case(Judge(), REMEDIES)
    yield "remedies, a coin", _case(Judge(tie=0.0, sensitivity=0.0), REMEDIES)
    for words, left in (
        ("take it away", 0.0),
        ("leave half of it", 0.5),
        ("leave it", 1.0),
        ("turn it around", -1.0),
        ("make it greater", 2.0),
    ):
        judge = Judge(taste=2.0, taste_spread=1.0, slot=0.5, slot_spread=1.0, left=left)
        yield f"loves length, remedies {words}", _case(judge, REMEDIES)


def _case(judge: Judge, part: str = REST, **more: Any) -> Case:
    return Case({part: judge.verdicts}, parts=frozenset({part}), **more)


def lines() -> Iterator[Line]:
    """Every judge at every size."""
    return cut(dict(_cases()), list(_parts()))


fields = figures
