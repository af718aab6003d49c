"""Figures: drawn from estimates, readable without colour, the same every time."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from judgesheet.records import Estimate, Plot
from judgesheet.spine.render.chart import themed
from judgesheet.spine.render.figures import KINDS, collect, draw
from tests.render import sheets


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


def test_every_kind_is_tried_here() -> None:
    assert {figure.kind for figure in sheets.FIGURES + sheets.CROSSED} == set(KINDS)


def test_equal_shares_are_the_reference_of_a_distribution(estimates: tuple[Estimate, ...]) -> None:
    shares = sheets.FIGURES[0]
    named = replace(shares, even=False, reference=0.2)
    assert draw(shares, estimates, "f").svg == draw(named, estimates, "f").svg


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


def test_nothing_measured_draws_nothing() -> None:
    drawing = draw(sheets.FIGURES[2], sheets.all_unreadable().axes[0].estimates, "f")
    assert drawing.svg == ""
    assert drawing.notes[0] == "nothing to draw: none of its values was measured"


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


def test_a_figure_can_keep_members_by_dimension_and_mark_an_estimate(
    estimates: tuple[Estimate, ...],
) -> None:
    shares = sheets.FIGURES[0]
    first = draw(replace(shares, having={"position": "1"}), estimates, "f")
    assert first.description.count(";") == 0
    assert draw(replace(shares, having={"position": ""}), estimates, "f").svg == ""
    marked = draw(replace(shares, mark="excess_flip_rate"), estimates, "f")
    assert marked.svg != draw(shares, estimates, "f").svg
