"""Rewrite golden datasheets and the schema: `python -m tests.sheet.update_golden`."""

import re
from pathlib import Path

from judgesheet.base.datasheet import schema_text
from judgesheet.base.records import Datasheet
from judgesheet.sheet import render
from tests.sheet import sheets

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
ACTUAL = ROOT / "tests" / "actual"
SCHEMA = ROOT / "docs" / "datasheet.schema.json"
FORMATS = ("html", "md", "json", "csv")
SHEETS = {"plausible": sheets.plausible, "all_unreadable": sheets.all_unreadable}
_DRAWING = re.compile(r"(<svg [^>]*>)(.*?)(</svg>)", re.DOTALL)


def golden_text(sheet: Datasheet, name: str) -> str:
    """A rendered sheet; of drawings only the words: `test_charts` reads the marks."""
    return _DRAWING.sub(_words_only, render(sheet, name).decode())


def _words_only(match: re.Match[str]) -> str:
    words = re.findall(r"<(?:title|desc|text)[^>]*>([^<]*)<", match[2])
    return "<svg>\n" + "\n".join(words) + "\n</svg>"


def main() -> None:
    """Write every golden file anew."""
    GOLDEN.mkdir(exist_ok=True)
    for sheet_name, make in SHEETS.items():
        for name in FORMATS:
            path = GOLDEN / f"{sheet_name}.{name}"
            path.write_text(golden_text(make(), name), encoding="utf-8", newline="")
    SCHEMA.write_text(schema_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
