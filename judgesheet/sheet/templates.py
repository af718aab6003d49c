"""The templates of ours: compiled once, they refuse what they lack."""

from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from judgesheet.base.resources import data_folder
from judgesheet.sheet import show


def environment(**escaping: Any) -> Environment:
    """Where templates are found and how they are read; `escaping` is what differs by format."""
    shared = Environment(  # noqa: S701
        loader=FileSystemLoader(data_folder("templates")),
        # A name that the page lacks is a fault of ours, not an empty text.
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **escaping,
    )
    shared.filters["visible"] = show.visible
    return shared


@cache
def template(name: str) -> Template:
    """A template of HTML or SVG; it escapes what is put into it."""
    return environment(autoescape=True).get_template(name)
