"""What the places of a stimulus get, compared with its calls under exchanged orders.

If the order does not matter, the verdicts on an item could be exchanged between its orders. Such
exchanges need no model of the judge, and can test the calls of a single stimulus.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import scipy
from numpy.lib.stride_tricks import sliding_window_view

from judgesheet.base.limits import MOST_MOVED, MOST_ONE_BY_ONE

from ._support import Flags, Floats, Integers, alike, sum_by
from .interval import ROUNDING

DRAWS = 4_999
"""Enough for p-values below one in a thousand where ten calls can show no more than that."""
# p-values in steps of .005, which is enough to be told from .05.
FEWEST_DRAWS = 199
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
class Stepdown:
    """Whether the order matters on each of some stimuli, and on those together where it may not.

    Attributes
    ----------
    p
        Shape (stimuli,): p-values corrected for their number.
    rest_p
        The p-value of all stimuli together whose own is not below the level; None if there is none.
    together_p
        The p-value of what all stimuli have in common: departures are added, and may cancel.
    anywhere_p
        The p-value of "the order matters nowhere": of what they have in common or of the sum of
        their squares, whichever is more surprising, corrected for being two.
    by_noise
        Shape (draws,): the largest departure on any of the stimuli.
    """

    p: Floats
    rest_p: float | None
    together_p: float
    anywhere_p: float
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
    varying
        Number of items on which an exchange can change anything.
    drawn
        What was observed on k stimuli, and behind it what random exchanges give on them:
        (k, places, 1 + draws).
    """

    observed: Floats
    mean: Floats
    covariance: Floats
    calls: Integers
    log_ways: Floats
    varying: int
    drawn: Callable[[Integers], Floats]

    @cached_property
    def departure(self) -> Floats:
        """By how much a call gives more to each place than if the order did not matter."""
        return (self.observed - self.mean) / np.maximum(1, self.calls)[:, None]

    def in_common(self, among: Integers) -> float | None:
        """Share of the effects on these stimuli that is one effect of all: 0 if they cancel.

        Of their squares, less those of noise. None where no effect is left.
        """
        calls = np.maximum(1, self.calls[among])[:, None]
        noise = float((np.trace(self.covariance[among], axis1=1, axis2=2) / calls[:, 0] ** 2).sum())
        departure = self.departure[among]
        each = float(np.square(departure).sum()) - noise
        together = (float(np.square(departure.sum(axis=0)).sum()) - noise) / max(1, len(among))
        return min(1.0, max(0.0, together / each)) if each > ROUNDING else None

    @cached_property
    def _roots(self) -> tuple[Floats, Integers]:
        return _roots(self.covariance)

    def forms(self, stimuli: Integers, sums: Floats) -> Floats:
        """How far such sums (k, places, m) on k stimuli are from their means, shape (k, m)."""
        return _forms(sums - self.mean[stimuli][:, :, None], self._roots[0][stimuli])

    def p(self, stimulus: int) -> float:
        """p-value of "the order does not matter" on a stimulus alone, with the plus-one rule."""
        one = np.array([stimulus])
        return _p(self.forms(one, self.drawn(one))[0])

    def stepdown(self, among: Integers, level: float) -> Stepdown:
        """p-values of "the order does not matter" for each of these stimuli, and of the rest.

        Westfall and Young's step-down: each stimulus is compared with the largest surprise that
        exchanges give among itself and the less surprising ones. The probability of any false
        rejection is exactly the level, and many stimuli need no more draws than one, unlike Holm's
        correction of single p-values. Some stimuli are looked at after others, the least surprising
        first, so that the draws of many need no room.

        References
        ----------
        Westfall, P. H. and Young, S. S. (1993), "Resampling-based multiple testing", algorithm 2.8.
        """
        roots, ranks = self._roots[0][among], self._roots[1][among]
        own = self.forms(among, self.observed[among][:, :, None])
        # The least surprising first: the step-down needs the running maximum from there.
        order = np.argsort(_surprise(own, ranks)[:, 0])
        largest, by_noise, together = (np.array([start]) for start in (-np.inf, -np.inf, 0.0))
        # One root for all: where places get more than elsewhere, they count for more.
        common, squares = _roots(self.covariance[among].sum(axis=0, keepdims=True))[0], together
        rank, rest_drawn, rest = np.empty(len(among)), together, 0
        for part in _parts(len(among), self.drawn(among[:1]).size):
            at = order[part]
            drawn = self.drawn(among[at])
            departures = drawn - self.mean[among[at]][:, :, None]
            highest = (
                departures[:, :, 1:].max(axis=1) / np.maximum(1, self.calls[among[at]])[:, None]
            )
            by_noise = np.maximum(by_noise, highest.max(axis=0))
            squares = squares + _forms(departures, common).sum(axis=0)
            surprises = _forms(departures, roots[at])
            if len({*ranks.tolist()}) > 1:  # else they rise with the forms
                surprises = _surprise(surprises, ranks[at])
            most = np.maximum.accumulate(np.maximum(surprises[:, 1:], largest), axis=0)
            largest = most[-1]
            rank[at] = (1 + np.sum(most >= surprises[:, :1], axis=1)) / surprises.shape[1]
            if (above := np.flatnonzero(rank[at] >= level)).size:
                last = int(above[-1]) + 1
                rest = part.start + last
                rest_drawn = together + drawn[:last, :, 1:].sum(axis=0)
            together = together + drawn[:, :, 1:].sum(axis=0)
        adjusted = np.empty_like(rank)
        adjusted[order] = np.maximum.accumulate(rank[order][::-1])[::-1]
        others = among[np.sort(order[:rest])]
        rest_p = _p(self._together(others, rest_drawn)) if rest else None
        shared = self._together(among, together)
        return Stepdown(
            adjusted, rest_p, _p(shared), _p(-_least_p(shared, alike(squares))), by_noise
        )

    def together_p(self, groups: Sequence[Items], rng: np.random.Generator) -> float:
        """p-value of what all stimuli have in common, of calls that each list one thing.

        As in `Stepdown`, in a fraction of its time: exchanged calls are added up over items with
        the same lists before they are given to places.
        """
        places, calls = self.observed.shape[1], int(self.calls.sum())
        sums = np.zeros((places, _draws(calls, DRAWS)))
        for group in groups:
            points, [stands] = group.points[..., 0], group.stands(places)
            points = points[np.ptp(points, axis=1) > ROUNDING]
            points = points - points.mean(axis=1, keepdims=True)
            for part in _parts(len(points), sums.shape[1] * group.calls):
                plain = np.broadcast_to(points[part], (sums.shape[1], *points[part].shape))
                sums += (rng.permuted(plain, axis=2).sum(axis=1) @ stands).T
        drawn = sums + self.mean.sum(axis=0)[:, None]
        return _p(self._together(np.arange(len(self.observed)), drawn))

    def together_by_chi_square(self) -> float:
        """p-value of "the order does not matter" by the sums over all stimuli, without a draw.

        Sums over so many items (`varying`) are normal, which their exchanges then only confirm.
        """
        places, everywhere = self.observed.shape[1], np.arange(len(self.observed))
        [rank] = _roots(self.covariance.sum(axis=0, keepdims=True))[1]
        [surprise] = self._together(everywhere, np.empty((places, 0)))
        return float(scipy.special.chdtrc(rank, surprise))

    def _together(self, stimuli: Integers, drawn: Floats) -> Floats:
        """How surprising the sums over these stimuli are: observed, and drawn."""
        observed, mean, covariance = (
            part[stimuli].sum(axis=0) for part in (self.observed, self.mean, self.covariance)
        )
        sums = np.column_stack([observed, drawn]) - mean[:, None]
        surprises: Floats = _forms(sums[None], _roots(covariance[None])[0])[0]
        return surprises


def _least_p(*statistics: Floats) -> Floats:
    """The least over some statistics of the share of draws that are as large, for every draw."""
    shares = [
        (one.size - np.searchsorted(np.sort(one), one, side="left")) / one.size
        for one in statistics
    ]
    least: Floats = np.minimum.reduce(shares)
    return least


def _p(surprises: Floats) -> float:
    """The p-value of the first of these surprises against the others, with the plus-one rule."""
    return float((1 + np.sum(surprises[1:] >= surprises[0])) / len(surprises))


def _roots(covariance: Floats) -> tuple[Floats, Integers]:
    """Roots of pseudo-inverses, (…, places, places), and their ranks."""
    eigenvalues, vectors = np.linalg.eigh(covariance)
    kept = eigenvalues > ROUNDING
    roots: Floats = vectors / np.sqrt(np.where(kept, eigenvalues, 1.0))[:, None, :]
    return np.where(kept[:, None], roots, 0.0), kept.sum(axis=1)


def _forms(departures: Floats, roots: Floats) -> Floats:
    """Quadratic forms of departures (k, places, m) with k pseudo-inverses, shape (k, m)."""
    across = roots.transpose(0, 2, 1) @ departures
    np.square(across, out=across)
    return alike(across.sum(axis=1))


def _surprise(forms: Floats, ranks: Integers) -> Floats:
    """How unlikely forms (k, m) of such ranks are, shape (k, m): 0 if nothing can be compared.

    -log of the tail of chi-square, which is comparable between stimuli with different numbers of
    places and calls.
    """
    surprise = np.zeros_like(forms)
    for rank in {*ranks.tolist()} - {0}:
        mine = ranks == rank
        different, place = np.unique(forms[mine], return_inverse=True)  # each is computed once
        tails = np.maximum(scipy.special.chdtrc(rank, different), np.finfo(float).tiny)
        surprise[mine] = -np.log(tails)[place.reshape(-1, forms.shape[1])]
    return surprise


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
    sums = (add(observed), add(mean), add(covariance), number, add(log_ways), int(varies.sum()))
    moved = int(calls[varies].sum())
    if moved <= MOST_ONE_BY_ONE:
        orders = _fresh(rng, draws)

        @cache
        def fresh() -> list[Floats]:
            return [several.drawn(np.array([at]), draws, orders)[0] for at in range(stimuli)]

        return Exchanged(*sums, lambda some: np.stack([fresh()[at] for at in some]))
    fewer = _draws(moved, draws)
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
        # No sum may spill into the next place; fractions and negative amounts do not pack.
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
