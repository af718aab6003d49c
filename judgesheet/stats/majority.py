"""How far votes can help: errors that all voters share are not voted away."""

from dataclasses import dataclass
from itertools import combinations
from math import comb, exp

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from ._support import TINY, Floats, Integers, floats, t_quantile, two_sided
from .consensus import within_tolerance
from .flips import top1_flip
from .interval import Interval, unseen_share

MOST_SUBSETS = 200


def majority_error_bound(q: float, k: int) -> float:
    """Hoeffding's bound exp(-2 k (q - 1/2)^2) of the error of a majority of k independent votes.

    Parameters
    ----------
    q
        Probability that a vote is right; at or below 1/2 nothing is bounded: 1.
    k
        Number of votes.

    References
    ----------
    004 proposition 1.
    """
    return exp(-2 * k * (q - 0.5) ** 2) if q > 0.5 else 1.0


def majority_error(q: float, k: int, correlation: float = 0.0) -> float:
    """Error of a majority of k votes that are beta-binomial with this correlation.

    P(at most k/2 right); correlation 0 is independence, at 1 a majority errs as often as one vote.

    Parameters
    ----------
    q
        Probability that a vote is right.
    k
        Number of votes.
    correlation
        Between the votes on one prompt, 0 to 1.
    """
    if correlation >= 1 or not 0 < q < 1:
        return 1 - q
    right = np.arange(k // 2 + 1)
    ways = np.array([comb(k, int(r)) for r in right], dtype=np.float64)
    if correlation <= 0:
        return float((ways * q**right * (1 - q) ** (k - right)).sum())
    a, b = (p * (1 - correlation) / correlation for p in (q, 1 - q))
    chances = ways * np.exp(special.betaln(right + a, k - right + b) - special.betaln(a, b))
    return float(chances.sum())


@dataclass(frozen=True, slots=True)
class _Sums:
    """Per prompt (G,): votes, errors, squared errors, ordered pairs of votes, joint errors."""

    votes: Floats
    errors: Floats
    squares: Floats
    pairs: Floats
    joint: Floats


def error_correlation(hits: ArrayLike, level: float = 0.95) -> Interval:
    """Correlation of the errors of two votes on one prompt, over all pairs of votes.

    (P(both err) - e^2) / (e2 - e^2), where e^2 is estimated by votes on different prompts, so that
    a small probe is not biased by its own mean. Interval: jackknife over prompts, t quantile; where
    the prompts do not differ, as far as prompts that were not seen could move it.

    Parameters
    ----------
    hits
        Shape (G, k): 1 right, 0 wrong, a share for a tie that holds the right one; NaN missing.
    level
        Confidence level.
    """
    array = floats(hits)
    array = array[(~np.isnan(array)).sum(axis=1) > 1]
    method, groups = "U-statistic, jackknife over prompts", len(array)
    known = ~np.isnan(array)
    wrong = np.where(known, 1 - np.nan_to_num(array), 0.0)
    votes = known.sum(axis=1).astype(np.float64)
    errors, squares = wrong.sum(axis=1), (wrong**2).sum(axis=1)
    sums = _Sums(votes, errors, squares, votes * (votes - 1), errors**2 - squares)
    if groups < 3:
        return Interval(None, None, None, level, groups, method, "under three prompts")
    value = float(_correlation(sums, np.zeros(1))[0])
    if np.isnan(value):
        note = "all votes err" if errors.sum() else "no vote errs"
        return Interval(None, None, None, level, groups, method, note)
    left_out = _correlation(sums, np.eye(groups))
    if np.isnan(left_out).any():
        note = "one prompt holds all errors: no interval"
        return Interval(value, None, None, level, groups, method, note)
    spread = float(((left_out - left_out.mean()) ** 2).sum()) * (groups - 1) / groups
    half = t_quantile(groups - 1, two_sided(level)) * spread**0.5
    low, high, note = max(-1.0, value - half), min(1.0, value + half), ""
    if half <= TINY:
        unseen, method = unseen_share(groups, level), "Clopper-Pearson on prompts"
        low, high = value - unseen * (value + 1), value + unseen * (1 - value)
        note = "all prompts agree: the interval allows for prompts that were not seen"
    return Interval(value, low, high, level, groups, method, note)


def _correlation(sums: _Sums, without: Floats) -> Floats:
    """The correlation without some prompts: rows of `without` (m, G) are 1 for those left out."""
    keep = 1 - np.broadcast_to(without, (len(without), sums.votes.size))
    votes, errors, squares, pairs, joint = (
        keep @ part for part in (sums.votes, sums.errors, sums.squares, sums.pairs, sums.joint)
    )
    across = (errors**2 - keep @ sums.errors**2) / (votes**2 - keep @ sums.votes**2)
    spread = squares / votes - across
    correlation: Floats = np.divide(
        joint / pairs - across, spread, out=np.full(spread.shape, np.nan), where=spread > TINY
    )
    return correlation


def subset_agreement(points: ArrayLike, k: int, rng: np.random.Generator) -> Floats:
    """How often k of the runs decide as all of them do, per prompt.

    Every choice of k runs, or 200 random ones where there are more; ties are resolved as
    independent uniform picks.

    Parameters
    ----------
    points
        Shape (P, K, n): what each run says (`consensus.run_points`); NaN for missing runs.
    k
        Runs in a subset, 1 <= k <= K.
    rng
        Draws the subsets where there are too many.

    Returns
    -------
    array
        Shape (P,); NaN where no run was readable.
    """
    array = floats(points)
    whole = _picks(array, np.arange(array.shape[1])[None])[:, 0]
    some = _picks(array, _subsets(array.shape[1], k, rng))
    agreement = 1 - top1_flip(some, whole[:, None])
    known = ~np.isnan(agreement)
    total, count = np.where(known, agreement, 0.0).sum(axis=1), known.sum(axis=1)
    mean: Floats = np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)
    return mean


def _picks(points: Floats, subsets: Integers) -> Floats:
    """Decision of each subset (S, k) of runs -> (P, S, n), uniform over ties."""
    chosen = points[:, subsets]  # (P, S, k, n)
    known = ~np.isnan(chosen)
    count = known.sum(axis=2)
    total = np.where(known, chosen, 0.0).sum(axis=2)
    mean = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    top = within_tolerance(mean)
    size = top.sum(axis=-1, keepdims=True)
    picks: Floats = np.divide(top, size, out=np.full(top.shape, np.nan), where=size > 0)
    return picks


def _subsets(total: int, k: int, rng: np.random.Generator) -> Integers:
    if comb(total, k) <= MOST_SUBSETS:
        return np.array(list(combinations(range(total), k)), dtype=np.int64)
    drawn = [rng.permutation(total)[:k] for _ in range(MOST_SUBSETS)]
    return np.array(drawn, dtype=np.int64)
