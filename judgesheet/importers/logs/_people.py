"""People's ratings in a file of their own, beside the rows of a log."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgesheet.base.digits import counted
from judgesheet.base.errors import UsageError
from judgesheet.importers._rows import Row, having, rows_of
from judgesheet.importers.tables import read_table
from judgesheet.importers.words import key_of

RATINGS = "ratings"
"""The column under which a row holds all columns of the other file: `ratings.score`."""


@dataclass
class People:
    """The rows of a second file by the column that both have; several of one name are raters."""

    path: Path
    on: str
    _rows: dict[str, list[Row]] = field(default_factory=dict)
    _met: set[str] = field(default_factory=set)
    _missed: int = 0

    def __post_init__(self) -> None:
        self.ours, _, theirs = self.on.partition("=")
        by_key = defaultdict(list)
        for row in having(rows_of(read_table(self.path)), [theirs or self.ours]):
            by_key[key_of(row.at(theirs or self.ours))].append(row)
        by_key.pop("", None)  # a rating of nothing
        self._rows = dict(by_key)

    def beside(self, rows: Iterator[Row]) -> Iterator[Row]:
        """The rows, each with what the other file says of it, under its own names where free."""
        for row in having(rows, [self.ours]):
            key = key_of(row.at(self.ours))
            said = self._cells(self._rows.get(key, []))
            self._met |= {key} & self._rows.keys()
            self._missed += key not in self._rows
            yield Row(row.where, {**said, RATINGS: said, **row.cells})

    @staticmethod
    def _cells(rows: list[Row]) -> dict[str, Any]:
        if len(rows) < 2:
            return dict(rows[0].cells) if rows else {}
        return {name: [row.cells[name] for row in rows] for name in rows[0].cells}

    def remarks(self) -> Iterator[str]:
        """Which rows have no match, in both files."""
        unused = len(self._rows.keys() - self._met)
        if self._missed:
            yield f"{counted(self._missed, 'row has', 'rows have')} no rating in {self.path.name}"
        if unused:
            rated = counted(unused, f"{self.ours} of", f"{self.ours} of")
            yield f"{self.path.name} rates {rated} no row of the log"


def people_of(path: Path | None, on: str | None) -> People | None:
    """The second file, if the user names one; UsageError if only half of it is said."""
    if (path is None) != (on is None):
        raise UsageError("--ratings FILE and --on COLUMN go together: the column that both have")
    return People(Path(path), on) if path is not None and on is not None else None
