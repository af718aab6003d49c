"""Agreement of two raters beyond chance: Cohen's kappa.

It is 1 - D_o / D_e, the squared distance that is observed over the one that chance would give.
Categories are corners that are equally far apart, numbers lie on a line; nothing else differs
between the plain and the quadratic kappa.
"""

from collections.abc import Callable, Mapping
from math import inf
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgesheet.base.missing_reasons import CONSTANT, NEVER_VARIED, NO_OBSERVATIONS, ONE_CLUSTER

from ._support import Floats, Integers, cluster_codes, floats
from .correlation import DEGENERATE_WITHOUT_ONE
from .interval import Interval, estimated, missing, with_few_far, without_ends
from .standard_error import jackknifed

Level = Literal["nominal", "interval"]
"""Whether values are names, or numbers of which equal differences mean the same."""
METHOD = "delete-a-cluster jackknife, t with skewness, room for unseen clusters"
PAIRS_AT_ONCE = 250_000
"""Pairs of values that are looked at together."""
LEAST_CHANCE = 1e-9
"""Disagreement by chance below this is rounding: all values are equal."""
FARTHEST: Mapping[Level, float] = {"nominal": 1.0, "interval": inf}
"""The greatest disagreement of two values."""


def cohens_kappa(
    first: ArrayLike,
    second: ArrayLike,
    clusters: ArrayLike,
    level: Level = "nominal",
    weights: ArrayLike | None = None,
) -> Interval:
    """Cohen's kappa of two raters; at the interval level the one with quadratic weights.

    1 is agreement, 0 what two raters with these habits would reach by chance. 95 % intervals cover
    .93 to 1.00 from 24 stimuli up, also where one in ten carries the disagreement; less where a
    category is so rare that few stimuli have it (docs/notes/bounds.md).

    Parameters
    ----------
    first, second
        Shape (m,), or (m, …) and broadcast: the value that each rater gave; pairs with a NaN are
        dropped. With (m, readings, 1) and (m, 1, people) each reading is paired with each person.
    clusters
        Shape (m,).
    weights
        Shape likewise: how much each pair counts, alike if None. A call that is paired with each
        of three people counts a third with each.

    References
    ----------
    Cohen, J. (1960), Educational and Psychological Measurement 20, 37-46, and (1968), Psychological
    Bulletin 70, 213-220.
    """
    names, (mine, theirs) = _named(floats(first), floats(second))
    x, y, w = np.broadcast_arrays(mine, theirs, floats(1.0 if weights is None else weights))
    known = (x < names.size) & (y < names.size) & (w > 0)
    items = np.flatnonzero(known.reshape(len(known), -1).any(axis=1))
    codes, groups = cluster_codes(np.asarray(clusters)[items])
    points = _points(names, level)
    width = points(np.empty(0, dtype=np.int64)).shape[1]
    sums = np.zeros((groups, 3 + 2 * width))
    # Some at a time: millions of calls with the ratings of several people would take gigabytes.
    step = max(1, PAIRS_AT_ONCE * len(known) // max(1, known.size))
    for at in range(0, len(items), step):
        some = items[at : at + step]
        where, *_ = np.nonzero(known[some])
        one, other = points(x[some][known[some]]), points(y[some][known[some]])
        distance, norms = ((one - other) ** 2).sum(axis=1), (one**2 + other**2).sum(axis=1)
        rows = np.column_stack([np.ones(len(one)), distance, norms, one, other])
        times = w[some][known[some]][:, None]
        np.add.at(sums, codes[at : at + step][where], times * rows)

    def chance(sums: Floats) -> tuple[Floats, Floats]:
        n, mine, theirs = sums[..., 0], sums[..., 3 : 3 + width], sums[..., 3 + width :]
        return sums[..., 1] / n, sums[..., 2] / n - 2 * (mine * theirs).sum(axis=-1) / n**2

    return _interval(sums, chance, FARTHEST[level])


def _named(*tables: Floats) -> tuple[Floats, list[Integers]]:
    """The different values of some tables (n,), and which of them each entry is: n for NaN."""
    names, codes = np.unique(np.concatenate([t.ravel() for t in tables]), return_inverse=True)
    parts = np.split(codes, np.cumsum([table.size for table in tables])[:-1])
    shaped = [part.reshape(table.shape) for part, table in zip(parts, tables, strict=True)]
    return names[~np.isnan(names)], shaped


def _points(names: Floats, level: Level) -> Callable[[Integers], Floats]:
    """What makes points (m, d) of values (m,), whose squared distances are the disagreements.

    The values are numbers of `names`, (n,).
    """
    if level == "nominal":
        # Half of a square: two different categories are 1 apart.
        return lambda values: np.sqrt(0.5) * (values[:, None] == np.arange(names.size))
    # About their mean: squares about 0 would lose the spread of large numbers to rounding.
    centred = names - (names.mean() if names.size else 0.0)
    return lambda values: centred[values][:, None]


def _interval(
    sums: Floats, disagreement: Callable[[Floats], tuple[Floats, Floats]], most: float
) -> Interval:
    """Kappa of the sums of clusters (groups, terms), with its interval over them.

    `disagreement` gives the one observed and the one by chance from sums (..., terms), `most` is
    the greatest there is. The interval is that of their ratio, of which clusters have a share each:
    one that disagrees wholly among many that never do is one of so many, as it is in a rate.
    """
    groups = len(sums)
    if not groups:
        return missing(NO_OBSERVATIONS, method=METHOD)
    total = sums.sum(axis=0)
    observed, chance = disagreement(total)
    if chance <= LEAST_CHANCE:
        return missing(CONSTANT, clusters=groups, method=METHOD)
    ratio = float(observed / chance)
    if groups < 3:  # two leave one difference, which says nothing of its own size
        why = ONE_CLUSTER if groups == 1 else NEVER_VARIED
        return without_ends(1 - ratio, why, clusters=groups, method=METHOD)
    seen, by_chance = disagreement(total - sums)
    if np.any(by_chance <= LEAST_CHANCE):
        return without_ends(1 - ratio, DEGENERATE_WITHOUT_ONE, clusters=groups, method=METHOD)
    left_out = seen / by_chance
    # An unseen stimulus may agree wholly, or lie as far below chance as those seen lie above it,
    # but not where no disagreement can take it.
    far = max(ratio, min(float(most / chance), 2 - ratio))
    shares = np.clip(groups * ratio - (groups - 1) * left_out, 0.0, far)
    at = with_few_far(jackknifed(ratio, left_out), shares, np.ones(groups), (0.0, far))

    def turned(confidence: float) -> tuple[float, float]:
        low, high = at(confidence)
        return 1 - high, 1 - low

    reach = far - ratio, ratio
    return estimated(1 - ratio, turned, groups, METHOD, reach, (-inf, 1.0), whole=True)
