"""What averaging several reads gains in correlation, and how much of that is noise reduction."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgesheet.base.limits import MOST_SUBSETS
from judgesheet.base.missing_reasons import CONSTANT, Reason

from ._support import (
    TINY,
    Floats,
    Integers,
    bootstrap_weights,
    cluster_codes,
    floats,
    subsets,
    sum_by,
)
from .correlation import LEAST_VARIANCE
from .interval import Interval, missing, resampled
from .reads import ratio

FEW_ITEMS = Reason("few_items", "fewer than three items were read under every order")
NO_REPEATS = Reason(
    "no_repeats", "no order was read twice: noise and the effect of the order cannot be told apart"
)
NO_UNCERTAINTY = Reason(
    "no_uncertainty", "the gain itself has no interval, so there is nothing to split"
)


@dataclass(frozen=True, slots=True)
class AveragingGain:
    """Differences in r between the mean of k reads and one read.

    Attributes
    ----------
    k
        Reads that are averaged, each under another order.
    total
        Observed gain.
    noise
        The part that averaging k reads under a single order would give.
    order
        The rest: what is gained because the orders differ.
    """

    k: int
    total: Interval
    noise: Interval
    order: Interval


def averaging_gains(
    reads: ArrayLike,
    y: ArrayLike,
    clusters: ArrayLike,
    at: Sequence[int],
    rng: np.random.Generator,
    resamples: int = 2000,
) -> tuple[AveragingGain, ...]:
    """Gain in Pearson's r from averaging k orders, split into noise reduction and order effect.

    With r_k the mean correlation with y over the subsets of k orders (first repeat of each):

        total(k) = r_k - r_1
        noise(k) = r_1 (sqrt(k / (1 + (k - 1) rho)) - 1)
        order(k) = total(k) - noise(k)
        rho = 1 - s2 / V

    s2 is the variance between repeats of one cell (item, order), ddof 1, mean over the repeated
    cells; V the variance of one read over items, mean over orders; rho is kept in [r_1^2, 1], since
    no number of reads correlates above 1 with anything. noise(k) is Spearman and Brown's prophecy
    for the correlation of a lengthened test with an outside measure. A judge without an order
    effect has order(k) = 0, one that never varies under one order noise(k) = 0.

    Parameters
    ----------
    reads
        Shape (items, orders, repeats); NaN for missing. Items need the first repeat of every order.
    y
        Shape (items,); items with NaN are dropped.
    at
        The k to report, 2 <= k <= orders.

    References
    ----------
    Xu et al., "Am I More Pointwise or Pairwise?", sections 5.2 (variance reduction against
    de-biasing) and 5.3 (number of orders); Lord, F. M. and Novick, M. R. (1968), "Statistical
    theories of mental test scores", section 5.11 (validity of a lengthened test).
    """
    table, target = floats(reads), floats(y)
    known = ~(np.isnan(table[:, :, 0]).any(axis=1) | np.isnan(target))
    # Items without every order would make r_k and r_1 describe different items.
    table, target = table[known], target[known]
    codes, groups = cluster_codes(np.asarray(clusters)[known])

    def nothing(why: Reason) -> tuple[AveragingGain, ...]:
        unknown = missing(why, clusters=groups)
        return tuple(AveragingGain(k, unknown, unknown, unknown) for k in at)

    if len(table) < 3:
        return nothing(FEW_ITEMS)
    sums = _Sums.of(_scaled(table), _scaled(target), codes, groups)
    repeated = bool(sums.cells.sum())
    picks = {k: subsets(table.shape[1], k, rng, MOST_SUBSETS) for k in (1, *at)}
    observed = _Curve.of(sums, np.ones((1, groups)), picks)
    if np.isnan(observed.r[1][0]):
        return nothing(CONSTANT)
    blocks = bootstrap_weights(groups, resamples, rng)
    drawn = _Curve.joined([_Curve.of(sums, weights, picks) for weights in blocks])

    def gain(k: int) -> AveragingGain:
        parts = zip(observed.parts(k), drawn.parts(k), strict=True)
        total, noise, order = (resampled(float(v[0]), draws, groups) for v, draws in parts)
        if repeated and total.low is not None:
            return AveragingGain(k, total, noise, order)
        why = NO_UNCERTAINTY if repeated else NO_REPEATS
        unknown = missing(why, clusters=groups)
        return AveragingGain(k, total, unknown, unknown)

    return tuple(gain(k) for k in at)


def _scaled(values: Floats) -> Floats:
    """In units of their own spread, so that rounding can be distinguished from variance."""
    spread = float(np.nanstd(values))
    constant = spread <= TINY * float(np.nanmax(np.abs(values)))
    return values * 0.0 if constant else values / spread


@dataclass(frozen=True, slots=True)
class _Sums:
    """Per cluster: items, sums and products of the reads and y, noise variances and their count."""

    size: Floats
    total: Floats
    product: Floats
    noise: Floats
    cells: Floats

    @classmethod
    def of(cls, table: Floats, target: Floats, codes: Integers, groups: int) -> "_Sums":
        columns = np.column_stack([table[:, :, 0], target])
        # About the mean: sums of squares about 0 would lose the variance to rounding.
        columns = columns - columns.mean(axis=0)
        product = columns[:, :, None] * columns[:, None, :]
        count = (~np.isnan(table)).sum(axis=2)
        mean = np.nansum(table, axis=2) / np.maximum(count, 1)
        squares = np.nansum((table - mean[:, :, None]) ** 2, axis=2)
        variance = np.where(count > 1, squares / np.maximum(count - 1, 1), 0.0).sum(axis=1)
        cells = (count > 1).sum(axis=1).astype(np.float64)

        def add(values: Floats) -> Floats:
            return sum_by(values, codes, groups)

        return cls(add(np.ones(len(table))), add(columns), add(product), add(variance), add(cells))


@dataclass(frozen=True, slots=True)
class _Curve:
    """r of the mean of k reads per draw, and the repeatability of a read (draws,)."""

    r: dict[int, Floats]
    rho: Floats

    @classmethod
    def of(cls, sums: _Sums, weights: Floats, picks: dict[int, Floats]) -> "_Curve":
        """One entry per row of `weights` (draws, clusters); `picks` are 0/1 rows per k."""
        size, total = weights @ sums.size, weights @ sums.total
        flat = (weights @ sums.product.reshape(len(sums.size), -1)).reshape(*total.shape, -1)
        scatter = flat - total[:, :, None] * total[:, None, :] / size[:, None, None]
        inner, cross, own = scatter[:, :-1, :-1], scatter[:, :-1, -1], scatter[:, -1, -1]
        mean_square = np.trace(inner, axis1=1, axis2=2) / inner.shape[1]
        least = LEAST_VARIANCE * size
        r = {k: _mean_r(inner, cross, own, least, members) for k, members in picks.items()}
        cells = weights @ sums.cells
        noise = ratio(weights @ sums.noise, cells)
        variance = mean_square / np.maximum(size - 1, 1)
        return cls(r, np.clip(1 - ratio(noise, variance), r[1] ** 2, 1.0))

    @classmethod
    def joined(cls, parts: "Sequence[_Curve]") -> "_Curve":
        """The draws of all parts."""
        r = {k: np.concatenate([part.r[k] for part in parts]) for k in parts[0].r}
        return cls(r, np.concatenate([part.rho for part in parts]))

    def parts(self, k: int) -> tuple[Floats, Floats, Floats]:
        """The gain of k reads, and the parts of it due to noise and to the order."""
        total = self.r[k] - self.r[1]
        noise: Floats = self.r[1] * (np.sqrt(k / (1 + (k - 1) * self.rho)) - 1)
        return total, noise, total - noise


def _mean_r(inner: Floats, cross: Floats, own: Floats, least: Floats, members: Floats) -> Floats:
    """Mean over the subsets of r(mean of the subset, y), where defined; NaN if it is in none."""
    pairs = (members[:, :, None] * members[:, None, :]).reshape(len(members), -1)
    scale = inner.reshape(len(inner), -1) @ pairs.T
    undefined = ~((scale > least[:, None]) & (own > least)[:, None])
    # In place: these arrays are large, and making new ones takes most of the time.
    scale *= own[:, None]
    scale[undefined] = 1.0
    r = cross @ members.T
    r /= np.sqrt(scale, out=scale)
    r[undefined] = 0.0
    return ratio(r.sum(axis=1), np.sum(~undefined, axis=1, dtype=np.float64))
