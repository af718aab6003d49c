"""Figures: what a reader measures on them is the data; readable without colour, always the same."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from judgesheet.base.records import Estimate, Plot
from judgesheet.sheet.chart import (
    GRID,
    INK,
    MUTED,
    PAPER,
    SERIES,
    round_numbers,
    text_width,
    themed,
    wrapped,
)
from judgesheet.sheet.html import drawings
from judgesheet.sheet.page import build
from judgesheet.sheet.plots import KINDS, collect, draw
from tests.sheet import sheets
from tests.sheet.chromium import Open, needs_chromium

LINE = re.compile(r"M([-\d.]+) ([-\d.]+)L([-\d.]+) ([-\d.]+)")
STAMP = re.compile(r"M([-\d.]+) ([-\d.]+)m")


class Read:
    """A drawing as a reader measures it: marks in the numbers that stand beside its grid."""

    def __init__(self, svg: str) -> None:
        self.root = ElementTree.fromstring(svg)
        self.paths = [element for element in self.root if element.tag.endswith("path")]
        self.texts = [element for element in self.root if element.tag.endswith("text")]

    def labels(self, anchor: str | None) -> list[Element]:
        """Labels that end beside the vertical axis, or those around a place below the other."""
        return [
            text
            for text in self.texts
            if text.get("text-anchor") == anchor and not text.get("transform")
        ]

    def scale(self, anchor: str | None, step: str) -> Any:
        """A function from places to numbers, by the labelled lines of the grid."""
        grid = [path for path in self.paths if path.get("stroke") == GRID and step in at(path)]
        if grid:
            index = 0 if step == "V" else 1
            places = [float(line.split()[index]) for line in re.findall(r"M([^HV]+)", at(grid[0]))]
        else:
            places = [float(text.get("x", "")) for text in self.labels(anchor)][:-1]
        numbers = [number(str(text.text)) for text in self.labels(anchor)[: len(places)]]
        slope = (numbers[-1] - numbers[0]) / (places[-1] - places[0])
        return lambda place: numbers[0] + (float(place) - places[0]) * slope

    def found(self, what: re.Pattern[str], **look: str) -> Iterator[tuple[float, ...]]:
        """The ends or places of marks that look so, in the numbers of the axes."""
        x, y = self.scale(None, "V"), self.scale("end", "H")
        for ends in self.found_on_paper(what, **look):
            yield tuple((x, y)[index % 2](end) for index, end in enumerate(ends))

    def found_on_paper(self, what: re.Pattern[str], **look: str) -> Iterator[tuple[float, ...]]:
        for path in self.paths:
            if all(path.get(name.replace("_", "-")) == value for name, value in look.items()):
                yield from (tuple(map(float, match)) for match in what.findall(at(path)))


def at(path: Element) -> str:
    return path.get("d", "")


def number(text: str) -> float:
    return float(text.replace("\N{MINUS SIGN}", "-").removesuffix(" %"))


def near(expected: Any) -> Any:
    """Within two tenths of a point on the paper, of some sixty points for a scale of 100."""
    return pytest.approx(expected, abs=0.4)


@pytest.fixture(scope="module")
def estimates() -> tuple[Estimate, ...]:
    return sheets.plausible().axes[0].estimates


@pytest.mark.parametrize("figure", sheets.FIGURES + sheets.CROSSED, ids=lambda figure: figure.title)
def test_a_figure_is_named_unique_and_repeatable(
    estimates: tuple[Estimate, ...], figure: Plot
) -> None:
    first, second = (draw(figure, estimates, "f1") for _ in range(2))
    assert first == second
    root = ElementTree.fromstring(first.svg)
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "f1-title f1-desc"
    assert root[0].text == figure.title
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert all(str(name).startswith("f1-") for name in ids)
    assert "<metadata" not in first.svg
    assert "<text" in first.svg


def rates(**rows: tuple[float, float, float]) -> list[Estimate]:
    """Shares by key, each with its interval."""
    return [
        Estimate(f"a.{key}", key, *numbers, unit="share", n=9, clusters=9)
        for key, numbers in rows.items()
    ]


def by(name: str, dim: str, numbers: dict[str, tuple[float, float, float]]) -> list[Estimate]:
    """A family of shares over a dimension."""
    return rates(**{f"{name}[{dim}={value}]": row for value, row in numbers.items()})


CURVE = {"0.5": (0.5, 0.2, 0.8), "1": (0.7, 0.6, 0.9), "4": (1.0, 0.9, 1.0), "9": (0.8, 0.6, 1.0)}


def test_a_line_stands_at_its_numbers_with_its_intervals_reference_and_mark() -> None:
    mark = Estimate("a.step", "Step", 2.5, 1.5, None, unit="steps", n=9, clusters=9)
    plot = Plot("line", "Curve", "", ("seen",), x="delta", reference=0.75, mark="step")
    read = Read(draw(plot, [*by("seen", "delta", CURVE), mark], "f").svg)
    colour = SERIES[0].colour
    points = [(float(x), 100 * value) for x, (value, _, _) in CURVE.items()]
    assert [*read.found(STAMP, fill=colour)] == [near(point) for point in points]
    ends = [(float(x), 100 * low, float(x), 100 * high) for x, (_, low, high) in CURVE.items()]
    assert [*read.found(LINE, stroke=colour, stroke_width="1")] == [near(each) for each in ends]
    joined = re.compile(r"[ML]([-\d.]+) ([-\d.]+)")
    path = read.found(joined, stroke=colour, stroke_width="1.2")
    assert [*path] == [near(point) for point in points]
    (left, low, right, high), (x, _, same, _) = read.found(LINE, stroke=MUTED, stroke_width="0.9")
    assert (low, high) == near((75, 75))
    assert left < 0.5 < 9 < right
    assert (x, same) == near((2.5, 2.5))
    start, _, end, _ = next(read.found(LINE, fill=MUTED))
    assert (start, end) == near((1.5, right))


def test_many_places_have_a_band_in_place_of_whiskers() -> None:
    curve = {str(k): (k / 10, k / 20, k / 10 + 0.1) for k in range(1, 9)}
    plot = Plot("line", "Curve", "", ("r",), x="k")
    read = Read(draw(plot, by("r", "k", curve), "f").svg)
    corner = re.compile(r"[ML]([-\d.]+) ([-\d.]+)")
    area = [*read.found(corner, fill=SERIES[0].colour, fill_opacity="0.14")]
    lows = [(float(k), 100 * low) for k, (_, low, _) in curve.items()]
    highs = [(float(k), 100 * high) for k, (_, _, high) in curve.items()]
    assert area == [near(place) for place in lows + highs[::-1]]
    assert not [*read.found(LINE, stroke=SERIES[0].colour, stroke_width="1")]


def test_intervals_stand_at_their_numbers_in_the_order_of_the_sheet() -> None:
    rows = {"one": (0.3, 0.1, 0.4), "two": (-0.2, -0.3, 0.1), "three": (0.5, 0.5, 0.5)}
    plot = Plot("intervals", "Rows", "", tuple(rows), reference=0.0)
    read = Read(draw(plot, rates(**rows), "f").svg)
    x, (first, *_) = read.scale(None, "V"), SERIES
    dots = [*read.found_on_paper(STAMP, fill=first.colour)]
    assert [x(place) for place, _ in dots] == [near(100 * value) for value, *_ in rows.values()]
    names = [(text.text, float(text.get("y", ""))) for text in read.labels("end")]
    assert [name for name, _ in names] == [*rows]
    assert [y for _, y in dots] == [pytest.approx(y, abs=3) for _, y in names]
    ends = [(x(start), x(end)) for start, _, end, _ in
            read.found_on_paper(LINE, stroke=first.colour, stroke_width="1")]  # fmt: skip
    # A figure whose interval is its value, or that has none, has no whisker.
    assert ends == [near((10, 40)), near((-30, 10))]
    ((start, _, end, _),) = read.found_on_paper(LINE, stroke=MUTED, stroke_width="0.9")
    assert (x(start), x(end)) == near((0, 0))


def test_bars_of_two_series_differ_by_more_than_the_spacing_of_their_stripes() -> None:
    """In grey print, where their colours are alike."""
    kinds = [(hatch and hatch[0], hatch and bool(hatch[1])) for hatch in (s.hatch for s in SERIES)]
    assert len(set(kinds)) == len(SERIES)


def test_bars_begin_at_nought_and_end_at_their_numbers() -> None:
    shares = {"own": (0.9, 0.8, 0.95), "other": (0.4, 0.2, 0.7)}
    plot = Plot("bars", "Slots", "", ("slot1",), x="set", even=True, rest="slot 2")
    read = Read(draw(plot, by("slot1", "set", shares), "f").svg)
    y = read.scale("end", "H")
    for style, values in zip(SERIES, ([90, 40], [10, 60]), strict=False):
        bars = [*read.found_on_paper(LINE, stroke=style.colour, stroke_opacity="0.75")]
        assert [(y(low), y(high)) for _, low, _, high in bars] == [near((0, v)) for v in values]
    whiskers = read.found_on_paper(LINE, stroke=INK)
    ends = [(y(low), y(high)) for _, low, _, high in whiskers]
    assert ends == [near((80, 95)), near((20, 70)), near((5, 20)), near((30, 80))]
    ((_, low, _, high),) = read.found_on_paper(LINE, stroke=MUTED, stroke_width="0.9")
    assert (y(low), y(high)) == near((50, 50))


@pytest.mark.parametrize(
    ("former", "today"), [("stacked", "bars"), ("scatter", "intervals"), ("segment", "intervals")]
)
def test_a_kind_of_older_sheets_is_drawn_as_what_took_its_place(former: str, today: str) -> None:
    estimates = by("left", "prompt", CURVE) + by("right", "prompt", CURVE)
    plots = (
        Plot(kind, "Points", "", ("left", "right"), series="prompt") for kind in (former, today)
    )
    first, second = (draw(plot, estimates, "f") for plot in plots)
    assert first.svg == second.svg != ""


def test_bars_can_stand_by_family_with_a_series_for_each_dimension() -> None:
    estimates = by("both", "set", {"own": (0.25, 0.2, 0.4)})
    estimates += by("none", "set", {"own": (0.75, 0.6, 0.8), "other": (1.0, 0.4, 1.0)})
    plot = Plot("bars", "Verdicts", "", ("both", "none"), series="set", words={"both": "twice"})
    read = Read(draw(plot, estimates, "f").svg)
    y = read.scale("end", "H")
    for style, values in zip(SERIES, ([25, 75], [100]), strict=False):
        bars = [*read.found_on_paper(LINE, stroke=style.colour, stroke_opacity="0.75")]
        assert [(y(low), y(high)) for _, low, _, high in bars] == [near((0, v)) for v in values]
    ends = [(y(low), y(high)) for _, low, _, high in read.found_on_paper(LINE, stroke=INK)]
    assert ends == [near((20, 40)), near((60, 80)), near((40, 100))]
    assert {"twice", "none", "own", "other"} <= {text.text for text in read.texts}


JOINED = re.compile(r"[ML]([-\d.]+) ([-\d.]+)")


@pytest.mark.parametrize(
    ("how", "joined"), [({}, True), ({"even": True}, False), ({"names": True}, False)]
)
def test_only_what_lies_on_a_scale_is_joined(how: dict[str, Any], joined: bool) -> None:
    """Neither the parts of a whole nor values of a name have anything between them."""
    plot = Plot("line", "Shares", "", ("share",), x="place", **how)
    read = Read(draw(plot, by("share", "place", CURVE), "f").svg)
    line = [*read.found_on_paper(JOINED, stroke=SERIES[0].colour, stroke_width="1.2")]
    assert bool(line) == joined
    assert len([*read.found_on_paper(STAMP, fill=SERIES[0].colour)]) == len(CURVE)


def cells(read: Read) -> dict[str, tuple[str, bool]]:
    """The colour of each number of a heat map, and whether it is bold."""
    places = [path.get("fill", "") for path in read.paths if path.get("stroke") == PAPER]
    numbers = [text for text in read.texts if not text.get("text-anchor")][-len(places) :]
    return {
        str(text.text): (fill, text.get("font-weight") == "600")
        for fill, text in zip(places, numbers, strict=False)
    }


def grid(numbers: dict[tuple[int, int], float], half: float = 0.0) -> list[Estimate]:
    return rates(
        **{f"p[row={r},col={c}]": (v, v - half, v + half) for (r, c), v in numbers.items()}
    )


def test_a_heatmap_is_darker_the_greater_and_bold_where_the_interval_is_above() -> None:
    numbers = {(r, c): (1 + 3 * r + c) / 20 for r in range(3) for c in range(3)}
    for reference, half, bold in ((None, 0, []), (0.2, 0, [25, 30, 35, 40, 45]),
                                  (0.2, 0.12, [35, 40, 45])):  # fmt: skip
        plot = Plot("heatmap", "Cells", "", ("p",), x="col", y="row", reference=reference)
        shown = cells(Read(draw(plot, grid(numbers, half), "f").svg))
        assert [*shown] == [f"{5 * i} %" for i in range(1, 10)]
        light = [sum(bytes.fromhex(fill[1:])) for fill, _ in shown.values()]
        assert light[-4:] == sorted(light[-4:], reverse=True)
        assert [number(text) for text, (_, strong) in shown.items() if strong] == bold


def test_the_colours_of_a_heatmap_do_not_depend_on_its_numbers_and_have_a_legend() -> None:
    """21 % beside 20 % is hardly another colour, however little the cells differ."""
    close = {(0, 0): 0.2, (0, 1): 0.21, (1, 0): 0.19, (1, 1): 0.2}
    far = {**close, (1, 1): 0.9}
    even = Plot("heatmap", "Cells", "", ("p",), x="col", y="row", reference=0.2)
    for plot, legend in (
        (even, ["0 %", "even: 20 %", "60 %", "100 %"]),
        (replace(even, ends=(0.0, 0.6)), ["0 %", "even: 20 %", "40 %", "60 % or more"]),
    ):
        plot = replace(plot, reference_label="even")
        first, second = (Read(draw(plot, grid(numbers), "f").svg) for numbers in (close, far))
        assert cells(first)["21 %"] == cells(second)["21 %"]
        pale = bytes.fromhex(cells(first)["21 %"][0][1:])
        assert min(pale) > 235
        assert [text.text for text in first.labels("start")][:4] == legend


def test_every_line_to_compare_with_is_named_with_its_number() -> None:
    numbers = {"1": (0.5, 0.4, 0.6), "2": (0.5, 0.4, 0.6), "3": (0.4, 0.2, 0.6)}
    seen = Estimate("a.step", "Step", 2.5, 1.5, 3.0, unit="steps", n=9, clusters=9)
    for kind, look, names in (
        ("line", {"even": True}, ["even: 33.3 %"]),
        ("bars", {"reference": 0.25, "reference_label": "a blind pick"}, ["a blind pick: 25 %"]),
        ("intervals", {"reference": 0.75}, ["75 %"]),
        ("line", {"mark": "step", "words": {"step": "seen from"}}, ["seen from: 2.5 steps"]),
    ):  # fmt: skip
        plot = Plot(kind, "Named", "", ("p",), x="x", **look)
        read = Read(draw(plot, [*by("p", "x", numbers), seen], "f").svg)
        assert [text.text for text in read.labels("start")] == names


def test_a_result_is_the_title_and_what_is_drawn_stands_below_it() -> None:
    plot = Plot("line", "Where it stood", "", ("p",), x="x", result="Stood first in 68 %")
    drawn = draw(plot, by("p", "x", CURVE), "f")
    assert (drawn.title, drawn.about) == ("Stood first in 68 %", "Where it stood")
    assert draw(replace(plot, result=""), by("p", "x", CURVE), "f").title == "Where it stood"


@pytest.mark.parametrize("kind", ["line", "bars", "intervals", "heatmap"])
def test_what_must_not_be_used_is_grey_and_tells_no_result(kind: str) -> None:
    plot = Plot(
        kind, "Shares", "", ("p",), x="x", y="x" if kind == "heatmap" else "", result="Stood first"
    )
    drawn = draw(plot, by("p", "x", CURVE), "f", void="no call was made")
    assert "Shares" in drawn.title
    assert "Stood first" not in drawn.title
    assert drawn.about == "no call was made"
    for name in ("fill", "stroke"):
        for colour in re.findall(f' {name}="#([0-9a-f]{{6}})"', drawn.svg):
            red, green, blue = bytes.fromhex(colour)
            assert max(red, green, blue) - min(red, green, blue) < 25, (name, colour)
    assert f'fill="{MUTED}"' in drawn.svg, "words stay dark enough to be read"


EXTREMES = (0.0, 1e308, -1e308, 5e-324, 1e20, 1e20 + 16384)


@pytest.mark.parametrize("kind", KINDS)
def test_no_number_breaks_a_drawing(kind: str) -> None:
    for one, other in product(EXTREMES, EXTREMES):
        pair = {"1": (one, min(one, other), max(one, other)), "2": (other, other, other)}
        estimates = by("a", "x", pair) + by("b", "x", pair)
        plot = Plot(kind, "Extremes", "", ("a", "b"), x="" if kind[0] == "s" else "x", series="x")
        svg = draw(plot, estimates, "f").svg
        assert "<text" in svg, (one, other)
        assert "nan" not in svg, (one, other)
        assert "inf" not in svg, (one, other)


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-0.3, 0.1), (0.91, 0.99), (-7, 1e6), (2, 2.001)]
)
def test_round_numbers_are_few_even_and_within(low: float, high: float) -> None:
    for most in (2, 3, 4, 5, 8):
        numbers = round_numbers(low, high, most)
        assert 1 <= len(numbers) <= most
        assert low - 1e-6 <= numbers[0] <= numbers[-1] <= high + 1e-6
        steps = {round(b - a, 9) for a, b in pairwise(numbers)}
        assert len(steps) <= 1
        digits = {f"{step:e}".partition("e")[0].strip("0.") for step in steps}
        assert digits <= {"1", "2", "2.5", "5"}


HOSTILE = '"><script>alert(1)</script>& "#0b5cad" \u202e'


def test_foreign_words_stay_words() -> None:
    estimates = by("a", "x", {"1": (0.2, 0.1, 0.3), "2": (0.4, 0.3, 0.5)})
    estimates = [replace(estimate, label=HOSTILE) for estimate in estimates]
    for kind in KINDS:
        plot = Plot(
            kind, HOSTILE, "", ("a",), x="x", x_label=HOSTILE, y_label=HOSTILE, words={"1": HOSTILE}
        )
        svg = themed(draw(plot, estimates, "f").svg)
        root = ElementTree.fromstring(svg)
        assert not [element for element in root.iter() if element.tag.endswith("script")]
        assert "#0b5cad" in str(root[0].text)  # a colour in words is no colour
        assert "U+202E" in str(root[0].text)
        assert "\u202e" not in svg


def long_named(kind: str, places: int, word: str) -> tuple[Plot, list[Estimate]]:
    """A plot with so many places, series and rows, all of them with long names."""
    names = [f"{word} {i}" for i in range(places)]
    estimates = rates(**{
        f"{family}[x={name},y={name},s={series}]": (0.3, 0.1, 0.9)
        for name in names for series in names[:6] for family in ("one", "two")
    })  # fmt: skip
    estimates = [replace(estimate, label=f"{word} {estimate.key}") for estimate in estimates]
    across, down = "" if kind in ("scatter", "segment") else "x", "y" if kind == "heatmap" else ""
    plot = Plot(kind, word, "", ("one", "two"), x=across, y=down, series="s",
                x_label=word * 4, y_label=word * 4)  # fmt: skip
    return plot, estimates


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    words = ("a few words", "WWWWWWWWWWWWW", "\u6f22\u5b57" * 12, "sesquipedalian-verbosity")
    drawn = [draw(*long_named(kind, places, word), f"f{i}-{j}", size).svg
             for i, (kind, word) in enumerate(product(KINDS, words))
             for j, (places, size) in enumerate(product((1, 3, 10), ((249.0, 88.0), (194.0, 76.0))))
            ]  # fmt: skip
    page = tmp_path_factory.mktemp("figures") / "figures.html"
    page.write_text(f'<meta charset="utf-8"><style>svg {{ width: 600px }}</style>{"".join(drawn)}')
    return {"figures": page}


@needs_chromium
def test_no_label_touches_another_or_leaves_the_paper(visit: Open) -> None:
    """In whatever font the browser has, which is wider than ours."""
    faults = visit("figures").evaluate(
        """() => [...document.querySelectorAll("svg")].flatMap((svg) => {
            const paper = svg.getBoundingClientRect();
            const boxes = [...svg.querySelectorAll("text")].map((text) => {
                const {left, right, top, bottom} = text.getBoundingClientRect();
                const turned = text.hasAttribute("transform");
                const [aside, above] = turned ? [(right - left) / 5, 0] : [0, (bottom - top) / 5];
                return [left + aside, right - aside, top + above, bottom - above, text.textContent];
            });
            const outside = boxes.filter((a) =>
                a[0] < paper.left - 2 || a[1] > paper.right + 2 ||
                a[2] < paper.top - 2 || a[3] > paper.bottom + 2);
            const touching = boxes.filter((a, i) => boxes.some((b, j) =>
                i < j && a[0] < b[1] - 1 && b[0] < a[1] - 1 && a[2] < b[3] - 1 && b[2] < a[3] - 1));
            const name = svg.querySelector("title").id;
            const named = (what) => (box) => [what, name, box[4]].join(" ");
            return [...outside.map(named("outside")), ...touching.map(named("touching"))];
        })"""
    )
    assert faults == [], "; ".join(faults)


@pytest.mark.parametrize("word", ["mmmm", "\u6f22\u5b57", "a-", "1", "i l "])
def test_no_line_of_a_text_is_wider_than_its_room(word: str) -> None:
    text = f"{word * 30} and {word * 3}"
    for width in (20.0, 60.0, 200.0):
        lines = wrapped(text, width, 3).splitlines()
        assert 1 <= len(lines) <= 3
        assert all(text_width(line) <= width for line in lines)
        whole = wrapped(text, width, 999)
        assert "".join(whole.split()) == "".join(text.split())


def test_every_kind_is_tried_here() -> None:
    assert {figure.kind for figure in sheets.FIGURES + sheets.CROSSED} == set(KINDS)


def test_equal_shares_are_the_reference_of_a_distribution(estimates: tuple[Estimate, ...]) -> None:
    assert collect(sheets.FIGURES[0], estimates).reference == pytest.approx(20)


def test_series_differ_in_dash_and_marker(estimates: tuple[Estimate, ...]) -> None:
    svg = draw(sheets.FIGURES[3], estimates, "f").svg
    assert svg.count("stroke-dasharray") >= 2
    assert ">balanced</text>" in svg
    assert ">random</text>" in svg


def test_a_missing_value_is_a_gap_with_a_note(estimates: tuple[Estimate, ...]) -> None:
    drawing = draw(sheets.FIGURES[5], estimates, "f")
    assert drawing.notes == (
        "Cramér's V of the chosen position, 9-point rubric not measured: the profile quick "
        "leaves this scale out",
    )


def test_a_chart_without_a_value_takes_no_place(estimates: tuple[Estimate, ...]) -> None:
    lost = [
        replace(e, value=None, low=None, high=None, note="no reply was read") for e in estimates
    ]
    for nothing in (lost, []):
        drawing = draw(sheets.FIGURES[2], nothing, "f")
        assert (drawing.svg, drawing.notes) == ("", ())
    sheet = sheets.all_unreadable()
    assert len(sheet.axes[0].figures) > 1
    drawn = drawings(build(sheet))
    assert (drawn.front, drawn.rest) == ((), ())


def test_themed_colours_are_variables(estimates: tuple[Estimate, ...]) -> None:
    svg = themed(draw(sheets.FIGURES[0], estimates, "f").svg)
    assert "var(--series-1)" in svg
    assert "#0b5cad" not in svg


def test_what_is_left_of_a_share_is_drawn_beside_it() -> None:
    share = Estimate("a.slot1[set=own]", "Slot 1", 0.9, 0.8, 0.95, unit="share", n=9, clusters=9)
    plot = Plot("bars", "Slots", "", ("slot1",), x="set", even=True, rest="slot 2",
                words={"slot1": "slot 1", "own": "own pairs"})  # fmt: skip
    data = collect(plot, [share])
    assert [(p.series, round(p.value), round(p.low), round(p.high)) for p in data.points] == [
        ("slot 1", 90, 80, 95),
        ("slot 2", 10, 5, 20),
    ]
    assert data.reference == 50
    svg = draw(plot, [share], "f").svg
    assert all(word in svg for word in ("slot 1", "slot 2", "own pairs"))


def test_a_figure_can_keep_members_by_dimension(
    estimates: tuple[Estimate, ...],
) -> None:
    shares = sheets.FIGURES[0]
    first = draw(replace(shares, having={"position": "1"}), estimates, "f")
    assert first.description.count(";") == 0
    assert draw(replace(shares, having={"position": ""}), estimates, "f").svg == ""
