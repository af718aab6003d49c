"""Where does a judge fail? One test for each way to split the calls of a whole sheet.

Calls are split by field, by length, by the third of the run in which they were asked and by the
direction in which they list things. What is compared is how far calls are off (`Failing.errors`),
how far they differ from those on the same item under other orders, and, where a list rises or
falls, how far down it the verdict stands; see `stats.slices`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from judgesheet.axis import Readings
from judgesheet.axis.arrays import Flags, Floats, Ints
from judgesheet.axis.failing import Content, Failing, is_ranked
from judgesheet.axis.figure import Figures, UnkeyedEstimate, absent
from judgesheet.axis.items import cluster_codes, codes, firsts, items
from judgesheet.axis.streams import stream
from judgesheet.base.digits import two_digits
from judgesheet.base.missing_reasons import Reason
from judgesheet.stats.interval import without_interval
from judgesheet.stats.slices import Errors, worst_slice

if TYPE_CHECKING:
    import pandas as pd

FEWEST = 4
"""Stimuli of a field that is compared with the others, which need another such field."""
LONG = (2 / 3, 4 / 5)
"""Parts of an axis's calls beyond which texts are long; those below a third are short."""
THIRDS = ("first", "second", "last")
figure = Figures("", passes_blind=True)


class Slice(NamedTuple):
    """Some calls by a property, as sentences name them; axes may have other bounds of it."""

    value: str
    words: str


@dataclass(frozen=True)
class AxisCalls:
    """The calls of an axis that gave a verdict, one row each.

    `measures` are by name, shape (calls,), NaN where a call has none; `stimulus` and `item` are
    codes from 0.
    """

    failing: Failing
    readings: Readings
    measures: Mapping[str, Floats]
    stimulus: Ints
    item: Ints

    @property
    def frame(self) -> "pd.DataFrame":
        """Their rows."""
        return self.readings.frame


@dataclass(frozen=True)
class Located:
    """Where errors gather most under one split: the axis, the slice, and the figure in both parts.

    `measure` is `error`, `change` or `lean`; `values` are those of the figure that tells of it, in
    the slice and elsewhere; where it has none, `why` says why.
    """

    axis: str
    split: str
    p: float
    measure: str
    where: Slice
    calls: int
    clusters: int
    values: tuple[float | None, float | None] = (None, None)
    unit: str = ""
    label: str = ""
    why: str = ""


@figure("p", symbol="p_where", better="")
def slice_p(found: Located) -> UnkeyedEstimate:
    """p-value of "the judge fails nowhere more than elsewhere", by one way to split the sheet.

    Calls are split by field, by length (words of the texts that are judged), by the third of the
    run, or by direction (a rising or a falling rubric; the better response first or second). How
    far a call is off by its axis's quality, and apart from that how far it differs from calls on
    the same item under other orders, is ranked within the axis. The statistic is the largest
    standardized difference of a slice from the rest, pooled over axes; whole stimuli are exchanged,
    within them items, and within these calls. It stands on the axis with the largest part in it.
    """
    method = "stimuli, items and calls exchanged, the largest difference counts, Monte Carlo"
    p = without_interval(found.p, clusters=found.clusters, method=method)
    return UnkeyedEstimate(
        f"p of failing more by {found.split}", p, {"split": found.split}, n=found.calls
    )


@figure("", better="")
def slice(found: Located) -> UnkeyedEstimate:  # noqa: A001
    """The figure of the slice in which the judge fails most, of those that `slice_p` compares.

    The note has the same figure for all other calls. It is chosen as the worst of several, so by
    itself it shows nothing: `slice_p` says whether it departs by more than chance.
    """
    here, rest = found.values
    label, dims = f"{found.label}, {found.where.words}", {"split": found.split}
    elsewhere = "unknown" if rest is None else two_digits(rest)
    if here is None:
        return absent(label, Reason("no_slice", f"{found.why}; elsewhere {elsewhere}"), dims)
    value = without_interval(here, clusters=found.clusters, method="the worst of several slices")
    note = f"elsewhere {elsewhere}"
    return UnkeyedEstimate(label, value, dims, n=found.calls, unit=found.unit, note=note)


# -- calls and what is measured of them ------------------------------------------------------------


def calls_of(failing: Failing, readings: Readings) -> AxisCalls | None:
    """The calls of an axis with what tells where the judge fails; None without a verdict."""
    frame = readings.frame
    errors = failing.errors(readings)
    read = frame["value"].notna().to_numpy()
    if not read.any():
        return None
    frame = frame[read].reset_index(drop=True)
    item = items(frame, across_arms=True)
    measures = {f"error {way}": off[read] for way, off in enumerate(errors)}
    if failing.points_by_place is not None:
        content = Content.of(frame, failing.points_by_place)
        measures |= {"change": content.changes(item), "lean": content.leans(item)}
    kept = Readings(
        frame, readings.labels, readings.temperature, readings.seed, scale=readings.scale
    )
    return AxisCalls(failing, kept, measures, cluster_codes(frame["cluster"]), item)


# -- splits ----------------------------------------------------------------------------------------


Split = Callable[[Sequence[AxisCalls]], tuple[list[Slice], list[Floats]]]
"""The axes -> the slices, and per axis which of its calls lie in them, shape (calls, slices): 1 or
0, NaN for calls that are not compared."""


def by_field(axes: Sequence[AxisCalls]) -> tuple[list[Slice], list[Floats]]:
    """The fields that the stimuli name."""
    import pandas as pd

    named = [axis.frame.get("field", pd.Series(None, axis.frame.index)) for axis in axes]
    counts: dict[str, int] = {}
    for axis, fields in zip(axes, named, strict=True):
        for name in fields.groupby(axis.stimulus).first().dropna():
            counts[name] = counts.get(name, 0) + 1
    kept = sorted(name for name, count in counts.items() if count >= FEWEST)
    slices = [Slice(name, f"on {name}") for name in kept] if len(kept) > 1 else []
    members = [
        np.where(
            fields.notna().to_numpy()[:, None],
            fields.to_numpy()[:, None] == np.array(kept, dtype=object),
            np.nan,
        ).astype(float)
        for fields in named
    ]
    return slices, members


def by_run(axes: Sequence[AxisCalls]) -> tuple[list[Slice], list[Floats]]:
    """Thirds of each axis's own calls, by whole stimuli in the order in which they were asked."""
    slices = [Slice(name, f"in the {name} third of the run") for name in THIRDS]
    return slices, [_in(axis.stimulus * 3 // (axis.stimulus.max() + 1), 3) for axis in axes]


def by_length(axes: Sequence[AxisCalls]) -> tuple[list[Slice], list[Floats]]:
    """Long and short calls, by the words of the texts that are judged in them."""
    import pandas as pd

    members = []
    for axis in axes:
        words = axis.frame.get("words", pd.Series(np.nan, axis.frame.index)).to_numpy(float)
        known = np.isfinite(words)
        cuts = np.quantile(words[known], (*LONG, 1 / 3)) if known.any() else np.zeros(3)
        inside = np.column_stack([words >= cuts[0], words >= cuts[1], words <= cuts[2]])
        members.append(np.where(known[:, None], inside, np.nan).astype(float))
    return [
        Slice("long", "where texts are long"),
        Slice("longest", "where texts are longest"),
        Slice("short", "where texts are short"),
    ], members


def by_direction(axes: Sequence[AxisCalls]) -> tuple[list[Slice], list[Floats]]:
    """Rising and falling lists of scores; pairs with the better response first or second."""
    slices = [
        Slice("rising", "where the rubric rises"),
        Slice("falling", "where the rubric falls"),
        Slice("better first", "where the better response stands first"),
        Slice("better second", "where the better response stands second"),
    ]
    return slices, [_in(_direction(axis.frame), 4) for axis in axes]


def _direction(frame: "pd.DataFrame") -> Ints:
    def direction(order: Sequence[object], better: object) -> int:
        if is_ranked(order):
            values = np.array(order, dtype=float)
            # A rotation of a rising list rises but for one step; of others all pairs are counted.
            steps = np.sign(np.diff(values)).sum()
            pairs = np.sign(values[None] - values[:, None])[np.triu_indices(len(values), 1)].sum()
            way = steps or pairs
            return -1 if way == 0 else int(way < 0)
        return 2 + list(order).index(better) if better in order else -1

    shown = frame.reindex(columns=["order", "better"])
    same = codes(shown)  # there are few different lists
    rows = shown.iloc[firsts(same)].itertuples(index=False, name=None)
    return np.array([direction(*row) for row in rows])[same]


def _in(which: Ints, slices: int) -> Floats:
    """1 in the column of each call's slice, else 0; NaN for a call in none."""
    inside = (which[:, None] == np.arange(slices)).astype(float)
    return np.where(which[:, None] >= 0, inside, np.nan)


SPLITS: Mapping[str, Split] = {
    "field": by_field,
    "run": by_run,
    "length": by_length,
    "direction": by_direction,
}


# -- the test --------------------------------------------------------------------------------------


def locate(axes: Mapping[str, AxisCalls], split: str) -> tuple[Located, Flags] | None:
    """Where the errors of a sheet gather most under a split, and which calls of its axis lie there.

    None where there is nothing to compare.
    """
    names = list(axes)
    if not names:
        return None
    slices, members = SPLITS[split]([axes[name] for name in names])
    if len(slices) < 2:
        return None
    measured: dict[str, dict[str, Errors]] = {}
    for name, member in zip(names, members, strict=True):
        axis = axes[name]
        for kind, values in axis.measures.items():
            if split == "direction" or kind != "lean":
                known = ~np.isnan(values) & ~np.isnan(member[:, 0])
                if known.any():
                    mine = Errors(
                        values[known],
                        member[known],
                        np.unique(axis.stimulus[known], return_inverse=True)[1],
                        np.unique(axis.item[known], return_inverse=True)[1],
                    )
                    measured.setdefault(kind, {})[name] = mine
    if not measured:
        return None
    rng = stream(axes[names[0]].readings.seed, "slices")
    worst = worst_slice([[*one.values()] for one in measured.values()], rng)
    if worst is None:
        return None
    kind = [*measured][worst.measure]
    name = [*measured[kind]][worst.axis]
    axis, member = axes[name], members[names.index(name)][:, worst.slice]
    found = Located(
        name,
        split,
        worst.p,
        kind.split()[0],
        slices[worst.slice],
        sum(len(one.off) for one in measured[kind].values()),
        sum(len(np.unique(one.stimulus)) for one in measured[kind].values()),
    )
    return found, member == 1
