"""`datasheet.html`: one file, no network, no script."""

import re
from collections.abc import Callable, Mapping, Sequence

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from judgesheet.records import Datasheet
from judgesheet.resources import template_dir
from judgesheet.spine.render import Options
from judgesheet.spine.render.figures import Drawing, draw
from judgesheet.spine.render.page import Page, build

_SHOWN_AS_IS = re.compile(r"(<pre\b.*?</pre>)", re.DOTALL)
_INDENT = re.compile(r"\n\s+")

SUFFIX = "html"
TEMPLATE = "datasheet.html.jinja"


def render(sheet: Datasheet, _options: Options) -> bytes:
    """The sheet for browsers: light, dark and print."""
    page = build(sheet)
    styles = [style("sheet.css"), style("screen.css")]
    return tight(document(page, styles, drawings(page, themed=True), inline)).encode()


def tight(text: str) -> str:
    """The page without indentation, except where it is shown (`pre`)."""
    parts = _SHOWN_AS_IS.split(text)
    return "".join(
        part if index % 2 else _INDENT.sub("\n", part) for index, part in enumerate(parts)
    )


def style(name: str) -> str:
    """A style sheet of ours."""
    return (template_dir() / name).read_text(encoding="utf-8")


def drawings(page: Page, *, themed: bool) -> dict[str, list[Drawing]]:
    """The figures of each axis, by its anchor; `themed` ones follow light and dark."""
    return {
        axis.anchor: [
            draw(figure, axis.result, f"{axis.anchor}-figure-{number}", themed=themed)
            for number, figure in enumerate(axis.result.figures, 1)
        ]
        for axis in page.axes
    }


def inline(drawing: Drawing) -> Markup:
    """The drawing as it is: `figures` escapes the foreign text that it sets."""
    return Markup(drawing.svg)  # noqa: S704


def document(
    page: Page,
    styles: Sequence[str],
    figures: Mapping[str, Sequence[Drawing]],
    place: Callable[[Drawing], Markup],
) -> str:
    """The page as HTML; `place` puts a drawing where it belongs."""
    environment = Environment(
        loader=FileSystemLoader(template_dir()),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template(TEMPLATE)
    # The style sheets are ours; everything else goes through autoescape.
    css = Markup("\n".join(styles))  # noqa: S704
    return template.render(page=page, css=css, figures=figures, place=place)
