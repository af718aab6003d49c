"""Figures as SVG whose text stays text, drawn from the same estimates that gates read.

A `records.Plot` names families of estimates; its kind is one of `KINDS`. Series differ by marker
and dash as well as by colour, a missing value is a gap with a note, and the same figure gives the
same bytes. Colours become CSS variables for a page that has a dark mode (`themed=True`).
"""

import io
import math
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from judgesheet.keys import Key
from judgesheet.records import Estimate, Plot
from judgesheet.resources import data_folder
from judgesheet.spine.render import show
from judgesheet.spine.render.svg import slim
from judgesheet.units import Unit, unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_SERIES, MOST_PLACES = 6, 24
CROWDED = 6
"""Places beyond which whiskers give way to a band."""
WIDTH, HEIGHT = 3.46, 1.22
"""Inches: half the text width of A4 less the gutter, and low enough for four on page two."""

INK, MUTED, GRID, PAPER = "#1a1d21", "#5b636d", "#d5d9de", "#fefefe"
SERIES = (
    ("#0b5cad", "o", "-"),
    ("#b8480b", "s", "--"),
    ("#0a7a5c", "^", ":"),
    ("#7b3f98", "D", "-."),
    ("#8a6d00", "v", (0, (5, 1, 1, 1, 1, 1))),
    ("#4d5560", "P", (0, (1, 1))),
)
"""Colour, marker and dash of the series: distinct in grey and to colour-blind readers."""
SMALLEST_SPAN = 0.1
"""Least height of the vertical axis of a curve, in its own unit."""
DARK = 1.35
"""Sum of red, green and blue (0..1 each) below which a number is set in white."""
# Lines only: a dotted hatch alone writes a hundred kilobytes of circles.
HATCHES = ("", "///", "|||", "\\\\\\", "xxx", "---")
_THEME = {
    INK: "--ink", MUTED: "--muted", GRID: "--rule", PAPER: "--paper",
    "#0a6b4f": "--good", "#a6260d": "--bad", "#6b4e00": "--unknown", "#fdecea": "--loud",
    **{colour: f"--series-{i}" for i, (colour, _, _) in enumerate(SERIES, 1)},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure on paper: `svg` is "" where nothing was measured, `notes` name the gaps."""

    name: str
    title: str
    caption: str
    description: str = ""
    svg: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Point:
    """One estimate of a series, at its place on the horizontal axis."""

    x: str
    y: str
    estimate: Estimate


@dataclass(slots=True)
class Data:
    """What a plot draws: its points by series, in the sheet's order, and those without value."""

    plot: Plot
    series: dict[str, list[Point]] = field(default_factory=dict)
    gaps: list[Estimate] = field(default_factory=list)
    left_out: int = 0
    mark: Estimate | None = None

    @property
    def points(self) -> list[Point]:
        """Every point that has a value."""
        return [point for points in self.series.values() for point in points]

    @property
    def unit(self) -> Unit:
        """The unit of all that is drawn; shares are drawn in percent."""
        return unit(self.points[0].estimate.unit if self.points else "")

    @property
    def reference(self) -> float | None:
        """The reference in the units of the drawing; equal shares where a whole is shared out."""
        places = len({point.x for point in self.points})
        number = 1 / places if self.plot.even and places else show.finite(self.plot.reference)
        return None if number is None else number * self.unit.scale

    def columns(self, points: Sequence[Point]) -> "Columns":
        """Values, and the lengths of their whiskers, in the units of the drawing."""
        numbers = [self.numbers(point.estimate) for point in points]
        values = [value for value, _, _ in numbers]
        below = [max(value - low, 0.0) for value, low, _ in numbers]
        above = [max(high - value, 0.0) for value, _, high in numbers]
        return values, (below, above)

    def numbers(self, estimate: Estimate) -> tuple[float, float, float]:
        """Value, low and high in the units of the drawing; missing bounds equal the value."""
        value = show.finite(estimate.value) or 0.0
        low, high = show.finite(estimate.low), show.finite(estimate.high)
        low, high = (value, value) if low is None or high is None else (low, high)
        scale = self.unit.scale
        return value * scale, low * scale, high * scale

    def value(self, point: Point) -> float:
        """The value of a point in the units of the drawing."""
        return self.numbers(point.estimate)[0]


Columns = tuple[list[float], tuple[list[float], list[float]]]


def draw(plot: Plot, estimates: Iterable[Estimate], name: str, *, themed: bool = False) -> Drawing:
    """Draw a plot of these estimates; `name` is unique in the document and prefixes every id."""
    data = _collect(plot, estimates)
    title, caption = show.visible(plot.title, 120), show.visible(plot.caption, 600)
    notes = tuple(_notes(data))
    if not data.points or plot.kind not in KINDS:
        why = (
            f"no such kind of figure: {show.visible(plot.kind, 60)}"
            if data.points
            else "nothing to draw: none of its values was measured"
        )
        return Drawing(name, title, caption, notes=(why, *notes))
    description = _description(data)
    svg = slim(_plot(data), name, title, description)
    svg = themed_colours(svg) if themed else svg
    return Drawing(name, title, caption, description, svg, notes)


def _collect(plot: Plot, estimates: Iterable[Estimate]) -> Data:
    """Sort the estimates of the plot's families into series."""
    data = Data(plot)
    families: dict[str, list[tuple[Mapping[str, str], Estimate]]] = {}
    for estimate in estimates:
        key = Key.parse(estimate.key)
        families.setdefault(key.name, []).append((key.dims, estimate))
    data.mark = next((estimate for _, estimate in families.get(plot.mark, ())), None)
    wanted = {dim for dim in (plot.x, plot.y) if dim}
    for name in plot.families:
        for dims, estimate in families.get(name, ()):
            if not wanted <= dims.keys() or not _kept(plot, dims):
                continue
            if show.finite(estimate.value) is None:
                data.gaps.append(estimate)
                continue
            point = Point(dims.get(plot.x, name), dims.get(plot.y, ""), estimate)
            data.series.setdefault(_series_name(plot, name, dims), []).append(point)
    _bound(data)
    return data


def _kept(plot: Plot, dims: Mapping[str, str]) -> bool:
    """Whether the plot keeps a member; a dimension that it lacks is no reason against it."""
    return all(dims.get(dim, value) == value for dim, value in plot.having.items())


def _series_name(plot: Plot, name: str, dims: Mapping[str, str]) -> str:
    """The value of the series dimension, then whatever else tells this member apart."""
    parts = [dims[plot.series]] if plot.series in dims else []
    if len(plot.families) > 1 and plot.x:
        parts.insert(0, show.words(name))
    known = {plot.x, plot.y, plot.series, *plot.having}
    parts += [f"{dim} {value}" for dim, value in dims.items() if dim not in known]
    return ", ".join(parts)


def _notes(data: Data) -> Iterator[str]:
    """What the drawing does not show, and why."""
    for estimate in data.gaps[:3]:
        yield f"{show.visible(estimate.label, 80)}: {show.estimate(estimate).sentence}"
    if len(data.gaps) > 3:
        yield f"and {len(data.gaps) - 3} more that could not be measured"
    if data.left_out:
        yield f"{data.left_out} more are in the appendix only"


def _bound(data: Data) -> None:
    """Leave out what no reader could tell apart; the notes say how much that is."""
    total = len(data.points)
    places = list(dict.fromkeys(point.x for point in data.points))[:MOST_PLACES]
    rows = list(dict.fromkeys(point.y for point in data.points))[:MOST_PLACES]
    data.series = {
        name: [point for point in points if point.x in places and point.y in rows][: MOST_PLACES**2]
        for name, points in list(data.series.items())[:MOST_SERIES]
    }
    if data.plot.kind == "intervals":
        kept = data.points[:MOST_PLACES]
        data.series = {name: [p for p in ps if p in kept] for name, ps in data.series.items()}
    data.series = {name: points for name, points in data.series.items() if points}
    data.left_out = total - len(data.points)


def _description(data: Data) -> str:
    """What a reader who cannot see the figure is told."""
    shown = [
        f"{show.visible(point.estimate.label, 80)} {show.estimate(point.estimate).sentence}"
        for point in data.points[:8]
    ]
    more = len(data.points) - len(shown)
    return f"{'; '.join(shown)}{f'; and {more} more' if more > 0 else ''}."


# ------------------------------------------------------------------------------------- drawing


def _plot(data: Data) -> str:
    """The figure as matplotlib writes it."""
    import matplotlib as mpl
    from matplotlib import font_manager
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    for font in sorted((data_folder("templates") / "fonts").glob("Inter-*.otf")):
        font_manager.fontManager.addfont(font)
    with (
        mpl.rc_context(fname=data_folder("templates") / "figures.mplstyle"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # glyphs that Inter lacks: the reader's fonts have them
        engine = ConstrainedLayoutEngine()
        canvas = Canvas(figsize=(WIDTH, HEIGHT * _stretch(data)), layout=engine)
        FigureCanvasSVG(canvas)
        KINDS[data.plot.kind](data, canvas.subplots())
        # Laid out once, here: left to `savefig`, everything would be drawn twice.
        engine.execute(canvas)
        canvas.set_layout_engine("none")
        out = io.StringIO()
        canvas.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def _stretch(data: Data) -> float:
    """How much higher than usual a figure with many rows is."""
    rows = {"intervals": len(data.points) / 4, "heatmap": len({p.y for p in data.points}) / 6}
    return max(1.0, rows.get(data.plot.kind, 0.0))


@dataclass(frozen=True, slots=True)
class Style:
    """How a series is told from the others, without colour too."""

    label: str | None
    colour: str
    marker: str
    dash: Any
    hatch: str

    @property
    def bar(self) -> dict[str, Any]:
        """What matplotlib takes for bars."""
        return {"label": self.label, "color": self.colour, "hatch": self.hatch, "alpha": 0.75,
                "edgecolor": PAPER, "linewidth": 0}  # fmt: skip


def _style(index: int, name: str) -> Style:
    colour, marker, dash = SERIES[index % len(SERIES)]
    return Style(show.short(name, 28) or None, colour, marker, dash, HATCHES[index % len(HATCHES)])


def _styled(data: Data) -> Iterator[tuple[Style, list[Point]]]:
    for index, (name, points) in enumerate(data.series.items()):
        yield _style(index, name), points


def _line(data: Data, axes: "Axes") -> None:
    """Points over a dimension, with whiskers, or with a band where they are many."""
    places = _places(data)
    _reference(data, axes.axhline)
    for index, (style, points) in enumerate(_styled(data)):
        points = sorted(points, key=lambda point: places[point.x])
        x = [places[point.x] + _dodge(index, data) for point in points]
        value, whiskers = data.columns(points)
        axes.plot(
            x, value, color=style.colour, marker=style.marker, linestyle=style.dash,
            label=style.label,
        )  # fmt: skip
        if len(places) > CROWDED:
            low, high = zip(*(data.numbers(point.estimate)[1:] for point in points), strict=True)
            axes.fill_between(x, low, high, color=style.colour, alpha=0.14, linewidth=0)
        else:
            axes.errorbar(x, value, whiskers, fmt="none", ecolor=style.colour, elinewidth=1,
                          capsize=2.2)  # fmt: skip
    axes.set_xticks(list(places.values()), [show.short(x, 14) for x in places])
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
    for style, points in _styled(data):
        part, _ = data.columns(points)
        starts = [ends[point.x] for point in points]
        axes.barh([rows.index(point.x) for point in points], part, 0.62, starts, **style.bar)
        for point, width in zip(points, part, strict=True):
            ends[point.x] += width
    axes.set_yticks(range(len(rows)), [show.short(show.words(row), 18) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, max(data.unit.scale, *ends.values()))
    _finish(data, axes, horizontal=True)
    _legend(axes, 2)


def _scatter(data: Data, axes: "Axes") -> None:
    """One family against another, a point a series, intervals both ways."""
    for index, (name, across, along) in enumerate(_crossed(data)):
        style = _style(index, name)
        (x, x_whiskers), (y, y_whiskers) = data.columns([across]), data.columns([along])
        axes.errorbar(x, y, y_whiskers, x_whiskers, color=style.colour, marker=style.marker,
                      capsize=2.2, elinewidth=1, linestyle="none",
                      label=style.label or "baseline")  # fmt: skip
    edge = data.unit.scale * 0.03
    axes.set(xlim=(-edge, data.unit.scale + edge), ylim=(-edge, data.unit.scale + edge))
    axes.xaxis.set_major_formatter(_ticks(data))
    axes.grid(axis="x")
    _finish(data, axes)


def _segment(data: Data, axes: "Axes") -> None:
    """A scatter whose points are joined, in the sheet's order: from one state to the next."""
    places = [(data.value(across), data.value(along)) for _, across, along in _crossed(data)]
    for start, end in pairwise(places):
        axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": MUTED})
    _scatter(data, axes)


def _crossed(data: Data) -> Iterator[tuple[str, Point, Point]]:
    """(series, across, along) of every series that has a member of both families."""
    across, along = data.plot.families[:2]
    for name, points in data.series.items():
        found = {point.x: point for point in points}
        if across in found and along in found:
            yield name, found[across], found[along]


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
    for index, (style, points) in enumerate(_styled(data)):
        x = [places[p.x] + (index - (len(data.series) - 1) / 2) * width for p in points]
        value, whiskers = data.columns(points)
        axes.bar(x, value, width * 0.92, **style.bar)
        axes.errorbar(x, value, whiskers, fmt="none", ecolor=INK, elinewidth=0.9, capsize=2)
    labels = [show.short(x, 14) for x in places]
    crowded = sum(map(len, labels)) > 46
    axes.set_xticks(list(places.values()), labels, rotation=45 if crowded else 0,
                    ha="right" if crowded else "center", rotation_mode="anchor")  # fmt: skip
    _reference(data, axes.axhline)
    _finish(data, axes)


def _intervals(data: Data, axes: "Axes") -> None:
    """Named estimates, one a row: a dot with its interval."""
    groups = data.series.values() if data.plot.series else [data.points]
    rows = [(_style(i, ""), point) for i, points in enumerate(groups) for point in points]
    _reference(data, axes.axvline)
    for y, (style, point) in enumerate(rows):
        value, whiskers = data.columns([point])
        axes.errorbar(value, [y], xerr=whiskers, color=style.colour, marker=style.marker,
                      capsize=2.2, elinewidth=1.2)  # fmt: skip
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
    grid = [[math.nan] * len(columns) for _ in rows]
    for point in data.points:
        grid[rows.index(point.y)][columns.index(point.x)] = data.value(point)
    colours, norm = _colours([data.value(point) for point in data.points], data.reference)
    mesh = axes.pcolormesh(grid, cmap=colours, norm=norm, edgecolors=PAPER, linewidth=1)
    mesh.set_rasterized(False)
    for y, line in enumerate(grid):
        for x, value in enumerate(line):
            dark = sum(colours(norm(value))[:3]) < DARK
            _number_in_cell(data, axes, (x, y), value, len(columns), dark=dark)
    axes.set_xticks([i + 0.5 for i in range(len(columns))], [show.short(c, 12) for c in columns])
    axes.set_yticks([i + 0.5 for i in range(len(rows))], [show.short(r, 14) for r in rows])
    axes.invert_yaxis()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(_label(data.plot.x_label or data.plot.x))
    axes.set_ylabel(_label(data.plot.y_label or data.plot.y))


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


def _number_in_cell(
    data: Data, axes: "Axes", cell: tuple[int, int], value: float, columns: int, *, dark: bool
) -> None:
    middle, known = data.reference, show.finite(value)
    text = show.in_cell(known, signed=middle == 0)
    if data.unit.percent and columns < 7 and known is not None:
        text += " %"
    above = middle is not None and known is not None and known > middle
    axes.text(
        cell[0] + 0.5,
        cell[1] + 0.5,
        text,
        ha="center",
        va="center",
        color="#ffffff" if dark and known is not None else "#16191d",
        fontsize=7 if columns < 9 else 5.5,
        fontweight=600 if above else 400,
    )


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
    names = sorted({point.x for point in data.points}, key=_order)
    if not data.plot.names and all(map(_is_number, names)):
        return {name: float(name) for name in names}
    return {name: float(i) for i, name in enumerate(dict.fromkeys(p.x for p in data.points))}


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < 1e6
    except ValueError:
        return False


def _order(text: str) -> tuple[bool, float, str]:
    return (False, float(text), text) if _is_number(text) else (True, 0.0, text)


def _dodge(index: int, data: Data) -> float:
    """Move series apart a little where their whiskers would hide each other."""
    places = sorted(_places(data).values())
    if len(places) > CROWDED or len(places) < 2 or len(data.series) < 2:
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
        axes.set_ylabel(_label(data.plot.y_label, 18))
    if len(data.series) > 1 and not (horizontal and not data.plot.series):
        _legend(axes, 3)


def _legend(axes: "Axes", columns: int) -> None:
    axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=columns, borderpad=0,
                columnspacing=1.2, handletextpad=0.5)  # fmt: skip


def _label(text: str, width: int = 48) -> str:
    return "\n".join(textwrap.wrap(show.words(text), width)[:2])


def _ticks(data: Data) -> Callable[[float, float], str]:
    """How the numbers of the scale are printed; they are in the units of the drawing."""
    sign = " %" if data.unit.percent else ""
    return lambda number, _: f"{show.number(number)}{sign}"


def themed_colours(svg: str) -> str:
    """The drawing with its colours as variables of the page."""
    for colour, variable in _THEME.items():
        svg = svg.replace(colour, f"var({variable})")
    return svg
