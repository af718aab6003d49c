"""What calls owe to their place in the sequence, against every sequence there is."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from judgesheet.stats.correlation import FEW_CLUSTERS
from judgesheet.stats.serial import STEADY, Late, Serial, late_share, serial

BLOCKS, CALLS = 24, 12


def _asked(verdicts: np.ndarray) -> Serial:
    """Blocks of calls (blocks, calls), each a stimulus with one item."""
    deviations = verdicts - verdicts.mean(axis=1, keepdims=True)
    block = np.repeat(np.arange(len(verdicts)), verdicts.shape[1])
    return serial(deviations.ravel(), block, block)


def _remembering(rng: np.random.Generator, share: float) -> np.ndarray:
    """Verdicts that are the one before it in a share of calls."""
    verdicts = rng.integers(1, 6, size=(BLOCKS, CALLS)).astype(float)
    for call in range(1, CALLS):
        copied = rng.random(BLOCKS) < share
        verdicts[copied, call] = verdicts[copied, call - 1]
    return verdicts


def test_mean_and_variance_are_those_over_all_sequences() -> None:
    rng = np.random.default_rng(1)
    one = rng.integers(1, 6, size=5) ** 2.0
    sequences = np.array(list(permutations(one - one.mean())))
    products = (sequences[:, :-1] * sequences[:, 1:]).sum(axis=1)
    trends = sequences @ np.linspace(-0.5, 0.5, 5)
    chosen = rng.integers(len(sequences), size=40)
    found = _asked(one.mean() + sequences[chosen])
    for statistic, p in ((products, found.memory_p), (trends, found.drift_p)):
        gap = (statistic[chosen] - statistic.mean()).sum() / np.sqrt(40 * statistic.var())
        assert p == pytest.approx(2 * stats.norm.sf(abs(gap)))


def test_a_judge_that_repeats_itself_is_found_and_its_share_is_told() -> None:
    found = _asked(_remembering(np.random.default_rng(2), 0.4))
    assert found.memory_p is not None
    assert found.memory_p < 1e-4
    assert found.memory.low is not None
    assert found.memory.high is not None
    assert found.memory.low < 0.4 < found.memory.high
    assert found.drift_p is not None
    assert found.drift_p > 0.01


def test_a_judge_that_changes_is_found_and_told_in_points() -> None:
    rng = np.random.default_rng(3)
    found = _asked(rng.normal(size=(BLOCKS, CALLS)) + np.linspace(0, 1.5, CALLS))
    assert found.drift_p is not None
    assert found.drift_p < 1e-4
    assert found.drift.low is not None
    assert found.drift.high is not None
    assert found.drift.low < 1.5 < found.drift.high


def test_tests_keep_their_size_and_intervals_cover_nothing() -> None:
    rng = np.random.default_rng(4)
    every = [_asked(_remembering(rng, 0.0)) for _ in range(300)]
    for name in ("memory", "drift"):
        rejected = sum((getattr(one, f"{name}_p") or 1.0) < 0.05 for one in every)
        covered = sum(getattr(one, name).low <= 0 <= getattr(one, name).high for one in every)
        # .05 and .95 of 300, each with four standard errors.
        assert rejected <= 30
        assert covered >= 270


def test_few_verdicts_that_deviate_say_nothing() -> None:
    verdicts = np.full((BLOCKS, CALLS), 3.0)
    verdicts[0, :2] = 1.0
    found = _asked(verdicts)
    assert (found.memory_p, found.drift_p) == (None, None)
    assert found.memory.reason == found.drift.reason == STEADY.code


def test_two_stimuli_have_a_test_and_no_interval() -> None:
    verdicts = np.random.default_rng(5).normal(size=(2, 80))
    found = _asked(verdicts)
    assert found.memory_p is not None
    assert found.memory.reason == FEW_CLUSTERS.code


def _late(verdicts: np.ndarray) -> Late:
    """Of blocks (blocks, calls), each a stimulus with one item."""
    block = np.repeat(np.arange(len(verdicts)), verdicts.shape[1])
    deviations = verdicts - verdicts.mean(axis=1, keepdims=True)
    return late_share(verdicts.ravel(), deviations.ravel(), block, block)


def test_of_four_verdicts_the_first_is_the_one_that_is_late_by_chance_in_a_quarter() -> None:
    verdicts = np.repeat([1.0, 5.0] * 4, 4).reshape(8, 4)
    assert _late(np.roll(verdicts, 1)).p == pytest.approx(4.0**-7)
    assert _late(verdicts).p == 1
    assert _late(np.roll(verdicts, -1)).p == 1, "the last is of the next"


def test_a_first_verdict_of_its_own_is_late_as_often_as_chance_says() -> None:
    rng = np.random.default_rng(0)
    found = [_late(rng.integers(1, 6, size=(40, 5)).astype(float)).p for _ in range(400)]
    p = np.array([one for one in found if one is not None])
    assert np.mean(p <= 0.05) <= 0.065
    assert np.mean(p <= 0.2) >= 0.01


def test_blocks_that_are_all_alike_say_nothing_of_lateness() -> None:
    late = _late(np.ones((8, 4)))
    assert (late.p, late.share.value, late.share.reason) == (None, None, STEADY.code)
