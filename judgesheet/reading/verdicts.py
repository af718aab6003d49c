"""The rule of reading, for whatever kind of verdict: all marks hold the same one value."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from judgesheet.base.scale import Scale
from judgesheet.reading import NO_VERDICT, OFF_SCALE, TWO_VERDICTS, Reading
from judgesheet.reading.marks import marks, spelled_point
from judgesheet.reading.objects import UnclearError, held, within
from judgesheet.reading.reasoning import answer

RESULT = ("result",)
"""The plain name of the mark of one score."""


def recorded(text: str) -> Any | None:
    """The verdict that a ledger of recordings holds in place of a reply; None if not valid JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def without_verdict(words: str) -> dict[str, str]:
    """The recorded verdict of a reply in which nothing was read, with what stands in its place."""
    return {"unreadable": words}


def has_verdict(recorded_verdict: object) -> bool:
    """Whether a recorded verdict is one: null, and what `without_verdict` makes, are not."""
    is_lost = isinstance(recorded_verdict, Mapping) and recorded_verdict.keys() == {"unreadable"}
    return recorded_verdict is not None and not is_lost


def score_in(value: object, scale: Scale) -> int | None:
    """The point of the scale under a key: 4, "4", "4/5", [4], {"value": 4, "reason": "…"}."""

    def read(one: Any) -> int | None:
        return spelled_point(one, scale) if isinstance(one, str) else scale.point(one)

    return within(value, read)


def agreed(values: Sequence[Any], otherwise: Reading = OFF_SCALE) -> Reading:
    """The reading of all marks together.

    Parameters
    ----------
    values
        What each mark of a reply says; None where that is no verdict.
    otherwise
        The reading where no mark says one.
    """
    if not values:
        return NO_VERDICT
    if any(one != values[0] for one in values):
        return TWO_VERDICTS
    return otherwise if values[0] is None else Reading(values[0])


def under_key(
    text: str, key: str, read: Callable[[Any], Any | None], otherwise: Reading = OFF_SCALE
) -> Reading:
    """What a reply says under a key of its JSON objects; `read` turns a value into a verdict."""
    try:
        return agreed([read(value) for value in held(answer(text), key)], otherwise)
    except UnclearError as error:
        return Reading.lost(error.reason)


def score_reading(text: str, reply: str, scale: Scale) -> Reading:
    """The point of the scale that a reply gives in the format it was asked for."""
    if reply == "text":
        return agreed([one.value for one in marks(answer(text), RESULT, scale)])
    if reply == "json":
        return under_key(text, "score", lambda value: score_in(value, scale))
    point = scale.point(recorded(text))
    return OFF_SCALE if point is None else Reading(point)


# A key is never written with a backslash before its closing quote, as it is inside a string.
_SCORE = re.compile(r'"score"\s*:\s*"?\s*(?P<score>\d+)(?:\.0+)?(?![\d.eE])', re.IGNORECASE)


def score_places(text: str, reply: str, scale: Scale) -> list[tuple[int, int]]:
    """Where the digits of a score stand in a reply in this format: (start, end) of each."""
    if reply == "text":
        return [one.place for one in marks(answer(text), RESULT, scale)]
    return [match.span("score") for match in _SCORE.finditer(answer(text))]


# -- things that a prompt lists --------------------------------------------------------------------

PLACEHOLDERS = ("criterion", "candidate", "label", "position")
"""What a pattern of the user's own may say for a thing that the prompt lists."""


def displayed(names: Iterable[object]) -> Iterator[dict[str, str]]:
    """What stands for each thing that a prompt lists, for the `parts` of an axis.

    Its name, its letter (its number after Z) and its place, which counts from 1.
    """
    for place, name in enumerate(names):
        label = ascii_uppercase[place] if place < len(ascii_uppercase) else str(place + 1)
        yield dict(zip(PLACEHOLDERS, (str(name), str(name), label, str(place + 1)), strict=True))


def highest(scores: Mapping[str, float], order: Sequence[str]) -> str | None:
    """The listed thing that scores highest; None where several do."""
    best = max(scores[name] for name in order)
    top = [name for name in order if scores[name] == best]
    return top[0] if len(top) == 1 else None
