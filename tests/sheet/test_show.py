"""Numbers and foreign words on paper."""

from dataclasses import replace

import pytest

from judgesheet.base.records import Estimate, Verdict, VerdictStatus
from judgesheet.sheet import show


@pytest.mark.parametrize(
    ("value", "low", "high", "unit", "sentence"),
    [
        (0.263, 0.241, 0.285, "share", "26.3 % (24.1–28.5)"),
        (0.0, 0.0, 0.04, "share", "0 % (0–4.0)"),
        (1e-7, 0.0, 0.03, "share", "<0.1 % (0–3.0)"),
        (0.99999, 0.97, 1.0, "share", ">99.9 % (97.0–100)"),
        (1.0, 1.0, 1.0, "share", "100 % (100–100)"),
        (0.034, None, None, "p", "p = .034"),
        (0.0, None, None, "p", "p <.001"),
        (0.9999, None, None, "p", "p >.999"),
        (0.51, None, None, "p", "p = .51"),
        (0.2713, 0.2291, 0.3134, "V", "V = 0.271 (0.229–0.313)"),
        (0.2713, 0.05, 0.6, "V", "V = 0.27 (0.05–0.60)"),
        (-0.0123, -0.04, 0.011, "tau", "tau = −0.012 (−0.040 to 0.011)"),
        (-1e-6, None, None, "r", "r >−0.0001"),
        (34.12, 28.1, 41.9, "percentage points", "34 percentage points (28–42)"),
        (0.01, -0.09, 0.11, "difference", "1 percentage point (−9 to 11)"),
        (1.0, None, None, "calls", "1 call"),
        (1.0, 0.98, 1.02, "points", "1.000 points (0.980–1.020)"),
        (43215.0, None, None, "order", "order 43215"),
        (12345678.0, None, None, "", "12,345,678"),
        (1e300, None, None, "", "1e+300"),
        (1e308, -1e308, 1e308, "", "1e+308 (−1e+308 to 1e+308)"),
        (1e308, None, None, "share", "not measured: no reason given"),
        (0.0, 0.0, 5e-324, "", "0 (0 to <0.0001)"),
        (0.5, -1e308, 1e308, "share", "50 %"),
        (0.5, float("nan"), 0.6, "share", "50 %"),
    ],
)
def test_digits_follow_the_interval(
    value: float, low: float | None, high: float | None, unit: str, sentence: str
) -> None:
    assert show.quantity(value, low, high, unit).sentence == sentence


def test_degrees_of_freedom_stand_behind_the_value() -> None:
    chi2 = Estimate("a.chi2", "b", 278.52, unit="chi-square", given={"df": 4})
    assert show.estimate(chi2).sentence == "chi-square = 279, 4 df"
    assert show.unit_of(chi2) == "chi-square, 4 df"


def test_what_is_not_measured_says_why() -> None:
    assert show.quantity(None, note="no repeats").sentence == "not measured: no repeats"
    assert show.quantity(float("nan")).sentence == "not measured: no reason given"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (0.0004, "<0.001 s"),
        (0.29, "0.29 s"),
        (42.4, "42 s"),
        (305.4, "5 min 5 s"),
        (7325, "2 h 2 min"),
        (None, "not recorded"),
        ("soon", "not recorded"),
    ],
)
def test_durations(given: object, shown: str) -> None:
    assert show.seconds(given) == shown


def test_counts_money_and_dates() -> None:
    assert show.count(1920) == "1,920"
    assert show.count(None) == "not recorded"
    assert show.money(0.0) == "$0"
    assert show.money(0.001) == "<$0.01"
    assert show.money(None) == "unknown"
    assert show.share(0, 5) == "0 %"
    assert show.share(0, 0) == "–"
    assert show.moment("2026-11-20T14:03:11Z") == "20 November 2026, 14:03 UTC"
    assert show.day("yesterday") == "yesterday"


def test_any_json_value_has_a_line() -> None:
    value = {"a": None, "b": True, "c": [1, {"d": 2}], "e": "x"}
    assert show.anything(value) == 'a: none, b: yes, c: [1,{"d":2}], e: x'
    assert show.anything([]) == "none"
    assert show.anything("") == "not recorded"


def test_invisible_characters_are_shown_and_long_words_marked() -> None:
    assert show.visible("a\u202eb\x00\u200b") == "a[U+202E]b[U+0000][U+200B]"
    assert show.visible("\ud800") == "[U+D800]"
    assert show.visible("x" * 50, 10) == "xxxxxxxxxx [… 40 more characters]"
    assert show.short("a  long\nword", 8) == "a long …"


def test_a_deviation_in_a_drawing_has_no_sign_that_its_digits_do_not_show() -> None:
    shown = [show.signed(value) for value in (-0.0026, 0.004, -0.006, 0.31, 0.0)]
    assert shown == ["0.00", "0.00", "\N{MINUS SIGN}0.01", "+0.31", "0.00"]


@pytest.mark.parametrize("status", ["fail", "inconclusive", "invalid"])
def test_a_bound_below_its_value_is_a_lower_bound_however_the_limit_came_out(
    status: VerdictStatus,
) -> None:
    held = Verdict("", "a.b", 0.67, status, "", limit=0.2, kind="max", bound=0.32)
    assert show.side(held) == "min"
    assert show.side(replace(held, bound=0.8)) == "max"
