"""Reading a score for every criterion: each exactly once, or the reply is unreadable."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgesheet.axes.criterion_order._names import plain
from judgesheet.axis.reply import displayed, json_answers, one_reading, recorded, whole_number
from judgesheet.records import ReplyFormat

LOOKED_AT = 200_000
"""Characters of a reply that are looked at; nothing longer is an answer."""
HIGHEST_RECORDED = 100
"""The highest score of a recorded verdict whose cell does not name its scale."""

# A reading: a name in brackets, then a number, perhaps wrapped: "**[Depth]**: 4/5", "[Depth] - 4".
_READING = re.compile(
    r"""\[(?P<name>[^\[\]]{1,100})\]
    (?:[ \t:*_`"'(\[{=\u2013\u2014]|-(?=[ \t]))*
    (?P<score>[0-9]{1,9}(?:[.,][0-9]{1,9})?)
    (?:[ \t]*/[ \t]*(?P<of>[0-9]{1,9}))?""",
    re.VERBOSE,
)
# What may stand before a reading on its line; bounded, since two runs of marks backtrack.
_OPENING = re.compile(r"""[\s>*_`"'(\u2022+-]{0,40}(?:[0-9]{1,2}[.)])?[\s*_`"'(]{0,40}""")
_CLOSING = re.compile(r"""[\s*_`"')\]}.,;]*""")


def parse(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> dict[str, int] | None:
    """The score of every criterion; None if the reply does not give each in exactly one way.

    Scores are from 1 to the cell's `scale`, which only a recorded verdict may lack.
    """
    order, scale = cell["order"], cell.get("scale")
    if reply == "text":
        scores = _from_lines(text, order, scale)
    elif reply == "json":
        answers = json_answers(text, "scores") or ()
        scores = one_reading([_from_mapping(answer, order) for answer in answers])
    else:
        scores = _from_mapping(recorded(text), order)
    low, high = (0, HIGHEST_RECORDED) if scale is None else (1, scale)
    in_range = scores is not None and all(low <= score <= high for score in scores.values())
    return scores if in_range else None


def chosen(scores: Mapping[str, int], order: Sequence[str]) -> str | None:
    """The criterion that scores highest; None where several do."""
    best = max(scores[name] for name in order)
    top = [name for name in order if scores[name] == best]
    return top[0] if len(top) == 1 else None


def parts(cell: Mapping[str, Any]) -> Iterator[Mapping[str, str]]:
    """Per criterion, in displayed order, what a pattern of the user's own may call it."""
    return displayed(cell["order"])


def _from_lines(text: str, order: Sequence[str], scale: int | None) -> dict[str, int] | None:
    """A line per criterion, `[Name] N`, whatever stands before; nothing but marks after the last.

    A criterion's name with a number behind it is a reading wherever it stands: one inside a
    sentence, a second one, or a line about something else make the reply ambiguous.
    """
    wanted = {plain(name): name for name in order}
    scores: dict[str, int] = {}
    for line in text[-LOOKED_AT:].splitlines():
        readings = list(_READING.finditer(line))
        if not readings and len(scores) == len(wanted) and not _CLOSING.fullmatch(line):
            return None
        for reading in readings:
            name = wanted.get(plain(reading["name"]))
            before, after = line[: reading.start()], line[reading.end() :]
            alone = _OPENING.fullmatch(before) and _CLOSING.fullmatch(after)
            if name is None and not alone:
                continue
            if name is None or not alone or name in scores or not _is_score(reading, scale):
                return None
            scores[name] = int(reading["score"])
    return scores if len(scores) == len(wanted) else None


def _is_score(reading: re.Match[str], scale: int | None) -> bool:
    """Whether the number is whole, short, and of the scale that was asked for."""
    number = reading["score"]
    return number.isdecimal() and len(number) <= 4 and reading["of"] in (None, str(scale))


def _from_mapping(given: object, order: Sequence[str]) -> dict[str, int] | None:
    """A mapping that names every criterion once and nothing else, each with a whole number."""
    if not isinstance(given, Mapping):
        return None
    wanted = {plain(name): name for name in order}
    scores: dict[str, int] = {}
    for key, value in given.items():
        name, score = wanted.get(plain(str(key))), whole_number(value)
        if name is None or name in scores or score is None:
            return None
        scores[name] = score
    return scores if len(scores) == len(wanted) else None
