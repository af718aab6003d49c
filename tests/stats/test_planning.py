from math import inf

import pytest

from judgesheet.stats.planning import (
    cramers_v_half_width,
    excess_flip_half_width,
    rate_half_width,
)

# figures from the project's statistics notes, section "Planning"


@pytest.mark.parametrize(("half_width", "tasks"), [(0.05, 47), (0.03, 129)])
def test_tasks_for_a_rate(half_width: float, tasks: int) -> None:
    assert rate_half_width(0.1, tasks, 6, 0.2) <= half_width
    assert rate_half_width(0.1, tasks - 1, 6, 0.2) > half_width


def test_prompts_for_a_flip_rate() -> None:
    assert rate_half_width(0.25, 289, 1, 0) <= 0.05 < rate_half_width(0.25, 288, 1, 0)


def test_items_for_v() -> None:
    assert cramers_v_half_width(0.05, 5, 200, 10) == pytest.approx(0.02, abs=0.004)
    assert cramers_v_half_width(0.05, 5, 200, 10, deff=2) > cramers_v_half_width(0.05, 5, 200, 10)


@pytest.mark.parametrize(("prompts", "sd"), [(140, 0.06), (650, 0.13)])
def test_prompts_for_an_excess_flip_rate(prompts: int, sd: float) -> None:
    assert excess_flip_half_width(prompts, sd) == pytest.approx(0.01, abs=2e-4)


def test_no_calls_resolve_nothing() -> None:
    assert rate_half_width(0.1, 0, 6, 0.2) == inf
    assert excess_flip_half_width(0) == inf
    assert cramers_v_half_width(0.05, 5, 0, 10) == 1.0
