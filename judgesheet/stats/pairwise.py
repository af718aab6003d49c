"""Comparisons of two responses: the kinds of pairs of verdicts, and the smallest step detected.

A verdict is a code: `FIRST` or `SECOND` for the slot that was chosen, `TIE` for no preference,
`INVALID` for an answer outside the allowed ones. A pair of verdicts has shape (..., 2): the verdict
on (u, v), then that on (v, u). Slot and content differ: choosing the same slot twice is choosing
each response once.
"""

from dataclasses import dataclass
from math import exp, inf, pi, sqrt

import numpy as np
import scipy
from numpy.typing import ArrayLike

from judgesheet.base.records import LEVEL

from ._support import Floats, Integers, floats, z_quantile
from .interval import Ends, Interval, skewness_of, student
from .reads import ratio
from .unseen import unseen_share

TIE, FIRST, SECOND, INVALID = 0, 1, 2, 3
NO_PREFERENCE, STABLE, POSITIONAL, ONE_SIDED, OTHER = range(5)
"""What a pair of verdicts is: neither decides, the same content twice, the same slot twice, one of
two decides, one of two is invalid."""

LEFT, RIGHT = "left", "right"
POINTS = 40
"""Points per step at which the interval of the rate is inverted for the threshold."""


def classify(verdicts: ArrayLike) -> Integers:
    """The kind of each pair of verdicts, (m, 2) -> (m,): `NO_PREFERENCE`, `STABLE` and so on."""
    pairs = np.asarray(verdicts, dtype=np.int64).reshape(-1, 2)
    decided = ((pairs == FIRST) | (pairs == SECOND)).sum(axis=1)
    same_slot = pairs[:, 0] == pairs[:, 1]
    # In this order: an invalid answer makes a pair `OTHER` whatever the other verdict says.
    kinds = np.select(
        [(pairs == INVALID).any(axis=1), decided == 0, decided == 1, same_slot],
        [OTHER, NO_PREFERENCE, ONE_SIDED, POSITIONAL],
        default=STABLE,
    )
    return kinds.astype(np.int64)


def isotonic(successes: ArrayLike, trials: ArrayLike) -> Floats:
    """Weighted non-decreasing fit of rates by their max-min formula; steps without trials are NaN.

    Parameters
    ----------
    successes, trials
        Shape (..., D), steps in rising order.
    """
    k, n = floats(successes), floats(trials)
    zero = np.zeros((*k.shape[:-1], 1))
    hits = np.concatenate([zero, np.cumsum(k, axis=-1)], axis=-1)
    calls = np.concatenate([zero, np.cumsum(n, axis=-1)], axis=-1)
    fitted = np.full(k.shape, -inf)
    for start in range(k.shape[-1]):
        span = calls[..., start + 1 :] - calls[..., start : start + 1]
        gain = hits[..., start + 1 :] - hits[..., start : start + 1]
        # fmin and fmax pass over the NaN of spans in which nothing was asked
        lowest = np.fmin.accumulate(ratio(gain, span)[..., ::-1], axis=-1)[..., ::-1]
        fitted[..., start:] = np.fmax(fitted[..., start:], lowest)
    return np.where(n > 0, fitted, np.nan)


@dataclass(frozen=True, slots=True)
class Threshold(Interval):
    """The step at which the fitted rate reaches a target.

    Attributes
    ----------
    value
        The step; the smallest one if `censored` is "left", None if it is "right" or nothing was
        asked.
    ends
        The steps between which the target lies inside the interval of the rate. Censored on the
        left they are 0 and the smallest step, on the right None.
    censored
        "left" if the smallest step already reaches the target, "right" if none does, "" otherwise.
    """

    censored: str = ""


def threshold(
    successes: ArrayLike,
    trials: ArrayLike,
    steps: ArrayLike,
    target: float = 0.75,
) -> Threshold:
    """Smallest step at which the isotonic fit reaches `target`, interpolated between steps.

    The interval inverts that of the rate: it contains the steps at which the target is inside a t
    interval of the interpolated rate (cluster-robust, longer on the side to which clusters are
    skewed, with a design effect of at least 1). A cluster bootstrap of the fit covers only .88 if
    the curve is steep and clusters are few: most resamples then cross between the same two steps.

    Parameters
    ----------
    successes, trials
        Shape (G, D): per cluster and step.
    steps
        Shape (D,), rising.
    target
        The rate to reach.

    References
    ----------
    Usami et al., equation 10, with linear interpolation in place of its step function.
    """
    k, n, places = floats(successes), floats(trials), floats(steps)
    asked = n.sum(axis=0) > 0
    k, n, places = k[:, asked], n[:, asked], places[asked]
    groups, first = len(k), float(places[0]) if places.size else 0.0
    if places.size == 0:
        return Threshold(None, clusters=groups)
    value = float(_crossing(isotonic(k.sum(axis=0), n.sum(axis=0)), places, target))

    def at(level: float) -> Ends:
        points, least, most = _rate_band(k, n, places, level)
        low = _end(min(value, float(_crossing(most, points, target))), below=0.0)
        return Ends(low, _end(max(value, float(_crossing(least, points, target))), below=first))

    censored = LEFT if value == -inf else RIGHT if value == inf else ""
    shown = {LEFT: first, RIGHT: None}.get(censored, value)
    return Threshold(shown, at if groups > 1 else None, groups, censored=censored)


def _rate_band(k: Floats, n: Floats, places: Floats, level: float) -> tuple[Floats, Floats, Floats]:
    """Points along the steps (p,), and the ends of the rate's interval there, both rising."""
    groups, hits, calls = len(k), k.sum(axis=0), n.sum(axis=0)
    along = np.linspace(0, places.size - 1, POINTS * (places.size - 1) + 1)
    weights = np.maximum(0.0, 1 - np.abs(along[:, None] - np.arange(places.size)))  # (p, D)
    rate, careful = hits / calls, log_linear(hits, calls)
    parts = (k - rate * n) / calls @ weights.T  # what each cluster adds, (G, p)
    own = groups / (groups - 1) * np.sum(parts**2, axis=0)
    # At least that of independent calls at a rate that is never 0 or 1.
    error = np.sqrt(np.maximum(own, careful * (1 - careful) / calls @ (weights**2).T))
    mean = weights @ rate
    ends = np.array(
        [
            student(float(centre), float(size), groups, skewness_of(column))(level)
            for centre, size, column in zip(mean, error, parts.T, strict=True)
        ]
    )
    # The rate rises along the ladder, and so do the ends of its interval.
    least = np.maximum.accumulate(ends[:, 0])
    most = np.minimum.accumulate(ends[::-1, 1])[::-1]
    return weights @ places, least, most


def _end(end: float, below: float) -> float | None:
    """An end of the interval: `below` if it lies below the ladder, None if above it."""
    if end == inf:
        return None
    return below if end == -inf else end


def _crossing(fitted: Floats, places: Floats, target: float) -> Floats:
    """Where each curve (..., D) reaches the target; -inf before the first step, inf after all."""
    known = ~np.isnan(fitted)
    # A step that a resample missed takes the level of the step before it: the curve stays rising.
    filled = np.maximum.accumulate(np.where(known, fitted, 0.0), axis=-1)
    reached = filled >= target
    at = reached.argmax(axis=-1)
    before = np.maximum(at - 1, 0)
    high = np.take_along_axis(filled, at[..., None], -1)[..., 0]
    low = np.take_along_axis(filled, before[..., None], -1)[..., 0]
    share = np.divide(target - low, high - low, out=np.ones_like(high), where=high > low)
    crossing = places[before] + share * (places[at] - places[before])
    crossing = np.where(at == 0, -inf, crossing)
    return np.where(reached.any(axis=-1), crossing, inf)


def d_prime(hits: float, n_first: float, false_alarms: float, n_second: float) -> float | None:
    """z(H) - z(F) with the log-linear correction (k + .5) / (n + 1) in each slot.

    Parameters
    ----------
    hits, n_first
        Calls with the better response in slot 1 that chose slot 1, and all of them.
    false_alarms, n_second
        Calls with the better response in slot 2 that chose slot 1, and all of them.

    References
    ----------
    Usami et al., table 6: 10 of 10 and 0 of 10 give 3.3812.
    """
    if n_first <= 0 or n_second <= 0:
        return None
    first, second = log_linear(np.array([hits, false_alarms]), np.array([n_first, n_second]))
    return z_quantile(first) - z_quantile(second)


def log_linear(k: Floats, n: Floats) -> Floats:
    """Rates that are never 0 or 1: (k + .5) / (n + 1)."""
    return (k + 0.5) / (n + 1)


def d_prime_bound(
    hits: ArrayLike,
    signals: ArrayLike,
    alarms: ArrayLike,
    others: ArrayLike,
    level: float = LEVEL,
) -> float | None:
    """Lower bound of d' on the scale of a two-alternative choice (divided by sqrt 2).

    A one-sided t bound of z(H) - z(F), whose error sums the contributions of each cluster to
    both: if a cluster prefers a slot, H and F move together and their difference does not. The half
    calls of the log-linear correction count as two more clusters, so that a judge that never errs
    still has a sampling error. Room is left for unseen clusters in which the judge detects nothing.

    Parameters
    ----------
    hits, signals
        Shape (G,): calls with the better response in slot 1 that chose slot 1, and all of them.
    alarms, others
        Shape (G,): calls with the better response in slot 2 that chose slot 1, and all of them.

    Returns
    -------
    float
        None with fewer than two clusters, and where H is 0 or F is 1: z is infinite there.
    """
    counts = np.stack([floats(part) for part in (hits, signals, alarms, others)])
    counts = counts[:, counts[1] + counts[3] > 0]
    groups = counts.shape[1]
    if groups < 2 or not counts[0].sum() or counts[2].sum() == counts[3].sum():
        return None
    corrected = np.hstack([counts, [[0.5, 0.0], [1.0, 0.0], [0.0, 0.5], [0.0, 1.0]]])
    rates, parts = zip(*(_z_parts(k, n) for k, n in (corrected[:2], corrected[2:])), strict=True)
    joint = parts[0] - parts[1]
    error = sqrt(groups / (groups - 1) * float(joint @ joint))
    value = scipy.special.ndtri(rates[0]) - scipy.special.ndtri(rates[1])
    bound, _ = student(float(value), error, groups, skewness_of(joint))(2 * level - 1)
    # On a share u of unseen tasks the judge may guess: a rate is then (1 - u) rate + u / 2.
    blind = unseen_share(groups, level) / 2
    here, there = (scipy.special.ndtri(rate + blind * (1 - 2 * rate)) for rate in rates)
    return float(min(bound, here - there)) / sqrt(2)


def _z_parts(k: Floats, n: Floats) -> tuple[float, Floats]:
    """A rate, and what each cluster adds to its normal quantile z by the delta method."""
    total = float(n.sum())
    rate = float(k.sum()) / total
    density = exp(-(z_quantile(rate) ** 2) / 2) / sqrt(2 * pi)
    return rate, (k - rate * n) / (total * density)
