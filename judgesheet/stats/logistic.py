"""A win rate that other facts about a comparison are held even in, by logistic regression."""

import warnings

import numpy as np
import scipy
from numpy.typing import ArrayLike

from judgesheet.base.missing_reasons import NO_OBSERVATIONS, ONE_CLUSTER, Reason

from ._support import Floats, cluster_codes, floats, t_quantile
from .interval import Ends, Interval, missing, without_ends

SEPARATED = Reason(
    "separated",
    "not estimable: the facts about a pair decide nearly every verdict, or do not differ",
)
LEAST_OPEN = 12.0
"""As many comparisons as open as a coin must the fit leave, sum of 4 p (1 - p): with fewer the few
verdicts that the facts do not decide carry it, and its interval covers next to nothing."""
METHOD = "logistic regression, cluster-robust t"


def held_even(wins: ArrayLike, facts: ArrayLike, clusters: ArrayLike) -> list[Interval]:
    """For each fact, the win rate where it is 1 and all others are 0.

    The sides of a comparison have no order: facts are differences between them, a comparison in
    which all are 0 is won in half of the cases, and there is no constant. Ties count as half a win
    (the fractional logit; its sandwich needs no binomial variance).

    Parameters
    ----------
    wins
        Shape (m,): share of wins of the first side, 0 to 1.
    facts
        Shape (m, k): differences of the first side from the second.
    clusters
        Shape (m,): labels of any kind.

    References
    ----------
    Papke, L. E. and Wooldridge, J. M. (1996), "Econometric methods for fractional response
    variables", Journal of Applied Econometrics 11, 619-632.
    """
    shares, design = floats(wins), floats(facts)
    codes, groups = cluster_codes(clusters)
    if not shares.size:
        return [missing(NO_OBSERVATIONS, method=METHOD)] * design.shape[1]
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return [missing(SEPARATED, clusters=groups, method=METHOD)] * design.shape[1]
    found = _fit(shares, design, codes if groups > 1 else np.arange(shares.size))
    if found is None:
        return [missing(SEPARATED, clusters=groups, method=METHOD)] * design.shape[1]
    return [_rate(float(b), float(e), groups) for b, e in zip(*found, strict=True)]


def _fit(shares: Floats, design: Floats, codes: ArrayLike) -> tuple[Floats, Floats] | None:
    """Log-odds per unit of each fact, and their errors; None where the fit runs away."""
    # Here: it takes .6 s to load, which a command that measures nothing must not pay.
    import statsmodels.api as sm

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of separation, which is looked for below
        try:
            fit = sm.GLM(shares, design, family=sm.families.Binomial()).fit(
                cov_type="cluster", cov_kwds={"groups": np.asarray(codes)}
            )
        except (np.linalg.LinAlgError, ValueError, sm.tools.sm_exceptions.PerfectSeparationError):
            return None
    slopes, errors = floats(fit.params), floats(fit.bse)
    left = floats(fit.fittedvalues)
    finite = np.isfinite(slopes).all() and np.isfinite(errors).all()
    return (slopes, errors) if finite and 4 * left @ (1 - left) >= LEAST_OPEN else None


def _rate(slope: float, error: float, groups: int) -> Interval:
    rate = float(scipy.special.expit(slope))
    if groups < 2:
        return without_ends(rate, ONE_CLUSTER, clusters=groups, method=METHOD)

    def ends(tail: float) -> tuple[float, float]:
        far = t_quantile(groups - 1, 1 - tail) * error
        low, high = (float(scipy.special.expit(one)) for one in (slope - far, slope + far))
        return low, high

    return Interval(
        rate, lambda level: Ends(*ends((1 - level) / 2), ends(1 - level)), groups, METHOD
    )
