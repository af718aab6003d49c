"""A judge that says what it is told."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from judgesheet.judges import Judge
from judgesheet.records import Call, Outcome, Reply

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

    async def ask(self, call: Call, attempt: int) -> Reply:
        """The line for this call."""
        if callable(self._script):
            line = self._script(call, attempt)
        else:
            line = self._script.get(call.id, "")
        outcome: Outcome
        outcome, text = ("ok", line) if isinstance(line, str) else line
        return Reply(
            call_id=call.id,
            attempt=attempt,
            outcome=outcome,
            text=text if outcome == "ok" else "",
            raw=text,
            latency_s=0.0,
            tokens_in=sum(len(message["content"]) for message in call.messages) // 4,
            tokens_out=len(text) // 4,
            served_model="scripted",
            at=time.time(),
        )
