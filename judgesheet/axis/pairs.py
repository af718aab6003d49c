"""Two responses side by side as arrays: what axes share that show each pair in both orders."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from judgesheet.axis.arrays import Flags, Floats, Ints
from judgesheet.stats.interval import by_cluster

if TYPE_CHECKING:
    import pandas as pd

Counts = tuple[Floats, Floats]
"""Sums and counts per cluster of stimuli."""


@dataclass(frozen=True, eq=False)
class PairTable:
    """Pairs of responses, a row each; an axis adds arrays of the same length.

    `cells` has the keys of the cells of a pair but for the order, and the code of the cluster of
    its stimulus from 0 (`cluster`).
    """

    cells: "pd.DataFrame"

    def __len__(self) -> int:
        return len(self.cells)

    def where(self, **values: object) -> Self:
        """The pairs whose cells have these values."""
        columns = [self.cells[name].to_numpy() == value for name, value in values.items()]
        return self.take(np.logical_and.reduce(columns))

    def take(self, keep: Flags) -> Self:
        """These pairs."""
        return replace(self, **{one.name: getattr(self, one.name)[keep] for one in fields(self)})

    @cached_property
    def cluster(self) -> Ints:
        """The cluster of each pair's stimulus as a code from 0."""
        return self.cells["cluster"].to_numpy(dtype=np.int64)

    def by_task(self, values: Floats) -> Counts:
        """Sums and counts per cluster of values (pairs, …), NaN left out."""
        each = values.size // max(1, len(self))
        return by_cluster(values.ravel(), np.repeat(self.cluster, each))


def placed(
    frame: "pd.DataFrame", cells: "pd.DataFrame", keys: Sequence[str], second: Collection[str]
) -> tuple[Flags, tuple[Ints, Ints, Ints]]:
    """Which calls are the first on their pair, and the pair, order and repeat of each.

    A pair is what these keys name; in its second order, one of `second` stands first.
    """
    import pandas as pd

    pair, _ = pd.factorize(pd.MultiIndex.from_frame(cells[[*keys]]))
    swapped = np.array([order[0] in second for order in frame["order"]], dtype=np.int64)
    first: Flags = ~pd.Series(pair).duplicated().to_numpy()
    return first, (pair.astype(np.int64), swapped, frame["repeat"].to_numpy(dtype=np.int64))
