"""Page one shows the worst finding, in the plot that an axis declares for it."""

from dataclasses import replace
from typing import Any

import pytest

from judgesheet.base.records import Control, Datasheet, Decision
from judgesheet.sheet.html import drawings, render
from judgesheet.sheet.page import build
from judgesheet.sheet.page.parts import Room
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
    drawn = drawings(page, Room().effects)
    assert drawn.worst is not None
    assert picture.plot.title not in [drawing.title for drawing in drawn.front]
    assert picture.plot.title in [drawing.title for drawing in drawn.rest]
    text = render(sheets.plausible(), "a4").decode()
    assert text.index("Every finding") > text.index(picture.caption) > text.index("Features")


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
        replace(sheets.plausible(), run={**sheets.plausible().run, "complete": False}),
        sheets.all_unreadable(),
    ],
    ids=["not declared", "no words", "no such kind", "empty", "incomplete", "unreadable"],
)
def test_there_is_no_picture_without_a_finding_that_one_shows(sheet: Datasheet) -> None:
    page = build(sheet)
    assert page.front.picture is None
    assert drawings(page, Room().effects).worst is None


def test_sentences_come_before_the_picture() -> None:
    assert build(sheets.plausible(), Room(features=2, advice=2)).front.picture is None


def test_an_axis_that_is_void_leaves_room_to_the_others() -> None:
    sheet = sheets.several(2)
    first, second = sheet.axes
    unread = replace(first, answered=first.answered // 2, unreadable=first.answered // 2)
    page = build(replace(sheet, axes=(unread, second)), Room(features=8))
    shown = [finding.axis for finding in page.front.features.shown]
    assert shown.count(first.title[:80]) == 1
    assert shown.count(second.title[:80]) > 1


def test_where_all_is_void_the_picture_says_so() -> None:
    plausible = sheets.plausible()
    axis = plausible.axes[0]
    failed = Control("scores follow quality", False, "Scores must rise with quality.")
    sheet = replace(plausible, axes=(replace(axis, controls=(failed,)),))
    assert build(sheet).axes[0].void
    worst = drawings(build(sheet), Room().effects).worst
    assert worst is not None
    assert worst.title.startswith("∅ Void:")
