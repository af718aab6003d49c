"""Verdicts on pairs: known answers, identities, and the published tables."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from judgesheet.stats import pairwise
from judgesheet.stats.interval import Interval, cluster_mean, cluster_rate, wilson
from judgesheet.stats.pairwise import (
    FIRST,
    INVALID,
    LEFT,
    RIGHT,
    SECOND,
    TIE,
    classify,
    components,
    d_prime,
    d_prime_bound,
    decompose,
    isotonic,
    threshold,
)

JUDGES = ("Llama8B", "Qwen14B", "Qwen32B", "Qwen32B-strict")

# -- published figures ---------------------------------------------------------------------------


def test_every_wilson_row_of_table_6(golden: Mapping[str, Any]) -> None:
    rows = [entry for name, entry in golden.items() if name.startswith("003.T6.")]
    assert len(rows) == 27
    for row in rows:
        found = wilson(row["inputs"]["k"], row["inputs"]["n"])
        assert [found.value, found.low, found.high] == pytest.approx(row["paper"], abs=row["tol"])


def verdicts_of(counts: Mapping[str, int]) -> list[tuple[int, int]]:
    """Pairs of verdicts with these kinds."""
    return [
        *[(FIRST, SECOND)] * counts["stable"],
        *[(SECOND, SECOND)] * counts["positional"],
        *[(TIE, FIRST)] * counts["one_sided"],
        *[(TIE, TIE)] * counts["no_pref"],
    ]


@pytest.mark.parametrize("judge", JUDGES)
def test_the_four_decompositions(judge: str, golden: Mapping[str, Any]) -> None:
    entry = golden[f"003.decomp.{judge}"]
    found = decompose(verdicts_of(entry["inputs"]))
    parts = [found.rate(found.stable), found.rate(found.positional), found.raw_false_preference]
    assert parts == pytest.approx(entry["paper"], abs=entry["tol"])
    assert found.other_conflict == 0
    assert found.order_inconsistent == pytest.approx(
        (entry["inputs"]["positional"] + entry["inputs"]["one_sided"]) / found.pairs
    )


def test_no_preference_and_ties_of_the_cleanest_judge(golden: Mapping[str, Any]) -> None:
    entry = golden["003.NP.Qwen32B"]
    found = decompose(verdicts_of(golden["003.decomp.Qwen32B"]["inputs"]))
    ties = 1 - (found.raw_false_preference or 0)
    assert [found.rate(found.no_preference), ties] == pytest.approx(entry["paper"], abs=5e-5)


def test_d_prime_of_table_6(golden: Mapping[str, Any]) -> None:
    entry = golden["003.dprime"]
    counts = entry["inputs"]
    misses = counts["n_slot2"] - counts["correct_slot2"]
    found = d_prime(counts["correct_slot1"], counts["n_slot1"], misses, counts["n_slot2"])
    assert found == pytest.approx(entry["paper"], abs=entry["tol"])


def test_criterion_shift_of_table_4(golden: Mapping[str, Any]) -> None:
    one, zero = golden["003.criterion.dC"]["paper"]
    assert cluster_mean([50 - 6], [100], (-1.0, 1.0)).value == pytest.approx(one)
    assert cluster_mean([120 - 89], [120], (-1.0, 1.0)).value == pytest.approx(zero, abs=5e-5)


# -- decomposition -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdicts", "kind"),
    [
        ((FIRST, SECOND), pairwise.STABLE),
        ((SECOND, FIRST), pairwise.STABLE),
        ((FIRST, FIRST), pairwise.POSITIONAL),
        ((SECOND, SECOND), pairwise.POSITIONAL),
        ((FIRST, TIE), pairwise.ONE_SIDED),
        ((TIE, SECOND), pairwise.ONE_SIDED),
        ((TIE, TIE), pairwise.NO_PREFERENCE),
        ((INVALID, FIRST), pairwise.OTHER),
        ((TIE, INVALID), pairwise.OTHER),
        ((INVALID, INVALID), pairwise.OTHER),
    ],
)
def test_a_pair_of_verdicts_is_of_one_kind(verdicts: tuple[int, int], kind: int) -> None:
    assert classify([verdicts]).tolist() == [kind]


pairs = st.lists(st.tuples(*[st.sampled_from([TIE, FIRST, SECOND, INVALID])] * 2), max_size=40)


@given(pairs)
def test_the_parts_add_up_exactly(verdicts: list[tuple[int, int]]) -> None:
    found = decompose(verdicts)
    kinds = (found.no_preference, found.stable, found.positional, found.one_sided, found.other)
    assert sum(kinds) == found.pairs == len(verdicts)
    named = 2 * (found.stable + found.positional) + found.one_sided + found.other_preferring
    assert named == found.preferring == sum(v != TIE for pair in verdicts for v in pair)


@given(pairs)
def test_swapping_the_names_of_the_responses_changes_nothing(
    verdicts: list[tuple[int, int]],
) -> None:
    assert decompose([pair[::-1] for pair in verdicts]) == decompose(verdicts)


def test_no_pairs_have_no_rates() -> None:
    found = decompose(np.empty((0, 2)))
    assert found.raw_false_preference is found.other_conflict is found.order_inconsistent is None


# -- components ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("signs", "expected"),
    [
        ([[1, 1], [1, 1]], (1, 0, 0)),  # always slot 1
        ([[1, 1], [-1, -1]], (0, 1, 0)),  # always u
        ([[0, 0], [0, 0]], (0, 0, 0)),  # always a tie
        ([[1, 1], [0, 0]], (0.25, 0.25, 0)),  # u in slot 1 only
        ([[1, -1], [1, -1]], (-0.5, -0.5, 2)),  # nothing repeats; unbiased, so parts may be < 0
    ],
)
def test_components_of_one_pair(
    signs: list[list[int]], expected: tuple[float, float, float]
) -> None:
    found = components([signs])
    assert [found.position[0], found.content[0], found.noise[0]] == pytest.approx(expected)


def test_components_need_repeats_in_both_orders() -> None:
    found = components(np.array([[[1, np.nan], [1, 1]], [[1, 1], [1, 1]]]))
    assert np.isnan(found.position).tolist() == [True, False]
    assert np.isnan(found.noise).tolist() == [True, False]


def test_components_are_unbiased(rng: np.random.Generator) -> None:
    means = np.array([0.6, -0.2])  # slot part .2, content part .4
    chances = np.stack([(1 + means) / 2, (1 - means) / 2], axis=1)
    signs = np.stack([rng.choice([1, -1], size=(40_000, 3), p=p) for p in chances], axis=1)
    found = components(signs)
    assert found.position.mean() == pytest.approx(0.04, abs=0.01)
    assert found.content.mean() == pytest.approx(0.16, abs=0.01)
    assert found.noise.mean() == pytest.approx(0.8, abs=0.015)


# -- isotonic fit and threshold ------------------------------------------------------------------


def test_isotonic_pools_violators() -> None:
    fitted = isotonic([5.0, 3.0, 9.0], [10.0, 10.0, 10.0])
    assert fitted.tolist() == pytest.approx([0.4, 0.4, 0.9])


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 5)), min_size=1, max_size=8))
def test_isotonic_is_monotone_and_keeps_the_total(counts: list[tuple[int, int]]) -> None:
    n = np.array([k + extra for k, extra in counts], dtype=float)
    k = np.array([k for k, _ in counts], dtype=float)
    fitted = isotonic(k, n)
    assert (np.diff(fitted) >= -1e-12).all()
    assert fitted == pytest.approx(optimize.isotonic_regression(k / n, weights=n).x)
    assert float(fitted @ n) == pytest.approx(float(k.sum()))
    assert isotonic(np.stack([k, k]), np.stack([n, n]))[1].tolist() == fitted.tolist()


def at(rates: list[float], steps: list[float], rng: np.random.Generator) -> pairwise.Threshold:
    trials = np.full((12, len(rates)), 20.0)
    return threshold(trials * rates, trials, steps, rng)


def test_threshold_is_interpolated(rng: np.random.Generator) -> None:
    # 2 + 5/7 is the end of the published interval, impossible for a step function
    found = at([0.5, 0.625, 0.8], [1, 2, 3], rng)
    assert found.value == pytest.approx(2 + 5 / 7)
    assert found.censored == ""


@pytest.mark.parametrize(
    ("rates", "value", "ends"),
    [([0.5, 1.0, 1.0], 0.75, (0.5, 1.0)), ([0.0, 0.5, 0.75], 2.0, (1.0, 2.0))],
)
def test_resamples_that_all_agree_leave_the_space_between_two_steps(
    rates: list[float], value: float, ends: tuple[float, float], rng: np.random.Generator
) -> None:
    found = at(rates, [0.5, 1, 2], rng)
    assert found.value == pytest.approx(value)
    assert (found.low, found.high) == ends
    assert found.bracketed


def test_resamples_that_differ_make_the_interval(rng: np.random.Generator) -> None:
    trials = np.full((12, 2), 4.0)
    hits = trials * [0.5, 0.75]
    hits[::2, 1] += 1
    found = threshold(hits, trials, [1, 2], rng)
    assert not found.bracketed
    assert 1 < (found.low or 0) < (found.value or 0) < (found.high or 0) <= 2


def test_threshold_is_censored_at_both_ends(rng: np.random.Generator) -> None:
    left, right = at([0.8, 0.9], [0.5, 1], rng), at([0.2, 0.7], [0.5, 1], rng)
    assert (left.value, left.low, left.high, left.censored) == (0.5, 0.0, 0.5, LEFT)
    assert (right.value, right.low, right.high, right.censored) == (None, None, None, RIGHT)


def test_threshold_skips_steps_that_nobody_was_asked(rng: np.random.Generator) -> None:
    trials = np.array([[4.0, 0.0, 4.0]] * 5)
    assert threshold(trials * [0.5, 0, 1], trials, [1, 2, 3], rng).value == pytest.approx(2)
    nothing = threshold(np.zeros((3, 2)), np.zeros((3, 2)), [1, 2], rng)
    assert nothing.value is nothing.low is nothing.high is None


# -- d' and differences --------------------------------------------------------------------------


def test_d_prime_needs_both_slots_and_is_zero_without_sensitivity() -> None:
    assert d_prime(3, 10, 3, 10) == 0
    assert d_prime(3, 10, 0, 0) is None


def test_the_bound_of_d_prime_lies_below_it() -> None:
    hits = cluster_rate([9.0] * 20, [10.0] * 20)
    alarms = cluster_rate([1.0] * 20, [10.0] * 20)
    bound, value = d_prime_bound(0.9, 0.1, hits, alarms), d_prime(180, 200, 20, 200)
    assert bound is not None
    assert value is not None
    assert 1 < bound < value / 2**0.5
    assert d_prime_bound(0.9, 0.1, Interval(1.0, None, None), alarms) is None
