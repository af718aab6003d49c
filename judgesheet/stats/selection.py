"""At which positions each score is chosen, and the cost of an order that follows.

Counts have shape (G, n, n): clusters, scores 1..n, displayed positions 1..n. Costs are in
percentage points.
"""

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ._support import Floats, Integers, alike, floats, resampled_sums
from .interval import ROUNDING
from .orders import Order
from .reads import ratio

RESAMPLES = 2000


def selection_matrix(counts: ArrayLike) -> Floats:
    """P(position | score), shape (n_scores, n_positions); NaN rows for scores never chosen.

    Parameters
    ----------
    counts
        Shape (G, n_scores, n_positions).

    References
    ----------
    Xu et al., "Am I More Pointwise or Pairwise? Revealing Position Bias in Rubric-Based
    LLM-as-a-Judge", first version (seven judges, ten orders), Table 5.
    """
    return _shares(floats(counts).sum(axis=0))


def _shares(totals: Floats) -> Floats:
    """Rows (last axis) scaled to sum to 1; NaN where empty."""
    return ratio(totals, totals.sum(axis=-1, keepdims=True))


def bias_cost(matrix: ArrayLike, order: Sequence[int]) -> float:
    """Cost(pi) = sum over positions p of |P(p | pi_p) - 1/n|, in percentage points.

    Parameters
    ----------
    matrix
        Shape (n, n): P(position | score) as a share.
    order
        Score shown at each position.

    Returns
    -------
    float
        0 to 100 (n - 1); NaN if a score was never chosen. Always the same position costs
        200 (1 - 1/n); a judge that gives some scores in this one order only costs more.

    References
    ----------
    Xu et al., "Am I More Pointwise or Pairwise?", first version (seven judges, ten orders),
    section 5.3.
    """
    return float(_costs(floats(matrix), _indices([order]))[0])


def _indices(orders: Sequence[Sequence[int]]) -> Integers:
    return np.asarray(orders, dtype=np.int64) - 1


def _costs(matrices: Floats, orders: Integers) -> Floats:
    """Costs (..., K) of K orders (K, n) under matrices (..., n, n)."""
    positions = matrices.shape[-1]
    departures = np.abs(matrices - 1 / positions)
    costs: Floats = 100 * departures[..., orders, np.arange(positions)].sum(axis=-1)
    return costs


def min_bias_order(matrix: ArrayLike, among: Sequence[Sequence[int]] | None = None) -> Order | None:
    """The order of least bias cost; None where a score was never chosen.

    Parameters
    ----------
    matrix
        Shape (n, n): P(position | score).
    among
        Orders to choose from (the 2n rotations, say); the first wins a tie. None: all n!, as an
        assignment of scores to positions.
    """
    array = floats(matrix)
    if np.isnan(array).any():
        return None
    return tuple(int(score) for score in _cheapest(array[None], among)[0])


def _cheapest(matrices: Floats, among: Sequence[Sequence[int]] | None) -> Integers:
    """The cheapest order under each of the matrices (m, n, n) -> (m, n)."""
    if among is not None:
        costs = alike(_costs(matrices, _indices(among)))
        cheapest: Integers = np.asarray(among, dtype=np.int64)[np.argmin(costs, axis=-1)]
        return cheapest
    departures = np.abs(matrices - 1 / matrices.shape[-1]).swapaxes(-1, -2)
    return np.array([scipy.optimize.linear_sum_assignment(cost)[1] + 1 for cost in departures])


def order_gain_share(
    counts: ArrayLike,
    candidate: Sequence[int],
    default: Sequence[int],
    rng: np.random.Generator,
) -> float | None:
    """Share of cluster-bootstrap resamples in which the candidate costs less than the default.

    None if a score was never chosen; one that is missing from a resample adds nothing to either
    cost. Recommend an order only if the share is at least .90: if no order is better, one is then
    recommended in 4-7 % of data sets.

    Parameters
    ----------
    counts
        Shape (G, n, n).
    candidate, default
        Score shown at each position.
    """
    array = floats(counts)
    pair = _indices([candidate, default])
    if np.isnan(_costs(selection_matrix(array), pair)).any():
        return None
    costs = _costs(_resampled(array, rng, RESAMPLES), pair)
    return float(np.mean(costs[:, 0] < costs[:, 1] - ROUNDING))


def best_order_share(
    counts: ArrayLike,
    rng: np.random.Generator,
    among: Sequence[Sequence[int]] | None = None,
    resamples: int = RESAMPLES,
) -> float | None:
    """Share of cluster-bootstrap resamples with the same cheapest order.

    Parameters
    ----------
    counts
        Shape (G, n, n).
    among
        Orders to choose from; None for all n!.
    """
    array = floats(counts)
    best = min_bias_order(selection_matrix(array), among)
    if best is None:
        return None
    again = (_cheapest(_resampled(array, rng, resamples), among) == best).all(axis=-1)
    return float(again.mean())


def _resampled(counts: Floats, rng: np.random.Generator, resamples: int) -> Floats:
    """Selection matrices (resamples, n, n) of resampled clusters; scores not drawn are uniform."""
    shares = _shares(resampled_sums(counts, resamples, rng))
    return np.nan_to_num(shares, nan=1 / counts.shape[-1])
