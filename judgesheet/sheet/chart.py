"""A chart as SVG: marks placed by the numbers of the data, two axes, and a legend of every sign.

All is said in attributes, as a strict content security policy refuses styles on elements, and in
shapes that every reader of SVG knows. Text stays text. How wide it gets is estimated for the widest
of the usual fonts, so that labels keep apart where Inter is missing. Lengths are in points.
"""

import math
import operator
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from markupsafe import Markup, escape

from judgesheet.sheet import show

# Paper is not #ffffff, which stays white on a dark page: words on dark cells have it.
INK, MUTED, GRID, PAPER = "#1a1d21", "#5b636d", "#d5d9de", "#fefefe"


@dataclass(frozen=True, slots=True)
class Style:
    """How a series looks: distinct from the others in grey and to colour-blind readers.

    `marker` is a path around a point; `dash` breaks its lines. `hatch` is what is left white of
    bars: a share of their width, and the dash that makes it rungs, windows or nothing but an edge.
    """

    colour: str
    marker: str
    dash: str | None = None
    hatch: tuple[float, str | None] | None = None


SERIES = (
    Style("#0b5cad", "m-2.4 0a2.4 2.4 0 1 0 4.8 0a2.4 2.4 0 1 0-4.8 0z"),
    Style("#b8480b", "m-2.2-2.2h4.4v4.4h-4.4z", "4.4 1.9", (1.0, "1 3")),
    Style("#0a7a5c", "m0-2.6l2.7 4.7h-5.4z", "1.2 2", (0.6, None)),
    Style("#7b3f98", "m0-2.9l2.9 2.9l-2.9 2.9l-2.9-2.9z", "7.7 1.9 1.2 1.9", (0.6, "4 4")),
    Style("#8a6d00", "m0 2.6l2.7-4.7h-5.4z", "6 1.2 1.2 1.2 1.2 1.2",
          (0.8, "4 1")),
    Style("#4d5560", "m-.9-2.7h1.8v1.8h1.8v1.8h-1.8v1.8h-1.8v-1.8h-1.8v-1.8h1.8z", "1.2 1.2",
          (0.3, "1.2 1.2")),
)  # fmt: skip
REFERENCE, MARK = Style(MUTED, "", "3.6 1.8"), Style(MUTED, "")
"""How a line to compare with is drawn, and one that stands for an estimate."""


Sample = Literal["line", "dot", "bar", "rule", "cell", "interval", "bound", "limit", "null", ""]


class Entry(NamedTuple):
    """A sign of the drawing with what it means; one without a `sample` is words alone."""

    sample: Sample
    style: Style
    name: str


_SAMPLES = {"dot": 5.0, "cell": 8.0, "null": 2.0, "": -3.0}
"""How wide the sample of a legend is, where it is no line."""
_THEME = {
    INK: "--ink", MUTED: "--muted", GRID: "--rule", PAPER: "--paper",
    "#0a6b4f": "--good", "#a6260d": "--bad", "#6b4e00": "--unknown", "#fdecea": "--loud",
    **{style.colour: f"--series-{i}" for i, style in enumerate(SERIES, 1)},
}  # fmt: skip
TYPE, LINE = 6.8, 7.9
"""Size of the type, and from one line of a text to the next."""
_ACROSS, _UPWARDS = 30.0, 13.0
"""Least distances between two numbers along an axis."""
_NARROW, _BROAD = frozenset("ijlftrI.,:;'!|()[]/ "), frozenset("mwMW%@…—−+=<>≤≥±")
_WIDE = r"\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef\U0001f000-\U0010ffff"
"""Characters that fill a square, between any two of which a line may end."""
_IS_WIDE = re.compile(f"[{_WIDE}]").match
_PIECES = re.compile(rf"[{_WIDE}]|[^\s{_WIDE}-]+-*|-+|\s+")
"""Where lines may end: behind a word, a hyphen, or a character of a script without spaces."""
_ON_CELLS = "#ffffff", "#16191d"
"""Words on dark and on pale cells, on any page."""
_DARK = 344
"""Sum of red, green and blue below which a colour takes white text."""
Place = tuple[float, float]
"""Numbers of the data, or coordinates on the paper: across, and down."""
Labels = Sequence[tuple[float, str]]
"""Numbers of an axis with what stands there, on one line or several."""


def themed(svg: str) -> str:
    """The drawing with its colours as variables of a page that has a dark mode.

    Only attributes have quotation marks: in texts they are escaped.
    """

    def variable(match: re.Match[str]) -> str:
        return f'"var({_THEME[match[1]]})"' if match[1] in _THEME else match[0]

    return re.sub('"(#[0-9a-f]{6})"', variable, svg)


def greyed(svg: str) -> str:
    """The drawing of what must not be used: signs and words in greys that can be read."""

    def grey(match: re.Match[str]) -> str:
        colour = match[1]
        if colour in (PAPER, GRID, *_ON_CELLS):
            return match[0]
        if colour in _THEME:
            return f'"{MUTED}"'
        light = round(sum(map(operator.mul, (0.3, 0.59, 0.11), bytes.fromhex(colour[1:]))))
        return f'"#{3 * f"{light:02x}"}"'

    return re.sub('"(#[0-9a-f]{6})"', grey, svg)


def text_width(text: str) -> float:
    """How wide the widest line of a text gets at most."""
    return TYPE * max((sum(map(_breadth, line)) for line in text.splitlines()), default=0.0)


def _breadth(character: str) -> float:
    """In sizes of type."""
    if character in _NARROW or character in _BROAD:
        return 0.42 if character in _NARROW else 0.99
    return 1.1 if _IS_WIDE(character) else 0.78 if character.isupper() else 0.64


def cut(text: str, width: float) -> str:
    """The text, or as much of it as fits that width before "…"."""
    if text_width(text) <= width:
        return text
    fits = (n for n in range(len(text), 0, -1) if text_width(f"{text[:n]}…") <= width)
    return f"{text[: next(fits, 0)].rstrip()}…"


def wrapped(text: str, width: float, most: int = 2) -> str:
    """The text on lines of that width; "…" where `most` of them are not enough."""
    lines = [""]
    for piece in _PIECES.findall(text):
        # A word that is wider than a line may break anywhere.
        for part in piece if text_width(piece) > width else [piece]:
            if text_width(lines[-1] + part) > width:
                lines.append("")
            lines[-1] += part if lines[-1] else part.lstrip()
    lines = [line.rstrip() for line in lines]
    if len(lines) > most:
        lines[most - 1 :] = [cut(" ".join(lines[most - 1 :]), width)]
    return "\n".join(lines)


def round_numbers(low: float, high: float, most: float) -> list[float]:
    """Round numbers at even distances from `low` to `high`, at most so many but two."""
    most = max(most, 2)
    power = math.floor(math.log10((high - low) / most))
    for step in (part * 10.0**p for p in (power, power + 1) for part in (1, 2, 2.5, 5)):
        # What is left of a step by rounding is no reason to leave out an end.
        numbers = range(math.ceil(low / step - 1e-6), math.floor(high / step + 1e-6) + 1)
        if len(numbers) <= most:
            return [number * step for number in numbers]
    return []


def short_number(number: float) -> str:
    """A coordinate with one decimal, a thirtieth of a millimetre."""
    return f"{number:.1f}".removesuffix(".0")


def mixed(start: str, end: str, part: float) -> str:
    """A colour so far between two others."""
    pairs = zip(bytes.fromhex(start), bytes.fromhex(end), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in pairs)


def path(*steps: str | float) -> str:
    """The steps of a path: letters and coordinates."""
    written = (step if isinstance(step, str) else short_number(step) for step in steps)
    return re.sub(r" ?([A-Za-z]) ?", r"\1", " ".join(written))


def element(tag: str, content: str = "", **attributes: str | None) -> Markup:
    """An element, escaped; `stroke_width` is written `stroke-width`, None is left out."""
    given = "".join(
        f' {name.strip("_").replace("_", "-")}="{escape(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    end = f">{escape(content)}</{tag}>" if content else "/>"
    return Markup(f"<{tag}{given}{end}")  # noqa: S704 (all of it is escaped)


@dataclass(frozen=True, slots=True)
class ChartAxis:
    """A direction: numbers from `low` to `high`, on paper from `start` to `end`.

    It is labelled at its `ticks`, or at round numbers `within` which there are any, each with a
    `sign`.
    """

    low: float
    high: float
    title: str = ""
    ticks: Labels = ()
    sign: str = ""
    grid: bool = False
    line: bool = True
    within: tuple[float, float] = (-math.inf, math.inf)
    start: float = 0.0
    end: float = 1.0

    def __call__(self, number: float) -> float:
        """Where a number stands."""
        part = (number - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)

    def labels(self, least: float) -> Labels:
        """The ticks, or round numbers with at least so much paper between them."""
        most = abs(self.end - self.start) / least
        if self.ticks:
            return self.ticks
        low, high = max(self.low, self.within[0]), min(self.high, self.within[1])
        numbers = round_numbers(low, high, most) if low < high else [low]
        return [(n, f"{show.number(n)}{self.sign}") for n in numbers]


class Canvas:
    """What is drawn on, `_width` by `_height` points: strokes, signs, words, and their legend."""

    def __init__(self, width: float, height: float = 0.0) -> None:
        self._drawn: list[Markup] = []
        self._width, self._height = width, height

    def svg(self, name: str, title: str, description: str) -> str:
        """The drawing; `name` is unique in the document and begins every id."""
        described = (
            element(tag, " ".join(text.split()), id=f"{name}-{tag}")
            for tag, text in (("title", title), ("desc", description))
        )
        return element(
            "svg", Markup().join([*described, *self._drawn]), xmlns="http://www.w3.org/2000/svg",
            viewBox=path(0.0, 0.0, self._width, self._height), role="img", class_="figure",
            aria_labelledby=f"{name}-title {name}-desc", fill=INK, font_size=short_number(TYPE),
            font_family="Inter, system-ui, sans-serif", text_anchor="middle",
        )  # fmt: skip

    def _legend(self, entries: Sequence[Entry], width: float) -> float:
        """Say what the signs mean, in lines of that width at the top; how high they are."""
        x, y = 0.0, 5.0
        for sample, style, name in entries:
            begin = _SAMPLES.get(sample, 14.0) + 3
            shown = cut(name, width - begin)
            end = begin + text_width(shown)
            if x and x + end > width:
                x, y = 0.0, y + 9
            self._sample(sample, style, x, y)
            self._text(shown, x + begin, y, text_anchor="start")
            x += end + 9
        return y + 8 if entries else 4.0

    def _sample(self, sample: str, style: Style, x: float, y: float) -> None:
        if sample in ("line", "rule"):
            self._stroke(path("M", x, y, "h", 14.0), style.colour, "1.2", style.dash)
        if sample == "line":
            self._stamp([(x + 7, y)], style)
        if sample == "dot":
            self._stamp([(x + 2.5, y)], style)
        if sample == "bar":
            self._bar(path("M", x, y, "h", 14.0), 5.0, style)
        if sample == "cell":
            steps = path("M", x, y - 3, "h", 8.0, "v", 6.0, "h", -8.0, "z")
            self._add("path", d=steps, fill=style.colour, stroke=GRID, stroke_width="0.6")

    def _add(self, tag: str, content: str = "", **attributes: str | None) -> None:
        self._drawn.append(element(tag, content, **attributes))

    def _stroke(self, steps: str, colour: str, width: str, dash: str | None = None) -> None:
        self._add("path", d=steps, fill="none", stroke=colour, stroke_width=width,
                  stroke_dasharray=dash)  # fmt: skip

    def _stamp(self, places: Iterable[Place], style: Style) -> None:
        """The marker of a style, at places on the paper."""
        steps = "".join(f"{path('M', *place)}{style.marker}" for place in places)
        self._add("path", d=steps, fill=style.colour)

    def _bar(self, steps: str, width: float, style: Style) -> None:
        """A wide line, and a second one on it for what is left white."""
        thick = short_number(width)
        self._add("path", d=steps, stroke=style.colour, stroke_width=thick, stroke_opacity="0.75")
        if style.hatch:
            share, dash = style.hatch
            self._stroke(steps, PAPER, short_number(share * width), dash)

    def _text(self, text: str, x: float, y: float, **look: str | None) -> None:
        """Lines around the height `y`."""
        lines = text.splitlines()
        for number, line in enumerate(lines):
            base = y + LINE * (number - (len(lines) - 1) / 2) + 0.36 * TYPE
            if line:
                self._add("text", line, x=short_number(x), y=short_number(base), **look)


class Chart(Canvas):
    """Marks within two axes; `x` and `y` say where a number stands on the paper.

    It gets higher than its `size` where less than `least` would be left between the axes.
    """

    def __init__(
        self,
        size: Place,
        x: ChartAxis,
        y: ChartAxis,
        legend: Sequence[Entry] = (),
        least: float = 30.0,
    ) -> None:
        super().__init__(size[0])
        top = self._legend(legend, self._width)
        under = wrapped(x.title, self._width)
        lines = max((label.count("\n") for _, label in x.ticks), default=0) + 1
        bottom = 3 + LINE * (lines + len(under.splitlines()))
        self._height = max(size[1], top + least + bottom)
        self.y = replace(y, start=self._height - bottom, end=top)
        beside = wrapped(y.title, self.y.start - top + 4)
        rows = self.y.labels(_UPWARDS)
        left = LINE * len(beside.splitlines()) + 5 + text_width("\n".join(t for _, t in rows))
        self.x = replace(x, start=left, end=self._width - 2)
        columns = self.x.labels(_ACROSS)
        for _ in range(2):  # no label may reach beyond the paper; as one end moves, all labels do
            halves = [(self.x(number), text_width(label) / 2) for number, label in columns]
            before = max((half - place for place, half in halves), default=0.0)
            after = max((half + place for place, half in halves), default=0.0) - self._width
            start, end = self.x.start + max(0.0, before), self.x.end - max(0.0, after)
            self.x = replace(self.x, start=start, end=end)
        self._rows(rows, beside)
        self._columns(columns, under)

    def _rows(self, labels: Labels, title: str) -> None:
        """The vertical axis: its labels, each with a line across, and its title."""
        x, y = self.x, self.y
        if y.grid:
            grid = (path("M", x.start, y(number), "H", x.end) for number, _ in labels)
            self._stroke("".join(grid), GRID, "0.5")
        if y.line:
            self._stroke(path("M", x.start, y.end, "V", y.start), MUTED, "0.6")
        for number, label in labels:
            self._text(label, x.start - 3, y(number), text_anchor="end")
        left, middle = LINE / 2 * len(title.splitlines()), (y.start + y.end) / 2
        self._text(title, left, middle, transform=f"rotate(-90 {path(left, middle)})")

    def _columns(self, labels: Labels, title: str) -> None:
        """The horizontal axis; labels that would touch the one before in a row are left out."""
        x, y, taken = self.x, self.y, [-math.inf, -math.inf]
        if x.grid:
            grid = (path("M", x(number), y.start, "V", y.end) for number, _ in labels)
            self._stroke("".join(grid), GRID, "0.5")
        if x.line:
            self._stroke(path("M", x.start, y.start, "H", x.end), MUTED, "0.6")
        for number, label in labels:
            # A label that begins with a line end stands in the lower of two rows.
            half, row = text_width(label) / 2, label.startswith("\n")
            if x(number) - half > taken[row]:
                taken[row] = x(number) + half + 2
                middle = y.start + 3 + LINE / 2 * len(label.splitlines())
                self._text(label, x(number), middle)
        half = text_width(title) / 2
        middle = max(half, min((x.start + x.end) / 2, self._width - half))
        self._text(title, middle, self._height - LINE / 2 * len(title.splitlines()))

    # -- marks, at the numbers of the data ---------------------------------------------------------

    def line(self, points: Sequence[Place], style: Style) -> None:
        """Points, joined."""
        self._stroke(self._joined(points), style.colour, "1.2", style.dash)
        self.dots(points, style)

    def dots(self, points: Iterable[Place], style: Style) -> None:
        """Points, each with the marker of its style."""
        self._stamp([(self.x(x), self.y(y)) for x, y in points], style)

    def intervals(self, ends: Iterable[tuple[Place, Place]], colour: str) -> None:
        """Lines with caps, upwards or across; nothing where both ends are the same."""
        steps = []
        for start, end in ends:
            cap = "m-2.2 0h4.4" if start[0] == end[0] else "m0-2.2v4.4"
            if start != end:
                caps = f"{self._joined([start])}{cap}{self._joined([end])}{cap}"
                steps.append(self._joined([start, end]) + caps)
        if steps:
            self._stroke("".join(steps), colour, "1")

    def area(self, corners: Iterable[Place], colour: str) -> None:
        """A pale area between corners."""
        self._add("path", d=f"{self._joined(corners)}z", fill=colour, fill_opacity="0.14")

    def rule(self, start: Place, end: Place, dash: str | None = "3.6 1.8") -> None:
        """A line to compare with."""
        self._stroke(self._joined([start, end]), MUTED, "0.9", dash)

    def bar(self, start: Place, end: Place, width: float, style: Style) -> None:
        """A bar of a width on the paper from one point to another."""
        self._bar(self._joined([start, end]), width, style)

    def cell(self, place: Place, text: str, fill: str | None, **look: str | None) -> None:
        """A text on a square of one unit around a place."""
        x, y = place
        if fill:
            corners = ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))
            steps = self._joined((x + right, y + down) for right, down in corners)
            self._add("path", d=f"{steps}z", fill=fill, stroke=PAPER)
            look["fill"] = _ON_CELLS[sum(bytes.fromhex(fill[1:])) >= _DARK]
        self._text(text, self.x(x), self.y(y), **look)

    def _joined(self, points: Iterable[Place]) -> str:
        """The path through points, given in numbers of the data."""
        return "M" + "L".join(path(self.x(x), self.y(y)) for x, y in points)
