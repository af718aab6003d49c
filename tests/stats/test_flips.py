from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from judgesheet.stats.flips import (
    call_flips,
    kendall_tau_b,
    one_hot,
    pick,
    top1_flip,
    top1_flip_first_index,
)


def test_pick_shares_between_the_tied() -> None:
    found = pick(np.array([[3, 5, 5, 1], [2, 1, 1, 1], [2, np.nan, 1, 1]]))
    assert found[:2].tolist() == [[0, 0.5, 0.5, 0], [1, 0, 0, 0]]
    assert np.isnan(found[2]).all()
    # .1 + .2 and .3 are the same mean score
    assert pick([0.1 + 0.2, 0.3]).tolist() == [0.5, 0.5]


def test_expected_ties_and_the_first_index() -> None:
    a, b = np.array([[5, 5, 1], [5, 4, 1], [1, 2, 3]]), np.array([[4, 5, 1], [5, 2, 1], [3, 2, 1]])
    assert top1_flip(pick(a), pick(b)).tolist() == [0.5, 0.0, 1.0]
    assert top1_flip_first_index(a, b).tolist() == [1.0, 0.0, 1.0]
    assert np.isnan(top1_flip_first_index([1, np.nan], [1, 2]))
    assert np.isnan(top1_flip(pick([1, np.nan]), pick([1, 2])))


def pairs_by_loop(q: NDArray[np.float64]) -> tuple[float, float]:
    """Mean disagreement over pairs of answered calls of one prompt (O, R, C)."""
    calls = [
        (order, call) for order, reads in enumerate(q) for call in reads if not np.isnan(call).any()
    ]
    across: list[float] = []
    within: list[float] = []
    for (order_a, a), (order_b, b) in combinations(calls, 2):
        (within if order_a == order_b else across).append(1 - float(a @ b))
    mean = [float(np.mean(found)) if found else np.nan for found in (across, within)]
    return mean[0], mean[1]


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 3))
def test_closed_form_is_the_loop_over_pairs(seed: int, orders: int, repeats: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(1, 4, size=(6, orders, repeats, 3)).astype(float)
    scores[rng.random(scores.shape) < 0.1] = np.nan
    q = pick(scores)
    found = call_flips(q)
    expected = np.array([pairs_by_loop(prompt) for prompt in q])
    np.testing.assert_allclose(found.different, expected[:, 0], atol=1e-12)
    np.testing.assert_allclose(found.same, expected[:, 1], atol=1e-12)
    np.testing.assert_allclose(found.excess, expected[:, 0] - expected[:, 1], atol=1e-12)
    assert not np.any(found.different > found.most + 1e-12)


@pytest.mark.parametrize(
    ("orders", "options", "most"),
    [(10, 2, 25 / 45), (10, 5, 40 / 45), (2, 2, 1.0), (8, 4, 24 / 28), (10, 0, 1.0)],
)
def test_orders_that_outnumber_the_options_bound_the_excess(
    orders: int, options: int, most: float
) -> None:
    """Of ten winners out of two, 20 of 45 pairs are alike; without known options none must be."""
    winners = np.arange(orders)[None, :, None] % max(2, options) + 1.0
    reads = np.repeat(winners, 2, axis=2)  # every order twice, always with the same winner
    found = call_flips(one_hot(reads, max(2, options)), options)
    assert found.most_excess == pytest.approx(most)
    if options:
        assert found.excess == pytest.approx(most)


def test_single_reads_have_no_excess() -> None:
    found = call_flips(pick(np.array([[[[1, 2]], [[2, 1]]]])))
    assert found.different.tolist() == [1.0]
    assert np.isnan(found.same[0])
    assert np.isnan(found.excess[0])


def test_score_changes_use_the_same_function() -> None:
    scores = np.array([[[4, 4], [5, 5]], [[3, np.nan], [3, 3]]])  # (items, orders, repeats)
    found = call_flips(one_hot(scores, 5))
    assert found.different.tolist() == [1.0, 0.0]
    assert found.same.tolist() == [0.0, 0.0]


def test_one_hot() -> None:
    assert one_hot(2, 3).tolist() == [0, 1, 0]
    assert np.isnan(one_hot([np.nan], 3)).all()


def test_kendall_is_scipys(rng: np.random.Generator) -> None:
    a, b = rng.integers(1, 5, size=(2, 50, 4)).astype(float)
    expected = [stats.kendalltau(x, y).statistic for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(kendall_tau_b(a, b), expected, atol=1e-12)


def test_kendall_is_undefined_when_a_side_is_tied_or_missing() -> None:
    a = np.array([[1, 1, 1], [1, 2, np.nan], [1, 2, 3]])
    found = kendall_tau_b(a, np.array([[1, 2, 3], [1, 2, 3], [3, 2, 1]]))
    assert np.isnan(found[:2]).all()
    assert found[2] == -1
