"""The figures of presentation."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from judgesheet import axis, stats
from judgesheet.axes import presentation as room
from judgesheet.axes.presentation import natural
from judgesheet.axes.presentation._rules import BASELINE
from judgesheet.axes.presentation._verdicts import Verdicts
from judgesheet.axis.figure import declared_in
from proof.dresses import Judge
from proof.lines import LEAST_AT_EDGES, Case, Draw, Line, Part, Rng
from proof.lines import lines as cut
from proof.tables import figures

MOVED_BY = (room, axis, stats)


REST, OWN, REMEDIES, UNDER = "", "own pairs", "remedies", "under remedies"


def _parts() -> Iterator[Part]:
    own = declared_in(natural)
    gains = {name: one for name, one in room.FIGURES.items() if name.endswith("_gain")}
    rest = {name: one for name, one in room.FIGURES.items() if name not in own | gains}
    sets = {12: 200, 24: 200, 60: 100}
    yield Part(REST, rest, sets, (3000, 4))
    yield Part(OWN, own, sets, (3000, 4))
    yield Part(REMEDIES, gains, {12: 200, 24: 200}, (3000, 4))
    left = {name: room.FIGURES[name] for name in ("preference", "dress_excess")}
    yield Part(UNDER, left, {12: 60, 24: 60}, (1000, 4))


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
    yield from _remedied()


def _remedied() -> Iterator[tuple[str, Case]]:
    """Judges by what the remedies leave of their taste for dress."""
    yield "remedies, no taste", _case(Judge(), REMEDIES, UNDER)
    yield "remedies, a coin", _case(Judge(tie=0.0, sensitivity=0.0), REMEDIES, UNDER)
    for words, left in (
        ("take it away", 0.0),
        ("leave half of it", 0.5),
        ("leave it", 1.0),
        ("turn it around", -1.0),
        ("make it greater", 2.0),
    ):
        judge = Judge(taste=2.0, taste_spread=1.0, slot=0.5, slot_spread=1.0, left=left)
        yield f"loves length, remedies {words}", _case(judge, REMEDIES, UNDER)


def _case(judge: Judge, *parts: str, **more: Any) -> Case:
    asked = parts or (REST,)
    drawn: dict[str, Draw] = {REMEDIES: judge.verdicts, UNDER: partial(_remedied_alone, judge)}
    draws = {part: drawn.get(part, partial(_usual, judge)) for part in asked}
    return Case(draws, parts=frozenset(asked), **more)


def _usual(judge: Judge, stimuli: int, rng: Rng) -> Verdicts:
    """Without the pairs that are asked with a remedy."""
    every = judge.verdicts(stimuli, rng)
    return replace(every, pairs=every.pairs.where(prompt=BASELINE))


def _remedied_alone(judge: Judge, stimuli: int, rng: Rng) -> Verdicts:
    """The pairs that are asked with a remedy."""
    every = judge.verdicts(stimuli, rng)
    asked = every.pairs.cells["prompt"] != BASELINE
    return replace(every, pairs=every.pairs.take(asked.to_numpy()))


def lines() -> Iterator[Line]:
    """Every judge at every size."""
    return cut(dict(_cases()), list(_parts()))


fields = figures
