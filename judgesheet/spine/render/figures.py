"""Figures as SVG whose text stays text, drawn from the same estimates that gates read.

A `records.Plot` names families of estimates; its kind is one of `KINDS`. Series differ by marker
and dash as well as by colour, a missing value is a gap with a note, and the same figure gives the
same bytes. Colours become CSS variables for a page that has a dark mode (`themed=True`).
"""

import io
import math
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from judgesheet.records import AxisResult, Estimate, Plot
from judgesheet.resources import template_dir
from judgesheet.spine.datasheet import family
from judgesheet.spine.render import show
from judgesheet.spine.render.svg import slim
from judgesheet.units import unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_SERIES, MOST_PLACES = 6, 24
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
# Lines only: a dotted hatch alone writes a hundred kilobytes of circles.
HATCHES = ("", "///", "|||", "\\\\\\", "xxx", "---")
_THEME = {
    INK: "--ink", MUTED: "--muted", GRID: "--rule", PAPER: "--paper",
    "#0a6b4f": "--good", "#a6260d": "--bad", "#6b4e00": "--unknown", "#fdecea": "--loud",
    **{colour: f"--series-{i}" for i, (colour, _, _) in enumerate(SERIES, 1)},
}  # fmt: skip
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "judgesheet",
    "font.family": ["Inter"],
    "font.size": 7,
    "axes.titlesize": 7,
    "axes.labelsize": 7,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "axes.unicode_minus": True,
    "figure.facecolor": "none",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.bottom": False,  # grid lines and labels say where a tick is
    "ytick.left": False,
    "grid.color": GRID,
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "legend.fontsize": 6.5,
    "legend.handlelength": 2.4,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "hatch.linewidth": 0.5,
}


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
    """What a figure draws: its points by series, in the sheet's order, and those without value."""

    figure: Plot
    series: dict[str, list[Point]] = field(default_factory=dict)
    gaps: list[Estimate] = field(default_factory=list)
    left_out: int = 0
    mark: Estimate | None = None

    @property
    def points(self) -> list[Point]:
        """Every point that has a value."""
        return [point for points in self.series.values() for point in points]

    @property
    def scale(self) -> float:
        """100 for shares, which are drawn in percent."""
        return unit(self.points[0].estimate.unit).scale if self.points else 1.0

    @property
    def reference(self) -> float | None:
        """The reference in the units of the drawing; equal shares where a distribution is drawn."""
        number = show.finite(self.figure.reference)
        return self._even_share() if number is None else number * self.scale

    def columns(self, points: Sequence[Point]) -> tuple[list[float], list[float], list[float]]:
        """Values, lows and highs of points in the units of the drawing."""
        numbers = [self.numbers(point.estimate) for point in points]
        return [n[0] for n in numbers], [n[1] for n in numbers], [n[2] for n in numbers]

    def _even_share(self) -> float | None:
        """1/n of the whole where the points, row by row, share out a whole among n places."""
        rows: dict[tuple[str, str], list[float]] = {}
        for name, points in self.series.items():
            for point in points:
                rows.setdefault((name, point.y), []).append(self.numbers(point.estimate)[0])
        places = len({point.x for point in self.points})
        whole = all(
            abs(sum(row) - self.scale) < 0.5 and len(row) == places for row in rows.values()
        )
        return self.scale / places if whole and self.scale > 1 and places > 1 else None

    def numbers(self, estimate: Estimate) -> tuple[float, float, float]:
        """Value, low and high in the units of the drawing; missing bounds equal the value."""
        value = show.finite(estimate.value) or 0.0
        low, high = show.finite(estimate.low), show.finite(estimate.high)
        low, high = (value, value) if low is None or high is None else (low, high)
        return value * self.scale, low * self.scale, high * self.scale


def draw(figure: Plot, result: AxisResult, name: str, *, themed: bool = False) -> Drawing:
    """Draw a figure of an axis; `name` is unique in the document and prefixes every id."""
    data = _collect(figure, result)
    title, caption = show.visible(figure.title, 120), show.visible(figure.caption, 600)
    notes = tuple(_notes(data))
    if not data.points or figure.kind not in KINDS:
        why = (
            f"no such kind of figure: {show.visible(figure.kind, 60)}"
            if data.points
            else "nothing to draw: none of its values was measured"
        )
        return Drawing(name, title, caption, notes=(why, *notes))
    description = _description(data)
    svg = slim(_plot(data), name, title, description)
    svg = themed_colours(svg) if themed else svg
    return Drawing(name, title, caption, description, svg, notes)


def _collect(figure: Plot, result: AxisResult) -> Data:
    """Sort the estimates of the figure's families into series."""
    data = Data(figure)
    wanted = {dim for dim in (figure.x, figure.y) if dim}
    data.mark = next((estimate for _, estimate in family(result, figure.mark)), None)
    for name in figure.families:
        for dims, estimate in family(result, name):
            if not wanted <= dims.keys() or not _kept(figure, dims):
                continue
            if show.finite(estimate.value) is None:
                data.gaps.append(estimate)
                continue
            point = Point(dims.get(figure.x, name), dims.get(figure.y, ""), estimate)
            data.series.setdefault(_series_name(figure, name, dims), []).append(point)
    _bound(data)
    return data


def _kept(figure: Plot, dims: Mapping[str, str]) -> bool:
    """Whether `figure.only` keeps a member; a dimension that it lacks is no reason against it."""
    rules = [rule.split("=", 1) for rule in figure.only]
    return all(dims.get(dim, value) == value for dim, value in rules)


def _series_name(figure: Plot, name: str, dims: Mapping[str, str]) -> str:
    """The value of the series dimension, then whatever else tells this member apart."""
    parts = [dims[figure.series]] if figure.series in dims else []
    if len(figure.families) > 1 and figure.x:
        parts.insert(0, show.words(name))
    known = {figure.x, figure.y, figure.series, *(rule.split("=")[0] for rule in figure.only)}
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
    if data.figure.kind == "intervals":
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

    for font in sorted((template_dir() / "fonts").glob("Inter-*.otf")):
        font_manager.fontManager.addfont(font)
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # glyphs that Inter lacks: the reader's fonts have them
        engine = ConstrainedLayoutEngine()
        canvas = Canvas(figsize=(WIDTH, HEIGHT * _stretch(data)), layout=engine)
        FigureCanvasSVG(canvas)
        KINDS[data.figure.kind](data, canvas.subplots())
        # Laid out once, here: left to `savefig`, everything would be drawn twice.
        engine.execute(canvas)
        canvas.set_layout_engine("none")
        out = io.StringIO()
        canvas.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def _stretch(data: Data) -> float:
    """How much higher than usual a figure with many rows is."""
    rows = {"intervals": len(data.points) / 4, "heatmap": len({p.y for p in data.points}) / 6}
    return max(1.0, rows.get(data.figure.kind, 0.0))


def _line(data: Data, axes: "Axes") -> None:
    """Points over a dimension, with whiskers, or with a band where they are many."""
    places = _places(data)
    _reference(data, axes, horizontal=True)
    for index, (name, points) in enumerate(data.series.items()):
        colour, marker, dash = SERIES[index % len(SERIES)]
        points = sorted(points, key=lambda point: places[point.x])
        x = [places[point.x] + _dodge(index, data) for point in points]
        value, low, high = data.columns(points)
        axes.plot(
            x,
            value,
            color=colour,
            marker=marker,
            linestyle=dash,
            label=show.short(name, 28) or None,
        )
        if len(places) > 6:
            axes.fill_between(x, low, high, color=colour, alpha=0.14, linewidth=0)
        else:
            below, above = _whiskers(value, low, high)
            axes.errorbar(x, value, [below, above], fmt="none", ecolor=colour, elinewidth=1,
                          capsize=2.2)  # fmt: skip
    axes.set_xticks(list(places.values()), [show.short(x, 14) for x in places])
    axes.margins(x=0.07)
    _mark(data, axes)
    _widen(axes)
    if data.scale > 1 and axes.get_ylim()[0] > 0:
        axes.set_ylim(bottom=0)
    _finish(data, axes, horizontal=False)


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
    for index, (name, points) in enumerate(data.series.items()):
        part, _, _ = data.columns(points)
        places = [rows.index(point.x) for point in points]
        starts = [ends[point.x] for point in points]
        axes.barh(
            places,
            part,
            0.62,
            starts,
            color=SERIES[index % len(SERIES)][0],
            alpha=0.75,
            label=show.short(name, 28) or None,
            hatch=HATCHES[index % len(HATCHES)],
            edgecolor=PAPER,
            linewidth=0,
        )
        for point, width in zip(points, part, strict=True):
            ends[point.x] += width
    axes.set_yticks(range(len(rows)), [show.short(show.words(row), 18) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, max(data.scale, *ends.values()))
    _finish(data, axes, horizontal=True)
    axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=2, borderpad=0,
                columnspacing=1.2, handletextpad=0.5)  # fmt: skip


def _scatter(data: Data, axes: "Axes") -> None:
    """One family against another, a point a series, intervals both ways."""
    for index, (name, across, along) in enumerate(_crossed(data)):
        colour, marker, _ = SERIES[index % len(SERIES)]
        (x, low, high), (y, lower, upper) = data.numbers(across), data.numbers(along)
        axes.errorbar([x], [y], [[max(y - lower, 0)], [max(upper - y, 0)]],
                      [[max(x - low, 0)], [max(high - x, 0)]], color=colour, marker=marker,
                      capsize=2.2, elinewidth=1, linestyle="none",
                      label=show.short(name, 28) or "baseline")  # fmt: skip
    edge = data.scale * 0.03
    axes.set(xlim=(-edge, data.scale + edge), ylim=(-edge, data.scale + edge))
    unit = "%" if data.scale > 1 else ""
    axes.xaxis.set_major_formatter(lambda number, _: _tick(number, unit))
    axes.grid(axis="x")
    _finish(data, axes, horizontal=False)


def _segment(data: Data, axes: "Axes") -> None:
    """A scatter whose points are joined, in the sheet's order: from one state to the next."""
    places = [(data.numbers(a)[0], data.numbers(b)[0]) for _, a, b in _crossed(data)]
    for start, end in pairwise(places):
        axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": MUTED})
    _scatter(data, axes)


def _crossed(data: Data) -> Iterator[tuple[str, Estimate, Estimate]]:
    """(series, across, along) of every series that has a member of both families."""
    across, along = data.figure.families[:2]
    for name, points in data.series.items():
        found = {point.x: point.estimate for point in points}
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
    for index, (name, points) in enumerate(data.series.items()):
        colour = SERIES[index % len(SERIES)][0]
        x = [places[p.x] + (index - (len(data.series) - 1) / 2) * width for p in points]
        value, low, high = data.columns(points)
        axes.bar(
            x,
            value,
            width * 0.92,
            color=colour,
            alpha=0.75,
            label=show.short(name, 28) or None,
            hatch=HATCHES[index % len(HATCHES)],
            edgecolor=PAPER,
            linewidth=0,
        )
        axes.errorbar(x, value, _whiskers(value, low, high), fmt="none", ecolor=INK,
                      elinewidth=0.9, capsize=2)  # fmt: skip
    labels = [show.short(x, 14) for x in places]
    crowded = sum(map(len, labels)) > 46
    axes.set_xticks(list(places.values()), labels, rotation=45 if crowded else 0,
                    ha="right" if crowded else "center", rotation_mode="anchor")  # fmt: skip
    _reference(data, axes, horizontal=True)
    _finish(data, axes, horizontal=False)


def _intervals(data: Data, axes: "Axes") -> None:
    """Named estimates, one a row: a dot with its interval."""
    rows = [
        (point, SERIES[index % len(SERIES)])
        for index, points in enumerate(
            data.series.values() if data.figure.series else [data.points]
        )
        for point in points
    ]
    _reference(data, axes, horizontal=False)
    for y, (point, (colour, marker, _)) in enumerate(rows):
        value, low, high = data.numbers(point.estimate)
        axes.errorbar([value], [y], xerr=[[max(value - low, 0)], [max(high - value, 0)]],
                      color=colour, marker=marker, capsize=2.2, elinewidth=1.2)  # fmt: skip
    labels = [textwrap.fill(show.short(p.estimate.label, 76), 32) for p, _ in rows]
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
    grid = [[float("nan")] * len(columns) for _ in rows]
    for point in data.points:
        grid[rows.index(point.y)][columns.index(point.x)] = data.numbers(point.estimate)[0]
    values = [data.numbers(point.estimate)[0] for point in data.points]
    colours, norm = _colours(values, data.reference)
    mesh = axes.pcolormesh(grid, cmap=colours, norm=norm, edgecolors=PAPER, linewidth=1)
    mesh.set_rasterized(False)
    for y, line in enumerate(grid):
        for x, value in enumerate(line):
            dark = sum(colours(norm(value))[:3]) < 1.35
            _number_in_cell(data, axes, (x, y), value, len(columns), dark=dark)
    axes.set_xticks([i + 0.5 for i in range(len(columns))], [show.short(c, 12) for c in columns])
    axes.set_yticks([i + 0.5 for i in range(len(rows))], [show.short(r, 14) for r in rows])
    axes.invert_yaxis()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(_label(data.figure.x_label or data.figure.x))
    axes.set_ylabel(_label(data.figure.y_label or data.figure.y))


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
    missing = math.isnan(value)
    text = "–" if missing else (f"{value:.0f}" if abs(value) >= 10 else f"{value:.2g}")
    if data.reference == 0 and not missing:  # a deviation: its sign says what its colour does
        text = f"{value:+.2f}".replace("-", "\N{MINUS SIGN}")
    if data.scale > 1 and columns < 7 and not missing:
        text += " %"
    above = data.reference is not None and not missing and value > data.reference
    axes.text(
        cell[0] + 0.5,
        cell[1] + 0.5,
        text,
        ha="center",
        va="center",
        color="#ffffff" if dark and not missing else "#16191d",
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
    if data.figure.x != "order" and all(_is_number(name) for name in names):
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
    if len(places) > 6 or len(places) < 2 or len(data.series) < 2:
        return 0.0
    step = min(b - a for a, b in pairwise(places))
    return step * 0.08 * (index - (len(data.series) - 1) / 2)


def _whiskers(
    value: Sequence[float], low: Sequence[float], high: Sequence[float]
) -> tuple[list[float], list[float]]:
    below = [max(v - bound, 0.0) for v, bound in zip(value, low, strict=True)]
    return below, [max(bound - v, 0.0) for v, bound in zip(value, high, strict=True)]


def _reference(data: Data, axes: "Axes", *, horizontal: bool) -> None:
    if data.reference is None:
        return
    line = axes.axhline if horizontal else axes.axvline
    line(data.reference, color=MUTED, linewidth=0.9, linestyle=(0, (4, 2)), zorder=1)


def _finish(data: Data, axes: "Axes", *, horizontal: bool) -> None:
    """Grid, labels and, where there are several series, a legend above the plot."""
    unit = "%" if data.scale > 1 else ""
    axes.grid(axis="x" if horizontal else "y")
    axes.set_axisbelow(True)
    value_axis = axes.xaxis if horizontal else axes.yaxis
    value_axis.set_major_formatter(lambda number, _: _tick(number, unit))
    across, along = (
        data.figure.x_label or ("" if horizontal else data.figure.x),
        data.figure.y_label,
    )
    axes.set_xlabel(_label(across))
    if along:
        axes.set_ylabel(_label(along, 18))
    if len(data.series) > 1 and not (horizontal and not data.figure.series):
        axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=3, borderpad=0,
                    columnspacing=1.2, handletextpad=0.5)  # fmt: skip


def _label(text: str, width: int = 48) -> str:
    return "\n".join(textwrap.wrap(show.words(text), width)[:2])


def _tick(number: float, unit: str) -> str:
    return f"{number:.6g}".replace("-", "\N{MINUS SIGN}") + (f" {unit}" if unit else "")


def themed_colours(svg: str) -> str:
    """The drawing with its colours as variables of the page."""
    for colour, variable in _THEME.items():
        svg = svg.replace(colour, f"var({variable})")
    return svg
