"""The arrays behind a figure: verdicts, labels, and what belongs together."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from judgesheet.base.errors import StimuliError
from judgesheet.correcting.table import JudgedRow, Table

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


def of_rows(name: str, rows: Sequence[JudgedRow]) -> Sample:
    """The rows with a verdict."""
    kept = [row for row in rows if row.verdict is not None]
    return Sample(
        name,
        tuple(row.id for row in kept),
        tuple(row.group for row in kept),
        np.array([row.verdict for row in kept], dtype=np.float64),
        np.array([row.label for row in kept], dtype=np.float64),
    )


def of_pairs(name: str, rows: Sequence[JudgedRow]) -> Sample:
    """A value per id for the system `name`: the mean over the orders in which it was shown.

    StimuliError where two rows of a pair have different labels.
    """
    by_id: defaultdict[str, list[JudgedRow]] = defaultdict(list)
    for row in rows:
        by_id[row.id].append(row)
    kept, verdicts, labels = [], [], []
    for one in by_id.values():
        judged = [row for row in one if row.verdict is not None]
        if not judged:
            continue
        kept.append(one[0])
        verdicts.append(fmean(_of(name, row, row.verdict) for row in judged))
        labels.append(_label(name, one))
    return Sample(
        name, tuple(row.id for row in kept), tuple(row.group for row in kept),
        np.array(verdicts, dtype=np.float64), np.array(labels, dtype=np.float64),
    )  # fmt: skip


def _of(name: str, row: JudgedRow, value: float | None) -> float:
    if value is None:
        return float("nan")
    return value if row.first == name else 1 - value


def _label(name: str, rows: Sequence[JudgedRow]) -> float:
    said = {_of(name, row, row.label): row for row in rows if row.label is not None}
    if len(said) > 1:
        row = list(said.values())[-1]
        names, thing = f"{row.first[:60]!r} and {row.second[:60]!r}", repr(row.id[:60])
        raise StimuliError(
            f"{row.where}: the pair of {names} on {thing} has another label above; a pair has one, "
            "in whatever order it was shown"
        )
    return next(iter(said), float("nan"))


def whole(table: Table) -> Sample:
    """The table as one sample; of pairs of two systems, the value of the first that is named.

    An id names the system, too, where several share it.
    """
    if table.paired:
        return of_pairs(table.systems[0], table.rows)
    if len(table.systems) == 1:
        return of_rows("", table.rows)
    return of_rows("", [replace(row, id=f"{row.id} ({row.system})") for row in table.rows])


def by_system(table: Table) -> list[Sample]:
    """A sample per system; StimuliError where two have no id in common."""
    samples = [
        of_rows(name, [row for row in table.rows if row.system == name]) for name in table.systems
    ]
    for at, sample in enumerate(samples):
        for earlier in samples[:at]:
            if not {*sample.ids} & {*earlier.ids}:
                where = next(row.where for row in table.rows if row.system == sample.name)
                raise StimuliError(
                    f"{where}: {sample.name[:60]!r} and {earlier.name[:60]!r} have no id in "
                    "common, so a difference would be one of the things judged, too"
                )
    return samples
