"""Whatever prints a figure asks one question: why it must not be used."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import judgesheet
from judgesheet.base.datasheet import from_json
from judgesheet.base.effects import Effect
from judgesheet.base.records import (
    AxisResult,
    Bounds,
    Datasheet,
    Imputed,
)
from judgesheet.decide import decide
from judgesheet.sheet import render
from judgesheet.sheet.context import context
from judgesheet.sheet.index import Listed, render_markdown
from judgesheet.sheet.index import render as render_index
from judgesheet.sheet.markdown import for_terminal
from judgesheet.sheet.model_card import metadata, section
from tests.command import with_pages
from tests.decide.test_controls import KEY, OTHER, RATE, axis, failing, limits, rate, sheet

V, CHANGES, WHY = "score_order.cramers_v", "score_order.order_change_rate", "scores follow quality"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge that always gives the same score: no order moves it, which is no merit."""
    folder = tmp_path_factory.mktemp("constant") / "run"
    asked: dict[str, Any] = {"axes": ("score_order",), "profile": "quick", "policy": "scoring"}
    with with_pages():
        judgesheet.probe("sim/constant", folder, pdf=False, **asked)
    return folder


@pytest.fixture(scope="module")
def same(run: Path) -> Datasheet:
    return judgesheet.load(run)


def lines_about(text: str, key: str) -> list[str]:
    found = [line for line in text.splitlines() if f"`{key}`" in line and line.startswith("|")]
    assert found
    return found


def test_the_index_has_no_value_that_would_be_no_merit(same: Datasheet) -> None:
    text = for_terminal(render_markdown([Listed("a", same)], "t").decode())
    assert "V = 0" not in text
    assert "∅ not usable" in text
    assert "∅ not usable" in render_index([Listed("a", same)], "t").decode()


def test_the_card_marks_it_and_the_metadata_leaves_it_out(same: Datasheet) -> None:
    text = section(same)
    for key in (V, CHANGES):
        assert all("∅ not usable" in line for line in text.splitlines() if f"`{key}`" in line)
        assert key not in metadata(same)
    assert "score_order.top_tie_rate" in metadata(same)  # what is bad still is


def test_the_page_marks_it_and_no_chart_draws_it(same: Datasheet) -> None:
    page = context(same)
    assert WHY in page.figures[V].void
    assert page.figures[V].mark.tone == "none"
    assert "places" not in {chart.name for chart in page.charts}


def test_the_page_of_cases_and_a_comparison_say_so(run: Path) -> None:
    assert f"Not usable: the control “{WHY}” failed" in (run / "cases.html").read_text("utf-8")
    (compared,) = judgesheet.compare(run, run)
    assert next(one for one in compared.differences if one.key == V).verdict == "void"


def test_a_table_for_spreadsheets_has_its_status(same: Datasheet) -> None:
    for line in render(same, "csv").decode().splitlines():
        if line.startswith((V, "score_order.position_share[position=5]")):
            assert ",invalid," in line


# -- the question --------------------------------------------------------------------------------


def of_judge(*declared: Effect, policy: str = "") -> AxisResult:
    """An axis whose judge failed a control that touches both of its figures."""
    both = rate(KEY), rate(OTHER)
    made = sheet(axis(estimates=both, declared=declared, controls=(failing(of="judge"),)))
    return decide(made, limits(policy) if policy else None).axes[0]


def test_what_is_bad_stays_usable_although_the_judge_failed_a_control() -> None:
    assert of_judge().void_reason(KEY) == "the control “asked twice” failed"
    assert of_judge(Effect(KEY, 0.0, 0.0, "up", {})).void_reason(KEY) == ""
    assert of_judge(Effect(KEY, 0.0, 0.5, "down", {})).void_reason(KEY)  # nothing is shown
    assert of_judge(policy='rate"\nmax = 0.01').void_reason(KEY) == ""
    assert of_judge(policy='rate"\nmax = 0.01').void_reason(OTHER)
    assert of_judge(policy=RATE).void_reason(KEY)
    assert of_judge(policy='rate"\nmax = 0.12').void_reason(KEY)  # open: neither


# -- lost calls on the card ----------------------------------------------------------------------


def lossy() -> Datasheet:
    one = replace(rate(KEY), imputed=Imputed(20, 0.05, 0.48), bounds=Bounds(0.05, 0.48))
    made = axis(answered=80, unreadable=20, estimates=(one, rate(OTHER)))
    return decide(sheet(made), limits(RATE))


def test_a_card_has_the_problems_the_lost_calls_and_what_they_could_move() -> None:
    text = for_terminal(section(lossy()))
    assert "80 of 100 calls read" in text
    (line,) = lines_about(text, KEY)
    assert "lost calls counted: 5–48" in line
    assert "∅ not usable" in line
    assert KEY not in metadata(lossy())


def test_the_reason_is_written_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "datasheet.json"
    path.write_bytes(render(lossy(), "json"))
    why = json.loads(path.read_bytes())["axes"][0]["unearned"][KEY]
    assert why
    assert from_json(path).axes[0].void_reason(KEY) == why
