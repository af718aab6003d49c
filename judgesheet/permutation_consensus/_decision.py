"""What is decided about a set, and the figures that every decision has, however it was reached."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgesheet.axes import get_axis
from judgesheet.records import Call, Reply
from judgesheet.spine.ledger import is_settled
from judgesheet.spine.parsing import read

Replies = Mapping[str, Reply]
"""The last reply to every call that was asked, by call id."""
Pick = NDArray[np.float64]
"""Probability of each candidate under a uniform pick among the winners; NaN where nobody wins."""


@dataclass(frozen=True, slots=True)
class Runs:
    """What became of the calls of a set.

    `planned` = `answered` (readable) + `unreadable` + `refused` + `failed` + `missing` (no reply
    yet) + `saved` (not needed any more).
    """

    planned: int
    answered: int
    unreadable: int
    refused: int
    failed: int
    missing: int
    saved: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """A candidate in equations 1 to 5 of 004.

    `consensus`, `score` and `borda` run from 0 to 100, the two shares from 0 to 1; None where no
    run could be read.
    """

    id: str
    consensus: float | None
    score: float | None
    borda: float | None
    top_share: float | None
    uncertainty_share: float | None


Winners = tuple[str, ...] | None
"""Ids of the winners: one, or several that tie; None where a reply is missing or unreadable."""


@dataclass(frozen=True, slots=True)
class SetDecision:
    """What is decided about one set.

    `winner` is the single winner, None for a tie or where nothing could be decided; `winners` holds
    all that tie. `direct` is what the first call, in the order of the file, chose by itself.
    `agreement` is the probability that a call, drawn at random, chooses as the decision does, and
    `order_changes` that a call under another order chooses otherwise than the direct one; ties are
    resolved as uniform picks. `calls` counts requests, retries included. `standings` belong to
    lists, `swapped`, `keyed` and `why` to pairs.
    """

    id: str
    mode: str
    source: str
    candidates: tuple[str, ...]
    gold: tuple[str, ...]
    winners: tuple[str, ...]
    direct: Winners
    agreement: float | None
    order_changes: float | None
    runs: Runs
    calls: int
    complete: bool
    stopped_early: bool = False
    note: str = ""
    standings: tuple[Standing, ...] = ()
    swapped: Winners = None
    keyed: Winners = None
    why: str = ""

    @property
    def winner(self) -> str | None:
        """The single winner."""
        return self.winners[0] if len(self.winners) == 1 else None

    def hit(self, winners: Winners) -> float:
        """Probability that a uniform pick among winners is right; NaN where there are none."""
        if not winners:
            return float("nan")
        return len(set(winners) & set(self.gold)) / len(winners)

    def as_record(self) -> dict[str, Any]:
        """One line of decisions.jsonl."""
        everything = asdict(self)
        other = {"swapped", "keyed", "why"} if self.mode == "listwise" else {"standings"}
        names = ("id", "mode", "source", "winner", "winners", "direct", *everything)
        content = {**everything, "winner": self.winner}
        return {name: _rounded(content[name]) for name in dict.fromkeys(names) if name not in other}


def _rounded(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value


@dataclass(frozen=True)
class Answers:
    """The calls of a set, in plan order, with what came back."""

    calls: Sequence[Call]
    replies: Replies
    saved: int = 0

    def settled(self, call: Call) -> bool:
        """Whether the call is never asked again."""
        reply = self.replies.get(call.id)
        return reply is not None and is_settled(reply.outcome)

    def reading(self, call: Call) -> Any | None:
        """What the axis reads in the reply; None if there is none or it cannot be read."""
        reply = self.replies.get(call.id)
        if reply is None or reply.outcome != "ok":
            return None
        return read(get_axis(call.axis), reply.text, call.reply, call.cell)

    @cached_property
    def attempts(self) -> int:
        """Requests, retries included."""
        return sum(self.replies[c.id].attempt for c in self.calls if c.id in self.replies)

    def runs(self, readable: Sequence[bool]) -> Runs:
        """The count of what became of the calls; `readable` has an entry per call."""
        outcomes = [
            self.replies[c.id].outcome if c.id in self.replies else None for c in self.calls
        ]
        ok, refused = outcomes.count("ok"), outcomes.count("refused")
        missing, answered = outcomes.count(None), sum(readable)
        return Runs(
            planned=len(outcomes),
            answered=answered,
            unreadable=ok - answered,
            refused=refused,
            failed=len(outcomes) - ok - refused - missing,
            missing=missing - self.saved,
            saved=self.saved,
        )


def picks(winners: Sequence[Winners], candidates: Sequence[str]) -> Pick:
    """Uniform picks among winners, one row each; NaN rows where there are none."""
    rows = np.full((len(winners), len(candidates)), np.nan)
    for row, names in zip(rows, winners, strict=True):
        if names:
            row[:] = [(one in names) / len(names) for one in candidates]
    return rows


def mean_match(runs: Pick, decision: Pick) -> float | None:
    """Mean probability that a run and the decision pick the same; None if there is no such run."""
    matches = runs @ decision
    known = matches[~np.isnan(matches)]
    return float(known.mean()) if known.size else None


def gaps(runs: Runs) -> Iterator[str]:
    """What a reader must know about calls without a reading, as half-sentences."""
    for count, what in (
        (runs.unreadable, "unreadable"),
        (runs.refused, "refused"),
        (runs.failed, "failed"),
        (runs.missing, "not asked yet"),
    ):
        if count:
            yield f"{count} {what}"
