"""The user's own parser: found in one way, or unreadable; never guessed, never hanging."""

import json
from pathlib import Path
from typing import Any

import pytest

from judgesheet.axes import get_axis
from judgesheet.base.errors import JudgesheetError, ParserError
from judgesheet.base.limits import LONGEST_ANSWER
from judgesheet.measuring import parsing
from judgesheet.measuring.parsing import (
    Parser,
    as_record,
    from_records,
    reading,
    refuse_failing_examples,
    try_examples,
)
from judgesheet.reading.objects import UnclearError
from judgesheet.reading.verdicts import displayed

SCORE, PAIR = get_axis("score_order"), get_axis("candidate_order")
CELL = {"scale": 5, "order": [5, 4, 3, 2, 1]}


def parser(source: str) -> Parser:
    return Parser.from_source(source, "mine.toml")


def regex(pattern: str, more: str = "") -> Parser:
    return parser(f"[verdict]\nregex = '{pattern}'\n{more}")


def path(pattern: str, more: str = "") -> Parser:
    return parser(f'[verdict]\npath = "{pattern}"\n{more}')


RATING = regex(r"Rating:\s*(\d+)\b")


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("Rating: 4", 4),
        ("First I thought.\nRating: 4\nSo: Rating:4.", 4),
        ("Rating: 4 or Rating: 5", None),
        ("Rating: 9", None),
        ("Rating: 0", None),
        ("rating: 4", None),
        ("Rating: four", None),
        ("[RESULT] 4", None),
        ("", None),
        ("Rating: " + "4" * 5_000, None),
        ("Rating: 4" + " " * LONGEST_ANSWER, None),
        ("Rating: 4 \ud800", None),
    ],
)
def test_a_regex_finds_one_score_or_none(text: str, score: int | None) -> None:
    assert reading(SCORE, text, "text", CELL, RATING).verdict == score


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ('{"result": {"rating": 4}}', 4),
        ('Well.\n```json\n{"result": {"rating": "4"}}\n```', 4),
        ('{"result": {"rating": 4}} or {"result": {"rating": 5}}', None),
        ('{"result": {"rating": 4, "rating": 5}}', None),
        ('{"result": {"rating": true}}', None),
        ('{"result": {"rating": [4]}}', None),
        ('{"result": {"rating": null}}', None),
        ('{"result": {"rating": NaN}}', None),
        ('{"rating": 4}', None),
        ("Rating: 4", None),
        ("[" * 100_000, None),
        ('{"a":' * 20_000, None),
    ],
)
def test_a_path_finds_one_score_or_none(text: str, score: int | None) -> None:
    assert reading(SCORE, text, "text", CELL, path("result.rating")).verdict == score


@pytest.mark.parametrize("place", ["parts[1].score", "parts[-1]['score']", "$.parts[1].score"])
def test_a_path_may_lead_through_a_list(place: str) -> None:
    text = '{"parts": [{"score": 2}, {"score": 3}]}'
    assert reading(SCORE, text, "text", CELL, path(place)).verdict == 3


@pytest.mark.parametrize("place", ["parts[2].score", "parts[-3]", "parts.score", "note[0]"])
def test_a_place_that_a_reply_does_not_have_gives_nothing(place: str) -> None:
    assert (
        reading(SCORE, '{"parts": [1, 2], "note": "3"}', "text", CELL, path(place)).verdict is None
    )


def test_a_parser_of_an_earlier_version_reads_as_it_did() -> None:
    old = parser("[verdict]\njsonpath = '$.result.rating'")
    (kept,) = from_records([as_record("score_order", old)]).values()
    assert reading(SCORE, '{"result": {"rating": 4}}', "text", CELL, kept).verdict == 4


def test_a_map_says_what_the_words_mean_and_no_other_word_means_anything() -> None:
    words = regex(
        r"Winner: (.+)", 'map = { "Response A" = "1", "Response B" = "2", "Both" = "tie" }'
    )
    cell = {"condition": "natural"}
    found = {
        text: reading(PAIR, f"Winner: {text}", "text", cell, words).verdict
        for text in ("Response A", "Response B ", "Both", "1", "Neither")
    }
    expected = {"Response A": "1", "Response B ": "2", "Both": "tie", "1": None, "Neither": None}
    assert found == expected


def test_one_verdict_in_two_words_is_one_verdict() -> None:
    words = regex(r"([AB]) wins", 'map = { "A" = 1, "B" = 2 }')
    assert words.verdict("A wins. A wins.") == "1"
    with pytest.raises(UnclearError):
        words.verdict("A wins. B wins.")


def test_true_is_not_one() -> None:
    with pytest.raises(UnclearError):
        path("a").verdict('{"a": 1} {"a": true}')


def test_every_criterion_has_its_own_pattern() -> None:
    each = regex(r"(?m)^{criterion} = (\d)$")
    parts = list(displayed(["Use of (odd) signs", "fluency"]))
    text = "fluency = 4\nUse of (odd) signs = 2\nother = 1"
    assert json.loads(each.verdict(text, parts) or "") == {"Use of (odd) signs": 2, "fluency": 4}
    with pytest.raises(UnclearError):
        each.verdict("fluency = 4", parts)
    with pytest.raises(UnclearError):
        each.verdict(text + "\nfluency = 5", parts)
    with pytest.raises(UnclearError):
        each.verdict(text)


@pytest.mark.parametrize("place", ["scores.{criterion}", "$.scores['{criterion}']"])
def test_any_name_may_stand_in_a_path(place: str) -> None:
    each = path(place)
    odd = 'it\'s "odd". \\ [1]'
    text = json.dumps({"scores": {odd: 2, "é": 5}})
    assert json.loads(each.verdict(text, displayed([odd, "é"])) or "") == {odd: 2, "é": 5}


def test_candidates_are_found_by_label_and_have_several_fields() -> None:
    each = parser(
        r"""
        [verdict.score]
        regex = '(?m)^{label}\) (\d+)'
        [verdict.uncertain]
        regex = '(?m)^{label}\) \d+ (unsure)$'
        map = { unsure = true }
        default = false
        """
    )
    found = each.verdict("A) 80\nB) 75 unsure\n", displayed(["x", "y"]))
    assert json.loads(found or "") == {
        "x": {"score": 80, "uncertain": False},
        "y": {"score": 75, "uncertain": True},
    }


NOT_REGEXES = ("(a", r"(a)\1", "(?=a)(b)", "a", "(a)|(b)")
NOT_PATHS = ("", "$", "a..b", "*.b", "a[0]b", "a[1:2]", "$[?@.a == 1].b")
PATTERN = "[verdict]\nregex = '(a)'\n"


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("[verdict", ()),
        (f"x = 1{'0' * 5_000}", ()),
        ("", ("verdict",)),
        ("verdict = 3", ("verdict",)),
        ("[verdict]", ("verdict",)),
        ("[verdict]\nregex = '(a)'\npath = 'a'", ("verdict",)),
        ("[verdict]\npath = 'a'\njsonpath = '$.a'", ("verdict", "jsonpath")),
        ("[verdict]\nregex = 3", ("verdict", "regex")),
        *((f"[verdict]\nregex = '{regex}'", ("verdict",)) for regex in NOT_REGEXES),
        *((f"[verdict]\npath = '{path}'", ("verdict",)) for path in NOT_PATHS),
        ("[verdict.score]\nregex = 'a'", ("verdict", "score")),
        (f"{PATTERN}flags = 'i'", ("verdict", "flags")),
        (f"{PATTERN}map = {{ a = [1] }}", ("verdict", "map", "a")),
        (f"{PATTERN}default = [1]", ("verdict", "default")),
        (f"{PATTERN}[[example]]\nreply = 'a'", ("example", 0)),
        (f"{PATTERN}[[example]]\nverdict = 1", ("example", 0, "reply")),
        (f"{PATTERN}[example]\nreply = 'a'", ("example",)),
        (f"{PATTERN}[[example]]\nreply = 'a'\nverdict = 1\ncell = 1", ("example", 0, "cell")),
        (f"[other]\n{PATTERN}", ("other",)),
    ],
)
def test_a_broken_parser_is_named(source: str, place: tuple[str | int, ...]) -> None:
    with pytest.raises(ParserError) as caught:
        parser(source)
    assert caught.value.place == place
    assert str(caught.value).startswith("mine.toml")
    assert "\n" not in str(caught.value)


def test_a_parser_that_is_no_text_is_named(tmp_path: Path) -> None:
    file = tmp_path / "odd.toml"
    with pytest.raises(ParserError, match=r"odd\.toml"):
        Parser.named(file)
    file.write_bytes(b"\xff")
    with pytest.raises(ParserError, match=r"odd\.toml"):
        Parser.named(file)


EXAMPLES = """
[[example]]
reply = "Rating: 4"
verdict = 4
[[example]]
reply = "Rating: 7"
verdict = 7
cell = { scale = 9 }
[[example]]
reply = "Rating: 1 or Rating: 2"
unreadable = true
"""


def test_examples_are_read_as_they_say() -> None:
    whole = regex(r"Rating: (\d)", EXAMPLES)
    assert [trial.reading for trial in try_examples(whole, SCORE, CELL)] == [4, 7, None]
    refuse_failing_examples(whole, SCORE, CELL)


@pytest.mark.parametrize(("pattern", "number"), [(r"Score: (\d)", 0), (r"Rating: (.)", 2)])
def test_an_example_that_fails_stops_everything(pattern: str, number: int) -> None:
    failing = EXAMPLES.replace("unreadable = true", "verdict = 1")
    with pytest.raises(ParserError) as caught:
        refuse_failing_examples(regex(pattern, failing), SCORE, CELL)
    assert caught.value.place == ("example", number)


def test_a_verdict_that_the_axis_does_not_allow_is_no_example() -> None:
    wrong = regex(r"Rating: (\d)", '[[example]]\nreply = "Rating: 9"\nverdict = 9')
    assert not next(iter(try_examples(wrong, SCORE, CELL))).passed


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (regex("(a+)+$"), "a" * 199_000 + "b"),
        (regex("(?:a|aa)*(c)"), "a" * 199_000),
        (regex("(.*)x(?:.*)x(?:.*)x"), "x" * 199_000),
        (path("b" + ".b" * 80), '{"b":' * 90 + "[" + "1," * 60_000 + "1]" + "}" * 90),
        (path("a[7]"), '{"a": [' + "[]," * 60_000 + "1]}"),
    ],
)  # fmt: skip
def test_hostile_replies_come_to_nothing(made: Parser, text: str) -> None:
    assert reading(SCORE, text, "text", CELL, made).verdict is None


def test_a_parser_does_not_look_at_thought() -> None:
    assert RATING.verdict("<think>Rating: 2?</think>Rating: 4") == "4"
    assert RATING.verdict("Rating: 2? No.\n</think>\nRating: 4") == "4"
    with pytest.raises(UnclearError):
        RATING.verdict("<think>I take Rating: 4")


def test_a_default_does_not_stand_for_a_reply_without_an_answer() -> None:
    made = Parser.from_source("[verdict]\nregex = 'Rating: (\\d)'\ndefault = 3\n", "p.toml")
    assert made.verdict("No rating.") == "3"
    with pytest.raises(UnclearError):
        made.verdict("<think>I take Rating: 4")


@pytest.mark.parametrize("made", [None, RATING])
def test_a_reply_that_was_cut_off_is_unreadable(made: Parser | None) -> None:
    text = "Rating: 4" if made else "[RESULT] 4"
    for reason, score in (("stop", 4), (None, 4), ("length", None), ("max_tokens", None)):
        found = reading(SCORE, text, "text", CELL, made, reason)
        assert found.verdict == score


def test_recorded_verdicts_need_no_parser() -> None:
    assert reading(SCORE, "4", "recorded", CELL, RATING).verdict == 4


def test_a_parser_survives_the_ledger() -> None:
    record: Any = json.loads(json.dumps(as_record("score_order", RATING)))
    assert from_records([record]) == {"score_order": RATING}
    assert record["digest"] == RATING.digest


MODULE = """
def grade(reply, parts):
    return int(reply.rpartition("grade ")[2])

def by_name(reply, parts):
    lines = dict(line.split(": ") for line in reply.splitlines())
    return {part["candidate"]: int(lines[part["candidate"]]) for part in parts}

def none(reply):
    return 4
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module of the user's in the folder that the command runs in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    name = f"grading_{tmp_path.parent.name}_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(MODULE)
    return name


@pytest.mark.parametrize(("text", "score"), [("A grade 4", 4), ("A grade 9", None), ("?", None)])
def test_a_function_of_the_users_reads_what_the_axis_allows(
    module: str, text: str, score: int | None
) -> None:
    made = Parser.named(f"{module}:grade")
    assert reading(SCORE, text, "text", CELL, made).verdict == score


def test_a_function_is_given_the_names_of_what_is_shown(module: str) -> None:
    made = Parser.named(f"{module}:by_name")
    cell = {"order": ["coherence", "fluency"]}
    found = reading(get_axis("criterion_order"), "fluency: 4\ncoherence: 2", "text", cell, made)
    assert found.verdict == {"fluency": 4, "coherence": 2}


@pytest.mark.parametrize("name", ["none", "lacking"])
def test_a_function_that_cannot_be_called_is_refused(module: str, name: str) -> None:
    with pytest.raises(JudgesheetError, match=module):
        Parser.named(f"{module}:{name}")


def test_a_folder_names_no_function_that_runs(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    record = as_record("score_order", Parser.named(f"{module}:grade"))
    assert from_records([record])["score_order"].name == f"{module}:grade"
    monkeypatch.setattr(parsing, "_FUNCTIONS", {})  # as in another process
    with pytest.raises(ParserError, match=module):
        from_records([record])
