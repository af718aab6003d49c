"""Reading replies strictly: found in one way, or unreadable; never guessed."""

import json
import re
from collections.abc import Iterable, Iterator
from string import ascii_uppercase
from typing import Any

_MOST_DIGITS = 4
_MOST_STARTS = 1_000
"""Braces that may open no object before a reply is given up: it is noise, and time is money."""
_LONGEST = 200_000
"""Characters of a reply that are looked at; nothing longer is an answer."""

# A reading: the marker, then a number, perhaps wrapped ("**[RESULT]: 4**", "[RESULT] [4]").
_RESULT = re.compile(
    r"""\[RESULT\] [\s:*_`"'(\[{]* (?P<score>\d+(?:[.,]\d+)?) (?: \s*/\s*(?P<of>\d+) )?""",
    re.IGNORECASE | re.VERBOSE,
)
# A key is never written with a backslash before its closing quote, as it is inside a string.
_SCORE = re.compile(r'"score"\s*:\s*(?P<score>\d+)(?![\d.eE])')
_CLOSING = re.compile(r"[\s*_`\"')\]}.]*\Z")
"""What may follow the last reading: closing marks, no words."""


class _AmbiguousError(ValueError):
    """An object names the same key twice."""


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _AmbiguousError
    return found


def json_objects(text: str) -> Iterator[dict[str, Any] | None]:
    """The outermost JSON objects of a text in order; None where it is unclear what stands there.

    Text around them (reasoning, a fence) is skipped. Objects inside objects are not yielded.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_no_duplicates)
    text = text[:_LONGEST]
    at, starts = text.find("{"), 0
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (_AmbiguousError, RecursionError):
            yield None
            return
        except ValueError:
            end, starts = at + 1, starts + 1
        else:
            yield value
        if starts > _MOST_STARTS:
            yield None
            return
        at = text.find("{", end)


def json_documents(text: str) -> list[Any]:
    """The reply itself where it is one JSON array, else the outermost objects in it.

    Empty where there is none, or where it is unclear what stands there.
    """
    stripped = text.strip()
    if stripped.startswith("["):
        try:
            return [json.loads(stripped, object_pairs_hook=_no_duplicates)]
        except (ValueError, RecursionError):
            pass  # a list in the prose before the answer, say
    found = list(json_objects(text))
    return [] if None in found else found


def json_answers(text: str, key: str) -> list[Any] | None:
    """What the outermost objects hold under a key; None where it is unclear what stands there."""
    found = list(json_objects(text))
    return None if None in found else [one[key] for one in found if one is not None and key in one]


def recorded(text: str) -> Any | None:
    """The verdict that a ledger of recordings holds in place of a reply; None if it is no JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return None


PLACEHOLDERS = ("criterion", "candidate", "label", "position")
"""What a pattern of the user's own may say for a thing that the prompt lists."""


def displayed(names: Iterable[object]) -> Iterator[dict[str, str]]:
    """What stands for each thing that a prompt lists, for the `parts` of a room.

    Its name, its letter (its number after Z) and its place, which counts from 1.
    """
    for place, name in enumerate(names):
        label = ascii_uppercase[place] if place < len(ascii_uppercase) else str(place + 1)
        yield dict(zip(PLACEHOLDERS, (str(name), str(name), label, str(place + 1)), strict=True))


def one_reading(readings: list[Any]) -> Any | None:
    """The reading that all agree on, or None if there is none or there are two."""
    return readings[0] if readings and all(r == readings[0] for r in readings) else None


def whole_number(value: object) -> int | None:
    """An integer, also where JSON wrote 3.0; None for anything else (true and "3" included)."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None


def score_from_text(text: str, largest: int) -> int | None:
    """N of a text that ends in `[RESULT] N`; `N/largest` is the same answer.

    A text that gives two different results could be read two ways, and one in which words follow
    the last result has not ended: both are unreadable.
    """
    found = list(_RESULT.finditer(text[-_LONGEST:]))
    if not found or not _CLOSING.match(found[-1].string, found[-1].end()):
        return None
    if any(match["of"] not in (None, str(largest)) for match in found):
        return None
    number = one_reading([match["score"] for match in found])
    whole = number is not None and number.isdecimal() and len(number) <= _MOST_DIGITS
    return int(number) if number is not None and whole else None


def score_places(text: str, reply: str) -> list[tuple[int, int]]:
    """Where the digits of a score stand in a reply in this format: (start, end) of each."""
    pattern = _RESULT if reply == "text" else _SCORE
    return [match.span("score") for match in pattern.finditer(text)]


def exactly_one_score(text: str, reply: str, largest: int) -> int | None:
    """The score from 1 to `largest` that a reply gives in the format it was asked for."""
    if reply == "text":
        score = score_from_text(text, largest)
    elif reply == "json":
        score = one_reading([whole_number(one) for one in json_answers(text, "score") or ()])
    else:
        score = whole_number(recorded(text))
    return score if score is not None and 1 <= score <= largest else None
