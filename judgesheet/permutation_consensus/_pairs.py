"""Sets of two: both orders, and a keyed pass where they disagree (APOC, 004 section 3.5)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from judgesheet.axes import candidate_order
from judgesheet.axes.candidate_order import keyed
from judgesheet.axis import Options
from judgesheet.permutation_consensus._decision import (
    Answers,
    Replies,
    SetDecision,
    gaps,
    mean_match,
    picks,
)
from judgesheet.records import Call, Stimulus

TIE = "tie"
Verdict = str | None
"""`u`, `v` or `tie`; None where a reply is missing or cannot be read."""

REASONS: Mapping[str, str] = {
    "orders_agree": "both orders give this verdict",
    "keyed_confirms": "the keyed pass confirms the verdict of the swapped order",
    "keyed_disagrees": "the keyed pass does not confirm the swapped order",
    "keyed_unreadable": "the keyed pass could not be read",
    "keyed_pending": "the keyed pass is not complete yet",
    "estimation": "the request asks for an estimate, so there is no keyed pass",
    "swapped_ties": "the swapped order names no winner",
    "swapped_unreadable": "the swapped order could not be read",
}
"""Why a pair is decided as it is: but for the first two, the direct verdict stands."""


def unconfirmed(direct: Verdict, swapped: Verdict, request: str) -> str | None:
    """Why the direct verdict stands, or the orders agree, without a keyed pass; None if one is due.

    A tie is no winner that a keyed pass could confirm, so a swapped tie overrides nothing.
    """
    if swapped is None:
        return "swapped_unreadable"
    if direct == swapped:
        return "orders_agree"
    if swapped == TIE:
        return "swapped_ties"
    return "estimation" if keyed.is_estimation(request) else None


@dataclass(frozen=True)
class Paired:
    """Two candidates, their names as the user has them, and the calls of both orders."""

    stimulus: Stimulus
    names: Mapping[str, str]
    direct: Call
    swapped: Call
    options: Options

    @classmethod
    def plan(cls, stimulus: Stimulus, names: tuple[str, str], options: Options) -> "Paired":
        """The pair in both orders; `names` are those of u and v."""
        direct, swapped = candidate_order.both_orders(stimulus, options)
        return cls(stimulus, dict(zip("uv", names, strict=True)), direct, swapped, options)

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls that are certain from the start."""
        return self.direct, self.swapped

    def next(self, replies: Replies, tried: Collection[str]) -> list[Call]:  # noqa: ARG002
        """The calls without a reply, as far as the replies so far give rise to them."""
        calls = self._all(replies)
        answers = Answers(calls, replies)
        return [call for call in calls if not answers.settled(call)]

    def _all(self, replies: Replies) -> list[Call]:
        """Both orders; the judge's own answer once they disagree; the comparison once it is there.

        The same replies give the same calls, so a run that is resumed finds them in its ledger.
        """
        answers = Answers(self.calls, replies)
        calls = list(self.calls)
        if not all(map(answers.settled, calls)) or self._unconfirmed(answers):
            return calls
        solve = keyed.solve(self.stimulus, self.direct, self.options)
        solution = replies.get(solve.id)
        if solution is None or solution.outcome != "ok" or not solution.text.strip():
            return [*calls, solve]
        compare = keyed.compare(self.stimulus, self.direct, solution.text, self.options)
        return [*calls, solve, compare]

    def _unconfirmed(self, answers: Answers) -> str | None:
        direct, swapped = (_verdict(answers, call) for call in self.calls)
        return unconfirmed(direct, swapped, self.stimulus.fields["request"])

    def decide(self, replies: Replies) -> SetDecision:
        """The decision, and what stood in each pass."""
        calls = self._all(replies)
        answers = Answers(calls, replies)
        direct, swapped = (_verdict(answers, call) for call in self.calls)
        key = _verdict(answers, calls[3]) if len(calls) == 4 else None
        final, why = self._settle(answers, direct, swapped, key)
        names = tuple(self.names.values())
        each = picks([self._named(direct), self._named(swapped)], names)
        winners = self._named(final) or ()
        same = mean_match(each[1:], each[0])
        readable = [
            bool(replies[call.id].text.strip())
            if call.cell.get("keyed") == keyed.SOLVE and answers.settled(call)
            else answers.reading(call) is not None
            for call in calls
        ]
        runs = answers.runs(readable)
        trouble = ", ".join(gaps(runs))
        return SetDecision(
            id=self.stimulus.id,
            mode="pairwise",
            source=self.stimulus.fields["source"] or "",
            candidates=names,
            gold=self._named(self.stimulus.fields["better"]) or (),
            winners=winners,
            direct=self._named(direct),
            agreement=mean_match(each, picks([winners], names)[0]),
            order_changes=None if same is None else 1 - same,
            runs=runs,
            calls=answers.attempts,
            complete=all(map(answers.settled, calls)),
            note=_note(bool(winners), trouble, runs.planned),
            swapped=self._named(swapped),
            keyed=self._named(key),
            why=why,
        )

    def _settle(
        self, answers: Answers, direct: Verdict, swapped: Verdict, key: Verdict
    ) -> tuple[Verdict, str]:
        """The final verdict and why: the swapped one only where the keyed pass confirms it."""
        why = self._unconfirmed(answers)
        if why is not None:
            return direct, why if direct or swapped else ""
        if key == swapped:
            return swapped, "keyed_confirms"
        if key is not None:
            return direct, "keyed_disagrees"
        pending = not all(map(answers.settled, answers.calls))
        return direct, "keyed_pending" if pending else "keyed_unreadable"

    def _named(self, verdict: Verdict) -> tuple[str, ...] | None:
        if verdict is None:
            return None
        return tuple(self.names.values()) if verdict == TIE else (self.names[verdict],)


def _verdict(answers: Answers, call: Call) -> Verdict:
    """Which response a reply prefers; an abstention is a tie."""
    said = answers.reading(call)
    if said is None:
        return None
    return str(call.cell["order"][int(said) - 1]) if said in ("1", "2") else TIE


def _note(decided: bool, trouble: str, planned: int) -> str:
    if decided:
        return f"{trouble} of {planned} calls" if trouble else ""
    return f"nothing is decided: {trouble or 'no verdict'} of {planned} calls"
