from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from judgesheet.stats.position import (
    chi_square,
    cramers_v,
    noncentrality_bounds,
    position_share,
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
    v = cramers_v(ALWAYS_FIRST)
    assert (v.value, v.high) == (1.0, 1.0)
    assert v.low is not None
    assert 0.5 < v.low < 0.95


def test_exactly_uniform_in_every_cluster() -> None:
    v = cramers_v(UNIFORM)
    assert (v.value, v.debiased, v.low) == (0.0, 0.0, 0.0)
    assert v.high == pytest.approx(1 - 0.05 ** (1 / 12))


def test_more_even_than_chance_resolves_no_more_than_chance_does() -> None:
    # clusters differ and cancel out: chi-square 0, far below its df
    noisy = np.tile(
        [[12, 4, 8, 8, 8], [4, 12, 8, 8, 8], [8, 8, 12, 4, 8], [8, 8, 4, 12, 8]], (15, 1)
    )
    found = cramers_v(noisy)
    assert (found.value, found.low) == (0, 0)
    assert found.high is not None
    # the upper end is at least that of a chi-square of 4 on 2400 calls
    _, noncentrality = noncentrality_bounds(4, 4, 0.95)
    assert found.high >= np.sqrt(noncentrality / (noisy.sum() * 4))


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
    assert cramers_v(counts).value is None


def test_one_cluster_has_no_interval() -> None:
    v = cramers_v([[30, 10]])
    assert v.value == pytest.approx(0.5)
    assert (v.low, v.high) == (None, None)


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
    shares = [s.high for s in position_share(counts)]
    assert [shares[p] for p in places] == pytest.approx([s.high for s in position_share(mixed)])


@given(count_tables)
def test_v_and_its_interval_stay_in_the_unit_interval(rows: list[list[int]]) -> None:
    found = cramers_v(rows)
    if found.low is not None and found.high is not None and found.value is not None:
        assert 0 <= found.low <= found.value <= found.high <= 1
