"""Whether calls are lost at random: the tests keep their size and see what is planted."""

from itertools import permutations

import numpy as np
import pytest

from judgesheet.stats.losses import _covariance, permutation_p

ITEMS, ORDERS = 30, 10
STRATA = np.repeat(np.arange(ITEMS), ORDERS)
FIRST = np.eye(5)[np.tile(np.arange(ORDERS) % 5, ITEMS)]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("by_item", [False, True])
def test_losses_at_random_within_an_item_seldom_reject(by_item: bool) -> None:
    small = 0
    for seed in range(200):
        draw = rng(seed)
        chance = np.repeat(draw.beta(0.2, 1.8, ITEMS), ORDERS) if by_item else 0.1
        p = permutation_p(draw.random(STRATA.size) < chance, FIRST, STRATA, draw, 199)
        small += p is not None and p < 0.05
    assert small <= 20


def test_losses_of_one_order_are_seen() -> None:
    lost = (FIRST[:, 0] == 1) & (rng().random(STRATA.size) < 0.4)
    p = permutation_p(lost, FIRST, STRATA, rng())
    assert p is not None
    assert p < 0.01


def test_the_smallest_p_is_that_of_the_design() -> None:
    """One of ten calls lost: no labelling is rarer than one in five of its first lines."""
    lost = np.zeros(ORDERS, dtype=bool)
    lost[0] = True
    p = permutation_p(lost, FIRST[:ORDERS], STRATA[:ORDERS], rng())
    assert p is not None
    assert p > 0.15


def test_the_covariance_is_that_over_all_permutations() -> None:
    """By which strata of different sizes are weighed against each other (Hoeffding 1951)."""
    lost, features = np.array([2.0, 0.0, 1.0, 0.0]), rng().normal(size=(4, 2))
    centred = features - features.mean(axis=0)
    sums = np.array([np.array(dealt) @ centred for dealt in permutations(lost)])
    assert _covariance(lost, centred) == pytest.approx(np.cov(sums.T, ddof=0))


@pytest.mark.parametrize("lost", [np.zeros(10, bool), np.ones(10, bool)])
def test_nothing_or_everything_lost_is_no_comparison(lost: np.ndarray) -> None:
    assert permutation_p(lost, FIRST[:10], STRATA[:10], rng()) is None


def test_orders_that_do_not_differ_are_no_comparison() -> None:
    lost = np.arange(10) < 3
    assert permutation_p(lost, np.ones((10, 1)), STRATA[:10], rng()) is None


def test_losses_of_another_order_on_each_item_are_seen() -> None:
    """Summed over items they cancel, their squares do not."""
    favourite = np.repeat(np.arange(ITEMS) % 5, ORDERS)
    lost = (np.argmax(FIRST, axis=1) == favourite) & (rng().random(STRATA.size) < 0.8)
    p = permutation_p(lost, FIRST, STRATA, rng())
    assert p is not None
    assert p < 0.001


def test_orders_of_questions_that_are_lost_whole_are_no_pattern() -> None:
    """Each of the orders asked twice: what is lost together is no more evidence."""
    found = [
        permutation_p(2 * (rng(seed).random(STRATA.size) < 0.1), FIRST, STRATA, rng(seed), 399)
        for seed in range(200)
    ]
    assert sum(p is not None and p < 0.05 for p in found) <= 20
