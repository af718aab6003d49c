"""The fields of a row, read from the columns that a map or the format of a log names."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from judgesheet.axes import all_axes
from judgesheet.base.errors import StimuliError, UsageError
from judgesheet.importers._rows import Row, finite, unpacked
from judgesheet.importers.logs._kinds import (
    FIELDS,
    KINDS,
    SLOTS,
    SWAPPED,
    axis_of,
    is_field,
    kind_of,
)
from judgesheet.importers.logs._log import (
    MEANING,
    BadRowError,
    BadVerdictError,
    LogFormat,
    LogOptions,
    Scale,
    word,
)


@dataclass
class FieldReader:
    """Reads the fields of rows: names, scores, winners and orders."""

    log: LogFormat
    choice: LogOptions
    _scales: dict[str, Scale] = field(default_factory=dict)

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
        told = {w: meant for w, meant in self.choice.columns.items() if not is_field(w)}
        grades = (self.choice.scale or self.log.scale).lower().split(",")
        for name, meant in told.items():
            if meant.lower() not in (*SLOTS, *grades) and finite(meant) is None:
                raise UsageError(
                    f"--map {name}={meant}: there is no field {name} ({', '.join(FIELDS)}), and "
                    f"{meant} is no verdict that a word of the log could mean, such as tie"
                )
        return {name.lower(): meant for name, meant in told.items()}

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

    def counts(self, row: Row) -> bool:
        """Whether a row is one of those that are wanted."""
        for column, wanted in self.where.items():
            cell = row.at(column)
            text = Row(row.where, {column: cell}).text(column) if cell is not None else ""
            if text != wanted:
                return False
        return True

    def cell(self, row: Row, name: str) -> Any:
        """What the column of a field holds."""
        return row.at(self.columns[name])

    def has(self, row: Row, name: str) -> bool:
        """Whether a row says something in a field."""
        return name in self.columns and self.cell(row, name) not in (None, "")

    def text(self, row: Row, name: str) -> str:
        """A field as text; BadRowError where it is empty."""
        cell = self.cell(row, name)
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
        every = [*range(1, self.scale(row).count + 1)]
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
    def single_scale(self) -> Mapping[str, float] | None:
        """Low, step and count of the numbers that all rows so far score with, if all do alike."""
        scales = [*self._scales.values()]
        if len(scales) != 1 or scales[0].words:
            return None
        return {"low": scales[0].low, "step": scales[0].step, "count": scales[0].count}

    def scale(self, row: Row) -> Scale:
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
            self._scales[text] = self._fitting(Scale.of(text))
        return self._scales[text]

    def _fitting(self, scale: Scale) -> Scale:
        """The scale, if the axis takes one of so many points."""
        cell = {**KINDS[self.kind].cell, "scale": scale.count}
        if self.kind != "criteria":
            cell["order"] = list(range(1, scale.count + 1))
        if fault := all_axes()[self.axis].fault(cell):
            raise UsageError(
                f"the scale {scale.text} has {scale.count} points, and {fault}; round to fewer "
                "points: --round and --scale LOW:HIGH:STEP with a larger STEP"
            )
        return scale

    def point(self, row: Row, cell: Any) -> int | None:
        """A score as a point of the scale."""
        return self.scale(row).point(cell, row, nearest=self.choice.nearest)

    def score(self, row: Row, name: str) -> int | None:
        """The verdict in a field as a point of the scale; None where nothing was read."""
        cell = self.cell(row, name)
        return None if self._is_unreadable(cell) else self.point(row, self._meant(cell))

    def _meant(self, cell: Any) -> Any:
        """What the map says that a word of the log means; else the cell."""
        return self.meanings.get(word(cell), cell)

    def _is_unreadable(self, cell: Any) -> bool:
        """Whether a verdict is one that stands for a reply in which nothing was read."""
        return bool(self.choice.unreadable) and str(cell).strip() in self.choice.unreadable

    def shown(self, row: Row) -> list[str]:
        """The names of the two responses as displayed."""
        shown = [self.text(row, "first"), self.text(row, "second")]
        if shown[0] == shown[1]:
            raise StimuliError(f"{row.where}: both responses are called {shown[0][:60]!r}")
        swapped = self.text(row, "swapped").lower() if "swapped" in self.columns else "no"
        if swapped not in SWAPPED:
            raise StimuliError(
                f"{row.where}: {self.columns['swapped']} is {swapped[:60]!r}; it can be "
                f"{', '.join(SWAPPED)}"
            )
        return shown[::-1] if SWAPPED[swapped] else shown

    def slot(self, row: Row, name: str, shown: list[str]) -> int | str | None:
        """Which of two responses a field names, "tie" or "abstain"; None if nothing was read."""
        cell = self.cell(row, name)
        if cell is None or cell == "" or cell != cell or self._is_unreadable(cell):  # NaN
            return None
        winner = str(self._meant(self.text(row, name)))
        if winner in shown:
            return shown.index(winner) + 1
        if winner.lower() in SLOTS:
            return SLOTS[winner.lower()]
        raise BadVerdictError(
            f"{row.where}: {self.columns[name]} is {winner[:60]!r}, neither one of the two "
            f"responses nor one of {', '.join(SLOTS)}; say{MEANING[1:]}"
        )
