"""Reading replies strictly: found in one way, or unreadable; never guessed.

A verdict stands behind a name, `[RESULT] 4`, or under a key of a JSON object. How it is dressed
does not matter. Two different verdicts are none, and so is one that the words behind it touch.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from judgesheet.axis.afterwords import is_denied, takes_back_beside
from judgesheet.axis.answer import answer
from judgesheet.axis.documents import answers, within
from judgesheet.axis.numbers import (
    Named,
    named_numbers,
    scores_otherwise,
    spelled_number,
    supports,
)

# A key is never written with a backslash before its closing quote, as it is inside a string.
_SCORE = re.compile(r'"score"\s*:\s*"?\s*(?P<score>\d+)(?:\.0+)?(?![\d.eE])', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply says, and whether it says it on lines of its own; None where nobody looked."""

    value: Any
    alone: bool | None = None


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


def highest(scores: Mapping[str, float], order: Sequence[str]) -> str | None:
    """The listed thing that scores highest; None where several do."""
    best = max(scores[name] for name in order)
    top = [name for name in order if scores[name] == best]
    return top[0] if len(top) == 1 else None


def one_reading(readings: list[Any]) -> Any | None:
    """The reading that all agree on, or None if there is none or there are two."""
    return readings[0] if readings and all(r == readings[0] for r in readings) else None


def whole_number(value: object) -> int | None:
    """An integer, also where JSON wrote 3.0; None for anything else (true and "3" included)."""
    # `true` is 1 to Python, and no score.
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None


def score_in(value: object, largest: int) -> int | None:
    """The score that stands under a key: 4, "4", "4/5", [4], {"value": 4, "reason": "…"}."""
    return within(
        value, lambda v: spelled_number(v, largest) if isinstance(v, str) else whole_number(v)
    )


# -- one score -------------------------------------------------------------------------------------


def score_reading(text: str, reply: str, largest: int) -> Reading | None:
    """The score from 1 to `largest` that a reply gives in the format it was asked for."""
    if reply == "text":
        found = _score_from_text(text, largest)
    elif reply == "json":
        found = _score_from_json(text, largest)
    else:
        found = Reading(whole_number(recorded(text)))
    in_range = found is not None and found.value is not None and 1 <= found.value <= largest
    return found if in_range else None


def score_places(text: str, reply: str, largest: int) -> list[tuple[int, int]]:
    """Where the digits of a score stand in a reply in this format: (start, end) of each."""
    if reply == "text":
        return [one.place for one in _results(text, largest)[0] if one.name]
    return [match.span("score") for match in _SCORE.finditer(answer(text))]


def _score_from_text(text: str, largest: int) -> Reading | None:
    """N of a text that ends in `[RESULT] N`.

    A text that gives two different results could be read two ways, and so could one in which words
    follow the last result that are no reason for it: both are unreadable.
    """
    named, rest = _results(text, largest)
    results = [one for one in named if one.name]
    if not results or named[-1] is not results[-1] or not results[-1].ends:
        return None
    score = one_reading([one.number for one in results])
    if is_denied(results[-1].before) or not supports(rest, score, largest):
        return None
    return Reading(score, results[-1].alone and not rest.strip())


def _results(text: str, largest: int) -> tuple[list[Named], str]:
    return named_numbers(answer(text), {"result": "result"}, largest)


def _score_from_json(text: str, largest: int) -> Reading | None:
    """N of a reply that holds `{"score": N}`, and no words behind it that touch it."""
    found = answers(text, "score")
    if found is None:
        return None
    score = one_reading([score_in(value, largest) for value in found.values])
    others = {score_in(value, largest) for value in found.variants} & {*range(1, largest + 1)}
    if others - {score}:
        return None
    if is_denied(found.before) or not supports(found.rest, score, largest):
        return None
    for key, words in found.behind:
        if takes_back_beside(key, words) or scores_otherwise(words, score, largest):
            return None
    return Reading(score, found.alone)


# -- parts of a reply ------------------------------------------------------------------------------

PLACEHOLDERS = ("criterion", "candidate", "label", "position")
"""What a pattern of the user's own may say for a thing that the prompt lists."""


def displayed(names: Iterable[object]) -> Iterator[dict[str, str]]:
    """What stands for each thing that a prompt lists, for the `parts` of an axis.

    Its name, its letter (its number after Z) and its place, which counts from 1.
    """
    for place, name in enumerate(names):
        label = ascii_uppercase[place] if place < len(ascii_uppercase) else str(place + 1)
        yield dict(zip(PLACEHOLDERS, (str(name), str(name), label, str(place + 1)), strict=True))
