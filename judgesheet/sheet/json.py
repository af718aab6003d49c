"""`datasheet.json`: the record itself."""

from judgesheet.base.datasheet import to_json
from judgesheet.base.records import Datasheet
from judgesheet.sheet import Paper

SUFFIX = "json"


def render(sheet: Datasheet, _paper: Paper) -> bytes:
    """The sheet as JSON."""
    return to_json(sheet).encode("utf-8")
