"""Lists of three and more: permutation consensus over K orders (004, equations 1 to 5)."""

from collections.abc import Collection
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from judgesheet.axes import listwise_consensus
from judgesheet.axis import Options
from judgesheet.permutation_consensus.decision import (
    Answers,
    Replies,
    Runs,
    SetDecision,
    Standing,
    Winners,
    concord,
)
from judgesheet.records import Call, Stimulus
from judgesheet.stats.consensus import Consensus, can_change, consensus
from judgesheet.stats.orders import spread_orders

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Listed:
    """A set of three or more candidates and its K calls, the direct one first."""

    stimulus: Stimulus
    calls: tuple[Call, ...]
    early_stop: bool

    @classmethod
    def plan(
        cls,
        stimulus: Stimulus,
        k: int,
        options: Options,
        rng: np.random.Generator,
        *,
        early_stop: bool,
    ) -> "Listed":
        """The set under K orders, or all there are if that is fewer."""
        orders = spread_orders(len(stimulus.fields["candidates"]), k, rng)
        calls = tuple(listwise_consensus.lists(stimulus, orders, options))
        return cls(stimulus, calls, early_stop)

    @property
    def ids(self) -> tuple[str, ...]:
        """The candidates in the order of the file."""
        return tuple(one["id"] for one in self.stimulus.fields["candidates"])

    def next(self, replies: Replies, tried: Collection[str]) -> list[Call]:
        """The calls to make now: all that are open, or with early stopping as few as may suffice.

        No decision is certain before half of the runs are read, however clear they are.
        """
        answers = Answers(self.calls, replies)
        if not self.early_stop:
            return answers.open
        found = consensus(*self._arrays(answers))
        if not can_change(found, len(answers.open)):
            return []
        settled = len(self.calls) - len(answers.open)
        batch = max(1, ceil(len(self.calls) / 2) - settled)
        return [call for call in answers.open if call.id not in tried][:batch]

    def decide(self, replies: Replies) -> SetDecision:
        """The decision from all runs that could be read."""
        answers = Answers(self.calls, replies)
        scores, uncertain = self._arrays(answers)
        found = consensus(scores, uncertain)
        singles = consensus(scores[:, None], uncertain[:, None])
        choices, winners = [*map(self._names, singles.winners)], self._names(found.winners)
        open_ = len(answers.open)
        stopped = self.early_stop and open_ > 0 and not bool(can_change(found, open_))
        runs = answers.runs(saved=answers.outcomes.count(None) if stopped else 0)
        agreement, order_changes = concord(choices, winners)
        return SetDecision(
            id=self.stimulus.id,
            mode="listwise",
            source=self.stimulus.fields["source"],
            winners=winners or (),
            direct=choices[0],
            candidates=self.ids,
            gold=tuple(listwise_consensus.golds(self.stimulus.fields)),
            agreement=agreement,
            order_changes=order_changes,
            runs=runs,
            calls=answers.attempts,
            complete=stopped or open_ == 0,
            stopped_early=stopped,
            note=_note(runs),
            standings=tuple(_standings(self.ids, found)),
        )

    def _arrays(self, answers: Answers) -> "tuple[Floats, Flags]":
        """Scores (K, n), NaN where a run could not be read, and marks of uncertainty."""
        scores = np.full((len(self.calls), len(self.ids)), np.nan)
        uncertain = np.zeros(scores.shape, dtype=bool)
        for row, verdict in enumerate(answers.readings):
            if verdict is not None:
                scores[row] = [verdict[one]["score"] for one in self.ids]
                uncertain[row] = [verdict[one]["uncertain"] for one in self.ids]
        return scores, uncertain

    def _names(self, winners: "Flags") -> Winners:
        return tuple(one for one, won in zip(self.ids, winners, strict=True) if won) or None


def _standings(ids: tuple[str, ...], found: Consensus) -> "list[Standing]":
    parts = (found.points, found.score, found.borda, found.top, found.uncertainty)
    return [
        Standing(one, *(None if np.isnan(value) else round(float(value), 6) for value in values))
        for one, values in zip(ids, np.stack(parts, axis=-1), strict=True)
    ]


def _note(runs: Runs) -> str:
    why = runs.gaps
    if not why:
        return ""
    if runs.answered == 0:
        return f"no run could be read ({why} of {runs.planned}), so nothing is decided"
    return f"decided from {runs.answered} of {runs.planned} runs: {why}"
