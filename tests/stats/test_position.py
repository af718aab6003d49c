from collections.abc import Mapping
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from judgesheet.stats.orders import balanced
from judgesheet.stats.position import (
    chi_square,
    cramers_v,
    noncentrality_bounds,
    permutation_tables,
    position_share,
    rao_scott,
    sharp_null,
)

Counts = NDArray[np.int64]


def test_chi_square_is_scipys() -> None:
    counts = np.array([[12, 5, 3], [8, 9, 3]])
    expected = stats.chisquare(counts.sum(axis=0))
    found = chi_square(counts)
    assert found.chi2 == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)
    assert (found.n, found.df) == (40, 2)


def counts_with_chi2(chi2: float, calls: int) -> NDArray[np.float64]:
    """Position counts of `calls` calls whose chi-square against five equal positions is `chi2`."""
    step = np.sqrt(chi2 * calls / 10)  # two cells off by it: 2 step^2 / (calls / 5)
    counts = np.full(5, calls / 5)
    counts[:2] += [step, -step]
    return counts


@pytest.mark.parametrize(
    "judge",
    ["GPT-OSS-20B", "GPT-OSS-120B", "Qwen3.5-9B", "Qwen3.5-27B", "Gemma-3-12B", "Gemma-3-27B"],
)
def test_v_reproduces_table_4(judge: str, golden: Mapping[str, Any]) -> None:
    # 000 Table 4, n = 5: the mean over four data sets of V from Table 2's chi-squares
    entry = golden[f"000.T4.{judge}.n5"]
    cells = zip(entry["inputs"]["chi2"], entry["inputs"]["N"], strict=True)
    found = [chi_square(counts_with_chi2(chi2, calls)).cramers_v for chi2, calls in cells]
    mean = np.mean([v for v in found if v is not None])
    assert mean == pytest.approx(entry["paper"], abs=entry["tol"])


def test_the_critical_value_of_table_2(golden: Mapping[str, Any]) -> None:
    critical = golden["000.chi2crit"]["paper"]
    below = chi_square(counts_with_chi2(critical - 0.01, 3200)).p
    above = chi_square(counts_with_chi2(critical + 0.01, 3200)).p
    assert below is not None
    assert above is not None
    assert above < 0.05 < below


def test_table_2_has_four_cells_below_significance(golden: Mapping[str, Any]) -> None:
    entries = [e for name, e in golden.items() if name.startswith("000.T4.") and "n5" in name]
    cells = [(c, n) for e in entries for c, n in zip(*e["inputs"].values(), strict=True)]
    p = [chi_square(counts_with_chi2(chi2, calls)).p for chi2, calls in cells if calls == 3200]
    assert len(p) == 12
    assert sum(1 for each in p if each is not None and each > 0.05) == golden["000.dagger"]["paper"]


@pytest.mark.parametrize("x", [3.0, 30.0, 2000.0])
def test_noncentrality_bounds_invert_ncx2(x: float) -> None:
    low, high = noncentrality_bounds(x, 4, 0.95)
    assert stats.ncx2.cdf(x, 4, high) == pytest.approx(0.025, abs=1e-6)
    if low > 0:
        assert stats.ncx2.cdf(x, 4, low) == pytest.approx(0.975, abs=1e-6)


def test_independent_calls_have_no_design_effect(rng: np.random.Generator) -> None:
    counts = rng.multinomial(1, np.full(5, 0.2), size=5000)
    found, naive = rao_scott(counts), chi_square(counts)
    assert found.mean_deff == pytest.approx(1, abs=0.05)
    assert found.p == pytest.approx(naive.p, abs=0.05)


def test_design_effects_are_those_of_statsmodels_cluster_covariance(
    rng: np.random.Generator,
) -> None:
    import statsmodels.api as sm

    counts = rng.multinomial(10, [0.3, 0.2, 0.2, 0.15, 0.15], size=30)
    groups, positions = (array.ravel() for array in np.indices(counts.shape))
    clusters, chosen = (np.repeat(codes, counts.ravel()) for codes in (groups, positions))
    variances = [
        sm.OLS((chosen == p).astype(float), np.ones(chosen.size))
        .fit(cov_type="cluster", cov_kwds={"groups": clusters})
        .cov_params()
        .item()
        for p in range(5)
    ]
    assert rao_scott(counts).mean_deff == pytest.approx(300 * 5 * sum(variances) / 4)


def test_copied_calls_leave_the_test_as_it_was(rng: np.random.Generator) -> None:
    counts = rng.multinomial(10, [0.3, 0.2, 0.2, 0.15, 0.15], size=30)
    once, copied = rao_scott(counts), rao_scott(7 * counts)
    assert copied.p == pytest.approx(once.p)
    assert copied.mean_deff == pytest.approx(7 * (once.mean_deff or 0))


def test_v_interval_holds_a_planted_v(rng: np.random.Generator) -> None:
    shares = np.array([0.24, 0.2, 0.2, 0.2, 0.16])
    truth = np.sqrt(5 * np.sum((shares - 0.2) ** 2) / 4)
    found = cramers_v(rng.multinomial(40, shares, size=2000))
    assert found.low is not None
    assert found.high is not None
    assert found.low < truth < found.high
    assert found.high - found.low < 0.02


def test_an_unbiased_judge_reads_above_zero_until_debiased(rng: np.random.Generator) -> None:
    found = [cramers_v(rng.multinomial(10, np.full(5, 0.2), size=30)) for _ in range(200)]
    assert np.mean([v.value for v in found if v.value is not None]) > 0.04
    assert np.median([v.debiased for v in found if v.debiased is not None]) < 0.02


ALWAYS_FIRST = np.array([[40, 0, 0, 0, 0]] * 12)
UNIFORM = np.full((12, 5), 8)


def test_always_the_first_position() -> None:
    v, test = cramers_v(ALWAYS_FIRST), rao_scott(ALWAYS_FIRST)
    assert (v.value, v.high) == (1.0, 1.0)
    assert v.low is not None
    assert 0.5 < v.low < 0.95
    assert test.p is not None
    assert 0 < test.p < 1e-3


def test_exactly_uniform_in_every_cluster() -> None:
    v, test = cramers_v(UNIFORM), rao_scott(UNIFORM)
    assert (v.value, v.debiased, v.low) == (0.0, 0.0, 0.0)
    assert v.high == pytest.approx(1 - 0.05 ** (1 / 12))
    assert test.p == 1.0
    # thirds are no binary fractions: rounding must not look like variance
    assert rao_scott(np.full((12, 3), 7)).p == 1.0


def test_more_even_than_chance_resolves_no_more_than_chance_does() -> None:
    # clusters differ and cancel out: chi-square 0, far below its df
    noisy = np.tile(
        [[12, 4, 8, 8, 8], [4, 12, 8, 8, 8], [8, 8, 12, 4, 8], [8, 8, 4, 12, 8]], (15, 1)
    )
    found = cramers_v(noisy)
    assert (found.value, found.low) == (0, 0)
    assert found.high is not None
    # the upper end is at least that of a chi-square of 4 on 2400 calls at the design effect seen
    _, noncentrality = noncentrality_bounds(4, 4, 0.95)
    deff = rao_scott(noisy).mean_deff or 0
    assert found.high >= np.sqrt(noncentrality * deff / (noisy.sum() * 4))


def test_v_of_an_even_judge_is_never_proven_below_what_the_design_resolves(
    rng: np.random.Generator,
) -> None:
    found = [cramers_v(rng.multinomial(10, np.full(5, 0.2), size=40)) for _ in range(300)]
    assert min(v.high or 0 for v in found) > 0.04  # 400 calls
    assert np.mean([v.low == 0 for v in found]) > 0.97


def test_the_same_mild_bias_in_every_cluster() -> None:
    few, many = (cramers_v(np.array([[10, 8, 8, 8, 6]] * stimuli)) for stimuli in (12, 60))
    assert few.value == many.value
    assert few.low == 0  # no more certain than as many independent calls
    assert many.low is not None
    assert many.low > 0


@pytest.mark.parametrize("counts", [np.zeros((3, 5)), np.full((4, 1), 3)])
def test_nothing_to_test(counts: Counts) -> None:
    assert chi_square(counts).chi2 is None
    assert rao_scott(counts).p is None
    assert cramers_v(counts).value is None


def test_one_cluster_has_no_interval() -> None:
    v = cramers_v([[30, 10]])
    assert v.value == pytest.approx(0.5)
    assert (v.low, v.high) == (None, None)
    assert rao_scott([[30, 10]]).p is None


count_tables = st.integers(2, 6).flatmap(
    lambda n: st.lists(
        st.lists(st.integers(0, 12), min_size=n, max_size=n), min_size=2, max_size=15
    )
)


@given(count_tables, st.randoms(use_true_random=False))
def test_relabelling_and_shuffling_change_nothing(rows: list[list[int]], random: Any) -> None:
    counts = np.array(rows)
    places, clusters = list(range(counts.shape[1])), list(range(len(rows)))
    random.shuffle(places)
    random.shuffle(clusters)
    mixed = counts[clusters][:, places]
    a, b = cramers_v(counts), cramers_v(mixed)
    for name in ("value", "debiased", "low", "high"):
        assert getattr(a, name) == pytest.approx(getattr(b, name), abs=1e-6)
    assert rao_scott(counts).p == pytest.approx(rao_scott(mixed).p, abs=1e-6)
    shares = [s.high for s in position_share(counts)]
    assert [shares[p] for p in places] == pytest.approx([s.high for s in position_share(mixed)])


@given(count_tables)
def test_v_and_its_interval_stay_in_the_unit_interval(rows: list[list[int]]) -> None:
    found = cramers_v(rows)
    if found.low is not None and found.high is not None and found.value is not None:
        assert 0 <= found.low <= found.value <= found.high <= 1


def enumerate_counts(pos: Counts, n: int) -> NDArray[np.float64]:
    """Position counts under each of the m! permutations of one item's orders."""
    m = len(pos)
    ways = [[pos[j, order[j]] for j in range(m)] for order in permutations(range(m))]
    return np.array([np.bincount(way, minlength=n) for way in ways], dtype=np.float64)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_permutation_moments_match_enumeration(m: int, rng: np.random.Generator) -> None:
    from judgesheet.stats.position import _moments

    pos = rng.integers(3, size=(6, m, m))
    observed, mean, covariance = _moments(pos, 3)
    every = [enumerate_counts(item, 3) for item in pos]
    assert mean == pytest.approx(sum(e.mean(axis=0) for e in every))
    assert covariance == pytest.approx(sum(np.cov(e.T, bias=True) for e in every))
    assert observed == pytest.approx(sum(e[0] for e in every))


def test_monte_carlo_matches_enumeration(rng: np.random.Generator) -> None:
    pos = rng.integers(3, size=(1, 4, 4))
    every = enumerate_counts(pos[0], 3)
    inverse = np.linalg.pinv(np.cov(every.T, bias=True))
    departures = every - every.mean(axis=0)
    forms = np.einsum("dp,pq,dq->d", departures, inverse, departures)
    found = sharp_null([pos], 3, rng, draws=20_000)
    assert found.method == "Monte Carlo"
    assert found.statistic == pytest.approx(forms[0])
    assert found.p == pytest.approx(np.mean(forms >= forms[0] - 1e-9), abs=0.02)


def test_tables_hold_every_position_the_score_would_have() -> None:
    orders = balanced(3)
    scores = np.array([[1, 2, 3, 1, 2, 3], [2, np.nan, 2, 2, 2, 2]])
    tables = {table.shape[1]: table for table in permutation_tables(scores, orders)}
    assert set(tables) == {5, 6}
    for j in range(6):
        for k, order in enumerate(orders):
            assert order[tables[6][0, j, k]] == scores[0, j]
    assert tables[5][0, 0].tolist() == [order.index(2) for i, order in enumerate(orders) if i != 1]


def test_a_perfectly_consistent_judge_cannot_be_faulted(rng: np.random.Generator) -> None:
    scores = np.repeat(rng.integers(1, 6, size=(40, 1)), 10, axis=1)
    found = sharp_null(permutation_tables(scores, balanced(5)), 5, rng)
    assert (found.p, found.df, found.null_chi2) == (1.0, 0, 0.0)


@pytest.mark.parametrize("items", [20, 60])
def test_a_judge_that_takes_the_first_is_found(items: int, rng: np.random.Generator) -> None:
    orders = balanced(5)
    scores = np.array([[order[0] for order in orders]] * items)
    assert sharp_null(permutation_tables(scores, orders), 5, rng).p < 1e-3


def test_no_calls_say_nothing(rng: np.random.Generator) -> None:
    found = sharp_null(permutation_tables(np.full((3, 10), np.nan), balanced(5)), 5, rng)
    assert (found.p, found.null_chi2, found.calls) == (1.0, None, 0)


def test_single_calls_say_nothing(rng: np.random.Generator) -> None:
    found = sharp_null([np.zeros((50, 1, 1), dtype=np.int64)], 5, rng)
    assert (found.p, found.calls) == (1.0, 50)
    assert found.null_chi2 == pytest.approx(200)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000))
def test_sharp_null_ignores_names_of_positions_and_sequence_of_items(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pos = rng.integers(4, size=(35, 5, 5))
    a = sharp_null([pos], 4, rng)
    b = sharp_null([rng.permutation(4)[pos][rng.permutation(35)]], 4, rng)
    assert (a.statistic, a.null_chi2) == pytest.approx((b.statistic, b.null_chi2))
