"""Templates of users, which may compute, but not without end.

Jinja's sandbox keeps a template from reaching out of it. This one also limits how long a rendering
takes, and the size of all that it makes: before a text is made, where that can be known.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from math import prod
from typing import Any

from jinja2 import StrictUndefined, Template, nodes
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment
from jinja2.visitor import NodeTransformer

from judgesheet.base.limits import LARGEST_TEXT, LONGEST_S, MOST_BITS

PER_ITEM = 64
"""Bytes that an item of a list or a dictionary takes at least."""

_MULTIPLIES = frozenset(
    {
        *("center", "indent", "wordwrap", "join", "replace", "batch", "slice"),
        *("ljust", "rjust", "zfill", "expandtabs", "translate"),
    }
)
"""Filters, functions and methods that make as much as the product of what they are given."""
_WORD_BY_WORD = {"urlize", "wordwrap"}
PER_LETTER = 20
"""Bytes that each letter counts for which those filters are given: they go through it word by word,
half a second for a million, and cannot be stopped."""
_WIDTH = re.compile(r"\d{7,}")  # of a field in a format

FAULTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What reading or rendering a template can raise beside Jinja's own errors."""
TOO_MUCH = "it computes more than any prompt needs"


class TooMuchError(ValueError):
    """The template computes more than any prompt needs."""


@dataclass(slots=True)
class _Budget:
    """What is left for one rendering; `weights` of what it met, which is held as long.

    Its time is that of the processor: on a busy machine the clock goes on while it waits.
    """

    ends_at: float = field(default_factory=lambda: time.thread_time() + LONGEST_S)
    left: int = LARGEST_TEXT
    weights: dict[int, tuple[Any, int]] = field(default_factory=dict)

    def spend(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise TooMuchError(TOO_MUCH)
        self.look_at_the_clock()

    def look_at_the_clock(self) -> None:
        if time.thread_time() > self.ends_at:
            raise TooMuchError(f"it computes for longer than {LONGEST_S:g} s")


_budget: ContextVar[_Budget] = ContextVar("_budget")


class Bounded(SandboxedEnvironment):
    """The sandbox with the bounds. Prompts are plain text: nothing is escaped."""

    # Those that make long texts, lists or whole numbers; `%` fills a field of any width.
    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self) -> None:
        # A misspelled variable is an error, not an empty place in every prompt.
        super().__init__(undefined=StrictUndefined, autoescape=False, finalize=_shown)
        del self.globals["lipsum"]  # of any length
        self.filters = {name: _watched(name, each) for name, each in self.filters.items()}
        self.filters |= {"_each": _each, "_joined": _joined}

    @staticmethod
    def concat(pieces: Iterable[str]) -> str:
        """The pieces of a rendering, of a macro or of a block, in one."""
        return "".join(_counted(pieces))

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """The syntax tree, whose loops and joined texts are bounded; of imported templates too."""
        counted: nodes.Template = _Counted().visit(super()._parse(source, name, filename))
        return counted

    def rendered(self, template: Template, variables: dict[str, Any]) -> str:
        """The template's text; a TooMuchError if it takes too long or makes too much."""
        token = _budget.set(_Budget())
        try:
            return template.render(**variables)
        except MemoryError:
            raise TooMuchError("it takes more memory than there is") from None
        except RecursionError:
            raise TooMuchError("it calls itself without end") from None
        finally:
            _budget.reset(token)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """The result of an operation, if it is not too large."""
        if operator == "*":
            _refuse(max(_weight(left) * _count(right), _weight(right) * _count(left)), LARGEST_TEXT)
            _refuse(_bits(left) + _bits(right), MOST_BITS)
        if operator == "**":
            _refuse(_bits(left) * _count(right), MOST_BITS)
        if operator == "%":
            _foresee("format", (left, *(right if isinstance(right, tuple) else (right,))))
        return _fitting(super().call_binop(context, operator, left, right))

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """The result of a call, if it is not too large."""
        owner = getattr(getattr(obj, "__wrapped__", obj), "__self__", None)
        given = (*([] if owner is None else [owner]), *args, *kwargs.values())
        _foresee(getattr(obj, "__name__", ""), given)
        if isinstance(owner, list | dict):  # which it may change
            _budget.get().weights.clear()
        return _fitting(super().call(context, obj, *args, **kwargs))


class _Counted(NodeTransformer):
    """Puts a watch on every loop, and a bound on every `a ~ b`."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802  (as jinja calls it)
        self.generic_visit(node)
        node.iter = _filtered(node.iter, "_each")
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _filtered(nodes.List(node.nodes, lineno=node.lineno), "_joined")


def _filtered(node: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _watched(name: str, given: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that is not begun where it would make too much."""

    @wraps(given)  # with what it is given before the value
    def watched(*args: Any, **kwargs: Any) -> Any:
        _foresee(name, (*args, *kwargs.values()))
        return _fitting(given(*args, **kwargs))

    return watched


def _each(items: Iterable[Any]) -> list[Any]:
    listed: list[Any] = []
    for item in items:
        if not len(listed) % 1000:
            _refuse(PER_ITEM * len(listed), LARGEST_TEXT)
            _look_at_the_clock()
        listed.append(item)
    _spend(PER_ITEM * len(listed))
    return listed


def _joined(parts: list[Any]) -> str:
    return "".join(_counted(str(_shown(part)) for part in parts))


def _counted(pieces: Iterable[str]) -> Iterator[str]:
    """The pieces as they are paid for."""
    budget = _budget.get(None)  # once: a prompt has dozens of pieces, a plan thousands of prompts
    for piece in pieces:
        if budget is not None:
            budget.spend(len(piece))
        yield piece


def _shown(value: Any) -> Any:
    """A value that is put into the text, if it has a text that is not too long."""
    if isinstance(value, list | tuple | Mapping):
        _refuse(_weight(value), LARGEST_TEXT)
    return value


def _foresee(name: str, given: Iterable[Any]) -> None:
    """Refuse what would make too much, before it does; also of constants, while it is compiled."""
    _look_at_the_clock()
    given = [value for value in given if isinstance(value, int | str | list | tuple | Mapping)]
    if name in _MULTIPLIES:
        _refuse(prod(_count(value) or _weight(value) or 1 for value in given), LARGEST_TEXT)
    if name in _WORD_BY_WORD:
        _refuse(PER_LETTER * sum(map(_weight, given)), LARGEST_TEXT)
    if name in {"format", "format_map"} and given and isinstance(given[0], str):
        # Of widths, which a `*` takes from the values.
        _refuse(max(map(int, _WIDTH.findall(given[0])), default=0), LARGEST_TEXT)
        _refuse(max(map(_count, given)) if "*" in given[0] else 0, LARGEST_TEXT)


def _fitting(value: Any) -> Any:
    _spend(_weight(value))
    _refuse(_bits(value), MOST_BITS)
    return value


def _spend(size: int) -> None:
    budget = _budget.get(None)
    if budget is not None:
        budget.spend(size)


def _look_at_the_clock() -> None:
    budget = _budget.get(None)
    if budget is not None:
        budget.look_at_the_clock()


def _refuse(much: int, most: int) -> None:
    if much > most:
        raise TooMuchError(TOO_MUCH)


def _weight(value: Any) -> int:
    """About how many bytes a text has, or a list with all that is in it, as its text would."""
    if isinstance(value, str | bytes):
        return len(value)
    if not isinstance(value, list | tuple | dict):
        return 0
    budget = _budget.get(None)
    weights = {} if budget is None else budget.weights
    known = weights.get(id(value))
    if known is None:
        weights[id(value)] = known = (value, 0)  # it may hold itself
        parts = [*value, *value.values()] if isinstance(value, dict) else value
        known = (value, PER_ITEM * len(parts) + sum(map(_weight, parts)))
        weights[id(value)] = known
    return known[1]


def _bits(value: Any) -> int:
    return value.bit_length() if isinstance(value, int) else 0


def _count(value: Any) -> int:
    # Enough to be refused, without multiplying numbers of any size to find that out.
    return min(abs(value), 10**9) if isinstance(value, int) else 0
