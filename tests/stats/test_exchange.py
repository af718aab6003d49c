"""Orders exchanged within items, stimulus by stimulus."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesheet.stats.exchange import Exchanged, exchanged, stepdown, together
from judgesheet.stats.multiplicity import holm
from judgesheet.stats.orders import balanced

PLACES = 5
ORDERS = np.array(balanced(PLACES)) - 1
WHERE = np.argsort(ORDERS, axis=1).astype(float)
"""Where each order lists each thing."""


def chosen(things: np.ndarray) -> np.ndarray:
    given: np.ndarray = np.eye(PLACES)[things]
    return given


def always_first() -> np.ndarray:
    return chosen(ORDERS[:, 0])


def noise(rng: np.random.Generator) -> np.ndarray:
    """Choices that no order enters."""
    return chosen(rng.choice(PLACES, len(ORDERS), p=rng.dirichlet(np.ones(PLACES))))


def stimulus(rng: np.random.Generator, *items: np.ndarray, draws: int = 199) -> Exchanged:
    return exchanged([(given, WHERE) for given in items], PLACES, rng, draws)


def test_moments_and_p_are_those_of_all_exchanges() -> None:
    rng = np.random.default_rng(1)
    where = np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1]], dtype=float)
    given = rng.random((4, 3))
    sums = [
        np.array([given[where[list(order)] == place].sum() for place in range(3)])
        for order in permutations(range(4))
    ]
    found = exchanged([(given, where)], 3, rng, 9_999)
    assert found.observed == pytest.approx(sums[0])
    assert found.mean == pytest.approx(np.mean(sums, axis=0))
    assert found.covariance == pytest.approx(np.cov(np.transpose(sums), bias=True))
    assert found.log_ways == pytest.approx(np.log(24))
    basis = np.linalg.pinv(np.cov(np.transpose(sums), bias=True))
    forms = [(one - found.mean) @ basis @ (one - found.mean) for one in sums]
    exact = np.mean(np.array(forms) >= forms[0] - 1e-9)
    assert found.p() == pytest.approx(exact, abs=0.02)


def test_the_same_choice_under_every_order_is_no_effect() -> None:
    steady = stimulus(np.random.default_rng(0), chosen(np.full(len(ORDERS), 2)))
    assert steady.p() == 1
    assert steady.departure == pytest.approx(np.zeros(PLACES))
    assert steady.log_ways > 0


def test_a_place_that_is_always_chosen_gets_all_but_its_share() -> None:
    found = stimulus(np.random.default_rng(0), always_first())
    assert found.departure[0] == pytest.approx(1 - 1 / PLACES)
    assert found.p() == pytest.approx(1 / 200)


def test_few_stimuli_are_found_among_many_and_the_rest_is_not() -> None:
    rng = np.random.default_rng(2)
    parts = [stimulus(rng, noise(rng), noise(rng), draws=1_999) for _ in range(30)]
    for biased in (4, 17):
        parts[biased] = stimulus(rng, always_first(), always_first(), draws=1_999)
    adjusted = stepdown(parts)
    assert set(np.flatnonzero(adjusted < 0.05)) == {4, 17}
    assert adjusted[4] == pytest.approx(1 / 2_000)
    # With so many draws, no single p-value could survive a correction by number as small.
    single = holm([part.p() for part in parts])
    assert single[4] is not None
    assert single[4] >= 30 / 2_000 - 1e-12
    rest = [part for at, part in enumerate(parts) if at not in (4, 17)]
    assert together(rest).p() > 0.05


@pytest.mark.slow
def test_without_an_effect_hardly_any_stimulus_is_found() -> None:
    rng, sets = np.random.default_rng(3), 400
    parts = ([stimulus(rng, noise(rng), noise(rng)) for _ in range(12)] for _ in range(sets))
    rejected = np.mean([stepdown(some).min() < 0.05 for some in parts])
    assert 0.02 <= rejected <= 0.085


@given(st.integers(0, 10_000), st.integers(1, 6))
def test_corrected_p_values_follow_the_surprise_and_are_no_smaller_than_single_ones(
    seed: int, count: int
) -> None:
    rng = np.random.default_rng(seed)
    parts = [stimulus(rng, noise(rng), draws=99) for _ in range(count)]
    adjusted, own = stepdown(parts), [part.surprise()[0] for part in parts]
    assert all(adjusted[np.argsort(own)] == np.sort(adjusted)[::-1])
    assert all(p >= part.p() for p, part in zip(adjusted, parts, strict=True))
