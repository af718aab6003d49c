"""The readings of score_order as arrays, the input of all its estimates."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from judgesheet.axis import Readings
from judgesheet.axis.arrays import Flags, Floats, Ints, filled
from judgesheet.axis.differences import compared
from judgesheet.axis.failing import distances
from judgesheet.axis.figure import Figures
from judgesheet.axis.items import cluster_codes, firsts, value_codes
from judgesheet.axis.labels import Quality, Reference, reference
from judgesheet.axis.scored import Compared, PromptRanking, Rows, Winners
from judgesheet.axis.streams import stream
from judgesheet.base.digits import counted
from judgesheet.stats.correlation import DeltaR, delta_r
from judgesheet.stats.orders import Order
from judgesheet.stats.reads import row_means

from .ask import MAIN_SCALE

if TYPE_CHECKING:
    import pandas as pd

BALANCED = (
    "balanced orders (cell.arm; for a log: --map order=COLUMN), in which every score stands at "
    "every position"
)
FIXED = "one fixed order (cell.arm)"
"""What recorded judgments must hold for figures."""
figure = Figures("score_order", missing=BALANCED)
# Arms by what can be read from them alone.
_TELLING_FIRST = ("balanced", "fixed", "random")


@dataclass(frozen=True, slots=True)
class RubricOrders:
    """Conditions of a figure: the rubric's length, its orders, and how often each was read.

    Orders that are not `balanced` mix a preference for a place with one for a score.
    """

    scale: int
    orders: int
    balanced: bool
    passes: int = 1

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        balance = "balanced" if self.balanced else "UNBALANCED as recorded"
        times = f", each read {self.passes} times" if self.passes > 1 else ""
        return f"{self.scale}-point rubric, {counted(self.orders, f'{balance} order')}{times}"


@dataclass(frozen=True)  # no slots: figures share what is cached
class Grid:
    """The balanced arm at one scale (in a recording without one: the fixed arm).

    `reads` has shape (items, orders, repeats): the score chosen, NaN where unreadable or not asked.
    `cluster` gives that of each item's stimulus as a code from 0; `passes` is the number of repeats
    in which every item was to be read under every order; without such a repeat the design is not
    `complete`, as only recorded ones are.
    """

    scale: int
    orders: tuple[Order, ...]
    reads: Floats
    cluster: Ints
    passes: int
    complete: bool

    @property
    def blocks(self) -> Floats:
        """Balanced passes, shape (items x passes, orders): what the position tests count."""
        _, orders, _ = self.reads.shape
        return np.moveaxis(self.reads[:, :, : self.passes], 2, 1).reshape(-1, orders)

    @property
    def clusters(self) -> int:
        """Number of independent stimuli with at least one readable reply."""
        read: Flags = np.any(~np.isnan(self.reads), axis=(1, 2))
        return self.clusters_of(read)

    def clusters_of(self, items: Flags) -> int:
        """Number of independent stimuli that these items are of."""
        return len(np.unique(self.cluster[items]))

    @cached_property
    def conditions(self) -> RubricOrders:
        """The orders under which its figures were measured.

        They are balanced if the plan shows every item with every score equally often at every
        position.
        """
        counts = np.stack([np.bincount(column, minlength=self.scale) for column in self._place.T])
        balanced = self.complete and bool((counts == counts[0, 0]).all())
        return RubricOrders(self.scale, len(self.orders), balanced, self.passes)

    @cached_property
    def selections(self) -> Ints:
        """Counts of shape (clusters, scores, positions) over the balanced passes."""
        rows, columns = np.nonzero(~np.isnan(self.blocks))
        score = self.blocks[rows, columns].astype(np.int64) - 1
        clusters = int(self.cluster.max(initial=-1)) + 1
        counts: Ints = np.zeros((clusters, self.scale, self.scale), dtype=np.int64)
        cluster = np.repeat(self.cluster, self.passes)[rows]
        np.add.at(counts, (cluster, score, self._place[columns, score]), 1)
        return counts

    @cached_property
    def position_counts(self) -> Ints:
        """Counts of shape (clusters, positions)."""
        counts: Ints = np.sum(self.selections, axis=1)
        return counts

    @property
    def _place(self) -> Ints:
        """Shape (orders, scale): where each order lists each score, from 0."""
        return np.argsort(np.array(self.orders) - 1, axis=1)


@dataclass(frozen=True)  # no slots: figures share what is cached
class Scores:
    """All readings: the balanced grids by scale, and the reads per arm at the main scale.

    `arms` maps those of `balanced`, `random`, `fixed` that were run to (items, reads) arrays;
    `prompt` gives each item's stimulus as a code from 0. `reference` is the known quality of each
    item, and its source.
    """

    grids: Mapping[int, Grid]
    scale: int
    arms: Mapping[str, Floats]
    items: tuple[str, ...]
    prompt: Ints
    reference: Reference
    temperature: float | None
    seed: int

    @property
    def grid(self) -> Grid:
        """The balanced arm at the main scale."""
        return self.grids[self.scale]

    @property
    def cluster(self) -> Ints:
        """The cluster of each item's stimulus as a code from 0."""
        return self.grid.cluster

    @property
    def rows(self) -> Iterator[Rows]:
        """The scores of the balanced arm at the main scale."""
        every = np.arange(len(self.items))
        yield Rows("Score", {}, self.grid.reads, self.cluster, every, self.scale)

    @property
    def references(self) -> Mapping[str, Reference]:
        """The known quality of each item on the one criterion."""
        return {"": self.reference}

    def quality(self, reads: int = 0) -> Quality:
        """The conditions of a figure that compares means of so many reads with quality."""
        return self.reference.conditions(reads)

    @property
    def has_balanced_arm(self) -> bool:
        """Whether there is one; without it nothing is known about places."""
        return "balanced" in self.arms

    def means(self, arm: str) -> Floats:
        """Mean score per item in an arm, NaN where nothing was readable."""
        return row_means(self.arms[arm])

    @property
    def contest(self) -> PromptRanking:
        """The responses of each prompt, which compete by their scores."""
        means = {arm: self.means(arm) for arm in self.arms}
        return PromptRanking(self.grid.reads, means, self.prompt, self.cluster)

    @cached_property
    def winners(self) -> Winners:
        """Those of all single readings."""
        return self.contest.winners

    @cached_property
    def compared(self) -> list[Compared]:
        """The balanced arm against the others, by its correlation with quality."""

        def difference(base: str, other: str) -> DeltaR:
            means, quality = (self.means(base), self.means(other)), self.reference.values
            return delta_r(*means, quality, self.grid.cluster)

        return compared(self.arms, difference if self.reference.kind else None)

    @property
    def rated(self) -> Flags:
        """Which items have a known quality."""
        known: Flags = ~np.isnan(self.reference.values)
        return known

    def rng(self) -> np.random.Generator:
        """A fresh generator from the run's seed, the same for every estimate that asks."""
        return stream(self.seed, "scores")


def arrange(readings: Readings) -> Scores | None:
    """The arrays of a run, or None for a run without calls.

    A recording without a balanced arm is arranged by the fixed one, which has repeats but no
    places to compare, else by the random one, which has neither.
    """
    import pandas as pd

    frame = readings.frame
    arm = next((arm for arm in _TELLING_FIRST if (frame["arm"] == arm).any()), None)
    if arm is None:
        return None
    base = frame[frame["arm"] == arm]
    scale = _main_scale(frame, base)
    rows = frame[frame["scale"] == scale]
    items = pd.Index(rows["item"].unique())
    homes = rows.drop_duplicates("item").set_index("item").reindex(items)
    prompt = np.asarray(pd.factorize(homes["stimulus"])[0], dtype=np.int64)
    cluster = cluster_codes(homes["cluster"])
    grids = {
        length: _grid(length, base[base["scale"] == length], items, cluster)
        if arm != "random"
        else _no_grid(length, cluster)
        for length in sorted(map(int, base["scale"].unique()))
    }
    return Scores(
        grids=grids,
        scale=scale,
        arms=_arms(rows, items, grids[scale], arm),
        items=tuple(items),
        prompt=prompt,
        reference=reference(readings.labels, list(items)),
        temperature=readings.temperature,
        seed=readings.seed,
    )


def _main_scale(frame: "pd.DataFrame", base: "pd.DataFrame") -> int:
    """The standard scale if the compared arms share it, else the longest that they share."""
    # Arms compare at one scale only.
    others = frame.loc[frame["arm"] != "balanced", "scale"]
    shown = {*base["scale"].unique()}
    scales = {*others.unique()} & shown or shown
    return MAIN_SCALE if MAIN_SCALE in scales else int(max(scales))


def _grid(scale: int, rows: "pd.DataFrame", items: "pd.Index", cluster: Ints) -> Grid:
    import pandas as pd

    codes = value_codes(rows["order"])
    orders = [tuple(order) for order in rows["order"].iloc[firsts(codes)]]
    item = items.get_indexer(pd.Index(rows["item"]))
    known = item >= 0
    places = item[known], codes[known], rows["repeat"].to_numpy()[known]
    values = rows["value"].to_numpy(dtype=float, na_value=np.nan)[known]
    reads = filled(places, values, (len(items), len(orders)))
    asked = filled(places, np.ones(len(values)), reads.shape, 0) > 0
    used: Flags = np.any(asked, axis=(1, 2))
    whole: Flags = np.all(asked[used], axis=(0, 1))
    # The leading repeats in which every item was asked under every order: these are balanced.
    passes = int(np.cumprod(whole).sum())
    return Grid(scale, tuple(orders), reads, cluster, max(passes, 1), complete=passes > 0)


def _no_grid(scale: int, cluster: Ints) -> Grid:
    """A grid without orders, for a random arm, where hardly any order occurs twice."""
    return Grid(scale, (), np.empty((len(cluster), 0, 1)), cluster, 1, complete=False)


def _arms(rows: "pd.DataFrame", items: "pd.Index", grid: Grid, base: str) -> dict[str, Floats]:
    """Reads (items, reads) by arm; of the balanced one the complete passes."""
    import pandas as pd

    arms = {}
    if base == "balanced":
        arms[base] = grid.reads[:, :, : grid.passes].reshape(len(items), -1)
    for arm in ("random", "fixed"):
        mine = rows[rows["arm"] == arm]
        if not mine.empty:
            places = items.get_indexer(pd.Index(mine["item"])), mine["repeat"].to_numpy()
            values = mine["value"].to_numpy(dtype=float, na_value=np.nan)
            arms[arm] = filled(places, values, (len(items),))
    return arms


def errors(readings: Readings) -> Floats:
    """How far each score is from those of responses of like quality, on the commonest scale."""
    frame = readings.frame
    usual = frame["scale"] == frame["scale"].mode().max()
    scores = frame["value"].where(usual).to_numpy(dtype=float, na_value=np.nan)
    return distances(scores, reference(readings.labels, frame["item"].tolist()).values)
