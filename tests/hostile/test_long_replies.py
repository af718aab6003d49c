"""No reply takes long to read: the event loop that reads it carries all other requests."""

import json
import signal
from collections.abc import Iterator
from itertools import product

import pytest

from judgesheet.axes import all_axes
from judgesheet.base.limits import LONGEST_ANSWER, LONGEST_THOUGHT, MOST_PARTS_OF_A_BODY
from judgesheet.base.records import ReplyFormat
from judgesheet.judges.responses import Received
from judgesheet.measuring.parsing import reading
from tests.simulate import a_cell


@pytest.fixture
def ends_what_runs_away() -> Iterator[None]:
    """Raises in readers that run away: all take a hundredth of it, the worst found took 35 s."""

    def give_up(*_: object) -> None:
        raise RecursionError("the reader runs away")

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, 20)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


FORMS: tuple[ReplyFormat, ...] = ("text", "json")
LONG = LONGEST_ANSWER - 1_000


def filled(part: str, length: int = LONG) -> str:
    return (part * (length // len(part) + 1))[:length]


REPLIES = {
    "results on one line": "* " * 40_000 + filled("[RESULT] 1 ", 9_900),
    "names of marks": filled("[" + " :" * 49 + "] "),
    "marks behind names": filled("[RESULT]" + "*" * 300),
    "brackets": "[" * 100_000,
    "prefixes of an object": filled('{"score":', 1_000_000),
    "objects": filled('{"score": 1} '),
    "objects, spelled loosely": filled("{'score': 1} "),
    "objects in objects": filled('{"a":' * 900 + "1" + "}" * 900 + "x"),
    "a long list at the end of every brace": '{"a":' * 900 + "[" + "1," * 45_000,
    "digits": "[RESULT] " + "1" * LONG,
    "long numbers": filled('{"score": ' + "1" * 4_000 + "} "),
    "ends of thought": filled("</think>", LONGEST_THOUGHT - 10),
    "half a tag": filled("<", LONGEST_THOUGHT - 10),
    "a word of second thoughts": '{"score": 1} ' + filled("re"),
    "candidates": json.dumps({"candidates": [{"label": "A", "score": 1}] * 3_000}),
    "reasons": filled("[RESULT] 1, The response is good and names the cause.\n"),
    "a reason without an end": "[RESULT] 1, " + filled("the very good ", 3_900),
    "preferences": json.dumps({"winner": "1", "why": filled("than 1 better not 2 worse ", 90_000)}),
    "ligatures": filled("[" + "ﷺ" * 40 + "] "),
}


@pytest.mark.usefixtures("ends_what_runs_away")
@pytest.mark.parametrize("name", REPLIES)
def test_a_reply_built_to_hurt_is_read_to_its_end(name: str) -> None:
    for axis, form in product(all_axes().values(), FORMS):
        reading(axis, REPLIES[name], form, a_cell(axis.NAME))


def test_a_long_reply_is_read_up_to_the_limit() -> None:
    axis, cell = all_axes()["score_order"], a_cell("score_order")
    for words, score in ((LONGEST_ANSWER - 11, 3), (LONGEST_ANSWER + 1, None)):
        found = reading(axis, "x" * words + "\n[RESULT] 3", "text", cell)
        assert found.verdict == score
    thought = "<think>" + "x" * (LONGEST_THOUGHT - 100) + "</think>\n[RESULT] 3"
    found = reading(axis, thought, "text", cell)
    assert found.verdict == 3
    assert reading(axis, "<think>xx" + thought * 2, "text", cell).verdict is None


def test_an_object_too_deep_to_look_into_is_no_answer() -> None:
    for depth, score in ((50, 3), (300, None)):
        text = '{"a":' * depth + '{"score": 3}' + "}" * depth
        found = reading(all_axes()["score_order"], text, "json", a_cell("score_order"))
        assert found.verdict == score


def test_a_body_of_too_many_parts_is_not_unfolded() -> None:
    for parts, is_read in ((MOST_PARTS_OF_A_BODY - 1, True), (MOST_PARTS_OF_A_BODY, False)):
        body = "[" + ",".join(["[]"] * parts) + "]"
        assert (Received(200, {}, body, complete=True).json() is not None) == is_read
