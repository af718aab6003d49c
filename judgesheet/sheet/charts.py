"""Charts as SVG: colours and type are names of the theme (`templates/theme.css`), text stays text.

All is said in attributes, as a strict content policy refuses styles on elements. A chart draws what
was measured and may be used; where that is nothing there is no chart. Lengths are those of the
view box, a third of a point more or less.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup, escape

from judgesheet.base.digits import percent, two_digits
from judgesheet.base.estimates import Estimates
from judgesheet.base.limits import MOST_DRAWN, MOST_IN_A_LIST
from judgesheet.base.records import AxisResult, Datasheet, Estimate
from judgesheet.sheet import show

WIDTH, WIDE, SIZE = 300.0, 660.0, 9.0
"""Of a chart, of one across the page, and of the type."""
INK, MUTED, RULE, BAD, GOOD = (f"var(--{name})" for name in ("ink", "muted", "rule", "bad", "good"))
UNKNOWN, PAPER = "var(--unknown)", "var(--paper)"
MARKERS = (
    "m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0z",
    "m-2.3-2.3h4.6v4.6h-4.6z",
    "m0-2.9l2.8 4.8h-5.6z",
    "m0-3l3 3l-3 3l-3-3z",
)
DASHES = (None, "5 2", "1.5 2", "8 2 1.5 2")
"""By the number of a series, so that colour is never the only difference."""
SCALE_END = 1.6
"""How much of a limit a bar can show; what goes beyond ends in an arrow."""


class Chart(NamedTuple):
    """A drawing; `about` says in words what it shows, `caption` how to read it."""

    name: str
    title: str
    caption: str
    svg: Markup


class Point(NamedTuple):
    """A value at a place, with the ends of its interval where it has one."""

    x: float
    value: float
    low: float | None = None
    high: float | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """The interval, or the value twice."""
        return (
            self.value if self.low is None else self.low,
            self.value if self.high is None else self.high,
        )


class LimitRow(NamedTuple):
    """A limit of a policy: the share of it that is used by the bound that decides.

    `share` None means that nothing is known, or that what is shown has no limit.
    """

    label: str
    share: float | None
    colour: str
    bound: str
    limit: str
    required: bool


# -- what is drawn on ------------------------------------------------------------------------------


class Canvas:
    """Strokes, shapes and words on a view box."""

    def __init__(self, width: float, height: float) -> None:
        self._drawn: list[Markup] = []
        self.width, self.height = width, height

    def add(self, tag: str, text: str = "", **attributes: str | float | None) -> None:
        """An element, escaped; `stroke_width` is written `stroke-width`, None is left out."""
        self._drawn.append(_element(tag, escape(text), attributes))

    def text(self, text: str, x: float, y: float, **look: str | float | None) -> None:
        """Words around the height `y`."""
        self.add("text", text, x=x, y=y + SIZE / 3, **look)

    def line(
        self, path: str, colour: str = MUTED, width: float = 0.7, dash: str | None = None
    ) -> None:
        """A stroke."""
        self.add(
            "path", d=path, fill="none", stroke=colour, stroke_width=width, stroke_dasharray=dash
        )

    def svg(self, title: str) -> Markup:
        """The drawing; its title is what is read aloud."""
        drawn = Markup().join([_element("title", escape(title), {}), *self._drawn])
        box = f"0 0 {self.width:g} {self.height:g}"
        return _element("svg", drawn, {
            "xmlns": "http://www.w3.org/2000/svg", "viewBox": box, "role": "img", "class": "chart",
            "fill": INK, "font-family": "var(--font)", "font-size": SIZE, "text-anchor": "middle",
        })  # fmt: skip


def _element(tag: str, content: Markup, attributes: Mapping[str, str | float | None]) -> Markup:
    given = "".join(
        f' {name.strip("_").replace("_", "-")}="{escape(_short(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{tag}{given}>{content}</{tag}>")  # noqa: S704 (all of it is escaped)


def _short(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers from `low` to `high`, on paper from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, number: float) -> float:
        """Where a number stands; what is beyond the scale stands at its end."""
        part = (min(max(number, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers at even distances, at most so many."""
    power = math.floor(math.log10((high - low) / most))
    for step in (part * 10.0**p for p in (power, power + 1) for part in (1, 2, 2.5, 5)):
        numbers = range(math.ceil(low / step - 1e-6), math.floor(high / step + 1e-6) + 1)
        if len(numbers) <= most:
            return [number * step for number in numbers]
    return []


def _around(points: Iterable[Point], *also: float) -> tuple[float, float]:
    """The least and the greatest number, with some room."""
    ends = [end for point in points for end in point.ends] + [*also]
    low, high = min(ends), max(ends)
    room = (high - low or 1.0) * 0.06
    return (low if low == 0 else low - room), (high if high == 1 else high + room)


# -- forms -----------------------------------------------------------------------------------------

Says = Callable[[float], str]


def lines(
    title: str,
    series: Mapping[str, Sequence[Point]],
    x_label: str,
    says: Says = percent,
    *,
    reference: tuple[float, str] | None = None,
    mark: Point | None = None,
    names: Sequence[str] = (),
    also: Sequence[float] = (),
) -> Markup:
    """A line per series over numbers, or over `names`; `mark` is a number across, drawn upright."""
    shown = dict([*series.items()][: len(MARKERS)])
    points = [point for of in shown.values() for point in of]
    canvas = Canvas(WIDTH, 170.0)
    top = _legend(canvas, list(shown)) if len(shown) > 1 else 8.0
    places = sorted({point.x for point in points})
    low, high = _around(points, *also, *((reference[0],) if reference else ()))
    x = Scale(places[0] - 0.3, places[-1] + 0.3, 34.0, WIDTH - 6)
    y = Scale(low, high, canvas.height - 26, top)
    for number in ticks(low, high):
        canvas.line(f"M{x.start} {y(number):.1f}H{x.end}", RULE, 0.5)
        canvas.text(says(number), x.start - 4, y(number), text_anchor="end")
    for at in places:
        text = names[int(at)] if names else f"{at:g}"
        canvas.text(show.short(text, 14), x(at), canvas.height - 18)
    canvas.text(x_label, (x.start + x.end) / 2, canvas.height - 6, fill=MUTED)
    if reference is not None:
        canvas.line(f"M{x.start} {y(reference[0]):.1f}H{x.end}", MUTED, 1.0, "4 2")
        canvas.text(reference[1], x.end, y(reference[0]) - 6, text_anchor="end", fill=MUTED)
    if mark is not None:
        canvas.line(f"M{x(mark.value):.1f} {y.start}V{y.end}", BAD, 1.0)
        left, right = mark.ends
        canvas.line(f"M{x(left):.1f} {y.start - 3}H{x(right):.1f}", BAD, 2.0)
    for number, of in enumerate(shown.values()):
        _series(canvas, [*of], number, x, y)
    return canvas.svg(title)


def _series(canvas: Canvas, points: Sequence[Point], number: int, x: Scale, y: Scale) -> None:
    colour = f"var(--series-{number + 1})"
    # Side by side, so that no interval hides another.
    places = [(x(point.x) + 3.0 * number, y(point.value)) for point in points]
    path = "L".join(f"{across:.1f} {down:.1f}" for across, down in places)
    canvas.line(f"M{path}", colour, 1.2, DASHES[number])
    for (across, _), point in zip(places, points, strict=True):
        if point.low is not None and point.high is not None:
            canvas.line(f"M{across:.1f} {y(point.low):.1f}V{y(point.high):.1f}", colour, 1.0)
    stamps = "".join(f"M{across:.1f} {down:.1f}{MARKERS[number]}" for across, down in places)
    canvas.add("path", d=stamps, fill=colour)


def _legend(canvas: Canvas, names: Sequence[str]) -> float:
    """What the series are called, two in a line; how high that is."""
    for number, name in enumerate(names):
        left, down = (number % 2) * canvas.width / 2, 7.0 + number // 2 * 12
        colour = f"var(--series-{number + 1})"
        canvas.line(f"M{left + 2} {down}h16", colour, 1.2, DASHES[number])
        canvas.add("path", d=f"M{left + 10} {down}{MARKERS[number]}", fill=colour)
        canvas.text(show.short(name, 26), left + 22, down, text_anchor="start")
    return 16.0 + (len(names) - 1) // 2 * 12


def intervals(
    title: str,
    rows: Sequence[tuple[str, Point]],
    x_label: str,
    says: Says = percent,
    reference: float | None = None,
    also: Sequence[float] = (),
) -> Markup:
    """A dot with its interval per row."""
    canvas = Canvas(WIDTH, 16.0 * len(rows) + 32)
    x = Scale(*_around((point for _, point in rows), *also), 118.0, WIDTH - 14)
    bottom = canvas.height - 28
    for number in ticks(x.low, x.high, 5):
        canvas.line(f"M{x(number):.1f} 4V{bottom}", RULE, 0.5)
        canvas.text(says(number), x(number), bottom + 8)
    canvas.text(x_label, (x.start + x.end) / 2, canvas.height - 6, fill=MUTED)
    if reference is not None:
        canvas.line(f"M{x(reference):.1f} 4V{bottom}", MUTED, 1.0, "4 2")
    for number, (label, point) in enumerate(rows):
        down, (low, high) = 12.0 + 16 * number, point.ends
        canvas.text(show.short(label, 24), 112, down, text_anchor="end")
        canvas.line(f"M{x(low):.1f} {down}H{x(high):.1f}", "var(--series-1)", 1.2)
        canvas.add("path", d=f"M{x(point.value):.1f} {down}{MARKERS[0]}", fill="var(--series-1)")
    return canvas.svg(title)


def stacked(
    title: str, bars: Mapping[str, Sequence[float]], parts: Sequence[tuple[str, str]]
) -> Markup:
    """A bar of shares per row; `parts` are the names and the colours of the shares."""
    canvas = Canvas(WIDTH, 26.0 * len(bars) + 8 + 12 * math.ceil(len(parts) / 2))
    x = Scale(0.0, 1.0, 92.0, WIDTH - 2)
    for row, (label, shares) in enumerate(bars.items()):
        down, done = 4.0 + 26 * row, 0.0
        canvas.text(show.short(label, 20), 86, down + 10, text_anchor="end")
        for share, (_, colour) in zip(shares, parts, strict=True):
            left, right = x(done), x(done + share)
            canvas.add("rect", x=left, y=down, width=right - left, height=20.0, fill=colour,
                       fill_opacity="0.5", stroke=PAPER, stroke_width=0.6)  # fmt: skip
            if right - left > 26:
                canvas.text(percent(share), (left + right) / 2, down + 10)
            done += share
    for number, (name, colour) in enumerate(parts):
        left = (number % 2) * WIDTH / 2
        down = canvas.height - 12 * (math.ceil(len(parts) / 2) - number // 2) + 5
        canvas.add(
            "rect", x=left, y=down - 4, width=8.0, height=8.0, fill=colour, fill_opacity="0.5"
        )
        canvas.text(name, left + 12, down, text_anchor="start")
    return canvas.svg(title)


def cells(
    title: str, rows: Mapping[str, Mapping[str, float]], columns: Sequence[str], x_label: str
) -> Markup:
    """Deviations from zero as coloured cells, the number in each."""
    canvas = Canvas(WIDTH, 16.0 * len(rows) + 30)
    most = max((abs(value) for row in rows.values() for value in row.values()), default=0.0) or 1.0
    left, wide = 100.0, (WIDTH - 102) / len(columns)
    for at, name in enumerate(columns):
        canvas.text(show.short(name, 8), left + wide * (at + 0.5), canvas.height - 20)
    canvas.text(x_label, left + wide * len(columns) / 2, canvas.height - 7, fill=MUTED)
    for number, (label, row) in enumerate(rows.items()):
        down = 2.0 + 16 * number
        canvas.text(show.short(label, 20), left - 6, down + 8, text_anchor="end")
        for at, name in enumerate(columns):
            if (value := row.get(name)) is not None:
                colour = "var(--series-2)" if value > 0 else "var(--series-1)"
                canvas.add("rect", x=left + wide * at, y=down, width=wide - 1, height=15.0,
                           fill=colour, fill_opacity=f"{0.6 * abs(value) / most:.2f}")  # fmt: skip
                canvas.text(show.signed(value), left + wide * (at + 0.5), down + 7.5)
    return canvas.svg(title)


def limits(title: str, rows: Sequence[LimitRow], folded: str) -> Markup:
    """How much of each limit the bound uses that decides: all limits on one scale."""
    canvas = Canvas(WIDE, 15.0 * len(rows) + 36)
    x = Scale(0.0, SCALE_END, 342.0, 464.0)
    bottom = 16.0 + 15 * len(rows)
    canvas.text("bound", 562, 6, text_anchor="end", fill=MUTED)
    canvas.text("limit", 658, 6, text_anchor="end", fill=MUTED)
    for share, colour in ((0.0, RULE), (0.5, RULE), (1.0, INK), (1.5, RULE)):
        canvas.line(f"M{x(share):.1f} 12V{bottom}", colour, 0.8)
        canvas.text(f"{100 * share:.0f} %", x(share), bottom + 7, fill=MUTED)
    canvas.text(folded, 324, bottom + 7, text_anchor="end", fill=MUTED)
    for number, row in enumerate(rows):
        down, weight = 20.0 + 15 * number, "600" if row.required else None
        whole = show.short(row.label, 200)
        # What tells labels apart stands at their end.
        label = whole if len(whole) <= 64 else f"{whole[:32]}…{whole[-31:]}"
        canvas.text(label, 336, down, text_anchor="end", font_weight=weight)
        canvas.text(row.bound, 562, down, text_anchor="end", fill=row.colour, font_weight=weight)
        canvas.text(row.limit, 658, down, text_anchor="end", font_weight=weight)
        if row.share is None:
            canvas.line(f"M{x(0)} {down}H{x(SCALE_END)}", row.colour, 1.0, "2 3")
            continue
        end = x(max(row.share, 0.0))
        canvas.line(f"M{x(0)} {down}H{end:.1f}", row.colour, 6.0)
        canvas.line(f"M{end:.1f} {down - 5}v10", row.colour, 2.0)
        if row.share > SCALE_END:
            canvas.add("path", d=f"M{end:.1f} {down - 5}l5 5l-5 5z", fill=row.colour)
    return canvas.svg(title)


def scatter(
    title: str, dots: Sequence[tuple[str, Point, Point]], x_label: str, y_label: str
) -> Markup:
    """A dot per name at two shares, each with its interval."""
    canvas = Canvas(WIDTH * 1.4, 230.0)
    x, y = Scale(0.0, 1.0, 40.0, canvas.width - 10), Scale(0.0, 1.0, 196.0, 8.0)
    for number in (0.0, 0.25, 0.5, 0.75, 1.0):
        canvas.line(
            f"M{x(number):.1f} {y.start}V{y.end}M{x.start} {y(number):.1f}H{x.end}", RULE, 0.5
        )
        canvas.text(percent(number), x(number), y.start + 9)
        canvas.text(percent(number), x.start - 4, y(number), text_anchor="end")
    canvas.text(x_label, (x.start + x.end) / 2, y.start + 22, fill=MUTED)
    canvas.text(y_label, 10, 102, fill=MUTED, transform="rotate(-90 10 102)")
    for number, (name, across, up) in enumerate(dots[:MOST_DRAWN]):
        look = number % len(MARKERS)
        colour, (left, right), (low, high) = f"var(--series-{look + 1})", across.ends, up.ends
        at = f"{x(across.value):.1f} {y(up.value):.1f}"
        cross = f"M{x(left):.1f} {y(up.value):.1f}H{x(right):.1f}"
        canvas.line(f"{cross}M{x(across.value):.1f} {y(low):.1f}V{y(high):.1f}", colour, 0.6)
        canvas.add("path", d=f"M{at}{MARKERS[look]}", fill=colour)
        # Names of neighbours stand on both sides.
        side = {"x": x(across.value) + 6, "text_anchor": "start"}
        if across.value > 0.7 or (number % 2 and across.value > 0.3):
            side = {"x": x(across.value) - 6, "text_anchor": "end"}
        canvas.text(show.short(name, 26), y=y(up.value) - 6, **side)  # type: ignore[arg-type]
    return canvas.svg(title)


# -- what is drawn of a sheet ----------------------------------------------------------------------


def charts(sheet: Datasheet) -> tuple[Chart, ...]:
    """The charts of a sheet, in the order of the papers' questions: any axis with such figures."""
    usable = [(axis, _usable(axis)) for axis in sheet.axes]
    drawn = (draw(axis, known) for draw in _KINDS for axis, known in usable)
    return tuple(chart for chart in drawn if chart is not None)


def _usable(axis: AxisResult) -> Estimates:
    known = (one for one in axis.estimates if one.value is not None)
    return Estimates(axis.name, (one for one in known if not axis.void_reason(one.key)))


def _point(estimate: Estimate, x: float = 0.0) -> Point:
    return Point(x, estimate.value or 0.0, estimate.low, estimate.high)


def _along(estimates: Estimates, name: str, dim: str, **having: str) -> list[Point]:
    """The members of a family along a dimension, where no other is left open."""
    members = estimates.family(name, **having)
    found = [(_number(dims[dim]), one) for dims, one in members if {*dims} == {dim, *having}]
    return sorted(_point(one, number) for number, one in found if number is not None)


def _number(text: str) -> float | None:
    with suppress(ValueError):
        return number if math.isfinite(number := float(text)) else None
    return None


def _several(series: Mapping[str, list[Point]]) -> dict[str, list[Point]]:
    """The series that have any points; none where no series has two."""
    some = {name: points for name, points in series.items() if points}
    return some if any(len(points) > 1 for points in some.values()) else {}


PARTS = {
    "stable_cross_sensitivity": ("same response wins twice", "var(--series-1)"),
    "positional_false_preference": ("same place wins twice", "var(--series-2)"),
    "one_sided_commit": ("a tie in one order only", "var(--series-5)"),
    "other_conflict": ("an invalid answer", "var(--series-6)"),
    "no_preference": ("a tie in both orders", "var(--series-3)"),
}
"""What two verdicts on a pair can say, and its colour."""
SETS = {
    "same content": {"set": "same_subset"},
    "other content": {"set": "different_subset"},
    "your pairs": {"set": "natural"},
    "strict prompt": {"set": "same_subset", "prompt": "strict"},
}
KINDS = {
    "length": "padded", "format": "with markup", "confident": "sure tone",
    "unsure": "unsure tone", "authority": "names an authority",
    "instruction": "note to the judge", "hidden": "hidden note",
}  # fmt: skip
"""How a response can look."""


def _pairs(_: AxisResult, e: Estimates) -> Chart | None:
    found = {label: [e.known(name, **dims) for name in PARTS] for label, dims in SETS.items()}
    bars = {
        label: [one.value or 0.0 for one in known if one is not None]
        for label, known in found.items()
        if all(known)
    }
    title = "Two equally good responses, asked in both orders"
    caption = "Only ties in both orders are right between equals (SCS, PFP, OSC, other, NP)."
    return Chart("pairs", title, caption, stacked(title, bars, [*PARTS.values()])) if bars else None


def _ladder(_: AxisResult, e: Estimates) -> Chart | None:
    series = _several(
        {
            "usual prompt": _along(e, "target_sensitivity", "delta"),
            "strict prompt": _along(e, "target_sensitivity", "delta", prompt="strict"),
        }
    )
    if not series:
        return None
    seen = e.known("threshold75")
    mark = None if seen is None else _point(seen)
    title = "The better response is chosen"
    caption = "By how many required points it states more; a tie is a miss."
    note = " The upright line is the smallest difference seen in 75 % (Δ75)." if mark else ""
    line = 0.75, "75 %"
    drawn = lines(title, series, "points more", mark=mark, reference=line, also=(0.0, 1.0))
    return Chart("ladder", title, caption + note, drawn)


def _places(_: AxisResult, e: Estimates) -> Chart | None:
    points = _along(e, "position_share", "position")
    if len(points) < 2:
        return None
    title, line = "Where the chosen score stood in the rubric", (1 / len(points), "even")
    drawn = lines(title, {"": points}, "place in the rubric", reference=line, also=(0.0,))
    return Chart("places", title, "A judge that reads the content stays on the dashed line.", drawn)


def _criteria(_: AxisResult, e: Estimates) -> Chart | None:
    rows: dict[str, dict[str, float]] = {}
    for dims, one in e.family("position_shift"):
        rows.setdefault(dims["criterion"], {})[dims["position"]] = one.value or 0.0
    columns = [*dict.fromkeys(place for row in rows.values() for place in row)]
    if len(columns) < 2:
        return None
    title = "A criterion's score by its place in the list"
    caption = "Points above (+) or below the criterion's mean; reading noise is in them, too."
    shown = dict([*rows.items()][:MOST_DRAWN])
    drawn = cells(title, shown, columns[:MOST_IN_A_LIST], "place in the list")
    return Chart("criteria", title, caption, drawn)


def _budget(axis: AxisResult, e: Estimates) -> Chart | None:
    arms = {"balanced": "balanced orders", "random": "random orders", "fixed": "one order"}
    series = _several({name: _along(e, "budget_r", "k", arm=arm) for arm, name in arms.items()})
    if not series:
        return None
    title = f"How many readings are enough? {show.short(axis.title, 40)}"
    drawn = lines(title, series, "readings averaged", two_digits)
    return Chart("budget", title, "Correlation of the mean score with quality (r).", drawn)


def _lists(_: AxisResult, e: Estimates) -> Chart | None:
    arms = {"permuted": "other orders", "repeated": "the same order again"}
    first = _along(e, "accuracy", "k", arm="direct")
    series = _several({n: first + _along(e, "accuracy", "k", arm=arm) for arm, n in arms.items()})
    if not series:
        return None
    title, chance = "The right answer of a list is chosen", e.known("chance_accuracy")
    line = None if chance is None else (chance.value or 0.0, "by chance")
    drawn = lines(title, series, "calls per decision", reference=line, also=(1.0,))
    return Chart("lists", title, "By how many calls decide together.", drawn)


def _looks(_: AxisResult, e: Estimates) -> Chart | None:
    found = [(dims, one) for dims, one in e.family("preference") if "kind" in dims]
    rows = [
        (" ".join([KINDS.get(dims["kind"], dims["kind"]), *_dose(dims)]), _point(one))
        for dims, one in found[:MOST_DRAWN]
    ]
    title = "A response wins for how it looks"
    caption = "Against the same content in plain words; ties count half, the dashed line is even."
    label = "share of comparisons won"
    drawn = intervals(title, rows, label, reference=0.5, also=(0.0, 1.0)) if rows else None
    return None if drawn is None else Chart("looks", title, caption, drawn)


def _dose(dims: Mapping[str, str]) -> Iterator[str]:
    yield from (f"× {value}" for name, value in dims.items() if name == "dose")


_KINDS = (_pairs, _ladder, _places, _criteria, _budget, _lists, _looks)


def judges_map(sheets: Iterable[tuple[str, Datasheet]]) -> Chart | None:
    """Judges by what they prefer where there is nothing to prefer, and by what they see."""
    dots = []
    for name, sheet in sheets:
        for e in map(_usable, sheet.axes):
            dark, seen = e.known("dark_current"), e.known("target_sensitivity", delta=1)
            if dark is not None and seen is not None:
                dots.append((name, _point(dark), _point(seen)))
    title = "Judges: made-up preferences against differences seen"
    caption = "Best is the upper left: ties between identical texts, the better response found."
    x_label = "prefers one of two identical texts (dark current)"
    y_label = "finds the better response, 1 point more"
    if len(dots) < 2:
        return None
    return Chart("map", title, caption, scatter(title, dots, x_label, y_label))
