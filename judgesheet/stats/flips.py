"""Which candidate comes out best, how often that changes, and how much of it the order causes.

A pick is a vector of probabilities over C options: uniform over the tied best, or one-hot for the
score of a single call. Missing picks are NaN throughout.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from ._support import Flags, Floats, floats
from .interval import Interval, by_cluster, cluster_rate
from .reads import ratio

Which = Literal["different", "same"]
"""Pairs of calls under two orders, or under one."""

TIE = 1e-9
"""Means of integer scores that differ by less than this are equal: unequal ones of up to 1,000
reads differ by 1e-6."""


@dataclass(frozen=True, slots=True)
class CallFlips:
    """Flip rates between single calls, per prompt.

    Attributes
    ----------
    different
        Shape (P,): probability that two calls under different orders disagree.
    same
        Shape (P,): probability that two calls under one order disagree.
    excess
        Shape (P,): `different` - `same`, the flips that the order adds to those by noise and ties.
    across, within
        Shape (P,): pairs of answered calls under different orders, and under one order.
    calls
        Shape (P,): answered calls.
    most
        Shape (P,): the greatest `different` that there can be; 1 where the options are not known.

    Rates are NaN where a prompt has no such pair of calls.
    """

    different: Floats
    same: Floats
    excess: Floats
    across: Floats
    within: Floats
    calls: Floats
    most: Floats

    @classmethod
    def joined(cls, parts: Iterable[Self]) -> Self:
        """Those of all these prompts."""
        parts = list(parts)
        columns = ([getattr(part, field.name) for part in parts] for field in fields(cls))
        return cls(*(np.concatenate([np.empty(0), *column]) for column in columns))

    def rate(self, which: Which, clusters: ArrayLike | None = None) -> Interval:
        """The share of all pairs of calls that disagree; `clusters` are the prompts if not given.

        The pairs of one prompt share calls and so depend on each other: the interval takes that
        from the spread between clusters.
        """
        rates, pairs = getattr(self, which), self.across if which == "different" else self.within
        known = ~np.isnan(rates)
        cluster = (np.arange(rates.size) if clusters is None else np.asarray(clusters))[known]
        differing, _ = by_cluster((rates * pairs)[known], cluster)
        trials, _ = by_cluster(pairs[known], cluster)
        return cluster_rate(differing, trials)

    @property
    def most_excess(self) -> float:
        """The greatest excess that a prompt could have with these calls."""
        return float(self.most[~np.isnan(self.excess)].max(initial=0.0))

    def n(self, which: Which | Literal["excess"]) -> int:
        """Calls that enter these rates."""
        return int(self.calls[~np.isnan(getattr(self, which))].sum())


def pick(scores: ArrayLike) -> Floats:
    """Uniform probability over the tied best of the candidates (..., C) -> (..., C).

    All NaN where the score of any candidate is missing.
    """
    array = floats(scores)
    missing = np.isnan(array).any(axis=-1, keepdims=True)
    top = _best(array)
    return np.where(missing, np.nan, top / top.sum(axis=-1, keepdims=True))


def _best(scores: Floats) -> Flags:
    """Which candidates are tied best; NaN counts as 0."""
    filled = np.nan_to_num(scores)
    best: Flags = filled >= filled.max(axis=-1, keepdims=True) - TIE
    return best


def one_hot(choices: ArrayLike, options: int) -> Floats:
    """Choices 1..options (NaN for missing), shape (...), as picks of shape (..., options)."""
    array = floats(choices)[..., np.newaxis]
    return np.where(np.isnan(array), np.nan, array == np.arange(1, options + 1))


def top1_flip(q_a: ArrayLike, q_b: ArrayLike) -> Floats:
    """Probability that independent picks (..., C) from two arms differ: 1 - sum_c q_a q_b.

    NaN where either is missing.
    """
    same: Floats = np.sum(floats(q_a) * floats(q_b), axis=-1)
    return 1 - same


def top1_flip_first_index(scores_a: ArrayLike, scores_b: ArrayLike) -> Floats:
    """1 where the first best candidate differs, else 0 (paper-compatible: ties go to the first).

    For scores (..., C); NaN where any candidate is missing in either arm.
    """
    a, b = floats(scores_a), floats(scores_b)
    missing = np.isnan(a).any(axis=-1) | np.isnan(b).any(axis=-1)
    # argmax takes the first of several, as the paper does.
    differ = _best(a).argmax(axis=-1) != _best(b).argmax(axis=-1)
    return np.where(missing, np.nan, differ)


def least_alike(calls: ArrayLike, options: int) -> Floats:
    """The fewest pairs of calls under two orders that agree, with so many options (P,).

    With more orders than options some pairs must agree, fewest if each is chosen equally often.

    Parameters
    ----------
    calls
        Shape (P, O): answered calls under each order.
    """
    per_order = floats(calls)
    total, within = per_order.sum(axis=1), (per_order**2).sum(axis=1)
    each, over = np.divmod(total, options)
    evenly = (options - over) * each**2 + over * (each + 1) ** 2
    alike: Floats = np.maximum(0.0, np.ceil((evenly - within) / 2))
    return alike


def call_flips(q: ArrayLike, options: int | None = None) -> CallFlips:
    """Flips between all pairs of single calls, across orders and within them.

    With S_o the sum of the picks under order o, sum_{o<o'} S_o S_o' = (|sum S|^2 - sum |S_o|^2)/2
    and the pairs under one order sum to (|S_o|^2 - sum_r |q_or|^2)/2: unbiased, without a loop over
    pairs. Every pair of answered calls has the same weight.

    Parameters
    ----------
    q
        Shape (P, O, R, C): prompts, orders, repeats, options; NaN for missing calls.
    options
        How many options there were, if those that were never chosen are not among the C; 0 if that
        is not known.
    """
    picks = floats(q)
    known: Flags = ~np.any(np.isnan(picks), axis=-1)
    picks = np.where(known[..., None], picks, 0.0)
    calls = known.sum(axis=2).astype(np.float64)  # (P, O)
    sums = picks.sum(axis=2)  # (P, O, C)
    order_norms = np.sum(sums**2, axis=(1, 2))
    total_norms = np.sum(sums.sum(axis=1) ** 2, axis=1)
    call_norms = np.sum(picks**2, axis=(1, 2, 3))
    across_pairs = (calls.sum(axis=1) ** 2 - np.sum(calls**2, axis=1)) / 2
    within_pairs = np.sum(calls * (calls - 1), axis=1) / 2
    different = _disagreement((total_norms - order_norms) / 2, across_pairs)
    same = _disagreement((order_norms - call_norms) / 2, within_pairs)
    excess = different - same
    excess = np.where(np.abs(excess) < TIE, 0.0, excess)
    options = picks.shape[-1] if options is None else options
    alike = least_alike(calls, options) if options else np.zeros(len(calls))
    most = _disagreement(alike, across_pairs)
    return CallFlips(different, same, excess, across_pairs, within_pairs, calls.sum(axis=1), most)


def _disagreement(agreements: Floats, pairs: Floats) -> Floats:
    """1 - agreements / pairs, NaN without pairs; rounding below 0 is cut off."""
    rate = 1 - ratio(agreements, pairs)
    return np.where(np.abs(rate) < TIE, 0.0, rate)


def kendall_tau_b(a: ArrayLike, b: ArrayLike) -> Floats:
    """Kendall's tau-b between two score vectors (..., C), per prompt.

    NaN where a candidate is missing or either side is all tied.

    References
    ----------
    Kendall, M. G. (1945), "The treatment of ties in ranking problems", Biometrika 33, 239-251.
    """
    a, b = floats(a), floats(b)
    first, second = np.triu_indices(a.shape[-1], k=1)
    sign_a = _signs(a[..., first] - a[..., second])
    sign_b = _signs(b[..., first] - b[..., second])
    concordance = np.sum(sign_a * sign_b, axis=-1)
    return ratio(concordance, np.sqrt(np.sum(sign_a**2, axis=-1) * np.sum(sign_b**2, axis=-1)))


def _signs(differences: Floats) -> Floats:
    return np.where(np.abs(differences) < TIE, 0.0, np.sign(differences))
