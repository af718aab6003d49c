"""What a line of a foreign file says about one response, in our terms.

Readers of formats make pieces and know no axis; `_shape` makes an axis's stimuli of them and knows
no format.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

from judgesheet.errors import StimuliError, UsageError
from judgesheet.records import digest

Row = Mapping[str, Any]
Rows = Iterator[tuple[str, Row]]
"""(where, record): `where` is `file:line`."""

CRITERION = "score"
"""The name of a criterion that the source does not name."""


@dataclass(frozen=True, slots=True)
class Head:
    """What all responses to one prompt share; None where this line does not say.

    `rubric` holds (criterion, levels worst first).
    """

    prompt: str | None = None
    domain: str = ""
    source: str = ""
    reference: str | None = None
    rubric: tuple[str, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """One response, or what one rater said about it.

    `key` names the prompt in the source: pieces with the same key become one stimulus, named `id`.
    `item` is None where a line tells only of the prompt. `human` holds people's ratings by
    criterion, `model` those of another model. `rater` is set where a line is one rater's, and lets
    the same response stand on several lines; `seated` gives that rater one place in every list of
    ratings (a panel that rates everything; not a crowd). `gold` is True for a response known to be
    best (or better), False for one known not to be.
    """

    where: str
    key: str
    head: Head
    id: str = ""
    item: str | None = None
    text: str = ""
    human: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    model: Sequence[float | None] = ()
    rater: str | None = None
    seated: bool = False
    gold: bool | None = None


@dataclass(frozen=True, slots=True)
class Skip:
    """A line that is understood and not wanted; counted by its reason."""

    where: str
    reason: str


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user chose for an import; None and empty mean the format's own default.

    `columns` maps our fields to the file's columns (plain formats), `rubrics` criteria to their
    levels, worst first. `scale` bounds every rating. `raters` is `expert` or `crowd`.
    """

    axis: str | None = None
    criterion: str | None = None
    raters: str = "expert"
    systems: Sequence[str] = ()
    scale: tuple[float, float] | None = None
    turn: int = 1
    columns: Mapping[str, str] = field(default_factory=dict)
    rubrics: Mapping[str, Sequence[str]] = field(default_factory=dict)


class Importer(Protocol):
    """The shape of a format; a module with these names is one."""

    NAME: str
    AXES: tuple[str, ...]
    """Axes that its data can serve, the default first."""
    LICENCE: str
    ATTRIBUTION: str
    SCALE: tuple[float, float] | None
    RUBRICS: Mapping[str, Sequence[str]]
    """Criterion -> descriptions of its scores, worst first; empty where the data has its own."""

    def read(self, rows: Rows, choice: Choice) -> Iterator[Piece | Skip]:
        """The pieces of a file, line by line."""


# -- reading a value -------------------------------------------------------------------------------


def value(row: Row, column: str, where: str) -> Any:
    """The content of a column.

    Raises
    ------
    StimuliError
        if there is no such column; the sentence names those that exist.
    """
    if column not in row:
        raise StimuliError(
            f"{where}: there is no column {column!r}; the columns are {', '.join(map(str, row))}"
        )
    return row[column]


def text(row: Row, column: str, where: str) -> str:
    """The content of a column as text, without blanks around it; a list or an object is none."""
    found = value(row, column, where)
    if isinstance(found, str):
        return found.strip()
    if not isinstance(found, int | float):
        _wrong(where, column, found, "text")
    if isinstance(found, bool):
        return str(found).lower()
    return f"{found:g}" if isinstance(found, float) else str(found)


def optional_text(row: Row, column: str, where: str) -> str | None:
    """The same where the column may be absent or empty."""
    return None if row.get(column) in (None, "") else text(row, column, where) or None


def numbers(found: Any, where: str, column: str) -> list[float | None]:
    """A rating or a list of them; None, and an empty cell, is a rating that was not given."""
    if isinstance(found, list | tuple):
        return [one for part in found for one in numbers(part, where, column)]
    if found is None or found == "":
        return [None]
    number = _number(found)
    if number is None:
        _wrong(where, column, found, "a finite number")
    return [number]


def _number(found: Any) -> float | None:
    if isinstance(found, bool) or not isinstance(found, int | float | str):
        return None
    try:
        number = float(found)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def texts(row: Row, column: str, where: str) -> list[str]:
    """A column that holds a list of texts."""
    found = value(row, column, where)
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        _wrong(where, column, found, "a list of texts")
    return [one.strip() for one in found]


def mapping(row: Row, column: str, where: str) -> Mapping[str, Any]:
    """A column that holds an object."""
    found = value(row, column, where)
    if not isinstance(found, Mapping):
        _wrong(where, column, found, "an object")
    return found


def _wrong(where: str, column: str, found: Any, wanted: str) -> NoReturn:
    raise StimuliError(f"{where}: {column} is {str(found)[:60]!r}, which is not {wanted}")


# -- names -----------------------------------------------------------------------------------------

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,79}")


def name_of(raw: str) -> str:
    """A name that our files allow: `raw` itself, or its letters with a mark that keeps it apart."""
    if _PLAIN.fullmatch(raw):
        return raw
    letters = re.sub(r"[^A-Za-z0-9]+", "-", raw).strip("-")[:40]
    return "-".join(part for part in (letters, digest(raw)[:6]) if part)


def key_of(prompt: str) -> str:
    """A name for a prompt that has none, the same wherever it stands."""
    return f"p-{digest(prompt)[:12]}"


def chosen(choice: Choice, known: Sequence[str]) -> list[str]:
    """The criteria to read: all, or the one that was asked for.

    Raises
    ------
    UsageError
        if there is no such criterion.
    """
    if choice.criterion is None:
        return list(known)
    for name in known:
        if name.lower() == choice.criterion.lower():
            return [name]
    raise UsageError(f"there is no criterion {choice.criterion!r}; there are {', '.join(known)}")
