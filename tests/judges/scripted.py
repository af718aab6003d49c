"""A judge that says what it is told."""

from collections.abc import Callable, Mapping
from typing import Any

from judgesheet.base.records import Call, Outcome
from judgesheet.judges import Answer, Judge

Line = str | tuple[Outcome, str]
"""The words of an `ok` reply, or an outcome with its words."""

Script = Callable[[Call, int], Line] | Mapping[str, Line]
"""Lines by call id, or a function of the call and the attempt."""


class ScriptedJudge(Judge):
    """Answers from a script, without delay.

    A call that a mapping does not hold is answered with "".
    """

    max_concurrency: int | None = None
    identity: Mapping[str, Any] = {"provider": "scripted", "model": "scripted"}

    def __init__(self, script: Script) -> None:
        self._script = script

    async def answer(self, call: Call, attempt: int, /) -> Answer:
        """The line for this call."""
        if callable(self._script):
            line = self._script(call, attempt)
        else:
            line = self._script.get(call.id, "")
        outcome: Outcome
        outcome, text = ("ok", line) if isinstance(line, str) else line
        characters = sum(len(message["content"]) for message in call.messages)
        return Answer(
            outcome=outcome,
            text=text if outcome == "ok" else "",
            raw=text,
            tokens_in=characters // 4,
            tokens_out=len(text) // 4,
            served_model="scripted",
        )
