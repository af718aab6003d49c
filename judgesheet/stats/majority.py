"""How far votes can help: voting does not remove errors that all voters share."""

from dataclasses import replace
from functools import partial
from math import exp

import numpy as np
import scipy
from numpy.typing import ArrayLike

from judgesheet.base.missing_reasons import Reason

from ._support import TINY, Floats, floats
from .draws import drawn_sums
from .interval import Interval, estimated, missing, pooled, student, without_ends
from .reads import ratio
from .standard_error import jackknife_error

FEW_PROMPTS = Reason("few_prompts", "under three prompts")
ALL_ERR = Reason("all_err", "all votes err")
NONE_ERRS = Reason("none_errs", "no vote errs")
ONE_PROMPT = Reason("one_prompt", "one prompt holds all errors: no interval")


def majority_error_bound(q: float, k: int) -> float:
    """Hoeffding's bound exp(-2 k (q - 1/2)^2) of the error of a majority of k independent votes.

    Each is right with probability q; at or below 1/2 nothing is bounded: 1. Huang et al.,
    proposition 1.
    """
    return exp(-2 * k * (q - 0.5) ** 2) if q > 0.5 else 1.0


def majority_error(q: float, k: int, correlation: float = 0.0) -> float:
    """Error of a majority of k votes that are beta-binomial with this correlation.

    P(at most k/2 right) where a vote is right with probability q. A correlation of 0 between the
    votes on a prompt is independence, at 1 a majority errs as often as one vote.
    """
    # Votes that all agree are one vote; the beta distribution has no such parameters.
    if correlation >= 1 or not 0 < q < 1:
        return 1 - q
    if correlation <= 0:
        return float(scipy.special.betainc(k - k // 2, k // 2 + 1, 1 - q))
    a, b = (p * (1 - correlation) / correlation for p in (q, 1 - q))
    right = np.arange(k // 2 + 1)
    likely = (
        scipy.special.betaln(a + right, b + k - right)
        - scipy.special.betaln(a, b)
        - scipy.special.betaln(k - right + 1, right + 1)
    )
    return float(np.exp(likely).sum() / (k + 1))


def error_correlation(hits: ArrayLike, clusters: ArrayLike | None = None) -> Interval:
    """Correlation of the errors of two votes on one prompt, over all pairs of votes.

    (P(both err) - e^2) / (e2 - e^2), where e^2 is estimated by votes on prompts of different
    clusters, so that a small probe is not biased by its own mean. Interval: jackknife over
    clusters, t quantile, with room for prompts that were not seen.

    Parameters
    ----------
    hits
        Shape (m, k): 1 right, 0 wrong, a share for a tie that holds the right one; NaN missing.
    clusters
        Shape (m,): labels of any kind; each prompt is one if they are not given.
    """
    array = floats(hits)
    several = (~np.isnan(array)).sum(axis=1) > 1
    labels = np.arange(len(array)) if clusters is None else np.asarray(clusters)
    array = array[several]
    known = ~np.isnan(array)
    wrong = np.where(known, 1 - np.nan_to_num(array), 0.0)
    votes = known.sum(axis=1).astype(np.float64)
    errors, squares = wrong.sum(axis=1), (wrong**2).sum(axis=1)
    # Products of different votes only: a vote always agrees with itself.
    joint = errors**2 - squares
    terms = pooled(labels[several], votes, errors, squares, votes * (votes - 1), joint)
    sums = np.stack([*terms, terms[0] ** 2, terms[1] ** 2])
    drawn = drawn_sums(sums.T)
    sums = sums[:, terms[0] > 0]
    groups = sums.shape[1]

    method = "U-statistic, jackknife over clusters, room for unseen clusters"
    nothing = partial(missing, clusters=groups, method=method)
    if groups < 3:
        return nothing(FEW_PROMPTS)
    total = sums.sum(axis=1, keepdims=True)
    value, left_out = float(_correlation(total)[0]), _correlation(total - sums)
    if np.isnan(value):
        return nothing(ALL_ERR if errors.sum() else NONE_ERRS)
    if np.isnan(left_out).any():
        return without_ends(value, ONE_PROMPT, clusters=groups, method=method)
    at, reach = student(value, jackknife_error(left_out), groups), (value + 1, 1 - value)
    found = estimated(value, at, groups, method, reach, within=(-1.0, 1.0))
    return found if drawn is None else replace(found, drawn=_correlation(drawn.T))


def _correlation(sums: Floats) -> Floats:
    """The correlation from summed terms (terms, ...); NaN where no error is left to be shared."""
    votes, errors, squares, pairs, joint, own_votes, own_errors = sums
    across = (errors**2 - own_errors) / (votes**2 - own_votes)
    spread = squares / votes - across
    return ratio(joint / pairs - across, np.where(spread > TINY, spread, 0.0))
