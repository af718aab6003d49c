"""Paired comparisons of paper 004, and the interval of their difference."""

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from judgesheet.stats.paired import (
    changes,
    paired_difference,
    sign_test,
)


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


def test_the_difference_combines_the_exact_ends_of_its_parts() -> None:
    """21 improved, 5 regressed of 300: each Clopper and Pearson's, their correlation -.0341."""
    found = paired_difference(np.repeat([1.0, -1.0, 0.0], [21, 5, 274]))
    (a, b), (c, d) = (proportion_confint(k, 300, method="beta") for k in (21, 5))
    p, q = 21 / 300, 5 / 300
    rho = -((p * q / ((1 - p) * (1 - q))) ** 0.5)
    low = ((p - a) ** 2 - 2 * rho * (p - a) * (d - q) + (d - q) ** 2) ** 0.5
    high = ((b - p) ** 2 - 2 * rho * (b - p) * (q - c) + (q - c) ** 2) ** 0.5
    assert found.value == pytest.approx(16 / 300)
    assert (found.low, found.high) == pytest.approx((p - q - low, p - q + high))
    assert found.clusters == 300


@pytest.mark.parametrize("pairs", [14, 30, 60])
@pytest.mark.parametrize("improved", [0.1, 0.2, 0.5, 0.8])
def test_a_bound_keeps_its_error_where_nothing_got_worse(pairs: int, improved: float) -> None:
    counts = np.arange(pairs + 1)
    law = binom.pmf(counts, pairs, improved)
    sets = (np.repeat([1.0, 0.0], [k, pairs - k]) for k in counts)
    bounds = np.array([paired_difference(one).bounds for one in sets], dtype=float)
    assert law[bounds[:, 0] > improved + 1e-9].sum() <= 0.06
    assert law[bounds[:, 1] < improved - 1e-9].sum() <= 0.06


def test_no_difference_anywhere_still_has_an_interval() -> None:
    found = paired_difference(np.zeros(10))
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0 < found.high


def test_the_interval_stays_within_reach() -> None:
    found = paired_difference(np.ones(3))
    assert (found.value, found.high) == (1.0, 1.0)
    assert paired_difference([]).value is None
    assert paired_difference([0.5, np.nan]).low is None


def test_shares_of_ties_count_as_changes() -> None:
    assert changes([0.5, -0.25, 0.0, 1e-15, np.nan]) == (1, 1, 2)
