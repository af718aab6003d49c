"""What is decided about a set, and the figures that every decision has, however it was reached."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from judgesheet.axes import get_axis
from judgesheet.axes.candidate_order import keyed
from judgesheet.records import Call, Outcome, Reply
from judgesheet.spine.ledger import SETTLING
from judgesheet.spine.parsing import read

Replies = Mapping[str, Reply]
"""The last reply to every call that was asked, by call id."""


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

    @property
    def gaps(self) -> str:
        """What a reader must know about calls without a reading; "" if there are none."""
        counts = {
            "unreadable": self.unreadable,
            "refused": self.refused,
            "failed": self.failed,
            "not asked yet": self.missing,
        }
        return ", ".join(f"{count} {what}" for what, count in counts.items() if count)


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
    winners: tuple[str, ...]
    direct: Winners
    candidates: tuple[str, ...]
    gold: tuple[str, ...]
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
        foreign = ("swapped", "keyed", "why") if self.mode == "listwise" else ("standings",)
        record: dict[str, Any] = {}
        for name, value in asdict(self).items():
            if name == "winners":
                record["winner"] = self.winner
            if name not in foreign:
                record[name] = round(value, 6) if isinstance(value, float) else value
        return record


def reading(call: Call, text: str) -> Any | None:
    """What a reply says, None if it cannot be read; a judge's own solution is its words."""
    if call.cell.get("keyed") == keyed.SOLVE:
        return text.strip() or None
    return read(get_axis(call.axis), text, call.reply, call.cell)


@dataclass(frozen=True)
class Answers:
    """The calls of a set, in plan order, with what came back."""

    calls: Sequence[Call]
    replies: Replies

    @cached_property
    def outcomes(self) -> list[Outcome | None]:
        """How each call ended; None for one without a reply."""
        found = (self.replies.get(call.id) for call in self.calls)
        return [None if reply is None else reply.outcome for reply in found]

    @cached_property
    def open(self) -> list[Call]:
        """The calls that are to be asked, for the first time or again."""
        ended = zip(self.calls, self.outcomes, strict=True)
        return [call for call, outcome in ended if outcome not in SETTLING]

    @cached_property
    def readings(self) -> list[Any | None]:
        """What each reply says; None if there is none or it cannot be read."""
        return [
            reading(call, self.replies[call.id].text) if outcome == "ok" else None
            for call, outcome in zip(self.calls, self.outcomes, strict=True)
        ]

    @property
    def attempts(self) -> int:
        """Requests, retries included."""
        return sum(self.replies[c.id].attempt for c in self.calls if c.id in self.replies)

    def runs(self, saved: int = 0) -> Runs:
        """The count of what became of the calls."""
        count, answered = self.outcomes.count, sum(one is not None for one in self.readings)
        ok, refused, missing = count("ok"), count("refused"), count(None)
        return Runs(
            planned=len(self.calls),
            answered=answered,
            unreadable=ok - answered,
            refused=refused,
            failed=len(self.calls) - ok - refused - missing,
            missing=missing - saved,
            saved=saved,
        )


def concord(choices: Sequence[Winners], winners: Winners) -> tuple[float | None, float | None]:
    """`agreement` and `order_changes` of a decision; `choices` are the calls', the direct first."""
    same = _mean_match(choices[1:], choices[0])
    return _mean_match(choices, winners), None if same is None else 1 - same


def _mean_match(choices: Sequence[Winners], winners: Winners) -> float | None:
    """Mean probability that uniform picks are the same; None where there is nothing to pick."""
    known = [
        len(set(one) & set(winners)) / (len(one) * len(winners))
        for one in choices
        if one and winners
    ]
    return fmean(known) if known else None
