"""The arrays behind a figure: verdicts, labels, and what belongs together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgesheet.base.errors import StimuliError
from judgesheet.correcting.table import Table

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sample:
    """Verdicts and labels of one system, or of a whole table, row by row.

    Attributes
    ----------
    name
        The system.
    ids, clusters
        Length m: what was judged, and the unit of chance that it belongs to.
    verdicts, labels
        Shape (m,); a label is NaN where there is none.
    """

    name: str
    ids: tuple[str, ...]
    clusters: tuple[str, ...]
    verdicts: Floats
    labels: Floats

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which rows have a label."""
        flags: NDArray[np.bool_] = ~np.isnan(self.labels)
        return flags

    @property
    def labelled(self) -> int:
        """How many rows have a label."""
        return int(self.known.sum())

    def aligned(self, parts: Floats, every: Sequence[str]) -> Floats:
        """Parts of the clusters of this sample, in order, among `every` cluster in order."""
        whole = np.zeros(len(every))
        whole[np.searchsorted(np.array(every), np.unique(self.clusters))] = parts
        return whole


def of_rows(name: str, rows: pd.DataFrame) -> Sample:
    """The rows with a verdict."""
    kept = rows[rows["verdict"].notna()]
    ids, groups, verdicts, labels = (kept[column] for column in ("id", "group", "verdict", "label"))
    return Sample(name, tuple(ids), tuple(groups), verdicts.to_numpy(), labels.to_numpy())


def of_pairs(name: str, rows: pd.DataFrame) -> Sample:
    """A value per id for the system `name`: the mean over the orders in which it was shown.

    StimuliError where two rows of a pair have different labels.
    """
    is_first = rows["first"] == name
    own = {part: rows[part].where(is_first, 1 - rows[part]) for part in ("verdict", "label")}
    rows = rows.assign(**own)
    by_id = rows.groupby("id", sort=False)
    known = by_id["label"].transform("first")
    for where, row in rows[rows["label"].notna() & (rows["label"] != known)].iterrows():
        names, thing = f"{row['first'][:60]!r} and {row['second'][:60]!r}", repr(row["id"][:60])
        raise StimuliError(
            f"{where}: the pair of {names} on {thing} has another label above; a pair has one, "
            "in whatever order it was shown"
        )
    each = by_id.agg({"group": "first", "verdict": "mean", "label": "first"})
    return of_rows(name, each.reset_index())


def whole(table: Table) -> Sample:
    """The table as one sample; of pairs of two systems, the value of the first that is named.

    An id names the system, too, where several share it.
    """
    rows = table.rows
    if table.paired:
        return of_pairs(table.systems[0], rows)
    if len(table.systems) > 1:
        rows = rows.assign(id=rows["id"] + " (" + rows["system"] + ")")
    return of_rows("", rows)


def by_system(table: Table) -> list[Sample]:
    """A sample per system; StimuliError where two have no id in common."""
    by_name = table.rows.groupby("system", sort=False)
    samples = [of_rows(str(name), rows) for name, rows in by_name]
    for at, sample in enumerate(samples):
        for earlier in samples[:at]:
            if not {*sample.ids} & {*earlier.ids}:
                where = by_name.get_group(sample.name).index[0]
                raise StimuliError(
                    f"{where}: {sample.name[:60]!r} and {earlier.name[:60]!r} have no id in "
                    "common, so a difference would be one of the things judged, too"
                )
    return samples
