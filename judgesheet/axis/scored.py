"""The readings that axes with scores have in common: `judgesheet.axis` computes shared figures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from judgesheet.axis.arrays import Floats, Ints
from judgesheet.axis.labels import Quality, Reference
from judgesheet.base.missing_reasons import Reason
from judgesheet.stats.flips import CallFlips, call_flips, pick

if TYPE_CHECKING:
    from judgesheet.stats.correlation import DeltaR

NO_RANKING = Reason("no_ranking", "no prompt has several candidates that were all read")

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


@dataclass(frozen=True)  # no slots: figures share what is cached
class Winners:
    """Which candidates win single calls.

    `picks` has a table (prompts, orders, repeats, candidates) per number of candidates: uniform
    over the tied best, NaN where a call was not read. `cluster` gives that of each prompt, over all
    tables; `candidate` and `order` are names in labels, `nothing` says why no two can be compared.
    """

    picks: Sequence[Floats]
    cluster: Ints
    candidate: str
    order: str
    nothing: Reason

    @cached_property
    def flips(self) -> CallFlips:
        """How often two calls on a prompt have different winners."""
        return CallFlips.joined(map(call_flips, self.picks))

    @cached_property
    def ties(self) -> tuple[Floats, Floats]:
        """Per prompt, the calls in which several share the best score, and all that were read."""
        # A uniform pick of less than 1 is one of several.
        best = [table.max(axis=-1) for table in self.picks]
        counts = [np.stack([one < 1, ~np.isnan(one)]).sum(axis=(2, 3)) for one in best]
        ties, calls = np.concatenate([np.empty((2, 0)), *counts], axis=1)
        return ties, calls


class Choosing(Protocol):
    """The readings of a run in which one of several candidates wins."""

    @property
    def winners(self) -> Winners:
        """The winners of all single calls."""


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
    def tables(self) -> list[Ints]:
        """Item indices (prompts, candidates): one table per number of candidates above one."""
        sizes = np.bincount(self.prompt)[self.prompt] if self.prompt.size else self.prompt
        by_prompt = np.argsort(self.prompt, kind="stable")
        return [
            by_prompt[sizes[by_prompt] == size].reshape(-1, size)
            for size in np.unique(sizes)
            if size > 1
        ]

    @property
    def of_prompts(self) -> Ints:
        """The cluster of each prompt of `tables`, in their sequence."""
        first = [self.cluster[table[:, 0]] for table in self.tables]
        return np.concatenate([np.empty(0, dtype=np.int64), *first])

    @property
    def winners(self) -> Winners:
        """The responses that win single readings."""
        picks = [pick(np.moveaxis(self.reads[table], 1, -1)) for table in self.tables]
        return Winners(picks, self.of_prompts, "response", self.order, NO_RANKING)

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
    def winners(self) -> Winners:
        """Those of all single readings."""

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

    def rng(self) -> np.random.Generator:
        """A fresh generator from the run's seed, the same for every estimate that asks."""
