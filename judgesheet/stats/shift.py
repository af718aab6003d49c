"""Do verdicts on labelled rows differ from those on the others by more than chance explains?"""

from dataclasses import dataclass
from math import erfc, sqrt

import numpy as np
from numpy.typing import ArrayLike

from judgesheet.base.missing_reasons import NO_OBSERVATIONS
from judgesheet.base.records import LEVEL

from ._support import TINY, Flags, Floats, Integers, cluster_codes, floats, sum_by
from .correction import Scale, plain_mean
from .interval import Interval, missing
from .simultaneous import differences

DRAWS = 1_999
"""Exchanges that are drawn: at p = .01 their number errs by .002."""
ONE_BY_ONE = 1_000
"""Units whose exchanges are drawn; of more, their sum is normal."""


@dataclass(frozen=True, slots=True)
class Shift:
    """Mean verdict on labelled rows less that on the others, and the p of a random draw."""

    interval: Interval
    p: float | None


def shift(
    verdicts: ArrayLike, labels: ArrayLike, clusters: ArrayLike, scale: Scale, level: float = LEVEL
) -> Shift:
    """The difference, with margins of both means combined, and an exchange test.

    Where rows were drawn at random, clusters might as well have had each other's share of labels,
    and rows of a cluster each other's labels. The p is that of the first, or of the second where
    some cluster is labelled in part: twice the smaller.
    """
    judged, known = floats(verdicts), ~np.isnan(floats(labels))
    codes, groups = cluster_codes(clusters)
    if known.all() or not known.any():
        return Shift(missing(NO_OBSERVATIONS), None)
    means = [plain_mean(np.where(rows, judged, np.nan), codes, scale) for rows in (known, ~known)]
    parts = np.stack([one.parts for one in means], axis=1)
    found = differences([one.interval for one in means], parts, level, at_once=False)[0, 1]
    of = (_between(judged, known, codes, groups), _within(judged, known, codes, groups))
    tests = [p for p in of if p is not None]
    return Shift(found, min(1.0, len(tests) * min(tests)) if tests else None)


def _between(judged: Floats, known: Flags, codes: Integers, groups: int) -> float | None:
    """The p of the sum, over clusters, of the labelled share times what they are above all."""
    above, labelled, sizes = (
        sum_by(part, codes, groups)
        for part in (judged - judged.mean(), known.astype(np.float64), np.ones(judged.size))
    )
    shares = labelled / sizes
    if np.ptp(shares) == 0:
        return None
    # `above` sums to 0, so the shares without a label give the same sum, with the other sign.
    shares = min(shares, 1 - shares, key=np.count_nonzero)
    moving = shares[shares > 0]
    found = float(shares @ above)
    if moving.size > ONE_BY_ONE:
        variance = float(shares.var() * (above @ above)) * groups / (groups - 1)
        return _normal_p(found, variance)
    rng = np.random.default_rng(0)
    drawn = (moving @ above[rng.choice(groups, moving.size, replace=False)] for _ in range(DRAWS))
    return _drawn_p(found, np.fromiter(drawn, np.float64, DRAWS))


def _within(judged: Floats, known: Flags, codes: Integers, groups: int) -> float | None:
    """The p of the sum of what labelled rows are above the mean of their cluster."""
    counts, labelled, sums = (
        sum_by(part, codes, groups)
        for part in (np.ones(judged.size), known.astype(np.float64), judged)
    )
    partly = ((labelled > 0) & (labelled < counts))[codes]
    order = np.argsort(codes[partly], kind="stable")
    of, flags = codes[partly][order], known[partly][order]
    above = judged[partly][order] - (sums / counts)[of]
    found = float(flags @ above)
    if not np.abs(above).max(initial=0.0) > TINY:
        return None
    if above.size > ONE_BY_ONE:
        spread = sum_by(above * above, of, groups)
        share = labelled * (counts - labelled) / (counts * np.maximum(1, counts - 1))
        return _normal_p(found, float(share @ spread))
    keys = of + np.random.default_rng(0).random((DRAWS, of.size))
    return _drawn_p(found, flags[np.argsort(keys, axis=1)] @ above)


def _drawn_p(found: float, drawn: Floats) -> float:
    """Share of sums that are as far from 0 as the one that was found, which is one of them."""
    as_far = np.abs(drawn) >= abs(found) - TINY * max(1.0, float(np.abs(drawn).max()))
    return float((1 + as_far.sum()) / (1 + drawn.size))


def _normal_p(found: float, variance: float) -> float:
    return erfc(abs(found) / sqrt(2 * variance)) if variance > 0 else 1.0
