"""The user's own judge: `python/module:function`.

    def judge(messages: list[dict[str, str]]) -> str: ...

The function may be a coroutine function, and may take the request's parameters as a keyword
argument `params`. An exception in it is what a broken connection is to an endpoint: a reply with
the outcome `unavailable` that says what was raised, asked again later. A result that is no string
is a mistake that repeating the call cannot fix; it stops the run.
"""

import asyncio
import importlib
import inspect
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Self

from judgesheet.errors import JudgeError, UsageError
from judgesheet.judges import Judge
from judgesheet.records import Call, Outcome, Reply


class CallableJudge(Judge):
    """A Python function as a judge; one that is not a coroutine function runs in a thread."""

    def __init__(self, name: str, function: Callable[..., Any], timeout_s: float) -> None:
        self._name = name
        self._function = function
        self._timeout_s = timeout_s
        self._takes_params = _takes_params(function)

    @classmethod
    def from_name(cls, name: str, timeout_s: float) -> Self:
        """The function that `module:function` names; the current folder is searched first.

        Raises
        ------
        UsageError
            if it cannot be imported or called.
        """
        module, _, attribute = name.partition(":")
        if not module or not attribute:
            raise UsageError(f"python/{name} names no function: give python/module:function")
        folder = str(Path.cwd())
        if folder not in sys.path:
            sys.path.insert(0, folder)
        try:
            function = getattr(importlib.import_module(module), attribute)
        except AttributeError:
            raise UsageError(f"the module {module} has no {attribute}") from None
        except Exception as error:
            raise UsageError(
                f"{module} cannot be imported ({type(error).__name__}: {error})"
            ) from error
        if not callable(function):
            raise UsageError(f"{name} is a {type(function).__name__}, not a function")
        return cls(name, function, timeout_s)

    @property
    def identity(self) -> Mapping[str, Any]:
        """Module and function."""
        return {"provider": "python", "model": self._name}

    async def ask(self, call: Call, attempt: int) -> Reply:
        """Call the function once.

        Raises
        ------
        JudgeError
            if it does not return a string.
        """
        started = time.perf_counter()
        outcome: Outcome = "ok"
        text = ""
        try:
            async with asyncio.timeout(self._timeout_s):
                text = raw = await self._call(call)
        except JudgeError:
            raise
        except TimeoutError as error:  # ours, or the function's own with its reason
            outcome, raw = "timeout", str(error) or f"no reply within {self._timeout_s:g} s"
        except Exception as error:  # the user's code may raise anything; it is recorded as data
            outcome, raw = "unavailable", f"{type(error).__name__}: {error}"
        return Reply(
            call_id=call.id,
            attempt=attempt,
            outcome=outcome,
            text=text,
            raw=raw,
            latency_s=time.perf_counter() - started,
            tokens_in=None,
            tokens_out=None,
            served_model=None,
            at=time.time(),
        )

    def advise(self, outcome: Outcome) -> str | None:
        """What to do about an outcome."""
        return f"check the function {self._name}" if outcome == "unavailable" else None

    async def _call(self, call: Call) -> str:
        messages = [dict(message) for message in call.messages]
        options = {"params": dict(call.params)} if self._takes_params else {}
        if inspect.iscoroutinefunction(self._function):
            result = self._function(messages, **options)
        else:
            result = await asyncio.to_thread(self._function, messages, **options)
        if isinstance(result, Awaitable):  # an object with `async def __call__` lands here too
            result = await result
        if not isinstance(result, str):
            raise JudgeError(
                f"{self._name} returned a {type(result).__name__}: a judge returns its reply as str"
            )
        return result


def _takes_params(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.name == "params" or p.kind is p.VAR_KEYWORD for p in parameters)
