"""The units of estimates: the ends of their scale, how they are printed, whether they differ.

An estimate has the name of its unit; a name that is not listed here is a plain quantity.
"""

import math
from dataclasses import dataclass
from typing import Literal

from judgesheet.base.records import Estimate


@dataclass(frozen=True, slots=True)
class Unit:
    """What a reader must know of a unit.

    `ends` are the least and the largest value there can be, None where the scale has none.
    `percent` units are printed times 100 with their `sign`, `parts` of a unit make a whole, a
    `symbol` stands before its number (`V = 0.11`), `short` is the unit in the column of a table,
    `one` what 1 is followed by.
    Two values that are no `quantity` have no difference, and `why` says so: a `p-value`, or the
    `name` of something.
    """

    name: str
    ends: tuple[float, float] | None = None
    percent: bool = False
    sign: str = "%"
    parts: float = 1.0
    symbol: bool = False
    short: str = ""
    one: str = ""
    kind: Literal["quantity", "p-value", "name"] = "quantity"
    why: str = ""

    @property
    def scale(self) -> float:
        """What a number is multiplied with for print."""
        return 100.0 if self.percent else 1.0


FISHER = ("r", "rho")
"""The units of figures whose intervals are t intervals of Fisher's z."""
QUALITY_STEPS = "required elements"
"""The unit of figures that say how small a difference of quality the judge sees."""


SHARE, _COEFFICIENT = (0.0, 1.0), (-1.0, 1.0)

POINTS, _POINT = "percentage points", "percentage point"

UNITS = {
    unit.name: unit
    for unit in (
        *(Unit(name, SHARE, percent=True) for name in ("share", "rate", "proportion")),
        Unit("probability", SHARE, percent=True),
        Unit("V", SHARE, symbol=True),
        *(Unit(name, _COEFFICIENT, symbol=True) for name in ("r", "rho", "tau", "tau-b")),
        *(Unit(name, _COEFFICIENT, symbol=True) for name in ("kappa", "alpha")),
        Unit("difference", _COEFFICIENT, percent=True, sign=POINTS, one=_POINT),
        Unit("difference of r", _COEFFICIENT, short="r"),
        Unit(POINTS, parts=100.0, one=_POINT),
        Unit(
            "p",
            symbol=True,
            kind="p-value",
            why="p-values have no difference; the effect beside it has one",
        ),
        Unit("order", kind="name", why="the name of an order, not a quantity"),
        *(Unit(name, symbol=True) for name in ("d'", "t", "z")),
        Unit("chi-square", symbol=True, short="χ²"),
        Unit(QUALITY_STEPS, short="elements", one="required element"),
        *(Unit(f"{one}s", one=one) for one in ("point", "call", "prompt", "repeat", "score")),
        Unit("calls per point", one="call per point"),
        Unit("criteria", one="criterion"),
    )
}


def unit(name: str) -> Unit:
    """The unit of that name."""
    return UNITS.get(name) or Unit(name)


def scale_of(*estimates: Estimate) -> tuple[float, float]:
    """The least and the largest value that a figure can have, in these sheets; may be infinite.

    A share that lies below 0 somewhere is a difference of shares.
    """
    low, high = unit(estimates[0].unit).ends or (-math.inf, math.inf)
    known = (end for one in estimates for end in (one.value, one.low) if end is not None)
    return min(low, -high) if min(known, default=low) < low else low, high
