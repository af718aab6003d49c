"""The fields of a row, read from the columns that a map or the format of a log names."""

import json
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from typing import Any

from judgesheet.axes import all_axes
from judgesheet.base.errors import StimuliError, UsageError
from judgesheet.base.limits import MOST_REMEMBERED_ROWS
from judgesheet.base.scale import Scale
from judgesheet.importers._rows import Row
from judgesheet.importers.logs._kinds import (
    FIELDS,
    KINDS,
    PAIR_OF_SCORES,
    SWAPPED,
    axis_of,
    is_field,
    kind_of,
)
from judgesheet.importers.logs._log import (
    BadRowError,
    BadVerdictError,
    LogFormat,
    LogOptions,
    LogScale,
    suggested,
)
from judgesheet.importers.logs._sides import pairs_by_side, words_of_sides
from judgesheet.importers.words import (
    NONE,
    finite,
    key_of,
    meanings,
    options_for,
    slot_of,
    unpacked,
    word,
)

OF_CALLS = ("verdict", "again")
"""Fields, or their beginnings, of what a judge said."""


@dataclass
class FieldReader:
    """Reads the fields of rows: names, scores, winners and orders."""

    log: LogFormat
    choice: LogOptions
    numbers: set[float] = field(default_factory=set)
    """The first scores that differ, which say what scale holds them."""
    has_numbered_slots: bool = False
    """Whether a winner was called 1 or 2 and nothing says that a response is meant."""
    seen: tuple[str, ...] = ()
    """The columns of the first row that counts, one of which a word may mean."""
    _scales: dict[str, LogScale] = field(default_factory=dict)
    _points: dict[Hashable, int | None] = field(default_factory=dict)
    """Scores recur: those of the first cells that differ."""

    @cached_property
    def columns(self) -> dict[str, str]:
        """Our fields and the columns that hold them; what the user maps replaces the format's."""
        own = self.log.columns
        if {"first", "candidates"} & self.choice.columns.keys():
            own = {}  # those of the format are about single scores
        return {**own, **self._mapped}

    @property
    def _mapped(self) -> dict[str, str]:
        return {name: column for name, column in self.choice.columns.items() if is_field(name)}

    @property
    def asked(self) -> set[str]:
        """The columns that the user names, of which no row may lack all."""
        return {*self._mapped.values(), *self.choice.where}

    @cached_property
    def meanings(self) -> dict[str, str]:
        """Words of the log and the verdicts that they mean; UsageError where that is none."""
        words = {w: meant for w, meant in self.choice.columns.items() if not is_field(w)}
        words = meanings({**words, **self.choice.verdicts})
        grades = (self.choice.scale or self.log.scale).lower().split(",")
        for name, meant in words.items():
            if not (meant in grades or finite(meant) is not None or self._is_winner(meant)):
                raise UsageError(
                    f"--verdict {name}={meant}: {meant} is no verdict that a word could mean, such "
                    f"as 1, 2, tie, {NONE} or a score (fields of --map: {', '.join(FIELDS)})"
                )
        lost = {key_of(said): NONE for said in self.choice.unreadable}
        return {**meanings(self.log.words), **lost, **words}

    @cached_property
    def kind(self) -> str:
        """The kind of verdicts."""
        return kind_of(self.columns)

    @cached_property
    def axis(self) -> str:
        """The axis that the judgments are for."""
        return axis_of(self.kind)

    @cached_property
    def where(self) -> Mapping[str, str]:
        """What the rows that count have in which column: as the user says, else the format."""
        return self.choice.where or self.log.where

    @property
    def needs_scale(self) -> bool:
        """Whether nothing says which scores there are."""
        is_known = self.choice.scale or self.log.scale or "scale" in self.columns
        return not is_known and not {"first", "candidates"} & self.columns.keys()

    @property
    def is_of_scores(self) -> bool:
        """Whether the two responses of a pair have a score each."""
        return self.kind == "pair" and set(PAIR_OF_SCORES) <= self.columns.keys()

    @cached_property
    def _said(self) -> list[str]:
        """The columns of what the judge said."""
        return [column for name, column in self.columns.items() if name.split(".")[0] in OF_CALLS]

    def counts(self, row: Row) -> bool:
        """Whether a row is one of those that are wanted."""
        if self.log.unless and row.at(self.log.unless) is not None:
            return False
        for column, wanted in self.where.items():
            cell = row.at(column)
            is_text = isinstance(cell, str | int | float)
            if (Row(row.where, {column: cell}).text(column) if is_text else "") != wanted:
                return False
        return True

    def readings(self, row: Row) -> Iterator[tuple[Row, str]]:
        """The row for every reading that its cells list, and what numbers the reading."""
        cells_of = {column: _listed(row.at(column)) for column in self._said}
        lists = {column: cells for column, cells in cells_of.items() if cells is not None}
        if not lists:
            yield row, ""
            return
        for number, cells in enumerate(zip_longest(*(cells or [None] for cells in lists.values()))):
            yield Row(row.where, {**row.cells, **dict(zip(lists, cells, strict=True))}), str(number)

    def cell(self, row: Row, name: str) -> Any:
        """What the column of a field holds."""
        return row.at(self.columns[name])

    def has(self, row: Row, name: str) -> bool:
        """Whether a row says something in a field."""
        return name in self.columns and self.cell(row, name) not in (None, "")

    def text(self, row: Row, name: str) -> str:
        """A field as text; BadRowError where it is empty."""
        cell = self.cell(row, name)
        if type(cell) is str and (text := cell.strip()) and text.isascii():  # nearly all are
            return text
        if isinstance(cell, list | dict):
            return json.dumps(cell, sort_keys=True)
        if cell is None or cell == "":
            raise BadRowError(
                f"{row.where}: {self.columns[name]} is empty, and is the field {name} "
                f"({FIELDS[name]}); fill it in, or drop the row"
            )
        return Row(row.where, {self.columns[name]: cell}).text(self.columns[name])

    def names(self, row: Row) -> tuple[str, str]:
        """(stimulus, item); each stands for the other where a map has only one."""
        stimulus = "stimulus" if "stimulus" in self.columns else "item"
        item = "item" if "item" in self.columns else "stimulus"
        return self.text(row, stimulus), self.text(row, item)

    def order(self, row: Row) -> list[str] | None:
        """What was displayed, in order; None if no column says."""
        if "order" not in self.columns:
            return None
        cell = unpacked(self.cell(row, "order"))
        if isinstance(cell, str) and not cell.lstrip().startswith("["):
            cell = [part.strip() for part in cell.split(",")]
        if not isinstance(cell, list) or not all(isinstance(part, str | int) for part in cell):
            raise self._bad_order(row)
        return [str(part) for part in cell]

    def scores_in_order(self, row: Row) -> list[int]:
        """The points of the scale as displayed; from the worst to the best if no column says."""
        every = [*range(1, self.scale(row).points.count + 1)]
        shown = self.order(row)
        try:
            points = every if shown is None else [self.point(row, score) or 0 for score in shown]
        except BadVerdictError:
            points = []
        if sorted(points) != every:
            raise self._bad_order(row)
        return points

    def _bad_order(self, row: Row) -> BadRowError:
        things = {"score": "the scores of the scale", "criteria": "the criteria"}
        return BadRowError(
            f"{row.where}: {self.columns['order']} is {str(self.cell(row, 'order'))[:60]!r}; the "
            f"field order lists {things.get(self.kind, 'the candidates')} as displayed, such as "
            "3,1,2 or [3, 1, 2]"
        )

    @property
    def single_scale(self) -> Scale | None:
        """Low, step and count of the numbers that all rows so far score with, if all do alike."""
        scales = [*self._scales.values()]
        if len(scales) != 1 or scales[0].words:
            return None
        return scales[0].points

    def scale(self, row: Row) -> LogScale:
        """The scale of a row's scores."""
        text = self.choice.scale or self.log.scale
        if self.choice.scale is None and "scale" in self.columns:
            text = self.text(row, "scale")
        if not text:
            raise UsageError(
                "give the possible scores: --scale LOW:HIGH (1:5, or 0:1:0.25 with a step), or "
                "all grades, the worst first (--scale bad,fair,good)"
            )
        if text not in self._scales:
            self._scales[text] = self._fitting(LogScale.of(text))
        return self._scales[text]

    def _fitting(self, scale: LogScale) -> LogScale:
        """The scale, if the axis takes one of so many points."""
        points = scale.points
        cell = {**KINDS["score" if self.is_of_scores else self.kind].cell, "scale": points.count}
        if self.kind != "criteria":
            cell["order"] = list(range(1, points.count + 1))
        axis = axis_of("score") if self.is_of_scores else self.axis
        if fault := all_axes()[axis].fault(cell):
            fewer = f", such as {suggested({points.low, points.high})}" * (not scale.words)
            raise UsageError(
                f"the scale {scale.text} has {points.count} points, and {fault}; round to fewer "
                f"points{fewer}"
            )
        return scale

    def point(self, row: Row, cell: Any) -> int | None:
        """A score as a point of the scale."""
        scale = self.scale(row)
        known = scale, cell, type(cell)
        if isinstance(cell, str | int | float) and known in self._points:
            return self._points[known]
        if not scale.words and len(self.numbers) < MOST_REMEMBERED_ROWS:
            number = scale.number(cell)
            self.numbers |= set() if number is None else {number}
        point = scale.point(cell, row, nearest=self.choice.nearest)
        if isinstance(cell, str | int | float) and len(self._points) < MOST_REMEMBERED_ROWS:
            self._points[known] = point
        return point

    def score(self, row: Row, name: str) -> int | None:
        """The verdict in a field as a point of the scale; None where nothing was read."""
        meant = self.meant(self.cell(row, name))
        return None if meant == NONE else self.point(row, meant)

    def number(self, row: Row, name: str) -> float | None:
        """A score as it is, on whatever scale; None where nothing was read."""
        cell = self.meant(self.cell(row, name))
        if cell is None or cell == "" or cell == NONE:
            return None
        if (number := finite(cell)) is None:
            raise BadVerdictError(
                f"{row.where}: {self.columns[name]} is {str(cell)[:60]!r}, which is no score", cell
            )
        return number

    def meant(self, cell: Any) -> Any:
        """What the user or the format says that a word of the log means; else the cell."""
        return self.meanings.get(key_of(cell), cell) if self.meanings else cell

    def shown(self, row: Row) -> list[str]:
        """The names of the two responses as displayed."""
        shown = [self.text(row, "first"), self.text(row, "second")]
        if shown[0] == shown[1]:
            raise BadRowError(f"{row.where}: both responses are called {shown[0][:60]!r}")
        return shown[::-1] if self._is_swapped(row) else shown

    def _is_swapped(self, row: Row) -> bool:
        if not self.has(row, "swapped") and "swapped" not in self.choice.columns:
            return False
        word = self.text(row, "swapped").lower()
        if word not in SWAPPED:
            raise StimuliError(
                f"{row.where}: {self.columns['swapped']} is {word[:60]!r}; it can be "
                f"{', '.join(SWAPPED)}"
            )
        return SWAPPED[word]

    def slot(self, row: Row, name: str, shown: list[str]) -> int | str | None:
        """Which of two responses a field names, "tie" or "abstain"; None if nothing was read.

        A response is named by its slot, by its name, or by the name of its column; the user can
        say of a word which column it means. UsageError where it can be a slot or a column.
        """
        cell = self.cell(row, name)
        if cell is None or cell == "" or cell != cell:  # NaN
            return None
        meant = self.meanings.get(key_of(cell)) if self.meanings else None
        if meant is None and (said := self.text(row, name)) in shown:
            return shown.index(said) + 1
        column = self._column(word(cell) if meant is None else meant)
        if column and (response := _text_at(row, column)) in shown:
            return shown.index(response) + 1
        self.has_numbered_slots |= meant is None and word(cell) in ("1", "2")
        try:
            slot = slot_of(cell if meant is None else meant)
            if meant is None and isinstance(slot, int) and "verdict" in self._mapped:
                self._refuse_double_meaning(row, name, shown, slot)
            return slot
        except KeyError:
            raise BadVerdictError(
                f"{row.where}: {self.columns[name]} is {str(cell)[:60]!r}, which is neither one of "
                "the two responses nor a slot, such as 1, 2, A>B or tie",
                cell,
            ) from None

    @cached_property
    def _sides(self) -> dict[tuple[str, str], tuple[str, str]]:
        """Pairs of columns that are called alike, and the words for their sides."""
        return pairs_by_side(self.seen)

    def _refuse_double_meaning(self, row: Row, name: str, shown: list[str], slot: int) -> None:
        """UsageError where a word is that of a slot, and of a column with the other response."""
        said = word(self.cell(row, name))
        for pair, sides in self._sides.items():
            if (named := words_of_sides(said, sides)) is None:
                continue
            words, side = named
            responses = [_text_at(row, column) for column in pair]
            if {*responses} == {*shown} and responses[side] != shown[slot - 1]:
                slots = " ".join(map(_option, words, "12"))
                columns = " ".join(map(_option, words, pair))
                raise UsageError(
                    f"{row.where}: {self.columns[name]} is {said!r}, and {pair[side]} was not "
                    f"shown there; say which is meant: {slots} (what was shown first and second), "
                    f"or {columns} (the responses in these columns)"
                )

    def _column(self, said: str) -> str | None:
        """The column that a word names; a slot's own name, as `a`, is a slot."""
        sides = (self.columns.get(side, "") for side in ("first", "second"))
        named = (column for column in (*sides, *self.seen) if column.lower() == said)
        return next(named, None) if len(said) > 1 and said not in ("first", "second") else None

    def _is_winner(self, meant: str) -> bool:
        """Whether a verdict is a slot, a tie, a lost call, or the column of a response."""
        try:
            slot_of(meant)
        except KeyError:
            return self._column(meant.lower()) is not None
        return True


def _option(said: str, meant: str) -> str:
    return options_for([said], meant)


def _text_at(row: Row, column: str) -> str:
    """What a column holds, as text; "" where it is none."""
    cell = row.at(column)
    return (
        Row(row.where, {column: cell}).text(column) if isinstance(cell, str | int | float) else ""
    )


def _listed(cell: Any) -> list[Any] | None:
    """The readings that a cell lists; None for a cell that is one."""
    if not isinstance(cell, str | list):
        return None
    cells = unpacked(cell)
    is_plain = isinstance(cells, list) and not any(isinstance(c, list | dict) for c in cells)
    return cells if is_plain else None
