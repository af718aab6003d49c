"""A table of verdicts: which column holds what, cells as numbers, faults with their line."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from numbers import Real
from pathlib import Path
from typing import Any, Literal, get_args

import pandas as pd

from judgesheet.base.errors import StimuliError, UsageError
from judgesheet.base.limits import LARGEST_COUNT, MOST_REMEMBERED_ROWS, MOST_ROWS, MOST_SYSTEMS
from judgesheet.base.sanitize import brief
from judgesheet.correcting.words import Kind, is_empty, kind_of, meant, slot, worth
from judgesheet.importers.logs import (
    UNKNOWN,
    Opened,
    Row,
    are_names,
    as_option,
    having,
    opened,
    proposed,
)

FIELDS: Mapping[str, str] = {
    "id": "the thing judged: a question, a response, a pair",
    "verdict": "what the judge said: a number, pass or fail, win, tie or loss; for a pair the "
    "slot or the name of the better one",
    "label": "what people said about it, in the same words; empty if nobody was asked",
    "system": "whose response it is, if several systems are compared",
    "group": "what belongs together, such as a document's questions: the unit of resampling",
    "first": "name of the response of a pair that was shown first",
    "second": "name of the response of a pair that was shown second",
}
"""What a map can name, and what it holds; a column of such a name needs no map."""
Labels = Literal["random", "chosen"]
Scale = tuple[float, float]
ANY: Scale = (-math.inf, math.inf)
SHARES: Scale = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user says of a table; UsageError where that cannot be.

    `scale` is that of the verdicts, `human_scale` that of the labels (the same unless said);
    `prefix` is the sign before which an id names its group; `verdicts` says what words of verdicts
    and labels mean.
    """

    labels: Labels
    columns: Mapping[str, str] = field(default_factory=dict)
    scale: Scale | None = None
    human_scale: Scale | None = None
    prefix: str = ""
    verdicts: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.labels not in get_args(Labels):
            raise UsageError(
                f"labels={brief(str(self.labels))!r}: say how the labelled rows were found with "
                f"one of {', '.join(get_args(Labels))}"
            )
        for name, ends in (("scale", self.scale), ("human_scale", self.human_scale)):
            if ends is not None and not _is_scale(ends):
                raise UsageError(
                    f"{name}={brief(str(ends))} must be two numbers, the lower first, such "
                    "as (1, 5)"
                )


def _is_scale(ends: Any) -> bool:
    if not isinstance(ends, Sequence) or isinstance(ends, str) or len(ends) != len(SHARES):
        return False
    numbers = all(isinstance(end, Real) for end in ends)
    return numbers and -LARGEST_COUNT <= ends[0] < ends[1] <= LARGEST_COUNT


COLUMNS = ("id", "system", "group", "verdict", "label", "first", "second")


@dataclass(frozen=True, slots=True)
class Table:
    """All rows of a table, in order; `scale` is that of verdicts, `human_scale` that of labels.

    `rows` has the `COLUMNS`, and as its index the place of each row. Verdicts and labels are
    numbers, NaN where there is none that can be read; of a pair `first` and `second` are the names
    as displayed, "" else, and 1 means that the first is better.
    """

    name: str
    kind: Kind
    rows: pd.DataFrame
    scale: Scale
    human_scale: Scale

    @property
    def paired(self) -> bool:
        """Whether rows are pairs with the names of both responses."""
        return bool(self.rows["first"].iloc[0])

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems in the order in which they are met."""
        names = self.rows[["first", "second"] if self.paired else ["system"]]
        return tuple(pd.unique(names.to_numpy().ravel()))


def read(path: Path, choice: Choice) -> Table:
    """The table; StimuliError with file and line where a cell, an id or a label is at fault."""
    found = opened(path, None)
    rows = [*islice(found.rows, MOST_ROWS + 1)]
    if not rows:
        raise StimuliError(f"{path.name} holds no rows")
    if len(rows) > MOST_ROWS:
        raise StimuliError(f"{path.name} has more than {MOST_ROWS:,} rows; split it")
    columns = _columns(found, rows, choice, path.name)
    words = {word.strip().lower(): meaning for word, meaning in choice.verdicts.items()}
    rows = [_mapped(row, columns, words) for row in having(rows, columns.values())]
    kind = _kind(rows)
    shares = kind != "mean"
    scale = SHARES if shares else choice.scale or ANY
    human = SHARES if shares else choice.human_scale or choice.scale or ANY
    judged = pd.DataFrame(
        [_judged(row, kind, choice) for row in rows],
        columns=COLUMNS, index=[row.where for row in rows],
    ).astype({"verdict": float, "label": float})  # fmt: skip
    _check_scale(judged["verdict"], scale, "--scale")
    _check_scale(judged["label"], human, "--human-scale" if choice.human_scale else "--scale")
    _reject_duplicates(judged)
    if judged["verdict"].isna().all():
        raise StimuliError(
            f"{path.name} holds no verdict: the column {columns['verdict']} is empty"
        )
    table = Table(path.name, kind, judged, scale, human)
    if len(table.systems) > MOST_SYSTEMS:
        raise StimuliError(
            f"{path.name} has {len(table.systems):,} systems, and {MOST_SYSTEMS} at most are "
            "compared: is their column the right one (--map system=COLUMN)?"
        )
    return table


def _columns(found: Opened, rows: Sequence[Row], choice: Choice, name: str) -> dict[str, str]:
    """Our fields and the columns that hold them: those of our names, and what the map says."""
    for given in choice.columns:
        if given not in FIELDS:
            raise UsageError(
                f"--map {given}=…: there is no such field; fields: {', '.join(FIELDS)}"
            )
    named = {name for row in rows for name in row.cells}
    columns = {known: known for known in FIELDS if known in named} | dict(choice.columns)
    sides = ["first", "second"] * bool({"first", "second"} & columns.keys())
    needed = ["id", "verdict", *sides, "label"]
    for one in needed:
        if one not in columns:
            mapped = _proposed(rows, found.log.columns, needed) | dict(choice.columns)
            raise UsageError(
                f"{name} has no column {one!r} ({FIELDS[one]}): perhaps {as_option(mapped)}; the "
                f"columns are {', '.join(rows[0].cells)[:300]}"
            )
    if columns["verdict"] == columns["label"]:
        raise UsageError(
            f"{columns['verdict']} cannot be both verdict and label: no judge is always right"
        )
    return columns


def _proposed(
    rows: Sequence[Row], known: Mapping[str, str], needed: Sequence[str]
) -> dict[str, str]:
    """A map by what the columns are called, `UNKNOWN` for those that only the user can name.

    `known` are the columns of a log's format.
    """
    rows = rows[:MOST_REMEMBERED_ROWS]
    seen = {**proposed(rows), **known}
    item = seen.get("item", "").rpartition("+")[2]
    question = seen.get("stimulus", UNKNOWN)
    found = dict.fromkeys(needed, UNKNOWN) | {"id": question, "verdict": seen["verdict"]}
    found["label"] = seen.get("human") or seen.get("better") or UNKNOWN
    sides = {side: column for side, column in seen.items() if side in ("first", "second")}
    # Texts taken for names would make a system of every response.
    found |= sides if are_names(rows, [*sides.values()]) else dict.fromkeys(sides, UNKNOWN)
    kinds = {one: len({str(row.cells.get(one)) for row in rows}) for one in (item, question)}
    if item and kinds[item] < len(rows):
        found["system"] = item
    elif item and question == UNKNOWN:
        found["id"] = item
    elif item and kinds[question] < len(rows):  # what several responses share
        found |= {"id": item, "group": question}
    return found


def _mapped(row: Row, columns: Mapping[str, str], words: Mapping[str, str]) -> Row:
    """The row under our names, with words that mean what the user says."""
    cells = {ours: row.at(column) for ours, column in columns.items()}
    cells |= {part: meant(cells[part], words) for part in ("verdict", "label")}
    return Row(row.where, cells, columns)


def _kind(rows: Sequence[Row]) -> Kind:
    """What the table estimates, by its verdicts: numbers of 0 and 1 alone are a rate."""
    if "first" in rows[0].cells:
        return "win rate"
    filled = [row for row in rows if not is_empty(row.cells["verdict"])]
    kinds = (kind_of(row.cells["verdict"], row, row.names["verdict"]) for row in filled)
    # A number among words is refused where it is read.
    if named := next((kind for kind in kinds if kind != "mean"), None):
        return named
    return "rate" if {float(row.cells["verdict"]) for row in filled} <= {0.0, 1.0} else "mean"


def _judged(cells: Row, kind: Kind, choice: Choice) -> tuple[Any, ...]:
    """The `COLUMNS` of a row."""
    name, columns = cells.text("id"), cells.names
    if not name:
        raise StimuliError(f"{cells.where}: {columns['id']} is empty")
    both = _names(cells) if "first" in columns else None
    group = cells.optional("group") or ""
    if choice.prefix and not group:
        group = name.rpartition(choice.prefix)[0] or name
    system = (cells.optional("system") or "") if both is None else ""
    if "system" in columns and both is None and not system:
        raise StimuliError(f"{cells.where}: {columns['system']} is empty")
    said = (_value(cells, part, both, kind) for part in ("verdict", "label"))
    return name, system, group or name, *said, *(both or ("", ""))


def _value(cells: Row, part: str, both: tuple[str, str] | None, kind: Kind) -> float | None:
    cell, name = cells.cells[part], cells.names[part]
    return worth(cell, kind, cells, name) if both is None else slot(cell, both, cells, name)


def _names(cells: Row) -> tuple[str, str]:
    both = cells.text("first"), cells.text("second")
    if both[0] == both[1]:
        raise StimuliError(f"{cells.where}: both responses are called {both[0][:60]!r}")
    if not all(both):
        raise StimuliError(f"{cells.where}: a response has no name")
    return both


def _check_scale(given: "pd.Series[float]", ends: Scale, option: str) -> None:
    for where, value in given[(given < ends[0]) | (given > ends[1])].items():
        low, high = min(ends[0], given.min()), max(ends[1], given.max())
        raise StimuliError(
            f"{where}: the {given.name} {value:g} is outside the scale {ends[0]:g} to {ends[1]:g}; "
            f"correct it, or say {option} {low:g}:{high:g}"
        )


def _reject_duplicates(rows: pd.DataFrame) -> None:
    things = rows[["id", "system", "first", "second"]]
    for where, thing in things[things.duplicated()].iterrows():
        before = things.index[(things == thing).all(axis=1)][0]
        of = f" of {thing['system']}" if thing["system"] else ""
        raise StimuliError(
            f"{where}: the id {thing['id'][:60]!r}{of} stands in {before} already; ids must be "
            "unique (several systems: --map system=COLUMN)"
        )
