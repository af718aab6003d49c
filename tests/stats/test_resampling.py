"""Bootstrap draws: in blocks, kept, and of equal items together."""

import numpy as np
import pytest

from judgesheet.stats import _support, correlation
from judgesheet.stats._support import bootstrap_weights, resampled_sums
from judgesheet.stats.correlation import paper_bootstrap_r


def draws(seed: int = 0) -> tuple[np.ndarray, float]:
    """The weights of 30 clusters in 50 resamples, and the next number of their generator."""
    rng = np.random.default_rng(seed)
    return np.concatenate(list(bootstrap_weights(30, 50, rng))), rng.random()


def at_once(seed: int = 0) -> tuple[np.ndarray, float]:
    rng = np.random.default_rng(seed)
    return rng.multinomial(30, np.full(30, 1 / 30), size=50).astype(float), rng.random()


@pytest.mark.parametrize(("held", "kept"), [(10**7, 10**8), (100, 10**8), (100, 0)])
def test_draws_in_blocks_or_kept_are_those_of_one_call(
    held: int, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_support, "AT_ONCE", held)
    monkeypatch.setattr(_support, "MOST_KEPT", kept)
    monkeypatch.setattr(_support, "_kept", {})
    for seed in (0, 0, 1, 0):
        weights, following = draws(seed)
        expected, after = at_once(seed)
        assert (weights == expected).all()
        assert following == after
    values = np.random.default_rng(3).random((30, 2, 2))
    sums = resampled_sums(values, 50, np.random.default_rng(0))
    assert sums == pytest.approx(np.tensordot(at_once()[0], values, axes=1))


def test_clusters_drawn_one_by_one_are_drawn_as_often_as_shared_out_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shared_out = np.concatenate(list(bootstrap_weights(30, 4_000, np.random.default_rng(1))))
    monkeypatch.setattr(_support, "MOST_ONE_BY_ONE", 29)
    monkeypatch.setattr(_support, "_kept", {})
    one_by_one = np.concatenate(list(bootstrap_weights(30, 4_000, np.random.default_rng(1))))
    assert one_by_one.shape == shared_out.shape
    assert (one_by_one.sum(axis=1) == 30).all()
    for moment in (np.var, np.max):
        assert moment(one_by_one) == pytest.approx(moment(shared_out), rel=0.3)
    assert one_by_one.mean(axis=0) == pytest.approx(np.ones(30), abs=0.1)


def test_draws_of_two_kinds_are_kept_as_long_as_there_is_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_support, "MOST_KEPT", 2 * 30 * 50)
    monkeypatch.setattr(_support, "_kept", {})
    for seed in (0, 1, 2):
        draws(seed)
    assert len(_support._kept) == 2
    assert draws(2)[1] == at_once(2)[1]


def test_items_drawn_together_give_the_interval_of_items_drawn_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(1)
    quality = rng.integers(1, 6, 400)
    score = np.clip(quality + rng.integers(-1, 2, 400), 1, 5)
    one_by_one = paper_bootstrap_r(score, quality, np.random.default_rng(2), 4_000)
    monkeypatch.setattr(correlation, "MOST_ONE_BY_ONE", 0)
    together = paper_bootstrap_r(score, quality, np.random.default_rng(2), 4_000)
    assert together.value == one_by_one.value
    assert (together.low, together.high) != (one_by_one.low, one_by_one.high)
    assert together.low == pytest.approx(one_by_one.low, abs=0.002)
    assert together.high == pytest.approx(one_by_one.high, abs=0.002)


def test_ranks_taken_without_some_items_are_those_of_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(4)
    x, y, folds = rng.integers(0, 4, 60) / 3, rng.normal(size=60).round(1), np.arange(60) % 5
    left_out = correlation._leave_out(x, y, folds, 5, "spearman")
    expected = [correlation.spearman(x[folds != fold], y[folds != fold]) for fold in range(5)]
    assert left_out.tolist() == expected
    monkeypatch.setattr(correlation, "MOST_ONE_BY_ONE", 0)
    together = correlation._leave_out(x, y, folds, 5, "spearman")
    assert together == pytest.approx(np.array(expected))
