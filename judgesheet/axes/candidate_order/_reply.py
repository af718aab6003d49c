"""Reading a reply: one verdict, or none."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from judgesheet.axes.candidate_order._preference import (
    praises_another,
    prefers_another,
    supports,
)
from judgesheet.axis.afterwords import is_denied, takes_back
from judgesheet.axis.documents import answers, within
from judgesheet.axis.reply import Reading, one_reading, recorded
from judgesheet.base.records import ReplyFormat
from judgesheet.stats.pairwise import FIRST, INVALID, SECOND, TIE

CODES: Mapping[str, int] = {
    "1": FIRST,
    "2": SECOND,
    "tie": TIE,
    "abstain": TIE,
    "invalid": INVALID,
}
"""What a verdict may be; an abstention is no preference, `invalid` exists only in recordings."""

_SPELLED = re.compile(
    r"""(?:winner:\s|it['’]s\s)? (?:the\s|a\s)? (?:(?:response|answer|candidate)[\s_-]?)? \#?
    (?: (?P<first>1(?:\.0|st)?|one|first) | (?P<second>2(?:\.0|nd)?|two|second)
      | (?P<tie>tie|draw|equal) | (?P<abstain>abstain) )
    (?:\s(?:response|answer|one))? (?:\s(?:is|wins)\b(?:\s(?:the\s)?(?:better|winner))?)?
    (?:\s*\((?P<remark>[^()]*)\))?""",
    re.VERBOSE,
)
_VERDICTS = {"first": "1", "second": "2", "tie": "tie", "abstain": "abstain"}
_MARKS = " \t\n*_`\"'.,;:#[]{}<>"


def reading(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> Reading | None:  # noqa: ARG001
    """`1`, `2`, `tie` or `abstain`; None if the reply does not say exactly one of them.

    A recorded verdict may also be `invalid`: an answer outside the allowed ones.
    """
    if reply == "recorded":
        verdict = _recorded(recorded(text))
        return Reading(verdict) if verdict in CODES else None
    found = answers(text, "winner")
    if found is None:
        return None
    verdict = one_reading([within(winner, _verdict) for winner in found.values])
    if verdict is None or is_denied(found.before) or not supports(found.rest, verdict):
        return None
    for reason in found.reasons():
        if prefers_another(reason, verdict) or praises_another(reason, verdict):
            return None
    if any(map(takes_back, found.reasons(behind=True))):
        return None
    return Reading(verdict, found.alone)


def parse(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> str | None:
    """What `reading` finds, without where it stands."""
    found = reading(text, reply, cell)
    return found.value if found else None


def chosen(verdict: str, order: Sequence[str]) -> str | None:
    """Which of the two responses a verdict favours; None for a tie."""
    return {"1": order[0], "2": order[1]}.get(verdict)


def gives(verdict: str, order: Sequence[str]) -> list[float]:  # noqa: ARG001
    """What a verdict gives to each of the responses, in displayed order."""
    return [float(verdict == "1"), float(verdict == "2")]


def _verdict(value: object) -> str | None:
    """A verdict as replies spell it: 1, "1", "Response 1", "first"."""
    # `true` is 1 to Python, and says nothing about a slot.
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    spelled = _SPELLED.fullmatch(str(value).casefold().strip(_MARKS))
    if spelled is None:
        return None
    verdict = next(verdict for name, verdict in _VERDICTS.items() if spelled[name])
    return verdict if supports(spelled["remark"] or "", verdict) else None


def _recorded(value: object) -> str | None:
    """A recorded verdict as text: 1 and "1" are the same, capitals and blanks do not matter."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value)
    return value.strip().lower() if isinstance(value, str) else None
