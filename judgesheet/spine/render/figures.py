"""Figures as SVG whose text stays text, drawn from the same estimates that gates read.

A `records.Plot` names families of estimates; its kind is one of `KINDS`. Series differ by marker
and dash as well as by colour, a missing value is a gap with a note, and the same figure gives the
same bytes. For a page that has a dark mode, `themed` makes its colours CSS variables.
"""

import io
import math
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

from judgesheet.keys import Key
from judgesheet.records import Estimate, Plot
from judgesheet.resources import data_folder
from judgesheet.spine.render import show
from judgesheet.spine.render.svg import slim, with_attributes
from judgesheet.units import Unit, unit

if TYPE_CHECKING:
    from matplotlib import RcParams
    from matplotlib.axes import Axes

INK, MUTED, GRID, PAPER = "#1a1d21", "#5b636d", "#d5d9de", "#fefefe"


@dataclass(frozen=True, slots=True)
class Style:
    """How a series is told from the others: distinct in grey and to colour-blind readers."""

    colour: str
    marker: str
    dash: Any
    hatch: str

    @property
    def bar(self) -> dict[str, Any]:
        """What matplotlib takes for bars."""
        return {"color": self.colour, "hatch": self.hatch, "alpha": 0.75, "edgecolor": PAPER,
                "linewidth": 0}  # fmt: skip

    @property
    def dot(self) -> dict[str, Any]:
        """What matplotlib takes for a dot with whiskers."""
        return {"color": self.colour, "marker": self.marker, "capsize": 2.2}


_LEGEND = 40
"""Characters of names that a legend of three columns holds beside their marks."""
# Hatched with lines only: a dotted hatch alone writes a hundred kilobytes of circles.
SERIES = (
    Style("#0b5cad", "o", "-", ""),
    Style("#b8480b", "s", "--", "///"),
    Style("#0a7a5c", "^", ":", "|||"),
    Style("#7b3f98", "D", "-.", "\\\\\\"),
    Style("#8a6d00", "v", (0, (5, 1, 1, 1, 1, 1)), "xxx"),
    Style("#4d5560", "P", (0, (1, 1)), "---"),
)
MOST_REASONS = 3
MOST_PLACES = 24
_UPRIGHT = 18
"""Characters an inch of height in a label along the vertical axis."""
CROWDED = 6
"""Places beyond which whiskers give way to a band."""
WIDTH, HEIGHT = 3.46, 1.22
"""Inches: half the text width of A4 less the gutter, and low enough for four on page two."""
SMALL = 2.7, 1.06
"""The same of the picture of page one."""
SMALLEST_SPAN = 0.1
"""Least height of the vertical axis of a curve, in its own unit."""
DARK = 1.35
"""Sum of red, green and blue (0..1 each) below which a number is set in white."""
_THEME = {
    INK: "--ink", MUTED: "--muted", GRID: "--rule", PAPER: "--paper",
    "#0a6b4f": "--good", "#a6260d": "--bad", "#6b4e00": "--unknown", "#fdecea": "--loud",
    **{style.colour: f"--series-{i}" for i, style in enumerate(SERIES, 1)},
}  # fmt: skip


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

    def __hash__(self) -> int:
        """The same numbers under the same title are likely the same figure."""
        return hash((self.plot.title, *(point.value for point in self.points)))

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
    size: tuple[float, float] = (WIDTH, HEIGHT),
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
    svg = slim(_plot(data, size), name, blank.title, description)
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
    numbers = (value * scale, min(low, value) * scale, max(high, value) * scale)
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
        for point in data.points[:8]
    ]
    more = len(data.points) - len(shown)
    return f"{'; '.join(shown)}{f'; and {more} more' if more > 0 else ''}."


# -- drawing ---------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _plot(data: Data, size: tuple[float, float]) -> str:
    """The figure as matplotlib writes it; a page and a PDF share it."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    with mpl.rc_context(_look()), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # glyphs that Inter lacks: the reader's fonts have them
        engine = ConstrainedLayoutEngine()
        # A figure with many rows is higher than usual.
        rows = {"intervals": len(data.points) / 4, "heatmap": len({p.y for p in data.points}) / 6}
        width, height = size
        height *= max(1.0, rows.get(data.plot.kind, 0.0))
        canvas = Canvas(figsize=(width, height), layout=engine)
        paper = FigureCanvasSVG(canvas)
        KINDS[data.plot.kind](data, canvas.subplots())
        # Laid out and drawn once: `savefig` does each a second time.
        engine.execute(canvas)
        canvas.set_layout_engine("none")
        out = io.StringIO()
        paper.print_svg(out, metadata={"Date": None})  # type: ignore[no-untyped-call]
    return out.getvalue()


@cache
def _look() -> "RcParams":
    """The style of every figure; its font is made known."""
    from matplotlib import font_manager, rc_params_from_file

    templates = data_folder("templates")
    for font in sorted((templates / "fonts").glob("Inter-*.otf")):
        font_manager.fontManager.addfont(font)
    return rc_params_from_file(templates / "figures.mplstyle", use_default_template=False)


def _styled(data: Data) -> Iterator[tuple[Style, str | None, list[Point]]]:
    """(style, label, points) of every series."""
    for style, (name, points) in zip(SERIES, data.series.items(), strict=False):
        yield style, show.short(name, 28) or None, points


def _values(points: Iterable[Point]) -> list[float]:
    return [point.value for point in points]


def _whiskers(points: Sequence[Point]) -> tuple[list[float], list[float]]:
    """The lengths below and above the values."""
    return [p.value - p.low for p in points], [p.high - p.value for p in points]


def _line(data: Data, axes: "Axes") -> None:
    """Points over a dimension, with whiskers, or with a band where they are many."""
    places = _places(data)
    _reference(data, axes.axhline)
    for index, (style, label, points) in enumerate(_styled(data)):
        points = sorted(points, key=lambda point: places[point.x])
        x = [places[point.x] + _dodge(index, data) for point in points]
        axes.plot(x, _values(points), color=style.colour, marker=style.marker,
                  linestyle=style.dash, label=label)  # fmt: skip
        if len(places) > CROWDED:
            low, high = [p.low for p in points], [p.high for p in points]
            axes.fill_between(x, low, high, color=style.colour, alpha=0.14, linewidth=0)
        else:
            axes.errorbar(x, _values(points), _whiskers(points), fmt="none", ecolor=style.colour,
                          elinewidth=1, capsize=2.2)  # fmt: skip
    axes.set_xticks(list(places.values()), [show.short(_word(data.plot, x), 14) for x in places])
    axes.margins(x=0.07)
    _mark(data, axes)
    _widen(axes)
    if data.unit.percent and axes.get_ylim()[0] > 0:
        axes.set_ylim(bottom=0)
    _finish(data, axes)


def _mark(data: Data, axes: "Axes") -> None:
    """The marked estimate as a vertical line, its interval as a band; open ends reach the edge."""
    value = show.finite(data.mark.value) if data.mark else None
    if data.mark is None or value is None:
        return
    left, right = axes.get_xlim()
    low, high = show.finite(data.mark.low), show.finite(data.mark.high)
    band = (left if low is None else max(left, low), right if high is None else high)
    axes.axvspan(*band, color=MUTED, alpha=0.12, linewidth=0)
    axes.axvline(value, color=MUTED, linewidth=1)
    axes.set_xlim(left, right)


def _stacked(data: Data, axes: "Axes") -> None:
    """Parts of a whole side by side, one bar a value of x; the families are the parts."""
    rows = list(dict.fromkeys(point.x for point in data.points))
    ends = dict.fromkeys(rows, 0.0)
    for style, label, points in _styled(data):
        starts = [ends[point.x] for point in points]
        places = [rows.index(point.x) for point in points]
        axes.barh(places, _values(points), 0.62, starts, label=label, **style.bar)
        for point in points:
            ends[point.x] += point.value
    names = [textwrap.fill(_word(data.plot, row), 18) for row in rows]
    axes.set_yticks(range(len(rows)), names)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, max(data.unit.scale, *ends.values()))
    _finish(data, axes, horizontal=True)
    _legend(axes, 2)


def _scatter(data: Data, axes: "Axes") -> None:
    """One family against another, a point a series, intervals both ways."""
    for style, (name, across, along) in zip(SERIES, _crossed(data), strict=False):
        axes.errorbar(across.value, along.value, _whiskers([along]), _whiskers([across]),
                      elinewidth=1, linestyle="none",
                      label=show.short(name, 28) or "baseline", **style.dot)  # fmt: skip
    edge = data.unit.scale * 0.03
    axes.set(xlim=(-edge, data.unit.scale + edge), ylim=(-edge, data.unit.scale + edge))
    axes.xaxis.set_major_formatter(_ticks(data))
    axes.grid(axis="x")
    _finish(data, axes)


def _segment(data: Data, axes: "Axes") -> None:
    """A scatter whose points are joined, in the sheet's order: from one state to the next."""
    places = [(across.value, along.value) for _, across, along in _crossed(data)]
    for start, end in pairwise(places):
        axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": MUTED})
    _scatter(data, axes)


def _crossed(data: Data) -> Iterator[tuple[str, Point, Point]]:
    """(series, across, along) of every series that has a member of both families."""
    across, along = data.plot.families[:2]
    for name, points in data.series.items():
        by_family = {point.x: point for point in points}
        if across in by_family and along in by_family:
            yield name, by_family[across], by_family[along]


def _widen(axes: "Axes") -> None:
    """Give a nearly constant curve a scale on which it looks nearly constant."""
    low, high = axes.get_ylim()
    missing = SMALLEST_SPAN - (high - low)
    if missing > 0:
        axes.set_ylim(low - missing / 2, high + missing / 2)


def _bars(data: Data, axes: "Axes") -> None:
    """Bars over a dimension with whiskers; series stand side by side and are hatched."""
    places = {x: float(i) for i, x in enumerate(dict.fromkeys(p.x for p in data.points))}
    width = 0.76 / len(data.series)
    for index, (style, label, points) in enumerate(_styled(data)):
        x = [places[p.x] + (index - (len(data.series) - 1) / 2) * width for p in points]
        axes.bar(x, _values(points), width * 0.92, label=label, **style.bar)
        axes.errorbar(x, _values(points), _whiskers(points), fmt="none", ecolor=INK,
                      elinewidth=0.9, capsize=2)  # fmt: skip
    labels = [show.short(_word(data.plot, x), 24) for x in places]
    crowded = sum(map(len, labels)) > 46
    axes.set_xticks(list(places.values()), labels, rotation=45 if crowded else 0,
                    ha="right" if crowded else "center", rotation_mode="anchor")  # fmt: skip
    _reference(data, axes.axhline)
    _finish(data, axes)


def _intervals(data: Data, axes: "Axes") -> None:
    """Named estimates, one a row: a dot with its interval."""
    groups = data.series.values() if data.plot.series else [data.points]
    styled = zip(SERIES, groups, strict=False)
    rows = [(style, point) for style, points in styled for point in points]
    _reference(data, axes.axvline)
    for y, (style, point) in enumerate(rows):
        axes.errorbar(point.value, y, xerr=_whiskers([point]), elinewidth=1.2, **style.dot)
    labels = [textwrap.fill(show.short(point.estimate.label, 76), 32) for _, point in rows]
    axes.set_yticks(range(len(rows)), labels, fontsize=6.3)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.margins(x=0.06)
    _finish(data, axes, horizontal=True)


def _heatmap(data: Data, axes: "Axes") -> None:
    """Numbers in a grid; above the reference they are set bold, so grey print still reads."""
    columns = sorted({p.x for p in data.points}, key=_order)
    rows = sorted({p.y for p in data.points}, key=_order)
    cells = {(p.x, p.y): p.value for p in data.points}
    grid = [[cells.get((x, y), math.nan) for x in columns] for y in rows]
    colours, norm = _colours(_values(data.points), data.reference)
    mesh = axes.pcolormesh(grid, cmap=colours, norm=norm, edgecolors=PAPER, linewidth=1)
    mesh.set_rasterized(False)
    size = 7 if len(columns) < 9 else 5.5
    for (y, line), (x, column) in product(enumerate(rows), enumerate(columns)):
        value, middle = cells.get((column, line)), data.reference
        text = show.in_cell(value, signed=middle == 0)
        if value is not None and data.unit.percent and len(columns) < 7:
            text += " %"
        dark = value is not None and sum(colours(norm(value))[:3]) < DARK
        above = value is not None and middle is not None and value > middle
        look: dict[str, Any] = {
            "color": "#ffffff" if dark else "#16191d",
            "fontweight": 600 if above else 400,
        }
        axes.text(x + 0.5, y + 0.5, text, ha="center", va="center", fontsize=size, **look)
    axes.set_xticks([i + 0.5 for i in range(len(columns))], [show.short(c, 12) for c in columns])
    axes.set_yticks([i + 0.5 for i in range(len(rows))], [show.short(r, 14) for r in rows])
    axes.invert_yaxis()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(_label(data.plot.x_label or data.plot.x))
    axes.set_ylabel(_label(data.plot.y_label or data.plot.y, _along(axes)))


def _colours(values: Sequence[float], middle: float | None) -> tuple[Any, Any]:
    """From pale to blue, or around a middle from pale blue over white to strong orange.

    Below the middle it stays pale, so that in grey print darker always means more.
    """
    from matplotlib.colors import LinearSegmentedColormap, Normalize, TwoSlopeNorm

    if middle is None:
        palette, norm = ["#f3f7fb", "#0b5cad"], Normalize(min(values), max(values) or 1.0)
        return LinearSegmentedColormap.from_list("pale", palette), norm
    reach = max(abs(value - middle) for value in values) or 1.0
    around = LinearSegmentedColormap.from_list("around", ["#cfe1f3", "#fbfbfb", "#dd7420"])
    return around, TwoSlopeNorm(middle, middle - reach, middle + reach)


KINDS: dict[str, Callable[[Data, "Axes"], None]] = {
    "line": _line,
    "heatmap": _heatmap,
    "intervals": _intervals,
    "bars": _bars,
    "stacked": _stacked,
    "scatter": _scatter,
    "segment": _segment,
}
"""Kind of figure -> how it is drawn."""


def _places(data: Data) -> dict[str, float]:
    """Where each value of x stands: at its number if all are numbers, else one after another."""
    numbers = {x: _number(x) for x in sorted({p.x for p in data.points}, key=_order)}
    if not data.plot.names and None not in numbers.values():
        return {x: number for x, number in numbers.items() if number is not None}
    return {name: float(i) for i, name in enumerate(dict.fromkeys(p.x for p in data.points))}


def _number(text: str) -> float | None:
    with suppress(ValueError):
        if abs(number := float(text)) < 1e6:
            return number
    return None


def _order(text: str) -> tuple[bool, float, str]:
    number = _number(text)
    return number is None, number or 0.0, text


def _dodge(index: int, data: Data) -> float:
    """Move series apart a little where their whiskers would hide each other."""
    places = sorted(_places(data).values())
    if not 2 <= len(places) <= CROWDED or len(data.series) < 2:
        return 0.0
    step = min(b - a for a, b in pairwise(places))
    return step * 0.08 * (index - (len(data.series) - 1) / 2)


def _reference(data: Data, line: Callable[..., Any]) -> None:
    if data.reference is not None:
        line(data.reference, color=MUTED, linewidth=0.9, linestyle=(0, (4, 2)), zorder=1)


def _finish(data: Data, axes: "Axes", *, horizontal: bool = False) -> None:
    """Grid, labels and, where there are several series, a legend above the plot."""
    axes.grid(axis="x" if horizontal else "y")
    axes.set_axisbelow(True)
    (axes.xaxis if horizontal else axes.yaxis).set_major_formatter(_ticks(data))
    axes.set_xlabel(_label(data.plot.x_label or ("" if horizontal else data.plot.x)))
    if data.plot.y_label:
        axes.set_ylabel(_label(data.plot.y_label, _along(axes)))
    if len(data.series) > 1 and not (horizontal and not data.plot.series):
        _legend(axes, 3 if sum(map(len, data.series)) < _LEGEND else 2)


def _legend(axes: "Axes", columns: int) -> None:
    axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=columns, borderpad=0,
                columnspacing=1.2, handletextpad=0.5)  # fmt: skip


def _along(axes: "Axes") -> int:
    """Characters for which there is room along the vertical axis."""
    return round(_UPRIGHT * axes.bbox.height / axes.figure.dpi)


def _label(text: str, width: int = 48) -> str:
    return "\n".join(textwrap.wrap(show.words(text), width)[:2])


def _ticks(data: Data) -> Callable[[float, float], str]:
    """How the numbers of the scale are printed; they are in the units of the drawing."""
    sign = " %" if data.unit.percent else ""
    return lambda number, _: f"{show.number(number)}{sign}"


def themed(svg: str) -> str:
    """The drawing with its colours as variables of the page."""

    def recoloured(text: str) -> str:
        for colour, variable in _THEME.items():
            text = text.replace(colour, f"var({variable})")
        return text

    return with_attributes(svg, lambda old: {name: recoloured(old[name]) for name in old})
