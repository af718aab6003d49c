"""The user's own judge: `python/module:function`.

    def judge(messages: list[dict[str, str]]) -> str: ...

The function may be a coroutine function, and may take the request's parameters as a keyword
argument `params`. Its attributes `framework`, `note` and `axes`, where it has them, say what
answers and what it cannot be asked (docs/judges.md). Whatever it raises, a wish to exit or to be
cancelled included, is treated like a broken connection: a reply with the outcome `unavailable` and
the exception's text, retried later. A result that is not a string stops the run, since repeating
the call cannot fix it. The folder that the run began in is the current one again when it ends.
"""

import asyncio
import inspect
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

from judgesheet.axes import all_axes
from judgesheet.base.async_runner import time_limit
from judgesheet.base.errors import JudgeError, UsageError
from judgesheet.base.records import Call, Reply
from judgesheet.judges import Answer, Judge
from judgesheet.judges.redaction import of_environment
from judgesheet.judges.user_code import aside, in_words, named_object, version_of


class CallableJudge(Judge):
    """A Python function as a judge; one that is not a coroutine function runs in a thread."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        timeout_s: float,
        provider: str = "python",
        code: str = "",
    ) -> None:
        self._provider = provider
        self._name = name
        self._function = function
        self._timeout_s = timeout_s
        self.code = code
        self._takes_params = _takes_params(function)
        self._redacted = of_environment()  # the function has its own keys
        self._framework = self._declared("framework")
        self.note = self._declared("note")
        self.axes = _axes_of(name, function)

    @classmethod
    def from_name(cls, name: str, timeout_s: float) -> Self:
        """The function that `module:function` names; the current folder is searched first."""
        function = named_object(name)
        if not callable(function):
            raise UsageError(f"{name} is a {type(function).__name__}, not a function")
        return cls(name, function, timeout_s, code=version_of(name))

    @property
    def identity(self) -> Mapping[str, Any]:
        """Module and function, and the framework that answers where the function names it.

        Another version of a framework is another judge: it has other words.
        """
        named = {"framework": self._framework} if self._framework else {}
        return {"provider": self._provider, "model": self._name, **named}

    async def __aenter__(self) -> Self:
        self._folder = Path.cwd()
        # What a user's function prints must not mix with the result of the command.
        self._printing = aside(sys.stderr)
        self._printing.__enter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._printing.__exit__(None, None, None)
        with suppress(OSError):  # it may be gone by now
            os.chdir(self._folder)

    async def answer(self, call: Call, _attempt: int, /) -> Answer:
        """Call the function once; JudgeError if it does not return a string."""
        try:
            async with time_limit(self._timeout_s):
                result = await self._call(call)
        except TimeoutError:
            return Answer("timeout", raw=f"no reply within {self._timeout_s:g} s")
        if isinstance(result, _Raised):
            said = self._redacted(in_words(result.error))
            is_late = isinstance(result.error, TimeoutError)
            return Answer("timeout" if is_late else "unavailable", raw=said)
        if not isinstance(result, str):
            raise JudgeError(
                f"{self._name} returned a {type(result).__name__}: a judge returns its reply as str"
            )
        text = self._redacted(str.__str__(result))  # a subclass may print itself in any way
        return Answer("ok", text, text, served_model=self.code or None)

    def advise(self, reply: Reply) -> str | None:
        """What to do about a reply."""
        what = "the function" if self._provider == "python" else f"{self._provider} and its"
        return f"check {what} {self._name}" if reply.outcome == "unavailable" else None

    def _declared(self, attribute: str) -> str:
        """A text that the function says of itself, "" if it says nothing."""
        said = getattr(self._function, attribute, "")
        if not isinstance(said, str):
            kind = type(said).__name__
            raise UsageError(f"{attribute} of {self._name} is a {kind}: make it a str")
        return self._redacted(said)

    async def _call(self, call: Call) -> Any:
        """What the function returns, or what it raised."""
        messages = [dict(message) for message in call.messages]
        options = {"params": dict(call.params)} if self._takes_params else {}
        function = partial(_tried, self._function, messages, **options)
        if inspect.iscoroutinefunction(self._function):
            result = function()
        else:
            result = await asyncio.to_thread(function)
        if isinstance(result, Awaitable):  # an object with `async def __call__` lands here too
            result = await _apart(_awaited(result))
        return result


@dataclass(frozen=True, slots=True)
class _Raised:
    """What the user's code raised, as a value: no future holds a StopIteration, for one."""

    error: BaseException


def _tried(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    try:
        return function(*arguments, **options)
    except BaseException as error:
        return _Raised(error)


async def _awaited(result: Awaitable[Any]) -> Any:
    try:
        return await result
    except BaseException as error:
        return _Raised(error)


async def _apart(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of work in a task of its own, which may cancel itself only."""
    task = asyncio.create_task(work)
    try:
        await asyncio.wait({task})
    finally:
        task.cancel()  # it is done, unless we were cancelled
    return _Raised(asyncio.CancelledError()) if task.cancelled() else task.result()


def _axes_of(name: str, function: Callable[..., Any]) -> tuple[str, ...]:
    """The axes that a function says it can be asked about, () for all."""
    said, known = getattr(function, "axes", ()), all_axes()
    if not isinstance(said, list | tuple) or any(axis not in known for axis in said):
        raise UsageError(
            f"axes of {name} is {said!r}: make it a tuple of some of {', '.join(known)}"
        )
    return tuple(said)


def _takes_params(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # built-in functions have no signature
        return False
    return any(p.name == "params" or p.kind is p.VAR_KEYWORD for p in parameters)
