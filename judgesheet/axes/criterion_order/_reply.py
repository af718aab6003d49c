"""Reading a score for every criterion: each exactly once, or the reply is unreadable."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from judgesheet.axis.afterwords import is_denied, takes_back
from judgesheet.axis.answer import answer
from judgesheet.axis.documents import answers
from judgesheet.axis.numbers import BRACKET, named_numbers, plain, supports
from judgesheet.axis.reply import Reading, displayed, one_reading, recorded, score_in, whole_number
from judgesheet.base.records import ReplyFormat

HIGHEST_RECORDED = 100
"""The highest score of a recorded verdict whose cell does not name its scale."""


def reading(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> Reading | None:
    """The score of every criterion; None if the reply does not give each in exactly one way.

    Scores are from 1 to the cell's `scale`, which only a recorded verdict may lack.
    """
    order, scale = cell["order"], cell.get("scale")
    # Recorded scales may begin at 0; ours, which a prompt prints, never do.
    low, high = (0, HIGHEST_RECORDED) if scale is None else (1, scale)
    if reply == "text":
        found = _from_lines(text, order, high)
    elif reply == "json":
        found = _from_json(text, order, high)
    else:
        found = Reading(_from_mapping(recorded(text), order, whole_number))
    if found is None or found.value is None:
        return None
    return found if all(low <= score <= high for score in found.value.values()) else None


def parse(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> dict[str, int] | None:
    """What `reading` finds, without where it stands."""
    found = reading(text, reply, cell)
    return found.value if found else None


def gives(scores: Mapping[str, int], order: Sequence[str]) -> list[float]:
    """The scores of the criteria, in displayed order."""
    return [float(scores[name]) for name in order]


def parts(cell: Mapping[str, Any]) -> Iterator[Mapping[str, str]]:
    """Per criterion, in displayed order, what a pattern of the user's own may call it."""
    return displayed(cell["order"])


def _from_lines(text: str, order: Sequence[str], scale: int) -> Reading | None:
    """A line per criterion, `[Name] N`, whatever stands before; nothing but reasons after the last.

    A criterion's name with a number behind it is a reading wherever it stands: one inside a
    sentence, a second one, or a line about something else make the reply ambiguous.
    """
    words = answer(text)
    named, rest = named_numbers(words, _by_plain_name(order), scale)
    given = [one for one in named if one.name is not None or (one.begins and one.ends)]
    scores = {one.name: one.number for one in given if one.begins and one.ends}
    is_whole = len(given) == len(scores) == len(order) and None not in {*scores, *scores.values()}
    begun = any(plain(one["name"]) in _by_plain_name(order) for one in BRACKET.finditer(rest))
    if not is_whole or begun or not supports(rest, None, scale):
        return None
    if takes_back(words[given[0].place[0] : given[-1].place[0]]):
        return None
    return Reading(scores, all(one.alone for one in given) and not rest.strip())


def _from_json(text: str, order: Sequence[str], scale: int) -> Reading | None:
    """The object `{"scores": {"Name": N, …}}`, and no words behind it that touch it."""
    found = answers(text, "scores")
    if found is None or not supports(found.rest, None, scale) or is_denied(found.before):
        return None
    if any(map(takes_back, found.reasons(behind=True))):
        return None
    read = partial(score_in, largest=scale)
    scores = [_from_mapping(_as_mapping(given), order, read) for given in found.values]
    return Reading(one_reading(scores), found.alone)


def _as_mapping(given: object) -> object:
    """The scores that a list of objects gives, `{"name": "Depth", "score": 4}`, by their names."""
    if not isinstance(given, list) or not all(isinstance(one, Mapping) for one in given):
        return given
    by_name = {str(one.get("name", one.get("criterion"))): one for one in given}
    # A criterion that is named twice has two scores.
    return by_name if len(by_name) == len(given) else None


def _from_mapping(
    given: object, order: Sequence[str], read: Callable[[Any], int | None]
) -> dict[str, int] | None:
    """A mapping that names every criterion once and nothing else, each with a whole number."""
    if not isinstance(given, Mapping):
        return None
    wanted = _by_plain_name(order)
    scores: dict[str, int] = {}
    for key, value in given.items():
        name, score = wanted.get(plain(str(key))), read(value)
        # One wrong entry makes the whole reply unreadable: which were lost would depend on the
        # scores.
        if name is None or name in scores or score is None:
            return None
        scores[name] = score
    return scores if len(scores) == len(wanted) else None


def _by_plain_name(order: Sequence[str]) -> dict[str, str]:
    return {plain(name): name for name in order}
