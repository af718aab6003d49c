from typing import Any

import numpy as np
import pytest
from scipy import stats

from judgesheet.stats.trend import jackknife_trend


def left_out_means(y: Any) -> Any:
    """Shape (V, G): the mean over all clusters but one."""
    total, clusters = y.sum(axis=1, keepdims=True), y.shape[1]
    return (total - y) / (clusters - 1)


def test_for_means_it_is_the_paired_t_test_on_slopes_per_cluster() -> None:
    rng = np.random.default_rng(1)
    x = np.array([0.0, 0.3, 0.6, 1.0])
    y = rng.normal(size=20) + rng.normal(0.2 * x[:, None], 0.5, size=(4, 20))
    found = jackknife_trend(x, y.mean(axis=1), left_out_means(y))
    contrast = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    expected = stats.ttest_1samp(contrast @ y, 0.0)
    assert found.value == pytest.approx((contrast @ y).mean())
    assert found.p == pytest.approx(expected.pvalue)
    low, high = expected.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.clusters == 20


def test_a_spread_shared_by_all_settings_does_not_widen_the_interval() -> None:
    rng = np.random.default_rng(2)
    x = np.array([0.0, 1.0])
    noise = rng.normal(0, 0.1, size=(2, 30))
    calm = jackknife_trend(x, noise.mean(axis=1), left_out_means(noise))
    apart = noise + rng.normal(0, 10, size=30)
    same = jackknife_trend(x, apart.mean(axis=1), left_out_means(apart))
    assert (same.low, same.high) == pytest.approx((calm.low, calm.high))


@pytest.mark.parametrize("clusters", [0, 1, 2])
def test_too_few_clusters_give_a_slope_and_no_interval(clusters: int) -> None:
    found = jackknife_trend([0, 2], [1.0, 5.0], np.zeros((2, clusters)))
    assert (found.value, found.low, found.high, found.p) == (2.0, None, None, None)


def test_no_variation_is_no_certainty() -> None:
    found = jackknife_trend([0, 1], [0.5, 0.5], np.full((2, 12), 0.5))
    assert (found.value, found.p) == (0.0, None)


@pytest.mark.parametrize("groups", [8, 24])
def test_it_keeps_its_size(groups: int) -> None:
    rng = np.random.default_rng(3)
    x = np.array([0.0, 0.3, 0.6, 1.0])
    rejected = 0
    for _ in range(600):
        y = rng.normal(size=groups) + rng.normal(size=(4, groups))
        p = jackknife_trend(x, y.mean(axis=1), left_out_means(y)).p
        rejected += p is not None and p < 0.05
    assert 0.02 < rejected / 600 < 0.08
