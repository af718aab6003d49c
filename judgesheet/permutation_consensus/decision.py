"""The decision on a set, with the figures that lists and pairs have in common."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from judgesheet.axes import get_axis
from judgesheet.base.records import SETTLING, Call, Outcome, Reply, Stimulus
from judgesheet.measuring.parsing import reading
from judgesheet.permutation_consensus import keyed

Replies = Mapping[str, Reply]
"""The last reply to every call that was asked, by call id."""


@dataclass(frozen=True, slots=True)
class CallCounts:
    """The outcomes of the calls of a set.

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
        """The calls without a reading, counted for the reader; "" if there are none."""
        counts = {"unreadable": self.unreadable, "refused": self.refused, "failed": self.failed,
                  "not asked yet": self.missing}  # fmt: skip
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
    `agreement` is the probability that a randomly drawn call makes the same choice as the decision,
    and `order_changes` that a call under another order chooses differently from the direct one;
    ties are resolved as uniform picks. `calls` counts requests, retries included. `standings`
    belong to lists; `swapped`, `keyed`, `keyed_swapped` and `why` to pairs.
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
    runs: CallCounts
    calls: int
    complete: bool
    stopped_early: bool = False
    note: str = ""
    standings: tuple[Standing, ...] = ()
    swapped: Winners = None
    keyed: Winners = None
    keyed_swapped: Winners = None
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
        """One line of decisions.jsonl; its numbers have six decimals."""
        paired = ("swapped", "keyed", "keyed_swapped", "why")
        foreign = paired if self.mode == "listwise" else ("standings",)
        own = {name: value for name, value in asdict(self).items() if name not in foreign}
        short = json.loads(json.dumps(own), parse_float=lambda number: round(float(number), 6))
        return {"id": "", "mode": "", "source": "", "winner": self.winner, **short}


def verdict(call: Call, reply: Reply) -> Any | None:
    """What a reply says, None if it cannot be read; a judge's own solution is its words."""
    if call.cell.get("keyed") == keyed.SOLVE:
        return reply.text.strip() or None
    axis, why = get_axis(call.axis), reply.finish_reason
    return reading(axis, reply.text, call.reply, call.cell, finish_reason=why).verdict


@dataclass(frozen=True)
class SetReplies:
    """The calls of a set, in plan order, with what came back."""

    calls: Sequence[Call]
    replies: Replies

    @cached_property
    def outcomes(self) -> list[Outcome | None]:
        """How each call ended; None for one without a reply."""
        replies = (self.replies.get(call.id) for call in self.calls)
        return [None if reply is None else reply.outcome for reply in replies]

    @cached_property
    def open(self) -> list[Call]:
        """The calls that are to be asked, for the first time or again."""
        ended = zip(self.calls, self.outcomes, strict=True)
        return [call for call, outcome in ended if outcome not in SETTLING]

    @cached_property
    def readings(self) -> list[Any | None]:
        """What each reply says; None if there is none or it cannot be read."""
        return [
            verdict(call, self.replies[call.id]) if outcome == "ok" else None
            for call, outcome in zip(self.calls, self.outcomes, strict=True)
        ]

    @property
    def attempts(self) -> int:
        """Requests, retries included."""
        return sum(self.replies[c.id].attempt for c in self.calls if c.id in self.replies)

    def runs(self, saved: int = 0) -> CallCounts:
        """The count of what became of the calls."""
        answered = sum(verdict is not None for verdict in self.readings)
        ok, refused, missing = map(self.outcomes.count, ("ok", "refused", None))
        return CallCounts(
            planned=len(self.calls),
            answered=answered,
            unreadable=ok - answered,
            refused=refused,
            failed=len(self.calls) - ok - refused - missing,
            # A call that early stopping saved is not missing.
            missing=missing - saved,
            saved=saved,
        )


def set_decision(
    stimulus: Stimulus,
    answers: SetReplies,
    choices: Sequence[Winners],
    winners: Winners,
    saved: int = 0,
    **particular: Any,
) -> SetDecision:
    """What is decided about a set; `choices` are those of its calls, the direct one first."""
    # Without the direct call itself, which always agrees with itself.
    same = _mean_match(choices[1:], choices[0])
    return SetDecision(
        id=stimulus.id,
        source=stimulus.fields["source"] or "",
        winners=winners or (),
        direct=choices[0],
        agreement=_mean_match(choices, winners),
        order_changes=None if same is None else 1 - same,
        runs=answers.runs(saved),
        calls=answers.attempts,
        **particular,
    )


def _mean_match(choices: Sequence[Winners], winners: Winners) -> float | None:
    """Mean probability that uniform picks are the same; None where there is nothing to pick."""
    known = [
        len(set(chosen) & set(winners)) / (len(chosen) * len(winners))
        for chosen in choices
        if chosen and winners
    ]
    return fmean(known) if known else None
