"""`datasheet.json`: the record itself."""

from judgesheet.records import Datasheet
from judgesheet.spine.datasheet import to_json
from judgesheet.spine.render import Paper

SUFFIX = "json"


def render(sheet: Datasheet, _paper: Paper) -> bytes:
    """The sheet as JSON."""
    return to_json(sheet).encode("utf-8")
