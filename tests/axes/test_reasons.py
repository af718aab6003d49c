"""Why a call gave no verdict has a name, whatever the axis and its form."""

from typing import Any

import pytest

from judgesheet.axes import all_axes, get_axis
from judgesheet.base.records import Call, Reply
from judgesheet.measuring.parsing import Parser, reading, reason_of
from judgesheet.reading.reasons import REASONS
from tests.simulate import a_cell

CELLS: dict[str, dict[str, Any]] = {
    "score_order": {"scale": 5, "order": [1, 2, 3, 4, 5]},
    "criterion_order": {"scale": 5, "order": ["Depth", "Style"]},
    "candidate_order": {"order": ["u", "v"]},
    "listwise_consensus": {"order": ["right", "wrong"]},
}
REPLIES = (
    ("score_order", "", "no_verdict"),
    ("score_order", "<think>Depth is fair, so 4", "cut_off"),
    ("score_order", "It is a decent answer, four perhaps.", "no_verdict"),
    ("score_order", "4", "no_verdict"),
    ("score_order", "[RESULT] 2\nOn reflection:\n[RESULT] 4", "two_verdicts"),
    ("score_order", "[RESULT] 7", "off_scale"),
    ("score_order", "[RESULT] 3.5", "off_scale"),
    ("score_order", "[RESULT] 3 or 4", "off_scale"),
    ("score_order", "[RESULT] 8/10", "off_scale"),
    ("criterion_order", "[Depth] 4", "incomplete"),
    ("criterion_order", "[Depth] 4\n[Style] 9", "off_scale"),
    ("criterion_order", "[Depth] 4\n[Style] 3\n[Depth] 2", "two_verdicts"),
    ("criterion_order", "Both are fine.", "no_verdict"),
    ("candidate_order", '{"winner": "3"}', "off_scale"),
    ("candidate_order", '{"winner": "1"} or maybe {"winner": "2"}', "two_verdicts"),
    ("candidate_order", '{"winner": "1", "winner": "2"}', "two_verdicts"),
    ("candidate_order", '{"better": "1"}', "no_verdict"),
    ("candidate_order", '{"winner": "1', "cut_off"),
    ("listwise_consensus", '{"candidates": [{"label": "A"', "cut_off"),
    ("listwise_consensus", '{"candidates": []}', "incomplete"),
)


@pytest.mark.parametrize(("axis", "text", "reason"), REPLIES)
def test_a_reply_without_a_verdict_says_why(axis: str, text: str, reason: str) -> None:
    found = reading(get_axis(axis), text, "text", CELLS[axis])
    assert (found.verdict, found.reason) == (None, reason)


@pytest.mark.parametrize(
    ("outcome", "why", "format_", "reason"),
    [
        ("refused", None, "text", "refused"),
        ("timeout", None, "text", "no_answer"),
        ("ok", "length", "text", "cut_off"),
        ("ok", None, "recorded", "recorded"),
    ],
)
def test_how_a_call_ended_comes_before_its_words(
    outcome: Any, why: str | None, format_: Any, reason: str
) -> None:
    room = get_axis("score_order")
    call = Call("score_order", "s", CELLS[room.NAME], 0, (), {}, format_)
    reply = Reply(
        call.id, 1, outcome, "[RESULT] 9", "", 0.1, None, None, None, 0.0, finish_reason=why
    )
    assert reason_of(room, call, reply) == reason


@pytest.mark.parametrize("axis", list(all_axes()))
@pytest.mark.parametrize(
    "text", ["{" * 50_000, "[RESULT] 1\n" * 30_000 + "x", '{"a":' * 9_000, "9" * 60_000, "\x00" * 9]
)
def test_noise_has_a_reason_too(axis: str, text: str) -> None:
    assert reading(get_axis(axis), text, "text", a_cell(axis)).reason in REASONS


def test_the_users_own_parser_says_what_a_verdict_is() -> None:
    parser = Parser.from_source("[verdict]\nregex = 'Grade (\\d+)'", "mine.toml")
    cell, room = CELLS["score_order"], get_axis("score_order")
    reasons = [
        reading(room, text, "text", cell, parser).reason
        for text in ("Grade 2\nGrade 4", "none", "Grade 9", "Grade 4")
    ]
    assert reasons == ["two_verdicts", "no_verdict", "off_scale", None]


@pytest.mark.parametrize(
    ("axis", "text", "verdict"),
    [
        ("score_order", "[RESULT] 9です", 9),
        ("score_order", "Good.\n[RESULT] 4 [END]", 4),
        ("score_order", "[RESULT] 4\n\nIt could have been better, although 3 would be harsh.", 4),
        ("candidate_order", '{"winner": "1"}}', "1"),
        ("candidate_order", '{"winner": "2"}\n\n{', "2"),
        ("candidate_order", r'{"reason": "as \(x^2\) and \alpha in C:\Users", "winner": "1"}', "1"),
        ("candidate_order", r'{"reason": "it costs \$5, that\'s right", "winner": "tie"}', "tie"),
        ("candidate_order", '{"winner": "2"}\nResponse 1 is the better one in my view.', "2"),
        (
            "criterion_order",
            "Depth: 4\n**[Style]** 3/5, since it rambles",
            {"Depth": 4, "Style": 3},
        ),
    ],
)
def test_words_around_a_mark_are_not_looked_at(axis: str, text: str, verdict: Any) -> None:
    cell = {**CELLS[axis], "scale": 10 if "です" in text else 5}
    assert reading(get_axis(axis), text, "text", cell).verdict == verdict
