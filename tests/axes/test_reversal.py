"""Rates of change across orders, from arrays."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from judgesheet.axis.reversal import HARDLY_RANKS, Contest, excess_flip_rate
from judgesheet.records import Estimate
from judgesheet.stats.unseen import unseen_share


def contest(prompts: int, flipping: int) -> Contest:
    """Two candidates a prompt, 2 orders, 40 repeats; of `flipping` prompts 5 readings differ."""
    reads = np.zeros((2 * prompts, 2, 40))
    reads[::2] = 1.0
    for prompt in range(flipping):
        reads[2 * prompt, 0, :5] = -1.0
    return Contest(reads, {}, np.repeat(np.arange(prompts), 2))


def excess(prompts: int, flipping: int) -> Estimate:
    scores: Any = SimpleNamespace(contest=contest(prompts, flipping))
    [estimate] = excess_flip_rate.of("any")(scores)
    return estimate


@pytest.mark.parametrize("prompts", [2, 6, 12])
@pytest.mark.parametrize("flipping", [0, 1])
def test_prompts_that_look_alike_prove_little(prompts: int, flipping: int) -> None:
    found = excess(prompts, flipping)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.value >= unseen_share(prompts) * (1 - found.value) - 1e-9
    assert found.value - found.low >= unseen_share(prompts) * (1 + found.value) - 1e-9


@pytest.mark.parametrize("ranking", [0, 1, 3])
def test_a_judge_that_never_ranks_has_no_flips_to_be_praised_for(ranking: int) -> None:
    """Of 24 prompts all are tied but some; one of them alone would be a figure of one prompt."""
    reads = np.zeros((48, 2, 40))
    reads[: 2 * ranking : 2] = 1.0
    scores: Any = SimpleNamespace(contest=Contest(reads, {}, np.repeat(np.arange(24), 2)))
    [found] = excess_flip_rate.of("any")(scores)
    if ranking == 3:
        assert found.value == 0
    else:
        assert (found.value, found.reason) == (None, HARDLY_RANKS.code)
