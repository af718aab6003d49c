"""A page that is no datasheet: sentences, warnings and tables, as Markdown, HTML or PDF.

What a command found comes as a `Report`, made by `correction` or `panel`; its JSON is its own.
"""

import json
from dataclasses import dataclass
from typing import Any

from judgesheet.sheet import Paper

TEMPLATE = "report.html.jinja"


@dataclass(frozen=True, slots=True)
class Grid:
    """A table with a sentence above it; `align` has l or r for every column.

    `command` stands below the sentence, so that it can be copied.
    """

    title: str
    reading: str
    head: tuple[str, ...]
    align: str
    rows: tuple[tuple[str, ...], ...]
    command: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """The content of a page; `facts` stand below the title."""

    kicker: str
    title: str
    facts: tuple[tuple[str, str], ...]
    lead: tuple[str, ...]
    warnings: tuple[str, ...]
    grids: tuple[Grid, ...]
    notes: tuple[str, ...] = ()


def as_markdown(report: Report) -> bytes:
    """GitHub-flavoured Markdown that also reads well in a terminal."""
    from judgesheet.sheet.markdown import fill

    return fill("report.md.jinja", page=report).encode()


def as_html(report: Report) -> bytes:
    """One page without network or script."""
    from judgesheet.sheet.html import filled, minify_html

    text = filled(TEMPLATE, "report.css", page=report)
    return minify_html(text).encode()


def as_pdf(report: Report, record: Any, paper: Paper) -> bytes:
    """The page for paper, with the record of the result attached; the same gives the same bytes."""
    from judgesheet.sheet.pdf import EPOCH, Typesetter, plain

    attached = json.dumps(record, indent=2)
    return Typesetter(attached, paper, "report.typ").pdf(plain(report), EPOCH)
