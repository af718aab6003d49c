"""`datasheet.html`: one file, no network; a small script sorts tables, and all works without it."""

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import count

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from judgesheet.records import Datasheet, Plot
from judgesheet.resources import data_folder
from judgesheet.spine.render import Paper
from judgesheet.spine.render.figures import Drawing, draw
from judgesheet.spine.render.forest import forest
from judgesheet.spine.render.page import Page, build
from judgesheet.spine.render.page.appendix import AxisAppendix
from judgesheet.spine.render.page.parts import Room, flat, share_out
from judgesheet.spine.render.svg import classes

_SHOWN_AS_IS = re.compile(r"(<pre\b.*?</pre>|<script>.*?</script>)", re.DOTALL)
_INDENT = re.compile(r"\n\s+")
_OPTIONAL = re.compile(r"</(?:td|th|tr|tbody|thead|dt|dd|li)>\s*")
"""End tags that HTML lets one leave out: a tenth of the page."""

SUFFIX = "html"
TEMPLATE = "datasheet.html.jinja"
PLOTS = 4
"""Figures on page two."""


@dataclass(frozen=True, slots=True)
class Drawings:
    """The forest plot, the figures of page two, and the others."""

    forest: Drawing
    front: tuple[Drawing, ...]
    rest: tuple[Drawing, ...]

    def every(self) -> tuple[Drawing, ...]:
        """All of them in the order of the document."""
        return (self.forest, *self.front, *self.rest)


def render(sheet: Datasheet, _paper: Paper) -> bytes:
    """The sheet for browsers: light, dark and print."""
    page = build(sheet)
    drawn = drawings(page, Room().effects, themed=True)
    svgs, css = classes(drawing.svg for drawing in drawn.every())
    light = [replace(d, svg=svg) for d, svg in zip(drawn.every(), svgs, strict=True)]
    plots = len(drawn.front)
    drawn = Drawings(light[0], tuple(light[1 : 1 + plots]), tuple(light[1 + plots :]))
    styles = _dense("".join([style("sheet.css"), style("screen.css"), css]))
    return tight(document(page, styles, drawn, inline, script=style("sort.js"))).encode()


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


def drawings(page: Page, room: int, *, themed: bool) -> Drawings:
    """Every figure; page two gets the first of each axis, then the second, while there is room.

    Axes whose figures are void come to page two only where there is no other.
    """
    numbers = count()
    drawn = [
        [_drawn(plot, axis, f"f{next(numbers)}", themed=themed) for plot in axis.result.figures]
        for axis in page.axes
    ]
    sound = [mine for mine, axis in zip(drawn, page.axes, strict=True) if not axis.void] or drawn
    queues = [[drawing for drawing in mine if drawing.svg] for mine in sound]
    front = flat(share_out(queues, lambda _: 1, PLOTS))
    rest = tuple(drawing for drawing in flat(drawn) if drawing not in front)
    return Drawings(forest(page.specs, room, themed=themed), front, rest)


def _drawn(plot: Plot, axis: AxisAppendix, name: str, *, themed: bool) -> Drawing:
    """The drawing of an axis whose control failed says so in its title."""
    drawing = draw(plot, axis.result.estimates, name, themed=themed)
    return replace(drawing, title=f"∅ Void: {drawing.title}") if axis.void else drawing


def inline(drawing: Drawing) -> Markup:
    """The drawing as it is: `figures` and `forest` escape the foreign text that they set."""
    return Markup(drawing.svg)  # noqa: S704


def document(
    page: Page,
    css: str,
    figures: Drawings,
    place: Callable[[Drawing], Markup],
    *,
    script: str = "",
    whole: bool = True,
) -> str:
    """The page as HTML; `place` puts a drawing where it belongs.

    With a `script` the page is for browsers and carries a policy under which nothing but that
    script and the style sheet runs; without one it is for paper. Not `whole`, it ends where the
    appendix begins.
    """
    # Style sheet and script are ours; everything else goes through autoescape.
    return template(TEMPLATE).render(
        page=page,
        css=Markup(css),  # noqa: S704
        script=Markup(script),  # noqa: S704
        policy=security_policy(css, script) if script else "",
        figures=figures,
        forest=figures.forest,
        place=place,
        paper=not script,
        whole=whole,
    )


@cache
def template(name: str) -> Template:
    """A template of ours, compiled; it escapes what is put into it and refuses what it lacks."""
    environment = Environment(
        loader=FileSystemLoader(data_folder("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def security_policy(css: str, script: str) -> str:
    """A content security policy that lets in exactly these two texts."""
    return (
        f"default-src 'none'; style-src {_source(css)}; script-src {_source(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _dense(css: str) -> str:
    """The style sheet without comments and indentation."""
    css = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    return re.sub(r"\s*([{};])\s*", r"\1", re.sub(r"\s+", " ", css)).strip()
