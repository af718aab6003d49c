from collections.abc import Mapping
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from judgesheet.stats.orders import balanced
from judgesheet.stats.selection import (
    best_order_share,
    bias_cost,
    min_bias_order,
    order_gain_share,
    selection_matrix,
)

CANONICAL = (1, 2, 3, 4, 5)
JUDGES = [
    "GPT-4.1-mini",
    "GPT-4.1",
    "Qwen3-8B",
    "Qwen3-8B-Think",
    "Qwen3-32B",
    "Qwen3-32B-Think",
    "OSS-120B",
]


@pytest.mark.parametrize("judge", JUDGES)
def test_costs_reproduce_table_6(judge: str, golden: Mapping[str, Any]) -> None:
    # 001 Table 6 from Table 5: cost of the best of ten rotations, cost of the default
    entry = golden[f"001.T6.{judge}"]
    matrix = np.array(entry["inputs"]["table5"]) / 100
    best = min_bias_order(matrix, balanced(5))
    assert best is not None
    assert bias_cost(matrix, best) == pytest.approx(entry["paper"][0], abs=entry["tol"])
    assert bias_cost(matrix, CANONICAL) == pytest.approx(entry["paper"][1], abs=entry["tol"])
    assert best == tuple(golden[f"001.T6.{judge}.order"]["paper"])


@pytest.mark.parametrize("judge", JUDGES)
def test_the_assignment_beats_every_order(judge: str, golden: Mapping[str, Any]) -> None:
    matrix = np.array(golden[f"001.T6.{judge}"]["inputs"]["table5"]) / 100
    best = min_bias_order(matrix)
    every = min(bias_cost(matrix, order) for order in permutations(CANONICAL))
    assert best is not None
    assert bias_cost(matrix, best) == pytest.approx(every)


def test_selection_matrix_has_nan_for_a_score_never_chosen() -> None:
    counts = np.array([[[3, 1], [0, 0]], [[1, 3], [0, 0]]])
    matrix = selection_matrix(counts)
    assert matrix[0].tolist() == [0.5, 0.5]
    assert np.isnan(matrix[1]).all()
    assert np.isnan(bias_cost(matrix, (1, 2)))
    assert min_bias_order(matrix) is None


def selections(
    rng: np.random.Generator, chances: np.ndarray[Any, np.dtype[np.float64]], clusters: int
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Counts (G, n, n) of 8 calls per cluster and score with the given P(position | score)."""
    return np.stack([rng.multinomial(8, row, size=clusters) for row in chances], axis=1)


def test_a_clear_gain_is_certain_and_none_is_not(rng: np.random.Generator) -> None:
    chances = np.full((3, 3), 1 / 3)
    chances[0] = [0.8, 0.1, 0.1]  # score 1 is chosen most where it stands first
    counts = selections(rng, chances, 40)
    assert order_gain_share(counts, (2, 1, 3), (1, 2, 3), rng) == 1.0
    assert order_gain_share(counts, (1, 2, 3), (1, 2, 3), rng) == 0.0
    assert order_gain_share(counts * 0, (2, 1, 3), (1, 2, 3), rng) is None


def test_the_best_order_is_found_again_only_when_it_stands_out(rng: np.random.Generator) -> None:
    # rows of a cyclic preference: only the order that avoids all of it is flat
    chances = np.array([[0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.3, 0.1, 0.6]])
    counts = selections(rng, chances, 60)
    assert min_bias_order(selection_matrix(counts), balanced(3)) == (3, 1, 2)
    clear = best_order_share(counts, rng, balanced(3), resamples=300)
    assert clear is not None
    assert clear > 0.95
    flat = best_order_share(selections(rng, np.full((3, 3), 1 / 3), 60), rng, resamples=300)
    assert flat is not None
    assert flat < 0.9
    assert best_order_share(np.zeros((4, 3, 3)), rng) is None


def test_resampling_is_repeatable(rng: np.random.Generator) -> None:
    counts = selections(rng, np.full((5, 5), 0.2), 24)
    draws = [
        order_gain_share(counts, (5, 4, 3, 2, 1), CANONICAL, np.random.default_rng(1))
        for _ in range(2)
    ]
    assert draws[0] == draws[1]
