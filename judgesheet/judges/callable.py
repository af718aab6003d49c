"""The user's own judge: `python/module:function`.

    def judge(messages: list[dict[str, str]]) -> str: ...

The function may be a coroutine function, and may take the request's parameters as a keyword
argument `params`. An exception in it is treated like a broken connection: a reply with the outcome
`unavailable` and the exception's text, retried later. A result that is not a string stops the run,
since repeating the call cannot fix it.
"""

import asyncio
import importlib
import inspect
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Self

from judgesheet.errors import JudgeError, UsageError
from judgesheet.judges import Answer, Judge
from judgesheet.judges.redaction import of_environment
from judgesheet.records import Call, Outcome


class CallableJudge(Judge):
    """A Python function as a judge; one that is not a coroutine function runs in a thread."""

    def __init__(self, name: str, function: Callable[..., Any], timeout_s: float) -> None:
        self._name = name
        self._function = function
        self._timeout_s = timeout_s
        self._takes_params = _takes_params(function)
        self._redacted = of_environment()  # the function has its own keys

    @classmethod
    def from_name(cls, name: str, timeout_s: float) -> Self:
        """The function that `module:function` names; the current folder is searched first."""
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
            said = of_environment()(f"{type(error).__name__}: {error}")
            raise UsageError(f"{module} cannot be imported ({said})") from None
        if not callable(function):
            raise UsageError(f"{name} is a {type(function).__name__}, not a function")
        return cls(name, function, timeout_s)

    @property
    def identity(self) -> Mapping[str, Any]:
        """Module and function."""
        return {"provider": "python", "model": self._name}

    async def answer(self, call: Call, _attempt: int, /) -> Answer:
        """Call the function once; JudgeError if it does not return a string."""
        try:
            async with asyncio.timeout(self._timeout_s):
                text = await self._call(call)
        except JudgeError:
            raise
        except TimeoutError as error:  # our own timeout, or one that the function raised
            said = self._redacted(str(error))
            return Answer("timeout", raw=said or f"no reply within {self._timeout_s:g} s")
        # The user's code may raise anything, and may want to exit: it is recorded as data.
        except (Exception, SystemExit) as error:
            return Answer("unavailable", raw=self._redacted(f"{type(error).__name__}: {error}"))
        text = self._redacted(text)
        return Answer("ok", text, text)

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
