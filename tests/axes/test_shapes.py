"""What came instead of a verdict has a name, whatever the axis and its form."""

import json
from typing import Any

import pytest

from judgesheet.axes import all_axes, get_axis
from judgesheet.axis.shapes import SHAPES
from judgesheet.measuring.parsing import Parser, shape_of, suggested
from tests.simulate import a_cell

CELLS: dict[str, dict[str, Any]] = {
    "score_order": {"scale": 5, "order": [1, 2, 3, 4, 5]},
    "criterion_order": {"scale": 5, "order": ["Depth", "Style"]},
    "candidate_order": {"order": ["u", "v"]},
    "listwise_consensus": {"order": ["right", "wrong"]},
}
REPLIES = (
    ("score_order", "", "empty"),
    ("score_order", " \n", "empty"),
    ("score_order", "<think>Depth is fair, so 4", "thought"),
    ("score_order", "I'm sorry, but I can't grade this.", "refusal"),
    ("score_order", "It is a decent answer, four perhaps.", "prose"),
    ("score_order", "It is decent, although I cannot say that it is complete. 4", "prose"),
    ("score_order", "4", "bare"),
    ("score_order", "Four.", "bare"),
    ("score_order", "[RESULT] 2\nOn reflection:\n[RESULT] 4", "two_verdicts"),
    ("score_order", "[RESULT] 4\n\nBut 3 would be fair too.", "doubted"),
    ("score_order", "[RESULT] 7", "out_of_range"),
    ("score_order", "[RESULT] 3.5", "out_of_range"),
    ("score_order", '{"rating": 4}', "other_json"),
    ("score_order", '{"rating": 4, "why": "beca', "broken_json"),
    ("criterion_order", "[Depth] 4", "incomplete"),
    ("criterion_order", "[Depth] 4\n[Style] 9", "out_of_range"),
    ("criterion_order", "Both are fine.", "prose"),
    ("candidate_order", '{"winner": "3"}', "out_of_range"),
    ("candidate_order", '{"winner": "1"} or maybe {"winner": "2"}', "two_verdicts"),
    ("candidate_order", '{"better": "1"}', "other_json"),
    ("candidate_order", "As an AI, I have no preference.", "refusal"),
    ("listwise_consensus", '{"candidates": [{"label": "A"', "broken_json"),
    ("listwise_consensus", '{"candidates": []}', "other_json"),
)


@pytest.mark.parametrize(("axis", "text", "code"), REPLIES)
def test_a_lost_reply_has_the_shape_that_a_reader_sees(axis: str, text: str, code: str) -> None:
    room, cell = get_axis(axis), CELLS[axis]
    assert room.parse(text, "text", cell) is None
    assert shape_of(room, text, "text", "ok", cell) == code


@pytest.mark.parametrize(
    ("outcome", "reason", "reply", "code"),
    [
        ("refused", None, "text", "refused"),
        ("timeout", None, "text", "no_answer"),
        ("ok", "length", "text", "cut_off"),
        ("ok", None, "recorded", "recorded"),
    ],
)
def test_how_a_call_ended_comes_before_its_words(
    outcome: str, reason: str | None, reply: Any, code: str
) -> None:
    room = get_axis("score_order")
    assert shape_of(room, "[RESULT] 9", reply, outcome, CELLS[room.NAME], None, reason) == code


@pytest.mark.parametrize("axis", list(all_axes()))
@pytest.mark.parametrize(
    "text", ["{" * 50_000, "[RESULT] 1\n" * 30_000 + "x", '{"a":' * 9_000, "9" * 60_000, "\x00" * 9]
)
def test_noise_has_a_shape_too(axis: str, text: str) -> None:
    assert shape_of(get_axis(axis), text, "text", "ok", a_cell(axis)) in SHAPES


def test_the_users_own_parser_says_what_a_verdict_is() -> None:
    parser = Parser.from_source("[verdict]\nregex = 'Grade (\\d+)'", "mine.toml")
    cell = CELLS["score_order"]
    text = "Grade 2\nGrade 4"
    code = shape_of(get_axis("score_order"), text, "text", "ok", cell, parser)
    assert code == "two_verdicts"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("My rating: 4 of 5.", "regex = '(?i)"),
        ("4", r"regex = '^\W*(\d+)\W*$'"),
        (json.dumps({"quality": 4}), "path = 'quality'"),
    ],
)
def test_a_rule_is_proposed_that_was_tried(text: str, rule: str) -> None:
    room, cell = get_axis("score_order"), CELLS["score_order"]
    found = suggested(room, [(text, cell), ("no number at all", cell)])
    assert found is not None
    assert found.written.startswith(rule)
    assert found.reads == 1
    parser = Parser.from_source(f"[verdict]\n{found.written}", "proposed")
    assert parser.verdict(text) == "4"


def test_no_rule_is_proposed_where_none_reads() -> None:
    assert suggested(get_axis("score_order"), [("nothing", CELLS["score_order"])]) is None
