"""A win rate with other facts held even: against a fit by hand, and where there is none."""

import numpy as np
import pytest

from judgesheet.stats.exact import exact_rate
from judgesheet.stats.logistic import held_even


def test_one_fact_that_is_always_there_is_the_plain_win_rate() -> None:
    wins = np.array([1.0, 1.0, 0.0, 0.5, 1.0, 0.0] * 4)
    (rate,) = held_even(wins, np.ones((24, 1)), np.arange(24))
    assert rate.value == pytest.approx(wins.mean())
    # The sandwich of a mean on the scale of log-odds.
    error = np.sqrt(24 / 23 * np.sum((wins - wins.mean()) ** 2)) / 24
    slope = np.log(wins.mean() / (1 - wins.mean()))
    far = 2.068658 * error / (wins.mean() * (1 - wins.mean()))  # t of 23 degrees of freedom
    assert rate.low == pytest.approx(1 / (1 + np.exp(far - slope)), rel=1e-3)


def test_two_facts_are_distinguished() -> None:
    rng = np.random.default_rng(1)
    facts = rng.normal(size=(4000, 2))
    wins = (rng.random(4000) < 1 / (1 + np.exp(-facts @ [0.7, -0.3]))).astype(float)
    first, second = held_even(wins, facts, np.arange(4000) // 4)
    for rate, slope in ((first, 0.7), (second, -0.3)):
        assert rate.low is not None
        assert rate.high is not None
        assert rate.low < 1 / (1 + np.exp(-slope)) < rate.high


@pytest.mark.parametrize(
    ("wins", "facts", "reason"),
    [
        ([1.0, 1.0, 0.0], [[1.0], [2.0], [-1.0]], "separated"),
        ([1.0, 0.0], [[0.0], [0.0]], "separated"),
        ([1.0, 0.0, 1.0], [[1.0, 1.0], [2.0, 2.0], [-1.0, -1.0]], "separated"),
        ([1.0] * 40 + [0.0], [[1.0]] * 40 + [[-0.5]], "separated"),
        ([1.0, 0.0, 1.0], [[1.0], [1.0], [-1.0]], "separated"),
        ([], np.zeros((0, 1)), "no_observations"),
    ],
)
def test_what_cannot_be_fitted_says_why(wins: list[float], facts: object, reason: str) -> None:
    found = held_even(wins, np.array(facts, dtype=float), range(len(wins)))
    assert {one.reason for one in found} == {reason}
    assert {one.value for one in found} == {None}


def test_one_stimulus_has_a_value_and_no_interval() -> None:
    (rate,) = held_even([1.0, 0.0, 1.0] * 6, np.ones((18, 1)), [0] * 18)
    assert rate.value == pytest.approx(2 / 3)
    assert rate.low is None


def test_an_exact_bound_of_none_of_24() -> None:
    rate = exact_rate(np.zeros(24), np.ones(24))
    assert rate.bounds is not None
    assert rate.bounds[1] == pytest.approx(1 - 0.05 ** (1 / 24))
    assert rate.high == pytest.approx(1 - 0.025 ** (1 / 24))
    assert (rate.hits, rate.trials, rate.low) == (0, 24, 0.0)
    assert exact_rate([], []).reason == "no_observations"
