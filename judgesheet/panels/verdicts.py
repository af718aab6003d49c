"""What judges said of the same pairs, side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgesheet.axis import Readings
from judgesheet.base.errors import RunError
from judgesheet.base.limits import MOST_EXAMPLES
from judgesheet.base.sanitize import listed
from judgesheet.decide.agreement import verdicts_of

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PanelVerdicts:
    """The verdicts of J judges on Q pairs that all of them read in both orders.

    Attributes
    ----------
    judges
        Length J: their names.
    axes, stimuli, pairs
        Length Q: where each pair stands.
    clusters
        Length Q: the cluster of its stimulus, which all near copies share.
    votes
        Shape (Q, J, 2, R): 1 where the first of the two names (in alphabetical order) was chosen,
        -1 the second, 0 neither, under each order and repeat; NaN where nothing was read.
    better
        Shape (Q,): the same for the one that is known to be better; NaN where none is.
    """

    judges: tuple[str, ...]
    axes: tuple[str, ...]
    stimuli: tuple[str, ...]
    clusters: tuple[str, ...]
    pairs: tuple[str, ...]
    votes: Floats
    better: Floats


def side_by_side(names: Sequence[str], runs: Sequence[Mapping[str, Readings]]) -> PanelVerdicts:
    """The pairs that every judge read; RunError where there are none."""
    tables = [_votes(readings) for readings in runs]
    common = set.intersection(*({*table.index} for table in tables))
    index = sorted(common, key=str)
    without = [name for name, table in zip(names, tables, strict=True) if table.empty]
    if without:
        raise RunError(
            "a panel decides which of two responses is better; no pair was read in both orders "
            f"by {listed(without, MOST_EXAMPLES)}; `judgesheet compare` takes scores, too"
        )
    if not index:
        raise RunError(
            "these judges have no comparison in common that each read in both orders: probe them "
            "with the same stimuli, prompt and profile"
        )
    repeats = min(table.columns.size for table in tables) // 2
    columns = [(order, repeat) for order in (0, 1) for repeat in range(repeats)]
    votes = np.stack(
        [table.loc[index, columns].to_numpy(dtype=np.float64) for table in tables], axis=1
    ).reshape(len(index), len(tables), 2, repeats)
    known = np.array([place[3] for place in index], dtype=np.float64)
    better = np.where(np.abs(known) == 1, known, np.nan)
    axes, stimuli, pairs = (tuple(str(place[at]) for place in index) for at in range(3))
    shared = _shared(runs)
    clusters = tuple(shared.get(place, place[1]) for place in zip(axes, stimuli, strict=True))
    return PanelVerdicts(tuple(names), axes, stimuli, clusters, pairs, votes, better)


def _shared(runs: Sequence[Mapping[str, Readings]]) -> dict[tuple[str, str], str]:
    """(axis, stimulus) -> its cluster, of those that share one in any of the runs."""
    return {
        (axis, stimulus): cluster
        for readings in runs
        for axis, one in readings.items()
        for cluster, stimuli in one.clusters.items()
        for stimulus in stimuli
        if len(stimuli) > 1
    }


def _votes(readings: Mapping[str, Readings]) -> pd.DataFrame:
    """A row per pair (axis, stimulus, question, the better one), a column per order and repeat."""
    calls = verdicts_of(readings).query("kind == 'pairs'")
    if calls.empty:
        return pd.DataFrame()
    # A pair that was read under one order alone tells nothing that a slot could not have said.
    place = ["axis", "stimulus", "question", "better"]
    table = calls.groupby([*place, "order", "repeat"])["number"].mean().unstack(["order", "repeat"])
    first = table[[(0, 0), (1, 0)]] if {(0, 0), (1, 0)} <= {*table.columns} else table[[]]
    return table[first.notna().all(axis=1)] if first.columns.size else pd.DataFrame()
