"""The charts of a sheet, drawn from the same estimates that gates read.

A `records.Plot` names families of estimates; its kind is one of `KINDS`. Series differ by marker
and dash as well as by colour, a missing value is a gap with a note, and the same plot gives the
same bytes.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise, product
from operator import itemgetter
from typing import Literal

from judgesheet.base.keys import Key
from judgesheet.base.limits import MOST_DRAWN, MOST_EXAMPLES
from judgesheet.base.records import AxisResult, Estimate, Plot
from judgesheet.base.units import Unit, unit
from judgesheet.sheet import show
from judgesheet.sheet.chart import (
    INK,
    MARK,
    MUTED,
    REFERENCE,
    SERIES,
    TYPE,
    Chart,
    ChartAxis,
    Entry,
    Place,
    Style,
    greyed,
    mixed,
    short_number,
    text_width,
    wrapped,
)

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
DODGE = 0.16
"""How far series that share their places stand apart, as a part of the least distance of two."""
SMALLEST_SPAN = 0.1
"""Least height of the vertical axis of a curve, in its own unit."""
LEAST_SHARES = 0.0, 0.2
"""What an axis of shares reaches at least: a cut one would magnify what is small."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart on paper; `notes` name the gaps.

    Where nothing was measured it has neither `svg` nor `notes`, and no place on a page: why not is
    said where every estimate is listed.

    `title` says what one sees in it, and `about` what is drawn; without a result the title does.
    `cards` say its rows in words: a name, and what belongs to it.
    """

    name: str
    title: str
    caption: str
    description: str = ""
    svg: str = ""
    about: str = ""
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

    @property
    def reference_name(self) -> str:
        """What the reference is, and its number."""
        words = self.plot.reference_label or ("even" if self.plot.even else "")
        return ": ".join(filter(None, (show.visible(words, 40), self.tick(self.reference or 0.0))))

    @property
    def ends(self) -> list[float]:
        """What the scale reaches at least, in the units of the drawing."""
        least = self.plot.ends or (LEAST_SHARES if self.unit.percent else ())
        return [number * self.unit.scale for number in least]

    @property
    def held(self) -> list[float]:
        """Every number that must have a place on the axis of the values."""
        numbers = [end for point in self.points for end in (point.low, point.high)]
        return [*numbers, *self.ends, *(() if self.reference is None else (self.reference,))]

    def tick(self, number: float) -> str:
        """A number of the scale: `25 %`."""
        return f"{show.number(float(f'{number:.3g}'))}{' %' if self.unit.percent else ''}"


def draw(
    plot: Plot,
    estimates: Iterable[Estimate],
    name: str,
    size: Place = (WIDTH, HEIGHT),
    void: str = "",
) -> Drawing:
    """Draw a plot of these estimates; `name` is unique in the document and prefixes every id.

    `void` is why they must not be used: then it is grey, and says nothing of a result.
    """
    data = collect(plot, estimates)
    what, result = show.visible(plot.title, 120), show.visible(plot.result, 160)
    about = what if result else ""
    if void:
        result, about = f"∅ Not usable: {what}", void
    blank = Drawing(name, result or what, show.visible(plot.caption, 600), about=about)
    if not data.points:
        return blank
    if plot.kind not in KINDS:
        why = f"no such kind of chart: {show.visible(plot.kind, 60)}"
        return replace(blank, notes=(why, *_notes(data)))
    description = _description(data)
    svg = KINDS[plot.kind](data, size).svg(name, blank.title, description)
    svg = greyed(svg) if void else svg
    return replace(blank, description=description, svg=svg, notes=tuple(_notes(data)))


def plot_void(axis: AxisResult, plot: Plot) -> str:
    """Why what a plot of an axis draws must not be used; "" where it may be.

    Figures that would be no merit are drawn where the fault is of which they are a part.
    """
    names = {*plot.families, plot.mark, *plot.shows}
    keys = [one.key for one in axis.estimates if Key.parse(one.key).name in names]
    faults = {axis.status(key) for key in keys} & {"fail", "problem"}
    reason = axis.silent_reason if faults else axis.void_reason
    # An axis of which nothing was read has no figure to ask about.
    why = axis.invalid or next(filter(None, map(reason, keys)), "")
    return show.visible(why, 200)


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
    member = key.dims.get(plot.series, "")
    parts += [_word(plot, member)] if member or "" in plot.words else []
    known = {plot.x, plot.y, plot.series, *plot.having}
    parts += [f"{dim} {value}" for dim, value in key.dims.items() if dim not in known]
    return ", ".join(parts)


def _bounded(plot: Plot, points: Sequence[Point]) -> list[Point]:
    """The points without those that no reader could tell apart."""
    series = list(dict.fromkeys(point.series for point in points))[: len(SERIES)]
    places = list(dict.fromkeys(point.x for point in points))[:MOST_DRAWN]
    rows = list(dict.fromkeys(point.y for point in points))[:MOST_DRAWN]
    most = MOST_DRAWN if plot.kind == "intervals" else len(SERIES) * MOST_DRAWN**2
    return [p for p in points if p.series in series and p.x in places and p.y in rows][:most]


def _notes(data: Data) -> Iterator[str]:
    """Notes on what the drawing leaves out, and why."""
    reasons: dict[str, list[str]] = {}
    for estimate in data.gaps:
        name = show.visible(estimate.label, 120)
        reasons.setdefault(show.estimate(estimate).why, []).append(name)
    for why, names in list(reasons.items())[:MOST_EXAMPLES]:
        what = names[0] if len(names) == 1 else f"{len(names)} values"
        yield f"{what} not measured: {why}"
    if len(reasons) > MOST_EXAMPLES:
        yield f"and {len(reasons) - MOST_EXAMPLES} more reasons, in the appendix"
    if data.left_out:
        yield f"{data.left_out} more are in the appendix only"


def _description(data: Data) -> str:
    """The chart in words, for screen readers."""
    shown = [
        f"{show.visible(point.estimate.label, 80)} {show.estimate(point.estimate).sentence}"
        for point in data.points[:8]  # a screen reader reads all of it aloud
    ]
    more = len(data.points) - len(shown)
    return f"{'; '.join(shown)}{f'; and {more} more' if more > 0 else ''}."


# -- the kinds -------------------------------------------------------------------------------------


def _line(data: Data, size: Place) -> Chart:
    """Points over a dimension, with whiskers, or with a band where they are many.

    They are joined where the dimension is a number; not where they share out a whole.
    """
    places = _places(data)
    joined = not data.plot.even and _numbers(data) is not None
    low, high = _around(data.held, least=SMALLEST_SPAN)
    # A share is read from 0: a cut axis would magnify what is small.
    y_axis = _values(data, (0.0 if data.unit.percent and low > 0 else low, high), data.plot.y_label)
    x_axis = _places_axis(data, places, _around(places.values(), 0.07), size)
    legend = [*_legend(data, "line" if joined else "dot"), *_reference(data), *_marked(data)]
    chart = Chart(size, x_axis, y_axis, legend)
    _compare(data, chart)
    _mark(data, chart)
    stands = _dodged(data, places)
    for style, _, points in _styled(data):
        placed = sorted(((stands[p.series, p.x], p) for p in points), key=itemgetter(0))
        if joined and len(places) > CROWDED:
            edge = [(x, p.low) for x, p in placed] + [(x, p.high) for x, p in reversed(placed)]
            chart.area(edge, style.colour)
        else:
            chart.intervals((((x, p.low), (x, p.high)) for x, p in placed), style.colour)
        mark = chart.line if joined else chart.dots
        mark([(x, p.value) for x, p in placed], style)
    return chart


def _marked(data: Data) -> Iterator[Entry]:
    """What the marked estimate is, with its number."""
    if data.mark is not None and show.finite(data.mark.value) is not None:
        name = data.plot.words.get(data.plot.mark, data.mark.label)
        yield Entry("rule", MARK, f"{show.visible(name, 60)}: {show.estimate(data.mark).number}")


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


def _bars(data: Data, size: Place) -> Chart:
    """Bars over a dimension with whiskers; series stand side by side and are hatched."""
    places = _in_turn(point.x for point in data.points)
    low, high = _around([0.0, *data.held])
    # A bar begins at 0.
    y_axis = _values(data, (low if min(data.held) < 0 else 0.0, high), data.plot.y_label)
    x_axis = _places_axis(data, places, (-0.5, len(places) - 0.5), size)
    chart = Chart(size, x_axis, y_axis, [*_legend(data, "bar"), *_reference(data)])
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
    y_axis = _rows([show.short(_row_name(data, p), 76) for _, p in rows], 0.48 * size[0])
    x_axis = _values(data, _around(data.held, 0.06), data.plot.x_label)
    chart = Chart(size, x_axis, replace(y_axis, line=False), [*_reference(data)], ROW * len(rows))
    if data.reference is not None:
        chart.rule((data.reference, chart.y.low), (data.reference, chart.y.high))
    for y, (style, point) in enumerate(rows):
        chart.intervals([((point.low, y), (point.high, y))], style.colour)
        chart.dots([(point.value, y)], style)
    return chart


def _row_name(data: Data, point: Point) -> str:
    """What the plot calls the value of its dimension or the family, else the estimate's label."""
    return _word(data.plot, point.x) if point.x in data.plot.words else point.estimate.label


def _heatmap(data: Data, size: Place) -> Chart:
    """Numbers in a grid on a scale of colours that does not depend on them.

    Bold are those whose interval lies above the reference, so grey print still reads.
    """
    columns = _in_turn(sorted({p.x for p in data.points}, key=_order))
    rows = sorted({p.y for p in data.points}, key=_order)
    cells = {(p.x, p.y): p for p in data.points}
    sign = " %" if data.unit.percent and len(columns) < 7 else ""
    # Around 0 a number is a deviation, and its sign is half of it.
    texts = {
        at: f"{show.in_cell(p.value, signed=data.reference == 0)}{sign}" for at, p in cells.items()
    }
    bold = {at for at, p in cells.items() if _is_above(p, data.reference)}
    x_axis = replace(_places_axis(data, columns, (-0.5, len(columns) - 0.5), size), line=False)
    title = show.words(data.plot.y_label or data.plot.y)
    y_axis = _rows([_word(data.plot, row) for row in rows], 0.3 * size[0], 1)
    scale = _colours(data)
    legend = [*_shades(data, scale, some_bold=bool(bold))]
    y_axis = replace(y_axis, line=False, title=title)
    chart = Chart(size, x_axis, y_axis, legend, CELL * len(rows))
    fit = 0.9 * TYPE * (chart.x(1) - chart.x(0)) / text_width("\n".join(texts.values()))
    type_size = short_number(fit) if fit < TYPE else None
    for (y, row), (x, column) in product(enumerate(rows), enumerate(columns)):
        at = column, row
        fill = _shade(cells[at].value, scale) if at in cells else None
        weight = "600" if at in bold else None
        text = texts.get(at, "–")
        chart.cell((x, y), text, fill, font_size=type_size, font_weight=weight)
    return chart


def _is_above(point: Point, reference: float | None) -> bool:
    """Whether the interval of a point lies above the reference."""
    known = reference is not None and show.finite(point.estimate.low) is not None
    return known and point.low > (reference or 0.0)


Scale = tuple[float, float | None, float]
"""Where the colours end, and the number between them that has none."""


def _colours(data: Data) -> Scale:
    """The ends that the plot sets, the whole of a share, or what the numbers need."""
    if data.plot.ends:
        low, high = data.ends
    elif data.unit.percent:
        low, high = 0.0, data.unit.scale
    else:
        middle, values = data.reference or 0.0, [point.value for point in data.points]
        reach = max(abs(value - middle) for value in values) or 1.0
        low, high = min(0.0, *values) if data.reference is None else middle - reach, middle + reach
    return low, data.reference, high


def _shade(value: float, scale: Scale) -> str:
    """From pale to blue, or around a middle from pale blue over white to strong orange.

    Below the middle it stays pale, so that in grey print darker always means more.
    """
    low, middle, high = scale
    if middle is None:
        return mixed("f3f7fb", "0b5cad", _part(value, low, high))
    if value > middle:
        return mixed("fbfbfb", "dd7420", _part(value, middle, high))
    return mixed("fbfbfb", "cfe1f3", _part(value, middle, low))


def _part(value: float, start: float, end: float) -> float:
    """How far a value is on the way from start to end; what is beyond is at the end."""
    return min(1.0, max(0.0, (value - start) / (end - start))) if end != start else 1.0


def _shades(data: Data, scale: Scale, *, some_bold: bool) -> Iterator[Entry]:
    """What the colours of a heat map mean."""
    low, middle, high = scale
    # Where the plot sets the ends, numbers beyond have the colour of the end.
    reaches_on = data.plot.ends is not None
    between = (low + high) / 2 if middle is None else (middle + high) / 2
    names = {
        low: f"{data.tick(low)}{' or less' if reaches_on and low < 0 else ''}",
        **({} if middle is None else {middle: data.reference_name}),
        between: data.tick(between),
        high: f"{data.tick(high)}{' or more' if reaches_on else ''}",
    }
    for number, name in names.items():
        yield Entry("cell", Style(_shade(number, scale), ""), name)
    if some_bold:
        yield Entry("", REFERENCE, f"bold: interval above {data.tick(middle or 0.0)}")


KINDS: dict[str, Callable[[Data, Place], Chart]] = {
    "line": _line,
    "heatmap": _heatmap,
    "intervals": _intervals,
    "bars": _bars,
    # Kinds of older sheets, drawn as what has taken their place.
    "stacked": _bars,
    "scatter": _intervals,
    "segment": _intervals,
}
"""Kind of plot -> how it is drawn."""


# -- what they share -------------------------------------------------------------------------------


def _styled(data: Data) -> Iterator[tuple[Style, str, list[Point]]]:
    """(style, name, points) of every series."""
    for style, (name, points) in zip(SERIES, data.series.items(), strict=False):
        yield style, show.short(name, 28), points


def _legend(data: Data, sample: Literal["line", "dot", "bar"]) -> list[Entry]:
    """The named series, where there are several."""
    named = [Entry(sample, style, name) for style, name, _ in _styled(data) if name]
    return named if len(data.series) > 1 else []


def _reference(data: Data) -> Iterator[Entry]:
    """What the line to compare with is."""
    if data.reference is not None:
        yield Entry("rule", REFERENCE, data.reference_name)


def _compare(data: Data, chart: Chart) -> None:
    """The reference as a line across the chart."""
    if data.reference is not None:
        chart.rule((chart.x.low, data.reference), (chart.x.high, data.reference))


def _values(data: Data, ends: Place, title: str) -> ChartAxis:
    """The axis of the plot's numbers."""
    _, high = data.unit.ends or (0.0, math.inf)
    # Differences of shares reach below 0, whatever their unit says.
    within = -high * data.unit.scale, high * data.unit.scale
    sign = " %" if data.unit.percent else ""
    return ChartAxis(*ends, show.words(title), sign=sign, grid=True, within=within)


def _rows(names: Sequence[str], width: float, lines: int = 2) -> ChartAxis:
    """An axis downwards with a name a row."""
    ticks = [*enumerate(wrapped(name, width, lines) for name in names)]
    return ChartAxis(len(names) - 0.5, -0.5, ticks=ticks)


def _places_axis(data: Data, places: Mapping[str, float], ends: Place, size: Place) -> ChartAxis:
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
    return ChartAxis(*ends, show.words(data.plot.x_label or data.plot.x), ticks)


def _around(numbers: Iterable[float], margin: float = 0.05, least: float = 0.0) -> Place:
    """Ends of an axis: all the numbers with a margin, and no less than the `least` span."""
    low, high = min(numbers := [*numbers]), max(numbers)
    # Below that a span vanishes in the rounding of its ends.
    least = max(least, 1e-9, 1e-9 * abs(low), 1e-9 * abs(high))
    pad = max((high - low) * margin, (least - (high - low)) / 2)
    return low - pad, high + pad


def _places(data: Data) -> dict[str, float]:
    """Where each value of x stands: at its number if all are numbers, else one after another."""
    return _numbers(data) or _in_turn(point.x for point in data.points)


def _numbers(data: Data) -> dict[str, float] | None:
    """The values of x as numbers; None where one of them is a name."""
    numbers = {x: _number(x) for x in sorted({p.x for p in data.points}, key=_order)}
    known = {x: number for x, number in numbers.items() if number is not None}
    return known if len(known) == len(numbers) and not data.plot.names else None


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


def _dodged(data: Data, places: Mapping[str, float]) -> dict[tuple[str, str], float]:
    """Where the points stand, by series and x: a little apart where whiskers would hide others."""
    known = sorted(places.values())
    step = min((b - a for a, b in pairwise(known)), default=0.0) if len(known) <= CROWDED else 0.0
    at: dict[str, list[str]] = {}
    for point in data.points:
        at.setdefault(point.x, []).append(point.series)
    return {
        (name, x): places[x] + step * DODGE * (rank - (len(names) - 1) / 2)
        for x, names in at.items()
        for rank, name in enumerate(names)
    }
