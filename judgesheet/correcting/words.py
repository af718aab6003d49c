"""What a cell of a table is worth: pass and fail, win, tie and loss, slots, or a number."""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal

from judgesheet.base.errors import StimuliError
from judgesheet.importers.logs import Row, finite
from judgesheet.importers.words import slot_of

Kind = Literal["rate", "win rate", "mean"]
"""What is estimated: a share of passes, wins with ties as one half, or a mean score."""

PASS: Mapping[str, float] = {
    **dict.fromkeys(("pass", "passed", "true", "yes", "correct"), 1.0),
    **dict.fromkeys(("fail", "failed", "false", "no", "incorrect"), 0.0),
}
OUTCOME: Mapping[str, float] = {
    **dict.fromkeys(("win", "won"), 1.0),
    **dict.fromkeys(("tie", "draw", "equal"), 0.5),
    **dict.fromkeys(("loss", "lose", "lost"), 0.0),
}
_PERCENT = re.compile(r"\s*(\d{1,3}(?:\.\d+)?)\s?%\s*")
SLOTS: Mapping[Any, float] = {1: 1.0, 2: 0.0, "tie": 0.5}
"""What a verdict on a pair is worth for the response that was shown first."""
EMPTY = ("", "-", "–", "—", "?", "na", "n/a", "nan", "null", "none", "invalid", "error")
"""What stands where there is no verdict or label."""


MEANING = "; --verdict WORD=MEANING says what a word means, such as good=pass"


def is_empty(cell: Any) -> bool:
    """Whether a cell holds nothing, or says that nothing could be read."""
    if cell is None or cell != cell:
        return True
    return isinstance(cell, str) and cell.strip().lower() in EMPTY


def meant(cell: Any, meanings: Mapping[str, str]) -> Any:
    """What the user says that a word means, else the cell; 85 % is .85."""
    word = f"{cell:g}" if isinstance(cell, float) else str(cell).strip().lower()
    cell = meanings.get(word, cell)
    percent = _PERCENT.fullmatch(cell) if isinstance(cell, str) else None
    return float(percent[1]) / 100 if percent else cell


def kind_of(cell: Any, row: Row, name: str) -> Kind:
    """What a verdict that is not empty belongs to; StimuliError if it is neither of the three."""
    word = str(cell).strip().lower()
    if word in OUTCOME:
        return "win rate"
    if word in PASS:
        return "rate"
    if finite(cell) is not None:
        return "mean"
    raise StimuliError(
        f"{row.where}: {name} is {str(cell)[:60]!r}; it can be a number, pass or fail, or win, tie "
        "or loss (pairs with names of the two: --map first=COLUMN,second=COLUMN)"
        f"{_comma(word) or MEANING}"
    )


def _comma(word: str) -> str:
    has_comma = re.fullmatch(r"[+-]?[\d.]*,\d+", word)
    return "; a comma is not read as a decimal point" if has_comma else ""


def worth(cell: Any, kind: Kind, row: Row, name: str) -> float | None:
    """The value of a cell in a table of this kind, None for an empty one."""
    if is_empty(cell):
        return None
    word, number = str(cell).strip().lower(), finite(cell)
    known = {"rate": PASS, "win rate": OUTCOME, "mean": {}}[kind]
    if word in known:
        return known[word]
    if number is not None and (kind == "mean" or (kind == "rate" and number in (0.0, 1.0))):
        return number
    wanted = {"rate": "pass or fail", "win rate": "win, tie or loss", "mean": "a number"}[kind]
    raise StimuliError(
        f"{row.where}: {name} is {str(cell)[:60]!r}, not {wanted} as elsewhere"
        f"{_comma(word) or MEANING}"
    )


def slot(cell: Any, shown: tuple[str, str], row: Row, name: str) -> float | None:
    """1 where the response shown first won, 0 for the second, 1/2 for a tie, None for nothing."""
    if is_empty(cell):
        return None
    said = str(cell).strip()
    if said in shown:
        return 1.0 if said == shown[0] else 0.0
    with suppress(KeyError):
        return SLOTS.get(slot_of(cell))
    raise StimuliError(
        f"{row.where}: {name} is {said[:60]!r}, neither one of the two responses nor 1, 2 or tie"
        f"{MEANING}"
    )
