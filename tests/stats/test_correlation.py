from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from judgesheet.stats.correlation import (
    Kind,
    budget_r,
    cluster_jackknife_r,
    delta_r,
    paper_bootstrap_r,
    pearson,
    spearman,
)
from judgesheet.stats.unseen import unseen_share

Floats = NDArray[np.float64]


def sample(rng: np.random.Generator, items: int = 80) -> tuple[Floats, Floats, NDArray[np.int64]]:
    clusters = np.arange(items) // 4
    y = rng.normal(size=clusters.max() + 1)[clusters] + rng.normal(size=items)
    return np.round(y + rng.normal(size=items)), y, clusters


def test_coefficients_are_scipys(rng: np.random.Generator) -> None:
    x, y, _ = sample(rng)
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)
    x[3], y[5] = np.nan, np.nan
    known = ~np.isnan(x) & ~np.isnan(y)
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x[known], y[known]).statistic)


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_jackknife_is_the_loop_over_clusters(kind: Kind, rng: np.random.Generator) -> None:
    x, y, clusters = sample(rng)
    coefficient = pearson if kind == "pearson" else spearman
    groups = clusters.max() + 1
    z = np.arctanh([coefficient(x[clusters != g], y[clusters != g]) for g in range(groups)])
    se = np.sqrt((groups - 1) / groups * np.sum((z - z.mean()) ** 2))
    t, parts = stats.t.ppf(0.975, groups - 1), z.mean() - z
    skewness = stats.moment(parts, 3) / stats.moment(parts, 2) ** 1.5
    longer = skewness * (2 * t**2 + 1) / (6 * np.sqrt(groups))
    reach = np.array([-max(t, t - longer), max(t, t + longer)]) * max(se, 1 / np.sqrt(80 - 3))
    centre = np.arctanh(coefficient(x, y))
    centre -= (groups - 1) * (z.mean() - centre)
    found = cluster_jackknife_r(x, y, clusters, kind)
    assert (found.low, found.high) == pytest.approx(np.tanh(centre + reach))
    assert (found.n, found.clusters) == (80, groups)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_stimulus_that_keeps_r_from_one_does_not_make_the_interval_say_nothing(
    sign: int, rng: np.random.Generator
) -> None:
    y = rng.normal(size=48)
    x = sign * (y + 0.001 * rng.normal(size=48))
    x[0] += 0.5
    found = cluster_jackknife_r(x, y, np.repeat(np.arange(24), 2))
    assert found.value is not None
    assert abs(found.value) > 0.99
    assert found.low is not None
    assert found.high is not None
    near, far = sorted((abs(found.low), abs(found.high)))
    # No nearer to 0 than where unseen stimuli could take it; without that -.9.
    assert near == pytest.approx(abs(found.value) * (1 - 2 * unseen_share(24)))
    assert abs(found.value) < far <= 1


def test_many_clusters_are_deleted_in_groups(rng: np.random.Generator) -> None:
    x, y, _ = sample(rng, 1000)
    found = cluster_jackknife_r(x, y, np.arange(1000))
    assert found.low is not None
    assert found.high is not None
    fisher = np.tanh(np.arctanh(pearson(x, y)) + np.array([-1.96, 1.96]) / np.sqrt(997))
    assert (found.low, found.high) == pytest.approx(fisher, abs=0.02)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000))
def test_shuffling_items_and_rescaling_change_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y, clusters = sample(rng)
    mixed = rng.permutation(80)
    a = cluster_jackknife_r(x, y, clusters)
    b = cluster_jackknife_r(3 * x[mixed] + 1e4, y[mixed], clusters[mixed])
    assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high))


@pytest.mark.parametrize(
    ("x", "y", "clusters", "note"),
    [
        ([1, 1, 1, 1], [1, 2, 3, 4], [0, 1, 2, 3], "constant"),
        ([0.1] * 4, [1, 2, 3, 4], [0, 1, 2, 3], "constant"),
        ([], [], [], "fewer than two"),
        ([1, 2, 3, 5], [1, 2, 3, 4], [0, 0, 1, 1], "three clusters"),
        ([1, 2, 3, 4], [2, 4, 6, 8], [0, 1, 2, 3], "perfect"),
        ([1, 1, 1, 2, 1], [1, 2, 3, 4, 3], [0, 1, 2, 3, 4], "without one cluster"),
    ],
)
def test_degenerate_correlations_say_why(
    x: list[float], y: list[float], clusters: list[int], note: str
) -> None:
    found = cluster_jackknife_r(x, y, clusters)
    assert note in found.note
    assert found.low is None
    assert (found.value is None) == ("undefined: " in found.note)


def test_one_stimulus_that_keeps_a_correlation_from_one_leaves_it_an_interval() -> None:
    x = np.arange(24.0)
    odd = cluster_jackknife_r(x, np.where(x == 11, 13, x), x)
    assert odd.low is not None
    assert 0.5 < odd.low < 0.998
    other = cluster_jackknife_r([1, 2, 3, 9], [1, 2, 3, 0], [0, 1, 2, 3])
    assert other.low == pytest.approx(-1, abs=0.001)
    assert other.high is not None
    assert other.high > 0


def test_delta_r_finds_a_difference(rng: np.random.Generator) -> None:
    _, y, clusters = sample(rng, 800)
    good, bad = y + rng.normal(size=800) / 2, y + rng.normal(size=800) * 2
    clear = delta_r(good, bad, y, clusters)
    assert clear.value == pytest.approx(pearson(good, y) - pearson(bad, y))
    assert clear.low is not None
    assert clear.low > 0.2
    same = delta_r(good, good, y, clusters)
    assert (same.value, same.low) == (0, None)
    near = delta_r(good, good + rng.normal(size=800) / 100, y, clusters)
    assert near.low is not None
    assert near.high is not None
    assert -0.02 < near.low < near.high < 0.02


def test_delta_r_without_clusters_or_variance(rng: np.random.Generator) -> None:
    x, y, clusters = sample(rng)
    assert "one cluster" in delta_r(x, y, y, np.zeros(80)).note
    flat = delta_r(np.ones(80), x, y, clusters)
    assert flat.value is None


def test_paper_bootstrap_is_near_scipys(rng: np.random.Generator) -> None:
    x, y, _ = sample(rng, 200)
    found = paper_bootstrap_r(x, y, rng)
    statistic: Any = pearson
    expected = stats.bootstrap(
        (x, y), statistic, paired=True, vectorized=False, n_resamples=1000,
        method="percentile", rng=rng,
    ).confidence_interval  # fmt: skip
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.04)
    assert paper_bootstrap_r(np.ones(9), np.arange(9), rng).value is None


def test_budget_is_the_loop_over_subsets(rng: np.random.Generator) -> None:
    _, y, _ = sample(rng)
    reads = np.round(y[:, None] + 2 * rng.normal(size=(80, 5)))
    reads[7, 2] = np.nan
    known = ~np.isnan(reads).any(axis=1)
    for point in budget_r(reads, y, rng):
        subsets = combinations(range(5), point.k)
        r = [pearson(reads[known][:, list(s)].mean(axis=1), y[known]) for s in subsets]
        assert (point.subsets, point.undefined) == (len(r), 0)
        assert point.value == pytest.approx(np.mean(r))
        band = np.quantile(r, [0.025, 0.975]) if len(r) > 1 else (None, None)
        assert (point.low, point.high) == pytest.approx(tuple(band))


def test_budget_samples_when_there_are_too_many_subsets(rng: np.random.Generator) -> None:
    reads = rng.normal(size=(50, 12)) + rng.normal(size=(50, 1))
    points = budget_r(reads, reads.mean(axis=1), rng, max_subsets=100)
    assert [p.subsets for p in points] == [12, 66, *([100] * 7), 66, 12, 1]
    assert points[-1].value == pytest.approx(1)
    values = [p.value for p in points if p.value is not None]
    assert values == sorted(values)


def test_budget_counts_undefined_subsets(rng: np.random.Generator) -> None:
    reads = np.column_stack([np.full(6, 3.0), np.arange(6.0), np.full(6, 2.1)])
    first, second, third = budget_r(reads, np.arange(6), rng)
    assert (first.undefined, first.value) == pytest.approx((2 / 3, 1))
    assert (second.undefined, third.undefined) == pytest.approx((1 / 3, 0))
    none = budget_r(np.ones((6, 2)), np.arange(6), rng)[0]
    assert (none.value, none.undefined) == (None, 1.0)
    empty = budget_r(np.full((6, 2), np.nan), np.arange(6), rng)[0]
    assert (empty.value, empty.subsets) == (None, 0)
    assert budget_r(reads, np.full(6, 3.3), rng)[1].value is None


def test_two_thirds_by_three_reads_is_averaging_alone(golden: Mapping[str, Any]) -> None:
    # 000 section 5.3 against Spearman-Brown: no order effect is in these data
    entry = golden["000.sb"]
    rng = np.random.default_rng(11)
    rho = entry["inputs"]["rho1"]
    truth = rng.normal(size=(40_000, 1))
    reads = truth + rng.normal(size=(40_000, 10)) * np.sqrt(1 / rho - 1)
    r = [point.value or 0.0 for point in budget_r(reads, truth[:, 0], rng)]
    gains = [(r[k - 1] - r[0]) / (r[-1] - r[0]) for k in (3, 5)]
    assert gains == pytest.approx(entry["computed"], abs=entry["tol"])
