"""Verdicts on labelled rows against the others: what is planted is seen, chance seldom."""

import numpy as np

from judgesheet.stats.shift import DRAWS, Shift, shift

GROUPS, EACH = 40, 4
CLUSTERS = np.repeat(np.arange(GROUPS), EACH)


def found(by: float, seed: int = 0) -> Shift:
    """Half of the rows are labelled, and judged higher by so much."""
    rng = np.random.default_rng(seed)
    known = rng.permutation(CLUSTERS.size) < CLUSTERS.size // 2
    verdicts = rng.normal(3, 0.2, CLUSTERS.size) + by * known
    return shift(verdicts, np.where(known, 3.0, np.nan), CLUSTERS, (1.0, 5.0))


def test_a_shift_that_no_exchange_equals_has_the_least_p_that_draws_can_give() -> None:
    """The sum that was found is one of the draws, so p is never 0; two tests are made."""
    assert found(1.5).p == 2 / (DRAWS + 1)


def test_the_shift_is_measured_and_held_by_its_interval() -> None:
    sentences = found(1.0).interval
    assert sentences.low is not None
    assert sentences.high is not None
    assert sentences.low < 1.0 < sentences.high
    assert sentences.low > 0


def test_labels_at_random_are_seldom_reported_as_chosen() -> None:
    small = [p for p in (found(0.0, seed).p for seed in range(60)) if p is not None and p < 0.05]
    assert len(small) <= 8
