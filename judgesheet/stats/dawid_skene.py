"""Truths that nobody told, from several raters who err by habits of their own."""

import numpy as np
from numpy.typing import ArrayLike

from ._support import Floats, floats

ROUNDS, STEP = 200, 1e-8
FEWEST_RATERS = 3
"""Raters from which habits and truths can be told apart."""


def posterior(votes: ArrayLike) -> Floats:
    """Probability that the first of two is the better, by Dawid and Skene's model (EM).

    Each rater has a probability of every vote given the truth, one vote of each kind added; raters
    err independently given the truth, which judges of one family do not.

    Parameters
    ----------
    votes
        Shape (Q, J): 1, 0 or -1; NaN for missing. J of `FEWEST_RATERS` at least.

    References
    ----------
    Dawid, A. P. and Skene, A. M. (1979), Applied Statistics 28, 20-28.
    """
    array = floats(votes)
    kinds = np.stack([array == kind for kind in (-1.0, 0.0, 1.0)], axis=-1).astype(np.float64)
    share: Floats = floats(np.clip(0.5 + np.nanmean(array, axis=1) / 2, 0.05, 0.95))
    for _ in range(ROUNDS):
        habits = [np.einsum("q,qjk->jk", weight, kinds) + 1 for weight in (share, 1 - share)]
        first, second = (
            np.einsum("qjk,jk->q", kinds, np.log(one / one.sum(axis=1, keepdims=True)))
            for one in habits
        )
        prior = float(np.clip(share.mean(), 1e-6, 1 - 1e-6))
        odds = np.clip(second - first + np.log((1 - prior) / prior), -500, 500)
        before, share = share, floats(1 / (1 + np.exp(odds)))
        if float(np.abs(share - before).max()) < STEP:
            break
    return share
