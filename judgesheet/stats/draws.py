"""One set of draws of stimuli for all figures, for the difference of two runs.

While `drawing` is open, labels of clusters are codes from 0 of all that are drawn, and the
`Interval` of a figure holds its value in every draw. Both runs are measured with the same draws, so
that a stimulus that is hard for both moves both figures at once.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ._support import Floats, Integers, cluster_codes, floats, sum_by
from .reads import ratio


@dataclass(frozen=True, slots=True)
class Draws:
    """How often each cluster is drawn, shape (draws, clusters), and what figures are in each draw.

    `codes` are those of the clusters of stimuli by name, for figures that know these alone.
    `values` has shape (draws,) by name, NaN where a figure has no value in a draw.
    """

    weights: Floats
    codes: Mapping[str, int] = field(default_factory=dict)
    values: dict[str, Floats] = field(default_factory=dict)


_open: ContextVar[Draws | None] = ContextVar("draws", default=None)


@contextmanager
def drawing(draws: Draws) -> Iterator[None]:
    """What is measured inside is measured in every draw, too."""
    token = _open.set(draws)
    try:
        yield
    finally:
        _open.reset(token)


def keep(name: str, drawn: Floats | None) -> None:
    """Keep what a figure is in every draw."""
    draws = _open.get()
    if draws is not None and drawn is not None:
        draws.values[name] = drawn


def cluster_index(clusters: ArrayLike) -> tuple[Integers, int]:
    """Where the sums of each cluster stand, and of how many: all that are drawn, else these."""
    draws = _open.get()
    if draws is None:
        return cluster_codes(clusters)
    labels, count = np.asarray(clusters).reshape(-1), draws.weights.shape[1]
    if labels.dtype.kind not in "iu":
        labels = np.array([draws.codes[str(label)] for label in labels], dtype=np.int64)
    return labels.astype(np.int64), count


def drawn_sums(parts: ArrayLike) -> Floats | None:
    """Sums over the drawn clusters of what each adds, (clusters, …) -> (draws, …).

    None where nothing is drawn. `parts` are by code; codes beyond their end add nothing.
    """
    draws, array = _open.get(), floats(parts)
    if draws is None:
        return None
    flat = array.reshape(len(array), -1)
    sums: Floats = draws.weights[:, : len(flat)] @ flat
    return sums.reshape(-1, *array.shape[1:])


def drawn_by(values: Floats, clusters: ArrayLike) -> Floats | None:
    """`drawn_sums` of what items (m, …) of clusters (m,) add."""
    if _open.get() is None:
        return None
    return drawn_sums(sum_by(values, *cluster_index(clusters)))


def drawn_ratio(sums: ArrayLike, sizes: ArrayLike) -> Floats | None:
    """The ratio of two sums over the drawn clusters, shape (draws,)."""
    totals = drawn_sums(np.stack([floats(sums), floats(sizes)], axis=-1))
    return None if totals is None else ratio(totals[:, 0], totals[:, 1])
