"""Paired comparisons of paper 004, and the interval of their difference."""

import numpy as np
import pytest

from judgesheet.stats.paired import agresti_min, changes, sign_test


@pytest.mark.parametrize(
    ("improved", "regressed", "p", "tolerance"),
    [
        (21, 5, 0.0025, 5e-5),
        (17, 7, 0.064, 5e-4),
        (38, 12, 3.1e-4, 5e-6),
        (5, 0, 0.0625, 1e-12),  # the best that a net gain of 5 prompts can show
        (10, 0, 0.001953125, 1e-12),
    ],
)
def test_the_papers_sign_tests(improved: int, regressed: int, p: float, tolerance: float) -> None:
    assert sign_test(improved, regressed) == pytest.approx(p, abs=tolerance)


def test_nothing_changed_is_no_evidence() -> None:
    assert sign_test(0, 0) == 1.0


def test_agresti_min_is_the_adjusted_wald_interval() -> None:
    """21 improved, 5 regressed of 300: d = 16/302, half = 1.96 sqrt(27 - 256/302) / 302."""
    found = agresti_min(np.repeat([1.0, -1.0, 0.0], [21, 5, 274]))
    half = 1.959964 * (27 - 256 / 302) ** 0.5 / 302
    assert found.value == pytest.approx(16 / 300)
    assert found.low == pytest.approx(16 / 302 - half)
    assert found.high == pytest.approx(16 / 302 + half)
    assert found.clusters == 300


def test_no_difference_anywhere_still_has_an_interval() -> None:
    found = agresti_min(np.zeros(10))
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0 < found.high


def test_the_interval_stays_within_reach() -> None:
    found = agresti_min(np.ones(3))
    assert (found.value, found.high) == (1.0, 1.0)
    assert agresti_min([]).value is None
    assert agresti_min([0.5, np.nan]).low is None


def test_shares_of_ties_count_as_changes() -> None:
    assert changes([0.5, -0.25, 0.0, 1e-15, np.nan]) == (1, 1, 2)
