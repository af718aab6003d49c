"""Templates of users, which may compute, but not without end.

Jinja's sandbox keeps a template from reaching out of it. This one also counts its steps, items of
loops and calls, and looks at the size of what it makes.
"""

from collections.abc import Iterable
from contextvars import ContextVar
from itertools import islice
from typing import Any

from jinja2 import StrictUndefined, Template, nodes
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment
from jinja2.visitor import NodeTransformer

MOST_STEPS = 1_000_000
"""Items of loops and calls in one rendering: a prompt takes hundreds."""
LARGEST = 10_000_000
"""Characters of a text, or items of a list, that a template may make."""
MOST_BITS = 100_000

_left: ContextVar[list[int]] = ContextVar("_left")


class TooMuchError(ValueError):
    """The template computes more than any prompt needs."""


class Bounded(SandboxedEnvironment):
    """The sandbox with the bounds. Prompts are plain text: nothing is escaped."""

    # Those that make long texts, lists or whole numbers; `%` fills a field of any width.
    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self) -> None:
        # A misspelled variable is an error, not an empty place in every prompt.
        super().__init__(undefined=StrictUndefined, autoescape=False)
        self.filters |= {"_each": _each, "_joined": _joined}

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """The syntax tree, whose loops and joined texts are bounded; of imported templates too."""
        counted: nodes.Template = _Counted().visit(super()._parse(source, name, filename))
        return counted

    def rendered(self, template: Template, variables: dict[str, Any]) -> str:
        """The template's text; a TooMuchError if it takes more steps than there are."""
        token = _left.set([MOST_STEPS])
        try:
            return template.render(**variables)
        finally:
            _left.reset(token)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """The result of an operation, if it is not too large."""
        if operator == "*":
            _refuse(max(_size(left) * _count(right), _size(right) * _count(left)), LARGEST)
            _refuse(_bits(left) + _bits(right), MOST_BITS)
        if operator == "**":
            _refuse(_bits(left) * _count(right), MOST_BITS)
        return _fitting(super().call_binop(context, operator, left, right))

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """The result of a call, which is a step."""
        _spend(1)
        return _fitting(super().call(context, obj, *args, **kwargs))


class _Counted(NodeTransformer):
    """Puts a count on every loop, and a bound on every `a ~ b`."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802  (as jinja calls it)
        self.generic_visit(node)
        node.iter = _filtered(node.iter, "_each")
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _filtered(nodes.List(node.nodes, lineno=node.lineno), "_joined")


def _filtered(node: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _each(items: Iterable[Any]) -> list[Any]:
    listed = list(islice(items, MOST_STEPS + 1))
    _spend(len(listed))
    return listed


def _joined(parts: list[Any]) -> str:
    texts = [str(part) for part in parts]
    _refuse(sum(map(len, texts)), LARGEST)
    return "".join(texts)


def _spend(steps: int) -> None:
    left = _left.get()
    left[0] -= steps
    _refuse(-left[0], 0)


def _fitting(value: Any) -> Any:
    _refuse(_size(value), LARGEST)
    _refuse(_bits(value), MOST_BITS)
    return value


def _refuse(much: int, most: int) -> None:
    if much > most:
        raise TooMuchError("it computes more than any prompt needs")


def _size(value: Any) -> int:
    return len(value) if isinstance(value, str | bytes | list | tuple) else 0


def _bits(value: Any) -> int:
    return value.bit_length() if isinstance(value, int) else 0


def _count(value: Any) -> int:
    # Enough to be refused, without multiplying numbers of any size to find that out.
    return min(abs(value), 10**9) if isinstance(value, int) else 0
