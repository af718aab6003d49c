"""Verdicts on pairs: known answers, identities, and the published tables."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special

from judgesheet.stats import pairwise
from judgesheet.stats.interval import cluster_mean, wilson
from judgesheet.stats.pairwise import (
    FIRST,
    INVALID,
    LEFT,
    RIGHT,
    SECOND,
    TIE,
    classify,
    d_prime,
    d_prime_bound,
    isotonic,
    threshold,
)
from judgesheet.stats.unseen import unseen_share

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


def false_preference_parts(verdicts: ArrayLike) -> NDArray[np.float64]:
    """What pairs (m, 2) of each kind add to the share of calls that prefer (003 equation 7)."""
    array = np.asarray(verdicts, dtype=np.int64).reshape(-1, 2)
    preferring = np.bincount(classify(array), (array != TIE).sum(axis=1), pairwise.OTHER + 1)
    return preferring / array.size


@pytest.mark.parametrize("judge", JUDGES)
def test_the_four_decompositions(judge: str, golden: Mapping[str, Any]) -> None:
    entry = golden[f"003.decomp.{judge}"]
    verdicts = verdicts_of(entry["inputs"])
    parts = false_preference_parts(verdicts)
    shown = [parts[pairwise.STABLE], parts[pairwise.POSITIONAL], parts.sum()]
    assert shown == pytest.approx(entry["paper"], abs=entry["tol"])
    assert parts[pairwise.OTHER] == parts[pairwise.NO_PREFERENCE] == 0
    assert parts[pairwise.POSITIONAL] + 2 * parts[pairwise.ONE_SIDED] == pytest.approx(
        (entry["inputs"]["positional"] + entry["inputs"]["one_sided"]) / len(verdicts)
    )


def test_no_preference_and_ties_of_the_cleanest_judge(golden: Mapping[str, Any]) -> None:
    entry = golden["003.NP.Qwen32B"]
    verdicts = verdicts_of(golden["003.decomp.Qwen32B"]["inputs"])
    neither = np.mean(classify(verdicts) == pairwise.NO_PREFERENCE)
    assert [neither, 1 - false_preference_parts(verdicts).sum()] == pytest.approx(
        entry["paper"], abs=5e-5
    )


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


pairs = st.lists(
    st.tuples(*[st.sampled_from([TIE, FIRST, SECOND, INVALID])] * 2), min_size=1, max_size=40
)


@given(pairs)
def test_the_parts_add_up_exactly(verdicts: list[tuple[int, int]]) -> None:
    parts, kinds = false_preference_parts(verdicts), classify(verdicts)
    shares = [np.mean(kinds == kind) for kind in range(pairwise.OTHER + 1)]
    assert sum(shares) == pytest.approx(1)
    assert parts[: pairwise.OTHER] == pytest.approx([0, shares[1], shares[2], shares[3] / 2])
    preferring = sum(v != TIE for pair in verdicts for v in pair)
    assert parts.sum() == pytest.approx(preferring / (2 * len(verdicts)))


@given(pairs)
def test_swapping_the_names_of_the_responses_changes_nothing(
    verdicts: list[tuple[int, int]],
) -> None:
    swapped = false_preference_parts([pair[::-1] for pair in verdicts])
    np.testing.assert_array_equal(swapped, false_preference_parts(verdicts))


# -- components ----------------------------------------------------------------------------------


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


def at(rates: list[float], steps: list[float]) -> pairwise.Threshold:
    trials = np.full((12, len(rates)), 20.0)
    return threshold(trials * rates, trials, steps)


def test_threshold_is_interpolated() -> None:
    # 2 + 5/7 is the end of the published interval, impossible for a step function
    found = at([0.5, 0.625, 0.8], [1, 2, 3])
    assert found.value == pytest.approx(2 + 5 / 7)
    assert found.censored == ""


def test_the_interval_of_a_threshold_inverts_that_of_the_rate() -> None:
    found = at([0.5, 1.0, 1.0], [0.5, 1, 2])  # all clusters alike: the error is the binomial one
    assert found.value == pytest.approx(0.75)
    low, high = found.low or 0, found.high or 0
    share = 2 * (high - 0.5)  # of the way from .5 to 1
    calls, one = 240, 240.5 / 241  # the rate of 1 with the log-linear correction
    error = np.sqrt((1 - share) ** 2 * 0.25 / calls + share**2 * one * (1 - one) / calls)
    assert 0.5 + share / 2 - 2.2009852 * error == pytest.approx(0.75, abs=0.002)
    assert 0.5 < low < 0.75 < high < 1


def test_clusters_that_differ_make_the_interval_wider() -> None:
    trials = np.full((12, 2), 4.0)
    alike = threshold(trials * [0.5, 0.85], trials, [1, 2])
    hits = trials * [0.5, 0.85]
    hits[::2, 1], hits[1::2, 1] = 4.0, 2.8
    apart = threshold(hits, trials, [1, 2])
    assert alike.value == apart.value
    assert 1 < (apart.low or 0) <= (alike.low or 0) < (alike.high or 9)
    assert apart.high is None or apart.high >= (alike.high or 9)


def test_threshold_is_censored_at_both_ends() -> None:
    left, right = at([0.9, 0.95], [0.5, 1]), at([0.2, 0.6], [0.5, 1])
    assert (left.value, left.low, left.high, left.censored) == (0.5, 0.0, 0.5, LEFT)
    assert (right.value, right.low, right.high, right.censored) == (None, None, None, RIGHT)


def test_two_clusters_without_an_error_bound_no_threshold() -> None:
    trials = np.full((2, 2), 2.0)
    found = threshold(trials, trials, [0.5, 1])
    assert (found.value, found.low, found.high) == (0.5, 0.0, None)


def test_threshold_skips_steps_that_nobody_was_asked() -> None:
    trials = np.array([[4.0, 0.0, 4.0]] * 5)
    assert threshold(trials * [0.5, 0, 1], trials, [1, 2, 3]).value == pytest.approx(2)
    nothing = threshold(np.zeros((3, 2)), np.zeros((3, 2)), [1, 2])
    assert nothing.value is nothing.low is nothing.high is None


def test_the_threshold_of_a_steep_curve_is_covered(rng: np.random.Generator) -> None:
    """A third of the tasks see half as far: a bootstrap of ten of them covers .88."""
    strong, weak = np.array([0.1, 0.5, 1, 1]), np.array([0.1, 0.3, 0.9, 1])
    steps = np.array([0.5, 1, 2, 3])
    truth = np.interp(0.75, (2 * strong + weak) / 3, steps)
    trials = np.full((10, 4), 2.0)
    covered = 0
    for _ in range(300):
        rates = np.where(rng.random((10, 1)) < 2 / 3, strong, weak)
        found = threshold(rng.binomial(2, rates), trials, steps)
        covered += (found.low or 0) <= truth <= (found.high or np.inf)
    assert covered / 300 > 0.93


# -- d' and differences --------------------------------------------------------------------------


def test_d_prime_needs_both_slots_and_is_zero_without_sensitivity() -> None:
    assert d_prime(3, 10, 3, 10) == 0
    assert d_prime(3, 10, 0, 0) is None


def test_the_bound_of_d_prime_lies_below_it() -> None:
    full, none = np.full(20, 10.0), np.zeros(20)
    bound, value = d_prime_bound(full - 1, full, none + 1, full), d_prime(180, 200, 20, 200)
    assert bound is not None
    assert value is not None
    assert 1 < bound < value / 2**0.5
    assert d_prime_bound(full[:1], full[:1], none[:1], full[:1]) is None
    assert d_prime_bound(full, full, none, none) is None


def test_without_an_error_the_bound_of_d_prime_allows_for_tasks_that_were_not_seen() -> None:
    """A share u of them tells nothing apart: H and F are 1 - u/2 and u/2 at best."""
    bounds = []
    for tasks in (5, 20, 80):
        full, none = np.full(tasks, 50.0), np.zeros(tasks)
        bounds.append(d_prime_bound(full, full, none, full) or 9)
        assert bounds[-1] < 2 * special.ndtri(1 - unseen_share(tasks) / 2) / 2**0.5
    assert 0 < bounds[0] < bounds[1] < bounds[2]


def test_a_preference_of_tasks_for_a_slot_does_not_widen_the_bound_of_d_prime() -> None:
    """It moves hits and false alarms together, and d' by little."""
    full = np.full(20, 20.0)
    moved = np.tile([-3.0, 3.0], 10)
    alike = d_prime_bound(full * 0.75, full, full * 0.25, full)
    together = d_prime_bound(full * 0.75 + moved, full, full * 0.25 + moved, full)
    against = d_prime_bound(full * 0.75 + moved, full, full * 0.25 - moved, full)
    assert together is not None
    assert together == pytest.approx(alike, abs=0.03)
    assert (against or 9) < together - 0.03


def test_the_bound_of_d_prime_covers_what_it_promises(rng: np.random.Generator) -> None:
    rates = np.array([[0.9, 0.1], [0.6, 0.3], [0.9, 0.6], [0.4, 0.1]])
    first, second = rates.mean(axis=0)
    truth = (special.ndtri(first) - special.ndtri(second)) / 2**0.5
    calls, covered = np.full(20, 5.0), 0
    for _ in range(400):
        tasks = rates[rng.integers(4, size=20)]
        hits, alarms = rng.binomial(5, tasks).T
        covered += (d_prime_bound(hits, calls, alarms, calls) or 0) <= truth
    assert 0.925 <= covered / 400 <= 0.985
