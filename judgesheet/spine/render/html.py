"""`datasheet.html`: one file, no network, no script."""

from collections.abc import Sequence

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from judgesheet.records import Datasheet
from judgesheet.resources import template_dir
from judgesheet.spine.render import Options
from judgesheet.spine.render.figures import Drawing, draw
from judgesheet.spine.render.page import AxisPage, Page, build

SUFFIX = "html"
TEMPLATE = "datasheet.html.jinja"


def render(sheet: Datasheet, _options: Options) -> bytes:
    """The sheet for browsers: light, dark and print."""
    styles = [style("sheet.css"), style("screen.css")]
    return document(build(sheet), styles, themed=True).encode()


def style(name: str) -> str:
    """A style sheet of ours."""
    return (template_dir() / name).read_text(encoding="utf-8")


def document(page: Page, styles: Sequence[str], *, themed: bool) -> str:
    """The page as HTML; `themed` figures follow the reader's light or dark setting."""
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
    figures = {axis.anchor: _figures(axis, themed=themed) for axis in page.axes}
    return template.render(page=page, css=css, figures=figures, svg=_svg)


def _figures(axis: AxisPage, *, themed: bool) -> list[Drawing]:
    return [
        draw(figure, axis.result, f"{axis.anchor}-figure-{number}", themed=themed)
        for number, figure in enumerate(axis.result.figures, 1)
    ]


def _svg(drawing: Drawing) -> Markup:
    """The drawing as it is: `figures` escapes the foreign text that it sets."""
    return Markup(drawing.svg)  # noqa: S704
