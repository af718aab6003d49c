"""Position effects of criteria against textbooks, brute force and simulation."""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from judgesheet.stats.criteria import (
    PositionEffects,
    friedman,
    permuted_spreads,
    position_effects,
    position_mean,
    position_shift,
    spreads,
)
from judgesheet.stats.interval import skewness_of, student
from judgesheet.stats.orders import balanced
from judgesheet.stats.unseen import unseen_share

Floats = NDArray[np.float64]
N = 4
PLACE = np.argsort(np.array(balanced(N)), axis=1)  # (8 orders, 4 criteria)


def draw(
    clusters: int, rng: np.random.Generator, shift: Floats | None = None, noise: float = 0.6
) -> Floats:
    """Scores (2 items a cluster, orders, criteria) with one shift per position."""
    level = rng.uniform(2, 4, (clusters * 2, 1, N))
    moved = (np.zeros(N) if shift is None else shift)[PLACE]
    latent = level + moved + rng.normal(0, noise, (clusters * 2, len(PLACE), N))
    return np.clip(np.round(latent), 1, 5)


def effects_of(scores: Floats) -> list[PositionEffects]:
    groups = len(scores) // 2
    cluster = np.repeat(np.arange(groups), 2)
    return [
        position_effects(
            scores[:, :, c], np.broadcast_to(PLACE[:, c], scores.shape[:2]), cluster, N, groups
        )
        for c in range(N)
    ]


def test_complete_balanced_reads_give_the_plain_position_means() -> None:
    scores = draw(6, np.random.default_rng(1))
    for c, found in enumerate(effects_of(scores)):
        plain = [scores[:, PLACE[:, c] == p, c].mean() for p in range(N)]
        assert [m.value for m in position_mean(found, 4)] == pytest.approx(plain)
        assert found.effects == pytest.approx(np.array(plain) - np.mean(plain))
        assert found.spread == pytest.approx(max(plain) - min(plain))


def test_missing_replies_do_not_make_a_position_good() -> None:
    """Items differ by 3 points and never by position; the poor one lost its reads at the first."""
    scores = np.array([[1.0] * 8, [4.0] * 8])
    place = np.tile([0, 1, 2, 3] * 2, (2, 1))
    scores[0, [0, 4]] = np.nan
    found = position_effects(scores, place, [0, 1], N, 2)
    assert found.effects == pytest.approx(np.zeros(N))
    assert found.counts.tolist() == [2, 4, 4, 4]


def test_effects_are_least_squares_with_a_constant_per_item() -> None:
    rng = np.random.default_rng(3)
    scores = rng.integers(1, 6, (5, 7)).astype(float)
    scores[rng.random(scores.shape) < 0.2] = np.nan
    place = rng.integers(0, 3, scores.shape)
    found = position_effects(scores, place, [0, 0, 1, 2, 2], 3, 3)
    rows, calls = np.nonzero(~np.isnan(scores))
    design = np.hstack([np.eye(3)[place[rows, calls]], np.eye(5)[rows]])
    fit = np.linalg.lstsq(design, scores[rows, calls], rcond=None)[0][:3]
    assert found.effects == pytest.approx(fit - fit.mean())
    assert found.influence.sum(axis=0) == pytest.approx(np.zeros(3))


def test_errors_of_effects_are_those_of_statsmodels_cluster_covariance() -> None:
    import statsmodels.api as sm

    scores = draw(12, np.random.default_rng(2))
    effects = effects_of(scores)[0]
    items, calls = scores.shape[:2]
    position = np.tile(PLACE[:, 0], items)
    design = np.hstack([np.eye(N)[position][:, 1:], np.kron(np.eye(items), np.ones((calls, 1)))])
    fit = sm.OLS(scores[:, :, 0].ravel(), design).fit(
        cov_type="cluster", cov_kwds={"groups": np.repeat(np.arange(items) // 2, calls)}
    )
    contrast = (np.eye(N) - 1 / N)[:, 1:]  # deviations from the mean over positions
    assert effects.effects == pytest.approx(contrast @ fit.params[: N - 1])
    # statsmodels multiplies by (N - 1) / (N - k), which counts the items' constants
    counted = (fit.nobs - 1) / fit.df_resid
    covariance = contrast @ fit.cov_params()[: N - 1, : N - 1] @ contrast.T / counted
    ours = 12 / 11 * effects.influence.T @ effects.influence
    assert np.diag(ours) == pytest.approx(np.diag(covariance))


def test_influence_is_what_leaving_a_cluster_out_changes() -> None:
    scores = draw(40, np.random.default_rng(4))
    found = effects_of(scores)[0]
    cluster = np.repeat(np.arange(40), 2)
    kept = cluster != 7
    place = np.broadcast_to(PLACE[:, 0], scores.shape[:2])
    without = position_effects(scores[kept, :, 0], place[kept], cluster[kept], N, 40)
    assert found.effects - without.effects == pytest.approx(found.influence[7] * 40 / 39)


def test_positions_that_no_response_was_read_at_are_not_estimated() -> None:
    place = np.tile([0, 2], (4, 4))
    found = position_effects(np.tile([2.0, 3.0], (4, 4)), place, [0, 0, 1, 1], 3, 2)
    assert np.isnan(found.effects[1])
    assert found.spread == pytest.approx(1)
    alone = position_effects(np.ones((4, 3)), np.zeros((4, 3)), [0, 0, 1, 1], 3, 2)
    assert np.isnan(alone.effects).all()
    assert alone.why is not None
    assert "one position only" in alone.why.sentence
    apart = position_effects(np.eye(2), np.array([[0, 0], [1, 1]]), [0, 1], 2, 2)
    assert apart.why is not None
    assert "enough positions" in apart.why.sentence


def test_a_constant_judge_has_no_gap_and_an_interval_that_says_how_little_is_known() -> None:
    found = effects_of(np.full((24, 8, N), 3.0))
    family = spreads(found, 4, np.random.default_rng(0))
    assert family.mean.value == 0
    assert family.mean.low == 0
    assert family.mean.high == pytest.approx(1 - 0.05 ** (1 / 12))
    assert [shift.value for shift in position_shift(found[0], 4)] == [0] * N


def test_one_cluster_has_a_value_and_no_interval() -> None:
    family = spreads(effects_of(draw(1, np.random.default_rng(0))), 4, np.random.default_rng(0))
    assert family.each[0].value is not None
    assert family.each[0].low is None
    assert "one cluster" in family.mean.note


def test_the_gap_is_the_larger_of_the_criteria_and_their_mean() -> None:
    found = effects_of(draw(12, np.random.default_rng(5)))
    family = spreads(found, 4, np.random.default_rng(0))
    gaps = [one.value for one in family.each]
    assert family.mean.value == pytest.approx(np.mean(gaps))  # type: ignore[arg-type]
    assert family.most.value == max(gaps)  # type: ignore[type-var]


def test_intervals_of_gaps_cover_no_gap_and_a_gap() -> None:
    """All of 80 data sets x 4 criteria; a proper 95 % interval misses more than 30 by luck never.

    At a true gap the interval may cover more, since it bounds every pair of positions at once.
    """
    rng = np.random.default_rng(6)
    for shift in (np.zeros(N), np.array([0.6, 0.0, 0.0, -0.6])):
        many = np.mean([draw(500, rng, shift).mean(axis=0) for _ in range(4)], axis=0)
        truth = [np.ptp([many[PLACE[:, c] == p, c].mean() for p in range(N)]) for c in range(N)]
        true_gap = 0.0 if not shift.any() else float(np.mean(truth))
        missed = 0
        for _ in range(80):
            family = spreads(effects_of(draw(12, rng, shift)), 4, rng, resamples=400)
            missed += sum(not (g.low or 0) <= true_gap <= (g.high or 0) for g in family.each)
        assert missed <= 30


def test_the_mean_of_one_criterion_is_that_criterion() -> None:
    found = effects_of(draw(20, np.random.default_rng(4), np.array([0.8, 0.0, 0.0, 0.0])))[:1]
    family = spreads(found, 4, np.random.default_rng(0))
    of = [(one.value, one.at()) for one in (family.mean, family.most, family.each[0])]
    assert of[0] == of[1] == of[2]


def test_the_high_end_of_a_mean_gap_is_the_largest_over_all_choices_of_pairs() -> None:
    """All 6 x 6 choices of a pair of three positions for two criteria, by brute force."""
    rng = np.random.default_rng(8)
    place = np.tile([0, 1, 2], (40, 2))
    bias = np.array([[0.9, 0.3, 0.0], [0.0, 0.1, 0.2]])
    own = rng.normal(0, 0.5, (40, 3))  # the tastes of a prompt, which its criteria share
    found = [
        position_effects(
            3 + bias[c][place] + own[:, [0, 1, 2] * 2] + rng.normal(0, 0.3, (40, 6)),
            place, np.arange(40), 3, 40,
        )
        for c in range(2)
    ]  # fmt: skip
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    highs = []
    for (i, j), (k, m) in product(pairs, pairs):
        first, second = found
        parts = first.influence[:, i] - first.influence[:, j]
        parts = parts + second.influence[:, k] - second.influence[:, m]
        gap = float(first.effects[i] - first.effects[j] + second.effects[k] - second.effects[m])
        error = float(np.sqrt(40 / 39 * parts @ parts)) / 2
        highs.append(student(gap / 2, error, 40, skewness_of(parts))(0.95)[1])
    family = spreads(found, 0.0, np.random.default_rng(0))  # of no scale: room of one point
    mean, least = family.mean, max(one.value or 0.0 for one in family.each) / 2
    assert mean.high is not None
    assert mean.high >= max(highs) > least
    room = unseen_share(40)  # one point in addition
    assert mean.high <= max(highs) + room


def test_a_gap_that_stands_out_loses_less_to_noise_than_one_that_may_be_none() -> None:
    """Not 3.63 errors of a position (Tukey's range of four): one of two good ones is the best."""
    found = effects_of(draw(60, np.random.default_rng(6), np.array([1.0, 1.0, 0.0, 0.0])))[:1]
    gap = spreads(found, 4, np.random.default_rng(0)).each[0]
    error = np.sqrt(np.mean(np.sum(found[0].influence ** 2, axis=0)) * 4 / 3)  # less their mean
    assert gap.value is not None
    assert gap.bounds is not None
    assert 1.645 * np.sqrt(2) < (gap.value - gap.bounds[0]) / error < 0.93 * 3.63


def test_the_null_spread_is_that_of_all_permutations() -> None:
    """Three calls of one item at three positions: six permutations, all with the same range."""
    scores = np.array([[[1.0], [2.0], [4.0]]])
    place = np.array([[[0], [1], [2]]])
    # one criterion only, so its places need a wider second axis
    wide = np.concatenate([scores, scores, scores], axis=2)
    places = np.concatenate([place, (place + 1) % 3, (place + 2) % 3], axis=2)
    found = permuted_spreads(wide, places, np.array([[0, 1, 2]]), 3, np.random.default_rng(0))
    assert found.each[0].mean == pytest.approx(3)
    assert found.mean.p95 == pytest.approx(3)


def test_the_null_spread_matches_fresh_data_of_an_order_blind_judge() -> None:
    rng = np.random.default_rng(8)
    fresh = [np.mean([f.spread for f in effects_of(draw(12, rng))]) for _ in range(100)]
    scores = draw(12, rng)
    places = np.broadcast_to(PLACE, scores.shape)
    names = np.tile(np.arange(N), (len(scores), 1))
    found = permuted_spreads(scores, places, names, N, rng)
    assert found.mean.mean == pytest.approx(np.mean(fresh), rel=0.15)


def test_friedman_agrees_with_scipy_also_with_ties() -> None:
    rng = np.random.default_rng(9)
    for cells in (rng.normal(size=(9, 4)), rng.integers(1, 4, (12, 5)).astype(float)):
        found, expected = friedman(cells), stats.friedmanchisquare(*cells.T)
        assert found.statistic == pytest.approx(expected.statistic)
        assert found.p == pytest.approx(expected.pvalue)


def test_friedman_with_every_block_tied_or_incomplete() -> None:
    tied = friedman(np.ones((5, 3)))
    assert tied.p == 1
    assert "all tied" in tied.note
    holes = np.array([[1.0, np.nan], [1.0, 2.0], [2.0, 3.0], [np.nan, np.nan]])
    found = friedman(holes)
    assert found.blocks == 2
    assert friedman(holes[:2]).p is None


def test_rounding_makes_no_ranks() -> None:
    """Means of thirds differ in their last digit only."""
    cells = np.array([[1 / 3 + 2 / 3, 1.0], [0.1 + 0.2, 0.3], [2.0, 2.0]])
    assert friedman(cells).p == 1
