"""At which positions each score is chosen, and the cost of an order that follows.

Counts have shape (G, n, n): clusters, scores 1..n, displayed positions 1..n. Costs are in
percentage points.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ._support import (
    Floats,
    Integers,
    alike,
    floats,
    resampled_sums,
    t_quantile,
    two_sided,
    z_quantile,
)
from .draws import drawn_sums
from .interval import ROUNDING, Interval, estimated
from .orders import Order
from .reads import ratio

RESAMPLES = 2000
NEVER_CHOSEN = "a score was never chosen: its shares are unknown"
_ENUMERABLE_SIGNS = 12  # 2^11 sign patterns; beyond, bound the standard error by the sum
_HALVINGS = 50  # of an interval of at most 1: to the last bit of a float


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


def bias_cost_interval(counts: ArrayLike, order: Sequence[int]) -> Interval:
    """Bias cost of an order with an interval that also covers a true cost of 0.

    The cost itself is biased upwards: a true cost of 0 gives a value above 0. Let d_p = delta_p +
    e_p be the observed departures with cluster-robust covariance. Upper end: the cost is at least
    the sum of d_p with the true signs, so the true cost is at most the cost plus t times the
    largest standard error of a signed sum. (Inverting this end too is 6-48 % narrower, but misses
    3-8 % instead of 2.5 %.) Lower end: departures are shrunk together towards 0 (soft threshold) as
    long as the observed cost stays within the upper tail of its sampling distribution there, a sum
    of folded normals with gamma-matched moments. t has G-1 degrees of freedom, G being the fewest
    clusters that chose one of the scores. The covariance is taken as at least that of independent
    calls, and the ends leave room for unseen clusters, which may follow the position alone.

    Parameters
    ----------
    counts
        Shape (G, n, n).
    order
        Score shown at each position.
    """
    array = floats(counts)
    array = array[array.sum(axis=(1, 2)) > 0]
    groups, positions = array.shape[0], array.shape[2]
    method = "folded-normal inversion, cluster-robust covariance; room for unseen clusters"
    answer = partial(Interval, clusters=groups, method=method)
    scores = np.asarray(order, dtype=np.int64) - 1
    rows = array.sum(axis=2)[:, scores]  # (G, n): calls that chose the score shown at p
    if groups == 0 or np.any(rows.sum(axis=0) <= 0):
        return answer(None, None, None, note=NEVER_CHOSEN)
    cells = array[:, scores, np.arange(positions)]
    shares = cells.sum(axis=0) / rows.sum(axis=0)
    departures = np.abs(shares - 1 / positions)
    cost = 100 * float(departures.sum())
    # The rarest score limits what is known of the cost.
    fewest = int((rows > 0).sum(axis=0).min())
    if fewest < 2:
        note = "a score was chosen in one cluster only: no interval"
        return answer(cost, None, None, note=note)
    residuals = (cells - shares * rows) / rows.sum(axis=0)
    covariance = groups / (groups - 1) * residuals.T @ residuals
    independent = np.diag(shares * (1 - shares) / rows.sum(axis=0))
    if np.trace(covariance) < np.trace(independent):
        # As for shares: clusters that agree by chance shorten nothing.
        covariance = independent

    def at(confidence: float) -> tuple[float, float]:
        tail = 1 - two_sided(confidence)
        t = t_quantile(fewest - 1, 1 - tail)
        high = cost + 100 * t * _largest_se(covariance)
        return 100 * _shrunk(departures, covariance * (t / z_quantile(1 - tail)) ** 2, tail), high

    # 100 (1 - 1/n) at the one position, 100/n at each of the n - 1 others.
    of_place_alone = 200 * (1 - 1 / positions)
    reach = cost, max(0.0, of_place_alone - cost)
    found = estimated(cost, at, groups, method, reach, within=(0.0, 100.0 * (positions - 1)))
    drawn = drawn_sums(counts)
    if drawn is None:
        return found
    return replace(found, drawn=_costs(_shares(drawn), _indices([order]))[:, 0])


def _largest_se(covariance: Floats) -> float:
    """Largest standard error of a sum of the departures with any signs."""
    n = covariance.shape[0]
    if n > _ENUMERABLE_SIGNS:
        return float(np.sqrt(np.diag(covariance)).sum())
    # Turning all signs changes no variance: half of the patterns are enough.
    signs = np.array([(1, *rest) for rest in product((-1, 1), repeat=n - 1)], dtype=np.float64)
    return float(np.sqrt(np.einsum("sp,pq,sq->s", signs, covariance, signs).max()))


def _shrunk(departures: Floats, covariance: Floats, tail: float) -> float:
    """Smallest soft-thresholded total whose upper `tail` still reaches the observed total."""
    total = float(departures.sum())
    least, most = 0.0, float(departures.max())
    if _upper_reading(np.zeros_like(departures), covariance, tail) >= total:
        return 0.0
    for _ in range(_HALVINGS):
        middle = (least + most) / 2
        if _upper_reading(np.maximum(departures - middle, 0.0), covariance, tail) >= total:
            least = middle
        else:
            most = middle
    return float(np.maximum(departures - least, 0.0).sum())


def _upper_reading(truth: Floats, covariance: Floats, tail: float) -> float:
    """Upper-tail quantile of sum |truth + e|, e normal: moments matched by a gamma."""
    sd = np.sqrt(np.diag(covariance))
    z = np.divide(truth, sd, out=np.full_like(truth, np.inf), where=sd > 0)
    folded = sd * np.sqrt(2 / np.pi) * np.exp(-(z**2) / 2)
    certain = 2 * scipy.special.ndtr(z) - 1  # how surely the sign is that of the truth
    mean = float(np.sum(folded + truth * certain))
    own = truth**2 + sd**2 - (folded + truth * certain) ** 2
    shared = covariance * np.outer(certain, certain)
    variance = float(own.sum() + shared.sum() - np.trace(shared))
    if variance <= 0 or mean <= 0:
        return mean
    scale = variance / mean
    return float(scipy.special.gammaincinv(mean / scale, 1 - tail) * scale)


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
