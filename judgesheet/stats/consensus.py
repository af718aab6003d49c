"""One decision from several listwise runs: Huang et al., "Permutation-Consensus Listwise Judging".

A run scores every candidate of a prompt from 0 to 100 and may mark candidates as calibrated in
their uncertainty. A run with a missing score is left out entirely: the ranks of the others would
have another meaning. Every figure here is a mean over runs, so the average of several executions of
equal K is the consensus of all their runs together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isclose

import numpy as np
from numpy.typing import ArrayLike

from ._support import Flags, Floats, Integers, ahead, alike, floats
from .interval import ROUNDING
from .reads import ratio

TOLERANCE = 0.5
"""Points by which scores may differ and still tie, inclusive (Huang et al., section 3.3)."""
TOP = 100.0


@dataclass(frozen=True, slots=True)
class Weights:
    """Shares of the four parts of a consensus score; not negative, with sum 1.

    Raises
    ------
    ValueError
        if one is negative or the sum is not 1.
    """

    score: float
    rank: float
    top: float
    uncertainty: float

    def __post_init__(self) -> None:
        parts = (self.score, self.rank, self.top, self.uncertainty)
        if min(parts) < 0 or not isclose(sum(parts), 1.0):
            raise ValueError(f"weights must not be negative and sum to 1, not {parts}")


PROPOSED = Weights(0.50, 0.25, 0.20, 0.05)
"""Equation 5."""
WEIGHTS: Mapping[str, Weights] = {
    "proposed": PROPOSED,
    "uniform": Weights(0.25, 0.25, 0.25, 0.25),
    "score_only": Weights(1.0, 0.0, 0.0, 0.0),
    "rank_only": Weights(0.0, 1.0, 0.0, 0.0),
    "top_vote_only": Weights(0.0, 0.0, 1.0, 0.0),
    "no_uncertainty": Weights(0.50, 0.27, 0.23, 0.0),
    "score_rank": Weights(0.50, 0.50, 0.0, 0.0),
    "score_top": Weights(0.60, 0.0, 0.40, 0.0),
}
"""The rows of Huang et al., table 3."""


@dataclass(frozen=True, slots=True)
class Consensus:
    """The result of K runs over n candidates; leading axes (prompts, say) are kept.

    Attributes
    ----------
    score
        Shape (..., n): mean score, 0 to 100 (equation 1).
    borda
        Shape (..., n): mean rank points, 0 (always last) to 100 (always first; equation 2).
    top
        Shape (..., n): mean share of the top set, 0 to 1 (equation 3).
    uncertainty
        Shape (..., n): share of runs that marked calibrated uncertainty, 0 to 1 (equation 4).
    points
        Shape (..., n): the consensus score, 0 to 100 (equation 5).
    winners
        Shape (..., n): the candidates whose points lie within the tolerance of the largest.
    runs
        Shape (...): number of complete runs. If it is 0, the figures are NaN and there is no
        winner.
    """

    score: Floats
    borda: Floats
    top: Floats
    uncertainty: Floats
    points: Floats
    winners: Flags
    runs: Integers


def consensus(scores: ArrayLike, uncertain: ArrayLike, weights: Weights = PROPOSED) -> Consensus:
    """Aggregate runs into one score per candidate, and choose (Huang et al., equations 1 to 5).

    Parameters
    ----------
    scores
        Shape (..., K, n), n >= 2: 0 to 100, candidates in one fixed sequence; NaN for missing.
    uncertain
        Shape (..., K, n): true where the run marked calibrated uncertainty.
    weights
        Of the four parts.

    Raises
    ------
    ValueError
        if there are fewer than two candidates: ranks then have no meaning.
    """
    array = floats(scores)
    complete = complete_runs(array)
    parts = (array, 100 * rank_points(array), top_shares(array), floats(uncertain))
    score, borda, top, marked = (_mean(part, complete) for part in parts)
    points = (
        weights.score * score
        + weights.rank * borda
        + weights.top * 100 * top
        + weights.uncertainty * 100 * marked
    )
    runs = complete.sum(axis=-1)
    return Consensus(score, borda, top, marked, points, within_tolerance(points), runs)


def run_points(scores: ArrayLike, uncertain: ArrayLike, weights: Weights = PROPOSED) -> Floats:
    """The points of equation 5 from each run alone.

    Equations 1 to 4 are means over runs: the consensus of any set of runs is the mean of these.
    Parameters as for `consensus`; shape (..., K, n), NaN for a run with a missing score.
    """
    return consensus(floats(scores)[..., None, :], floats(uncertain)[..., None, :], weights).points


def complete_runs(scores: Floats) -> Flags:
    """Which runs (..., K) of scores (..., K, n) hold every score."""
    if scores.shape[-1] < 2:
        raise ValueError("a consensus needs at least two candidates")
    # A run without one score is left out whole: the ranks of the others mean something else.
    complete: Flags = ~np.any(np.isnan(scores), axis=-1)
    return complete


def rank_points(scores: ArrayLike) -> Floats:
    """(n - rank) / (n - 1) over the last axis, tied scores sharing their mean rank: 1 is best."""
    rounded = alike(scores)
    others = rounded.shape[-1] - 1
    points: Floats = (ahead(rounded) + others) / 2 / others
    return points


def top_shares(scores: ArrayLike) -> Floats:
    """1 / size of the top set for its members, 0 for the others, over the last axis."""
    return np.nan_to_num(uniform_picks(floats(scores)))


def uniform_picks(points: Floats) -> Floats:
    """Probabilities of a uniform pick among the top set, over the last axis; NaN without one."""
    top = within_tolerance(points)
    return ratio(top, top.sum(axis=-1, keepdims=True))


def within_tolerance(points: Floats) -> Flags:
    """Which candidates lie within 0.5 of the largest, over the last axis; none where one is NaN."""
    largest = np.max(points, axis=-1, keepdims=True)
    top: Flags = points >= largest - TOLERANCE - ROUNDING
    return top


def _mean(values: Floats, complete: Flags) -> Floats:
    """Mean over complete runs, (..., K, n) -> (..., n); NaN without one."""
    mask = complete[..., None]
    return ratio(np.where(mask, values, 0.0).sum(axis=-2), mask.sum(axis=-2))


def expected_hit(winners: ArrayLike, gold: ArrayLike) -> Floats:
    """Probability that a uniform pick among the winners is right: a tie of m with the gold is 1/m.

    Shapes (..., n) -> (...); `gold` may mark several candidates. NaN where nothing wins, as no run
    was readable.
    """
    won = np.asarray(winners, dtype=bool)
    right = won & np.asarray(gold, dtype=bool)
    return ratio(right.sum(axis=-1), won.sum(axis=-1))


def can_change(so_far: Consensus, remaining: int, weights: Weights = PROPOSED) -> Flags:
    """Whether further runs can still change the winners; if not, further calls would be wasted.

    The worst case for a winner is a rival with all 100 points of every remaining run while the
    winner gets none. The best case for another candidate is all 100 points of every run while the
    others share the lower ranks in the way that suits it best. Ranks are split as if they were
    divisible, so the answer may be "can" where half a rank of one run is missing, but never
    "cannot" where a change is possible. Remaining runs may fail: that changes less.

    Parameters
    ----------
    so_far
        The consensus of the runs so far, under the same weights.
    remaining
        Runs that may follow.

    Returns
    -------
    array
        Shape (...).
    """
    if remaining <= 0:
        return np.zeros(so_far.runs.shape, dtype=bool)
    runs = so_far.runs[..., None]
    sums: Floats = np.where(runs > 0, so_far.points * runs, 0.0)
    # Means within the tolerance tie; sums over runs do within so many times that.
    slack = TOLERANCE * (runs + remaining)[..., None] + ROUNDING
    lead = sums[..., :, None] - sums[..., None, :]  # (..., candidate, rival)
    itself = np.eye(sums.shape[-1], dtype=bool)
    beaten = (~itself & (TOP * remaining - lead > slack)).any(axis=-1)
    room = np.where(itself, np.inf, lead + TOP * remaining + slack)
    can_leave = so_far.winners & beaten
    can_enter = ~so_far.winners & _fits(room, remaining, weights)
    changes: Flags = (can_leave | can_enter).any(axis=-1) | (so_far.runs == 0)
    return changes


def _fits(room: Floats, remaining: int, weights: Weights) -> Flags:
    """Whether the rivals of a candidate that is always first can all stay below their limits.

    `room` (..., candidate, rival) is what each may still gain, infinite for the candidate itself.
    The rivals share ranks 2 to n: any m of them get at least the points of the m lowest ranks in
    every run, and if there is room for that for every m, the ranks can be shared so.
    """
    n = room.shape[-1]
    room = np.sort(room, axis=-1)[..., : n - 1]
    step = weights.rank * TOP / (n - 1) * remaining
    least = step * np.cumsum(np.arange(n - 1))
    fits: Flags = np.all(np.cumsum(room, axis=-1) >= least, axis=-1)
    return fits
