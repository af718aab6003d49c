"""What the places of a stimulus get, compared with its calls under exchanged orders.

If the order does not matter, the verdicts on an item could be exchanged between its orders. Such
exchanges need no model of the judge, and can test the calls of a single stimulus.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
import scipy

from ._support import Flags, Floats, Integers, alike, sum_by
from .interval import ROUNDING

DRAWS = 4_999
"""Enough for p-values below one in a thousand where ten calls can show no more than that."""
# p-values in steps of .005, which is enough to be told from .05.
FEWEST_DRAWS = 199
MOST_MOVED = 500_000_000
"""Calls of all draws together: of more than 100,000 calls there are fewer than `DRAWS` draws."""
MOST_FRESH = 20_000
"""Calls up to which every item has exchanges of its own; with more, items share a store of them."""
STORED = 100_000
"""Exchanges in a store at least. Every item takes successive ones, each from another place on, so
that no two items are exchanged alike in one draw."""
AT_ONCE = 1_000_000
"""Numbers that are held in memory at once."""

Orders = Callable[[int, int], Integers]
"""Whose order each of the calls on an item gets, from its number and theirs: (calls, draws)."""


@dataclass(frozen=True, slots=True)
class Items:
    """Items of which the calls listed the same things at the same places.

    Attributes
    ----------
    number
        Shape (items,): their numbers among all items, from 0.
    given
        Shape (items, calls, things): what each call gives to each thing.
    where
        Shape (calls, things): where each call lists that thing, from 0; -1 where it does not.
    """

    number: Integers
    given: Floats
    where: Integers

    @property
    def calls(self) -> int:
        """Calls on each of them."""
        return len(self.where)

    def would(self, mine: slice | Integers, places: int) -> Floats:
        """What calls would give to places under the order of each: (items, m, m, places)."""
        stands = (self.where.T[:, :, None] == np.arange(places)).astype(np.float64)
        return np.tensordot(self.given[mine], stands, axes=1)

    def packed(self, mine: Integers, bits: int) -> Integers:
        """The same as whole numbers, each place in `bits` of its own: (items, m, m)."""
        units = np.where(self.where.T < 0, 0, np.int64(1) << np.maximum(self.where.T, 0) * bits)
        return np.tensordot(self.given[mine].astype(np.int64), units, axes=1)

    def log_ways(self) -> float:
        """Logarithm of the number of different exchanges of one of them."""
        alike = np.array([*Counter(sorted(map(tuple, self.where.tolist()))).values()])
        all_ways = scipy.special.gammaln(self.calls + 1)
        return float(all_ways - scipy.special.gammaln(alike + 1).sum())


@dataclass(frozen=True, slots=True)
class Stepdown:
    """Whether the order matters on each of some stimuli, and on those together where it may not.

    Attributes
    ----------
    p
        Shape (stimuli,): p-values corrected for their number.
    rest_p
        The p-value of all stimuli together whose own is not below the level; None if there is none.
    by_noise
        Shape (draws,): the largest departure on any of the stimuli.
    """

    p: Floats
    rest_p: float | None
    by_noise: Floats


@dataclass(frozen=True)  # no slots: it remembers what is cached
class Exchanged:
    """Sums over the calls on each stimulus of what each place gets.

    Attributes
    ----------
    observed
        Shape (stimuli, places).
    mean, covariance
        Their mean (stimuli, places) and covariance (stimuli, places, places) over all exchanges.
    calls
        Number of calls, (stimuli,).
    log_ways
        Logarithm of the number of different exchanges, (stimuli,); no p-value is below one over
        that number.
    drawn
        What random exchanges give on a stimulus: (draws, places).
    """

    observed: Floats
    mean: Floats
    covariance: Floats
    calls: Integers
    log_ways: Floats
    drawn: Callable[[int], Floats]

    @cached_property
    def departure(self) -> Floats:
        """By how much a call gives more to each place than if the order did not matter."""
        return (self.observed - self.mean) / np.maximum(1, self.calls)[:, None]

    def surprise(self, stimulus: int, sums: Floats) -> Floats:
        """How unlikely such sums (m, places) on a stimulus are under exchange, shape (m,)."""
        roots, ranks = self._roots
        return _surprise(sums - self.mean[stimulus], roots[stimulus], int(ranks[stimulus]))

    @cached_property
    def _roots(self) -> tuple[Floats, Integers]:
        return _roots(self.covariance)

    def p(self, stimulus: int) -> float:
        """p-value of "the order does not matter" on a stimulus alone, with the plus-one rule."""
        sums = np.vstack([self.observed[stimulus], self.drawn(stimulus)])
        return _p(self.surprise(stimulus, sums))

    def stepdown(self, among: Integers, level: float) -> Stepdown:
        """p-values of "the order does not matter" for each of these stimuli, and of the rest.

        Westfall and Young's step-down: each stimulus is compared with the largest surprise that
        exchanges give among itself and the less surprising ones. The probability of any false
        rejection is exactly the level, and many stimuli need no more draws than one, unlike Holm's
        correction of single p-values. One stimulus is looked at after another, the least surprising
        first, so that the draws of many need no room.

        References
        ----------
        Westfall, P. H. and Young, S. S. (1993), "Resampling-based multiple testing", algorithm 2.8.
        """
        # The least surprising first: the step-down needs the running maximum from there.
        order = np.argsort(self._own(among))
        largest, by_noise, together = (np.array(start) for start in (-np.inf, -np.inf, 0.0))
        rank, rest_drawn, rest = np.empty(len(among)), together, 0
        for done, place in enumerate(order.tolist(), start=1):
            at = int(among[place])
            drawn = self.drawn(at)
            surprises = self.surprise(at, np.vstack([self.observed[at], drawn]))
            largest = np.maximum(largest, surprises[1:])
            noise = ((drawn - self.mean[at]) / max(1, self.calls[at])).max(axis=1)
            by_noise, together = np.maximum(by_noise, noise), together + drawn
            rank[place] = (1 + np.sum(largest >= surprises[0])) / (1 + len(drawn))
            if rank[place] >= level:
                rest, rest_drawn = done, together
        adjusted = np.empty_like(rank)
        adjusted[order] = np.maximum.accumulate(rank[order][::-1])[::-1]
        others = among[np.sort(order[:rest])]
        return Stepdown(adjusted, self._together_p(others, rest_drawn) if rest else None, by_noise)

    def _own(self, among: Integers) -> Floats:
        """The surprises of what was observed on these stimuli."""
        roots, ranks = self._roots
        used = np.arange(roots.shape[-1]) >= roots.shape[-1] - ranks[:, None]
        departures = (self.observed - self.mean)[:, None, :] @ np.where(used[:, None], roots, 0.0)
        return _tails(np.sum(departures[:, 0] ** 2, axis=1), np.maximum(ranks, 1))[among]

    def _together_p(self, stimuli: Integers, drawn: Floats) -> float:
        """The p-value of the sums over these stimuli."""
        observed, mean, covariance = (
            part[stimuli].sum(axis=0) for part in (self.observed, self.mean, self.covariance)
        )
        roots, ranks = _roots(covariance[None])
        surprises = _surprise(np.vstack([observed, drawn]) - mean, roots[0], int(ranks[0]))
        return _p(surprises)


def _p(surprises: Floats) -> float:
    """The p-value of the first of these surprises against the others, with the plus-one rule."""
    return float((1 + np.sum(surprises[1:] >= surprises[0])) / len(surprises))


def _roots(covariance: Floats) -> tuple[Floats, Integers]:
    """Roots of pseudo-inverses, (…, places, places), each in as many last columns as its rank."""
    eigenvalues, vectors = np.linalg.eigh(covariance)
    kept = eigenvalues > ROUNDING
    roots: Floats = vectors / np.sqrt(np.where(kept, eigenvalues, 1.0))[:, None, :]
    return roots, kept.sum(axis=1)


def _surprise(departures: Floats, root: Floats, rank: int) -> Floats:
    """How unlikely departures (m, places) are, shape (m,): 0 if nothing can be compared.

    -log of the chi-square tail of the quadratic form with the pseudo-inverse, which is comparable
    between stimuli with different numbers of places and calls.
    """
    if not rank:
        return np.zeros(len(departures))
    forms = np.sum((departures @ np.ascontiguousarray(root[:, -rank:])) ** 2, axis=1)
    different, place = np.unique(alike(forms), return_inverse=True)
    return _tails(different, rank)[place]  # what is equal is computed once


def _tails(forms: Floats, ranks: Integers | int) -> Floats:
    """-log of the tail of chi-square; rounding must not tell apart what is equal by symmetry."""
    tails = scipy.special.chdtrc(ranks, alike(forms))
    return -np.log(np.maximum(tails, np.finfo(float).tiny))


def exchanged(
    groups: Sequence[Items],
    stimulus: Integers,
    places: int,
    rng: np.random.Generator,
    draws: int = DRAWS,
) -> Exchanged:
    """The sums over the calls on each stimulus, and those of exchanged orders within its items.

    If M[j, k, p] is what call j would give to place p under the order of call k, the mean of the
    sum over calls is sum_jk M / m, and its covariance 1/(m-1) sum_jk of products of the
    double-centred M (Hoeffding's), over items of m calls.

    Parameters
    ----------
    groups
        All items, those with the same lists together.
    stimulus
        Shape (items,): the stimulus of each item, from 0.
    places
        Number of places.

    References
    ----------
    Hoeffding, W. (1951), "A combinatorial central limit theorem", Annals of Mathematical
    Statistics 22, 558-566.
    """
    items, stimuli = len(stimulus), int(stimulus.max(initial=-1)) + 1
    observed, mean = np.zeros((items, places)), np.zeros((items, places))
    covariance, varies = np.zeros((items, places, places)), np.zeros(items, dtype=bool)
    calls, log_ways = np.zeros(items), np.zeros(items)
    for group in groups:
        calls[group.number], log_ways[group.number] = group.calls, group.log_ways()
        for part in _parts(len(group.number), group.calls**2 * places):
            to = group.number[part]
            moments = _moments(group.would(part, places))
            observed[to], mean[to], covariance[to], varies[to] = moments

    def add(values: Floats) -> Floats:
        return sum_by(values, stimulus, stimuli)

    number = add(calls).astype(np.int64)
    several = _Several(groups, stimulus, places, varies, observed, number)
    sums = (add(observed), add(mean), add(covariance), number, add(log_ways))
    if calls[varies].sum() <= MOST_FRESH:
        fresh = [several.drawn(at, draws, _fresh(rng, draws)) for at in range(stimuli)]
        return Exchanged(*sums, fresh.__getitem__)
    # With the plus-one rule the test keeps its size with any number of draws.
    fewer = max(FEWEST_DRAWS, min(draws, MOST_MOVED // int(calls[varies].sum())))
    stored = _stored(rng, fewer, items, {group.calls for group in groups})
    return Exchanged(*sums, lambda at: several.drawn(at, fewer, stored))


def _parts(items: int, numbers: int) -> Iterator[slice]:
    """As many items at once as memory is meant for, each with so many numbers."""
    step = max(1, AT_ONCE // max(1, numbers))
    return (slice(at, at + step) for at in range(0, items, step))


def _moments(would: Floats) -> tuple[Floats, Floats, Floats, Flags]:
    """Observed sums, mean and covariance of items (i, m, m, places), and if exchanges differ."""
    m = would.shape[1]
    centred = would - would.mean(axis=1, keepdims=True) - would.mean(axis=2, keepdims=True)
    centred += would.mean(axis=(1, 2), keepdims=True)
    own = np.arange(m)
    covariance = np.einsum("ijkp,ijkq->ipq", centred, centred) / max(1, m - 1)
    # As most items of a good judge: nothing to draw.
    varies = np.abs(centred).max(axis=(1, 2, 3), initial=0.0) >= ROUNDING
    return would[:, own, own].sum(axis=1), would.sum(axis=(1, 2)) / m, covariance, varies


def _fresh(rng: np.random.Generator, draws: int) -> Orders:
    def orders(_: int, calls: int) -> Integers:
        return rng.permuted(np.broadcast_to(np.arange(calls), (draws, calls)), axis=1).T.copy()

    return orders


def _stored(rng: np.random.Generator, draws: int, items: int, sizes: set[int]) -> Orders:
    rows = max(STORED, items) + draws
    store = {m: _fresh(rng, rows)(0, m) for m in sorted(sizes)}
    return lambda item, calls: store[calls][:, item : item + draws]


class _Several:
    """The items of each stimulus, of which exchanges are drawn."""

    def __init__(
        self,
        groups: Sequence[Items],
        stimulus: Integers,
        places: int,
        varies: Flags,
        observed: Floats,
        calls: Integers,
    ) -> None:
        self._groups, self._places, self._varies, self._observed = groups, places, varies, observed
        self._items = np.argsort(stimulus, kind="stable")
        self._ends = np.concatenate([[0], np.cumsum(np.bincount(stimulus))])
        self._group, self._row = np.empty((2, len(stimulus)), dtype=np.int64)
        for at, group in enumerate(groups):
            self._group[group.number], self._row[group.number] = at, np.arange(len(group.number))
        # All places share one signed whole number, so that a draw is one look-up per call.
        self._bits = 63 // max(1, places)
        whole = all(bool((one.given == np.floor(one.given)).all()) for one in groups)
        least = min((float(one.given.min(initial=0.0)) for one in groups), default=0.0)
        most = max((float(one.given.max(initial=0.0)) for one in groups), default=0.0)
        # No sum may spill into the next place; fractions and negative amounts do not pack.
        self._fits = (calls * most < 1 << self._bits) & (whole and least >= 0)

    def drawn(self, stimulus: int, draws: int, orders: Orders) -> Floats:
        """What exchanges of the items of a stimulus give to each place, (draws, places)."""
        mine = self._items[self._ends[stimulus] : self._ends[stimulus + 1]]
        varies = self._varies[mine]
        # Items on which no exchange changes anything need no draws.
        fixed = self._observed[mine[~varies]].sum(axis=0)
        packs = bool(self._fits[stimulus])
        sums: Any = np.zeros(draws, dtype=np.int64) if packs else np.zeros((draws, self._places))
        for which, run in groupby(mine[varies].tolist(), key=self._group.__getitem__):
            group, items = self._groups[int(which)], list(run)
            rows = self._row[items]
            would = group.packed(rows, self._bits) if packs else group.would(rows, self._places)
            for item, gives in zip(items, would, strict=True):
                for call, order in zip(gives, orders(item, group.calls), strict=True):
                    sums += call.take(order, axis=0)
        if packs:
            shifts = np.arange(self._places) * self._bits
            sums = (sums[:, None] >> shifts & (1 << self._bits) - 1).astype(np.float64)
        total: Floats = fixed + sums
        return total
