"""Sets of two: both orders, and a keyed pass where they disagree (APOC, 004 section 3.5)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from judgesheet.axis import Options
from judgesheet.base.records import Call, Stimulus
from judgesheet.permutation_consensus import keyed
from judgesheet.permutation_consensus.decision import (
    Replies,
    SetDecision,
    SetReplies,
    Winners,
    set_decision,
)

TIE = "tie"
PairVerdict = str | None
"""`u`, `v` or `tie`; None where a reply is missing or cannot be read."""

Why = Literal[
    "orders_agree",
    "keyed_confirms",
    "keyed_disagrees",
    "keyed_unreadable",
    "keyed_pending",
    "estimation",  # the request asks for an estimate, so there is no keyed pass
    "one_unreadable",  # the other order calls it a tie, so there is no winner to confirm
]
"""Why a pair is decided as it is: only the first two name a winner."""


@dataclass(frozen=True, slots=True)
class Paired:
    """Two candidates, their names as the user has them, and the calls of both orders."""

    stimulus: Stimulus
    names: Mapping[str, str]
    calls: tuple[Call, Call]
    """Those that are certain from the start: the direct one, then the swapped one."""
    options: Options

    def next(self, replies: Replies, tried: Collection[str]) -> list[Call]:  # noqa: ARG002
        """The calls without a reply, as far as the replies so far give rise to them."""
        return self._answers(replies).open

    def _answers(self, replies: Replies) -> SetReplies:
        """Both orders; the judge's own answer once they disagree; the comparisons once it is there.

        The same replies give the same calls, so a run that is resumed finds them in its ledger.
        """
        both = SetReplies(self.calls, replies)
        if both.open or self._settled(*_verdicts(both)[:2]):
            return both
        solve = keyed.solve(self.stimulus, self.calls[0], self.options)
        own = SetReplies((*self.calls, solve), replies)
        if own.readings[2] is None:
            return own
        solution = replies[solve.id].text
        compared = (keyed.compare(self.stimulus, call, solution) for call in self.calls)
        return SetReplies((*own.calls, *compared), replies)

    def _settled(self, direct: PairVerdict, swapped: PairVerdict) -> Why | None:
        """Why the two orders need no keyed pass; None if one is due."""
        if direct == swapped:
            return "orders_agree"
        if not {direct, swapped} & set(self.names):
            return "one_unreadable"
        return "estimation" if keyed.is_estimation(self.stimulus.fields["request"]) else None

    def decide(self, replies: Replies) -> SetDecision:
        """The decision, and what stood in each pass."""
        answers = self._answers(replies)
        final, why = self._settle(answers)
        direct, swapped, *key = map(self._named, _verdicts(answers))
        winners, gaps = self._named(final), answers.runs().gaps
        note = f"{gaps} of {len(answers.calls)} calls" if gaps else ""
        if not winners:
            note = f"nothing is decided: {gaps or 'no verdict'} of {len(answers.calls)} calls"
        return set_decision(
            self.stimulus,
            answers,
            [direct, swapped],
            winners,
            mode="pairwise",
            candidates=tuple(self.names.values()),
            gold=self._named(self.stimulus.fields["better"]) or (),
            complete=not answers.open,
            note=note,
            swapped=swapped,
            keyed=key[0],
            keyed_swapped=key[1],
            why=why,
        )

    def _settle(self, answers: SetReplies) -> tuple[PairVerdict, Why | Literal[""]]:
        """The final verdict and why, the same whichever candidate stands first in the file.

        Orders that disagree are a tie unless the keyed pass confirms a winner that one of them
        names: either verdict alone may be that of a slot.
        """
        direct, swapped, *key = _verdicts(answers)
        if any(call in self.calls for call in answers.open) or direct == swapped is None:
            return None, ""
        # One order without a verdict says nothing of the other.
        neither = None if None in (direct, swapped) else TIE
        why = self._settled(direct, swapped)
        if why is not None:
            return (direct if why == "orders_agree" else neither), why
        if None in key:
            return neither, "keyed_pending" if answers.open else "keyed_unreadable"
        if key[0] == key[1] and key[0] in {direct, swapped} - {TIE}:
            return key[0], "keyed_confirms"
        return neither, "keyed_disagrees"

    def _named(self, verdict: PairVerdict) -> Winners:
        if verdict is None:
            return None
        return tuple(self.names.values()) if verdict == TIE else (self.names[verdict],)


def _verdicts(answers: SetReplies) -> tuple[PairVerdict, PairVerdict, PairVerdict, PairVerdict]:
    """The verdicts of both orders, then those of both keyed; an abstention is a tie."""
    verdicts: list[PairVerdict] = [
        None if said is None else call.cell["order"][int(said) - 1] if said in ("1", "2") else TIE
        for call, said in zip(answers.calls, answers.readings, strict=True)
    ]
    direct, swapped, *key = verdicts
    # Before the comparisons there is at most the judge's own answer, which names nobody.
    first, second = key[1:] or (None, None)
    return direct, swapped, first, second
