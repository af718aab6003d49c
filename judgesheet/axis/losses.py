"""Which calls gave no verdict, whether that depends on the order, and what they could have said.

A call is lost if it was made and gave no verdict: it failed, was refused, or its reply could not be
read. A call that was not made yet is not lost. Every axis has this figure: it adopts it and adds
`measure` to its measuring.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from judgesheet.axis import Readings
from judgesheet.axis.arrays import Flags
from judgesheet.axis.figure import Figures, UnkeyedEstimate, absent
from judgesheet.axis.items import cluster_codes, codes, firsts, items
from judgesheet.axis.streams import stream
from judgesheet.base.limits import MOST_NAMED
from judgesheet.base.missing_reasons import NO_OBSERVATIONS
from judgesheet.base.records import Estimate
from judgesheet.base.sanitize import listed
from judgesheet.reading.reasons import REASONS
from judgesheet.stats.interval import by_cluster, cluster_rate
from judgesheet.stats.losses import permutation_p

if TYPE_CHECKING:
    import pandas as pd

REFUSALS = ("refused", "no_verdict")
"""Reasons of calls that were answered by no verdict at all, as a refusal is."""
figure = Figures("")


def lost(frame: "pd.DataFrame") -> Flags:
    """Which calls were made and gave no verdict, shape (calls,)."""
    return (frame["outcome"].notna() & frame["value"].isna()).to_numpy(dtype=bool)


def refused_whole(frame: "pd.DataFrame") -> Flags:
    """Which calls are on stimuli that were refused however they were asked, shape (calls,).

    By the endpoint or in words, and under two orders at least: one refusal says nothing about a
    stimulus.
    """
    if "shape" not in frame:
        return np.zeros(len(frame), dtype=bool)
    made = frame["outcome"].notna()
    refused = frame["shape"].isin(REFUSALS) | ~made
    order = frame["order"].where(made).map(str, na_action="ignore")
    every = refused.groupby(frame["stimulus"]).transform("all")
    orders = order.groupby(frame["stimulus"]).transform("nunique")
    return (every & (orders > 1)).to_numpy(dtype=bool)


@dataclass(frozen=True, slots=True)
class Losses:
    """Conditions of `loss_rate`.

    `reasons` counts the lost calls by what came instead of a verdict, `order_p` is the p-value of
    "what is lost does not depend on what is listed first" (None where nothing can be compared).
    `refused` names the stimuli of which every call was refused, `refused_calls` counts those calls.
    """

    reasons: Mapping[str, int]
    order_p: float | None
    refused: Sequence[str]  # a list, as it is read from a sheet
    refused_calls: int

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        parts = [f"{REASONS[code].words} ({number})" for code, number in self.reasons.items()]
        if self.order_p is not None:
            parts.append(f"p = {self.order_p:.2g} that losses do not depend on the order")
        if self.refused:
            parts.append(f"every call refused on {listed(self.refused, MOST_NAMED)}")
        return "; ".join(parts)


@figure("rate")
def loss_rate(readings: Readings) -> UnkeyedEstimate:
    """Share of calls that gave no verdict: failed, refused, or not readable.

    Calls that were not made yet do not count. The conditions say what came instead of a verdict,
    whether an item's losses depend on what is listed first (lost calls permuted over its orders),
    and which stimuli were refused whole. Every other figure of the axis describes the calls that
    were read; how far the lost ones could move it stands beside it.
    """
    made = readings.frame[readings.frame["outcome"].notna()].reset_index(drop=True)
    if made.empty:
        return absent("Calls without a verdict", NO_OBSERVATIONS)
    gone = lost(made)
    counts = by_cluster(gone.astype(float), cluster_codes(made["cluster"]))
    rate = cluster_rate(*counts)
    conditions = _reasons_and_order(made, gone, readings.seed) if gone.any() else ""
    return UnkeyedEstimate("Calls without a verdict", rate, n=len(made), conditions=conditions)


def _reasons_and_order(made: "pd.DataFrame", gone: Flags, seed: int) -> Losses:
    reasons = Counter(made["shape"][gone].astype(str)) if "shape" in made else Counter[str]()
    whole = refused_whole(made)
    return Losses(
        dict(reasons.most_common()),
        _order_p(made, gone, seed),
        sorted(made["stimulus"][whole].astype(str).unique()),
        int(whole.sum()),
    )


def _order_p(made: "pd.DataFrame", gone: Flags, seed: int) -> float | None:
    """p-value of "what is lost of an item does not depend on what its orders list first"."""
    item = items(made)
    question = codes(made[["order"]].assign(item=item))
    repeat = np.asarray(made.groupby(question).cumcount(), dtype=np.int64)
    first = firsts(question)
    # What is asked more often loses more: as many calls count as of the one asked least.
    fewest = np.full(len(item), len(made))
    np.minimum.at(fewest, item[first], np.bincount(question))
    counted = np.bincount(question[gone & (repeat < fewest[item])], minlength=len(first))
    ranks = [sorted(order, key=str).index(order[0]) for order in made["order"].iloc[first]]
    rng = stream(seed, loss_rate.name)
    return permutation_p(counted, np.eye(max(ranks) + 1)[ranks], item[first], rng)


NAMES = frozenset({loss_rate.name})


def measure(axis: str, readings: Readings) -> Iterator[Estimate]:
    """The figure as one of an axis, if the caller wants it."""
    if len(readings.frame) and readings.wants(loss_rate.name):
        yield from Figures(axis).of(loss_rate)(readings, readings.level)


# -- what they could have said ---------------------------------------------------------------------


Row = Mapping[str, Any]
"""A row of a table: the keys of its cell, `repeat` and `value`."""


def split(frame: "pd.DataFrame") -> tuple[list[Row], list[Row]]:
    """The rows of the calls that were lost, and of those that were read."""
    gone, read = frame[lost(frame)], frame[frame["value"].notna()]
    return cast("list[Row]", gone.to_dict("records")), cast("list[Row]", read.to_dict("records"))


def answered(frame: "pd.DataFrame", values: Sequence[Any]) -> "pd.DataFrame":
    """The table with its lost calls answered by these values, in their order."""
    import pandas as pd

    filled = frame["value"].astype(object).copy()
    filled[lost(frame)] = pd.Series(list(values), index=frame.index[lost(frame)], dtype=object)
    return frame.assign(value=filled)
