"""The readings of criterion_order as arrays, the input of all its estimates.

Items may be graded on different criteria: an item's criteria have slots 0..n-1 of their own, by
name, and `criterion` says which of the pool's criteria stands in which slot.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesheet.axis import Readings
from judgesheet.axis.arrays import Flags, Floats, Ints, filled
from judgesheet.axis.differences import compared
from judgesheet.axis.failing import distances
from judgesheet.axis.figure import Figures
from judgesheet.axis.items import cluster_codes
from judgesheet.axis.labels import NAMES, Quality, Reference, reference
from judgesheet.axis.scored import Compared, PromptRanking, Rows, Winners
from judgesheet.axis.streams import stream
from judgesheet.base.digits import counted
from judgesheet.base.records import Label
from judgesheet.stats import criteria as stats
from judgesheet.stats.correlation import DeltaR
from judgesheet.stats.macro import macro_delta_r
from judgesheet.stats.reads import row_means

if TYPE_CHECKING:
    import pandas as pd

PLACED = "criteria that stood at several places (cell.order)"
FIXED = "one fixed order (cell.arm)"
REPEATED = "an order that was read twice (repeat; for a log: --map repeat=COLUMN)"
"""What recorded judgments must hold for figures."""
figure = Figures("criterion_order", missing=PLACED)
# Arms in which criteria change places, the better first.
_BASES = ("balanced", "random")


@dataclass(frozen=True, slots=True)
class CriterionLists:
    """Conditions of a figure: the lists of criteria, their orders, and how often each was read.

    `scale` is the number of scores, None if a recorded run does not say, and `step` what is between
    two of them. Orders that are not `balanced` show a criterion more often at some positions.
    `left_out` counts the prompts with a different number of criteria or of scores.
    """

    criteria: int
    scale: int | None
    orders: int
    balanced: bool
    passes: int
    left_out: int
    step: float = 1

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        scale = "scale not recorded" if self.scale is None else f"{self.scale}-point scale"
        balance = "balanced" if self.balanced else "UNBALANCED as recorded"
        times = f", each read {self.passes} times" if self.passes > 1 else ""
        others = f"; {counted(self.left_out, 'prompt')} with other lists left out"
        orders = counted(self.orders, f"{balance} order")
        criteria = counted(self.criteria, "criterion", "criteria")
        return f"{criteria}, {scale}, {orders}{times}{others if self.left_out else ''}"


@dataclass(frozen=True)  # no slots: figures share what is cached
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
    prompt, cluster
        Shape (items,): each item's stimulus as a code from 0, and the cluster of that.
    base
        The arm of `reads`: `balanced`, or `random` where there is no balanced one.
    arms
        Arm -> (items, reads, n); of the base arm the complete passes.
    references
        Criterion -> the known quality of each item on it, all by one kind of label.
    lists
        The lists within which positions are compared.
    """

    reads: Floats
    place: Ints
    criterion: Ints
    prompt: Ints
    cluster: Ints
    base: str
    arms: Mapping[str, Floats]
    references: Mapping[str, Reference]
    lists: CriterionLists
    temperature: float | None
    seed: int

    @property
    def names(self) -> tuple[str, ...]:
        """The criteria of the pool."""
        return tuple(self.references)

    @property
    def span(self) -> float:
        """Best less worst score; of the scores given where the scale is not known, at least 1."""
        if self.lists.scale is not None:
            return float(self.lists.scale - 1)
        given = self.reads[~np.isnan(self.reads)]
        return max(1.0, float(np.ptp(given))) if given.size else 1.0

    @property
    def limits(self) -> tuple[float, float]:
        """Least and greatest score; no limits where the scale is not known."""
        return (1.0, self.lists.scale) if self.lists.scale is not None else (-inf, inf)

    @property
    def call_place(self) -> Ints:
        """Where the criteria stood in each read of the base arm, shape (items, reads, n)."""
        return np.repeat(self.place, self.lists.passes, axis=1)

    @property
    def clusters(self) -> int:
        """Number of independent stimuli with at least one readable reply."""
        read = ~np.isnan(self.reads).all(axis=(1, 2, 3))
        return len(np.unique(self.cluster[read]))

    @cached_property
    def effects(self) -> tuple[stats.PositionEffects, ...]:
        """What each position adds, per criterion of `names`."""
        groups = int(self.cluster.max(initial=-1)) + 1
        criteria = map(self.of, range(len(self.names)))
        return tuple(stats.position_effects(*of, self.lists.criteria, groups) for of in criteria)

    @cached_property
    def gaps(self) -> stats.Family:
        """Best less worst position: per criterion, mean and maximum."""
        return stats.spreads(self.effects, self.span, self.rng())

    @cached_property
    def null_gaps(self) -> stats.NullFamily:
        """What `gaps` would read if the order did not matter."""
        calls, criteria = self.arms[self.base], len(self.names)
        return stats.permuted_spreads(calls, self.call_place, self.criterion, criteria, self.rng())

    @cached_property
    def position_tests(self) -> tuple[stats.Friedman, ...]:
        """Friedman's test per criterion, blocks are independent stimuli."""
        return tuple(stats.friedman(effects.cells) for effects in self.effects)

    @cached_property
    def winners(self) -> Winners:
        """Those of all single readings."""
        return self.contest.winners

    @cached_property
    def compared(self) -> list[Compared]:
        """The correlation of the base arm less that of each other arm, mean over criteria."""

        def difference(one: str, other: str) -> DeltaR:
            means = self.means(one), self.means(other)
            return macro_delta_r(*means, self.reference, self.cluster)

        return compared(self.arms, difference if self.knows_quality else None, self.base)

    def of(self, index: int) -> tuple[Floats, Ints, Ints]:
        """Scores and places (items with it, reads) of one criterion, and the items' clusters."""
        items, slots = np.nonzero(self.criterion == index)
        calls = self.arms[self.base][items, :, slots]
        return calls, self.call_place[items, :, slots], self.cluster[items]

    @property
    def rows(self) -> Iterator[Rows]:
        """The scores on all criteria, then those on each."""
        yield self._rows("A criterion's score", {}, self.criterion >= 0)
        for index, name in enumerate(self.names):
            dims = {"criterion": name}
            yield self._rows(f"The score of {name}", dims, self.criterion == index)

    def _rows(self, subject: str, dims: Mapping[str, object], chosen: Flags) -> Rows:
        items, slots = np.nonzero(chosen)
        reads, scale = self.reads[items, :, :, slots], self.lists.scale
        return Rows(subject, dims, reads, self.cluster[items], items, scale)

    def by_criterion(self, values: Floats) -> Floats:
        """Values (items, n) of an item's own criteria as (items, criteria of the pool)."""
        table = np.full((len(values), len(self.names)), np.nan)
        np.put_along_axis(table, self.criterion, values, axis=1)
        return table

    def means(self, arm: str) -> Floats:
        """Mean score per item and criterion of the pool in an arm."""
        return self.by_criterion(row_means(np.moveaxis(self.arms[arm], 1, 2)))

    @property
    def contest(self) -> PromptRanking:
        """Candidates ranked by the mean over their criteria; NaN where one of them is unknown."""
        totals = {
            arm: np.take_along_axis(self.means(arm), self.criterion, axis=1).mean(axis=1)
            for arm in self.arms
        }
        # NaN where any criterion is: a mean over fewer criteria ranks by other things.
        reads = self.reads.mean(axis=3)
        return PromptRanking(
            reads, totals, self.prompt, self.cluster, self.base, "order of criteria"
        )

    @property
    def reference(self) -> Floats:
        """Shape (items, criteria of the pool): the quality of each item, NaN where unknown."""
        return np.stack([one.values for one in self.references.values()], axis=1)

    @property
    def knows_quality(self) -> bool:
        """Whether the quality of any item is known on any criterion."""
        return not np.isnan(self.reference).all()

    def quality(self, reads: int = 0) -> Quality:
        """The conditions of a figure that compares means of so many reads with `reference`."""
        kinds = (one.kind for one in self.references.values() if one.kind is not None)
        return Quality(next(kinds, ""), reads)

    def rng(self) -> np.random.Generator:
        """A fresh generator from the run's seed, the same for every estimate that asks."""
        return stream(self.seed, "criteria")


def arrange(readings: Readings) -> Scores | None:
    """The arrays of a run, or None if criteria never change places in it."""
    base = next((arm for arm in _BASES if (readings.frame["arm"] == arm).any()), None)
    if base is None:
        return None
    calls = _commonest(readings.frame, base)
    shown = np.array(calls["order"].tolist(), dtype=object)  # (calls, n)
    slots, places = np.sort(shown, axis=1), np.argsort(shown, axis=1)
    scores = np.array(
        [
            [np.nan if value is None else value[name] for name in names]
            for value, names in zip(calls["value"], slots, strict=True)
        ]
    )
    calls = _coded(calls, slots)
    items = calls.drop_duplicates("code")
    names, criterion = np.unique(slots[items.index], return_inverse=True)
    main = _placed(calls, base)
    # Passes that every item has under every order; the rest would unbalance the arm.
    passes = int(main.groupby(["code", "order"]).size().min())
    reads = _table(main, ("code", "column", "time"), scores, len(items))
    shown_at = _table(main, ("code", "column"), places.astype(float), len(items))
    place = np.nan_to_num(shown_at, nan=-1).astype(np.int64)
    arms = {base: reads[:, :, :passes].reshape(len(items), -1, shown.shape[1])}
    for arm in ("random", "fixed"):
        if arm != base and (calls["arm"] == arm).any():
            arms[arm] = _table(_placed(calls, arm), ("code", "read"), scores, len(items))
    hits = (place[..., None] == np.arange(shown.shape[1])).sum(axis=1)  # (items, n, places)
    return Scores(
        reads=reads,
        place=place,
        criterion=criterion.reshape(-1, shown.shape[1]),
        prompt=items["prompt"].to_numpy(),
        cluster=cluster_codes(items["cluster"]),
        base=base,
        arms=arms,
        references=_references(readings.labels, list(items["item"]), names.tolist()),
        lists=CriterionLists(
            criteria=shown.shape[1],
            scale=int(calls["scale"].iloc[0]) or None,
            orders=place.shape[1],
            balanced=bool((hits == hits[:, :1, :1]).all()),
            passes=passes,
            left_out=readings.frame["stimulus"].nunique() - items["stimulus"].nunique(),
            step=1 if readings.scale is None else readings.scale.step,
        ),
        temperature=readings.temperature,
        seed=readings.seed,
    )


def _commonest(frame: "pd.DataFrame", base: str) -> "pd.DataFrame":
    """The calls with the number of criteria and of scores of most stimuli in the base arm.

    Of equally common ones the longest; `scale` is 0 where it is not recorded.
    """
    import pandas as pd

    scale = pd.Series(frame.get("scale"), index=frame.index, dtype=float).fillna(0)
    calls = frame.assign(order=frame["order"].map(tuple), n=frame["order"].map(len), scale=scale)
    layouts = calls[calls["arm"] == base].groupby(["n", "scale"])["stimulus"].nunique()
    # Lists of different length do not compare (docs/notes/order-tests.md).
    commonest = layouts.reset_index().sort_values(["stimulus", "n", "scale"]).tail(1)
    return calls.merge(commonest[["n", "scale"]], on=["n", "scale"])


def _coded(calls: "pd.DataFrame", slots: Any) -> "pd.DataFrame":
    """With codes from 0 of items and of their stimuli, in order of appearance.

    An item that was graded on two sets of criteria counts as two items.
    """
    import pandas as pd

    graded = calls.assign(criteria=pd.Series(map(tuple, slots), dtype=object))
    code = graded.groupby(["item", "criteria"], sort=False).ngroup()
    stimuli = calls["stimulus"].groupby(code).first()
    return calls.assign(code=code, prompt=pd.factorize(stimuli)[0].astype(np.int64)[code])


def _placed(calls: "pd.DataFrame", arm: str) -> "pd.DataFrame":
    """The calls of an arm by repeat, with their places in its table, from 0.

    `column` counts the orders of a stimulus, `time` the reads of an item in an order, `read` those
    in any. Responses that compete share their orders: hence by stimulus.
    """
    import pandas as pd

    mine = calls[calls["arm"] == arm].sort_values("repeat", kind="stable")
    columns = mine.groupby("prompt")["order"].transform(lambda orders: pd.factorize(orders)[0])
    return mine.assign(
        column=columns.astype(int),
        time=mine.groupby(["code", "order"]).cumcount(),
        read=mine.groupby("code").cumcount(),
    )


def _table(calls: "pd.DataFrame", axes: Sequence[str], values: Floats, items: int) -> Floats:
    """The values (calls, n) at their places: shape (items, …, n), NaN where there is no call."""
    return filled([calls[axis].to_numpy() for axis in axes], values[calls.index], (items,))


def _references(
    labels: Sequence[Label], items: Sequence[str], names: Sequence[str]
) -> dict[str, Reference]:
    """The quality of items on each criterion, all by the best kind of label that any has."""
    mine = [label for label in labels if label.criterion in names]
    kind = next((kind for kind in NAMES if any(label.kind == kind for label in mine)), None)
    chosen = [label for label in mine if label.kind == kind]
    return {name: reference(chosen, items, name) for name in names}


def errors(readings: Readings) -> Floats:
    """How far the scores of each call are from those of like quality, over criteria."""
    frame, items = readings.frame, readings.frame["item"].tolist()
    off = [
        distances(
            np.array([np.nan if v is None else v.get(name, np.nan) for v in frame["value"]], float),
            reference(readings.labels, items, name).values,
        )
        for name in sorted({name for order in frame["order"] for name in order})
    ]
    known = ~np.isnan(off)
    total: Floats = np.where(known, off, 0.0).sum(axis=0)
    return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)
