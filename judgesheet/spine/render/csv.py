"""One row per estimate, for spreadsheets and data frames; numbers are not rounded."""

import csv
import io
from collections.abc import Iterator

from judgesheet.records import Datasheet, Estimate, Imputed, PaperCompatible
from judgesheet.spine.render import Paper
from judgesheet.spine.render.show import unit_of, visible

SUFFIX = "csv"
COLUMNS = (
    *("key", "label", "value", "low", "high", "level", "unit", "n", "clusters", "conditions"),
    *("method", "note", "paper_value", "paper_low", "paper_high", "paper_method"),
    *("imputed_calls", "imputed_low", "imputed_high"),
)
_STARTS_A_FORMULA = ("=", "+", "-", "@")


def render(sheet: Datasheet, _paper: Paper) -> bytes:
    """The estimates as RFC 4180 CSV in UTF-8, with a header row."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for axis in sheet.axes:
        writer.writerows(list(_cells(estimate)) for estimate in axis.estimates)
    return out.getvalue().encode()


def _cells(estimate: Estimate) -> Iterator[str]:
    paper = estimate.paper_compatible or PaperCompatible(None, None, None, "")
    lost = estimate.imputed or Imputed(0, None, None)
    row = (
        estimate.key, estimate.label, estimate.value, estimate.low, estimate.high,
        estimate.level, unit_of(estimate), estimate.n, estimate.clusters, estimate.conditions,
        estimate.method, estimate.note, paper.value, paper.low, paper.high, paper.method,
        lost.calls or None, lost.low, lost.high,
    )  # fmt: skip
    return map(_cell, row)


def _cell(value: str | float | None) -> str:
    """A number as Python writes it, a text so that no spreadsheet takes it for a formula."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return repr(value)
    text = visible(value).replace("\n", " ").replace("\t", " ")
    return f"'{text}" if text.lstrip().startswith(_STARTS_A_FORMULA) else text
