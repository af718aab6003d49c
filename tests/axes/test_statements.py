"""How findings read intervals and say numbers."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesheet.axis.statements import (
    OTHER_ERROR,
    above,
    announced,
    below,
    correlation,
    curve,
    if_lost,
    indicated,
    number,
    p_value,
    points,
    surely_above,
    surely_below,
    whatever_lost,
)
from judgesheet.base.digits import percent, two_digits
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Estimate, Imputed
from judgesheet.stats.interval import student


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0 %"),
        (1, "100 %"),
        (0.0001, "0.1 %"),
        (0.9999, "99.9 %"),
        (0.45, "45 %"),
        (-0.058, "−6 %"),
        (-0.0001, "−0.1 %"),
        (-1, "−100 %"),
    ],
)
def test_a_share_is_rounded_but_never_to_another_sign(value: float, words: str) -> None:
    assert percent(value) == words


def share(key: str, **values: Any) -> Estimate:
    return Estimate(f"any.{key}", "A share", **{"value": 0.5, "note": "why", **values})


@pytest.mark.parametrize(
    ("low", "high", "is_above", "is_below"),
    [(0.4, 0.6, False, False), (0.51, 0.6, True, False), (0.4, 0.49, False, True),
     (0.5, 0.5, False, False), (None, None, False, False)],
)  # fmt: skip
def test_the_whole_interval_decides(
    low: float | None, high: float | None, is_above: bool, is_below: bool
) -> None:
    estimate = share("rate", low=low, high=high)
    assert (above(estimate, 0.5), below(estimate, 0.5)) == (is_above, is_below)
    assert not above(None, 0.5)
    assert not below(None, 0.5)


def test_a_sentence_accuses_by_its_share_of_the_error_of_the_page() -> None:
    weak, strong = share("order_dependence_p", value=0.01), share("friedman_p", value=0.0008)
    both = Estimates("any", [weak, strong])
    assert not announced(both, "order_dependence_p")
    assert announced(both, "friedman_p")
    assert not announced(Estimates("any", []), "friedman_p")
    lost = share("friedman_p", value=0.0001, imputed=Imputed(3, 0.0001, 0.2))
    assert not announced(Estimates("any", [lost]), "friedman_p")


IF_LOST = " if the lost calls (13 on the axis) were all adverse"


def test_what_rejects_and_does_not_accuse_is_indicated() -> None:
    values = {"none": 0.2, "some": 0.01, "sure": 0.0001}
    tests = Estimates("any", [share(name, value=value, unit="p") for name, value in values.items()])
    assert [name for name in values if indicated(tests, name)] == ["some", "sure"]
    assert [name for name in values if announced(tests, name)] == ["sure"]
    lost = share("some", value=0.01, unit="p", imputed=Imputed(3, 0.001, 0.2))
    assert indicated(Estimates("any", [lost]), "some") is None


@pytest.mark.parametrize(
    ("p", "worst", "words"),
    [
        (0.0004, None, "p < 0.001"),
        (0.0312, None, "p = 0.031"),
        (0.4249, None, "p = 0.42"),
        (1.0, None, "p = 1.00"),
        (0.004, 0.3, "p = 0.004; up to p = 0.30" + IF_LOST),
        # Where the test rejects in any case, or in none, lost calls decide nothing.
        (0.004, 0.02, "p = 0.004"),
        (0.2, 0.9, "p = 0.20"),
    ],
)
def test_a_p_value_says_what_lost_calls_decide(p: float, worst: float | None, words: str) -> None:
    imputed = None if worst is None else Imputed(13, 0.0, worst)
    assert p_value(share("some_p", value=p, unit="p", imputed=imputed)) == words


@pytest.mark.parametrize(
    ("imputed", "words"),
    [
        (None, ""),
        (Imputed(13, 0.0, 0.96), "; up to 96 %" + IF_LOST),
        (Imputed(1, 0.0, 0.96), "; up to 96 % if the lost call was adverse"),
        (Imputed(13, 0.0, 0.101), ""),
        (Imputed(13, None, None), "; the 13 lost calls could make it anything"),
    ],
)
def test_a_worst_case_is_told_as_that(imputed: Imputed | None, words: str) -> None:
    none = share("rate", value=0.0, low=0.0, high=0.1, imputed=imputed)
    assert if_lost(none, percent) == words
    assert bool(whatever_lost(none)) == (imputed is not None)


def test_a_correlation_is_surely_below_on_the_scale_of_its_interval() -> None:
    at = student(math.atanh(-0.09), 0.16, 24)
    (low, high), (_, strict) = at(0.95), at(1 - 2 * OTHER_ERROR)
    ends = {"low": math.tanh(low), "high": math.tanh(high)}
    r = share("pearson_r", value=-0.09, clusters=24, unit="r", **ends)
    assert surely_below(r, math.tanh(strict) + 1e-6)
    assert not surely_below(r, math.tanh(strict) - 1e-6)


@given(st.floats(-1, 1), st.floats(0.001, 1), st.integers(2, 200), st.floats(0, 1), st.booleans())
def test_what_is_surely_above_is_above(
    value: float, half: float, clusters: int, part: float, lost: bool
) -> None:
    imputed = Imputed(1, value - 2 * half, value + 2 * half) if lost else None
    ends = {"low": value - half, "high": value + half}
    mean = share("mean", value=value, clusters=clusters, imputed=imputed, **ends)
    for limit in (value - 4 * part * half, value + 4 * part * half):
        assert above(mean, limit) or not surely_above(mean, limit)
        assert below(mean, limit) or not surely_below(mean, limit)


def test_the_sure_end_is_that_of_a_t_interval_of_the_accusing_level() -> None:
    at = student(0.3, 0.05, 15)
    (low, high), (strict, _) = at(0.95), at(1 - 2 * OTHER_ERROR)
    estimate = share("mean", value=0.3, low=low, high=high, clusters=15)
    assert surely_above(estimate, strict - 1e-6)
    assert not surely_above(estimate, strict + 1e-6)


def test_one_stimulus_accuses_of_nothing() -> None:
    assert not surely_above(share("mean", value=1.0, low=0.9, high=1.0, clusters=1), 0.0)
    assert not surely_below(share("mean", value=0.0), 1.0)


def test_a_curve_is_what_was_measured_in_rising_k() -> None:
    members = [share(f"budget_r[k={k},arm=balanced]") for k in (10, 2, 1)]
    missing = share("budget_r[k=3,arm=balanced]", value=None)
    other = share("budget_r[k=4,arm=random]")
    estimates = Estimates("any", [*members, missing, other])
    assert [k for k, _ in curve(estimates, "budget_r", arm="balanced")] == [1, 2, 10]


def test_a_number_has_the_digits_that_its_interval_allows() -> None:
    wide = share("pearson_r", value=-0.4321, low=-0.8, high=0.95)
    narrow = share("pearson_r", value=0.99234, low=0.9831, high=0.9962)
    assert correlation(wide) == "r = −0.4, −0.8 to 0.9"
    assert correlation(narrow) == "r = 0.992, 0.983 to 0.996"
    assert correlation(share("pearson_r", value=0.5321)) == "r = 0.53"
    assert number(share("cramers_v", value=0.1, low=0.01, high=0.2), "most") == "0.20"
    gain = share("gain", value=0.357, low=0.069, high=0.556)
    assert points(gain) == "+36 percentage points, 95 % interval +7 to +56"
    small = share("gain", value=0.004, low=-0.091, high=0.095)
    assert points(small) == "+0.4 percentage points, 95 % interval −9.1 to +9.5"


@pytest.mark.parametrize(
    ("value", "words"),
    [(0, "0"), (3.0, "3"), (103.4, "103"), (12.3, "12"), (0.5321, "0.53"), (0.00341, "0.0034"),
     (-0.051, "−0.051"), (1e-12, "0.0000000000010")],
)  # fmt: skip
def test_a_number_without_an_interval_has_two_digits(value: float, words: str) -> None:
    assert two_digits(value) == words
