"""Reading a reply: one verdict, or none."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from judgesheet.axis.documents import answers, within
from judgesheet.axis.numbers import takes_back
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

_FIRST = r"(?<![\d.])1(?!\d|\.\d)|\b(?:first|former|erste|premi[eè]r|primer|prim[ao])|第一"
_SECOND = r"(?<![\d.])2(?!\d|\.\d)|\b(?:second|latter|zweite|deuxi[eè]me|segund)|第二"
_TIE = (
    r"\b(?:tie[ds]?|draw|equal|same|both|neither|other|gleich|andere|égal|autre|igual|otr[ao])"
    "|一样|相同"
)
# What names another verdict than this one, in the commonest words of some languages.
_OTHERS: Mapping[str, re.Pattern[str]] = {
    "1": re.compile(f"{_SECOND}|{_TIE}", re.IGNORECASE),
    "2": re.compile(f"{_FIRST}|{_TIE}", re.IGNORECASE),
    "tie": re.compile(f"{_FIRST}|{_SECOND}", re.IGNORECASE),
    "abstain": re.compile(f"{_FIRST}|{_SECOND}", re.IGNORECASE),
}


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
    is_plain = verdict is not None and not _touches(found.rest, verdict)
    return Reading(verdict, found.alone) if is_plain else None


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


def _touches(words: str, verdict: str) -> bool:
    """Whether words behind a verdict take it back or name another one."""
    return takes_back(words) or _OTHERS[verdict].search(words) is not None


def _verdict(value: object) -> str | None:
    """A verdict as replies spell it: 1, "1", "Response 1", "first"."""
    # `true` is 1 to Python, and says nothing about a slot.
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    spelled = _SPELLED.fullmatch(str(value).casefold().strip(_MARKS))
    if spelled is None:
        return None
    verdict = next(verdict for name, verdict in _VERDICTS.items() if spelled[name])
    return None if _touches(spelled["remark"] or "", verdict) else verdict


def _recorded(value: object) -> str | None:
    """A recorded verdict as text: 1 and "1" are the same, capitals and blanks do not matter."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value)
    return value.strip().lower() if isinstance(value, str) else None
