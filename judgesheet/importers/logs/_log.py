"""What a format of logs is, what a user chooses of a log, and the points that a score can have."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgesheet.base.errors import StimuliError, UsageError
from judgesheet.base.limits import LONGEST_RUBRIC
from judgesheet.base.scale import NEAR, Scale
from judgesheet.importers._rows import Row, advice_on_number
from judgesheet.importers.words import finite, score_in, word


@dataclass(frozen=True, slots=True)
class LogFormat:
    """A format: a map of the columns of its table, and its conventions.

    A file is of this format if it has all columns of one of `marks`. `columns` are our fields and
    the columns that hold them, after `rows` made a table of what is none. Rows that hold something
    in `unless`, and those that have not what `where` says, do not count, the latter unless the user
    says otherwise. `words` are verdicts of its own and what they mean, `scale` the points of its
    scores. A row whose field `by` is one of `people` is a person's rating. `lacks` says what no
    such log holds, `conventions` in sentences how it is read, `checked` which version we looked at.
    """

    columns: Mapping[str, str]
    marks: tuple[frozenset[str], ...]
    lacks: str
    checked: str = ""
    conventions: tuple[str, ...] = ()
    rows: Callable[[Iterator[Row]], Iterator[Row]] = iter
    where: Mapping[str, str] = field(default_factory=dict)
    unless: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    scale: str = ""
    people: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class LogOptions:
    """What the user says of a log: its format, `--map`, `--where`, `--scale` and `--round`.

    `human_scale` is that of people's ratings, if it is another; `verdicts` are words of the log and
    what they mean, `unreadable` those that stand for a reply in which nothing was read. `ratings`
    is a file with people's ratings, `on` the column that both files have (`OURS=THEIRS` if it has
    two names).
    """

    form: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    where: Mapping[str, str] = field(default_factory=dict)
    scale: str | None = None
    nearest: bool = False
    human_scale: str | None = None
    unreadable: tuple[str, ...] = ()
    verdicts: Mapping[str, str] = field(default_factory=dict)
    ratings: Path | None = None
    on: str | None = None


class BadRowError(StimuliError):
    """A row that does not say what was judged, a call that is lost without its place."""


class BadVerdictError(BadRowError):
    """A verdict that the log cannot have: the call is lost. `said` is what stands there."""

    def __init__(self, sentence: str, said: Any) -> None:
        super().__init__(sentence)
        self.said = said


@dataclass(frozen=True, slots=True)
class LogScale:
    """The scale of a log's scores as its user wrote it: `I,P,C`, `1:5` or `0:1:0.25`.

    Of `words` the worst comes first; those of a scale of numbers are none.
    """

    text: str
    points: Scale
    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str) -> "LogScale":
        """The scale as it is written; UsageError if it is not valid."""
        if "," in text:
            words = tuple(word.strip().lower() for word in text.split(","))
            if all(words) and len(set(words)) == len(words):
                return cls(text, Scale(len(words)), words)
        else:
            numbers = [math.nan if (n := finite(part)) is None else n for part in text.split(":")]
            low, high, step = [*numbers, 1.0][:3] if len(numbers) in (2, 3) else (0.0, 0.0, 0.0)
            steps = (high - low) / step if step > 0 and high > low else math.inf
            # Each point costs memory, and 0:1:1e-9 would be a scale of a billion.
            if steps < 1_000_000 and abs(steps - round(steps)) < NEAR:
                return cls(text, Scale(round(steps) + 1, low, step))
        raise UsageError(
            f"--scale {text}: write LOW:HIGH or LOW:HIGH:STEP in whole steps, such as 1:5 or "
            "0:1:0.25, or all grades, the worst first, such as I,P,C"
        )

    def has_word(self, cell: Any) -> bool:
        """Whether a cell, which may be true or false, is one of the words."""
        return word(cell) in self.words

    def number(self, cell: Any) -> float | None:
        """The number that a cell is, or that its text states; None if it states none."""
        if (self.points.low, self.points.high) == (0, 1) and word(cell) in ("true", "false"):
            return float(word(cell) == "true")
        number = finite(cell)
        return score_in(cell, self.points.high) if number is None else number

    def point(
        self, cell: Any, row: Row, *, nearest: bool = False, option: str = "--scale"
    ) -> int | None:
        """Which point, from 1, a cell gives; None where it gives none (empty, null or NaN).

        `option` is that which names the scale.
        """
        if cell is None or cell == "" or cell != cell:  # NaN
            return None
        if self.words:
            place = self.words.index(word(cell)) + 1.0 if self.has_word(cell) else 0.0
        else:
            number = self.number(cell)
            place = 0.0 if number is None else self.points.place(number)
        point, count = round(place), self.points.count
        if not 0.5 <= place <= count + 0.5 or not (nearest or abs(place - point) < NEAR):
            other = f"; say which it is with {option}" * (option != "--scale")
            advice = advice_on_number(cell) or other
            raise BadVerdictError(
                f"{row.where}: {str(cell)[:60]!r} is not on the scale {self.text}{advice}", cell
            )
        return min(max(point, 1), count)


def suggested(numbers: Iterable[float]) -> str:
    """The scale that holds these scores, with --round if it is longer; "" if no usual one does."""
    known = sorted(numbers)
    if not known:
        return ""
    low = next((end for end in (1.0, 0.0, -1.0, -5.0, -10.0) if end <= known[0]), None)
    high = next((end for end in (1.0, 3.0, 5.0, 7.0, 9.0, 10.0, 100.0) if end >= known[-1]), None)
    if low == 1 and high in (1, 100):
        low = 0.0
    if low is None or high is None or low == high:
        return ""
    for step in (1.0, 0.5, 0.25, 0.2, 0.1):
        scale = LogScale.of(f"{low:g}:{high:g}:{step:g}") if step <= high - low else None
        places = [(number - low) / step for number in known]
        if all(abs(place - round(place)) < NEAR for place in places):
            if scale and scale.points.count <= LONGEST_RUBRIC:
                return f"--scale {low:g}:{high:g}{f':{step:g}' if step != 1 else ''}"
            break
    return f"--scale {low:g}:{high:g}:{(high - low) / (LONGEST_RUBRIC - 1):g} --round"
