import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from judgesheet.stats.interval import by_cluster, cluster_rate, cluster_t, mean_t, wilson


def test_mean_t_is_students_interval() -> None:
    # t.test(c(1, 2, 3, 4, 6)) by hand: mean 3.2, sd 1.923538, t_4(.975) 2.776445
    found = mean_t([1, 2, 3, 4, 6, np.nan])
    assert found.value == pytest.approx(3.2)
    half = 2.7764451 * 1.9235384 / np.sqrt(5)
    assert (found.low, found.high) == pytest.approx((3.2 - half, 3.2 + half))
    assert found.clusters == 5


def test_cluster_t_is_the_sandwich() -> None:
    # statsmodels OLS on a constant, cov_type="cluster" without its (N-1)/(N-k) factor
    import statsmodels.api as sm

    values = np.array([1.0, 0, 1, 1, 0, 0, 1, 0, 1])
    clusters = np.array([0, 0, 1, 1, 1, 2, 2, 3, 3])
    fit = sm.OLS(values, np.ones(9)).fit(cov_type="cluster", cov_kwds={"groups": clusters})
    found = cluster_t(*by_cluster(values, clusters))
    assert found.high is not None
    assert found.value is not None
    # statsmodels multiplies by (N - 1) / (N - k) = 1 with one column
    assert found.high - found.value == pytest.approx(3.1824463 * fit.bse[0], rel=1e-6)


@pytest.mark.parametrize(
    ("sums", "low", "high"),
    [([0, 0, 0], 0.0, 1 - 0.025 ** (1 / 3)), ([4, 4, 4], 0.025 ** (1 / 3), 1.0)],
)
def test_unanimous_clusters_get_clopper_pearson(sums: list[int], low: float, high: float) -> None:
    found = cluster_t(sums, [4, 4, 4], bounded=True)
    assert (found.low, found.high) == pytest.approx((low, high))
    exact = proportion_confint(sum(sums) // 4, 3, method="beta")
    assert (found.low, found.high) == pytest.approx(exact)


def test_bounded_intervals_are_clipped() -> None:
    assert cluster_t([0, 0, 3], [3, 3, 3], bounded=True).low == 0.0


def test_too_little_data_says_so() -> None:
    assert cluster_t([], []).value is None
    assert "no observations" in mean_t([np.nan]).note
    one = cluster_t([2], [4])
    assert (one.value, one.low, one.high) == (0.5, None, None)
    assert cluster_rate([2], [4]).low is None
    assert cluster_rate([0], [0]).value is None
    assert "agree" in cluster_t([2, 2], [4, 4]).note


def test_wilson_is_statsmodels_wilson() -> None:
    for k, n in [(0, 10), (3, 10), (10, 10), (37, 80)]:
        found = wilson(k, n)
        assert (found.low, found.high) == pytest.approx(proportion_confint(k, n, method="wilson"))
    assert wilson(0, 0).value is None


def test_beta_binomial_matches_an_adaptive_quadrature() -> None:
    from scipy import integrate, special

    k, n = np.array([1, 0, 3, 2]), np.array([6, 6, 6, 5])

    def density(mean: float) -> float:
        def given_icc(icc: float) -> float:
            a, b = mean * (1 - icc) / icc, (1 - mean) * (1 - icc) / icc
            return float(np.exp(np.sum(special.betaln(a + k, b + n - k) - special.betaln(a, b))))

        inner = integrate.quad(given_icc, 1e-6, 1 - 1e-6, epsrel=1e-6)[0]
        return float(inner / np.sqrt(mean * (1 - mean)))

    found = cluster_rate(k, n)
    assert found.low is not None
    assert found.high is not None
    total = integrate.quad(density, 0, 1, epsrel=1e-4)[0]
    assert integrate.quad(density, 0, found.low, epsrel=1e-4)[0] / total == pytest.approx(
        0.025, abs=2e-3
    )
    assert integrate.quad(density, found.high, 1, epsrel=1e-4)[0] / total == pytest.approx(
        0.025, abs=2e-3
    )


@pytest.mark.parametrize("clusters", [5, 40])
def test_no_and_every_success_keep_their_end(clusters: int) -> None:
    trials = np.full(clusters, 6)
    none, every = cluster_rate(np.zeros(clusters), trials), cluster_rate(trials, trials)
    assert (none.value, none.low) == (0.0, 0.0)
    assert (every.value, every.high) == (1.0, 1.0)
    assert none.high is not None
    assert every.low is not None
    assert none.high == pytest.approx(1 - every.low, abs=1e-6)
    assert 0 < none.high < 0.5


def test_the_method_follows_the_number_of_clusters() -> None:
    trials = np.full(20, 4)
    successes = np.arange(20) % 3
    assert "Wilson" in cluster_rate(successes, trials).method
    assert "beta-binomial" in cluster_rate(successes[1:], trials[1:]).method


def test_fractional_successes_vary_less() -> None:
    trials = np.full(30, 4)
    halves = np.tile([1.75, 2.25], 15)
    whole = np.tile([1.0, 3.0], 15)
    narrow, wide = cluster_rate(halves, trials), cluster_rate(whole, trials)
    assert narrow.low is not None
    assert wide.low is not None
    assert narrow.low > wide.low


counts = st.lists(
    st.integers(1, 8).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    min_size=2,
    max_size=30,
)


@given(counts)
def test_a_rate_lies_in_its_interval_in_the_unit_interval(pairs: list[tuple[int, int]]) -> None:
    k, n = np.array(pairs).T
    found = cluster_rate(k, n)
    assert found.low is not None
    assert found.high is not None
    assert found.value is not None
    assert 0 <= found.low <= found.value <= found.high <= 1


@given(counts)
def test_success_and_failure_mirror(pairs: list[tuple[int, int]]) -> None:
    k, n = np.array(pairs).T
    hit, miss = cluster_rate(k, n), cluster_rate(n - k, n)
    assert hit.low is not None
    assert miss.high is not None
    assert hit.low == pytest.approx(1 - miss.high, abs=1e-9)
