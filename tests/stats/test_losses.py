"""Whether calls are lost at random: the tests keep their size and see what is planted."""

import numpy as np
import pytest

from judgesheet.stats import losses
from judgesheet.stats.losses import dispersion_p, permutation_p

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


@pytest.mark.parametrize("lost", [np.zeros(10, bool), np.ones(10, bool)])
def test_nothing_or_everything_lost_is_no_comparison(lost: np.ndarray) -> None:
    assert permutation_p(lost, FIRST[:10], STRATA[:10], rng()) is None
    assert dispersion_p(lost, np.arange(10) % 2, rng()) is None


def test_orders_that_do_not_differ_are_no_comparison() -> None:
    lost = np.arange(10) < 3
    assert permutation_p(lost, np.ones((10, 1)), STRATA[:10], rng()) is None


def test_calls_without_a_feature_are_left_out() -> None:
    lost = (FIRST[:, 0] == 1) & (rng().random(STRATA.size) < 0.4)
    holes = FIRST.copy()
    holes[::7] = np.nan
    kept = ~np.isnan(holes[:, 0])
    assert permutation_p(lost, holes, STRATA, rng()) == permutation_p(
        lost[kept], holes[kept], STRATA[kept], rng()
    )


def test_dispersion_keeps_its_size_and_sees_a_stimulus_that_loses_all() -> None:
    stimulus = np.repeat(np.arange(12), 39)
    small = sum(
        (dispersion_p(rng(seed).random(468) < 0.05, stimulus, rng(seed), 199) or 1) < 0.05
        for seed in range(200)
    )
    assert small <= 20
    p = dispersion_p(stimulus == 0, stimulus, rng())
    assert p is not None
    assert p < 0.001


@pytest.mark.parametrize("together", [False, True])
def test_stimuli_that_are_refused_are_told_from_questions_that_are(together: bool) -> None:
    """20 stimuli with 8 questions, some asked five times, lost `together` or each by itself."""
    stimulus, asked = np.repeat(np.arange(20), 8), np.tile([1, 1, 1, 1, 1, 1, 5, 5], 20)

    def p(chance: float | np.ndarray, seed: int) -> float:
        often = np.ones_like(asked) if together else asked
        found = dispersion_p(rng(seed).binomial(often, chance) / often, stimulus, rng(), 399)
        assert found is not None
        return found

    fair = np.array([p(0.12, seed) for seed in range(200)])
    assert 2 <= (fair < 0.05).sum() <= 20
    assert (fair < 0.01).sum() <= 6
    assert all(p(np.where(stimulus < 2, 1.0, 0.05), seed) < 0.01 for seed in range(20))


def test_orders_of_questions_that_are_lost_whole_are_no_pattern() -> None:
    """Each of the orders asked twice: what is lost together is no more evidence."""
    found = [
        permutation_p(2 * (rng(seed).random(STRATA.size) < 0.1), FIRST, STRATA, rng(seed), 399)
        for seed in range(200)
    ]
    assert sum(p is not None and p < 0.05 for p in found) <= 20


def test_draws_of_many_clusters_are_looked_at_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    lost, stimulus = np.arange(36) % 7 == 1, np.repeat(np.arange(4), 9)
    together = dispersion_p(lost, stimulus, rng())
    monkeypatch.setattr(losses, "AT_ONCE", 40)
    assert dispersion_p(lost, stimulus, rng()) == together


def test_one_cluster_has_no_dispersion() -> None:
    assert dispersion_p([1, 0], [0, 0], rng()) is None
