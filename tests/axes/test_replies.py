"""Raw replies and how they must be read: one file a axis, one case a line."""

import json
from pathlib import Path
from typing import Any

import pytest

from judgesheet.axes import get_axis

REPLIES = Path(__file__).parent.parent / "replies"


def cases() -> list[Any]:
    return [
        pytest.param(path.stem, json.loads(line), id=f"{path.stem}:{number}")
        for path in sorted(REPLIES.glob("*.jsonl"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    ]


@pytest.mark.parametrize(("axis", "case"), cases())
def test_reply_is_read_as_expected(axis: str, case: dict[str, Any]) -> None:
    cell = case.get("cell", {"scale": case.get("scale")})
    found = get_axis(axis).parse(case["text"], case["reply"], cell)
    assert found == case["expect"], case.get("why", "")
    assert type(found) is type(case["expect"])


@pytest.mark.parametrize("reply", ["text", "json"])
@pytest.mark.parametrize(
    "text",
    ["[RESULT] " + "4" * 9_999, "x" * 1_000_000, "{" * 100_000, '{"a":' * 50_000, "\0" * 9,
     "[" * 100_000, "[a " * 50_000, "[a]" + " " * 100_000, "[a] " * 50_000,
     "*" * 100_000 + "x[a] 1", "{'a':" * 30_000, "{a:" * 30_000, "{/*" * 50_000, "<think>" * 20_000,
     "[a]: " + "the " * 50_000, "a: " * 60_000, "\\a" * 90_000, '"' + "\\" * 100_000 + '"',
     '{"score": ' * 900 + "4" + "}" * 899],
)  # fmt: skip
@pytest.mark.parametrize("axis", sorted({path.stem for path in REPLIES.glob("*.jsonl")}))
def test_hostile_replies_are_unreadable_and_harmless(axis: str, reply: Any, text: str) -> None:
    assert get_axis(axis).parse(text, reply, {"scale": 5, "order": ["a", "b"]}) is None
