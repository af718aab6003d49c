"""The forest plot of page one: the headline effects of every axis, compared with their limits.

Shares and coefficients (V, r, tau) stand on one scale, as both live between -1 and 1; what has
another unit and a limit stands below on the scale of its unit. What has neither is left to the
table.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from judgesheet.base.datasheet import WORST
from judgesheet.base.digits import MINUS
from judgesheet.base.limits import MOST_DRAWN, MOST_NAMED
from judgesheet.base.sanitize import listed
from judgesheet.base.units import POINTS, unit
from judgesheet.sheet import show
from judgesheet.sheet.chart import (
    GRID,
    INK,
    LINE,
    MUTED,
    PAPER,
    SERIES,
    Canvas,
    Entry,
    Style,
    path,
    round_numbers,
    short_number,
    text_width,
    wrapped,
)
from judgesheet.sheet.page.parts import OUTCOMES, share_out
from judgesheet.sheet.page.table import AxisPart, TableRow
from judgesheet.sheet.plots import Drawing

WIDTH = 522.0
"""Points: the width of the text on A4."""
_ROW, _GAP, _FOOT = 10.6, 8.0, 17.0
"""Heights of a row of one line and of the labels of a scale; what is left between columns."""
_LABEL, _TOLD = 200.0, 130.0
"""Most that a label takes before it has two lines, and a value with its interval."""
HEADS = {"Value": 80.0, "Bound": 70.0, "Limit": 70.0, "Result": 58.0}
"""The columns beside the scale of effects under a limit, and the width of their lines at most."""
_SHORT = "pp"
"""Of percentage points."""
_BOLD = 1.1
"""How much wider bold type is."""
_BEYOND = "#fdecea"
_COLOURS = {"pass": "#0a6b4f", "fail": "#a6260d", "inconclusive": "#6b4e00", "invalid": MUTED}
"""Colour of a limit by how it came out."""
_LINES = 13
"""Lines that effects without a limit may fill, with the names of their axes."""
_SCALE_ENDS = 4.0
"""Times the largest limit where a scale ends: one wild figure must not press the others to 0."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One row: its numbers on the scale of its panel, and its words on lines."""

    row: TableRow
    label: str
    value: float
    low: float
    high: float
    null: float | None
    limit: float | None
    bound: float | None

    @property
    def limit_in_words(self) -> str:
        """`≤ 10 %`; "" without a limit."""
        verdict = self.row.verdict
        return "" if verdict is None else show.limit(verdict, self.row.estimate)

    @property
    def result(self) -> str:
        """The outcome of the limit, or that the figure must not be used; else ""."""
        is_said = self.row.verdict is not None or self.row.is_void
        return f"{self.row.marks[0].symbol} {self.row.marks[0].word}" if is_said else ""

    @property
    def told(self) -> tuple[str, ...]:
        """What stands beside the scale: value, bound, limit and result, or the value alone."""
        if self.limit is None:
            value = _brief(self.row.shown.with_interval)
            return (wrapped(f"{value} {self.result}".rstrip(), _TOLD),)
        cells = self.row.shown.number, self.row.bound, self.limit_in_words, self.result
        return tuple(
            wrapped(_brief(text), most) for text, most in zip(cells, HEADS.values(), strict=True)
        )

    @property
    def colour(self) -> str:
        """What the outcome is drawn in; grey where it does not hold."""
        if self.row.is_void:
            return MUTED
        verdict = self.row.verdict
        return SERIES[0].colour if verdict is None else _COLOURS[verdict.status]

    @property
    def height(self) -> float:
        """In points."""
        return _ROW + LINE * max(text.count("\n") for text in (self.label, *self.told))


@dataclass(frozen=True, slots=True)
class Panel:
    """Effects on one scale, grouped under the titles of their axes; `title` names the scale."""

    title: str
    groups: tuple[tuple[str, tuple[Effect, ...]], ...]
    low: float
    high: float

    @property
    def effects(self) -> list[Effect]:
        """All of them, in reading order."""
        return [effect for _, effects in self.groups for effect in effects]

    @property
    def height(self) -> float:
        """In points."""
        return _ROW * len(self.groups) + sum(effect.height for effect in self.effects) + _FOOT

    def tick(self, number: float) -> str:
        """A number of the scale, in percent where it has shares, and as it is for the others."""
        units = [unit(effect.row.estimate.unit) for effect in self.effects]
        shares = any(one.percent or one.parts > 1 for one in units)
        others = not all(one.percent or one.parts > 1 for one in units)
        printed = (f"{100 * number:.3g} %" * shares, f"{number:.3g}" * others)
        return " | ".join(filter(None, printed)).replace("-", MINUS)


def forest(axes: Sequence[AxisPart], most: int = MOST_DRAWN) -> Drawing:
    """The plot of the worst effects under a limit; without any, of the first of every axis."""
    queues = [[row for row in _by_limit(axis) if _drawable(row)] for axis in axes]
    limited = [(row.verdict.status, row) for rows in queues for row in rows if row.verdict]
    if limited:
        # Sorting is stable: within an outcome the first rows are kept.
        in_turn = sorted(limited, key=lambda one: WORST.index(one[0]))
        worst = [row for _, row in in_turn[:most]]
        chosen = [[row for row in queue if row in worst] for queue in queues]
        left_out, where = len(limited) - len(worst), "limits are in the table of page two"
    else:
        used = sum(1 for queue in queues if queue)
        chosen = share_out(queues, max(_LINES - used, used))
        left_out = sum(map(len, queues)) - sum(map(len, chosen))
        where = "effects are in the table or the appendix"
    panels = list(_panels(axes, chosen))
    title = "Effects against their limits"
    notes = tuple(_undrawn(axes))
    if not panels:
        return Drawing(
            "forest", title, "", notes=("No effect with an interval was measured", *notes)
        )
    if left_out:
        notes = (*notes, f"{left_out} more {where}")
    effects = [effect for panel in panels for effect in panel.effects]
    sure = show.confidence(effect.row.estimate for effect in effects)
    cards = tuple(_card(title, effect) for panel in panels for title, group in panel.groups
                  for effect in group)  # fmt: skip
    judged = any(row.verdict for axis in axes for row in axis.every)
    caption = "" if judged else "No limits are drawn because no policy was applied."
    drawing = Drawing("forest", title, caption, _description(effects), notes=notes, cards=cards)
    return replace(drawing, svg=_Forest(panels, sure).svg("forest", title, drawing.description))


def _card(axis: str, effect: Effect) -> tuple[str, tuple[tuple[str, str], ...]]:
    """What the row says, for screens on which the plot is too wide."""
    row = effect.row
    told = {
        "Value (interval)": row.shown.with_interval,
        "Bound": row.bound,
        "Limit": effect.limit_in_words,
        "Result": effect.result,
    }
    return f"{axis}: {row.label}", tuple((name, text) for name, text in told.items() if text)


def _by_limit(axis: AxisPart) -> Iterator[TableRow]:
    """The rows of an axis, one for each limit where a figure has several."""
    for row in axis.every:
        yield row
        for verdict in row.limits[1:]:
            # What limits a change against a baseline says nothing of the figure itself.
            if not verdict.against_baseline:
                marks = (OUTCOMES[verdict.status],)
                bound = show.bound(verdict, row.estimate)
                yield replace(row, verdict=verdict, marks=marks, bound=bound)


def _undrawn(axes: Sequence[AxisPart]) -> Iterator[str]:
    """The limits of figures that have no interval, which nothing can prove."""
    limited = (row for axis in axes for row in axis.every if row.verdict is not None)
    if names := [row.label for row in limited if not _drawable(row)]:
        yield f"Limited and not measured: {listed(names, MOST_NAMED)}"


def _drawable(row: TableRow) -> bool:
    estimate = row.estimate
    measured = None not in map(show.finite, (estimate.value, estimate.low, estimate.high))
    limited = row.verdict is not None and row.verdict.limit is not None
    return measured and (limited or (_on_scale(row) and row.null is not None))


def _on_scale(row: TableRow) -> bool:
    """Whether the effect is a share, a coefficient, or a number of parts of one."""
    given_in = unit(row.estimate.unit)
    return given_in.ends is not None or given_in.parts > 1


def _panels(axes: Sequence[AxisPart], chosen: Sequence[Sequence[TableRow]]) -> Iterator[Panel]:
    """The common scale of shares and coefficients, then one for each further unit."""
    if groups := list(_groups(axes, chosen, "")):
        low = min(0.0, *(effect.low for _, group in groups for effect in group))
        # In steps of a twentieth, so that the scale does not begin at an odd number.
        yield Panel(_scale_title(groups), tuple(groups), max(-1.0, math.floor(low * 20) / 20), 1.0)
    others = (row.estimate.unit for rows in chosen for row in rows if not _on_scale(row))
    for name in dict.fromkeys(others):
        groups = list(_groups(axes, chosen, name))
        effects = [effect for _, group in groups for effect in group]
        most = _SCALE_ENDS * max(abs(effect.limit or 0.0) for effect in effects) or math.inf
        ends = [end for e in effects for end in (0.0, e.limit or 0.0, e.low, e.high)]
        low, high = max(-most, min(ends)), min(most, max(ends))
        yield Panel(show.short(name, 40), tuple(groups), low, high if high > low else low + 1.0)


def _scale_title(groups: Iterable[tuple[str, Sequence[Effect]]]) -> str:
    """What the common scale shows, and what its short unit means where it is used."""
    used = {effect.row.estimate.unit for _, effects in groups for effect in effects}
    is_short = any(POINTS in (name, unit(name).sign) for name in used)
    return " | ".join(("share", "coefficient", *([f"{_SHORT}: {POINTS}"] if is_short else [])))


def _brief(text: str) -> str:
    """With the short name of a unit whose full one takes the room of the plot."""
    return text.replace(POINTS, _SHORT)


def _groups(
    axes: Sequence[AxisPart], chosen: Sequence[Sequence[TableRow]], scale: str
) -> Iterator[tuple[str, tuple[Effect, ...]]]:
    """The effects of a scale by axis: those of a unit, or "" for the common scale."""
    for axis, rows in zip(axes, chosen, strict=True):
        mine = tuple(_effect(r) for r in rows if scale == ("" if _on_scale(r) else r.estimate.unit))
        if mine:
            yield show.short(axis.title, 60), mine


def _effect(row: TableRow) -> Effect:
    """Numbers on the panel's scale: percentage points as shares."""
    estimate, verdict = row.estimate, row.verdict
    scale = 1 / unit(estimate.unit).parts
    numbers = (estimate.value, estimate.low, estimate.high)
    value, low, high = (scale * (show.finite(number) or 0.0) for number in numbers)
    held = (None, None) if verdict is None else (verdict.limit, verdict.bound)
    null, limit, bound = (
        None if number is None else number * scale for number in map(show.finite, (row.null, *held))
    )
    return Effect(row, wrapped(row.label, _LABEL), value, low, high, null, limit, bound)


def _description(effects: Sequence[Effect]) -> str:
    """The plot in words, for screen readers."""
    parts = [
        f"{e.row.label}: {e.row.shown.sentence}"
        + (f", limit {e.limit_in_words}" if e.limit_in_words else "")
        + (f", {e.row.marks[0].word}" if e.row.marks else "")
        for e in effects
    ]
    return f"{'; '.join(parts)}."


class _Forest(Canvas):
    """The drawing: labels, the scale, and what is told in columns, each in one size of type."""

    def __init__(self, panels: Sequence[Panel], sure: str) -> None:
        effects = [effect for panel in panels for effect in panel.effects]
        super().__init__(WIDTH)
        limited = [effect.told for effect in effects if effect.limit is not None]
        heads = tuple(HEADS) if limited else ("Value (interval)",)
        rows = (heads, *(limited or [effect.told for effect in effects]))
        widths = [max(map(text_width, column)) for column in zip(*rows, strict=True)]
        widths[-1] *= _BOLD if limited else 1.0
        # From the right: where each column begins.
        self._columns = [
            WIDTH - sum(widths[at:]) - _GAP * (len(widths) - at - 1) for at in range(len(widths))
        ]
        labels = max(text_width(effect.label) for effect in effects)
        self._left, self._right = labels + 2 * _GAP, self._columns[0] - 2 * _GAP
        # The heads of the columns stand beside the last line of the legend.
        top = self._legend(list(_signs(effects, sure)), self._columns[0] - _GAP)
        for head, x in zip(heads, self._columns, strict=True):
            self._text(head, x, top - 8, text_anchor="start", fill=MUTED)
        for panel in panels:
            self._panel(panel, top)
            top += panel.height
        self._height = top

    def _x(self, panel: Panel, number: float) -> float:
        """Where a number stands; beyond the ends it stands at the end."""
        inside = min(max(number, panel.low), panel.high)
        part = (inside - panel.low) / (panel.high - panel.low)
        return self._left + part * (self._right - self._left)

    def _panel(self, panel: Panel, top: float) -> None:
        bottom, middle = top + panel.height - _FOOT, top + panel.height - _FOOT + 6
        most = 1 + (self._right - self._left) / (text_width(panel.tick(0.25)) + 4)
        for number in round_numbers(panel.low, panel.high, most):
            x = self._x(panel, number)
            self._stroke(path("M", x, top, "V", bottom), GRID, "0.6")
            self._text(panel.tick(number), x, middle, fill=MUTED)
        self._text(panel.title, 4, middle, text_anchor="start", fill=MUTED)
        for title, effects in panel.groups:
            self._text(title, 0, top + _ROW / 2, text_anchor="start", font_weight="600")
            top += _ROW
            for effect in effects:
                self._effect(panel, effect, top)
                top += effect.height

    def _effect(self, panel: Panel, effect: Effect, top: float) -> None:
        middle, bottom = top + effect.height / 2, top + effect.height
        self._text(effect.label, 4, middle, text_anchor="start")
        if effect.limit is not None:
            self._limit(panel, effect, top, bottom)
        if effect.null is not None and panel.low <= effect.null <= panel.high:
            x = self._x(panel, effect.null)
            self._stroke(path("M", x, top, "V", bottom), MUTED, "0.9", "1 2")
        ends = "".join(self._end(panel, number, middle) for number in (effect.low, effect.high))
        span = path("M", self._x(panel, effect.low), middle, "H", self._x(panel, effect.high))
        self._stroke(f"{span}{ends}", effect.colour, "1")
        if effect.bound is not None:
            start, end = self._x(panel, effect.value), self._x(panel, effect.bound)
            self._bound(start, end, middle, effect.colour)
        self._value(panel, effect, middle)
        for at, (text, x) in enumerate(zip(effect.told, self._columns, strict=False)):
            look = {"font_weight": "600", "fill": effect.colour} if at == len(HEADS) - 1 else {}
            self._text(text, x, middle, text_anchor="start", **look)

    def _limit(self, panel: Panel, effect: Effect, top: float, bottom: float) -> None:
        """The limit, and shaded the side of it that is out of tolerance."""
        x, verdict = self._x(panel, effect.limit or 0.0), effect.row.verdict
        side = {"min": (self._left, x), "max": (x, self._right)}
        left, right = side.get(verdict.kind if verdict else "", (x, x))
        if right > left:
            steps = path("M", left, top + 0.8, "H", right, "V", bottom - 0.8, "H", left, "z")
            self._add("path", d=steps, fill=_BEYOND)
        self._stroke(path("M", x, top + 0.3, "V", bottom - 0.3), INK, "1.4")

    def _end(self, panel: Panel, number: float, middle: float) -> str:
        """The end of a bar: a stop, or an arrow where it goes on beyond the scale."""
        x, way = self._x(panel, number), 3 if number > panel.high else -3
        if panel.low <= number <= panel.high:
            return f"{path('M', x, middle - 2)}v4"
        return f"{path('M', x - way, middle - 2)}l{way} 2l{-way} 2"

    def _bound(self, start: float, end: float, middle: float, colour: str) -> None:
        """A thick line from the value to the bound that decides, which it ends with a bar."""
        steps = f"{path('M', start, middle, 'H', end)}{path('M', end, middle - 3.4)}v6.8"
        self._stroke(steps, colour, "2.2")

    def _value(self, panel: Panel, effect: Effect, middle: float) -> None:
        """A disc where all is well or no limit stands, a square where it fails, hollow if open."""
        x, status = self._x(panel, effect.value), effect.row.verdict and effect.row.verdict.status
        hollow = effect.row.is_void or status in ("inconclusive", "invalid")
        if not panel.low <= effect.value <= panel.high:
            # Beyond the scale: an arrow, so that nobody reads the end as the value.
            way = 1 if effect.value > panel.high else -1
            steps = f"{path('M', x - 2.5 * way, middle - 3)}l{5 * way} 3l{-5 * way} 3z"
        elif status == "fail" and not effect.row.is_void:
            steps = f"{path('M', x - 2.6, middle - 2.6)}h5.2v5.2h-5.2z"
        else:
            steps = f"{path('M', x, middle)}{SERIES[0].marker}"
        self._add(
            "path", d=steps, fill=PAPER if hollow else effect.colour, stroke=effect.colour,
            stroke_width=short_number(1.1),
        )  # fmt: skip

    def _sample(self, sample: str, style: Style, x: float, y: float) -> None:
        if sample == "interval":
            self._stroke(f"{path('M', x, y - 2)}v4m0-2h14m0-2v4", style.colour, "1")
        elif sample == "bound":
            self._bound(x, x + 13, y, style.colour)
        elif sample == "limit":
            steps = path("M", x + 1, y - 4, "h", 13.0, "v", 8.0, "h", -13.0, "z")
            self._add("path", d=steps, fill=_BEYOND)
            self._stroke(path("M", x + 1, y - 4.5, "v", 9.0), style.colour, "1.4")
        elif sample == "null":
            self._stroke(path("M", x + 1, y - 4.5, "v", 9.0), style.colour, "0.9", "1 2")
        else:
            super()._sample(sample, style, x, y)


def _signs(effects: Sequence[Effect], sure: str) -> Iterator[Entry]:
    """What each sign of the drawing means."""
    plain = Style(INK, SERIES[0].marker)
    yield Entry("dot", plain, "value")
    yield Entry("interval", plain, f"{sure} interval")
    if any(effect.bound is not None for effect in effects):
        yield Entry("bound", plain, "one-sided bound, which decides")
    if any(effect.limit is not None for effect in effects):
        yield Entry("limit", plain, "limit, and beyond it")
    if any(effect.null is not None for effect in effects):
        yield Entry("null", Style(MUTED, ""), "no effect")
