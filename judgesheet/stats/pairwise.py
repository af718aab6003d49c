"""Comparisons of two responses: what a pair of verdicts says, and the smallest step that is seen.

A verdict is a code: `FIRST` or `SECOND` for the slot that was chosen, `TIE` for no preference,
`INVALID` for an answer outside the allowed ones. A pair of verdicts has shape (..., 2): the verdict
on (u, v), then that on (v, u). Slots and contents are different things: the same slot twice is the
opposite content.
"""

from dataclasses import dataclass
from math import hypot, inf, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ._support import (
    Floats,
    Integers,
    bootstrap_weights,
    expanded_tail,
    floats,
    two_sided,
    z_quantile,
)
from .interval import Interval
from .reads import ratio

TIE, FIRST, SECOND, INVALID = 0, 1, 2, 3
NO_PREFERENCE, STABLE, POSITIONAL, ONE_SIDED, OTHER = range(5)
"""What a pair of verdicts is: neither decides, the same content twice, the same slot twice, one of
two decides, one of two is invalid."""

LEFT, RIGHT = "left", "right"
DEGENERATE = 1e-9
"""An interval narrower than this, in steps, is a bootstrap in which all resamples agree."""
RESAMPLES = 2_000
"""Of the threshold: the quantiles of .025 then rest on 50 draws."""


@dataclass(frozen=True, slots=True)
class Decomposition:
    """How often two orders of a pair agree, in counts (Usami et al., equations 2 to 7).

    Attributes
    ----------
    pairs
        Number of pairs of verdicts.
    no_preference, stable, positional, one_sided, other
        How many of them are of each kind; they sum to `pairs`.
    preferring
        Calls, two per pair, that say neither tie nor abstain.
    other_preferring
        Those of them that belong to a pair of the kind `other`.
    """

    pairs: int
    no_preference: int
    stable: int
    positional: int
    one_sided: int
    other: int
    preferring: int
    other_preferring: int

    def __post_init__(self) -> None:
        named = 2 * self.stable + 2 * self.positional + self.one_sided + self.other_preferring
        if named != self.preferring:
            raise ArithmeticError(
                f"the parts of a false preference give {named} calls, counted were "
                f"{self.preferring}"
            )

    def rate(self, count: int) -> float | None:
        """A count as a share of the pairs."""
        return count / self.pairs if self.pairs else None

    @property
    def raw_false_preference(self) -> float | None:
        """RFP0 (equation 2): SCS + PFP + OSC/2 + Other, exactly (equation 7)."""
        return self.preferring / (2 * self.pairs) if self.pairs else None

    @property
    def other_conflict(self) -> float | None:
        """Other (equation 6): what pairs with an invalid answer add to RFP0."""
        return self.other_preferring / (2 * self.pairs) if self.pairs else None

    @property
    def order_inconsistent(self) -> float | None:
        """PFP + OSC: pairs whose verdict changes when the responses are swapped."""
        return self.rate(self.positional + self.one_sided)


def classify(verdicts: ArrayLike) -> Integers:
    """The kind of each pair of verdicts, (m, 2) -> (m,): `NO_PREFERENCE`, `STABLE` and so on."""
    pairs = np.asarray(verdicts, dtype=np.int64).reshape(-1, 2)
    decided = ((pairs == FIRST) | (pairs == SECOND)).sum(axis=1)
    same_slot = pairs[:, 0] == pairs[:, 1]
    kinds = np.select(
        [(pairs == INVALID).any(axis=1), decided == 0, decided == 1, same_slot],
        [OTHER, NO_PREFERENCE, ONE_SIDED, POSITIONAL],
        default=STABLE,
    )
    return kinds.astype(np.int64)


def decompose(verdicts: ArrayLike) -> Decomposition:
    """Split the preferences of pairs (m, 2) without a better response into what they rest on.

    Usami et al., equations 2 to 7.
    """
    pairs = np.asarray(verdicts, dtype=np.int64).reshape(-1, 2)
    kinds = classify(pairs)
    counts = np.bincount(kinds, minlength=OTHER + 1)
    preferring = (pairs != TIE).sum(axis=1)
    return Decomposition(
        pairs=len(pairs),
        no_preference=int(counts[NO_PREFERENCE]),
        stable=int(counts[STABLE]),
        positional=int(counts[POSITIONAL]),
        one_sided=int(counts[ONE_SIDED]),
        other=int(counts[OTHER]),
        preferring=int(preferring.sum()),
        other_preferring=int(preferring[kinds == OTHER].sum()),
    )


@dataclass(frozen=True, slots=True)
class Components:
    """What decides, per pair: unbiased, so single pairs may be negative; NaN without repeats.

    `position` + `content` + `noise` is the share of calls that decide.
    """

    position: Floats
    content: Floats
    noise: Floats


def components(signs: ArrayLike) -> Components:
    """Split the decisions of each pair into slot, content and noise by U-statistics.

    With m_o the mean sign under order o, position is ((m_1 + m_2) / 2)^2 and content
    ((m_1 - m_2) / 2)^2; squares are estimated by products of different calls, so that noise does
    not enter them. What remains of the mean square is noise.

    Parameters
    ----------
    signs
        Shape (m, 2, R): 1 for the first slot, -1 for the second, 0 for neither, NaN for missing.
    """
    array = floats(signs)
    known = ~np.isnan(array)
    count, total = known.sum(axis=2), np.where(known, array, 0.0).sum(axis=2)
    squares = np.where(known, array**2, 0.0).sum(axis=2)
    repeated = (count >= 2).all(axis=1)
    own = ratio(total**2 - squares, count * (count - 1)).sum(axis=1)  # unbiased for m_1^2 + m_2^2
    sums = np.where(repeated, own, np.nan) / 4
    cross = ratio(total, count).prod(axis=1) / 2
    position, content = sums + cross, sums - cross
    size = ratio(squares, count).mean(axis=1)
    return Components(position, content, size - position - content)


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
    low, high
        Percentiles over resampled clusters, expanded to Student's t. Censored on the left they are
        0 and the smallest step, on the right None.
    censored
        "left" if the smallest step already reaches the target, "right" if none does, "" otherwise.
    bracketed
        True if every resample crosses at one place. That is no certainty, since the curve between
        two steps was not seen: `low` and `high` are then the steps around the crossing.
    """

    censored: str = ""
    bracketed: bool = False


def threshold(
    successes: ArrayLike,
    trials: ArrayLike,
    steps: ArrayLike,
    rng: np.random.Generator,
    target: float = 0.75,
    level: float = 0.95,
) -> Threshold:
    """Smallest step at which the isotonic fit reaches `target`, interpolated between steps.

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
    groups = len(k)
    if places.size == 0:
        return Threshold(None, None, None, level, clusters=groups)
    value = float(_crossing(isotonic(k.sum(axis=0), n.sum(axis=0)), places, target))
    censored = LEFT if value == -inf else RIGHT if value == inf else ""
    low, high, bracketed = None, None, False
    if groups > 1:
        weights = bootstrap_weights(groups, RESAMPLES, rng)
        drawn = _crossing(isotonic(weights @ k, weights @ n), places, target)
        tail = expanded_tail(1 - two_sided(level), groups)
        # Not interpolated: between a crossing and no crossing (infinity) there is no number.
        ends = np.quantile(drawn, [tail, 1 - tail], method="nearest")
        low, high = (float(end) for end in ends)
        bracketed = not censored and high - low < DEGENERATE
    if bracketed:
        reached = int(np.searchsorted(places, value - DEGENERATE))  # the first step at the target
        at = max(1, reached)
        low, high = float(places[at - 1]), float(places[at])
    return Threshold(
        {LEFT: float(places[0]), RIGHT: None}.get(censored, value),
        _end(low, below=0.0),
        _end(high, below=float(places[0])),
        level,
        clusters=groups,
        censored=censored,
        bracketed=bracketed,
    )


def _end(end: float | None, below: float) -> float | None:
    """An end of the interval: `below` if it lies below the ladder, None if above it."""
    if end is None or end == inf:
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
    return z_quantile(log_linear(hits, n_first)) - z_quantile(log_linear(false_alarms, n_second))


def log_linear(k: float, n: float) -> float:
    """A rate that is never 0 or 1: (k + .5) / (n + 1)."""
    return (k + 0.5) / (n + 1)


def d_prime_bound(
    hit_rate: float, false_alarm_rate: float, hits: Interval, false_alarms: Interval
) -> float | None:
    """Lower end of d' on the scale of a two-alternative choice (divided by sqrt 2).

    From the ends l of z(H) and u of z(F) that make d' small: z(H) - z(F) - sqrt((z(H) - l)^2 +
    (u - z(F))^2). The two rates seldom miss together by as much as each may miss alone.

    Parameters
    ----------
    hit_rate, false_alarm_rate
        H and F, inside (0, 1).
    hits, false_alarms
        Their intervals; the end has their level.

    References
    ----------
    Zou, G. Y. and Donner, A. (2008), "Construction of confidence limits about effect measures: a
    general approach", Statistics in Medicine 27, 1693-1702.
    """
    low, high = hits.low, false_alarms.high
    if low is None or high is None or low <= 0 or high >= 1:
        return None
    here, there = z_quantile(hit_rate), z_quantile(false_alarm_rate)
    apart = hypot(max(0.0, here - z_quantile(low)), max(0.0, z_quantile(high) - there))
    return (here - there - apart) / sqrt(2)
