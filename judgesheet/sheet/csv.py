"""One row per estimate, for spreadsheets and data frames; numbers are not rounded."""

import csv
import io
from dataclasses import replace

from judgesheet.base.records import Datasheet, Estimate
from judgesheet.sheet import Paper
from judgesheet.sheet.show import unit_of, visible

SUFFIX = "csv"
OWN = (
    *("key", "label", "value", "low", "high", "level", "unit", "n", "clusters", "conditions"),
    *("method", "note"),
)
PAPER = ("value", "low", "high", "method")
LOST = ("calls", "low", "high")
_STARTS_A_FORMULA = ("=", "+", "-", "@")  # a spreadsheet would compute a note that begins so


def render(sheet: Datasheet, _paper: Paper) -> bytes:
    """The estimates as RFC 4180 CSV in UTF-8, with a header row."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    head = (*OWN, *(f"paper_{name}" for name in PAPER), *(f"imputed_{name}" for name in LOST))
    writer.writerow(head)
    writer.writerows(_row(estimate) for axis in sheet.axes for estimate in axis.estimates)
    return out.getvalue().encode()


def _row(estimate: Estimate) -> list[str]:
    given = replace(estimate, unit=unit_of(estimate))
    parts = ((given, OWN), (estimate.paper_compatible, PAPER), (estimate.imputed, LOST))
    return [_cell(getattr(part, name, None)) for part, names in parts for name in names]


def _cell(value: str | float | None) -> str:
    """A number as Python writes it, a text so that no spreadsheet takes it for a formula."""
    if value is None:
        return ""
    if not isinstance(value, str):  # all digits, so that it is read back as the same number
        return repr(value)
    text = visible(value).replace("\n", " ").replace("\t", " ")
    return f"'{text}" if text.lstrip().startswith(_STARTS_A_FORMULA) else text
