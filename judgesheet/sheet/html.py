"""`datasheet.html`: one file, no network; a small script sorts tables, and all works without it."""

import base64
import hashlib
import re
from dataclasses import dataclass, replace
from itertools import count

from markupsafe import Markup

from judgesheet.base.records import Datasheet
from judgesheet.base.resources import data_folder
from judgesheet.sheet import Paper
from judgesheet.sheet.chart import themed
from judgesheet.sheet.figures import SMALL, Drawing, draw
from judgesheet.sheet.forest import forest
from judgesheet.sheet.page import Page, build
from judgesheet.sheet.page.parts import Room, flat, share_out
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


@dataclass(frozen=True, slots=True)
class Drawings:
    """The picture of page one and its forest plot, the figures of page two, and the others."""

    worst: Drawing | None
    forest: Drawing
    front: tuple[Drawing, ...]
    rest: tuple[Drawing, ...]

    def every(self) -> tuple[Drawing, ...]:
        """All of them in the order of the document."""
        worst = (self.worst,) if self.worst else ()
        return (*worst, self.forest, *self.front, *self.rest)


def render(sheet: Datasheet, _paper: Paper, cases: str = "") -> bytes:
    """The sheet for browsers: light, dark and print; figures link to their `cases`."""
    page = build(sheet)
    drawn = drawings(page, Room().effects)
    styles = dense(style("sheet.css") + style("screen.css"))
    script = style("sort.js")
    # Style sheet, script and drawings are ours; everything else goes through autoescape.
    text = template(TEMPLATE).render(
        page=page,
        css=Markup(styles),  # noqa: S704
        script=Markup(script),  # noqa: S704
        cases=cases,
        policy=security_policy(styles, script),
        figures=drawn,
        forest=drawn.forest,
        # What draws them escapes foreign text.
        place=lambda drawing: Markup(themed(drawing.svg)),  # noqa: S704
    )
    return tight(text).encode()


def tight(text: str) -> str:
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


def drawings(page: Page, room: int) -> Drawings:
    """Every figure; page two gets the first of each axis, then the second, while there is room.

    Axes whose figures are void come to page two only where there is no other, and the figure that
    page one has in small comes with the rest.
    """
    numbers = count()
    drawn = []
    worst, small, seen = page.front.picture, None, set()
    if worst is not None:
        small = draw(worst.plot, worst.axis.estimates, "worst", SMALL)
    for axis in page.axes:
        mine = []
        for plot in axis.result.figures:
            drawing = draw(plot, axis.result.estimates, f"f{next(numbers)}")
            mine.append(_told(drawing, bool(axis.void)))
            if worst is not None and plot is worst.plot:
                seen.add(mine[-1].name)
        drawn.append(mine)
    sound = [mine for mine, axis in zip(drawn, page.axes, strict=True) if not axis.void] or drawn
    # What page one shows in small is not shown twice in front.
    queues = [[each for each in mine if each.svg and each.name not in seen] for mine in sound]
    front = flat(share_out(queues, lambda _: 1, PLOTS))
    rest = tuple(drawing for drawing in flat(drawn) if drawing not in front)
    return Drawings(small, forest(page.axes, room), front, rest)


def _told(drawing: Drawing, void: bool) -> Drawing:
    return replace(drawing, title=f"∅ Not usable: {drawing.title}") if void else drawing


def security_policy(css: str, script: str = "") -> str:
    """A content security policy that lets in exactly these two texts."""
    digests = (hashlib.sha256(text.encode()).digest() for text in (css, script))
    style_source, script_source = (f"'sha256-{base64.b64encode(d).decode()}'" for d in digests)
    allowed = script_source if script else "'none'"
    return (
        f"default-src 'none'; style-src {style_source}; script-src {allowed}; "
        "base-uri 'none'; form-action 'none'"
    )


def dense(css: str) -> str:
    """The style sheet without comments and indentation."""
    css = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    return re.sub(r"\s*([{};])\s*", r"\1", re.sub(r"\s+", " ", css)).strip()
