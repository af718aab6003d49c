"""Raw replies and how they must be read: one file a axis, one case a line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judgesheet.axes import get_axis
from judgesheet.base.records import ReplyFormat

REPLIES = Path(__file__).parent.parent / "replies"


HOSTILE = [
    "[RESULT] " + "4" * 9_999, "x" * 1_000_000, "{" * 100_000, '{"a":' * 50_000, "\0" * 9,
    "[" * 100_000, "[a " * 50_000, "[a]" + " " * 100_000, "[a] " * 50_000,
    "*" * 100_000 + "x[a] 1", "{'a':" * 30_000, "{a:" * 30_000, "{/*" * 50_000, "<think>" * 20_000,
    "[a]: " + "the " * 50_000, "a: " * 60_000, "\\a" * 90_000, '"' + "\\" * 100_000 + '"',
    '{"score": ' * 900 + "4" + "}" * 899,
]  # fmt: skip


def cases() -> Iterator[tuple[str, int, dict[str, Any]]]:
    for path in sorted(REPLIES.glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            yield path.stem, number, json.loads(line)


def test_every_reply_is_read_as_expected() -> None:
    wrong = []
    for axis, number, case in cases():
        cell = case.get("cell", {"scale": case.get("scale")})
        found, expected = get_axis(axis).parse(case["text"], case["reply"], cell), case["expect"]
        if (found, type(found)) != (expected, type(expected)):
            wrong.append((f"{axis}.jsonl:{number}", found, expected, case.get("why", "")))
    assert wrong == []


@pytest.mark.parametrize("axis", sorted({path.stem for path in REPLIES.glob("*.jsonl")}))
def test_hostile_replies_are_unreadable_and_harmless(axis: str) -> None:
    formats: tuple[ReplyFormat, ...] = ("text", "json")
    cell = {"scale": 5, "order": ["a", "b"]}
    read = [
        (reply, text[:20])
        for reply in formats
        for text in HOSTILE
        if get_axis(axis).parse(text, reply, cell) is not None
    ]
    assert read == []
