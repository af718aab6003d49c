"""Rows and lines that cannot be read: lost calls while they are few, else a refusal."""

from dataclasses import dataclass, field

from judgesheet.base.errors import StimuliError
from judgesheet.base.limits import MOST_IN_A_LIST

TOLERATED_SHARE = 0.1
"""Share of rows or lines that cannot be read above which it is not they that are wrong: the scale,
a column, or what the file is taken for."""


@dataclass
class Tally:
    """How many rows or lines of a file were read, and which cannot be and are lost calls."""

    unit: str
    read: int = 0
    lost: int = 0
    first: StimuliError | None = None
    """What is wrong with the first of them."""
    _places: list[str] = field(default_factory=list)
    """Where they stand, of the first ones."""

    def add(self, fault: StimuliError, place: str) -> None:
        """Count what stands at a place, such as the number of a line."""
        self.lost += 1
        self.first = self.first or fault
        if self.lost <= MOST_IN_A_LIST:
            self._places.append(place)

    def sentence(self) -> str:
        """How many are lost, which, and why the first; "" if none is."""
        if not self.lost:
            return ""
        count, first = ("count", ", the first") if self.lost > 1 else ("counts", "")
        return (
            f"{self._amount()} cannot be read ({self._where()}) and {count} as lost{first}: "
            f"{self.first}"
        )

    def refuse_many(self) -> None:
        """StimuliError if too many are lost for it to be their own fault."""
        if self.lost <= TOLERATED_SHARE * (self.read + self.lost):
            return
        if self.lost == 1:
            raise StimuliError(str(self.first))
        raise StimuliError(f"{self.first} ({self._amount()} cannot be read: {self._where()})")

    def _amount(self) -> str:
        return f"{self.lost:,} of {self.read + self.lost:,} {self.unit}s"

    def _where(self) -> str:
        """`lines 7, 12 and 3 more`."""
        unit = "line" if all(map(str.isdecimal, self._places)) else self.unit
        more = self.lost - len(self._places)
        places = ", ".join(self._places) + (f" and {more:,} more" if more else "")
        return f"{unit}{'s' * (self.lost > 1)} {places}"
