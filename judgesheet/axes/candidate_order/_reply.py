"""How a reply is read: one verdict, or none."""

from collections.abc import Mapping, Sequence
from typing import Any

from judgesheet.axis.reply import json_answers, one_reading, recorded
from judgesheet.records import ReplyFormat
from judgesheet.stats.pairwise import FIRST, INVALID, SECOND, TIE

CODES: Mapping[str, int] = {
    "1": FIRST,
    "2": SECOND,
    "tie": TIE,
    "abstain": TIE,
    "invalid": INVALID,
}
"""What a verdict may be; an abstention is no preference, `invalid` exists only in recordings."""


def parse(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> str | None:  # noqa: ARG001
    """`1`, `2`, `tie` or `abstain`; None if the reply does not say exactly one of them.

    A recorded verdict may also be `invalid`: an answer outside the allowed ones.
    """
    if reply == "recorded":
        verdict = _verdict(recorded(text))
        return verdict if verdict in CODES else None
    verdict = one_reading([_verdict(winner) for winner in json_answers(text, "winner") or ()])
    # A probed judge that writes "invalid" has not answered; its reply is unreadable.
    return verdict if verdict in CODES and verdict != "invalid" else None


def chosen(verdict: str, order: Sequence[str]) -> str | None:
    """Which of the two responses a verdict favours; None for a tie."""
    return {"1": order[0], "2": order[1]}.get(verdict)


def _verdict(value: object) -> str | None:
    """A verdict as text: 1 and "1" are the same, capitals and blanks around it do not matter."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value)
    return value.strip().lower() if isinstance(value, str) else None
