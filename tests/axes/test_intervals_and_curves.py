"""How intervals and curves are read, and how numbers are said."""

from typing import Any

import pytest

from judgesheet.base.digits import percent, two_digits
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Estimate


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
    assert (estimate.is_above(0.5), estimate.is_below(0.5)) == (is_above, is_below)


def test_a_curve_is_what_was_measured_in_rising_k() -> None:
    members = [share(f"budget_r[k={k},arm=balanced]") for k in (10, 2, 1)]
    missing = share("budget_r[k=3,arm=balanced]", value=None)
    other = share("budget_r[k=4,arm=random]")
    estimates = Estimates("any", [*members, missing, other])
    assert [k for k, _ in estimates.curve("budget_r", arm="balanced")] == [1, 2, 10]


@pytest.mark.parametrize(
    ("value", "words"),
    [(0, "0"), (3.0, "3"), (103.4, "103"), (12.3, "12"), (0.5321, "0.53"), (0.00341, "0.0034"),
     (-0.051, "−0.051"), (1e-12, "0.0000000000010")],
)  # fmt: skip
def test_a_number_without_an_interval_has_two_digits(value: float, words: str) -> None:
    assert two_digits(value) == words
