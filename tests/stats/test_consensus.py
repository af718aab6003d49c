"""Equations 1 to 5 of paper 004, its ties, its weights, and when to stop asking."""

from itertools import permutations, product

import numpy as np
import pytest

from judgesheet.stats._support import Flags, Floats, floats
from judgesheet.stats.consensus import (
    PROPOSED,
    WEIGHTS,
    Weights,
    can_change,
    consensus,
    expected_hit,
    rank_points,
    run_points,
    top_shares,
)

NOBODY = np.zeros((2, 3), dtype=bool)


def test_an_example_worked_by_hand() -> None:
    """Two runs of three candidates: 90, 89.6, 10 and 50, 70, 10."""
    found = consensus([[90.0, 89.6, 10.0], [50.0, 70.0, 10.0]], NOBODY)
    assert found.score == pytest.approx([70, 79.8, 10])
    assert found.borda == pytest.approx([75, 75, 0])
    assert found.top == pytest.approx([0.25, 0.75, 0])  # 89.6 is within .5 of 90
    assert found.points == pytest.approx([58.75, 73.65, 5.0])
    assert found.winners.tolist() == [False, True, False]
    assert found.runs == 2


def test_uncertainty_adds_its_share() -> None:
    marked = np.array([[True, False, False], [True, False, True]])
    found = consensus([[50, 50, 50], [50, 50, 50]], marked)
    assert found.uncertainty == pytest.approx([1, 0, 0.5])
    assert found.points - found.points[1] == pytest.approx([5, 0, 2.5])


def test_tied_scores_share_their_mean_rank() -> None:
    assert rank_points([80, 80, 20, 0]) == pytest.approx([2.5 / 3, 2.5 / 3, 1 / 3, 0])
    assert rank_points([7, 7, 7]) == pytest.approx([0.5, 0.5, 0.5])


@pytest.mark.parametrize(("second", "share"), [(89.5, 0.5), (89.49, 0.0), (90.0, 0.5)])
def test_the_tolerance_is_inclusive(second: float, share: float) -> None:
    assert top_shares([90, second, 0])[1] == share


def test_the_tolerance_survives_binary_fractions() -> None:
    assert top_shares([0.3 + 0.5, 0.3, 0.0])[1] == 0.5
    assert top_shares([70.1, 69.6])[1] == 0.5


def test_points_within_half_a_point_tie() -> None:
    found = consensus([[81, 80.5, 0], [80.5, 81, 0]], NOBODY)
    assert found.winners.tolist() == [True, True, False]


def test_a_run_with_a_missing_score_is_left_out_whole() -> None:
    complete = consensus([[60, 40, 20]], NOBODY[:1])
    found = consensus([[60.0, 40.0, 20.0], [0.0, np.nan, 100.0]], ~NOBODY)
    assert found.runs == 1
    assert found.points - complete.points == pytest.approx([5, 5, 5])


def test_nobody_wins_where_nothing_was_read() -> None:
    found = consensus(np.full((2, 3), np.nan), NOBODY)
    assert found.runs == 0
    assert not found.winners.any()
    assert np.isnan(found.points).all()
    assert np.isnan(expected_hit(found.winners, [True, False, False]))


def test_one_candidate_is_no_list() -> None:
    with pytest.raises(ValueError, match="two candidates"):
        consensus([[50.0]], [[False]])


def test_the_weight_table_has_eight_rows_that_sum_to_one() -> None:
    assert len(WEIGHTS) == 8
    assert WEIGHTS["proposed"] == PROPOSED
    for bad in ((0.5, 0.5, 0.5, -0.5), (0.5, 0.2, 0.2, 0.05)):
        with pytest.raises(ValueError, match="sum to 1"):
            Weights(*bad)


def random_runs(rng: np.random.Generator, *shape: int) -> tuple[Floats, Flags]:
    return floats(rng.integers(0, 21, shape) * 5), rng.random(shape) < 0.3


@pytest.mark.parametrize("name", WEIGHTS)
def test_the_consensus_is_a_weighted_mean_that_follows_the_candidates(name: str) -> None:
    """Properties: range, order of runs and of candidates, runs as means, prompts apart."""
    rng = np.random.default_rng(4)
    scores, marked = random_runs(rng, 50, 7, 4)
    weights = WEIGHTS[name]
    found = consensus(scores, marked, weights)
    assert ((found.points >= 0) & (found.points <= 100)).all()
    assert found.borda.mean(axis=-1) == pytest.approx(50)
    assert found.top.sum(axis=-1) == pytest.approx(1)
    assert found.winners.any(axis=-1).all()
    runs, seats = rng.permutation(7), rng.permutation(4)
    shuffled = consensus(scores[:, runs][..., seats], marked[:, runs][..., seats], weights)
    assert shuffled.points == pytest.approx(found.points[..., seats])
    assert run_points(scores, marked, weights).mean(axis=-2) == pytest.approx(found.points)
    assert consensus(scores[3], marked[3], weights).points == pytest.approx(found.points[3])


def test_averaging_executions_is_one_consensus_of_all_runs() -> None:
    scores, marked = random_runs(np.random.default_rng(5), 3, 7, 4)
    together = consensus(scores.reshape(21, 4), marked.reshape(21, 4))
    assert consensus(scores, marked).points.mean(axis=0) == pytest.approx(together.points)


def test_a_better_score_never_hurts() -> None:
    rng = np.random.default_rng(6)
    scores, marked = random_runs(rng, 200, 3, 4)
    better = scores.copy()
    better[:, 1, 2] = np.minimum(100, better[:, 1, 2] + 5)
    assert (
        consensus(better, marked).points[:, 2] >= consensus(scores, marked).points[:, 2] - 1e-9
    ).all()


def test_a_tie_that_holds_the_gold_counts_its_share() -> None:
    winners = [[True, True, False], [False, True, False], [False, False, False]]
    hit = expected_hit(winners, [True, False, False])
    assert hit[:2] == pytest.approx([0.5, 0.0])
    assert np.isnan(hit[2])
    assert expected_hit(winners[0], [True, True, False]) == 1.0


EXTREMES = [
    np.array(run, dtype=float)
    for run in {
        *permutations((100, 0, 0)),
        *permutations((100, 1e-6, 0)),
        *permutations((100, 50, 0)),
        *permutations((100, 99.6, 0)),
        *permutations((100, 100, 0)),
    }
]


@pytest.mark.parametrize("name", ["proposed", "rank_only", "score_only", "top_vote_only"])
def test_it_never_stops_while_a_run_could_change_the_winner(name: str) -> None:
    """Every extreme next run is tried; where one changes the winners, `can_change` says so."""
    weights, rng = WEIGHTS[name], np.random.default_rng(7)
    flags = [np.array(bits) for bits in product((False, True), repeat=3)]
    stopped = changed = 0
    for _ in range(40):
        scores, marked = random_runs(rng, int(rng.integers(1, 7)), 3)
        scores[:, 0] = np.minimum(100, scores[:, 0] + rng.integers(0, 100))
        found = consensus(scores, marked, weights)
        can = bool(can_change(found, 1, weights))
        does = any(
            (
                consensus(np.vstack([scores, run]), np.vstack([marked, flag]), weights).winners
                != found.winners
            ).any()
            for run in EXTREMES
            for flag in flags
        )
        assert can or not does
        stopped, changed = stopped + (not can), changed + does
    assert stopped >= 5
    assert changed >= 5


def test_it_stops_exactly_where_the_bound_is_reached() -> None:
    """Seven runs of 95 points to nil hold against six of 0 to 100, and not against seven."""
    scores = np.tile([100.0, 0.0], (7, 1))
    found = consensus(scores, np.zeros((7, 2), dtype=bool))
    # a rival gains 100 a run: 7 * 95 - 100 r > 0.5 (7 + r) holds up to r = 6
    assert [bool(can_change(found, r)) for r in (0, 1, 6, 7)] == [False, False, False, True]


def test_before_the_first_run_everything_is_open() -> None:
    found = consensus(np.full((2, 3), np.nan), NOBODY)
    assert can_change(found, 1)
    assert not can_change(found, 0)
