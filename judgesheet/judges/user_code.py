"""The user's own Python: found by `module:name`, and what it raises in words."""

import ast
import importlib
import inspect
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import lru_cache
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any, TextIO

from judgesheet.base.errors import UsageError
from judgesheet.base.records import digest
from judgesheet.judges.redaction import of_environment

_NAME = re.compile(r"[\w.]+:\w+")


def is_name(text: str) -> bool:
    """Whether this has the form `module:name`."""
    return _NAME.fullmatch(text) is not None


def named_object(name: str) -> Any:
    """What `module:name` names; the current folder is searched first. UsageError if nothing is."""
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise UsageError(f"{name} names no function: give module:function")
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        with aside(sys.stderr):  # ours is for what the command was asked for
            return getattr(importlib.import_module(module), attribute)
    except AttributeError:
        raise UsageError(f"the module {module} has no {attribute}") from None
    except KeyboardInterrupt:  # while a module loads, Ctrl-C is still the user's
        raise
    except ModuleNotFoundError as error:
        lacks = error.name and error.name.partition(".")[0]
        own = "run from the folder that holds it"
        hint = own if lacks == module else f"install {lacks} where judgesheet runs"
        raise UsageError(f"{module} cannot be imported ({error}): {hint}") from None
    except BaseException as error:
        said = of_environment()(in_words(error))
        raise UsageError(f"{module} cannot be imported ({said})") from None


def name_of(function: Callable[..., Any]) -> str:
    """The `module:name` of a function, for `named_object`; UsageError if that does not find it."""
    module, name = getattr(function, "__module__", ""), getattr(function, "__qualname__", "")
    if not name or getattr(sys.modules.get(module), name, None) is not function:
        raise UsageError(
            f"{function!r} cannot be found by name, which resuming a run needs: define the "
            'judge with def at the top of a module and give it, or "python/module:function"'
        )
    return f"{module}:{name}"


def version_of(name: str) -> str:
    """File and digest of the code behind `module:name`, "" where it cannot be read.

    It is that of the whole module, whose constants may be the judge's prompt, without comments and
    layout. What the module imports is not in it. In a notebook the function is all there is.
    """
    module, _, attribute = name.partition(":")
    found = sys.modules[module]
    for code in (found, getattr(found, attribute)):
        try:
            source = ast.unparse(ast.parse(inspect.cleandoc(inspect.getsource(code))))
        except (OSError, TypeError, SyntaxError):
            continue
        return f"{Path(getattr(found, '__file__', None) or module).name} {digest(source)[:12]}"
    return ""


@lru_cache(1)  # of several threads, whichever ends last gives standard output back
def aside(stream: TextIO) -> redirect_stdout[TextIO]:
    """What the user's code prints goes to this stream, while any block with it is open."""
    return redirect_stdout(stream)


@contextmanager
def ended_by_ctrl_c() -> Iterator[None]:
    """Ctrl-C ends the user's code where it stands; an event loop would wait for it to return."""
    heard = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or not callable(heard):
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, heard)


def in_words(error: BaseException) -> str:
    """Kind and words of an exception and of what it came from: some only say that they gave up."""
    cause = error.__cause__
    return f"{_words(error)} (from {_words(cause)})" if cause is not None else _words(error)


def _words(error: BaseException) -> str:
    """Kind and words of one exception, whose words may be another."""
    kind = type(error).__name__
    try:
        return f"{kind}: {error}"
    except Exception:  # an exception that fails to say what it is
        return kind
