"""The decision in a few lines for a terminal: what was decided, by what, and what to do."""

import textwrap
from collections.abc import Iterable, Iterator
from itertools import islice

from judgesheet.base.datasheet import named
from judgesheet.base.limits import MOST_ON_PAGE_ONE
from judgesheet.base.records import AxisResult, Datasheet, Verdict
from judgesheet.base.sanitize import listed, one_line
from judgesheet.base.units import unit
from judgesheet.sheet import show
from judgesheet.sheet.context import EFFECTS, LIMITS, VOID, Page, context

LINES, WIDTH = 12, 100

Line = tuple[str, str]
"""A sign and a sentence."""


def lines(sheet: Datasheet, most: int = LINES) -> list[str]:
    """At most so many lines of at most `WIDTH` columns; the last says how many are left out."""
    whole = [line for sign, text in _sentences(sheet) for line in wrapped(sign, text)]
    if len(whole) <= most:
        return whole
    return [*whole[: most - 1], f"  … {len(whole) - most + 1} more lines with --verbose"]


def effects(sheet: Datasheet) -> Iterator[Line]:
    """Everything that is known of every axis, the worst first."""
    for axis in sheet.axes:
        void = "" if axis.invalid is None else f"; not usable: {axis.invalid}"
        yield "·", f"{axis.title}: {axis.answered} of {axis.planned} calls read{void}"
        for effect in axis.effects:
            yield EFFECTS[effect.verdict].sign, f"{effect.text or effect.why} ({effect.key})"


def wrapped(sign: str, text: str) -> list[str]:
    """A sentence in lines of the width, the later ones indented."""
    # An option or a key that is broken cannot be copied.
    return textwrap.wrap(one_line(show.visible(text)), WIDTH, initial_indent=f"{sign or ' '} ",
                         subsequent_indent="  ", break_on_hyphens=False)  # fmt: skip


def _sentences(sheet: Datasheet) -> Iterator[Line]:
    page, decision = context(sheet), sheet.decision
    if decision is None:
        yield page.mark.sign, f"No policy was applied to {show.judge(sheet)}."
        yield from _void(sheet)
        yield from _few(_effects(page))
        return
    policy = show.visible(decision.policy, 60)
    yield page.mark.sign, f"{page.mark.word}: {show.judge(sheet)}, by the policy “{policy}”"
    yield "", decision.text
    yield from _void(sheet)
    yield from _few((LIMITS[one.status].sign, _limit(page, one)) for one in page.deciding)
    yield from _few((page.mark.sign, one.text) for one in decision.conditions)
    yield from _few(("→", needed) for needed in decision.needed_sentences)
    yield from _few(_effects(page))
    found_where = ("measured beyond its limit", "within its limit", "not measured")
    for where, verdicts in zip(found_where, page.waived, strict=True):
        if verdicts:
            found = {one.key: page.figures[one.key].estimate for one in verdicts
                     if one.key in page.figures}  # fmt: skip
            names = listed([named(found, one.key) for one in verdicts], MOST_ON_PAGE_ONE)
            text = f"Not settled: {where}, not required: {names}"
            yield LIMITS["inconclusive"].sign, text


def _void(sheet: Datasheet) -> Iterator[Line]:
    """The axes that are not usable by why: of a control that several failed as the first did."""
    axes: dict[str, list[AxisResult]] = {}
    for one in sheet.axes:
        if one.invalid is not None:
            codes = (control.code for control in one.controls if control.text == one.invalid)
            axes.setdefault(next(codes, one.invalid), []).append(one)
    told = "" if sheet.decision is None else sheet.decision.text
    for alike in axes.values():
        names = listed([one.title for one in alike], MOST_ON_PAGE_ONE)
        is_told = any(str(one.invalid) in told for one in alike)
        yield VOID.sign, f"Not usable: {names}{'' if is_told else f': {alike[0].invalid}'}"


def _limit(page: Page, verdict: Verdict) -> str:
    """`“Label”: at least 14 %, the limit is at most 10 %`, or why nothing is known."""
    figure = page.figures.get(verdict.key)
    if figure is None:
        return f"{verdict.key}: {verdict.why}"
    name, of = named({verdict.key: figure.estimate}, verdict.key), figure.estimate
    side, bound = show.deciding(verdict, of)
    if not side or verdict.limit is None:
        return f"{name}: {verdict.why}"
    changed = "the change is " if verdict.against_baseline else ""
    limit = f"{show.ENDS[verdict.kind]} {show.number(verdict.limit, unit(of.unit))}"
    return f"{name}: {changed}{show.ENDS[side]} {bound.bare}; the limit is {limit}"


def _effects(page: Page) -> Iterator[Line]:
    """The effects that are shown, concern the use, and do not stand above."""
    before = {one.key for one in page.deciding}
    before.update(*(one.keys for one in page.decision.conditions) if page.decision else ())
    yield from ((EFFECTS["shown"].sign, one.effect.text) for one in page.shown
                if one.effect.key not in before)  # fmt: skip


def _few(lines: Iterable[Line]) -> Iterator[Line]:
    """The first of them, and how many there are besides."""
    each = iter(lines)
    yield from islice(each, MOST_ON_PAGE_ONE)
    if left := sum(1 for _ in each):
        yield "", f"and {left} more of these"
