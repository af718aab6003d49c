"""Pages of other commands: sentences, tables and drawings, as Markdown, HTML or PDF.

What a command found comes as a `Report`, made by `comparison` or `correction`; its JSON is
its own.
"""

import json
from dataclasses import dataclass
from typing import Any

from judgesheet.base.resources import data_folder
from judgesheet.correcting.result import ReportedNumber
from judgesheet.sheet import Paper, show
from judgesheet.sheet.charts import Chart
from judgesheet.stats.interval import Interval

FORMATS = ("md", "html", "pdf", "json")
DASH = "–"
"""Stands where there is nothing."""


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table with a sentence above it; `align` has l or r per column.

    `keys` are those of figures, a row each: below its first cell, in Markdown in its place.
    """

    title: str
    reading: str
    head: tuple[str, ...]
    align: str
    rows: tuple[tuple[str, ...], ...]
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """The content of a page; `facts` stand below the title."""

    kicker: str
    title: str
    facts: tuple[tuple[str, str], ...]
    lead: tuple[str, ...]
    warnings: tuple[str, ...]
    grids: tuple[ReportTable, ...]
    charts: tuple[Chart, ...] = ()
    notes: tuple[str, ...] = ()


def render(report: Report, record: Any, name: str, paper: Paper) -> bytes:
    """The page in a format of `FORMATS`; `record` is the result as JSON has it."""
    if name == "pdf":
        return as_pdf(report, record, paper)
    if name == "json":
        return (json.dumps(record, indent=2) + "\n").encode()
    return as_html(report).encode() if name == "html" else as_markdown(report)


def worded(figure: ReportedNumber | Interval | None, unit: str) -> str:
    """`69.6 % (60.4–77.7)`; a dash where there is nothing."""
    if figure is None or figure.value is None:
        return DASH
    return show.quantity(figure.value, figure.low, figure.high, unit).in_table


def as_markdown(report: Report) -> bytes:
    """GitHub-flavoured Markdown that also reads well in a terminal."""
    from judgesheet.sheet.markdown import fill

    return fill("report.md.jinja", page=report).encode()


def as_html(report: Report, paper: Paper | None = None) -> str:
    """One page without network or script."""
    from judgesheet.sheet.templates import filled

    form = "print.css" if paper else "screen.css"
    return filled("report.html.jinja", form, "report.css", page=report, paper=paper)


def as_pdf(report: Report, record: Any, paper: Paper) -> bytes:
    """The page for paper, with the record of the result attached; the same gives the same bytes."""
    from judgesheet.sheet.pdf import EPOCH, typeset

    attached = json.dumps(record, indent=2)
    return typeset(as_html(report, paper), data_folder("templates"), attached, EPOCH)
