"""The figures of a sheet, drawn from the same estimates that gates read.

A `records.Plot` names families of estimates; its kind is one of `KINDS`. Series differ by marker
and dash as well as by colour, a missing value is a gap with a note, and the same figure gives the
same bytes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise, product
from operator import itemgetter

from judgesheet.base.keys import Key
from judgesheet.base.records import Estimate, Plot
from judgesheet.base.units import Unit, unit
from judgesheet.sheet import show
from judgesheet.sheet.chart import (
    INK,
    MUTED,
    SERIES,
    TYPE,
    Axis,
    Chart,
    Place,
    Style,
    mixed,
    short_number,
    text_width,
    wrapped,
)

MOST_REASONS = 3  # the appendix has all of them
MOST_PLACES = 24  # more labels cannot be told apart
CROWDED = 6
"""Places beyond which whiskers give way to a band."""
WIDTH, HEIGHT = 249.0, 88.0
"""Points: half the text width of A4 less the gutter, and low enough for four on page two."""
SMALL = 194.0, 76.0
"""The same of the picture of page one."""
HUGE = 1e200
"""What is beyond is drawn there: sums and differences must not overflow."""
ROW, CELL = 16.5, 9.5
"""Heights of a row whose name may take two lines, and of one of a table."""
SMALLEST_SPAN = 0.1
"""Least height of the vertical axis of a curve, in its own unit."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure on paper: `svg` is "" where nothing was measured, `notes` name the gaps.

    `cards` say its rows in words: a name, and what belongs to it.
    """

    name: str
    title: str
    caption: str
    description: str = ""
    svg: str = ""
    notes: tuple[str, ...] = ()
    cards: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Point:
    """One estimate of a series, with its numbers in the units of the drawing."""

    series: str
    x: str
    y: str
    estimate: Estimate
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Data:
    """What a plot draws: its points by series, in the sheet's order; and what it leaves out.

    Shares are drawn in percent; missing bounds equal the value.
    """

    plot: Plot
    unit: Unit
    points: Sequence[Point]
    gaps: Sequence[Estimate]
    left_out: int
    mark: Estimate | None

    @property
    def series(self) -> dict[str, list[Point]]:
        """The points of each series."""
        names = dict.fromkeys(point.series for point in self.points)
        return {name: [p for p in self.points if p.series == name] for name in names}

    @property
    def reference(self) -> float | None:
        """The reference in the units of the drawing; equal shares where a whole is shared out."""
        parts = len(self.series if self.plot.rest else {point.x for point in self.points})
        number = 1 / parts if self.plot.even and parts else show.finite(self.plot.reference)
        return None if number is None else number * self.unit.scale


def draw(
    plot: Plot,
    estimates: Iterable[Estimate],
    name: str,
    size: Place = (WIDTH, HEIGHT),
) -> Drawing:
    """Draw a plot of these estimates; `name` is unique in the document and prefixes every id."""
    data = collect(plot, estimates)
    blank = Drawing(name, show.visible(plot.title, 120), show.visible(plot.caption, 600))
    why = "" if data.points else "nothing to draw: none of its values was measured"
    if data.points and plot.kind not in KINDS:
        why = f"no such kind of figure: {show.visible(plot.kind, 60)}"
    if why:
        return replace(blank, notes=(why, *_notes(data)))
    description = _description(data)
    svg = KINDS[plot.kind](data, size).svg(name, blank.title, description)
    return replace(blank, description=description, svg=svg, notes=tuple(_notes(data)))


def collect(plot: Plot, estimates: Iterable[Estimate]) -> Data:
    """Sort the estimates of the plot's families into series."""
    keyed = [(Key.parse(estimate.key), estimate) for estimate in estimates]
    axes = {dim for dim in (plot.x, plot.y) if dim}
    members = [
        (key, estimate)
        for name in plot.families
        for key, estimate in keyed
        # A dimension that a member lacks is no reason against it.
        if key.name == name
        and axes <= key.dims.keys()
        and all(key.dims.get(dim, value) == value for dim, value in plot.having.items())
    ]
    measured = [(k, e) for k, e in members if show.finite(e.value) is not None]
    of = unit(measured[0][1].unit if measured else "")
    points = [_point(plot, key, estimate, of.scale) for key, estimate in measured]
    if plot.rest:
        points += [_rest(plot, point, of.scale) for point in points]
    names = list(dict.fromkeys(point.series for point in points))
    points.sort(key=lambda point: names.index(point.series))
    drawn = _bounded(plot, points)
    mark = next((estimate for key, estimate in keyed if key.name == plot.mark), None)
    gaps = [e for _, e in members if show.finite(e.value) is None]
    return Data(plot, of, drawn, gaps, len(points) - len(drawn), mark)


def _point(plot: Plot, key: Key, estimate: Estimate, scale: float) -> Point:
    value = show.finite(estimate.value) or 0.0
    low, high = show.finite(estimate.low), show.finite(estimate.high)
    low, high = (value, value) if low is None or high is None else (low, high)
    place = key.dims.get(plot.x, key.name), key.dims.get(plot.y, "")
    numbers = (scale * max(-HUGE, min(n, HUGE)) for n in (value, min(low, value), max(high, value)))
    return Point(_series_name(plot, key), *place, estimate, *numbers)


def _rest(plot: Plot, point: Point, scale: float) -> Point:
    """What is left of the whole, whose interval is that of the share seen from the other end."""
    value, low, high = scale - point.value, scale - point.high, scale - point.low
    return replace(point, series=plot.rest, value=value, low=low, high=high)


def _word(plot: Plot, name: str) -> str:
    """A family or the value of a dimension, as the axis says it."""
    return show.visible(plot.words[name], 60) if name in plot.words else show.words(name)


def _series_name(plot: Plot, key: Key) -> str:
    """The value of the series dimension, then whatever else tells this member apart."""
    several = len(plot.families) > 1 or plot.rest
    parts = [_word(plot, key.name)] if several and plot.x else []
    parts += [_word(plot, key.dims[plot.series])] if plot.series in key.dims else []
    known = {plot.x, plot.y, plot.series, *plot.having}
    parts += [f"{dim} {value}" for dim, value in key.dims.items() if dim not in known]
    return ", ".join(parts)


def _bounded(plot: Plot, points: Sequence[Point]) -> list[Point]:
    """The points without those that no reader could tell apart."""
    series = list(dict.fromkeys(point.series for point in points))[: len(SERIES)]
    places = list(dict.fromkeys(point.x for point in points))[:MOST_PLACES]
    rows = list(dict.fromkeys(point.y for point in points))[:MOST_PLACES]
    most = MOST_PLACES if plot.kind == "intervals" else len(SERIES) * MOST_PLACES**2
    return [p for p in points if p.series in series and p.x in places and p.y in rows][:most]


def _notes(data: Data) -> Iterator[str]:
    """Notes on what the drawing leaves out, and why."""
    reasons: dict[str, list[str]] = {}
    for estimate in data.gaps:
        name = show.visible(estimate.label, 120)
        reasons.setdefault(show.estimate(estimate).why, []).append(name)
    for why, names in list(reasons.items())[:MOST_REASONS]:
        what = names[0] if len(names) == 1 else f"{len(names)} values"
        yield f"{what} not measured: {why}"
    if len(reasons) > MOST_REASONS:
        yield f"and {len(reasons) - MOST_REASONS} more reasons, in the appendix"
    if data.left_out:
        yield f"{data.left_out} more are in the appendix only"


def _description(data: Data) -> str:
    """What a reader who cannot see the figure is told."""
    shown = [
        f"{show.visible(point.estimate.label, 80)} {show.estimate(point.estimate).sentence}"
        for point in data.points[:8]  # a screen reader reads all of it aloud
    ]
    more = len(data.points) - len(shown)
    return f"{'; '.join(shown)}{f'; and {more} more' if more > 0 else ''}."


# -- the kinds -------------------------------------------------------------------------------------


def _line(data: Data, size: Place) -> Chart:
    """Points over a dimension, with whiskers, or with a band where they are many."""
    places = _places(data)
    low, high = _around(_bounds(data.points, data.reference), least=SMALLEST_SPAN)
    # A share is read from 0: a cut axis would magnify what is small.
    y_axis = _values(data, (0.0 if data.unit.percent and low > 0 else low, high), data.plot.y_label)
    x_axis = _places_axis(data, places, _around(places.values(), 0.07), size)
    chart = Chart(size, x_axis, y_axis, _legend(data))
    _compare(data, chart)
    _mark(data, chart)
    for index, (style, _, points) in enumerate(_styled(data)):
        shift = _dodge(index, data, places.values())
        placed = sorted(((places[p.x] + shift, p) for p in points), key=itemgetter(0))
        if len(places) > CROWDED:
            edge = [(x, p.low) for x, p in placed] + [(x, p.high) for x, p in reversed(placed)]
            chart.area(edge, style.colour)
        else:
            chart.intervals((((x, p.low), (x, p.high)) for x, p in placed), style.colour)
        chart.line([(x, p.value) for x, p in placed], style)
    return chart


def _mark(data: Data, chart: Chart) -> None:
    """The marked estimate as a vertical line, its interval as a band; open ends reach the edge."""
    value = show.finite(data.mark.value) if data.mark else None
    if data.mark is None or value is None:
        return
    left, right, bottom, top = chart.x.low, chart.x.high, chart.y.low, chart.y.high
    low, high = show.finite(data.mark.low), show.finite(data.mark.high)
    start, end = (
        max(left, left if low is None else low),
        min(right, right if high is None else high),
    )
    if start < end:
        chart.area([(start, bottom), (end, bottom), (end, top), (start, top)], MUTED)
    if left <= value <= right:
        chart.rule((value, bottom), (value, top), dash=None)


def _stacked(data: Data, size: Place) -> Chart:
    """Parts of a whole side by side, one bar a value of x; the families are the parts."""
    rows = _in_turn(point.x for point in data.points)
    sums = [sum(p.value for p in data.points if p.x == row) for row in rows]
    x_axis = _values(data, (0.0, max(data.unit.scale, *sums)), data.plot.x_label)
    y_axis = _rows([_word(data.plot, row) for row in rows], 0.3 * size[0])
    chart = Chart(size, x_axis, y_axis, _legend(data), "bar", ROW * len(rows))
    ends, thick = dict.fromkeys(rows, 0.0), 0.62 * (chart.y(1) - chart.y(0))
    for style, _, points in _styled(data):
        for point in points:
            y, start = rows[point.x], ends[point.x]
            ends[point.x] += point.value
            chart.bar((start, y), (ends[point.x], y), thick, style)
    return chart


def _scatter(data: Data, size: Place) -> Chart:
    """One family against another, a point a series, intervals both ways."""
    crossed = [*_crossed(data)]
    whole = 0.0, data.unit.scale
    x_ends = _around((*whole, *_bounds(x for _, _, x, _ in crossed)), 0.03)
    y_ends = _around((*whole, *_bounds(y for *_, y in crossed)), 0.03)
    x_axis, y_axis = (
        _values(data, x_ends, data.plot.x_label),
        _values(data, y_ends, data.plot.y_label),
    )
    names = [(style, show.short(name, 28) or "baseline") for style, name, *_ in crossed]
    chart = Chart(size, x_axis, y_axis, names if len(data.series) > 1 else (), "dot")
    for style, _, x, y in crossed:
        across = (x.low, y.value), (x.high, y.value)
        upwards = (x.value, y.low), (x.value, y.high)
        chart.intervals([across, upwards], style.colour)
        chart.dots([(x.value, y.value)], style)
    return chart


def _segment(data: Data, size: Place) -> Chart:
    """A scatter whose points are joined, in the sheet's order: from one state to the next."""
    chart = _scatter(data, size)
    for (*_, x, y), (*_, next_x, next_y) in pairwise(_crossed(data)):
        chart.arrow((x.value, y.value), (next_x.value, next_y.value))
    return chart


def _crossed(data: Data) -> Iterator[tuple[Style, str, Point, Point]]:
    """(style, name, across, along) of every series that has a member of both families."""
    across, along, *_ = *data.plot.families, "", ""
    styles = iter(SERIES)
    for name, points in data.series.items():
        by_family = {point.x: point for point in points}
        if across in by_family and along in by_family:
            yield next(styles), name, by_family[across], by_family[along]


def _bars(data: Data, size: Place) -> Chart:
    """Bars over a dimension with whiskers; series stand side by side and are hatched."""
    places = _in_turn(point.x for point in data.points)
    bounds = (0.0, *_bounds(data.points, data.reference))
    low, high = _around(bounds)
    # A bar begins at 0.
    y_axis = _values(data, (low if min(bounds) < 0 else 0.0, high), data.plot.y_label)
    x_axis = _places_axis(data, places, (-0.5, len(places) - 0.5), size)
    chart = Chart(size, x_axis, y_axis, _legend(data), "bar")
    width = 0.76 / len(data.series)
    thick = 0.92 * width * (chart.x(1) - chart.x(0))
    for index, (style, _, points) in enumerate(_styled(data)):
        shift = (index - (len(data.series) - 1) / 2) * width
        placed = [(places[p.x] + shift, p) for p in points]
        for x, p in placed:
            chart.bar((x, 0.0), (x, p.value), thick, style)
        chart.intervals((((x, p.low), (x, p.high)) for x, p in placed), INK)
    _compare(data, chart)
    return chart


def _intervals(data: Data, size: Place) -> Chart:
    """Named estimates, one a row: a dot with its interval."""
    groups = data.series.values() if data.plot.series else [data.points]
    styled = zip(SERIES, groups, strict=False)
    rows = [(style, point) for style, points in styled for point in points]
    x_ends = _around(_bounds(data.points, data.reference), 0.06)
    y_axis = _rows([show.short(p.estimate.label, 76) for _, p in rows], 0.48 * size[0])
    x_axis = _values(data, x_ends, data.plot.x_label)
    chart = Chart(size, x_axis, replace(y_axis, line=False), least=ROW * len(rows))
    if data.reference is not None:
        chart.rule((data.reference, chart.y.low), (data.reference, chart.y.high))
    for y, (style, point) in enumerate(rows):
        chart.intervals([((point.low, y), (point.high, y))], style.colour)
        chart.dots([(point.value, y)], style)
    return chart


def _heatmap(data: Data, size: Place) -> Chart:
    """Numbers in a grid; above the reference they are set bold, so grey print still reads."""
    columns = _in_turn(sorted({p.x for p in data.points}, key=_order))
    rows = sorted({p.y for p in data.points}, key=_order)
    cells = {(p.x, p.y): p.value for p in data.points}
    sign = " %" if data.unit.percent and len(columns) < 7 else ""
    # Around 0 a number is a deviation, and its sign is half of it.
    texts = {at: f"{show.in_cell(n, signed=data.reference == 0)}{sign}" for at, n in cells.items()}
    x_axis = replace(_places_axis(data, columns, (-0.5, len(columns) - 0.5), size), line=False)
    title = show.words(data.plot.y_label or data.plot.y)
    y_axis = replace(
        _rows([_word(data.plot, row) for row in rows], 0.3 * size[0], 1), line=False, title=title
    )
    chart = Chart(size, x_axis, replace(y_axis, line=False, title=title), least=CELL * len(rows))
    fit = 0.9 * TYPE * (chart.x(1) - chart.x(0)) / text_width("\n".join(texts.values()))
    type_size = short_number(fit) if fit < TYPE else None
    for (y, row), (x, column) in product(enumerate(rows), enumerate(columns)):
        value, text = cells.get((column, row)), texts.get((column, row), "–")
        fill = None if value is None else _shade(value, [*cells.values()], data.reference)
        above = value is not None and data.reference is not None and value > data.reference
        weight = "600" if above else None
        chart.cell((x, y), text, fill, font_size=type_size, font_weight=weight)
    return chart


def _shade(value: float, values: Sequence[float], middle: float | None) -> str:
    """From pale to blue, or around a middle from pale blue over white to strong orange.

    Below the middle it stays pale, so that in grey print darker always means more.
    """
    if middle is None:
        low, span = min(values), max(values) - min(values)
        return mixed("f3f7fb", "0b5cad", (value - low) / span if span else 0.0)
    reach = max(abs(each - middle) for each in values) or 1.0
    return mixed("fbfbfb", "dd7420" if value > middle else "cfe1f3", abs(value - middle) / reach)


KINDS: dict[str, Callable[[Data, Place], Chart]] = {
    kind.__name__.strip("_"): kind
    for kind in (_line, _heatmap, _intervals, _bars, _stacked, _scatter, _segment)
}
"""Kind of figure -> how it is drawn."""


# -- what they share -------------------------------------------------------------------------------


def _styled(data: Data) -> Iterator[tuple[Style, str, list[Point]]]:
    """(style, name, points) of every series."""
    for style, (name, points) in zip(SERIES, data.series.items(), strict=False):
        yield style, show.short(name, 28), points


def _legend(data: Data) -> list[tuple[Style, str]]:
    """The named series, where there are several."""
    named = [(style, name) for style, name, _ in _styled(data) if name]
    return named if len(data.series) > 1 else []


def _compare(data: Data, chart: Chart) -> None:
    """The reference as a line across the chart."""
    if data.reference is not None:
        chart.rule((chart.x.low, data.reference), (chart.x.high, data.reference))


def _values(data: Data, ends: Place, title: str) -> Axis:
    """The axis of the plot's numbers."""
    sign = " %" if data.unit.percent else ""
    return Axis(*ends, show.words(title), sign=sign, grid=True)


def _rows(names: Sequence[str], width: float, lines: int = 2) -> Axis:
    """An axis downwards with a name a row."""
    ticks = [*enumerate(wrapped(name, width, lines) for name in names)]
    return Axis(len(names) - 0.5, -0.5, ticks=ticks)


def _places_axis(data: Data, places: Mapping[str, float], ends: Place, size: Place) -> Axis:
    """A horizontal axis with a label at every place; where words are too long, in two rows."""
    room = 0.8 * size[0] / len(places) - 3
    labels = [show.short(_word(data.plot, x), 24) for x in places]
    if any(text_width(word) > room for label in labels for word in label.split()):
        lower = ("\n" * (index % 2) for index in range(len(labels)))
        labels = [
            row + wrapped(label, 2 * room, 1) for row, label in zip(lower, labels, strict=True)
        ]
    else:
        labels = [wrapped(label, room, 3) for label in labels]
    ticks = [*zip(places.values(), labels, strict=True)]
    return Axis(*ends, show.words(data.plot.x_label or data.plot.x), ticks)


def _bounds(points: Iterable[Point], reference: float | None = None) -> list[float]:
    """Every number that must have a place: the ends of the intervals, and the reference."""
    ends = [end for point in points for end in (point.low, point.high)]
    return ends if reference is None else [*ends, reference]


def _around(numbers: Iterable[float], margin: float = 0.05, least: float = 0.0) -> Place:
    """Ends of an axis: all the numbers with a margin, and no less than the `least` span."""
    low, high = min(numbers := [*numbers]), max(numbers)
    # Below that a span vanishes in the rounding of its ends.
    least = max(least, 1e-9, 1e-9 * abs(low), 1e-9 * abs(high))
    pad = max((high - low) * margin, (least - (high - low)) / 2)
    return low - pad, high + pad


def _places(data: Data) -> dict[str, float]:
    """Where each value of x stands: at its number if all are numbers, else one after another."""
    numbers = {x: _number(x) for x in sorted({p.x for p in data.points}, key=_order)}
    known = {x: number for x, number in numbers.items() if number is not None}
    if len(known) == len(numbers) and not data.plot.names:
        return known
    return _in_turn(point.x for point in data.points)


def _in_turn(names: Iterable[str]) -> dict[str, float]:
    return {name: float(place) for place, name in enumerate(dict.fromkeys(names))}


def _number(text: str) -> float | None:
    with suppress(ValueError):
        # Neither NaN nor infinity has a place, nor has what is rather an id.
        if abs(number := float(text)) < 1e6:
            return number
    return None


def _order(text: str) -> tuple[bool, float, str]:
    number = _number(text)
    return number is None, number or 0.0, text


def _dodge(index: int, data: Data, places: Iterable[float]) -> float:
    """Move series apart a little where their whiskers would hide each other."""
    places = sorted(places)
    if not 2 <= len(places) <= CROWDED or len(data.series) < 2:
        return 0.0
    step = min(b - a for a, b in pairwise(places))
    return step * 0.08 * (index - (len(data.series) - 1) / 2)
