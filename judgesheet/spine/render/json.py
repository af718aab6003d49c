"""`datasheet.json`: the record itself."""

from judgesheet.records import Datasheet
from judgesheet.spine.datasheet import to_json
from judgesheet.spine.render import Options

SUFFIX = "json"


def render(sheet: Datasheet, _options: Options) -> bytes:
    """The sheet as JSON."""
    return to_json(sheet).encode("utf-8")
