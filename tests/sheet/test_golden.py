"""Whole documents against committed ones; mismatches are left in `tests/actual/`."""

import pytest

from judgesheet.base.datasheet import schema_text
from tests.sheet.update_golden import ACTUAL, FORMATS, GOLDEN, SCHEMA, SHEETS, golden_text


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("sheet", SHEETS)
def test_golden(sheet: str, name: str) -> None:
    actual = golden_text(SHEETS[sheet](), name)
    expected = (GOLDEN / f"{sheet}.{name}").read_bytes().decode()
    if actual != expected:
        ACTUAL.mkdir(exist_ok=True)
        (ACTUAL / f"{sheet}.{name}").write_text(actual, encoding="utf-8", newline="")
    assert actual == expected, (
        f"see tests/actual/{sheet}.{name}, or python -m tests.sheet.update_golden"
    )


def test_the_committed_schema_is_current() -> None:
    stale = "docs/datasheet.schema.json is stale: python -m tests.sheet.update_golden"
    assert SCHEMA.read_text(encoding="utf-8") == schema_text(), stale
