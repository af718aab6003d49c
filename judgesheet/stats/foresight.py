"""What more labels do to the variance of an estimate over clusters."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ._support import TINY, Flags, Floats, Integers, cluster_codes, sum_by

MOSTLY = 0.9
"""Share of the rows of clusters with labels that have one, from which whole clusters were drawn."""
ByTimes = Callable[[float], float]
"""A number, if so many times as many rows had labels, found like those that have one."""


@dataclass(frozen=True)
class Drawn:
    """Which rows (m,) have labels, and the codes 0..G-1 of their clusters."""

    known: Flags
    codes: Integers
    groups: int

    @classmethod
    def of(cls, known: Flags, clusters: ArrayLike) -> "Drawn":
        """Rows and the names of their clusters, each of shape (m,)."""
        return cls(known, *cluster_codes(clusters))

    @property
    def labelled(self) -> int:
        """How many clusters have labels."""
        return int(np.unique(self.codes[self.known]).size)

    @property
    def whole(self) -> bool:
        """Whether whole clusters were drawn, some rows perhaps left out, and not single rows."""
        met = sum_by(self.known.astype(np.float64), self.codes, self.groups) > 0
        return bool(not met.all() and self.known[met[self.codes]].mean() >= MOSTLY)

    def clusters(self, times: float) -> int:
        """How many clusters have labels if so many times as many rows have."""
        return min(self.groups, round(times * self.labelled))

    def error_left(self, own: Floats, moved: Floats) -> ByTimes:
        """How much is left of the standard error of own - w moved, w of least variance.

        `own` (m,) are contributions of labelled rows to a mean, `moved` those to such a mean less
        that of the other rows.
        """
        squares = [self._product(*two) for two in ((own, own), (own, moved), (moved, moved))]

        def variance(times: float) -> float:
            labels, both, verdicts = (of(times) for of in squares)
            return labels - both * both / verdicts if verdicts > 0 else labels

        now = variance(1.0)

        def left(times: float) -> float:
            # An estimate of how much rows of a cluster have in common may be less than nothing.
            return sqrt(min(1.0, max(1 / times, variance(times) / now if now > 0 else 0.0)))

        return left

    def deff_grown(self, own: Floats, fixed: Floats) -> ByTimes:
        """How many times the design effect of own + fixed is what it is now.

        `own` (m,) are contributions of labelled rows to a mean, `fixed` those of all rows.
        """
        together, of_rows = self._product(own, own), float(own @ own)
        rest = self._by_cluster(fixed, fixed) + 2 * self._by_cluster(own, fixed)
        alone = float(fixed @ fixed)

        def deff(times: float) -> float:
            rows = of_rows / times + alone
            return max(0.0, together(times) + rest) / rows if rows > 0 else 0.0

        now = deff(1.0)
        return lambda times: deff(times) / now if now > 0 else 1.0

    def _product(self, one: Floats, other: Floats) -> ByTimes:
        """Sum over clusters of the products of two contributions.

        With more rows in a mean each contributes less. The sum of squares falls, but that of the
        products of two rows of a cluster does not where single rows are drawn, as there are the
        more of them; of whole clusters both fall alike.
        """
        known, rest = self.known, int((~self.known).sum())
        parts = [(np.where(rows, one, 0.0), np.where(rows, other, 0.0)) for rows in (known, ~known)]
        squares = [float(x @ y) for x, y in parts]
        pairs = [self._by_cluster(x, y) - of for (x, y), of in zip(parts, squares, strict=True)]
        between = self._by_cluster(one, other) - sum(squares) - sum(pairs)
        whole = self.whole

        def at(times: float) -> float:
            left = 1 - (times - 1) * int(known.sum()) / rest if rest else 0.0
            total = between
            for square, pair, more in zip(squares, pairs, (times, left), strict=True):
                falls, stays = (square + pair, 0.0) if whole else (square, pair)
                total += stays + (falls / more if more > TINY else inf if falls else 0.0)
            return total

        return at

    def _by_cluster(self, one: Floats, other: Floats) -> float:
        return float(sum_by(one, self.codes, self.groups) @ sum_by(other, self.codes, self.groups))
