from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from math import factorial
from typing import Any

import numpy as np
import pytest
import scipy

from judgesheet.stats.orders import balanced, half, random_orders, spread_orders, williams


def test_balanced_is_the_papers_sequence() -> None:
    # 000 section 3.1: five forward rotations, then five reverse ones
    orders = balanced(5)
    assert orders[:2] == ((1, 2, 3, 4, 5), (2, 3, 4, 5, 1))
    assert orders[5:7] == ((5, 4, 3, 2, 1), (4, 3, 2, 1, 5))


@pytest.mark.parametrize(("n", "distinct"), [(1, 1), (2, 2), (3, 6), (4, 8), (5, 10), (9, 18)])
def test_balanced_shows_every_option_equally_often_everywhere(n: int, distinct: int) -> None:
    orders = balanced(n)
    assert len(orders) == len(set(orders)) == distinct
    for position in range(n):
        assert set(Counter(order[position] for order in orders).values()) == {distinct // n}


def test_balanced_matches_the_published_count(golden: Mapping[str, Any]) -> None:
    entry = golden["000.balance"]
    orders = balanced(entry["inputs"]["n"])
    times = {Counter(order[p] for order in orders)[s] for p in range(5) for s in range(1, 6)}
    assert times == {entry["paper"]}


@pytest.mark.parametrize(("n", "orders"), [(1, 1), (2, 2), (3, 6), (4, 4), (5, 5), (6, 6), (7, 14)])
def test_half_shows_every_option_equally_often_everywhere(n: int, orders: int) -> None:
    shown = half(n)
    assert len(shown) == len(set(shown)) == orders
    for position in range(n):
        assert set(Counter(order[position] for order in shown).values()) == {orders // n}


@pytest.mark.parametrize(("n", "taus"), [(4, [-1, -1 / 3, 1 / 3, 1]), (5, [-0.8, -0.4, 0, 0.4, 1])])
def test_half_has_lists_that_rise_and_lists_that_fall(n: int, taus: list[float]) -> None:
    found = [scipy.stats.kendalltau(order, range(n)).statistic for order in half(n)]
    assert sorted(found) == pytest.approx(taus)


@pytest.mark.parametrize("n", range(2, 11))
def test_williams_balances_neighbours(n: int) -> None:
    orders = williams(n)
    assert len(orders) == (2 * n if n % 2 else n)
    neighbours = Counter(pair for order in orders for pair in pairwise(order))
    assert len(neighbours) == n * (n - 1)
    assert set(neighbours.values()) == {2 if n % 2 else 1}
    assert all(sorted(order) == list(range(1, n + 1)) for order in orders)


def test_cyclic_five_never_shows_half_of_the_neighbours() -> None:
    assert len({pair for order in balanced(5) for pair in pairwise(order)}) == 10


def test_one_option_has_one_order() -> None:
    assert williams(1) == balanced(1) == ((1,),)


@pytest.mark.parametrize(("n", "k"), [(3, 2), (3, 6), (3, 10), (9, 18), (1, 3)])
def test_random_orders_are_distinct_while_they_can_be(
    n: int, k: int, rng: np.random.Generator
) -> None:
    orders = random_orders(n, k, rng)
    assert len(orders) == k
    assert len(set(orders)) == min(k, factorial(n))


def test_random_orders_follow_the_generator() -> None:
    first, again = (random_orders(5, 10, np.random.default_rng(3)) for _ in range(2))
    assert first == again


@pytest.mark.parametrize("design", [balanced, williams])
def test_no_options_is_an_error(design: Any) -> None:
    with pytest.raises(ValueError, match="at least one option"):
        design(0)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 9, 26])
@pytest.mark.parametrize("k", [1, 2, 3, 7, 8, 12, 25])
def test_spread_orders_are_distinct_and_as_balanced_as_their_number_allows(n: int, k: int) -> None:
    orders = spread_orders(n, k, np.random.default_rng(3))
    assert orders[0] == tuple(range(1, n + 1))
    assert len(orders) == len(set(orders)) == min(k, factorial(n))
    for position in range(n):
        counts = Counter(order[position] for order in orders)
        times = [counts[option] for option in range(1, n + 1)]
        assert max(times) - min(times) <= (len(orders) % n > 0)


def test_spread_orders_begin_with_the_balanced_ones_and_draw_the_rest() -> None:
    assert spread_orders(4, 8, np.random.default_rng(0)) == balanced(4)
    parts = {spread_orders(4, 7, np.random.default_rng(seed))[4:] for seed in range(20)}
    assert len(parts) > 5
    assert all(set(part) < set(balanced(4)) for part in parts)
    again = [spread_orders(5, 23, np.random.default_rng(1)) for _ in range(2)]
    assert again[0] == again[1]
