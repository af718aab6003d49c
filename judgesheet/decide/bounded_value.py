"""What decisions calculate with: the numbers of an estimate, and how surprising they are."""

import math
from statistics import NormalDist
from typing import NamedTuple, Self

from judgesheet.base.missing_reasons import PERFECT
from judgesheet.base.records import Estimate
from judgesheet.base.units import FISHER, SHARE, unit
from judgesheet.stats.multiplicity import student_quantile, student_tail
from judgesheet.stats.unseen import unseen_share

Z95 = NormalDist().inv_cdf(0.975)
"""The normal quantile of the ends of a 95 % interval."""
Z80 = NormalDist().inv_cdf(0.8)
"""The normal quantile of a power of 80 %."""


class BoundedValue(NamedTuple):
    """A value with its ends, none of them missing; those of `reach` may be infinite.

    Of a difference they are those of its 95 % interval: Student's t where `df` is finite.
    """

    value: float
    low: float
    high: float
    df: float = math.inf

    @property
    def detectable(self) -> float:
        """The smallest true effect that 80 of 100 such runs would tell from none.

        (z.975 + z.80) / z.975 times the longer half of the interval: a half-width of z.975
        standard errors, against the z.975 + z.80 standard errors that a true effect needs.
        """
        return (Z95 + Z80) / Z95 * max(self.high - self.value, self.value - self.low)

    def at(self, tail: float) -> Self:
        """With one-sided bounds that each err in this share."""
        scale = student_quantile(tail, self.df) / student_quantile(0.025, self.df)
        below, above = self.value - self.low, self.high - self.value
        return self._replace(low=self.value - scale * below, high=self.value + scale * above)

    def p_above(self, margin: float) -> float:
        """One-sided p of "it is `margin` at most"; .025 where the interval ends there."""
        gap = self.value - margin
        side = self.value - self.low if gap > 0 else self.high - self.value
        # An interval that ends in its value leaves no doubt on that side.
        if side <= 0:
            return 0.0 if gap > 0 else 1.0 if gap < 0 else 0.5
        return student_tail(student_quantile(0.025, self.df) * gap / side, self.df)

    def shifted(self, by: float) -> Self:
        """The same, so much farther up."""
        return self._replace(value=self.value + by, low=self.low + by, high=self.high + by)

    def turned(self) -> Self:
        """The same in the other direction."""
        return self._replace(value=-self.value, low=-self.high, high=-self.low)

    def within(self, reach: float) -> Self:
        """With ends that two figures of such a scale can have."""
        return self._replace(low=max(self.low, -reach), high=min(self.high, reach))


def reach(estimate: Estimate) -> BoundedValue | None:
    """The value with the one-sided bounds that may decide, infinite on a side without any.

    They are the estimate's own, else the ends of its interval; None if none proves anything.
    """
    bounds = estimate.bounds
    # Percentiles over subsets, say, tell of no sampling error: nothing must be decided by them.
    if bounds is not None and not bounds.proves:
        return None
    low = estimate.least if bounds is None else bounds.low
    high = estimate.most if bounds is None else bounds.high
    if estimate.reason == PERFECT.code:
        low, high = _around_one(estimate)
    # An end that is missing bounds nothing on its side; with neither, a value proves nothing.
    low = low if low is not None and math.isfinite(low) else -math.inf
    high = high if high is not None and math.isfinite(high) else math.inf
    value = estimate.value
    if value is None or not math.isfinite(value) or high == -low == math.inf:
        return None
    return BoundedValue(float(value), float(low), float(high))


def _around_one(estimate: Estimate) -> tuple[float | None, float | None]:
    """Bounds of a correlation of 1 or -1, which has no interval.

    They reach to what stimuli that were not drawn could make of it, 1 - 2 u of `unseen_share`, .77
    of 24; or to what lost calls could, where that is farther.
    """
    value, lost = estimate.value, estimate.imputed
    if value is None or not estimate.clusters:
        return None, None
    ends = [value, value * (1 - 2 * unseen_share(estimate.clusters))]
    if lost is not None:
        if lost.low is None or lost.high is None:
            return None, None
        ends += [lost.low, lost.high]
    return min(ends), max(ends)


def confidence(estimate: Estimate) -> float:
    """The confidence of its bounds: that of one look, unless the run was looked at more often."""
    return estimate.level if estimate.bounds is None else estimate.bounds.level


def p_at(limit: float, bound: float, estimate: Estimate) -> float:
    """The p-value of "the true value is the limit", one-sided, from the bound beyond that limit.

    The bound is moved to the limit as that of a t interval over the same clusters would be: exact
    for means, on Fisher's scale for correlations, and on that of arcsines for shares of cases
    between 0 and 1.
    """
    value = estimate.value
    if value is None or (value - bound) * (value - limit) <= 0:
        return 0.0  # without a width nothing is left to chance
    error, freedom = 1 - confidence(estimate), max(1, estimate.clusters - 1)
    is_share = unit(estimate.unit).ends == SHARE and unit(estimate.unit).percent
    if estimate.unit in FISHER and max(map(abs, (value, limit, bound))) < 1:
        value, limit, bound = map(math.atanh, (value, limit, bound))
    elif is_share and value in (0.0, 1.0):
        # Of n without exception, the bound is where n of them have this error.
        kept, least = (abs(1 - value - one) for one in (limit, bound))
        return float(error ** (math.log(kept) / math.log(least))) if 0 < kept < 1 else 0.0
    elif is_share and min(value, limit, bound) >= 0:
        # On which the spread of a share does not depend on the share.
        value, limit, bound = (math.asin(math.sqrt(min(1.0, one))) for one in (value, limit, bound))
    t = student_quantile(error, freedom) * (value - limit) / (value - bound)
    return student_tail(t, freedom)
