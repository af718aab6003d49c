"""Votes, errors that they share, and how few of them decide alike."""

import numpy as np
import pytest
from scipy import stats

from judgesheet.stats.majority import (
    error_correlation,
    majority_error,
    majority_error_bound,
)


def test_the_bound_of_the_paper_holds() -> None:
    assert majority_error_bound(0.86, 7) == pytest.approx(0.16293564)
    assert majority_error(0.86, 7) == pytest.approx(0.009433863)
    assert majority_error(0.86, 7, 0.5) == pytest.approx(0.1187, abs=5e-5)
    assert majority_error(0.86, 7, 1.0) == pytest.approx(0.14)
    assert majority_error_bound(0.5, 7) == 1.0


def test_independent_votes_are_binomial() -> None:
    assert majority_error(0.7, 5) == pytest.approx(stats.binom.cdf(2, 5, 0.7))
    assert majority_error(0.7, 5, 0.2) == pytest.approx(stats.betabinom.cdf(2, 5, 2.8, 1.2))
    assert majority_error(1.0, 5, 0.2) == 0.0


def test_error_correlation_is_one_for_the_same_errors_and_nil_for_independent_ones() -> None:
    rng = np.random.default_rng(3)
    same = np.repeat(rng.random((60, 1)) < 0.7, 8, axis=1).astype(float)
    alike = error_correlation(same)
    assert alike.value == pytest.approx(1.0)
    assert alike.low is not None
    assert 0.8 < alike.low < 1
    found = error_correlation((rng.random((400, 8)) < 0.7).astype(float))
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0 < found.high
    own = rng.beta(0.7, 0.3, size=(2000, 1))  # correlation 1 / (1 + .7 + .3)
    assert error_correlation((rng.random((2000, 8)) < own).astype(float)).value == pytest.approx(
        0.5, abs=0.04
    )


@pytest.mark.parametrize(("hits", "why"), [(1.0, "no vote errs"), (0.0, "all votes err")])
def test_error_correlation_without_variance_says_why(hits: float, why: str) -> None:
    found = error_correlation(np.full((9, 4), hits))
    assert (found.value, found.note) == (None, why)


def test_error_correlation_needs_prompts_and_pairs() -> None:
    assert error_correlation(np.ones((2, 4))).value is None
    assert error_correlation(np.full((9, 4), np.nan)).value is None
    one_bad = np.ones((6, 4))
    one_bad[0] = 0
    found = error_correlation(one_bad)
    assert (found.value, found.low) == (1.0, None)
