"""What a line of a foreign file says about one response, in our terms.

Readers of formats make pieces and know no axis; what an axis makes of them stands with the axis.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from judgesheet.axis.shaping import Holds
from judgesheet.errors import UsageError
from judgesheet.files import slug
from judgesheet.importers._rows import Row
from judgesheet.records import digest
from judgesheet.resources import data_folder

Ratings = Sequence[float | None]
Rubrics = Mapping[str, Sequence[str]]
"""Criterion -> descriptions of its scores, worst first."""


@dataclass(frozen=True, slots=True)
class Head:
    """What all responses to one prompt share; None where this line does not say."""

    prompt: str | None = None
    domain: str | None = None
    source: str | None = None
    reference: str | None = None
    rubrics: Rubrics | None = None


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
    id: str | None = None
    item: str | None = None
    text: str = ""
    human: Mapping[str, Ratings] = field(default_factory=dict)
    model: Ratings = ()
    rater: str | None = None
    seated: bool = False
    gold: bool | None = None


@dataclass(frozen=True, slots=True)
class Skip:
    """A line that is understood and not wanted; counted by its reason."""

    where: str
    reason: str = "a system that was not chosen"


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user chose for an import; None and empty mean the format's own default.

    `columns` maps our fields to the file's columns (plain formats). `scale` bounds every rating.
    `raters` is `expert` or `crowd`.
    """

    axis: str | None = None
    criterion: str | None = None
    raters: str = "expert"
    systems: Sequence[str] = ()
    scale: tuple[float, float] | None = None
    turn: int = 1
    columns: Mapping[str, str] = field(default_factory=dict)
    rubrics: Rubrics = field(default_factory=dict)

    def keeps(self, system: str | None) -> bool:
        """Whether the responses of a system are wanted."""
        return not self.systems or system in self.systems


class Importer(Protocol):
    """The shape of a format; a module with these names is one."""

    HOLDS: Holds | None
    """What its data is about; None for a table that can hold anything."""
    LICENCE: str
    ATTRIBUTION: str
    SCALE: tuple[float, float] | None
    RUBRICS: Rubrics
    """Empty where the data has its own, or none."""

    def read(self, rows: Iterator[Row], choice: Choice) -> Iterator[Piece | Skip]:
        """The pieces of a file, row by row."""


def name_of(raw: str) -> str:
    """A name that our files allow: `raw` itself, or its letters with a mark that keeps it apart."""
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,79}", raw):
        return raw
    letters = slug(raw.replace(".", "-"))[:40]
    return "-".join(part for part in (letters, digest(raw)[:6]) if part)


def key_of(prompt: str) -> str:
    """A name for a prompt that has none, the same wherever it stands."""
    return f"p-{digest(prompt)[:12]}"


# -- rubrics ---------------------------------------------------------------------------------------


def read_rubric(path: str | Path | None) -> dict[str, list[str]]:
    """The rubrics of a JSON file; none for None.

    Raises
    ------
    UsageError
        if the file is not one JSON object of lists of texts.
    """
    from pydantic import TypeAdapter, ValidationError

    if path is None:
        return {}
    try:
        rubrics = TypeAdapter(dict[str, list[str]]).validate_json(Path(path).read_bytes())
    except OSError as error:
        raise UsageError(f"--rubric {path} cannot be read: {error.strerror}") from None
    except ValidationError:
        rubrics = {}
    if not rubrics:
        raise UsageError(
            f"--rubric {path} must be a JSON object such as "
            '{"coherence": ["worst described", …, "best described"]}'
        )
    return rubrics


def own_rubrics(format_name: str) -> dict[str, list[str]]:
    """The rubrics that were written for a format, in the form that `--rubric` takes."""
    return read_rubric(data_folder("stimuli") / "rubrics" / f"{format_name}.json")


def chosen(rubrics: Rubrics, criterion: str | None) -> Rubrics:
    """The rubrics of all criteria, or of the one that was asked for.

    Raises
    ------
    UsageError
        if there is no such criterion.
    """
    if criterion is None or not rubrics:
        return rubrics
    for name, levels in rubrics.items():
        if name.lower() == criterion.lower():
            return {name: levels}
    raise UsageError(f"there is no criterion {criterion!r}; there are {', '.join(rubrics)}")
