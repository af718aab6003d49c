"""What is said of an axis none of whose calls gave a verdict: not asked, failed, refused, unread.

The four are different faults, of the run, of the endpoint, of the judge and of its format, and
each has its own remedy.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from judgesheet.axis.statements import Tone
from judgesheet.base.records import Recommendation, Statement

ENOUGH_ASKED = 0.95
"""Share of the planned calls that must be settled before anything is recommended."""
_WORDS = {
    "unreadable": "No reply could be read",
    "refused": "Every call was refused",
    "failed": "Every call failed",
}
_STOPS = ("unreadable", "refused")
_REMEDIES = {
    "unreadable": "Do not use it as it was asked: no reply could be read.",
    "refused": "Do not use it as it was asked: it refuses every call.",
    "failed": "Find out why every call failed, and give the same command again: nothing is known "
    "about the judge.",
}


@dataclass(frozen=True, slots=True)
class CallOutcomes:
    """The calls of an axis by their end."""

    planned: int
    answered: int
    unreadable: int
    refused: int
    failed: int

    @property
    def made(self) -> int:
        """Those that were settled, one way or another."""
        return self.answered + self.unreadable + self.refused + self.failed

    @property
    def lost(self) -> dict[str, int]:
        """How many gave no verdict, by kind, the most frequent first; without kinds of none."""
        kinds = {name: getattr(self, name) for name in _WORDS}
        ranked = sorted(kinds.items(), key=lambda kind: -kind[1])
        return {name: number for name, number in ranked if number}


def find(calls: CallOutcomes, evidence: tuple[str, ...] = ()) -> Statement:
    """Why nothing is known; `evidence` are keys of figures without a value for it."""
    if not calls.made:
        text = f"Not asked yet: none of its {calls.planned} calls was made."
        return Statement(text, evidence, "unknown")
    lost = calls.lost
    words = _WORDS[next(iter(lost))] if len(lost) == 1 else "No call gave a verdict"
    counts = ", ".join(f"{number} {name}" for name, number in lost.items())
    # A call that failed is the endpoint's fault, a reply that cannot be read the judge's.
    tone: Tone = "unknown" if [*lost] == ["failed"] else "bad"
    text = f"{words} ({counts}), so nothing is known on this axis."
    return Statement(text, evidence, tone, stops=_commonest(calls) in _STOPS)


def _commonest(calls: CallOutcomes) -> str:
    """The most frequent fault."""
    return next(iter(calls.lost), "")


def recommend(axis: str, calls: CallOutcomes) -> Iterator[Recommendation]:
    """What to do about the most frequent fault."""
    if kind := _commonest(calls):
        yield Recommendation(axis, _REMEDIES[kind], (), stops=kind in _STOPS)
