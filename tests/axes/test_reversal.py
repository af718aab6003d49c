"""Rates of change across orders, from arrays."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from judgesheet.axis.reversal import Contest, excess_flip_rate
from judgesheet.records import Estimate
from judgesheet.stats.interval import unseen_share


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


@pytest.mark.parametrize("prompts", [2, 3, 4, 5])
def test_few_prompts_that_look_alike_prove_little(prompts: int) -> None:
    found = excess(prompts, 1)
    assert found.value is not None
    assert found.bounds is not None
    reach = unseen_share(prompts)
    assert found.bounds.high >= min(1, found.value + reach) > 0.5
    assert found.bounds.low <= max(-1, found.value - reach)
    assert f"only {prompts} prompts" in found.note


def test_from_six_prompts_the_spread_decides() -> None:
    found = excess(6, 1)
    assert (found.high or 1) < 0.1
    assert found.note == ""


def test_prompts_that_are_all_alike_are_no_point() -> None:
    found = excess(12, 0)
    assert found.value == 0
    assert found.high == pytest.approx(unseen_share(12))
    assert "every prompt shows the same" in found.note
