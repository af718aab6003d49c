"""What judges said of the same pairs, side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

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
    """The verdicts of J judges on Q pairs that all of them were asked in both orders.

    Attributes
    ----------
    judges
        Length J: their names.
    axes, stimuli, pairs
        Length Q: where each pair stands.
    names
        Length Q: what its two responses are called.
    clusters
        Length Q: the cluster of its stimulus, which all near copies share.
    votes
        Shape (Q, J, 2, R): 1 where the first of the two names (in alphabetical order) was chosen,
        -1 the second, 0 neither, under each order and repeat; NaN where nothing was read.
    lost
        Shape (Q, J, 2, R): whether a call was made and gave no verdict.
    asked
        Length J: how many pairs each was asked in both orders, those included that others were not.
    better
        Shape (Q,): the same for the one that is known to be better; NaN where none is.
    """

    judges: tuple[str, ...]
    axes: tuple[str, ...]
    stimuli: tuple[str, ...]
    clusters: tuple[str, ...]
    pairs: tuple[str, ...]
    names: tuple[str, ...]
    votes: Floats
    better: Floats
    lost: NDArray[np.bool_]
    asked: tuple[int, ...]


def side_by_side(names: Sequence[str], runs: Sequence[Mapping[str, Readings]]) -> PanelVerdicts:
    """The pairs that every judge was asked; RunError where there are none."""
    tables = [_votes(readings) for readings in runs]
    without = [name for name, (votes, _) in zip(names, tables, strict=True)
               if votes.notna().to_numpy().sum() == 0]  # fmt: skip
    if without:
        raise RunError(
            "a panel decides which of two responses is better; no pair was read in both orders "
            f"by {listed(without, MOST_EXAMPLES)}; `judgesheet compare` takes scores, too"
        )
    index = sorted(set.intersection(*({*votes.index} for votes, _ in tables)), key=str)
    if not index:
        raise RunError(
            "these judges have no comparison in common that each read in both orders: probe them "
            "with the same stimuli, prompt and profile"
        )
    repeats = min(votes.columns.size for votes, _ in tables) // 2
    columns = [(order, repeat) for order in (0, 1) for repeat in range(repeats)]

    def stacked(side: Literal[0, 1]) -> Floats:
        each = [pair[side].loc[index, columns].to_numpy(dtype=np.float64) for pair in tables]
        return np.stack(each, axis=1).reshape(len(index), len(tables), 2, repeats)

    known = np.array([place[3] for place in index], dtype=np.float64)
    better = np.where(np.abs(known) == 1, known, np.nan)
    axes, stimuli, pairs, called = (tuple(str(place[at]) for place in index) for at in (0, 1, 2, 4))
    shared = _shared(runs)
    clusters = tuple(shared.get(place, place[1]) for place in zip(axes, stimuli, strict=True))
    asked = tuple(len(votes) for votes, _ in tables)
    return PanelVerdicts(tuple(names), axes, stimuli, clusters, pairs, called, stacked(0),
                    better, stacked(1) > 0, asked)  # fmt: skip


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


def _votes(readings: Mapping[str, Readings]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What was voted, and how many calls were lost.

    A row per pair (axis, stimulus, question, the better one, names), a column per order and repeat.
    """
    calls = verdicts_of(readings, lost=True).query("kind == 'pairs'")
    if calls.empty:
        return pd.DataFrame(), pd.DataFrame()
    # A pair that was asked under one order alone tells nothing that a slot could not have said.
    place = ["axis", "stimulus", "question", "better", "names"]
    grouped = calls.groupby([*place, "order", "repeat"])["number"]
    votes, made = (one.unstack(["order", "repeat"]) for one in (grouped.mean(), grouped.size()))
    if not {(0, 0), (1, 0)} <= {*made.columns}:
        return pd.DataFrame(), pd.DataFrame()
    both = made[[(0, 0), (1, 0)]].notna().all(axis=1)
    lost = made.notna() & votes.reindex(columns=made.columns).isna()
    return votes.reindex(columns=made.columns)[both], lost[both]
