"""Whether calls are lost at random: permutation of what is lost, and dispersion over clusters.

The unit is the question, not the call: a judge that gives no verdict on a question gives none
either when it is asked the same again, which is no second observation.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from ._support import AT_ONCE, Flags, Floats, Integers, cluster_codes, floats
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

    The lost calls l_q of the questions are permuted within strata: T = sum_q l_q x_q has the
    covariance sum_s N_s^2 / (N_s - 1) V_s S_s over the N_s questions of a stratum, with V_s the
    variance of their lost calls and S_s the covariance of their features. The quadratic form with
    the pseudo-inverse is compared with `draws` random permutations, with the plus-one rule.

    Parameters
    ----------
    lost
        Shape (m,): how many calls on a question were lost.
    features
        Shape (m, d); questions with NaN are left out.
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
    table = floats(features)
    known: Flags = np.logical_not(np.any(np.isnan(table), axis=1))
    gone = floats(lost)[known]
    parts = list(_mixed(gone, table[known], np.asarray(strata)[known]))
    if not parts:
        return None
    observed = sum((counts @ part for counts, part in parts), np.zeros(table.shape[1]))
    covariance = sum((_covariance(counts, part) for counts, part in parts), 0.0)
    eigenvalues, vectors = np.linalg.eigh(covariance)
    # Features of a stratum sum to a constant: at least one direction has no variance.
    kept = eigenvalues > ROUNDING
    if not kept.any():
        return None
    scaled = vectors[:, kept] / np.sqrt(eigenvalues[kept])
    drawn = sum((_drawn(counts, part, draws, rng) for counts, part in parts), 0.0)
    others, own = np.sum((drawn @ scaled) ** 2, axis=1), np.sum((observed @ scaled) ** 2)
    return float((1 + np.sum(others >= own - ROUNDING)) / (1 + draws))


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


def dispersion_p(
    lost: ArrayLike, clusters: ArrayLike, rng: np.random.Generator, draws: int = DRAWS
) -> float | None:
    """p-value of "every cluster loses its questions at the same rate".

    Pearson's dispersion sum_g (l_g - n_g f)^2 / n_g over the lost of the n_g questions of each
    cluster, with f the overall share, when what was lost of each question is dealt out anew over
    all of them, with the plus-one rule.

    Parameters
    ----------
    lost, clusters
        Shape (m,): the share of the calls on a question that was lost, and its cluster.

    Returns
    -------
    The p-value; None for one cluster, or where no call or every call was lost.
    """
    shares, (codes, groups) = floats(lost), cluster_codes(clusters)
    if groups < 2 or shares.max() == 0 or shares.min() == 1:
        return None
    sizes = np.bincount(codes)
    expected, found = sizes * shares.mean(), 1

    def dispersion(lost: Floats) -> Floats:
        spread: Floats = ((lost - expected) ** 2 / sizes).sum(axis=-1)
        return spread

    own, some = dispersion(floats(np.bincount(codes, shares))), shares[shares > 0]
    step = max(1, AT_ONCE // max(groups, some.size))  # of many, all draws would take gigabytes
    for done in range(0, draws, step):
        drawn = _dealt(some, sizes, min(step, draws - done), rng)
        found += int((dispersion(drawn) >= own - ROUNDING).sum())
    return found / (1 + draws)


def _dealt(lost: Floats, sizes: Integers, draws: int, rng: np.random.Generator) -> Floats:
    """What clusters of these sizes lose when it is dealt anew to their questions, (draws, G)."""
    held = rng.multivariate_hypergeometric(sizes, lost.size, size=draws, method="marginals")
    if lost.min() == lost.max():
        return floats(held * lost[0])
    # Shuffled, the first are those of the first cluster, and so on.
    sums = rng.permuted(np.tile(lost, (draws, 1)), axis=1).cumsum(axis=1)
    ends = np.take_along_axis(np.pad(sums, ((0, 0), (1, 0))), held.cumsum(axis=1), axis=1)
    return floats(np.diff(ends, axis=1, prepend=0.0))
