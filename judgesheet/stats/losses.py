"""Whether calls are lost whatever the order: permutation of what is lost of each item's questions.

The unit is the question, not the call: a judge that gives no verdict on a question gives none
either when it is asked the same again, which is no second observation.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from ._support import Floats, cluster_codes, floats
from .exchange import first_p, least_p, quadratic_forms, root_of
from .interval import ROUNDING

# With the plus-one rule p-values come in steps of 1/4,000.
DRAWS = 3_999


def permutation_p(
    lost: ArrayLike,
    features: ArrayLike,
    strata: ArrayLike,
    rng: np.random.Generator,
    draws: int = DRAWS,
) -> float | None:
    """p-value of "how many calls on a question of a stratum were lost does not depend on features".

    The lost calls l_q of the questions are permuted within strata. T_s = sum_q l_q x_q of stratum s
    has the covariance N_s^2 / (N_s - 1) V_s S_s, with V_s the variance of the lost calls of its N_s
    questions and S_s the covariance of their features. The quadratic form of the sum of all T_s
    finds what strata have in common, the sum of their own forms what cancels over strata. The
    smaller p-value of the two counts, corrected for being the smaller one.

    Parameters
    ----------
    lost
        Shape (m,): how many calls on a question were lost.
    features
        Shape (m, d).
    strata
        Shape (m,): labels; questions of one stratum are exchangeable, so asked equally often.

    Returns
    -------
    The p-value; None where no stratum loses unequally on questions with different features.

    References
    ----------
    Hoeffding, W. (1951), "A combinatorial central limit theorem", Annals of Mathematical
    Statistics 22, 558-566.
    """
    parts = list(_mixed(floats(lost), floats(features), np.asarray(strata)))
    covariance = sum((_covariance(counts, part) for counts, part in parts), np.zeros((1, 1)))
    if not np.trace(covariance) > ROUNDING:
        return None
    root = root_of(covariance)
    together, squares = np.zeros((root.shape[0], 1 + draws)), np.zeros(1 + draws)
    for counts, part in parts:
        sums = np.column_stack([counts @ part, _drawn(counts, part, draws, rng).T])
        together += sums
        squares += quadratic_forms(sums, root)
    return first_p(-least_p(quadratic_forms(together, root), squares))


def _mixed(gone: Floats, table: Floats, strata: np.ndarray) -> Iterator[tuple[Floats, Floats]]:
    """Each stratum that loses unequally: its lost calls by question, and its centred features."""
    codes, groups = cluster_codes(strata)
    lost, squares = (np.bincount(codes, one, minlength=groups) for one in (gone, gone**2))
    size = np.bincount(codes, minlength=groups)
    by_stratum, ends = np.argsort(codes, kind="stable"), np.cumsum(size)
    for code in np.flatnonzero(squares * size > lost**2):
        mine = by_stratum[ends[code] - size[code] : ends[code]]
        yield gone[mine], table[mine] - table[mine].mean(axis=0)


def _covariance(lost: Floats, centred: Floats) -> Floats:
    return centred.T @ centred * float(np.var(lost, ddof=1))


def _drawn(lost: Floats, centred: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Sums of the features by lost calls, which are dealt to the questions anew, (draws, d)."""
    some = lost[lost > 0]
    chosen = np.argsort(rng.random((draws, len(centred))), axis=1)[:, : some.size]
    sums: Floats = (some[:, None] * centred[chosen]).sum(axis=1)
    return sums
