"""Macro-averages against their parts, and intervals against what they must do."""

from dataclasses import replace

import numpy as np
import pytest

from judgesheet.stats.correlation import cluster_jackknife_r, delta_r, pearson, spearman
from judgesheet.stats.macro import macro_delta_r, macro_r
from judgesheet.stats.reads import row_means, row_sds

RNG = np.random.default_rng(0)
CLUSTER = np.repeat(np.arange(20), 2)
X = RNG.normal(size=(40, 3))
Y = X + RNG.normal(size=(40, 3))


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def test_it_is_the_mean_over_criteria() -> None:
    found = macro_r(X, Y, CLUSTER)
    assert found.value == pytest.approx(np.mean([pearson(X[:, c], Y[:, c]) for c in range(3)]))
    ranks = macro_r(X.round(), Y.round(), CLUSTER, "spearman")
    each = [spearman(X[:, c].round(), Y[:, c].round()) for c in range(3)]
    assert ranks.value == pytest.approx(np.mean(each))


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_for_one_criterion_it_agrees_with_the_jackknife(kind: str) -> None:
    one = macro_r(X[:, :1], Y[:, :1], CLUSTER, kind)  # type: ignore[arg-type]
    other = cluster_jackknife_r(X[:, 0], Y[:, 0], CLUSTER, kind)  # type: ignore[arg-type]
    assert one.value == pytest.approx(other.value)
    assert one.low == pytest.approx(other.low, abs=1e-9)
    assert one.high == pytest.approx(other.high, abs=1e-9)


def test_the_difference_for_one_criterion_is_that_of_delta_r() -> None:
    two = X[:, 1:2]
    found = macro_delta_r(X[:, :1], two, Y[:, :1], CLUSTER)
    expected = delta_r(X[:, 0], two[:, 0], Y[:, 0], CLUSTER)
    assert found.value == pytest.approx(expected.value)
    assert found.low == pytest.approx(expected.low)


def test_arms_that_are_alike_do_not_differ() -> None:
    near = macro_delta_r(X, X + rng().normal(size=X.shape) / 100, Y, CLUSTER)
    assert near.low is not None
    assert near.high is not None
    assert -0.02 < near.low < near.high < 0.02
    same = macro_delta_r(X, X, Y, CLUSTER)
    assert (same.value, same.low) == (0, None)


def test_a_constant_criterion_leaves_the_mean_and_the_note_says_so() -> None:
    flat = X.copy()
    flat[:, 2] = 3
    found = macro_r(flat, Y, CLUSTER)
    assert found.value == pytest.approx(np.mean([pearson(X[:, c], Y[:, c]) for c in range(2)]))
    assert "without 1 of 3" in found.note
    nothing = macro_r(np.ones_like(X), Y, CLUSTER)
    assert nothing.value is None
    assert "constant" in nothing.note


def test_unknown_items_are_left_out_by_criterion() -> None:
    holes = Y.copy()
    holes[:5, 0] = np.nan
    found = macro_r(X, holes, CLUSTER)
    parts = [pearson(X[5:, 0], Y[5:, 0]), *(pearson(X[:, c], Y[:, c]) for c in (1, 2))]
    assert found.value == pytest.approx(np.mean(parts))


def test_perfect_and_few_have_no_interval() -> None:
    assert "perfect" in macro_r(X, X, CLUSTER).note
    few = macro_r(X[:4], Y[:4], CLUSTER[:4])
    assert few.low is None
    assert "fewer than three" in few.note


def test_rows_without_reads_have_no_mean() -> None:
    reads = np.array([[1.0, 3.0, np.nan], [np.nan] * 3])
    assert row_means(reads).tolist()[0] == 2
    assert np.isnan(row_means(reads)[1])
    assert row_sds(reads)[0] == 1


def test_clusters_without_a_readable_item_do_not_enter() -> None:
    unread = np.full((10, 3), np.nan)
    x, y = np.vstack([X, unread]), np.vstack([Y, unread])
    clusters = np.append(CLUSTER, np.arange(100, 110))
    two = X + rng().normal(size=X.shape)
    other = np.vstack([two, unread])
    pairs = [
        (macro_r(x, y, clusters), macro_r(X, Y, CLUSTER)),
        (macro_delta_r(x, other, y, clusters), macro_delta_r(X, two, Y, CLUSTER)),
    ]
    for found, alone in pairs:
        told = (replace(one, ends=None) for one in (found, alone))
        assert next(told) == next(told)
        assert found.at() == alone.at()


def test_both_bounds_of_a_mean_over_criteria_hold() -> None:
    """A correlation of few items reads low, and averaging leaves that: truth is 1 / sqrt(2)."""
    generator, truth, missed = rng(), 0.5**0.5, np.zeros(2)
    for _ in range(300):
        quality = generator.normal(size=(24, 5))
        scores = quality + generator.normal(size=(24, 5))
        low, high = macro_r(scores, quality, np.repeat(np.arange(12), 2)).bounds or (-1, 1)
        missed += low > truth, high < truth
    assert (missed / 300 <= 0.075).all()
