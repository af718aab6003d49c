"""The content of one line of a foreign file about one response, and what a format is.

Readers of formats make pieces and know no axis; each axis makes its stimuli from them itself.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgesheet.axis.shaping import Holds
from judgesheet.base.errors import UsageError
from judgesheet.base.files import decoded
from judgesheet.base.records import digest
from judgesheet.base.resources import data_folder
from judgesheet.base.sanitize import brief
from judgesheet.base.scale import Scale
from judgesheet.importers._rows import Row

Ratings = Sequence[float | None]
Rubrics = Mapping[str, Mapping[str, Any]]
"""Criterion -> its `levels` (descriptions of its scores, worst first), `description`, `range`."""
ALL = "all"
"""Stands for every criterion."""

ABOUT_PROMPT = ("prompt", "group", "domain", "source", "reference", "rubrics")
"""The fields of a piece that all responses to one prompt share."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One response, or what one rater said about it.

    `key` names the prompt in the source: pieces with the same key become one stimulus, named `id`.
    What a line does not say of its prompt is None, and another line may. `item` is None where a
    line tells only of the prompt. `human` holds people's ratings by criterion, `model` those of
    another model. `rater` is set where a line is one rater's, and lets the same response stand on
    several lines; `seated` gives that rater one place in every list of ratings (a panel that rates
    everything; not a crowd). `gold` is True for a response known to be best (or better), False for
    one known not to be.
    """

    where: str
    key: str
    item: str | None = None
    text: str = ""
    prompt: str | None = None
    group: str | None = None
    domain: str | None = None
    source: str | None = None
    reference: str | None = None
    rubrics: Rubrics | None = None
    id: str | None = None
    human: Mapping[str, Ratings] = field(default_factory=dict)
    model: Ratings = ()
    rater: str | None = None
    seated: bool = False
    gold: bool | None = None


@dataclass(frozen=True, slots=True)
class Skip:
    """A valid line that is not used; counted by its reason."""

    where: str
    reason: str = "a system that was not chosen"


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What the user chose for an import; None and empty mean the format's own default.

    `columns` maps our fields to the file's columns (plain formats). `scale` is that of every
    rating: low, high, and perhaps a step. `raters` is `expert` or `crowd`.
    """

    axis: str | None = None
    criterion: str | None = None
    raters: str = "expert"
    systems: Sequence[str] = ()
    scale: Sequence[float] | None = None
    turn: int = 1
    columns: Mapping[str, str] = field(default_factory=dict)
    rubrics: Rubrics = field(default_factory=dict)

    def keeps(self, system: str | None) -> bool:
        """Whether the responses of a system are wanted."""
        return not self.systems or system in self.systems


@dataclass(frozen=True, slots=True)
class Format:
    """How the rows of a format become pieces, and what is known of all its data.

    `holds` is what the data is about, None for a table that can hold anything. `scale` bounds its
    ratings. `rubrics` are empty where the data has its own, or none.
    """

    read: Callable[[Iterator[Row], ImportOptions], Iterator[Piece | Skip]]
    holds: Holds | None = None
    licence: str = ""
    attribution: str = ""
    scale: tuple[float, float] | None = None
    rubrics: Rubrics = field(default_factory=dict)


def name_of(raw: str) -> str:
    """A name that our files allow: `raw` itself, or its letters with a unique suffix."""
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,79}", raw):
        return raw
    letters = re.sub("[^A-Za-z0-9]+", "-", raw).strip("-")[:40]
    # Two names may have the same letters: the digest tells them apart.
    return "-".join(part for part in (letters, digest(raw)[:6]) if part)


def key_of(prompt: str) -> str:
    """A name for a prompt that has none, the same wherever the prompt occurs."""
    return f"p-{digest(prompt)[:12]}"


# -- rubrics ---------------------------------------------------------------------------------------


_FIELDS: Mapping[type, str] = {str: "description", list: "levels"}


def read_rubric(given: str | Path | Mapping[str, Any] | None) -> Rubrics:
    """The rubrics of a JSON file, or as it would hold them; none for None.

    A criterion has levels, a description, or an object with what a stimulus says of it, which the
    axis checks. UsageError unless the file is such an object.
    """
    if given is None:
        return {}
    content: Any = given
    with suppress(ValueError):  # neither JSON nor UTF-8
        if isinstance(given, str | Path):
            try:
                content = decoded(Path(given).read_bytes().decode())
            except OSError as error:
                raise UsageError(f"--rubric {given} cannot be read: {error.strerror}") from None
    rubrics = content if isinstance(content, Mapping) else {}
    if not rubrics or not all(isinstance(one, str | list | dict) for one in rubrics.values()):
        raise UsageError(
            f"--rubric {brief(str(given))} must be a JSON object such as "
            '{"coherence": ["worst described", …, "best described"]} or {"coherence": "what it is"}'
        )
    return {
        name: one if isinstance(one, dict) else {_FIELDS[type(one)]: one}
        for name, one in rubrics.items()
    }


def own_rubrics(format_name: str) -> Rubrics:
    """The rubrics that were written for a format, in the form that `--rubric` takes."""
    return read_rubric(data_folder("stimuli") / "rubrics" / f"{format_name}.json")


def chosen(rubrics: Rubrics, criterion: str | None) -> Rubrics:
    """The rubrics of all criteria, or of the one that was asked for; UsageError without it."""
    if criterion in (None, ALL) or not rubrics:
        return rubrics
    for name, rubric in rubrics.items():
        if name.lower() == criterion.lower():
            return {name: rubric}
    raise UsageError(f"there is no criterion {criterion!r}; there are {', '.join(rubrics)}")


def with_ranges(rubrics: Rubrics, choice: ImportOptions, form: Format) -> Rubrics:
    """The rubrics, of which those that only describe a criterion get the range of its scores.

    Levels have the numbers of `--scale`, where it has as many. UsageError where nothing says them.
    """
    return {
        name: {**rubric, **_range(name, rubric, choice, form)} for name, rubric in rubrics.items()
    }


def _range(
    name: str, rubric: Mapping[str, Any], choice: ImportOptions, form: Format
) -> dict[str, list[float]]:
    if "range" in rubric:
        return {}
    levels, scale = rubric.get("levels"), choice.scale
    if levels is None:
        if scale is None and form.scale is None:
            raise UsageError(f"{name} has no levels: say which scores it has with --scale LOW:HIGH")
        return {"range": [*(scale or form.scale or ())]}
    with suppress(ValueError):  # of ratings below 0, which no prompt asks for
        points = Scale.between(*scale) if scale else None
        if scale and points and points.own and isinstance(levels, list):
            return {"range": [*scale]} if points.count == len(levels) else {}
    return {}
