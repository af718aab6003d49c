"""Rows and lines that cannot be read: left out and told while they are few, else a refusal."""

from dataclasses import dataclass, field

from judgesheet.base.errors import StimuliError
from judgesheet.base.limits import MOST_IN_A_LIST

TOLERATED_SHARE = 0.1
"""Share of rows or lines that cannot be read above which it is not they that are wrong: the scale,
a column, or what the file is taken for."""


@dataclass
class Tally:
    """How many rows or lines of a file were read, and which cannot be and are left out."""

    unit: str
    read: int = 0
    left_out: int = 0
    first: StimuliError | None = None
    """What is wrong with the first of them."""
    _places: list[str] = field(default_factory=list)
    """Where they stand, of the first ones."""

    def add(self, fault: StimuliError, place: str) -> None:
        """Leave out what stands at a place, such as the number of a line."""
        self.left_out += 1
        self.first = self.first or fault
        if self.left_out <= MOST_IN_A_LIST:
            self._places.append(place)

    def sentence(self) -> str:
        """How many are left out, which, and why the first; "" if none is."""
        if not self.left_out:
            return ""
        verb, first = ("are", ", the first") if self.left_out > 1 else ("is", "")
        return (
            f"{self._amount()} cannot be read ({self._where()}) and {verb} left out{first}: "
            f"{self.first}"
        )

    def refuse_many(self) -> None:
        """StimuliError if too many are left out for it to be their own fault."""
        if self.left_out <= TOLERATED_SHARE * (self.read + self.left_out):
            return
        if self.left_out == 1:
            raise StimuliError(str(self.first))
        raise StimuliError(f"{self.first} ({self._amount()} cannot be read: {self._where()})")

    def _amount(self) -> str:
        return f"{self.left_out:,} of {self.read + self.left_out:,} {self.unit}s"

    def _where(self) -> str:
        """`lines 7, 12 and 3 more`."""
        unit = "line" if all(map(str.isdecimal, self._places)) else self.unit
        more = self.left_out - len(self._places)
        places = ", ".join(self._places) + (f" and {more:,} more" if more else "")
        return f"{unit}{'s' * (self.left_out > 1)} {places}"
