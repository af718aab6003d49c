"""Does an estimate rise or fall with a setting, when every setting saw the same stimuli?"""

from dataclasses import dataclass

import scipy
from numpy.typing import ArrayLike

from ._support import TINY, floats
from .interval import Interval
from .standard_error import half_width, jackknife_error

METHOD = "least-squares slope, jackknife over clusters, t"


@dataclass(frozen=True, slots=True)
class Trend(Interval):
    """A least-squares slope over settings, with its jackknife interval and two-sided p-value.

    `low`, `high` and `p` are None where the leave-one-out slopes do not vary or there are fewer
    than three clusters.
    """

    p: float | None = None


def jackknife_trend(x: ArrayLike, estimates: ArrayLike, left_out: ArrayLike) -> Trend:
    """Slope of an estimate over a setting; the delete-one-cluster jackknife keeps the pairing.

    The same clusters answer under every setting, so the slope is a fixed contrast of dependent
    estimates. Leaving a cluster out of all settings at once gives its variance without a model of
    that dependence; t with G-1 degrees of freedom.

    Parameters
    ----------
    x
        Shape (V,): the settings, at least two of them distinct.
    estimates
        Shape (V,): the estimate under each setting.
    left_out
        Shape (V, G): the same without cluster g.
    """
    x, y, loo = floats(x), floats(estimates), floats(left_out)
    contrast = (x - x.mean()) / float(((x - x.mean()) ** 2).sum())
    slope, slopes = float(contrast @ y), contrast @ loo
    groups = int(slopes.size)
    # Two clusters give one degree of freedom; the caller then sees a slope without ends.
    error = jackknife_error(slopes) if groups > 2 else 0.0
    if error <= TINY:
        return Trend(slope, None, None, clusters=groups, method=METHOD)
    half = half_width(error, groups)
    p = 2 * float(scipy.special.stdtr(groups - 1, -abs(slope) / error))
    return Trend(slope, slope - half, slope + half, clusters=groups, method=METHOD, p=p)
