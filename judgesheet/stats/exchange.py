"""What the places of a stimulus get, compared with its calls under exchanged orders.

If the order does not matter, the verdicts on an item could be exchanged between its orders. Such
exchanges need no model of the judge.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy
from numpy.lib.stride_tricks import sliding_window_view

from judgesheet.base.limits import MOST_MOVED, MOST_ONE_BY_ONE

from ._support import Flags, Floats, Integers, alike, sum_by
from .interval import ROUNDING

DRAWS = 4_999
"""Enough for p-values below one in a thousand where ten calls can show no more than that."""
# p-values in steps of .002, which is enough to announce by.
FEWEST_DRAWS = 499
STORED = 100_000
"""Exchanges in a store at least. Every item takes successive ones, each from another place on, so
that no two items are exchanged alike in one draw."""
AT_ONCE = 250_000
"""Numbers that are looked at together: few enough for a processor's cache."""

Orders = Callable[[Integers, int], Iterable[Integers]]
"""Whose order a call on each of some items gets, call by call: (items, draws). From the numbers of
the items and that of their calls."""


@dataclass(frozen=True, slots=True)
class Items:
    """Items of which the calls listed the same things at the same places.

    Attributes
    ----------
    number
        Shape (items,): their numbers among all items, from 0.
    points
        Shape (items, calls, things): what each call gives to each thing.
    where
        Shape (calls, things): where each call lists that thing, from 0; -1 where it does not.
    """

    number: Integers
    points: Floats
    where: Integers

    @property
    def calls(self) -> int:
        """Calls on each of them."""
        return len(self.where)

    def stands(self, places: int) -> Floats:
        """1 where a call lists a thing, shape (things, calls, places)."""
        stands: Floats = (self.where.T[:, :, None] == np.arange(places)).astype(np.float64)
        return stands

    def would(self, mine: slice | Integers, places: int) -> Floats:
        """What calls would give to places under the order of each: (items, m, m, places)."""
        would: Floats = np.tensordot(self.points[mine], self.stands(places), axes=1)
        return would

    def packed(self, mine: Integers, bits: int) -> Integers:
        """The same as whole numbers, each place in `bits` of its own: (items, m, m)."""
        units = np.where(self.where.T < 0, 0, np.int64(1) << np.maximum(self.where.T, 0) * bits)
        return np.tensordot(self.points[mine].astype(np.int64), units, axes=1)

    def log_ways(self) -> float:
        """Logarithm of the number of different exchanges of one of them."""
        alike = np.array([*Counter(sorted(map(tuple, self.where.tolist()))).values()])
        all_ways = scipy.special.gammaln(self.calls + 1)
        return float(all_ways - scipy.special.gammaln(alike + 1).sum())


@dataclass(frozen=True, slots=True)
class Exchanged:
    """Sums over the calls on each stimulus of what each place gets.

    Attributes
    ----------
    mean, covariance
        Their mean (stimuli, places) and covariance (stimuli, places, places) over all exchanges.
    calls
        Number of calls, (stimuli,).
    log_ways
        Logarithm of the number of different exchanges, (stimuli,).
    drawn
        What was observed on k stimuli, and behind it what random exchanges give on them:
        (k, places, 1 + draws).
    """

    mean: Floats
    covariance: Floats
    calls: Integers
    log_ways: Floats
    drawn: Callable[[Integers], Floats]

    def p(self, among: Integers) -> float:
        """p-value of "the order matters nowhere" on these stimuli.

        Of what they have in common, where departures from the mean are added and may cancel, or of
        the sum of their squares: whichever is more surprising, corrected for being two. Some
        stimuli are looked at after others, so that the draws of many need no room.
        """
        # One root for all: where places get more than elsewhere, they count for more.
        root = root_of(self.covariance[among].sum(axis=0))
        together, squares = (np.array([start]) for start in (0.0, 0.0))
        for part in _parts(len(among), self.drawn(among[:1]).size):
            some = among[part]
            departures = self.drawn(some) - self.mean[some][:, :, None]
            together = together + departures.sum(axis=0)
            squares = squares + quadratic_forms(departures, root).sum(axis=0)
        return first_p(-least_p(quadratic_forms(together, root), alike(squares)))


def least_p(*statistics: Floats) -> Floats:
    """The least over some statistics of the share of draws that are as large, for every draw."""
    shares = [
        (one.size - np.searchsorted(np.sort(one), one, side="left")) / one.size
        for one in statistics
    ]
    least: Floats = np.minimum.reduce(shares)
    return least


def first_p(surprises: Floats) -> float:
    """The p-value of the first of these surprises against the others, with the plus-one rule."""
    return float((1 + np.sum(surprises[1:] >= surprises[0])) / len(surprises))


def root_of(covariance: Floats) -> Floats:
    """Root of the pseudo-inverse of a covariance (places, places)."""
    eigenvalues, vectors = np.linalg.eigh(covariance)
    kept = eigenvalues > ROUNDING
    roots: Floats = vectors / np.sqrt(np.where(kept, eigenvalues, 1.0))
    return np.where(kept, roots, 0.0)


def quadratic_forms(departures: Floats, root: Floats) -> Floats:
    """Quadratic forms of departures (…, places, m) with a pseudo-inverse, shape (…, m)."""
    across = root.T @ departures
    np.square(across, out=across)
    return alike(across.sum(axis=-2))


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
    covariance = np.zeros((items, places, places))
    calls, log_ways = np.zeros(items), np.zeros(items)
    for group in groups:
        calls[group.number], log_ways[group.number] = group.calls, group.log_ways()
        for part in _parts(len(group.number), group.calls**2 * places):
            to = group.number[part]
            observed[to], mean[to], covariance[to] = _moments(group, part, places)

    def add(values: Floats) -> Floats:
        return sum_by(values, stimulus, stimuli)

    number = add(calls).astype(np.int64)
    # As most items of a good judge do not: there is nothing to draw.
    varies = np.trace(covariance, axis1=1, axis2=2) > ROUNDING
    several = _Several(groups, stimulus, places, varies, observed, number)
    sums = (add(mean), add(covariance), number, add(log_ways))
    varying = int(calls[varies].sum())
    if varying <= MOST_ONE_BY_ONE:
        orders = _fresh(rng, draws)

        @cache
        def fresh() -> list[Floats]:
            return [several.drawn(np.array([at]), draws, orders)[0] for at in range(stimuli)]

        return Exchanged(*sums, lambda some: np.stack([fresh()[at] for at in some]))
    fewer = _draws(varying, draws)
    stored = cache(lambda: _stored(rng, fewer, items, {group.calls for group in groups}))
    return Exchanged(*sums, lambda some: several.drawn(some, fewer, stored()))


def _draws(calls: int, most: int) -> int:
    """How many draws of so many calls: with the plus-one rule a test keeps its size with any."""
    return max(FEWEST_DRAWS, min(most, MOST_MOVED // max(1, calls)))


def _parts(items: int, numbers: int) -> Iterator[slice]:
    """As many items at once as memory is meant for, each with so many numbers."""
    step = max(1, AT_ONCE // max(1, numbers))
    return (slice(at, at + step) for at in range(0, items, step))


def _moments(group: Items, part: slice, places: int) -> tuple[Floats, Floats, Floats]:
    """Observed sums, mean and covariance of some items.

    With A what calls give to things and B where calls list them, both centred over calls, the
    products of the double-centred M sum to B' (A' A) B.
    """
    m, points, stands = group.calls, group.points[part], group.stands(places)
    observed = np.tensordot(points, stands.transpose(1, 0, 2))
    mean = points.sum(axis=1) @ stands.sum(axis=1) / m
    points = points - points.mean(axis=1, keepdims=True)
    stands = stands - stands.mean(axis=1, keepdims=True)
    products = np.einsum("skp,tkq->stpq", stands, stands)
    covariance = np.tensordot(points.transpose(0, 2, 1) @ points, products) / max(1, m - 1)
    return observed, mean, covariance


def _fresh(rng: np.random.Generator, draws: int) -> Orders:
    """Exchanges that are made for each item."""

    def orders(items: Integers, calls: int) -> Iterable[Integers]:
        plain = np.broadcast_to(np.arange(calls), (draws, calls))
        return np.stack([rng.permuted(plain, axis=1).T for _ in items], axis=1)

    return orders


def _stored(rng: np.random.Generator, draws: int, items: int, sizes: set[int]) -> Orders:
    """Exchanges that items share."""
    plain = ((m, np.arange(m)) for m in sorted(sizes))
    rows = max(STORED, items) + draws
    store = {
        m: rng.permuted(np.broadcast_to(one, (rows, m)), axis=1).T.astype(np.min_scalar_type(m))
        for m, one in plain
    }
    windows = {m: sliding_window_view(one, draws, axis=1) for m, one in store.items()}
    return lambda items, calls: (window[items] for window in windows[calls])


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
        self._number = np.bincount(stimulus)
        self._group, self._row = np.empty((2, len(stimulus)), dtype=np.int64)
        for at, group in enumerate(groups):
            self._group[group.number], self._row[group.number] = at, np.arange(len(group.number))
        # All places share one signed whole number, so that a draw is one look-up per call.
        self._bits = 63 // max(1, places)
        whole = all(bool((one.points == np.floor(one.points)).all()) for one in groups)
        least = min((float(one.points.min(initial=0.0)) for one in groups), default=0.0)
        most = max((float(one.points.max(initial=0.0)) for one in groups), default=0.0)
        # No sum may run over into the next place; fractions and negative amounts do not pack.
        self._fits = (calls * most < 1 << self._bits) & (whole and least >= 0)

    def drawn(self, stimuli: Integers, draws: int, orders: Orders) -> Floats:
        """What was observed, and what exchanges of the items give: (k, places, 1 + draws)."""
        number = self._number[stimuli]
        at = np.repeat(np.arange(len(stimuli)), number)
        before = np.cumsum(self._number)[stimuli] - np.cumsum(number)
        items = self._items[np.arange(len(at)) + before[at]]
        varies = self._varies[items]
        # Items on which no exchange changes anything need no draws.
        fixed = sum_by(self._observed[items[~varies]], at[~varies], len(stimuli))
        packs = bool(self._fits[stimuli].all())
        shape = (len(stimuli), draws) if packs else (len(stimuli), draws, self._places)
        sums: Any = np.zeros(shape, dtype=np.int64 if packs else np.float64)
        for some, to in self._alike(items[varies], at[varies], draws if packs else AT_ONCE):
            self._add(sums, some, to, orders)
        drawn = np.empty((len(stimuli), self._places, 1 + draws))
        drawn[:, :, 0] = sum_by(self._observed[items], at, len(stimuli))
        for place in range(self._places):
            got = sums >> place * self._bits & (1 << self._bits) - 1 if packs else sums[..., place]
            np.add(got, fixed[:, place, None], out=drawn[:, place, 1:])
        return drawn

    def _alike(
        self, items: Integers, at: Integers, numbers: int
    ) -> Iterator[tuple[Integers, Integers]]:
        """The items with `at` which stimulus each is, some of a group at once."""
        if at.size and at[-1] > 0:  # those of one stimulus stay in their order
            by_group = np.argsort(self._group[items], kind="stable")
            items, at = items[by_group], at[by_group]
        ends = np.flatnonzero(np.diff(self._group[items], append=-1)) + 1
        for begin, end in zip([0, *ends.tolist()], ends.tolist(), strict=False):
            calls = self._groups[int(self._group[items[begin]])].calls
            for part in _parts(end - begin, numbers * calls):
                yield items[begin:end][part], at[begin:end][part]

    def _add(self, sums: Any, items: Integers, at: Integers, orders: Orders) -> None:
        """Add what one exchange of each item gives, call after call, to the sums of its stimulus.

        The items belong to one group, and those of a stimulus stand together.
        """
        group, rows = self._groups[int(self._group[items[0]])], self._row[items]
        first = np.flatnonzero(np.diff(at, prepend=-1))
        total = np.zeros((len(items), *sums.shape[1:]), dtype=sums.dtype)
        total[first] = sums[at[first]]
        packs = sums.ndim == 2
        would = group.packed(rows, self._bits) if packs else group.would(rows, self._places)
        begins = np.arange(len(items))[:, None] * group.calls
        for call, order in enumerate(orders(items, group.calls)):
            total += would[:, call].reshape(-1, *would.shape[3:]).take(order + begins, axis=0)
        sums[at[first]] = np.add.reduceat(total, first, axis=0)
