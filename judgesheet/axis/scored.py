"""The readings that axes with scores have in common: `judgesheet.axis` computes shared figures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from judgesheet.axis.arrays import Floats, Ints
from judgesheet.axis.labels import Quality, Reference

if TYPE_CHECKING:
    import numpy as np

    from judgesheet.stats.correlation import DeltaR

FIXED_TOO = "balanced orders and a fixed one (cell.arm)"
RANDOM_TOO = "balanced orders and random ones (cell.arm)"
"""What recorded judgments must hold for figures that compare arms."""


class Rows(NamedTuple):
    """Verdicts that an order may change, their name in labels, and the stimuli they come from.

    `reads` has shape (rows, orders, repeats); `cluster` gives that of each row's stimulus and
    `item` its place among references, shapes (rows,); `scale` is the number of scores that there
    are, None if not known.
    """

    subject: str
    dims: Mapping[str, object]
    reads: Floats
    cluster: Ints
    item: Ints
    scale: int | None = None


@dataclass(frozen=True, slots=True)
class PromptRanking:
    """Scores of items that compete within their prompt.

    `reads` has shape (items, orders, repeats), NaN where unreadable or not asked; `means` holds the
    mean score per item of each arm; `prompt` gives each item's prompt as a code from 0, `cluster`
    that of the prompt, which all near copies share. `base` is the arm that the others are compared
    with, `order` the name of the order in labels.
    """

    reads: Floats
    means: Mapping[str, Floats]
    prompt: Ints
    cluster: Ints
    base: str = "balanced"
    order: str = "order"

    @property
    def against(self) -> Iterator[tuple[str, Mapping[str, object]]]:
        """The other arms, with the dimension of what compares them with `base`: fixed has none."""
        for other, dims in (("fixed", {}), ("random", {"arms": f"{self.base}-random"})):
            if other in self.means and other != self.base:
                yield other, dims


@dataclass(frozen=True, slots=True)
class Compared:
    """Two arms, the reads per response of each, and the difference of their correlations.

    `difference` is None where the arms were not read equally often: averaging alone raises r.
    """

    base: str
    other: str
    reads: tuple[int, int]
    difference: "DeltaR | None"

    @property
    def dims(self) -> dict[str, object]:
        """The dimension of every figure that compares them."""
        return {"arms": f"{self.base}-{self.other}"}


class Scored(Protocol):
    """The readings of a run, as far as the shared figures need them."""

    @property
    def rows(self) -> Iterator[Rows]:
        """The scores of all items, then of parts that have figures of their own."""

    @property
    def contest(self) -> PromptRanking:
        """The responses of each prompt, which compete by their scores."""

    @property
    def compared(self) -> Sequence[Compared]:
        """One arm against the others, by its correlation with quality."""

    @property
    def references(self) -> Mapping[str, Reference]:
        """The quality of each item by criterion; "" names a criterion that is the only one."""

    @property
    def cluster(self) -> Ints:
        """The cluster of each item's stimulus as a code from 0, shape (items,)."""

    @property
    def temperature(self) -> float | None:
        """The temperature of the calls."""

    def quality(self, reads: int = 0) -> Quality:
        """The conditions of a figure that compares means of so many reads with quality."""

    def rng(self) -> "np.random.Generator":
        """A fresh generator from the run's seed, the same for every estimate that asks."""
