"""What every room of scores arranges: the kit computes the figures that they share from it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from judgesheet.axis.arrays import Floats, Ints
from judgesheet.axis.labels import Quality, Reference

if TYPE_CHECKING:
    import numpy as np

    from judgesheet.axis.differences import Compared
    from judgesheet.axis.reversal import Contest


class Rows(NamedTuple):
    """Scores that an order may change: what a label calls them, and where they come from.

    `reads` has shape (rows, orders, repeats); `cluster` gives each row's stimulus, shape (rows,).
    """

    subject: str
    dims: Mapping[str, object]
    reads: Floats
    cluster: Ints


class Scored(Protocol):
    """Everything that was read, as far as the shared figures need it."""

    @property
    def rows(self) -> Iterator[Rows]:
        """The scores of all items, then of parts that have figures of their own."""

    @property
    def contest(self) -> "Contest":
        """The responses of each prompt, which compete by their scores."""

    @property
    def compared(self) -> "Sequence[Compared]":
        """One arm against the others, by how well it follows quality."""

    @property
    def references(self) -> Mapping[str, Reference]:
        """What each item is worth by criterion; "" names a criterion that is the only one."""

    @property
    def cluster(self) -> Ints:
        """Each item's stimulus as a code from 0, shape (items,)."""

    @property
    def temperature(self) -> float | None:
        """At which the judge was asked."""

    def quality(self, reads: int = 0) -> Quality:
        """The conditions of a figure that holds means of so many reads against quality."""

    def rng(self) -> "np.random.Generator":
        """A fresh generator from the run's seed, the same for every estimate that asks."""
