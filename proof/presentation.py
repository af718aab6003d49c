"""The figures of presentation."""

from collections.abc import Iterator
from typing import Any

from judgesheet import axis, stats
from judgesheet.axes import presentation as room
from proof.lines import LEAST_AT_EDGES, Case, Line, Part
from proof.lines import lines as cut
from proof.presentations import Judge
from proof.tables import figures

DEPENDS_ON = (room, axis, stats)


REST, OWN = "", "own pairs"


def _parts() -> Iterator[Part]:
    own = {name: one for name, one in room.FIGURES.items() if one.reads == "natural"}
    rest = {name: one for name, one in room.FIGURES.items() if name not in own}
    sets = {12: 200, 24: 200, 60: 100}
    yield Part(REST, rest, sets, (3000, 4))
    yield Part(OWN, own, sets, (3000, 4))


def _cases() -> Iterator[tuple[str, Case]]:
    yield "no taste, noise", _case(Judge(), REST, OWN)
    yield "no taste, hardly any noise", _case(Judge(tie=6.0, sensitivity=12.0, noise=0.1))
    yield "coin", _case(Judge(tie=0.0, sensitivity=0.0), REST, OWN)
    yield "slots differ between stimuli", _case(Judge(slot=1.0, slot_spread=1.5), REST, OWN)
    yield "loves length", _case(Judge(taste=2.0, taste_spread=1.0, own=1.0), REST, OWN)
    strong = Judge(taste=5.0, tie=1.0, sensitivity=2.5)
    yield "loves length, outweighs two points", _case(strong, REST, OWN)
    yield "loves it here and hates it there", _case(Judge(taste_spread=3.0), REST, OWN)
    yield "always the dressed copy", _case(Judge(taste=1e3, tie=0.0))
    for share in (0.05, 0.2):
        few = Judge(tie=6.0, sensitivity=12.0, obeys=share, noise=0.1)
        yield f"obeys on {share:.0%} of stimuli, else sound", _case(few, least=LEAST_AT_EDGES)
        few = Judge(tie=6.0, sensitivity=12.0, always=share, noise=0.1)
        yield f"loves dress on {share:.0%} of stimuli", _case(few, least=LEAST_AT_EDGES)


def _case(judge: Judge, *parts: str, **more: Any) -> Case:
    asked = parts or (REST,)
    return Case(dict.fromkeys(asked, judge.verdicts), parts=frozenset(asked), **more)


def lines() -> Iterator[Line]:
    """Every judge at every size."""
    return cut(dict(_cases()), list(_parts()))


fields = figures
