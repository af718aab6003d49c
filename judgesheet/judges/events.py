"""Answers that come as server-sent events: put together into the body that they are parts of.

Some gateways only stream. Both dialects are read: chunks of a chat completion, and the events of a
message. Nothing here decides what an answer means.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from judgesheet.base.limits import MOST_PARTS_OF_A_BODY

_BEGINS = re.compile(r"\s*(?:(?:data|event|id|retry):|:)")
_LINES = re.compile(r"\r\n|\r|\n")
_DONE = "[DONE]"


def body_of(stream: str) -> str | None:
    """The JSON of the answer that a stream holds.

    None if this is no stream, or one that does not end: what is there may be cut off.
    """
    if not _BEGINS.match(stream):
        return None
    if stream.count("[") + stream.count("{") > MOST_PARTS_OF_A_BODY:
        return None
    answer = _Answer()
    try:
        for text in _events(stream):
            if text == _DONE:
                answer.has_ended = True
            else:
                answer.take(json.loads(text))
        return json.dumps(answer.body()) if answer.has_ended else None
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None  # events of something else


def _events(stream: str) -> Iterator[str]:
    """The data of each event."""
    data: list[str] = []
    for line in [*_LINES.split(stream), ""]:
        if line.startswith("data:"):
            data.append(line[5:].strip())
        elif not line and data:
            yield "\n".join(data)
            data = []


class _Pieces(defaultdict[str, list[Any]]):
    """What belongs under each name, piece by piece."""

    def __init__(self) -> None:
        super().__init__(list)

    def take(self, fields: dict[str, Any]) -> None:
        for name, value in fields.items():
            if value is not None:
                self[name].append(value)

    def whole(self) -> dict[str, Any]:
        """Texts and lists one after the other; of everything else the last."""
        return {name: _joined(name, pieces) for name, pieces in self.items()}


def _joined(name: str, pieces: list[Any]) -> Any:
    if isinstance(pieces[0], str) and name not in {"role", "type"}:
        return "".join(pieces)
    return [one for piece in pieces for one in piece] if isinstance(pieces[0], list) else pieces[-1]


class _Answer:
    """An answer of which some events are known."""

    def __init__(self) -> None:
        self.has_ended = False
        self._fields: dict[str, Any] = {}
        self._choice: dict[str, Any] = {}
        self._message, self._logprobs = _Pieces(), _Pieces()
        self._blocks: list[_Pieces] = []

    def take(self, event: dict[str, Any]) -> None:
        """Add an event."""
        kind = event.get("type")
        if event.get("error"):
            self._fields["error"], self.has_ended = event["error"], True
        elif "choices" in event:
            self._take_chunk(event)
        elif kind == "message_start":
            self._fields.update(event["message"])
        elif kind == "content_block_start":
            self._blocks.append(_Pieces())
            self._blocks[-1].take(event["content_block"])
        elif kind == "content_block_delta":
            delta = {name: value for name, value in event["delta"].items() if name != "type"}
            self._blocks[-1].take(delta)
        elif kind == "message_delta":
            usage = {**self._fields.get("usage", {}), **event.get("usage", {})}
            self._fields.update(event["delta"], usage=usage)
        elif kind == "message_stop":
            self.has_ended = True

    def _take_chunk(self, chunk: dict[str, Any]) -> None:
        self._fields.update((name, value) for name, value in chunk.items() if value is not None)
        for choice in chunk["choices"][:1]:  # none where it tells of the usage alone
            self._message.take(choice.pop("delta"))
            self._logprobs.take(choice.pop("logprobs", None) or {})
            self._choice.update((name, one) for name, one in choice.items() if one is not None)
            self.has_ended = self.has_ended or "finish_reason" in self._choice

    def body(self) -> dict[str, Any]:
        """What the answer would have been in one piece."""
        if self._message or self._choice:
            choice = {"message": self._message.whole(), **self._choice}
            logprobs = {"logprobs": self._logprobs.whole()} if self._logprobs else {}
            return {**self._fields, "choices": [{**choice, **logprobs}]}
        blocks = [block.whole() for block in self._blocks]
        return {**self._fields, "content": blocks} if blocks else self._fields
