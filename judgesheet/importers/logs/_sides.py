"""Columns that are called alike but for the side of a pair, such as model_a and model_b."""

import re
from collections.abc import Iterable

_SIDES = (("_a", "_b"), ("_1", "_2"), ("1", "2"), ("left", "right"), ("first", "second"))
"""How the columns of the two responses of a pair differ."""
_WORD = re.compile(
    r"(?P<before>(?!assistant)(?:\w+[ _-])?)(?P<side>a|b|1|2|left|right|first|second)"
)
"""A word for a side, alone or after what has it; `Assistant A` is a place in a prompt."""


def pairs_by_side(columns: Iterable[str]) -> dict[tuple[str, str], tuple[str, str]]:
    """Both columns of each such pair, and the words for their sides."""
    lower = {column.lower(): column for column in columns}
    found = {
        (lower[name], lower[other]): (one.strip("_"), two.strip("_"))
        for name in lower
        for one, two in reversed(_SIDES)
        if (other := name.replace(one, two)) != name and other in lower
    }
    # A third of the kind makes a series of them, such as the descriptions of scores.
    return {
        (one, two): words
        for (one, two), words in found.items()
        if "2" not in two or two.lower().replace("2", "3") not in lower
    }


def words_of_sides(said: str, words: tuple[str, str]) -> tuple[tuple[str, str], int] | None:
    """Of a verdict that names one of these sides: both words as it has them, and which it is."""
    named = _WORD.fullmatch(said)
    if named is None or named["side"] not in words:
        return None
    return (named["before"] + words[0], named["before"] + words[1]), words.index(named["side"])
