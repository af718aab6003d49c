"""What decisions calculate with: the three numbers of an estimate, without its evidence."""

from statistics import NormalDist
from typing import NamedTuple

Z80 = NormalDist().inv_cdf(0.8)
"""The normal quantile of a power of 80 %."""


class BoundedValue(NamedTuple):
    """A value with its ends, none of them missing; those of `gate` may be infinite."""

    value: float
    low: float
    high: float

    def detectable(self, level: float = 0.95) -> float:
        """The smallest true effect that 80 of 100 such runs would tell from none.

        (z.975 + z.80) / z.975 times the longer half of the interval: a half-width of z.975
        standard errors, against the z.975 + z.80 standard errors that a true effect needs.
        """
        reach = NormalDist().inv_cdf((1 + level) / 2)
        return (reach + Z80) / reach * max(self.high - self.value, self.value - self.low)
