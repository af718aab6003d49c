"""What a cell says of two responses, or which score it gives, in the words of public tools.

Nothing here guesses: what is in no family, as 0, -1 or `neither`, needs the user's word for it
(`--verdict WORD=VERDICT`).
"""

import json
import re
from ast import literal_eval
from collections.abc import Iterable, Mapping
from contextlib import suppress
from shlex import join
from typing import Any

from judgesheet.base.errors import UsageError
from judgesheet.base.limits import LARGEST_COUNT, LONGEST_LOOSE, SMALLEST_NUMBER

NONE = "invalid"
"""A verdict that is none: the reply could not be read."""
TIES = frozenset(
    {
        *("tie", "ties", "tied", "draw", "both", "equal", "equally good", "same", "1.5"),
        *("tievote", "tie (bothbad)", "bothbad", "bothbad_vote", "both bad", "both good"),
        *("no difference", "no preference"),
    }
)
_LOST = frozenset({NONE, "error", "null", "none", "nan", "n/a"})
_THING = (
    r"(?:(?:the )?(?:assistant|model|output|response|answer|candidate|option|system|choice|reply"
    r"|completion|summary|text|generator|agent)[ _-]?)?"
)
_ONE, _TWO = r"(?:a|1(?:\.0+)?|first|left|one)", r"(?:b|2(?:\.0+)?|second|right|two)"
_WON = r"(?:[ _]?vote|[ _](?:wins?|won|is better))?"
_WINNER = re.compile(rf"{_THING}(?:(?P<one>{_ONE})|{_TWO}){_WON}")
_COMPARED = re.compile(r"(?:(a)|b)\s*(>>?|<<?|==?|≈)\s*(?:(a)|b)")
_MARKED = re.compile(r"\[\[([^\[\]]{1,40})\]\]")
"""How judges of public benchmarks mark their verdict in a text."""
_SCORE = re.compile(
    r"[*_`\s]*(?:[a-z][\w -]{0,30}[*_`]*[:=])?[*_`\[\s]*(?P<score>[+-]?\d+(?:\.\d+)?)"
    r"(?:\s*(?:/|out of)\s*(?P<of>\d+(?:\.\d+)?))?[*_`\]\s.]*",
    re.IGNORECASE,
)
"""A number with nothing but its name, its scale and markup around it: `**Rating**: 3 out of 5`."""


def word(cell: Any) -> str:
    """A cell as a word in small letters, 1.0 as 1; "" for nothing, a list or an object."""
    if isinstance(cell, bool | str):
        return str(cell).strip().lower()
    return f"{cell:g}" if isinstance(cell, int | float) and cell == cell else ""


def slot_of(cell: Any) -> int | str | None:
    """The slot that a word names, 1 or 2, else "tie" or "abstain"; None for one that is no verdict.

    KeyError for a word of no family.
    """
    said = _unmarked(word(cell))
    if said in TIES or said == "[[c]]":
        return "tie"
    if said in _LOST or said == "abstain":
        return said if said == "abstain" else None
    said = said.strip("[]")
    if won := _WINNER.fullmatch(said):
        return 1 if won["one"] else 2
    if (compared := _COMPARED.fullmatch(said)) and compared[1] != compared[3]:
        if compared[2][0] in "=≈":
            return "tie"
        return 1 if bool(compared[1]) == (compared[2][0] == ">") else 2
    raise KeyError(said)


def _unmarked(text: str) -> str:
    """The one mark in a text, with its brackets; any other text as it is."""
    marks = set(_MARKED.findall(text))
    return f"[[{marks.pop()}]]" if len(marks) == 1 else text


def score_in(cell: Any, high: float | None) -> float | None:
    """The number that a text states, None if it states none; `high` is the top of its scale."""
    text = _unmarked(cell.strip()) if isinstance(cell, str) else ""
    stated = _SCORE.fullmatch(text) if len(text) < LONGEST_LOOSE else None
    if stated is None or (high and stated["of"] and float(stated["of"]) != high):
        return None
    return float(stated["score"])


def finite(cell: Any) -> float | None:
    """The number that a cell is; None for anything else, and for one that no scale reaches."""
    # Python takes true for 1, which nobody gave as a rating, and 1_0 for 10.
    if isinstance(cell, bool) or not isinstance(cell, int | float | str) or "_" in str(cell):
        return None
    try:
        number = float(cell)
    except (ValueError, OverflowError):
        return None
    if not abs(number) <= LARGEST_COUNT:
        return None
    return number if abs(number) >= SMALLEST_NUMBER else 0.0


def unpacked(cell: Any) -> Any:
    """The list that a cell of text writes, as JSON or as Python does; any other cell as it is."""
    if not isinstance(cell, str) or not cell.lstrip().startswith("["):
        return cell
    with suppress(ValueError, RecursionError):
        return json.loads(cell)
    if len(cell) < LONGEST_LOOSE:
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            return literal_eval(cell.strip())
    return cell


def meanings(pairs: Mapping[str, str]) -> dict[str, str]:
    """What words mean, by the key of each; UsageError where one is empty."""
    meant_by = {key_of(said): key_of(meant) for said, meant in pairs.items()}
    if "" in meant_by or "" in meant_by.values():
        raise UsageError("--verdict: write WORD=VERDICT, such as C=tie")
    return meant_by


def key_of(cell: Any) -> str:
    """A cell as a word that equal ones share: a number in one form, whether it is text or not."""
    number = finite(cell)
    # A command shows line ends and runs of blanks as one blank.
    return " ".join(word(cell if number is None else number).split())


def options_for(words: Iterable[str], meaning: str = "tie") -> str:
    """The options that say what these words mean, for the user to complete."""
    return " ".join(join(["--verdict", f"{said}={meaning}"]) for said in words)
