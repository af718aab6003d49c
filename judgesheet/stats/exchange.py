"""What the places of a stimulus get, compared with its calls under exchanged orders.

If the order does not matter, the verdicts on an item could be exchanged between its orders. Such
exchanges need no model of the judge, and can test the calls of a single stimulus.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from ._support import Floats
from .interval import ROUNDING

DRAWS = 4_999
"""Enough for p-values below one in a thousand where ten calls can show no more than that."""


@dataclass(frozen=True, slots=True)
class Exchanged:
    """Sums over calls of what each place gets.

    Attributes
    ----------
    observed
        Shape (places,).
    mean, covariance
        Their mean (places,) and covariance (places, places) over all exchanges.
    drawn
        Shape (draws, places): random exchanges.
    calls
        Number of calls.
    log_ways
        Logarithm of the number of different exchanges; no p-value is below one over that number.
    """

    observed: Floats
    mean: Floats
    covariance: Floats
    drawn: Floats
    calls: int
    log_ways: float

    @property
    def departure(self) -> Floats:
        """By how much a call gives more to each place than if the order did not matter."""
        departure: Floats = (self.observed - self.mean) / max(1, self.calls)
        return departure

    def surprise(self) -> tuple[float, Floats]:
        """How unlikely the observed sums are under exchange, and the same for the `drawn` (draws,).

        -log of the chi-square tail of the quadratic form with the pseudo-inverse, which is
        comparable between stimuli with different numbers of places and calls. 0 if nothing can be
        compared.
        """
        eigenvalues, vectors = np.linalg.eigh(self.covariance)
        kept = eigenvalues > ROUNDING
        scaled = vectors[:, kept] / np.sqrt(eigenvalues[kept])
        forms = np.sum(((np.vstack([self.observed, self.drawn]) - self.mean) @ scaled) ** 2, axis=1)
        if not kept.any():
            return 0.0, np.zeros(len(self.drawn))
        # Rounding must not tell apart what is equal by symmetry; what is equal is computed once.
        different, place = np.unique(np.round(forms, 9), return_inverse=True)
        tails = scipy.special.chdtrc(int(kept.sum()), different)
        surprise: Floats = -np.log(np.maximum(tails, np.finfo(float).tiny))[place]
        return float(surprise[0]), surprise[1:]

    def p(self) -> float:
        """p-value of "the order does not matter" on all of these calls, with the plus-one rule."""
        own, others = self.surprise()
        return float((1 + np.sum(others >= own)) / (1 + others.size))


def exchanged(
    items: Iterable[tuple[Floats, Floats]],
    places: int,
    rng: np.random.Generator,
    draws: int = DRAWS,
) -> Exchanged:
    """The sums over the calls of some items, and those of exchanges of orders within each item.

    If M[j, k, p] is what call j would give to place p under the order of call k, the mean of the
    sum over calls is sum_jk M / m, and its covariance 1/(m-1) sum_jk of products of the
    double-centred M (Hoeffding's), over items of m calls.

    Parameters
    ----------
    items
        Per item what its calls give to each thing, shape (m, things), and where each call lists
        that thing, from 0, the same shape.
    places
        Number of places.

    References
    ----------
    Hoeffding, W. (1951), "A combinatorial central limit theorem", Annals of Mathematical
    Statistics 22, 558-566.
    """
    observed, mean = np.zeros(places), np.zeros(places)
    covariance, drawn = np.zeros((places, places)), np.zeros((draws, places))
    calls, log_ways = 0, 0.0
    for given, where in items:
        stands = (where[:, :, None] == np.arange(places)).astype(np.float64)  # (k, thing, place)
        would = np.einsum("jt,ktp->jkp", given, stands)
        m = len(would)
        centred = would - would.mean(axis=0) - would.mean(axis=1, keepdims=True)
        centred += would.mean(axis=(0, 1))
        own = np.arange(m)
        observed += would[own, own].sum(axis=0)
        mean += would.sum(axis=(0, 1)) / m
        covariance += np.einsum("jkp,jkq->pq", centred, centred) / max(1, m - 1)
        calls += m
        alike = np.array([*Counter(sorted(map(tuple, where.tolist()))).values()])
        log_ways += float(scipy.special.gammaln(m + 1) - scipy.special.gammaln(alike + 1).sum())
        if np.abs(centred).max() < ROUNDING:  # as most items of a good judge: nothing to draw
            drawn += would[own, own].sum(axis=0)
            continue
        orders = rng.permuted(np.broadcast_to(own, (draws, m)), axis=1)
        drawn += sum(call.take(order, axis=0) for call, order in zip(would, orders.T, strict=True))
    return Exchanged(observed, mean, covariance, drawn, calls, log_ways)


def together(parts: Sequence[Exchanged]) -> Exchanged:
    """The sums over several stimuli."""
    return Exchanged(
        observed=np.sum([part.observed for part in parts], axis=0),
        mean=np.sum([part.mean for part in parts], axis=0),
        covariance=np.sum([part.covariance for part in parts], axis=0),
        drawn=np.sum([part.drawn for part in parts], axis=0),
        calls=sum(part.calls for part in parts),
        log_ways=sum(part.log_ways for part in parts),
    )


def stepdown(parts: Sequence[Exchanged]) -> Floats:
    """p-values of "the order does not matter" for each stimulus, corrected for their number.

    Westfall and Young's step-down: each stimulus is compared with the largest surprise that
    exchanges give among itself and the less surprising ones. The probability of any false rejection
    is exactly the level, and many stimuli need no more draws than one, unlike Holm's correction of
    single p-values.

    References
    ----------
    Westfall, P. H. and Young, S. S. (1993), "Resampling-based multiple testing", algorithm 2.8.
    """
    own, others = (
        np.array(values) for values in zip(*(one.surprise() for one in parts), strict=True)
    )
    order = np.argsort(own)
    largest = np.maximum.accumulate(others[order], axis=0)
    rank = (1 + np.sum(largest >= own[order, None], axis=1)) / (1 + others.shape[1])
    adjusted = np.empty_like(own)
    adjusted[order] = np.maximum.accumulate(rank[::-1])[::-1]
    return adjusted
