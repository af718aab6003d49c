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
    "swapped_ties",
    "swapped_unreadable",
]
"""Why a pair is decided as it is: but for the first two, the direct verdict stands."""


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
        """Both orders; the judge's own answer once they disagree; the comparison once it is there.

        The same replies give the same calls, so a run that is resumed finds them in its ledger.
        """
        both = SetReplies(self.calls, replies)
        if both.open or self._unconfirmed(*_verdicts(both)[:2]):
            return both
        solve = keyed.solve(self.stimulus, self.calls[0], self.options)
        own = SetReplies((*self.calls, solve), replies)
        if own.readings[2] is None:
            return own
        solution = replies[solve.id].text
        compare = keyed.compare(self.stimulus, self.calls[0], solution)
        return SetReplies((*own.calls, compare), replies)

    def _unconfirmed(self, direct: PairVerdict, swapped: PairVerdict) -> Why | None:
        """Why the decision needs no keyed pass; None if one is due.

        A keyed pass can only confirm a winner, so a swapped tie overrides nothing.
        """
        if swapped is None:
            return "swapped_unreadable"
        if direct == swapped:
            return "orders_agree"
        if swapped == TIE:
            return "swapped_ties"
        return "estimation" if keyed.is_estimation(self.stimulus.fields["request"]) else None

    def decide(self, replies: Replies) -> SetDecision:
        """The decision, and what stood in each pass."""
        answers = self._answers(replies)
        final, why = self._settle(answers)
        direct, swapped, key = map(self._named, _verdicts(answers))
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
            keyed=key,
            why=why,
        )

    def _settle(self, answers: SetReplies) -> tuple[PairVerdict, Why | Literal[""]]:
        """The final verdict and why: the swapped one only where the keyed pass confirms it."""
        direct, swapped, key = _verdicts(answers)
        # First of all: most pairs agree, and need no keyed pass.
        why = self._unconfirmed(direct, swapped)
        if why is not None:
            return direct, why if direct or swapped else ""
        if key is None:
            return direct, "keyed_pending" if answers.open else "keyed_unreadable"
        return (swapped, "keyed_confirms") if key == swapped else (direct, "keyed_disagrees")

    def _named(self, verdict: PairVerdict) -> Winners:
        if verdict is None:
            return None
        return tuple(self.names.values()) if verdict == TIE else (self.names[verdict],)


def _verdicts(answers: SetReplies) -> tuple[PairVerdict, PairVerdict, PairVerdict]:
    """The direct, the swapped and the keyed verdict; an abstention is a tie."""
    verdicts: list[PairVerdict] = [
        None if said is None else call.cell["order"][int(said) - 1] if said in ("1", "2") else TIE
        for call, said in zip(answers.calls, answers.readings, strict=True)
    ]
    return verdicts[0], verdicts[1], verdicts[3] if len(verdicts) == 4 else None
