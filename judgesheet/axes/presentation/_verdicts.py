"""Verdicts and scores as arrays, and groups of pairs that are counted together."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from judgesheet.axes.presentation._design import ALONE, NATURAL, PAIR, QUALITY, SCORE
from judgesheet.axes.presentation._reply import chosen
from judgesheet.axes.presentation._rules import INSTRUCTION, LENGTH, RULES
from judgesheet.axis import Readings
from judgesheet.axis.arrays import Flags, Floats, Ints
from judgesheet.axis.failing import misses
from judgesheet.axis.figure import Figures
from judgesheet.axis.items import cluster_codes
from judgesheet.base.missing_reasons import Reason
from judgesheet.stats.interval import by_cluster

if TYPE_CHECKING:
    import pandas as pd

Counts = tuple[Floats, Floats]
"""Sums and counts per cluster of stimuli."""
figure = Figures("presentation", missing="the same response plain and altered (cell.kind)")
NOT_ANSWERED = Reason("not_answered", "no such pair was answered in both orders")
KIND_WORDS: Mapping[str, str] = {
    LENGTH: "padding",
    "format": "markup",
    "hedged": "hedged wording",
    "certain": "sure wording",
    "authority": "an appeal to authority",
    INSTRUCTION: "a note to the judge",
    NATURAL: "own pairs",
    QUALITY: "fewer points",
}
"""The kinds as sentences name them."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Comparisons: one row per pair.

    `contents` has shape (pairs, 2 orders, repeats): 1 where the dressed copy (of own pairs a) was
    chosen, -1 the other one, 0 neither, NaN where unknown; in the first order it stands second.
    `cells` has the keys of the cells but for the order, the codes of the stimulus
    (`home`) and of its cluster (`cluster`).
    """

    contents: Floats
    cells: "pd.DataFrame"

    def __len__(self) -> int:
        return len(self.cells)

    def where(self, **values: object) -> "Pairs":
        """The pairs whose cells have these values."""
        columns = [self.cells[name].to_numpy() == value for name, value in values.items()]
        return self.take(np.logical_and.reduce(columns))

    def take(self, keep: Flags) -> "Pairs":
        """These pairs."""
        return replace(self, contents=self.contents[keep], cells=self.cells[keep])

    @property
    def cluster(self) -> Ints:
        """The cluster of each pair's stimulus as a code from 0."""
        return self.cells["cluster"].to_numpy(dtype=np.int64)

    @cached_property
    def by_order(self) -> Floats:
        """Shape (pairs, 2): mean over the repeats of each order; NaN where none was read."""
        known = ~np.isnan(self.contents)
        total, count = np.where(known, self.contents, 0.0).sum(axis=2), known.sum(axis=2)
        means: Floats = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
        return means

    @property
    def mean(self) -> Floats:
        """Per pair the mean of both orders, so that no slot is in it; NaN unless both were read."""
        mean: Floats = self.by_order.mean(axis=1)
        return mean

    @property
    def excess(self) -> Floats:
        """Per pair the product of both orders.

        Without bias the square of what follows the dress less that of what follows the slot: the
        noise of one order knows nothing of the other's.
        """
        product: Floats = self.by_order.prod(axis=1)
        return product

    @property
    def calls(self) -> int:
        """Calls read on pairs that were read in both orders."""
        whole = ~np.isnan(self.mean)
        return int((~np.isnan(self.contents[whole])).sum())

    def by_stimulus(self, values: Floats) -> Counts:
        """Sums and counts per cluster of one value per pair, NaN left out."""
        return by_cluster(values, self.cluster)


@dataclass(frozen=True, eq=False)
class Group:
    """Pairs that are counted together, with the dimensions of their figures and their name."""

    pairs: Pairs
    dims: Mapping[str, object]
    words: str


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Everything that was read: comparisons, and scores (one row of `scores` each)."""

    pairs: Pairs
    scores: "pd.DataFrame"

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Each kind of copies of equal content, in the order of the rules; of padding each dose."""
        asked = set(self.pairs.cells["kind"])
        return tuple(group for kind in RULES if kind in asked for group in self._of_kind(kind))

    def _of_kind(self, kind: str) -> Iterator[Group]:
        mine, words = self.pairs.where(kind=kind), KIND_WORDS[kind]
        yield Group(mine, {"kind": kind}, words)
        for dose in sorted(set(mine.cells["dose"])) if kind == LENGTH else ():
            if dose > 1:
                of = mine.where(dose=dose)
                yield Group(of, {"kind": kind, "dose": f"{dose:g}"}, f"{words} ×{dose:g}")

    @cached_property
    def clusters(self) -> int:
        """Number of independent stimuli with a comparison that was read."""
        read = ~np.isnan(self.pairs.contents).all(axis=(1, 2))
        return len(np.unique(self.pairs.cluster[read]))


_FACTS = (
    *(
        "stimulus",
        "cluster",
        "ask",
        "kind",
        "form",
        "dose",
        "missing",
        "pair",
        "longer",
        "better",
        "repeat",
    ),
    *("systems", "families"),
)
_USUAL = {"ask": PAIR, "form": ALONE}


def arrange(readings: Readings) -> Verdicts | None:
    """The arrays of a run, or None if nothing was planned."""
    import pandas as pd

    frame = readings.frame
    if frame.empty:
        return None
    cells = frame.reindex(columns=_FACTS).astype(object).fillna(_USUAL)
    for name, usual in (("dose", 1.0), ("missing", 0.0), ("longer", np.nan)):
        cells[name] = pd.to_numeric(cells[name]).astype(float).fillna(usual)
    cells["home"] = pd.factorize(cells["stimulus"])[0]
    cells["cluster"] = cluster_codes(frame["cluster"])
    scored = (cells["ask"] == SCORE).to_numpy()
    points = pd.to_numeric(frame["value"].where(scored), errors="coerce")
    scores = cells[scored].assign(score=points[scored].astype(float))
    return Verdicts(_pairs(frame[~scored], cells[~scored]), scores)


def _pairs(frame: "pd.DataFrame", cells: "pd.DataFrame") -> Pairs:
    import pandas as pd

    code, _ = pd.factorize(pd.MultiIndex.from_frame(cells[["stimulus", "pair"]]))
    first = ~pd.Series(code).duplicated().to_numpy()
    swapped = np.array([order[0] in ("dressed", "a") for order in frame["order"]], dtype=np.int64)
    repeat = frame["repeat"].to_numpy(dtype=np.int64)
    contents = np.full((int(first.sum()), 2, int(repeat.max(initial=0)) + 1), np.nan)
    contents[code, swapped, repeat] = [
        np.nan if value is None else _side(value, order)
        for value, order in zip(frame["value"], frame["order"], strict=True)
    ]
    return Pairs(contents, cells[first].reset_index(drop=True))


def _side(value: str, order: list[str]) -> float:
    """1 for the dressed copy or a, -1 for the other, 0 for neither, NaN for an invalid answer."""
    if value == "invalid":
        return np.nan
    return {None: 0.0, "dressed": 1.0, "a": 1.0}.get(chosen(value, order), -1.0)


def errors(readings: Readings) -> Floats:
    """Whether the response that makes fewer points was chosen, or the worse one of an own pair."""
    frame = readings.frame.reindex(columns=["value", "order", "kind", "better"])
    facts = zip(frame["kind"], frame["better"], strict=True)
    return misses(
        chosen,
        frame,
        [("plain",) if kind == QUALITY else (better,) if better in ("a", "b") else ()
         for kind, better in facts],
    )  # fmt: skip
