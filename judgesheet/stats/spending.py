"""Looks at growing data: how sure each must be so that all of them together err as one would.

Whoever looks K times and stops at the first look that proves something errs more often than
somebody who looks once. A spending function says how much of the error probability may be spent
until a share t of the data is there; the bound of each look follows from those before it.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import e, inf, log, sqrt

import numpy as np
import scipy

from ._support import Floats, z_quantile

POINTS = 128
"""Of the quadrature over one look; the spent probabilities are then exact to 1e-9."""
FAR = 9.0
"""Standard deviations beyond which nothing lies."""
Spending = Callable[[float, float], float]
"""Share of the data and error probability -> how much of it may be spent until then."""


def obrien_fleming(share: float, alpha: float) -> float:
    """Hardly anything at first: 2 - 2 Phi(z_{1 - alpha/2} / sqrt(t)).

    References
    ----------
    Lan, K. K. G. and DeMets, D. L. (1983), "Discrete sequential boundaries for clinical trials",
    Biometrika 70, 659-663.
    """
    return 2 * float(scipy.special.ndtr(z_quantile(alpha / 2) / sqrt(share)))


def pocock(share: float, alpha: float) -> float:
    """Nearly the same at every look: alpha log(1 + (e - 1) t) (Lan and DeMets)."""
    return alpha * log(1 + (e - 1) * share)


def nominal(shares: Sequence[float], alpha: float, spending: Spending = obrien_fleming) -> Floats:
    """The one-sided error probability of each look, shape (K,), that spends alpha in all.

    Parameters
    ----------
    shares
        Shares of the data at the looks, rising to 1. The estimate at share t is taken to be normal
        with independent increments, of which exactly those between looks are new.
    alpha
        The error probability of all looks together, on one side.
    """
    _increasing(shares)
    spent = [spending(share, alpha) for share in shares]
    bounds: list[float] = []
    for look, total in enumerate(spent):
        before = spent[look - 1] if look else 0.0
        bounds.append(_bound(shares[: look + 1], bounds, total - before))
    return np.asarray(scipy.special.ndtr(-np.array(bounds)))


def crossing(shares: Sequence[float], tails: Sequence[float]) -> float:
    """Probability that any look's normal score lies in its upper tail, (K,), if nothing is true."""
    _increasing(shares)
    bounds = [-z_quantile(tail) for tail in tails]
    looks = range(len(shares))
    return sum(_first_crossing(shares[: n + 1], bounds[:n], bounds[n]) for n in looks)


def _increasing(shares: Sequence[float]) -> None:
    if not shares or shares[0] <= 0 or any(a >= b for a, b in pairwise(shares)):
        raise ValueError(f"looks must be at rising shares above 0, not {shares}")


def _bound(shares: Sequence[float], before: Sequence[float], spend: float) -> float:
    """The bound of the last look whose first crossing has this probability."""

    def excess(bound: float) -> float:
        return _first_crossing(shares, before, bound) - spend

    return float(scipy.optimize.brentq(excess, -FAR, FAR, xtol=1e-10)) if excess(FAR) < 0 else inf


def _first_crossing(shares: Sequence[float], before: Sequence[float], bound: float) -> float:
    """Probability that the last of these looks is the first whose score exceeds its bound.

    The density of the sum B(t) = Z sqrt(t) of those still below is carried from look to look.

    References
    ----------
    Armitage, P., McPherson, C. K. and Rowe, B. C. (1969), "Repeated significance tests on
    accumulating data", Journal of the Royal Statistical Society A 132, 235-244.
    """
    nodes, mass, last = np.zeros(1), np.ones(1), 0.0
    for share, limit in zip(shares, before, strict=False):
        step, least = sqrt(share - last), -FAR * sqrt(share)
        x, w = np.polynomial.legendre.leggauss(POINTS)
        half = (min(limit, FAR) * sqrt(share) - least) / 2
        new = least + half * (x + 1)
        density = np.exp(-(((new[:, None] - nodes) / step) ** 2) / 2) / (step * sqrt(2 * np.pi))
        # Only what stayed below its bound goes on to the next look.
        nodes, mass, last = new, half * w * (density @ mass), share
    step = sqrt(shares[-1] - last)
    beyond = scipy.special.ndtr((nodes - bound * sqrt(shares[-1])) / step)
    return float(beyond @ mass)
