"""What a format of logs is, what a user chooses of a log, and the points that a score can have."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from judgesheet.base.errors import StimuliError, UsageError
from judgesheet.importers._rows import Row, advice_on_number

MEANING = ", what it means with --map WORD=VERDICT, or that it is none with --unreadable WORD"
NEAR = 1e-6
"""How far from a point of its scale a number may be, in steps, and still be that point."""


@dataclass(frozen=True, slots=True)
class LogFormat:
    """A format: `rows` makes one row per verdict of its records.

    A file is of this format if its first record has all columns of one of `marks`. `columns` are
    our fields and the columns of the rows that hold them, `where` the rows that count unless the
    user says otherwise, `scale` the points of its scores. A row whose field `by` is one of `people`
    is a person's rating. `lacks` says what no such log holds, `checked` which version we looked
    at.
    """

    rows: Callable[[Iterator[Row]], Iterator[Row]]
    columns: Mapping[str, str]
    marks: tuple[frozenset[str], ...]
    lacks: str
    checked: str
    where: Mapping[str, str] = field(default_factory=dict)
    scale: str = ""
    people: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class LogOptions:
    """What the user says of a log: its format, `--map`, `--where`, `--scale` and `--round`.

    `human_scale` is that of people's ratings, if it is another; `unreadable` are verdicts that
    stand for a reply in which nothing was read.
    """

    form: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    where: Mapping[str, str] = field(default_factory=dict)
    scale: str | None = None
    nearest: bool = False
    human_scale: str | None = None
    unreadable: tuple[str, ...] = ()


class BadRowError(StimuliError):
    """A row that does not say what was judged, a call that is lost without its place."""


class BadVerdictError(BadRowError):
    """A verdict that the log cannot have: the call is lost."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The points that a score can have, worst first: words, or numbers a step apart.

    Written `I,P,C`, `1:5` or `0:1:0.25`.
    """

    text: str
    words: tuple[str, ...] = ()
    low: float = 0
    step: float = 1
    count: int = 0

    @classmethod
    def of(cls, text: str) -> "Scale":
        """The scale as it is written; UsageError if it is not valid."""
        if "," in text:
            words = tuple(word.strip().lower() for word in text.split(","))
            if all(words) and len(set(words)) == len(words):
                return cls(text, words, count=len(words))
        else:
            numbers = [_number(part) for part in text.split(":")]
            low, high, step = [*numbers, 1.0][:3] if len(numbers) in (2, 3) else (0.0, 0.0, 0.0)
            steps = (high - low) / step if step > 0 and high > low else math.inf
            # Each point costs memory, and 0:1:1e-9 would be a scale of a billion.
            if steps < 1_000_000 and abs(steps - round(steps)) < NEAR:
                return cls(text, (), low, step, round(steps) + 1)
        raise UsageError(
            f"--scale {text}: write LOW:HIGH or LOW:HIGH:STEP in whole steps, such as 1:5 or "
            "0:1:0.25, or all grades, the worst first, such as I,P,C"
        )

    def has_word(self, cell: Any) -> bool:
        """Whether a cell, which may be true or false, is one of the words."""
        return word(cell) in self.words

    def point(
        self, cell: Any, row: Row, *, nearest: bool = False, option: str = "--scale"
    ) -> int | None:
        """Which point, from 1, a cell gives; None where it gives none (empty, null or NaN).

        `option` is that which names the scale.
        """
        if cell is None or cell == "" or cell != cell:  # NaN
            return None
        if self.words:
            place = self.words.index(word(cell)) if self.has_word(cell) else -1.0
        else:
            number = _number(cell)
            place = (number - self.low) / self.step if math.isfinite(number) else -1.0
        point = round(place)
        if not -0.5 <= place <= self.count - 0.5 or not (nearest or abs(place - point) < NEAR):
            how = "; --round takes the nearest" if 0 <= place <= self.count - 1 else ""
            advice = advice_on_number(cell) or f"; say which it is with {option}{how}{MEANING}"
            raise BadVerdictError(
                f"{row.where}: {str(cell)[:60]!r} is not on the scale {self.text}{advice}"
            )
        return min(max(point, 0), self.count - 1) + 1


_PLAIN = (str, int, float)


def word(cell: Any) -> str:
    """A cell as a word in small letters; "" for a list or an object."""
    return Row("", {"": cell}).text("").lower() if isinstance(cell, _PLAIN) else ""


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return math.nan
