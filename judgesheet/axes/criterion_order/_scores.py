"""The readings of criterion_order as arrays; every estimate of this axis starts from these.

Items may be graded on different criteria: an item's criteria have slots 0..n-1 of their own, and
`criterion` says which of the pool's criteria stands in which slot.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from judgesheet.axis import Readings
from judgesheet.axis.figure import Figures
from judgesheet.axis.labels import NAMES, Kind, Reference, reference
from judgesheet.axis.reversal import Contest
from judgesheet.records import Label
from judgesheet.stats import criteria as stats
from judgesheet.stats.reads import row_means

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

figure = Figures("criterion_order")


@dataclass(frozen=True)
class Scores:
    """Everything that was read, for the commonest number of criteria and of scores.

    Attributes
    ----------
    reads
        Shape (items, orders, repeats, n): scores of the arm in which criteria change places, NaN
        where unreadable or not asked. Orders are counted within a stimulus.
    place
        Shape (items, orders, n): where each criterion stood, from 0; -1 where the item was not
        shown in that order.
    criterion
        Shape (items, n): indices into `names`.
    cluster
        Shape (items,): each item's stimulus as a code from 0.
    passes
        Number of repeats in which every item was to be read under each of its orders.
    arms
        Arm -> (items, reads, n).
    references
        What each item is known to be worth on each of `names`, all by one kind of label.
    base
        The arm of `reads`: `balanced`, or `random` where there is no balanced one.
    scale
        Highest score, None where a recorded run does not say.
    left_out
        Stimuli with another number of criteria or of scores.
    """

    reads: "Floats"
    place: "Ints"
    criterion: "Ints"
    cluster: "Ints"
    passes: int
    names: tuple[str, ...]
    arms: Mapping[str, "Floats"]
    references: tuple[Reference, ...]
    base: str
    scale: int | None
    left_out: int
    temperature: float | None
    seed: int

    @property
    def positions(self) -> int:
        """Number of criteria in a list."""
        return int(self.criterion.shape[1])

    @property
    def groups(self) -> int:
        """Number of stimuli."""
        return int(self.cluster.max(initial=-1)) + 1

    @property
    def span(self) -> float:
        """Best less worst score; of the scores given where the scale is not known."""
        if self.scale is not None:
            return float(self.scale - 1)
        given = self.reads[~np.isnan(self.reads)]
        return float(np.ptp(given)) if given.size else 0.0

    @property
    def calls(self) -> "Floats":
        """The reads that positions are compared with: complete passes, (items, calls, n)."""
        items, orders, _, n = self.reads.shape
        return self.reads[:, :, : self.passes].reshape(items, orders * self.passes, n)

    @property
    def call_place(self) -> "Ints":
        """Where the criteria stood in each of `calls`."""
        return np.repeat(self.place, self.passes, axis=1)

    @property
    def balanced(self) -> bool:
        """Whether every item shows every criterion equally often at every position."""
        hits = (self.place[..., None] == np.arange(self.positions)).sum(axis=1)
        return bool((hits == hits[:, :1, :1]).all())

    @property
    def clusters(self) -> int:
        """Number of stimuli with at least one readable reply."""
        read = ~np.isnan(self.reads).all(axis=(1, 2, 3))
        return len(np.unique(self.cluster[read]))

    @cached_property
    def effects(self) -> tuple[stats.PositionEffects, ...]:
        """What each position adds, per criterion of `names`."""
        return tuple(
            stats.position_effects(scores, place, cluster, self.positions, self.groups)
            for scores, place, cluster in map(self.of, range(len(self.names)))
        )

    @cached_property
    def spreads(self) -> stats.Family:
        """Best less worst position, per criterion, mean and maximum."""
        return stats.spreads(self.effects, self.span, self.rng())

    @cached_property
    def null(self) -> stats.NullFamily:
        """What `spreads` would read if the order did not matter."""
        return stats.permuted_spreads(
            self.calls, self.call_place, self.criterion, len(self.names), self.rng()
        )

    def of(self, index: int) -> tuple["Floats", "Ints", "Ints"]:
        """Scores and places (items with it, calls) of one criterion, and their stimuli."""
        rows, slots = np.nonzero(self.criterion == index)
        return self.calls[rows, :, slots], self.call_place[rows, :, slots], self.cluster[rows]

    def rows(self, index: int | None = None) -> tuple["Floats", "Ints"]:
        """Reads (rows, orders, repeats) of one criterion or of each, and the rows' stimuli."""
        chosen = np.ones(self.criterion.shape, bool) if index is None else self.criterion == index
        items, slots = np.nonzero(chosen)
        return self.reads[items, :, :, slots], self.cluster[items]

    def by_criterion(self, values: "Floats") -> "Floats":
        """Values (items, n) of an item's own criteria as (items, criteria of the pool)."""
        table = np.full((len(values), len(self.names)), np.nan)
        np.put_along_axis(table, self.criterion, values, axis=1)
        return table

    def means(self, arm: str) -> "Floats":
        """Mean score per item and criterion of the pool in an arm."""
        return self.by_criterion(row_means(np.moveaxis(self.arms[arm], 1, 2)))

    @property
    def contest(self) -> Contest:
        """Candidates ranked by the mean over their criteria."""
        totals = {arm: _whole_mean(self.means(arm), self.criterion) for arm in self.arms}
        return Contest(self.reads.mean(axis=3), totals, self.cluster)

    @property
    def reference(self) -> "Floats":
        """Shape (items, criteria of the pool): what each item is worth, NaN where unknown."""
        return np.stack([one.values for one in self.references], axis=1)

    @property
    def reference_kind(self) -> Kind | None:
        """Who says what the items are worth; None where nobody does."""
        return next((one.kind for one in self.references if one.kind is not None), None)

    @property
    def reference_name(self) -> str:
        """Whose judgment of quality it is."""
        known = [one.name for one in self.references if one.kind is not None]
        return known[0] if known else "nothing"

    def rng(self) -> np.random.Generator:
        """A fresh generator from the run's seed, the same for every estimate that asks."""
        return np.random.default_rng([self.seed, 7])


def _whole_mean(table: "Floats", criterion: "Ints") -> "Floats":
    """Mean over an item's criteria; NaN where one of them is unknown."""
    mean: Floats = np.take_along_axis(table, criterion, axis=1).mean(axis=1)
    return mean


def arrange(readings: Readings) -> Scores | None:
    """The arrays of a run, or None if criteria never change places in it."""
    frame = readings.frame
    base = next((arm for arm in ("balanced", "random") if (frame["arm"] == arm).any()), None)
    if base is None:
        return None
    rows = _Rows(frame, base)
    main = rows.of(base)
    reads = np.full((*main.shape, rows.positions), np.nan)
    reads[main.item, main.order, main.repeat] = rows.scores[main.index]
    place = np.full((*main.shape[:2], rows.positions), -1, dtype=np.int64)
    place[main.item, main.order] = rows.places[main.index]
    asked = np.zeros(main.shape, dtype=bool)
    asked[main.item, main.order, main.repeat] = True
    whole = (asked | ~asked[:, :, :1]).all(axis=(0, 1))
    passes = max(1, int(np.cumprod(whole).sum()))
    arms = {base: reads[:, :, :passes].reshape(len(reads), -1, rows.positions)}
    for arm in ("random", "fixed"):
        other = rows.of(arm)
        if arm != base and other.index.size:
            table = np.full((len(reads), int(other.count.max()) + 1, rows.positions), np.nan)
            table[other.item, other.count] = rows.scores[other.index]
            arms[arm] = table
    return Scores(
        reads=reads,
        place=place,
        criterion=rows.criterion,
        cluster=rows.cluster,
        passes=passes,
        names=rows.names,
        arms=arms,
        references=_references(readings.labels, rows),
        base=base,
        scale=rows.scale,
        left_out=rows.left_out,
        temperature=readings.temperature,
        seed=readings.seed,
    )


@dataclass(frozen=True, slots=True)
class _Arm:
    """Where the rows `index` of one arm go: item, order within the item, repeat of the order."""

    index: "Ints"
    item: "Ints"
    order: "Ints"
    repeat: "Ints"
    count: "Ints"
    """The how-manieth read of the item in this arm, from 0."""
    items: int

    @property
    def shape(self) -> tuple[int, int, int]:
        """Items, orders, repeats."""
        return (
            self.items,
            int(self.order.max(initial=0)) + 1,
            int(self.repeat.max(initial=0)) + 1,
        )


class _Rows:
    """The calls of the commonest layout, with criteria as codes.

    An item that was graded on two sets of criteria counts as two items.
    """

    def __init__(self, frame: pd.DataFrame, base: str) -> None:
        sizes = frame["order"].map(len)
        scales = frame["scale"] if "scale" in frame else pd.Series(np.nan, index=frame.index)
        layouts = list(zip(sizes, scales.astype(object).where(scales.notna(), None), strict=True))
        self.positions, scale = _commonest(layouts, frame["stimulus"], frame["arm"] == base)
        self.scale = None if scale is None else int(scale)
        kept = np.array([layout == (self.positions, scale) for layout in layouts])
        self.left_out = frame["stimulus"].nunique() - frame.loc[kept, "stimulus"].nunique()
        frame = frame[kept]
        orders = [tuple(order) for order in frame["order"]]
        keys = [
            (item, tuple(sorted(order))) for item, order in zip(frame["item"], orders, strict=True)
        ]
        self.item, self.items = _codes(keys)
        self.order = orders
        self.arm = frame["arm"].to_numpy()
        self.repeat = frame["repeat"].to_numpy(dtype=np.int64)
        self.names = tuple(sorted({name for _, names in self.items for name in names}))
        code = {name: index for index, name in enumerate(self.names)}
        self.criterion = np.array([[code[name] for name in names] for _, names in self.items])
        slots = [{name: slot for slot, name in enumerate(names)} for _, names in self.items]
        self.places = np.empty((len(frame), self.positions), dtype=np.int64)
        self.scores = np.full((len(frame), self.positions), np.nan)
        rows = zip(self.item, orders, frame["value"], strict=True)
        for row, (item, order, value) in enumerate(rows):
            for position, name in enumerate(order):
                self.places[row, slots[item][name]] = position
                if value is not None:
                    self.scores[row, slots[item][name]] = value[name]
        first = np.unique(self.item, return_index=True)[1]
        self.cluster, _ = _codes(list(frame["stimulus"].to_numpy()[first]))

    def of(self, arm: str) -> _Arm:
        """The rows of one arm, in the order of their repeats."""
        index = np.flatnonzero(self.arm == arm)
        index = index[np.argsort(self.repeat[index], kind="stable")]
        item, prompt = self.item[index], self.cluster[self.item[index]]
        # Responses that compete share their orders, so orders are counted within a prompt.
        shown = [(p, self.order[row]) for p, row in zip(prompt, index, strict=True)]
        ordered, pairs = _codes(shown)
        own = _running([p for p, _ in pairs])[ordered] if len(pairs) else ordered
        again = _running(list(zip(item, ordered, strict=True)))
        return _Arm(index, item, own, again, _running(list(item)), len(self.items))


def _commonest(
    layouts: Sequence[tuple[int, Any]], stimuli: "pd.Series[Any]", base: "pd.Series[bool]"
) -> tuple[int, Any]:
    """The layout (criteria, scale) of most stimuli in the base arm; the larger of equals."""
    mine = zip(layouts, stimuli, base, strict=True)
    counts = Counter(layout for layout, _ in {(layout, name) for layout, name, one in mine if one})
    return max(counts, key=lambda layout: (counts[layout], layout[0], layout[1] or 0))


def _codes(values: Sequence[Hashable]) -> tuple["Ints", list[Any]]:
    """Codes from 0 in the order of appearance, and the values."""
    seen: dict[Hashable, int] = {}
    codes = np.array([seen.setdefault(value, len(seen)) for value in values], dtype=np.int64)
    return codes, list(seen)


def _running(values: Sequence[Any]) -> "Ints":
    """For each value how often it came before."""
    seen: Counter[Any] = Counter()
    before = []
    for value in values:
        before.append(seen[value])
        seen[value] += 1
    return np.array(before, dtype=np.int64)


def _references(labels: Sequence[Label], rows: _Rows) -> tuple[Reference, ...]:
    """What items are worth on each criterion of the pool, all by the best kind that any has."""
    mine = [one for one in labels if one.criterion in rows.names]
    kind = next((kind for kind in NAMES if any(one.kind == kind for one in mine)), None)
    chosen, items = [one for one in mine if one.kind == kind], [item for item, _ in rows.items]
    return tuple(reference(chosen, items, name) for name in rows.names)
