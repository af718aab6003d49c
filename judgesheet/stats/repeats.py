"""Are repeats of a call readings like the first one, so that they measure noise?

If the calls of a cell (an item under one order) know nothing of each other, the first and the
second of them could be exchanged, and two of a cell agree at least as often as two of different
cells. A judge that answers a question otherwise when it is asked again breaks the first, one that
says something else on purpose the second.
"""

from collections.abc import Iterator, Sequence
from math import erfc, sqrt

import numpy as np
import scipy

from ._support import Floats, Integers, sum_by
from .interval import ROUNDING, by_cluster

GAUSSIAN = 1 / (2 * erfc(1))
"""A weighted sum of random signs exceeds any number at most so many times as often as a normal
variable with its variance (Bentkus and Dzindzalieta 2015): 3.18."""


def alike_p(
    to_things: Floats,
    to_places: Floats,
    cell: Integers,
    item: Integers,
    cluster: Integers,
    turns: Sequence[Integers],
) -> float | None:
    """p-value of "the readings of a cell are alike whatever their turn, and independent".

    The least of several, corrected for their number. By each of the `turns`: is the first reading
    of a cell nearer to those of the item's other cells, or the second, in what they give to things
    and to places together? If they are alike, the sign of each difference is random, and the bound
    on their sum needs no draws. And do two readings of a cell give to things what differs more than
    in two of different cells (one-sided t over clusters)? None where no cell was read twice beside
    another one.

    Parameters
    ----------
    to_things, to_places
        Shape (calls, things) and (calls, places): what each call gives to them.
    cell, item, cluster
        Shape (calls,): codes from 0; a cell belongs to one item, and that to one cluster.
    turns
        Each of shape (calls,): which reading of its cell comes first.

    References
    ----------
    Bentkus, V. K. and Dzindzalieta, D. (2015), "A tight Gaussian bound for weighted sums of
    Rademacher random variables", Bernoulli 21, 1231-1237.
    """
    both = np.hstack([to_things, to_places])
    every = [p for turn in turns for p in _by_turn(both, cell, item, turn)]
    every += _beyond(to_things, cell, item, cluster)
    return min(1.0, len(every) * min(every)) if every else None


def _twice(cell: Integers, turn: Integers) -> tuple[Integers, Integers]:
    """The first and the second call of every cell that has two."""
    rows = np.lexsort((turn, cell))
    begins = np.flatnonzero(np.diff(cell[rows], prepend=-1))
    several = begins[np.diff(begins, append=len(rows)) > 1]
    return rows[several], rows[several + 1]


def _by_turn(said: Floats, cell: Integers, item: Integers, turn: Integers) -> Iterator[float]:
    """p-value of "first and second are equally near to the item's readings in other cells"."""
    first, second = _twice(cell, turn)
    others = np.bincount(item)[item[first]] - np.bincount(cell)[cell[first]]
    first, second, others = first[others > 0], second[others > 0], others[others > 0]
    if not first.size:
        return
    rest = _sums(said, item)[item[first]] - _sums(said, cell)[cell[first]]
    # Of squared distances; the squares of the others are in both.
    nearer = _squares(said[second]) - _squares(said[first])
    nearer += 2 * np.sum((said[first] - said[second]) * rest, axis=1) / others
    length = sqrt(float(nearer @ nearer))
    surprise = abs(float(nearer.sum())) / length if length > ROUNDING else 0.0
    yield min(1.0, 2 * GAUSSIAN * float(scipy.special.ndtr(-surprise)))


def _beyond(said: Floats, cell: Integers, item: Integers, cluster: Integers) -> Iterator[float]:
    """p-value of "two readings of a cell differ no more than two of different cells"."""
    first, second = _twice(cell, np.arange(len(cell)))
    # Two readings of every cell that is compared: noise that differs by cell then cancels.
    cells = np.bincount(item[first], minlength=int(item.max(initial=-1)) + 1)
    kept = cells[item[first]] > 1
    first, second = first[kept], second[kept]
    asked, of = np.unique(item[first], return_inverse=True)
    cells = cells[asked].astype(np.float64)
    inside = sum_by(_squares(said[first] - said[second]), of, len(asked))
    squares = sum_by(_squares(said[first]) + _squares(said[second]), of, len(asked))
    sums = sum_by(said[first] + said[second], of, len(asked))
    across = 2 * cells * squares - _squares(sums) - inside
    more = inside / cells - across / (2 * cells * (cells - 1))
    means, groups = by_cluster(more, cluster[first[np.unique(of, return_index=True)[1]]])
    means = means / groups
    if means.size > 1:
        t = float(means.mean()) / max(float(means.std(ddof=1)), ROUNDING) * sqrt(means.size)
        # That all have one sign is as probable as that, however alike they are.
        yield max(0.5**means.size, float(scipy.special.stdtr(means.size - 1, -t)))


def _sums(said: Floats, codes: Integers) -> Floats:
    return sum_by(said, codes, int(codes.max(initial=-1)) + 1)


def _squares(vectors: Floats) -> Floats:
    squares: Floats = np.square(vectors).sum(axis=1)
    return squares
