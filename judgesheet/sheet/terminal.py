"""The decision in a few lines for a terminal: what was decided, by what, and what to do."""

import textwrap
from collections.abc import Collection, Iterator
from itertools import islice

from judgesheet.base.datasheet import by_key, named
from judgesheet.base.effects import JudgedEffect
from judgesheet.base.records import Datasheet, Decision, Verdict
from judgesheet.base.sanitize import one_line
from judgesheet.base.units import unit
from judgesheet.sheet import show

LINES, WIDTH = 12, 100
FEW = 3
"""Limits, conditions or effects that are told; the others are counted."""
DECISIONS = {
    "adopt": ("✓", "ADOPT"),
    "conditions": ("!", "ADOPT ONLY IF"),
    "not_proven": ("?", "MEASURE MORE"),
    "reject": ("✗", "DO NOT ADOPT"),
}
EFFECTS = {
    "shown": "✗",
    "negligible": "✓",
    "inconclusive": "?",
    "not_measured": "–",
    "invalid": "∅",
}

Told = tuple[str, str]
"""A sign and a sentence."""


def lines(sheet: Datasheet, most: int = LINES) -> list[str]:
    """At most so many lines of at most `WIDTH` columns; the last says how many are left out."""
    whole = [line for sign, text in _told(sheet) for line in wrapped(sign, text)]
    if len(whole) <= most:
        return whole
    return [*whole[: most - 1], f"  … {len(whole) - most + 1} more lines with --verbose"]


def effects(sheet: Datasheet) -> Iterator[Told]:
    """Everything that is known of every axis, the worst first."""
    for axis in sheet.axes:
        void = "" if axis.invalid is None else f"; not usable: {axis.invalid}"
        yield "·", f"{axis.title}: {axis.answered} of {axis.planned} calls read{void}"
        for effect in axis.effects:
            yield EFFECTS[effect.verdict], f"{effect.text or effect.why} ({effect.key})"


def wrapped(sign: str, text: str) -> list[str]:
    """A sentence in lines of the width, the later ones indented."""
    # An option or a key that is broken cannot be copied.
    return textwrap.wrap(one_line(show.visible(text)), WIDTH, initial_indent=f"{sign or ' '} ",
                         subsequent_indent="  ", break_on_hyphens=False)  # fmt: skip


def _told(sheet: Datasheet) -> Iterator[Told]:
    decision = sheet.decision
    if decision is None:
        yield "○", f"No policy was applied to {show.judge(sheet)}."
        yield from _unusable(sheet)
        yield from _few(_faults(sheet))
        return
    sign, word = DECISIONS[decision.verdict]
    yield sign, f"{word}: {show.judge(sheet)}, by the policy “{show.visible(decision.policy, 60)}”"
    yield "", decision.text
    yield from _unusable(sheet)
    deciding = [*_deciding(sheet, decision)]
    of_limit = "✗" if decision.verdict == "reject" else "?"
    yield from _few((of_limit, _limit(sheet, one)) for one in deciding)
    yield from _few(("!", one.told) for one in decision.conditions)
    yield from _few(("?", f"Not settled: {one}") for one in decision.not_settled)
    told = {one.key for one in deciding}.union(*(one.keys for one in decision.conditions))
    yield from _few(_faults(sheet, told))
    yield from _few(("→", needed) for needed in decision.told_needed)


def _unusable(sheet: Datasheet) -> Iterator[Told]:
    """The axes of which no figure holds, and why."""
    yield from (("∅", f"{one.title}: not usable, {one.invalid}")
                for one in sheet.axes if one.invalid)  # fmt: skip


def _deciding(sheet: Datasheet, decision: Decision) -> Iterator[Verdict]:
    """The limits without which the judge would be adopted."""
    wanted = {"reject": ("fail",), "not_proven": ("invalid", "inconclusive")}
    statuses = wanted.get(decision.verdict, ())
    required = decision.verdict == "not_proven"
    yield from (one for one in sheet.verdicts
                if one.status in statuses and not (required and one.warns))  # fmt: skip


def _limit(sheet: Datasheet, verdict: Verdict) -> str:
    """`“Label”: at least 14 %, the limit is at most 10 %`, or why nothing is known."""
    found = by_key(sheet)
    name, estimate = named(found, verdict.key), found.get(verdict.key)
    side, bound = ("", None) if estimate is None else show.deciding(verdict, estimate)
    if estimate is None or not side or bound is None or verdict.limit is None:
        return f"{name}: {verdict.why}"
    changed = "the change is " if verdict.against_baseline else ""
    ends = {"max": "at most", "min": "at least", "": ""}
    limit = show.number(verdict.limit, unit(estimate.unit))
    return f"{name}: {changed}{ends[side]} {bound.bare}; the limit is {ends[verdict.kind]} {limit}"


def _faults(sheet: Datasheet, told: Collection[str] = ()) -> Iterator[Told]:
    """The effects that are shown and concern the use, the worst of every axis first."""
    use = "" if sheet.decision is None else sheet.decision.use
    shown = [[one for one in axis.effects if one.verdict == "shown" and one.key not in told
              and (not use or use in one.uses)] for axis in sheet.axes]  # fmt: skip
    ranked: list[JudgedEffect] = [one for at in range(max(map(len, shown), default=0))
                                  for axis in shown for one in axis[at : at + 1]]  # fmt: skip
    yield from (("✗", one.text) for one in ranked)


def _few(told: Iterator[Told]) -> Iterator[Told]:
    """The first of them, and how many there are besides."""
    yield from islice(told, FEW)
    if left := sum(1 for _ in told):
        yield "", f"and {left} more of these"
