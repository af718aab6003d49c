"""The forest plot of page one: the headline effects of every axis, compared with their limits.

One horizontal scale carries everything that lives between -1 and 1: shares stand in percent, and a
coefficient (V, r, tau) of 1 stands at 100 %. What has another unit and a limit is drawn below, in
multiples of that limit; what has neither scale nor limit is left to the table. A template draws it.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from judgesheet.base.sanitize import listed
from judgesheet.base.units import unit
from judgesheet.sheet import show
from judgesheet.sheet.chart import GRID, INK, MUTED, PAPER, SERIES, short_number
from judgesheet.sheet.figures import Drawing
from judgesheet.sheet.page.parts import share_out
from judgesheet.sheet.page.table import AxisPart, Spec
from judgesheet.sheet.templates import template

_TYPE, _SMALLEST = 7.2, 5.2
"""Size of the type, and the least to which a long text is set."""
_WIDTH = 0.53
"""Mean width of a character in sizes of type, in the widest of the usual fonts of browsers."""
_LINE, _HEAD, _FOOT = 11.6, 13.0, 15.0
_OUTCOMES = {"proven": "#0a6b4f", "broken": "#a6260d", "not proven": "#6b4e00", "void": MUTED}
"""Colour of a limit by how it came out."""
ERROR = 0.05
"""How often a one-sided bound is on the wrong side of a true value."""
_MOST_NAMED = 2
_MOST_MULTIPLES = 4
"""Where the scale of multiples ends: one wild figure must not press the others against 0."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One row: its numbers on the scale of its panel."""

    spec: Spec
    value: float
    low: float
    high: float
    null: float | None
    limit: float | None

    @property
    def limit_in_words(self) -> str:
        """`≤ 10 %`, or that there is none."""
        verdict, given_in = self.spec.verdict, unit(self.spec.estimate.unit)
        if verdict is None or verdict.limit is None:
            return "none"
        return f"{show.SIGNS[verdict.kind]}{show.number(verdict.limit, given_in)}"

    @property
    def colour(self) -> str:
        """What the outcome is drawn in; grey where it does not hold."""
        if self.spec.void:
            return MUTED
        verdict = self.spec.verdict
        return SERIES[0].colour if verdict is None else _OUTCOMES[verdict.status]


@dataclass(frozen=True, slots=True)
class Panel:
    """Effects on one scale, grouped under the titles of their axes; `title` names the scale."""

    title: str
    groups: tuple[tuple[str, tuple[Effect, ...]], ...]
    limited: bool
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    @property
    def effects(self) -> list[Effect]:
        """All of them, in reading order."""
        return [effect for _, effects in self.groups for effect in effects]

    @property
    def height(self) -> float:
        """In units of the drawing."""
        return _HEAD + (len(self.groups) + len(self.effects)) * _LINE + _FOOT

    @property
    def ends(self) -> tuple[float, float]:
        """Where the scale begins and ends; without limits it takes the place of their columns."""
        return (202.0, 330.0) if self.limited else (236.0, 418.0)

    def x(self, number: float) -> float:
        """Where a number stands; beyond the ends it stands at the end."""
        inside = min(max(number, self.low), self.high)
        left, right = self.ends
        return left + (inside - self.low) / (self.high - self.low) * (right - left)


def forest(axes: Sequence[AxisPart], room: int) -> Drawing:
    """The plot of the most telling effects for which there are `room` lines."""
    queues = [[row for row in axis.every if _drawable(row)] for axis in axes]
    used = sum(1 for queue in queues if queue)
    # The figures under a limit come first in every queue: all of them are what was decided by.
    limited = [[row for row in queue if row.verdict] for queue in queues]
    free = [queue[len(first) :] for queue, first in zip(queues, limited, strict=True)]
    left = room - used - sum(map(len, limited))
    # Without any limit each axis shows one row at least.
    others = share_out(free, lambda _: 1, max(left, 0 if any(limited) else used))
    chosen = [first + rest for first, rest in zip(limited, others, strict=True)]
    left_out = sum(map(len, queues)) - sum(map(len, chosen))
    panels = list(_panels(axes, chosen))
    title = "Effects against their limits"
    notes = tuple(_undrawn(axes))
    if not panels:
        return Drawing(
            "forest", title, "", notes=("No effect with an interval was measured", *notes)
        )
    if left_out:
        notes = (*notes, f"+{left_out} more in the characteristics table")
    effects = [effect for panel in panels for effect in panel.effects]
    cards = tuple(_card(title, effect) for panel in panels for title, group in panel.groups
                  for effect in group)  # fmt: skip
    drawing = Drawing(
        "forest", title, _caption(effects), _description(effects), notes=notes, cards=cards
    )
    svg = template("forest.svg.jinja").render(
        drawing=drawing, panels=panels, line=_LINE, head=_HEAD, foot=_FOOT, short=show.short,
        type=_TYPE, type_size=_type_size,
        n=short_number, ink=INK, muted=MUTED, grid=GRID, paper=PAPER,
    )  # fmt: skip
    return replace(drawing, svg=svg)


def _type_size(text: str, width: float) -> float:
    return max(_SMALLEST, min(_TYPE, width / (_WIDTH * max(1, len(text)))))


def _card(axis: str, effect: Effect) -> tuple[str, tuple[tuple[str, str], ...]]:
    """What the row says, for screens on which the plot is too wide."""
    spec = effect.spec
    told = {"Value (interval)": spec.shown.with_interval, "Bound": spec.bound, "Limit": ""}
    if spec.limit:
        told["Limit"] = effect.limit_in_words
    if spec.marks and (spec.verdict or spec.void):
        told["Result"] = f"{spec.marks[0].symbol} {spec.marks[0].word}"
    return f"{axis}: {spec.label}", tuple((name, text) for name, text in told.items() if text)


def _undrawn(axes: Sequence[AxisPart]) -> Iterator[str]:
    """The limits of figures that have no interval, which nothing can prove."""
    for axis in axes:
        rows = [row for row in axis.every if row.verdict is not None and not _drawable(row)]
        if rows:
            names = listed([row.label for row in rows], _MOST_NAMED)
            yield f"Not measured, so not proven: {names}"


def _drawable(row: Spec) -> bool:
    estimate = row.estimate
    measured = None not in map(show.finite, (estimate.value, estimate.low, estimate.high))
    limited = row.verdict is not None and bool(row.verdict.limit)
    return measured and (limited or (_on_scale(row) and row.null is not None))


def _on_scale(row: Spec) -> bool:
    """Whether the effect is a share, a coefficient, or a number of parts of one."""
    given_in = unit(row.estimate.unit)
    return given_in.ends is not None or given_in.parts > 1


def _panels(axes: Sequence[AxisPart], chosen: Sequence[Sequence[Spec]]) -> Iterator[Panel]:
    limited = any(row.verdict is not None or row.void for rows in chosen for row in rows)
    if shares := list(_groups(axes, chosen, on_scale=True)):
        low = min(0.0, *(effect.low for _, group in shares for effect in group))
        # In steps of a twentieth, so that the scale does not begin at an odd number.
        low = max(-1.0, math.floor(low * 20) / 20)
        parts = 4 if low >= -0.25 else 2  # else the labels would run into each other
        places = (step / parts for step in range(math.ceil(low * parts), parts + 1))
        ticks = tuple((number, show.number(number, unit("share"))) for number in places)
        yield Panel("share, or coefficient × 100", tuple(shares), limited, low, 1.0, ticks)
    if multiples := list(_groups(axes, chosen, on_scale=False)):
        high = max(effect.high for _, group in multiples for effect in group)
        top = min(max(2, math.ceil(high)), _MOST_MULTIPLES)
        ticks = tuple((float(n), f"{n}×") for n in range(top + 1))
        yield Panel("multiples of the limit", tuple(multiples), True, 0.0, top, ticks)


def _groups(
    axes: Sequence[AxisPart], chosen: Sequence[Sequence[Spec]], *, on_scale: bool
) -> Iterator[tuple[str, tuple[Effect, ...]]]:
    for axis, rows in zip(axes, chosen, strict=True):
        mine = tuple(_effect(row) for row in rows if _on_scale(row) == on_scale)
        if mine:
            yield axis.title, mine


def _effect(row: Spec) -> Effect:
    """Numbers on the panel's scale: percentage points as shares, foreign units by their limit."""
    estimate, limit = row.estimate, row.verdict.limit if row.verdict else None
    scale = 1 / unit(estimate.unit).parts
    if not _on_scale(row) and limit:
        scale = 1 / limit
    numbers = (estimate.value, estimate.low, estimate.high)
    value, low, high = (scale * (show.finite(number) or 0.0) for number in numbers)
    null = None if row.null is None else row.null * scale
    return Effect(row, value, low, high, null, None if limit is None else limit * scale)


def _caption(effects: Sequence[Effect]) -> str:
    sure = show.confidence(effect.spec.estimate for effect in effects)
    text = f"Marker and bar: value and {sure} interval; dotted line: no effect."
    limited = sum(effect.limit is not None for effect in effects)
    if not limited:
        return f"{text} No limits are drawn because no policy was applied."
    text = (
        f"{text} Shaded: out of tolerance. Bound: one-sided, {sure}, and what is compared with the "
        "limit."
    )
    if limited == 1:
        return text
    # The sum of the errors, which bounds the chance however the figures depend on each other.
    chance = show.number(min(1.0, limited * ERROR), unit("share"))
    return (
        f"{text} Any of the {limited} limits can reject: where every true value lies on its limit, "
        f"at least one is broken by chance in at most {chance} of such runs."
    )


def _description(effects: Sequence[Effect]) -> str:
    """What a reader who cannot see the plot is told."""
    parts = [
        f"{e.spec.label}: {e.spec.shown.sentence}"
        + (f", limit {e.spec.limit}" if e.spec.limit else "")
        + (f", {e.spec.marks[0].word}" if e.spec.marks else "")
        for e in effects
    ]
    return f"{'; '.join(parts)}."
