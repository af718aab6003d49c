"""Whether calls are lost at random: permutation of who is lost, and dispersion over clusters."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from ._support import AT_ONCE, Flags, Floats, Integers, cluster_codes, floats
from .interval import ROUNDING

# With the plus-one rule p-values come in steps of 1/2,000.
DRAWS = 1_999


def permutation_p(
    lost: ArrayLike,
    features: ArrayLike,
    strata: ArrayLike,
    rng: np.random.Generator,
    draws: int = DRAWS,
) -> float | None:
    """p-value of "which calls of a stratum were lost does not depend on their features".

    Which calls are lost is permuted within strata: the sum T of the features of the lost calls has
    mean sum_s m_s mean_s and covariance sum_s m_s (N_s - m_s) / (N_s - 1) S_s for m_s lost of N_s
    calls with covariance S_s. The quadratic form with the pseudo-inverse is compared with `draws`
    random permutations, with the plus-one rule.

    Parameters
    ----------
    lost
        Shape (m,): whether a call was lost.
    features
        Shape (m, d); calls with NaN are left out.
    strata
        Shape (m,): labels; calls of one stratum are exchangeable.

    Returns
    -------
    The p-value; None where no stratum holds lost and read calls with different features.

    References
    ----------
    Hoeffding, W. (1951), "A combinatorial central limit theorem", Annals of Mathematical
    Statistics 22, 558-566.
    """
    table = floats(features)
    known: Flags = np.logical_not(np.any(np.isnan(table), axis=1))
    gone = np.asarray(lost, dtype=bool)[known]
    parts = list(_mixed(gone, table[known], np.asarray(strata)[known]))
    if not parts:
        return None
    observed = sum((part[flags].sum(axis=0) for flags, part in parts), np.zeros(table.shape[1]))
    covariance = sum((_covariance(int(flags.sum()), part) for flags, part in parts), 0.0)
    eigenvalues, vectors = np.linalg.eigh(covariance)
    # Features of a stratum sum to a constant: at least one direction has no variance.
    kept = eigenvalues > ROUNDING
    if not kept.any():
        return None
    scaled = vectors[:, kept] / np.sqrt(eigenvalues[kept])
    drawn = sum((_drawn(int(flags.sum()), part, draws, rng) for flags, part in parts), 0.0)
    others, own = np.sum((drawn @ scaled) ** 2, axis=1), np.sum((observed @ scaled) ** 2)
    return float((1 + np.sum(others >= own - ROUNDING)) / (1 + draws))


def _mixed(gone: Flags, table: Floats, strata: np.ndarray) -> Iterator[tuple[Flags, Floats]]:
    """Each stratum with lost and read calls: who is lost, and its centred features."""
    codes, groups = cluster_codes(strata)
    lost = np.bincount(codes, weights=gone, minlength=groups)
    calls = np.bincount(codes, minlength=groups)
    by_stratum, ends = np.argsort(codes, kind="stable"), np.cumsum(calls)
    for code in np.flatnonzero((lost > 0) & (lost < calls)):
        mine = by_stratum[ends[code] - calls[code] : ends[code]]
        yield gone[mine], table[mine] - table[mine].mean(axis=0)


def _covariance(lost: int, centred: Floats) -> Floats:
    calls = len(centred)
    return centred.T @ centred * (lost * (calls - lost) / (calls * (calls - 1)))


def _drawn(lost: int, centred: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Sums of the features of `lost` calls drawn without replacement, (draws, d)."""
    chosen = np.argsort(rng.random((draws, len(centred))), axis=1)[:, :lost]
    sums: Floats = centred[chosen].sum(axis=1)
    return sums


def dispersion_p(
    lost: ArrayLike, asked: ArrayLike, rng: np.random.Generator, draws: int = DRAWS
) -> float | None:
    """p-value of "every cluster loses its calls at the same rate".

    Pearson's dispersion sum_g (l_g - n_g f)^2 / n_g with f the overall share, against the law of
    the lost given their number (multivariate hypergeometric), with the plus-one rule.

    Parameters
    ----------
    lost, asked
        Shape (G,): calls lost and asked in each cluster.

    Returns
    -------
    The p-value; None for one cluster, or where no call or every call was lost.
    """
    gone, calls = np.asarray(lost, dtype=np.int64), np.asarray(asked, dtype=np.int64)
    gone, calls = gone[calls > 0], calls[calls > 0]
    total = int(gone.sum())
    if calls.size < 2 or total in (0, int(calls.sum())):
        return None
    expected, found = calls * (total / calls.sum()), 1

    def dispersion(lost: Integers) -> Floats:
        spread: Floats = ((lost - expected) ** 2 / calls).sum(axis=-1)
        return spread

    step = max(1, AT_ONCE // calls.size)  # of many clusters, all draws would take gigabytes
    for done in range(0, draws, step):
        rows = min(step, draws - done)
        drawn = rng.multivariate_hypergeometric(calls, total, size=rows, method="marginals")
        found += int((dispersion(drawn) >= dispersion(gone) - ROUNDING).sum())
    return found / (1 + draws)
