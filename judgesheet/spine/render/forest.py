"""The forest plot of page one: the headline effects of every axis, held against their limits.

One horizontal scale carries everything that lives between -1 and 1: shares stand in percent, and a
coefficient (V, r, tau) of 1 stands at 100 %. What has another unit and a limit is drawn below, in
multiples of that limit; what has neither scale nor limit is left to the table. The drawing is
written here, line by line: nothing in it needs a plotting library, and it is on the first page.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from markupsafe import escape

from judgesheet.spine.render import show
from judgesheet.spine.render.figures import GRID, INK, MUTED, PAPER, SERIES, Drawing, themed_colours
from judgesheet.spine.render.page.parts import share_out
from judgesheet.spine.render.page.table import AxisSpecs, Spec
from judgesheet.spine.render.svg import short_numbers
from judgesheet.units import unit

WIDTH = 540.0
_LIMIT, _MARK = 458.0, 490.0
_CHARACTER = 3.62
"""Mean width of a character, from which the room of a label follows."""
_LINE, _HEAD, _FOOT = 11.6, 13.0, 15.0
_OUT = "#fdecea"
_OUTCOMES = {True: "#0a6b4f", False: "#a6260d", None: "#6b4e00"}
"""Colour of a limit that is kept, broken, not proven."""
_MOST_MULTIPLES = 4


@dataclass(frozen=True, slots=True)
class Effect:
    """One row: its numbers on the scale of its panel."""

    spec: Spec
    value: float
    low: float
    high: float
    null: float | None
    limit: float | None


Group = tuple[str, tuple[Effect, ...]]
"""The title of an axis and its effects."""


@dataclass(frozen=True, slots=True)
class Panel:
    """Effects on one scale, grouped by axis; `title` names the scale."""

    title: str
    groups: tuple[Group, ...]
    limited: bool
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    @property
    def height(self) -> float:
        """In units of the drawing."""
        rows = sum(1 + len(effects) for _, effects in self.groups)
        return _HEAD + rows * _LINE + _FOOT

    @property
    def ends(self) -> tuple[float, float]:
        """Where the scale begins and ends; without limits it takes the place of their columns."""
        return (194.0, 356.0) if self.limited else (236.0, 418.0)

    @property
    def values(self) -> float:
        """Where the printed values begin."""
        return self.ends[1] + 10

    def x(self, number: float) -> float:
        """Where a number stands; beyond the ends it stands at the end."""
        inside = min(max(number, self.low), self.high)
        left, right = self.ends
        return left + (inside - self.low) / (self.high - self.low) * (right - left)


def forest(axes: Sequence[AxisSpecs], room: int, *, themed: bool = False) -> Drawing:
    """The plot of the most telling effects for which there are `room` lines."""
    queues = [[row for row in axis.every if _drawable(row)] for axis in axes]
    used = sum(1 for queue in queues if queue)
    chosen = share_out(queues, lambda _: 1, max(room - used, used))
    left_out = sum(map(len, queues)) - sum(map(len, chosen))
    panels = list(_panels(axes, chosen))
    title = "Effects against their limits"
    if not panels:
        return Drawing("forest", title, "", notes=("No effect with an interval was measured",))
    notes = (f"+{left_out} more in the characteristics table",) if left_out else ()
    drawing = Drawing("forest", title, _caption(panels), _description(panels), "", notes)
    svg = _svg(panels, drawing)
    return replace(drawing, svg=themed_colours(svg) if themed else svg)


def _drawable(row: Spec) -> bool:
    estimate = row.estimate
    measured = None not in map(show.finite, (estimate.value, estimate.low, estimate.high))
    limited = row.verdict is not None and bool(row.verdict.limit)
    return measured and (limited or (_on_scale(row) and row.null is not None))


def _on_scale(row: Spec) -> bool:
    """Whether the effect is a share, a coefficient, or a number of parts of one."""
    given_in = unit(row.estimate.unit)
    return given_in.ends is not None or given_in.parts > 1


def _panels(axes: Sequence[AxisSpecs], chosen: Sequence[Sequence[Spec]]) -> Iterator[Panel]:
    limited = any(row.verdict is not None or row.void for rows in chosen for row in rows)
    if shares := list(_groups(axes, chosen, on_scale=True)):
        low = min(0.0, *(effect.low for _, group in shares for effect in group))
        low = max(-1.0, math.floor(low * 20) / 20)
        quarters = (step / 4 for step in range(math.ceil(low * 4), 5))
        ticks = tuple((number, show.number(number, unit("share"))) for number in quarters)
        yield Panel("share, or coefficient × 100", tuple(shares), limited, low, 1.0, ticks)
    if multiples := list(_groups(axes, chosen, on_scale=False)):
        high = max(effect.high for _, group in multiples for effect in group)
        top = min(max(2, math.ceil(high)), _MOST_MULTIPLES)
        ticks = tuple((float(n), f"{n}×") for n in range(top + 1))
        yield Panel("multiples of the limit", tuple(multiples), True, 0.0, top, ticks)


def _groups(
    axes: Sequence[AxisSpecs], chosen: Sequence[Sequence[Spec]], *, on_scale: bool
) -> Iterator[Group]:
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


def _effects(panels: Sequence[Panel]) -> Iterator[Effect]:
    return (effect for panel in panels for _, group in panel.groups for effect in group)


def _caption(panels: Sequence[Panel]) -> str:
    text = "Marker and bar: value and 95 % interval; dotted line: no effect."
    if any(effect.limit is not None for effect in _effects(panels)):
        return f"{text} Shaded: out of tolerance, up to the limit."
    return f"{text} No limits are drawn because no policy was applied."


def _description(panels: Sequence[Panel]) -> str:
    """What a reader who cannot see the plot is told."""
    parts = [
        f"{e.spec.label}: {e.spec.shown.sentence}"
        + (f", limit {e.spec.limit}" if e.spec.limit else "")
        + (f", {e.spec.marks[0].word}" if e.spec.marks else "")
        for e in _effects(panels)
    ]
    return f"{'; '.join(parts)}."


# -- drawing ---------------------------------------------------------------------------------------


def _svg(panels: Sequence[Panel], drawing: Drawing) -> str:
    height = sum(panel.height for panel in panels)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:.0f} {height:.0f}" '
        f'class="figure forest" role="img" aria-labelledby="forest-title forest-desc" '
        f'font-family="Inter, system-ui, sans-serif" font-size="7.2" fill="{INK}">',
        f'<title id="forest-title">{escape(drawing.title)}</title>',
        f'<desc id="forest-desc">{escape(drawing.description)}</desc>',
    ]
    top = 0.0
    for panel in panels:
        parts += _panel(panel, top)
        top += panel.height
    return "\n".join([*parts, "</svg>"])


def _panel(panel: Panel, top: float) -> Iterator[str]:
    bottom = top + panel.height - _FOOT
    heads = [(panel.values, "Value (interval)")]
    heads += [(_LIMIT, "Limit"), (_MARK, "Result")] if panel.limited else []
    for x, head in heads:
        yield _text(x, top + 8, head, f'fill="{MUTED}"')
    for number, label in panel.ticks:
        x = panel.x(number)
        yield _path(f"M{x} {top + _HEAD - 2}V{bottom}", GRID, 0.6)
        yield _text(x, bottom + 8, label, f'text-anchor="middle" fill="{MUTED}"')
    yield _text(4, bottom + 8, panel.title, f'fill="{MUTED}"')
    y = top + _HEAD
    for title, effects in panel.groups:
        yield _text(0, y + 8, show.short(title, 60), 'font-weight="600"')
        y += _LINE
        for effect in effects:
            yield from _row(panel, effect, y)
            y += _LINE


def _row(panel: Panel, effect: Effect, top: float) -> Iterator[str]:
    spec, middle, judged = effect.spec, top + _LINE / 2, effect.spec.verdict is not None
    line, colour = middle + 2.6, _colour(effect)
    yield from _tolerance(panel, effect, top)
    if effect.null is not None and panel.low < effect.null < panel.high:
        null = f"M{panel.x(effect.null)} {top}v{_LINE}"
        yield _path(null, MUTED, 0.9, ' stroke-dasharray="1 2"')
    low, high, value = panel.x(effect.low), panel.x(effect.high), panel.x(effect.value)
    bar = f"M{low} {middle}H{high}M{low} {middle - 2}v4M{high} {middle - 2}v4"
    yield _path(bar, colour, 1.1)
    yield _marker(value, middle, effect, colour)
    yield _text(4, line, show.short(spec.label, int((panel.ends[0] - 12) / _CHARACTER)))
    number = show.short(spec.shown.with_interval, 26 if panel.limited else 31)
    yield _text(panel.values, line, number)  # the label names the coefficient
    if panel.limited:
        yield _text(_LIMIT, line, spec.limit if judged else "none")
    if panel.limited and spec.marks and (judged or spec.void):
        mark = f"{spec.marks[0].symbol} {spec.marks[0].word}"
        yield _text(_MARK, line, mark, f'font-weight="600" fill="{colour}"')


def _tolerance(panel: Panel, effect: Effect, top: float) -> Iterator[str]:
    """The side of the limit that is out of tolerance, shaded, and the limit as a line."""
    verdict = effect.spec.verdict
    if effect.limit is None or verdict is None:
        return
    x, (start, end) = panel.x(effect.limit), panel.ends
    left, right = (start, x) if verdict.kind == "min" else (x, end)
    if verdict.kind and right > left:
        yield _rectangle(left, top + 1, right - left, _LINE - 2, f'fill="{_OUT}"')
    yield _path(f"M{x} {top + 0.5}v{_LINE - 1}", INK, 1.4)


def _colour(effect: Effect) -> str:
    verdict = effect.spec.verdict
    if effect.spec.void:
        return MUTED
    return SERIES[0][0] if verdict is None else _OUTCOMES[verdict.passed]


def _marker(x: float, y: float, effect: Effect, colour: str) -> str:
    """A disc where all is well or no limit stands, a square where it fails, hollow if unproven."""
    verdict, void = effect.spec.verdict, bool(effect.spec.void)
    hollow = void or (verdict is not None and verdict.passed is None)
    paint = f'fill="{PAPER if hollow else colour}" stroke="{colour}" stroke-width="1.1"'
    if verdict is not None and verdict.passed is False and not void:
        return _rectangle(x - 2.7, y - 2.7, 5.4, 5.4, paint)
    return short_numbers(f'<circle cx="{x}" cy="{y}" r="2.7"') + f" {paint}/>"


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return (
        short_numbers(f'<text x="{x}" y="{y}"') + f"{' ' * bool(more)}{more}>{escape(text)}</text>"
    )


def _rectangle(x: float, y: float, width: float, height: float, paint: str) -> str:
    place = short_numbers(f'x="{x}" y="{y}" width="{width}" height="{height}"')
    return f"<rect {place} {paint}/>"


def _path(d: str, colour: str, width: float, more: str = "") -> str:
    d = short_numbers(d)
    return f'<path d="{d}" fill="none" stroke="{colour}" stroke-width="{width}"{more}/>'
