"""Rows of a table, whose cells must be what is asked of them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from judgesheet.base.errors import StimuliError
from judgesheet.importers.words import finite, unpacked

if TYPE_CHECKING:
    from pandas import DataFrame

_WITH_COMMA = re.compile(r"[+-]?\d+,\d+")
HALVES = re.compile("[\ud800-\udfff]")
"""Halves of surrogate pairs, which JSON can spell and no UTF-8 file can hold."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a foreign file: `where` is `file:line`, `cells` holds the columns.

    `names` are the file's own names of columns that have another name here. Every method raises
    StimuliError, with place and column, where a cell is not what it asks for.
    """

    where: str
    cells: Mapping[str, Any]
    names: Mapping[str, str] = field(default_factory=dict)

    def value(self, column: str) -> Any:
        """The content of a column."""
        if column not in self.cells:
            known = shorten(", ".join(map(str, self.cells)), 500, placeholder=" …")
            raise StimuliError(
                f"{self.where}: there is no column {column!r}; the columns are {known}"
            )
        return self.cells[column]

    def at(self, column: str) -> Any:
        """The content of a column; the whole name first, then a path into objects and lists.

        Columns with a plus between them are one: `chat+agent` is `chat-1/ours`; of those with a bar
        between them, `a|b`, the first that holds something counts. What is absent is None, as JSON
        may leave out what is empty; `having` refuses a column that no row has. Of a list of objects
        a name in the path is a list: what each of them has there.
        """
        if column in self.cells:
            return self.cells[column]
        if "|" in column:
            cells = map(self.at, column.split("|"))
            return next((cell for cell in cells if cell is not None and cell != ""), None)
        if "+" in column:
            parts = {part: self.at(part) for part in column.split("+")}
            if any(cell is None or cell == "" for cell in parts.values()):
                return None
            return "/".join(map(Row(self.where, parts).text, parts))
        first, *path = column.split(".")
        cell = self.cells.get(first)
        for part in path:
            if isinstance(cell, list) and part.isdecimal():
                cell = cell[int(part)] if int(part) < len(cell) else None
            elif isinstance(cell, list):
                cell = [one.get(part) if isinstance(one, Mapping) else None for one in cell] or None
            else:
                cell = cell.get(part) if isinstance(cell, Mapping) else None
        return cell

    def text(self, column: str) -> str:
        """A column as text, without surrounding blanks; lists and objects are refused."""
        cell = self.value(column)
        if isinstance(cell, bool):
            return str(cell).lower()
        if isinstance(cell, float):
            return f"{cell:g}"
        if not isinstance(cell, str | int):
            raise self._fault(column, cell, "text")
        return _clean(str(cell))

    def optional(self, column: str) -> str | None:
        """A column as text where it may be absent or empty."""
        return None if self.cells.get(column) in (None, "") else self.text(column) or None

    def texts(self, column: str) -> list[str]:
        """A column that holds a list of texts."""
        return [_clean(text) for text in self._listed(column, str, "a list of texts")]

    def row(self, column: str) -> "Row":
        """A column that holds an object."""
        cell = self.value(column)
        if not isinstance(cell, Mapping):
            raise self._fault(column, cell, "an object")
        return Row(self.where, cell)

    def rows(self, column: str) -> list["Row"]:
        """A column that holds a list of objects."""
        return [Row(self.where, part) for part in self._listed(column, dict, "a list of objects")]

    def _listed(self, column: str, kind: type, wanted: str) -> list[Any]:
        cell = self.value(column)
        if not isinstance(cell, list) or not all(isinstance(part, kind) for part in cell):
            raise self._fault(column, cell, wanted)
        return cell

    def numbers(self, column: str) -> list[float | None]:
        """A rating or a list of them; None, and an empty cell, is a rating that was not given."""
        return list(self._numbers(self.value(column), column))

    def _numbers(self, cell: Any, column: str) -> Iterator[float | None]:
        cell = unpacked(cell)
        if isinstance(cell, list | tuple):
            for part in cell:
                yield from self._numbers(part, column)
        elif cell is None or cell == "":
            yield None
        else:
            number = finite(cell)
            if number is None:
                raise self._fault(column, cell, f"a finite number{advice_on_number(cell)}")
            yield number

    def _fault(self, column: str, cell: Any, wanted: str) -> StimuliError:
        name = self.names.get(column, column)
        return StimuliError(f"{self.where}: {name} is {str(cell)[:60]!r}, which is not {wanted}")


def _clean(text: str) -> str:
    return HALVES.sub("\ufffd", text.strip())


def advice_on_number(cell: Any) -> str:
    """How to write a cell that is nearly a number; "" for any other."""
    if isinstance(cell, str) and _WITH_COMMA.fullmatch(cell.strip()):
        return f": write {cell.strip().replace(',', '.')}, with a point"
    if str(cell).strip().lower() == "nan":
        return ": leave the cell empty where there is none"
    return ""


def having(rows: Iterable[Row], columns: Iterable[str]) -> Iterator[Row]:
    """The rows; after the last a StimuliError if one of these columns is in none of them."""
    wanted, first = set(columns), None
    for row in rows:
        first = first or row
        if wanted:
            wanted = {one for one in wanted if one not in row.cells and row.at(one) is None}
        yield row
    if wanted and first:
        name = min(wanted)
        within, (top, *path) = first.cells, name.split(".")
        if isinstance(inner := within.get(top), Mapping) and path:
            within = inner
        known = shorten(", ".join(map(str, within)), 500, placeholder=" …")
        raise StimuliError(f"{first.where}: there is no column {name!r}; the columns are {known}")


def rows_of(frame: "DataFrame") -> Iterator[Row]:
    """The rows of a table."""
    names = [*frame.columns]
    columns = (frame[name].tolist() for name in names)
    for where, *cells in zip(frame.index.tolist(), *columns, strict=True):
        yield Row(where, dict(zip(names, cells, strict=True)))
