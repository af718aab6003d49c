"""Reading a score for every criterion: each exactly once, or the reply is unreadable."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from judgesheet.axes.criterion_order._names import plain
from judgesheet.axis.reply import json_objects, one_reading, whole_number

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


def scores_from(
    text: str, reply: str, order: Sequence[str], scale: int | None
) -> dict[str, int] | None:
    """Criterion -> score from 1 to `scale`, or None if it cannot be read in exactly one way.

    `order` names the criteria that were shown. Only a recorded verdict may lack a scale.
    """
    if reply == "text":
        found = _from_lines(text, order, scale)
    elif reply == "json":
        found = _from_json(text, order)
    else:  # recorded: the ledger holds the verdict itself
        found = _from_mapping(_recorded(text), order)
    low, high = (0, HIGHEST_RECORDED) if scale is None else (1, scale)
    in_range = found is not None and all(low <= score <= high for score in found.values())
    return found if in_range else None


def _from_lines(text: str, order: Sequence[str], scale: int | None) -> dict[str, int] | None:
    """A line per criterion, `[Name] N`, whatever stands before; nothing but marks after the last.

    A criterion's name with a number behind it is a reading wherever it stands: one inside a
    sentence, a second one, or a line about something else make the reply ambiguous.
    """
    wanted = {plain(name): name for name in order}
    found: dict[str, int] = {}
    for line in text[-LOOKED_AT:].splitlines():
        readings = list(_READING.finditer(line))
        if not readings and len(found) == len(wanted) and not _CLOSING.fullmatch(line):
            return None
        for match in readings:
            name = wanted.get(plain(match["name"]))
            whole = _OPENING.fullmatch(line[: match.start()]) and _CLOSING.fullmatch(
                line[match.end() :]
            )
            if name is None and not whole:
                continue
            if name is None or not whole or name in found or not _is_score(match, scale):
                return None
            found[name] = int(match["score"])
    return found if len(found) == len(wanted) else None


def _is_score(match: re.Match[str], scale: int | None) -> bool:
    """Whether the number is whole, short, and of the scale that was asked for."""
    number = match["score"]
    return number.isdecimal() and len(number) <= 4 and match["of"] in (None, str(scale))


def _from_json(text: str, order: Sequence[str]) -> dict[str, int] | None:
    """The scores of the single `{"scores": {…}}` that the text holds."""
    objects = list(json_objects(text))
    if None in objects:
        return None
    given = [obj["scores"] for obj in objects if obj is not None and "scores" in obj]
    found: dict[str, int] | None = one_reading([_from_mapping(one, order) for one in given])
    return found


def _from_mapping(given: object, order: Sequence[str]) -> dict[str, int] | None:
    """A mapping that names every criterion once and nothing else, each with a whole number."""
    if not isinstance(given, Mapping):
        return None
    wanted = {plain(name): name for name in order}
    found: dict[str, int] = {}
    for key, value in given.items():
        name, score = wanted.get(plain(str(key))), whole_number(value)
        if name is None or name in found or score is None:
            return None
        found[name] = score
    return found if len(found) == len(wanted) else None


def _recorded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
