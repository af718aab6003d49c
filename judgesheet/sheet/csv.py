"""One row per estimate, for spreadsheets and data frames; numbers are not rounded."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from judgesheet.base.datasheet import worst_verdicts
from judgesheet.base.records import AxisResult, Datasheet, Estimate, Verdict
from judgesheet.sheet import Paper
from judgesheet.sheet.show import unit_of, visible

SUFFIX = "csv"
FIELDS = (
    *("label", "value", "low", "high", "level", "unit", "n", "clusters", "conditions"),
    *("method", "note"),
)
"""Fields of an estimate that a table of them has, as a data frame has too."""
OWN = ("key", *FIELDS)
PAPER = ("value", "low", "high", "method")
LOST = ("calls", "low", "high")
HEAD = (*OWN, "status", *(f"paper_{name}" for name in PAPER), *(f"imputed_{name}" for name in LOST))
"""The header row; `status` is how the limit or else the effect of a figure came out, `invalid` of
those that must not be used."""
_STARTS_A_FORMULA = ("=", "+", "-", "@")  # a spreadsheet would compute a note that begins so


def render(sheet: Datasheet, _paper: Paper) -> bytes:
    """The estimates as RFC 4180 CSV in UTF-8, with a header row."""
    limits = worst_verdicts(sheet)
    rows = (_row(one, axis, limits) for axis in sheet.axes for one in axis.estimates)
    return written(HEAD, rows)


def written(head: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """A table as CSV, of cells as `cell` makes them."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(head)
    writer.writerows(rows)
    return out.getvalue().encode()


def _row(estimate: Estimate, axis: AxisResult, limits: Mapping[str, Verdict]) -> list[str]:
    given = replace(estimate, unit=unit_of(estimate))
    parts = ((estimate.paper_compatible, PAPER), (estimate.imputed, LOST))
    own = [cell(getattr(given, name)) for name in OWN]
    more = [cell(getattr(part, name, None)) for part, names in parts for name in names]
    return [*own, _status(estimate.key, axis, limits), *more]


def _status(key: str, axis: AxisResult, limits: Mapping[str, Verdict]) -> str:
    """A machine word of the contract; "" of a figure about which nothing is decided."""
    if axis.void_reason(key):
        return "invalid"
    if key in limits:
        return limits[key].status
    # Several effects may lie in one figure, of all calls and of some: the worst stands first.
    return next((one.verdict for one in axis.effects if one.key == key), "")


def cell(value: str | float | None) -> str:
    """A number as Python writes it, a text so that no spreadsheet takes it for a formula."""
    if value is None:
        return ""
    if not isinstance(value, str):  # all digits, so that it is read back as the same number
        return repr(value)
    text = visible(value).replace("\n", " ").replace("\t", " ")
    return f"'{text}" if text.lstrip().startswith(_STARTS_A_FORMULA) else text
