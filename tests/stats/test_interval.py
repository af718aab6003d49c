from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest
from statsmodels.stats.proportion import proportion_confint

from judgesheet.stats import interval
from judgesheet.stats._support import z_quantile
from judgesheet.stats.interval import (
    _Posterior,
    by_cluster,
    cluster_mean,
    cluster_rate,
    hardly_varies,
    mean_excess,
    mean_t,
    resampled,
    wilson,
)
from judgesheet.stats.position import cramers_v
from judgesheet.stats.unseen import clusters_for, unseen_share

ANY = -100.0, 100.0
RATE = 0.0, 1.0


def test_mean_t_is_students_interval() -> None:
    # t.test(c(1, 2, 3, 4, 5)) by hand: mean 3, sd 1.581139, t_4(.975) 2.776445, t_4(.95) 2.131847
    found = mean_t([1, 2, 3, 4, 5, np.nan], (0.0, 6.0))
    error = 1.5811388 / np.sqrt(5)
    assert found.value == pytest.approx(3)
    assert (found.low, found.high) == pytest.approx((3 - 2.7764451 * error, 3 + 2.7764451 * error))
    assert found.bounds == pytest.approx((3 - 2.1318468 * error, 3 + 2.1318468 * error))
    assert found.clusters == 5


@pytest.mark.parametrize(("stimuli", "share"), [(20, 0.2), (29, 0.1), (40, 0.1), (59, 0.05)])
def test_bounds_hold_where_an_excess_is_all_or_none(stimuli: int, share: float) -> None:
    counts = np.arange(stimuli + 1)
    law = binom.pmf(counts, stimuli, share)
    sets = (np.repeat([1.0, 0.0], [k, stimuli - k]) for k in counts)
    bounds = np.array([mean_excess(one).bounds for one in sets], dtype=float)
    assert law[bounds[:, 1] <= share].sum() <= 0.05
    assert law[bounds[:, 0] > share].sum() <= 0.05


def test_a_mean_reaches_farther_to_the_side_of_few_large_clusters() -> None:
    """Johnson (1978): t + g (2 t^2 + 1) / (6 sqrt(G)) on that side, t on the other."""
    values = np.array([0.0] * 18 + [1.0] * 2)
    error = values.std(ddof=1) / np.sqrt(20)
    t, skewness = 2.0930241, (1 - 2 * 0.1) / np.sqrt(0.1 * 0.9)
    longer = skewness * (2 * t * t + 1) / (6 * np.sqrt(20))
    _, high = interval.student(0.1, error, 20, interval.skewness_of(values - 0.1))(0.95)
    assert high == pytest.approx(0.1 + (t + longer) * error)
    found = mean_t(values, (0.0, 1.0))
    mirrored = mean_t(1 - values, (0.0, 1.0))
    assert (1 - (mirrored.high or 9), 1 - (mirrored.low or 9)) == pytest.approx(
        (found.low, found.high)
    )


def test_a_gate_on_a_mean_that_few_clusters_carry_seldom_passes_at_its_limit(
    rng: np.random.Generator,
) -> None:
    """One in four stimuli at 1, the others at 0: a symmetric t lets .09 of samples of 20 pass."""
    samples = [mean_t(rng.random(20) < 0.25, RATE) for _ in range(500)]
    assert (
        np.mean([found.bounds is not None and found.bounds[1] < 0.25 for found in samples]) < 0.05
    )


def test_cluster_mean_is_the_sandwich() -> None:
    # statsmodels OLS on a constant, cov_type="cluster" without its (N-1)/(N-k) factor
    import statsmodels.api as sm

    values = np.array([1.0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 0])
    clusters = np.repeat(np.arange(4), 4)
    fit = sm.OLS(values, np.ones(16)).fit(cov_type="cluster", cov_kwds={"groups": clusters})
    found = cluster_mean(*by_cluster(values, clusters), RATE)
    assert found.low is not None
    assert found.value is not None
    # statsmodels multiplies by (N - 1) / (N - k) = 1 with one column
    assert found.value - found.low == pytest.approx(
        max(3.1824463 * fit.bse[0], unseen_share(4) * found.value), rel=1e-6
    )


@pytest.mark.parametrize("stimuli", [24, 60])
def test_one_group_with_half_of_the_calls_makes_no_gate_pass_too_often(
    rng: np.random.Generator, stimuli: int
) -> None:
    """All or none in each group, .20 in truth: G/(G-1) alone let .103 of 1,000 samples of 24 pass.

    And that of .117 of means lay surely above the truth.
    """
    sizes = np.r_[2.0 * (stimuli - 1), np.full(stimuli - 1, 2.0)]
    hits = [sizes * (rng.random(stimuli) < 0.2) for _ in range(400)]
    rates = [cluster_rate(one, sizes).bounds or (0.0, 1.0) for one in hits]
    means = [cluster_mean(one, sizes, (-1.0, 1.0)).bounds or (0.0, 1.0) for one in hits]
    for found in (rates, means):
        assert np.mean([high < 0.2 for _, high in found]) < 0.06
        assert np.mean([low > 0.2 for low, _ in found]) < 0.06


def test_clusters_that_agree_leave_room_for_those_that_were_not_seen() -> None:
    """A share u of other stimuli is missed by three that were drawn with probability (1 - u)^3."""
    none, every = (cluster_mean([size] * 3, [4] * 3, RATE) for size in (0, 4))
    assert (none.low, none.high) == pytest.approx((0, 1 - 0.05 ** (1 / 3)))
    assert (every.low, every.high) == pytest.approx((0.05 ** (1 / 3), 1))
    apart = cluster_mean([0] * 12, [4] * 12, (-1.0, 1.0))
    assert (apart.low, apart.high) == pytest.approx((-unseen_share(12), unseen_share(12)))


def test_means_that_differ_by_rounding_are_no_more_certain() -> None:
    """Sums that are rounding error themselves have no relative size."""
    exact = mean_t(np.zeros(12), (-1.0, 1.0))
    rounded = mean_t(np.array([1e-17, -2e-17, 3e-17] * 4), (-1.0, 1.0))
    assert (rounded.low, rounded.high) == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_intervals_end_where_the_possible_does() -> None:
    assert cluster_mean([0, 0, 3], [3, 3, 3], RATE).low == 0.0
    assert mean_t([-0.9, 0.9, 0.8], (-1.0, 1.0)).high == 1.0


def test_too_little_data_says_so() -> None:
    assert cluster_mean([], [], RATE).value is None
    assert "no observations" in mean_t([np.nan], RATE).note
    one = cluster_mean([2], [4], RATE)
    assert (one.value, one.low, one.high) == (0.5, None, None)
    assert cluster_rate([2], [4]).low is None
    assert cluster_rate([0], [0]).value is None


@pytest.mark.parametrize("departing", [1, 2])
def test_resamples_of_few_departing_clusters_are_not_believed(departing: int) -> None:
    """(1 - d/12)^12 of the resamples hold none of d clusters: .35 and .11, above .05."""
    rng = np.random.default_rng(0)
    values = np.zeros(12)
    values[:departing] = 1
    drawn = rng.multinomial(12, np.full(12, 1 / 12), size=2000) @ values / 12
    assert hardly_varies(drawn)
    found = resampled(float(values.mean()), drawn, 12)
    assert (found.low, found.reason) == (None, "never_varied")
    assert not hardly_varies(rng.normal(size=2000))


def test_wilson_holds_the_value_at_both_ends() -> None:
    # statsmodels begins at 3e-17 for 0 of 7
    for k, n in [(0, 7), (3, 10), (7, 7), (37, 80)]:
        found = wilson(k, n)
        assert found.low is not None
        assert found.high is not None
        assert 0 <= found.low <= k / n <= found.high <= 1
        assert (found.low, found.high) == pytest.approx(
            interval._wilson_ends(k / n, n, z_quantile(0.975)), abs=1e-14
        )
    assert wilson(0, 0).value is None


def test_the_exact_end_after_rare_slips_is_statsmodels_clopper_pearson() -> None:
    for k, n in [(1, 20), (2, 300), (5, 40)]:
        low, _ = interval._rare_ends(k / n, n, z_quantile(0.975))
        assert low == pytest.approx(proportion_confint(k, n, method="beta")[0])


def test_beta_binomial_matches_an_adaptive_quadrature() -> None:
    from scipy import integrate, special

    k, n = np.array([1.0, 0, 3, 2]), np.array([6.0, 6, 6, 5])

    def density(mean: float) -> float:
        def given_icc(icc: float) -> float:
            a, b = mean * (1 - icc) / icc, (1 - mean) * (1 - icc) / icc
            return float(np.exp(np.sum(special.betaln(a + k, b + n - k) - special.betaln(a, b))))

        inner = integrate.quad(given_icc, 1e-6, 1 - 1e-6, epsrel=1e-6)[0]
        return float(inner / np.sqrt(mean * (1 - mean)))

    total = integrate.quad(density, 0, 1, epsrel=1e-4)[0]
    for at, expected in zip(_Posterior.of(k, n).ends(0.95), (0.025, 0.975), strict=True):
        below = integrate.quad(density, 0, at, epsrel=1e-4)[0] / total
        assert below == pytest.approx(expected, abs=2e-3)


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


def test_calls_more_alike_than_chance_are_no_more_certain() -> None:
    """A design effect below 1 is not believed: 15 of 30 on every cluster is 180 of 360."""
    even = cluster_rate(np.full(12, 15), np.full(12, 30))
    assert even.low is not None
    assert even.low < proportion_confint(180, 360, method="wilson")[0]


def test_a_cluster_that_differs_widens_the_interval() -> None:
    alike, apart = np.full(120, 8.0), np.full(120, 6.0)
    apart[::24] = 54
    narrow, wide = (cluster_rate(k, np.full(120, 60)) for k in (alike, apart))
    assert narrow.value == wide.value
    assert narrow.high is not None
    assert wide.high is not None
    assert wide.value is not None
    assert narrow.value is not None
    assert wide.high - wide.value > 1.2 * (narrow.high - narrow.value)


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


@given(counts)
def test_bounds_lie_in_the_interval_and_hold_the_value(pairs: list[tuple[int, int]]) -> None:
    k, n = np.array(pairs).T
    found = cluster_rate(k, n)
    assert found.bounds is not None
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.bounds[0] <= found.value <= found.bounds[1] <= found.high


@pytest.mark.parametrize(("clusters", "calls"), [(10, 2), (12, 30), (24, 40), (100, 10)])
@pytest.mark.parametrize("spread", [False, True])
def test_one_hit_more_never_narrows_a_rate_much(clusters: int, calls: int, spread: bool) -> None:
    """From none to five hits, on one cluster or on as many: not by more than a tenth a step."""
    ends: list[float] = []
    for hits in range(6):
        k = np.zeros(clusters)
        k[: hits if spread else 1] = 1 if spread else min(hits, calls)
        found = cluster_rate(k, np.full(clusters, calls))
        assert found.high is not None
        ends.append(found.high)
    assert all(later >= 0.9 * before for before, later in pairwise(ends))


@pytest.mark.parametrize("always", [False, True])
def test_one_slip_never_narrows_v_much(always: bool) -> None:
    """Even counts, or always the first position; slips move calls to the last one."""
    reach: list[float] = []
    for slips in range(5):
        counts = np.tile([30.0, 0, 0, 0, 0] if always else [6.0] * 5, (12, 1))
        counts[:slips, 0] -= 1
        counts[:slips, 4] += 1
        found = cramers_v(counts)
        assert found.low is not None
        assert found.high is not None
        reach.append(1 - found.low if always else found.high)
    assert all(later >= 0.9 * before for before, later in pairwise(reach))


@pytest.mark.parametrize("share", [0.02, 0.1, 0.15, 0.5])
def test_so_many_stimuli_prove_a_share_and_no_fewer(share: float) -> None:
    """Of a judge without any fault; one stimulus less leaves room for more than the share."""
    enough = clusters_for(share)
    assert unseen_share(enough) <= share < unseen_share(enough - 1)
    for stimuli, proven in ((enough, True), (enough - 1, False)):
        bounds = cluster_rate([0] * stimuli, [6] * stimuli).bounds
        assert bounds is not None
        assert (bounds[1] <= share) is proven


def test_room_for_unseen_stimuli_and_sampling_error_share_one_error() -> None:
    """Less than the rate with the whole room on top, more than the room (docs/proof/efficiency)."""
    hits = np.zeros(36)
    hits[:4] = 1
    bounds = cluster_rate(hits, np.full(36, 6)).bounds
    assert bounds is not None
    assert unseen_share(36) < bounds[1] <= 0.09 < 4 / 216 + unseen_share(36) * (1 - 4 / 216)


def test_stimuli_that_are_all_alike_leave_the_whole_room() -> None:
    """Each deviates in one call of ten, without any chance: there is no sampling error."""
    rate, mean = cluster_rate([1] * 30, [10] * 30), cluster_mean([1] * 30, [10] * 30, RATE)
    assert rate.high == mean.high == pytest.approx(0.1 + 0.9 * unseen_share(30))
    assert mean.low == pytest.approx(0.1 - 0.1 * unseen_share(30))


@pytest.mark.parametrize(("limit", "rest"), [(0.1, 0.03), (0.2, 0.12), (0.2, 0.03)])
@pytest.mark.parametrize("calls", [2, 12])
def test_a_share_that_always_deviates_seldom_passes_at_the_limit(
    limit: float, rest: float, calls: int
) -> None:
    """The others deviate by chance; at the fewest stimuli that can prove it and at more."""
    rng, share = np.random.default_rng(17), (limit - rest) / (1 - rest)
    for stimuli in (clusters_for(limit), clusters_for(share) + 1):
        always = rng.random((400, stimuli)) < share
        hits = rng.binomial(calls, np.where(always, 1.0, rest)).astype(float)
        bounds = [cluster_rate(one, np.full(stimuli, calls)).bounds for one in hits]
        passes = np.mean([one is not None and one[1] < limit for one in bounds])
        assert passes <= 0.06 + 2 * 0.012


def test_an_excess_that_noise_took_below_zero_still_leaves_room_for_unseen_stimuli() -> None:
    values = np.random.default_rng(3).normal(-0.2, 0.01, 14)
    excess = mean_excess(values)
    assert excess.value == pytest.approx(-0.2, abs=0.01)
    assert excess.high is not None
    assert excess.high >= unseen_share(14) - 1e-12
    assert mean_excess(values + 0.5).high == mean_t(values + 0.5, (-1, 1)).high


def test_changes_are_not_beyond_noise_because_no_repeat_showed_it() -> None:
    """Slips in 2 % of eleven calls on each of 36 stimuli, of which two have the same order."""
    rng = np.random.default_rng(8)
    slips = rng.binomial(11, 0.02, (400, 36))
    differ = slips * (11 - slips) / 55  # share of pairs of calls
    excess = differ - (rng.random(differ.shape) < differ)
    beyond = sum((mean_excess(one).at().seen or (0, 0))[0] > 0 for one in excess)
    assert binomtest(beyond, len(excess), 0.05, alternative="greater").pvalue > 0.01


def test_a_rate_of_whole_counts_keeps_them_and_another_does_not() -> None:
    counted, halves = cluster_rate([1, 0, 2], [4, 4, 4]), cluster_rate([0.5, 0, 2], [4, 4, 4])
    assert (counted.hits, counted.trials) == (3, 12)
    assert (halves.hits, halves.trials) == (None, None)
    assert cluster_rate([2], [4]).hits == 2


@pytest.mark.parametrize("calls", [20, 80])
def test_a_rare_slip_breaks_no_limit_too_often(calls: int) -> None:
    """The lower bound of a rate seldom lies above the truth, however rare the event."""
    hits = np.arange(calls + 1)
    lows = np.array(
        [cluster_rate(np.eye(calls)[:k].sum(axis=0), np.ones(calls)).bounds for k in hits]
    )
    for truth in (*(lows[1:8, 0] - 1e-9), 0.3, 0.5):
        error = binom.pmf(hits, calls, truth)[lows[:, 0] > truth].sum()
        assert error <= (0.06 if truth > 0.2 else 0.05 + 1e-6)
