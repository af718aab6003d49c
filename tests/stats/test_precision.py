"""How many calls one reading is worth in those of another."""

import numpy as np
import pytest

from judgesheet.stats import precision


def test_a_reading_of_twice_the_spread_has_four_times_the_variance() -> None:
    rng = np.random.default_rng(0)
    cluster = np.repeat(np.arange(12), 5)
    x = rng.normal(size=60)
    parts = precision.mean_parts(x, cluster)
    found = precision.variance_ratio(precision.mean_parts(2 * x, cluster), parts)
    assert found.value == pytest.approx(4)
    assert found.low == pytest.approx(4)
    assert found.high == pytest.approx(4)
    assert found.clusters == 12


def test_the_parts_of_a_mean_add_up_to_its_cluster_robust_variance() -> None:
    x = np.array([1.0, 2.0, 4.0, 7.0])
    parts = precision.mean_parts(x, [0, 0, 1, 1])
    assert parts == pytest.approx([(1 + 2 - 7) ** 2, (4 + 7 - 7) ** 2])
    both = precision.mean_parts(np.stack([x, -x], axis=1), [0, 0, 1, 1])
    assert both == pytest.approx(2 * parts)


def test_shrinking_every_score_gains_nothing() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(30, 1)) + rng.normal(size=(30, 10))
    cluster = np.repeat(np.arange(10), 3)
    found = precision.reliability_ratio(rows, 3 + rows / 5, cluster)
    assert found.value == pytest.approx(1)
    assert found.low == pytest.approx(1)


def test_reads_with_a_third_of_the_noise_are_worth_three() -> None:
    rng = np.random.default_rng(2)
    true = rng.normal(size=(600, 1)) * 2
    own = rng.normal(size=(600, 10))
    draw = rng.normal(size=(600, 10)) * np.sqrt(2)
    found = precision.reliability_ratio(true + own + draw, true + own, np.repeat(np.arange(200), 3))
    assert found.low is not None
    assert found.high is not None
    assert found.low < 3 < found.high
    assert found.value == pytest.approx(3, rel=0.1)


def test_intervals_cover_the_planted_ratio() -> None:
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(300):
        other = rng.normal(size=(24, 4))
        one = other + 1.2 * rng.normal(size=(24, 4))
        wide, narrow = (precision.mean_parts(x, np.arange(24)) for x in (one, other))
        found = precision.variance_ratio(wide, narrow)
        assert found.low is not None
        assert found.high is not None
        hits += found.low < 2.44 < found.high
    assert 0.90 < hits / 300 < 0.98  # .935 in 1,000


def test_what_cannot_be_told_says_why() -> None:
    nothing = precision.variance_ratio([], [])
    assert (nothing.value, nothing.note) == (None, "no observations")
    still = precision.variance_ratio([1.0, 2.0, 3.0], [0.0, 0.0, 0.0])
    assert still.value is None
    assert "second reading does not vary" in still.note
    fixed = precision.variance_ratio([0.0, 0.0, 0.0], [1.0, 2.0, 3.0])
    assert (fixed.value, fixed.low) == (0.0, None)
    two = precision.variance_ratio([1.0, 2.0], [1.0, 1.0])
    assert (two.value, two.low) == (1.5, None)
    assert "fewer than three" in two.note
    alone = precision.variance_ratio([1.0, 0.0, 0.0], [1.0, 1.0, 1.0])
    assert alone.low is None
    assert "without one cluster" in alone.note


def test_rows_that_do_not_differ_have_no_reliability() -> None:
    same = np.tile([1.0, 2.0, 3.0], (6, 1))
    found = precision.reliability_ratio(same, same, np.arange(6))
    assert found.value is None
    assert "told apart" in found.note
    steady = np.repeat(np.arange(6.0)[:, None], 3, axis=1)
    noisy = steady + np.tile([-0.5, 0.0, 0.5], (6, 1))
    found = precision.reliability_ratio(noisy, steady, np.arange(6))
    assert found.value is None
    assert "does not vary within" in found.note
    empty = precision.reliability_ratio(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0))
    assert empty.value is None


def test_a_perfect_correlation_has_no_variance_to_compare() -> None:
    assert precision.correlation_parts([1, 2, 3, 4], [2, 4, 6, 8], [0, 1, 2, 3]).size == 0
    assert precision.correlation_parts([1, 2, 3, 5], [2, 4, 1, 8], [0, 1, 2, 3]).size == 4
