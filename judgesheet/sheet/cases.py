"""Calls with their prompts and replies, for a terminal and as JSON."""

import json
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from judgesheet.base.digits import counted
from judgesheet.base.records import ShownCall
from judgesheet.base.sanitize import one_line
from judgesheet.reading.reasons import REASONS

REPLY_LINES, PROMPT_LINES = 12, 30
"""The most lines of a reply and of a prompt that a terminal is shown."""
INDENT = "   "


def as_json(calls: Sequence[ShownCall], limit: int) -> str:
    """The first of these calls with all that is known of them, as one document."""
    record = {"count": len(calls), "calls": [_record(one) for one in calls[:limit]]}
    return json.dumps(record, indent=2, ensure_ascii=False)


def _record(shown: ShownCall) -> dict[str, Any]:
    call = shown.call
    return {
        "call_id": call.id,
        "axis": call.axis,
        "stimulus": call.stimulus,
        "cell": dict(call.cell),
        "repeat": call.repeat,
        "outcome": shown.ended,
        "reason": shown.reason or None,
        "verdict": shown.verdict,
        "reply": shown.text,
        "messages": list(call.messages),
    }


def as_lines(calls: Sequence[ShownCall], limit: int, width: int) -> Iterator[str]:
    """The first of these calls, for a terminal of this width."""
    yield counted(len(calls), "call")
    for shown in calls[:limit]:
        yield ""
        yield from wrap(one_line(_head(shown)), width, subsequent_indent=INDENT)
        yield from _block("prompt", prompt(shown), PROMPT_LINES, width)
        yield from _block("reply", shown.text, REPLY_LINES, width)
    if len(calls) > limit:
        yield f"… {len(calls) - limit} more (--limit)"


def _head(shown: ShownCall) -> str:
    """Which call it is and what was read: `1f0c…  so-1: order 5 4 3 2 1, arm fixed: 4`."""
    call = shown.call
    cell = {"order": call.cell.get("order"), **call.cell, "repeat": call.repeat}
    asked = ", ".join(f"{name} {written(value)}" for name, value in cell.items() if value)
    return f"{call.id[:8]}  {call.stimulus}: {asked}: {_read(shown)}"


def _read(shown: ShownCall) -> str:
    """The verdict; without one, how the call ended and why it has none."""
    if shown.verdict is not None:
        return written(shown.verdict)
    why = why_lost(shown)
    return f"{shown.ended} ({why})" if why else shown.ended


def why_lost(shown: ShownCall) -> str:
    """Why a call has no verdict, in words; "" where it has one or was not made."""
    why = REASONS.get(shown.reason)
    return why.words if why else ""


def prompt(shown: ShownCall) -> str:
    """The messages of a call as one text."""
    return "\n".join(str(message.get("content", "")) for message in shown.call.messages)


def written(value: Any) -> str:
    """A value of a cell or a verdict in one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {written(part)}" for name, part in value.items())
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _block(name: str, text: str, most: int, width: int) -> Iterator[str]:
    """The first lines of a text under its name; nothing for an empty one."""
    begin = f"{INDENT}| "
    lines = [
        part for line in text.splitlines() for part in wrap(one_line(line), width - len(begin))
    ]
    if lines:
        yield f"{INDENT}{name}"
        yield from (begin + line for line in lines[:most])
    if len(lines) > most:
        yield f"{INDENT}… {len(lines) - most} more lines (--json, --html)"
