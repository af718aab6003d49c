"""`datasheet.html`: one file, no network; a small script sorts tables, and all works without it."""

from jinja2 import Environment

from judgesheet.base.datasheet import by_key
from judgesheet.base.limits import MOST_ON_PAGE_ONE
from judgesheet.base.records import Datasheet
from judgesheet.sheet import Paper, show
from judgesheet.sheet.context import EFFECTS, USES, context
from judgesheet.sheet.identity import calls, failures, items, tested, untested
from judgesheet.sheet.templates import filled

SUFFIX = "html"
TEMPLATE = "datasheet.html.jinja"
CASES = "cases.html"
"""The page with the replies, which figures link to where it lies beside the sheet."""


def render(sheet: Datasheet, _paper: Paper, cases: str = "") -> bytes:
    """The sheet for browsers: light, dark and print; figures link to their `cases`."""
    return page(sheet, cases=cases).encode()


def page(
    sheet: Datasheet, name: str = TEMPLATE, among: Environment | None = None, *,
    paper: Paper | None = None, created: str = "", cases: str = "",
) -> str:  # fmt: skip
    """The sheet in HTML, for a screen or set for `paper`; a template may be of others' `among`."""
    return filled(
        name,
        "print.css" if paper else "screen.css",
        scripts=() if paper else ("sort.js",),
        among=among,
        page=context(sheet),
        paper=paper,
        created=created,
        cases=cases,
        uses=USES,
        effects_of=EFFECTS,
        most_on_page_one=MOST_ON_PAGE_ONE,
        level=show.confidence(by_key(sheet).values()),
        tested=tested(sheet),
        untested=untested(sheet),
        looks=show.looks(sheet.run),
        items=items,
        calls=calls(sheet),
        failures=tuple(failures(sheet.run)),
    )
