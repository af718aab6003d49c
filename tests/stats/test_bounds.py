"""One-sided bounds: known answers, and what they must never do."""

import numpy as np
import pytest
from scipy import stats

from judgesheet.stats.bounds import korn_graubard
from judgesheet.stats.interval import Interval, cluster_rate, cluster_t


def test_independent_calls_get_clopper_pearson() -> None:
    """One call per cluster: only the t adjustment is left, and it vanishes with many clusters."""
    found = korn_graubard(0.1, 100_000, 100_000)
    exact = stats.binomtest(10_000, 100_000, alternative="less").proportion_ci(0.95)
    assert found.high == pytest.approx(exact.high, abs=1e-5)


def test_zero_events_say_nothing_about_clustering() -> None:
    """0 of 120 over 20 tasks: 1 - .05^(1/n) with n = 120 / 1.5, adjusted for t with 19 df."""
    n = 120 / 1.5 * (stats.t.ppf(0.95, 119) / stats.t.ppf(0.95, 19)) ** 2
    found = korn_graubard(0.0, 120, 20)
    assert found.low == 0
    assert found.high == pytest.approx(1 - 0.05 ** (1 / n), rel=1e-9)
    assert korn_graubard(1.0, 120, 20).low == pytest.approx(1 - found.high)


def test_korn_graubard_widens_with_the_design_effect() -> None:
    reach = [korn_graubard(0.2, 240, 40, deff).high for deff in (1, 2, 4)]
    assert reach == sorted(reach)
    assert reach[0] == korn_graubard(0.2, 240, 40, 1.5).high  # the floor is 1 + 5 * .1


def test_a_share_takes_the_clustering_that_its_interval_shows() -> None:
    """40 hits of 240, as six of six on some tasks, or as one of six on every task."""
    apart = cluster_rate(np.repeat([6, 0], [7, 33]), np.full(40, 6))
    alike = cluster_rate(np.repeat([1, 2], [38, 2]), np.full(40, 6))
    reach = []
    for found in (apart, alike):
        bounds = found.one_sided(240)
        assert bounds is not None
        assert bounds.method.startswith("Korn-Graubard")
        assert found.value == pytest.approx(42 / 240)
        reach.append(bounds.high - 42 / 240)
    assert reach[0] > 1.8 * reach[1]


def test_a_t_interval_gives_the_one_sided_quantile() -> None:
    values = np.array([0.1, -0.2, 0.3, 0.05, 0.2])
    found = cluster_t(values, np.ones(5))
    bounds = found.one_sided(5)
    assert bounds is not None
    error = values.std(ddof=1) / np.sqrt(5)
    assert bounds.high == pytest.approx(values.mean() + stats.t.ppf(0.95, 4) * error)
    assert bounds.low == pytest.approx(values.mean() - stats.t.ppf(0.95, 4) * error)


def test_a_correlation_is_scaled_as_z_and_the_unknown_stays_two_sided() -> None:
    bounds = Interval(0.8, 0.5, 0.93, clusters=24, kind="correlation").one_sided(96)
    assert bounds is not None
    assert 0.5 < bounds.low < 0.8 < bounds.high < 0.93
    other = Interval(0.2, 0.1, 0.3, clusters=24).one_sided(96)
    assert other is not None
    assert (other.low, other.high) == (0.1, 0.3)
    assert "conservative" in other.method


def test_a_difference_in_percent_is_no_share() -> None:
    """Flips beyond noise are a difference of rates: Clopper-Pearson would make no sense of them."""
    bounds = Interval(0.02, -0.04, 0.08, clusters=24, kind="mean").one_sided(24)
    assert bounds is not None
    assert bounds.low < 0


def test_a_band_over_orders_proves_nothing_and_no_interval_gives_no_bounds() -> None:
    bounds = Interval(0.9, 0.89, 0.91, clusters=24, kind="band").one_sided(96)
    assert bounds is not None
    assert (bounds.low, bounds.high) == (-1, 1)
    assert not bounds.proves
    assert Interval(0.9, None, None, clusters=24, kind="band").one_sided(96) is None
    assert Interval(None, None, None, kind="rate").one_sided(0) is None


@pytest.mark.parametrize("hits", [0, 1, 7, 119, 120])
@pytest.mark.parametrize("clusters", [2, 5, 20, 60])
def test_bounds_enclose_the_value(hits: int, clusters: int) -> None:
    per_cluster = np.full(clusters, 120 // clusters)
    successes = np.minimum(per_cluster, np.diff(np.linspace(0, hits, clusters + 1).round()))
    found = cluster_rate(successes, per_cluster)
    bounds = found.one_sided(int(per_cluster.sum()))
    assert bounds is not None
    assert found.value is not None
    assert 0 <= bounds.low <= found.value <= bounds.high <= 1


@pytest.mark.slow
def test_a_judge_on_the_limit_seldom_passes() -> None:
    from proof.gate import line

    assert line((0.1, 0.2, (20, 6), 2000)).false_pass <= 0.06
