"""The readings that axes with scores have in common: `judgesheet.axis` computes shared figures."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from judgesheet.axis.arrays import Floats, Ints
from judgesheet.axis.labels import Quality, Reference

if TYPE_CHECKING:
    import numpy as np

    from judgesheet.axis.differences import Compared
    from judgesheet.axis.reversal import Contest
    from judgesheet.stats.agreement import Agreement


class Rows(NamedTuple):
    """Scores that an order may change, their name in labels, and the stimuli they come from.

    `reads` has shape (rows, orders, repeats); `cluster` gives each row's stimulus, shape (rows,);
    `scale` is the number of scores that there are, None if not known.
    """

    subject: str
    dims: Mapping[str, object]
    reads: Floats
    cluster: Ints
    scale: int | None = None


class Scored(Protocol):
    """The readings of a run, as far as the shared figures need them."""

    @property
    def rows(self) -> Iterator[Rows]:
        """The scores of all items, then of parts that have figures of their own."""

    @property
    def contest(self) -> "Contest":
        """The responses of each prompt, which compete by their scores."""

    @property
    def compared(self) -> "Sequence[Compared]":
        """One arm against the others, by its correlation with quality."""

    @property
    def references(self) -> Mapping[str, Reference]:
        """The quality of each item by criterion; "" names a criterion that is the only one."""

    @property
    def agreements(self) -> "Mapping[str, Agreement]":
        """How far the raters of each criterion agree that has several: `raters.agreements`."""

    @property
    def cluster(self) -> Ints:
        """Each item's stimulus as a code from 0, shape (items,)."""

    @property
    def temperature(self) -> float | None:
        """The temperature of the calls."""

    def quality(self, reads: int = 0) -> Quality:
        """The conditions of a figure that compares means of so many reads with quality."""

    def rng(self) -> "np.random.Generator":
        """A fresh generator from the run's seed, the same for every estimate that asks."""
