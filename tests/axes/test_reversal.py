"""Rates of change across orders, from arrays."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from judgesheet.axis.figure import Figures
from judgesheet.axis.reversal import (
    HARDLY_RANKS,
    excess_flip_rate,
    most_changes,
    order_change_rate,
)
from judgesheet.axis.scored import PromptRanking, Rows
from judgesheet.base.records import LEVEL, Estimate
from judgesheet.stats.orders import balanced
from judgesheet.stats.unseen import unseen_share


def contest(prompts: int, flipping: int) -> PromptRanking:
    """Two candidates a prompt, 2 orders, 40 repeats; of `flipping` prompts 5 readings differ."""
    reads = np.zeros((2 * prompts, 2, 40))
    reads[::2] = 1.0
    for prompt in range(flipping):
        reads[2 * prompt, 0, :5] = -1.0
    of_items = np.repeat(np.arange(prompts), 2)
    return PromptRanking(reads, {}, of_items, of_items)


def excess(prompts: int, flipping: int) -> Estimate:
    scores: Any = SimpleNamespace(winners=contest(prompts, flipping).winners)
    [estimate] = Figures("any").of(excess_flip_rate)(scores, LEVEL)
    return estimate


@pytest.mark.parametrize("prompts", [2, 6, 12])
@pytest.mark.parametrize("flipping", [0, 1])
def test_prompts_that_look_alike_prove_little(prompts: int, flipping: int) -> None:
    found = excess(prompts, flipping)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.value >= unseen_share(prompts) * (1 - found.value) - 1e-9
    # None can have an excess below 0, so no unseen one takes the mean farther down than that.
    assert found.value - found.low >= unseen_share(prompts) * found.value - 1e-9


@pytest.mark.parametrize("ranking", [0, 1, 3])
def test_a_judge_that_never_ranks_has_no_flips_to_be_praised_for(ranking: int) -> None:
    """Of 24 prompts all are tied but some; one of them alone would be a figure of one prompt."""
    reads = np.zeros((48, 2, 40))
    reads[: 2 * ranking : 2] = 1.0
    prompt = np.repeat(np.arange(24), 2)
    scores: Any = SimpleNamespace(winners=PromptRanking(reads, {}, prompt, prompt).winners)
    [found] = Figures("any").of(excess_flip_rate)(scores, LEVEL)
    if ranking == 3:
        assert found.value == 0
    else:
        assert (found.value, found.reason) == (None, HARDLY_RANKS.code)


@pytest.mark.parametrize(
    ("reads", "scale", "most"),
    [
        ([1] * 10, 5, 40 / 45),  # each score twice: 5 of the 45 pairs are alike
        ([2, 2, *[1] * 8], 5, 57 / 64),  # a repeat of an order is no pair of two orders
        ([1] * 4, 5, None),
        ([1], 5, None),
        ([0, 0], 5, None),
    ],
)
def test_orders_that_outnumber_the_scores_bound_the_share_of_changes(
    reads: list[int], scale: int, most: float | None
) -> None:
    answered = np.arange(2) < np.array(reads)[:, None]
    assert most_changes(answered[None], scale) == (None if most is None else pytest.approx(most))


def test_a_judge_that_follows_the_place_reaches_the_bound() -> None:
    orders = np.array(balanced(5))
    scores = np.tile(orders[:, 0], (3, 1))[:, :, None].astype(float)
    rows = Rows("Score", {}, scores, np.arange(3), np.arange(3), 5)
    (change,) = order_change_rate(SimpleNamespace(rows=[rows]), LEVEL)
    assert change.ceiling == change.value == pytest.approx(40 / 45)
