"""`datasheet.html`: one file, no network; a small script sorts tables, and all works without it."""

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from markupsafe import Markup

from judgesheet.base.records import Datasheet, Plot
from judgesheet.base.remembered import remembered
from judgesheet.base.resources import data_folder
from judgesheet.sheet import Paper
from judgesheet.sheet.chart import themed
from judgesheet.sheet.forest import forest
from judgesheet.sheet.page import Page, build
from judgesheet.sheet.page.parts import flat, share_out
from judgesheet.sheet.page.table import AxisPart
from judgesheet.sheet.plots import SMALL, Drawing, draw, plot_void
from judgesheet.sheet.templates import template

_SHOWN_AS_IS = re.compile(r"(<pre\b.*?</pre>|<script>.*?</script>)", re.DOTALL)
_INDENT = re.compile(r"\n\s+")
_OPTIONAL = re.compile(r"</(?:td|th|tr|tbody|thead|dt|dd|li)>\s*")
"""End tags that HTML lets one leave out: a tenth of the page."""

SUFFIX = "html"
TEMPLATE = "datasheet.html.jinja"
CASES = "cases.html"
"""The page with the replies, which figures link to where it lies beside the sheet."""
PLOTS = 4
"""Figures on page two."""
BRIEF = 5
"""Effects in the forest plot where page one has no room for more."""


@dataclass(frozen=True, slots=True)
class Drawings:
    """The picture of page one and its forest plot, the figures of page two, and the others.

    `brief` is the forest plot of the worst effects, for a page on which problems need the room.
    """

    worst: Drawing | None
    forest: Drawing
    brief: Drawing
    front: tuple[Drawing, ...]
    rest: tuple[Drawing, ...]

    def every(self) -> tuple[Drawing, ...]:
        """All of them in the order of the document."""
        worst = (self.worst,) if self.worst else ()
        return (*worst, self.forest, *self.front, *self.rest)


def render(sheet: Datasheet, _paper: Paper, cases: str = "") -> bytes:
    """The sheet for browsers: light, dark and print; figures link to their `cases`."""
    page = build(sheet)
    drawn = drawings(page)
    text = filled(
        TEMPLATE,
        scripts=("sort.js",),
        page=page,
        cases=cases,
        figures=drawn,
        forest=drawn.forest,
        place=place,
    )
    return minify_html(text).encode()


def filled(name: str, *css: str, scripts: Sequence[str] = (), **variables: Any) -> str:
    """A page of ours with its style sheets and scripts, and a policy that lets nothing else run."""
    sheets = ("sheet.css", "screen.css", *css)
    styles, code = minify_css("".join(map(style, sheets))), "".join(map(style, scripts))
    # Style sheets and scripts are ours; everything else goes through autoescape.
    return template(name).render(
        css=Markup(styles),  # noqa: S704
        script=Markup(code),  # noqa: S704
        policy=security_policy(styles, code),
        **variables,
    )


def place(drawing: Drawing) -> Markup:
    """A drawing in a page with a dark mode; what draws it escapes foreign text."""
    return Markup(themed(drawing.svg))  # noqa: S704


def minify_html(text: str) -> str:
    """The page without indentation and needless end tags.

    What is shown as it is (`pre`) or signed (`script`) stays as it is.
    """
    parts = _SHOWN_AS_IS.split(text)
    return "".join(
        part if index % 2 else _OPTIONAL.sub("", _INDENT.sub("\n", part))
        for index, part in enumerate(parts)
    )


def style(name: str) -> str:
    """A style sheet or script of ours."""
    return (data_folder("templates") / name).read_text(encoding="utf-8")


@remembered  # by HTML, PDF and pages of the user's own
def drawings(page: Page) -> Drawings:
    """Every figure; page two gets the first of each axis, then the second, while there is room.

    Figures that must not be used come to page two only where there is no other, and the one that
    page one has in small comes with the rest.
    """
    numbers = count()
    worst = page.front.picture
    small = None if worst is None else draw(worst.plot, worst.axis.estimates, "worst", SMALL)
    drawn, queues, spare = [], [], []
    for axis in page.axes:
        plots = axis.result.figures
        void = [plot_void(axis.result, plot) for plot in plots]
        mine = [
            _drawn(axis, plot, why, next(numbers)) for plot, why in zip(plots, void, strict=True)
        ]
        # What page one shows in small is not shown twice in front.
        shown = [
            (drawing, bool(why))
            for drawing, plot, why in zip(mine, plots, void, strict=True)
            if drawing.svg and (worst is None or plot is not worst.plot)
        ]
        queues.append([drawing for drawing, is_void in shown if not is_void])
        spare.append([drawing for drawing, _ in shown])
        drawn.append(mine)
    front = flat(share_out(queues if any(queues) else spare, PLOTS))
    rest = tuple(
        drawing for drawing in flat(drawn)
        if drawing not in front and (drawing.svg or drawing.notes)
    )  # fmt: skip
    return Drawings(small, forest(page.axes), forest(page.axes, BRIEF), front, rest)


def _drawn(axis: AxisPart, plot: Plot, void: str, number: int) -> Drawing:
    """A figure of an axis, which its second line names."""
    drawing = draw(plot, axis.result.estimates, f"f{number}", void=void)
    return replace(drawing, about=": ".join(filter(None, (axis.title, drawing.about))))


def security_policy(css: str, script: str) -> str:
    """A content security policy that lets in exactly these two texts."""
    digests = (hashlib.sha256(text.encode()).digest() for text in (css, script))
    style_source, script_source = (f"'sha256-{base64.b64encode(d).decode()}'" for d in digests)
    allowed = script_source if script else "'none'"
    return (
        f"default-src 'none'; style-src {style_source}; script-src {allowed}; "
        "base-uri 'none'; form-action 'none'"
    )


def minify_css(css: str) -> str:
    """The style sheet without comments and indentation."""
    css = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    return re.sub(r"\s*([{};])\s*", r"\1", re.sub(r"\s+", " ", css)).strip()
