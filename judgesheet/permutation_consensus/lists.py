"""Lists of three and more: permutation consensus over K orders (004, equations 1 to 5)."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from judgesheet.axes.listwise_consensus import golds
from judgesheet.base.records import Call, Stimulus
from judgesheet.permutation_consensus.decision import (
    CallCounts,
    Replies,
    SetDecision,
    SetReplies,
    Standing,
    Winners,
    set_decision,
)
from judgesheet.stats.consensus import Consensus, can_change, consensus

Arrays = tuple[NDArray[np.float64], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class Listed:
    """A set of three or more candidates and its K calls, the direct one first."""

    stimulus: Stimulus
    calls: tuple[Call, ...]
    early_stop: bool

    @property
    def ids(self) -> tuple[str, ...]:
        """The candidates in the order of the file."""
        return tuple(candidate["id"] for candidate in self.stimulus.fields["candidates"])

    def next(self, replies: Replies, tried: Collection[str]) -> list[Call]:
        """The calls to make now: all that are open, or with early stopping as few as may suffice.

        No decision is certain before half of the runs are read, however clear they are.
        """
        answers = SetReplies(self.calls, replies)
        if not self.early_stop:
            return answers.open
        if not can_change(consensus(*self._arrays(answers)), len(answers.open)):
            return []
        settled = len(self.calls) - len(answers.open)
        # Half of the orders at once, then one call per round: no lead is decisive earlier.
        batch = max(1, ceil(len(self.calls) / 2) - settled)
        return [call for call in answers.open if call.id not in tried][:batch]

    def decide(self, replies: Replies) -> SetDecision:
        """The decision from all runs that could be read."""
        answers = SetReplies(self.calls, replies)
        scores, uncertain = self._arrays(answers)
        together = consensus(scores, uncertain)
        singles = consensus(scores[:, None], uncertain[:, None])
        left = len(answers.open)
        stopped = self.early_stop and left > 0 and not bool(can_change(together, left))
        saved = answers.outcomes.count(None) if stopped else 0
        return set_decision(
            self.stimulus,
            answers,
            [*map(self._names, singles.winners)],
            self._names(together.winners),
            saved,
            mode="listwise",
            candidates=self.ids,
            gold=tuple(golds(self.stimulus.fields)),
            complete=stopped or left == 0,
            stopped_early=stopped,
            note=_note(answers.runs(saved)),
            standings=tuple(_standings(self.ids, together)),
        )

    def _arrays(self, answers: SetReplies) -> Arrays:
        """Scores (K, n), NaN where a run could not be read, and marks of uncertainty."""
        scores = np.full((len(self.calls), len(self.ids)), np.nan)
        uncertain = np.zeros(scores.shape, dtype=bool)
        for row, verdict in enumerate(answers.readings):
            if verdict is not None:
                scores[row] = [verdict[name]["score"] for name in self.ids]
                uncertain[row] = [verdict[name]["uncertain"] for name in self.ids]
        return scores, uncertain

    def _names(self, winners: NDArray[np.bool_]) -> Winners:
        return tuple(name for name, won in zip(self.ids, winners, strict=True) if won) or None


def _standings(ids: tuple[str, ...], result: Consensus) -> Iterator[Standing]:
    parts = (result.points, result.score, result.borda, result.top, result.uncertainty)
    for name, values in zip(ids, np.stack(parts, axis=-1), strict=True):
        yield Standing(name, *(None if np.isnan(value) else float(value) for value in values))


def _note(runs: CallCounts) -> str:
    why = runs.gaps
    if not why:
        return ""
    if runs.answered == 0:
        return f"no run could be read ({why} of {runs.planned}), so nothing is decided"
    return f"decided from {runs.answered} of {runs.planned} runs: {why}"
