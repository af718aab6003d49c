"""`datasheet.pdf`: the page set on A4 or Letter by Typst, tagged, with `datasheet.json` attached.

The template is ours and never changes; everything on a sheet is data to it, so no word of a judge
can be read as code, and it can open no file but itself and our fonts.
"""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from inspect import getmembers
from typing import Any, cast

from judgesheet.base.datasheet import to_json
from judgesheet.base.errors import MissingDependencyError, RunError
from judgesheet.base.limits import LARGEST_PAGE
from judgesheet.base.records import Datasheet
from judgesheet.base.resources import NO_TYPESETTER, data_folder
from judgesheet.sheet import Paper, show
from judgesheet.sheet.html import drawings
from judgesheet.sheet.page import build

SUFFIX = "pdf"
# For a sheet that does not say when it ended: any fixed date will do.
EPOCH = datetime(1980, 1, 1, tzinfo=UTC)


def render(sheet: Datasheet, paper: Paper) -> bytes:
    """The sheet for paper; the same sheet gives the same bytes.

    MissingDependencyError if the typesetter cannot be loaded on this machine.
    """
    typesetter = Typesetter(to_json(sheet), paper)
    # The end of the run: a date that does not change when the sheet is rendered again.
    ended = show.parse_moment(sheet.run.ended_at) or EPOCH
    when = ended.astimezone(UTC) if ended.tzinfo else ended.replace(tzinfo=UTC)
    return typesetter.pdf(content(sheet), when)


def content(sheet: Datasheet) -> dict[str, Any]:
    """The page and its drawings as data; the typesetter chooses what the first two pages hold."""
    page = build(sheet)
    data: dict[str, Any] = plain(page)
    return data | {"figures": plain(drawings(page))}


def plain(value: Any) -> Any:
    """A part of the page as JSON has it: its fields and properties, without what is of the sheet.

    What a part keeps of the sheet itself (an estimate, say) is not in words yet, and becomes None.
    """
    kind = type(value)
    named = [f.name for f in fields(value)] if is_dataclass(value) else getattr(kind, "_fields", ())
    if named and not kind.__module__.startswith(__package__):
        return None
    if named:
        worked_out = [name for name, _ in getmembers(kind, lambda of: isinstance(of, property))]
        return {name: plain(getattr(value, name)) for name in (*named, *worked_out)}
    return [plain(part) for part in value] if isinstance(value, tuple) else value


class Typesetter:
    """Sets a template of ours with data on one paper, with the data in the whole document."""

    def __init__(self, sheet: str, paper: Paper, template: str = "datasheet.typ") -> None:
        try:
            import typst
        except ImportError as error:
            raise MissingDependencyError(f"{NO_TYPESETTER} ({error})") from None
        self._make = typst.Compiler
        # Ours alone, so that the same sheet gives the same bytes on every machine.
        self._fonts = typst.Fonts(
            include_system_fonts=False,
            include_embedded_fonts=False,
            font_paths=[data_folder("templates") / "fonts"],
        )
        self._template = template
        self._inputs = {"sheet": sheet, "paper": paper}

    def pdf(self, page: Mapping[str, Any], when: datetime) -> bytes:
        """The whole document; `when` is all it says of the time. RunError if it is too long."""
        given = json.dumps(page, ensure_ascii=False)
        if len(given) > LARGEST_PAGE:
            raise RunError(
                "the datasheet is too large for a PDF: leave it out (--no-pdf, --to html)"
            )
        # The template can read the folder that it stands in and no other.
        root = data_folder("templates") / "paper"
        inputs = {**self._inputs, "page": given}
        whole = self._make(root / self._template, root, self._fonts, True, inputs)
        # PDF/UA: tagged, so that programs that read aloud find headings and tables.
        return cast("bytes", whole.compile(pdf_standards=["ua-1"], timestamp=when))
