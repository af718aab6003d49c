"""Page one shows the worst finding, in the plot that an axis declares for it."""

from dataclasses import replace
from typing import Any

import pytest

from judgesheet.base.records import Control, Datasheet, Decision
from judgesheet.decide import decide
from judgesheet.sheet.html import drawings, render
from judgesheet.sheet.page import build
from tests.sheet import sheets


def with_plot(**changed: Any) -> Datasheet:
    """The plausible sheet with another first plot."""
    sheet = sheets.plausible()
    (axis, *others), (first, *rest) = sheet.axes, sheet.axes[0].figures
    plots = (replace(first, **changed), *rest)
    return replace(sheet, axes=(replace(axis, figures=plots), *others))


def test_the_worst_finding_is_drawn_small_with_what_one_sees_and_how_much() -> None:
    page = build(sheets.plausible())
    picture = page.front.picture
    assert picture is not None
    assert picture.plot is page.axes[0].result.figures[0]
    assert picture.caption == (
        "Share of calls that chose each position; the dashed line is an even share. "
        "n: 946 calls or items, 24 stimuli."
    )
    drawn = drawings(page)
    assert drawn.worst is not None
    assert picture.plot.title not in [drawing.title for drawing in drawn.front]
    assert picture.plot.title in [drawing.title for drawing in drawn.rest]
    text = render(sheets.plausible(), "a4").decode()
    places = ['id="features"', picture.caption, 'id="advice"']
    assert sorted(places, key=text.index) == places


def test_the_limit_that_rejects_a_judge_is_what_is_worst() -> None:
    sheet = with_plot(shows=("selection",), families=("selection",), x="position", y="score")
    assert build(sheet).front.picture is None
    limiting = f"{sheets.AXIS}.selection[score=1,position=1]"
    rejected = replace(sheet, decision=Decision("reject", "own", limiting, "Rejected."))
    assert build(rejected).front.picture is not None


@pytest.mark.parametrize(
    "sheet",
    [
        with_plot(shows=()),
        with_plot(brief=""),
        with_plot(kind="pie"),
        with_plot(families=("not_there",)),
        decide(replace(sheets.plausible(), run=replace(sheets.plausible().run, complete=False))),
        sheets.all_unreadable(),
    ],
    ids=["not declared", "no words", "no such kind", "empty", "incomplete", "unreadable"],
)
def test_there_is_no_picture_without_a_finding_that_one_shows(sheet: Datasheet) -> None:
    page = build(sheet)
    assert page.front.picture is None
    assert drawings(page).worst is None


def test_a_finding_that_is_void_is_not_drawn() -> None:
    sheet = sheets.plausible()
    drawn = build(sheet).front.picture
    assert drawn is not None
    touched = Control(
        "one form of reply", False, "They differ.", touches=drawn.plot.shows, of="run"
    )
    axis = replace(sheet.axes[0], controls=(touched,))
    assert build(decide(replace(sheet, axes=(axis,)))).front.picture is None


def test_the_picture_is_of_an_axis_that_stands() -> None:
    sheet = sheets.several(2)
    failed = Control("one form of reply", False, "They differ.", of="run")
    first, second = sheet.axes
    page = build(decide(replace(sheet, axes=(replace(first, controls=(failed,)), second))))
    assert page.front.picture is not None
    assert page.front.picture.axis.name == second.name
