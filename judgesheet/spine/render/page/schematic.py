"""A probe prompt as a drawing in words: what is fixed, what is filled in, what is permuted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, TemplateError, nodes

from judgesheet.spine.render import show

MOST_LINES = 10
_MOST_CHARACTERS = 20_000
_WIDTH = 62
_LISTED = "\x01"
"""Marks a slot whose content changes its place; prompts hold no control characters."""


@dataclass(frozen=True, slots=True)
class PromptLine:
    """One line of the schema; `permuted` ones change their place between calls."""

    text: str
    permuted: bool


@dataclass(frozen=True, slots=True)
class Schema:
    """The schema of one axis's prompt."""

    axis: str
    lines: tuple[PromptLine, ...]


def schema(prompt: Mapping[str, Any]) -> Schema | None:
    """The schema of a recorded prompt; None where its template was not recorded or is none.

    `permuted` lists the variables that its axis permutes.
    """
    template = prompt.get("template")
    if not isinstance(template, str) or not template.strip():
        return None
    try:
        tree = Environment(autoescape=True).parse(template[:_MOST_CHARACTERS])
    except (TemplateError, RecursionError):
        return None
    listed = prompt.get("permuted")
    permuted = frozenset(map(str, listed)) if isinstance(listed, list | tuple) else frozenset()
    lines = _condense(list(_lines("".join(_pieces(tree.body, permuted, listed=False)))))
    return Schema(show.short(show.words(str(prompt.get("axis"))), 40), tuple(lines))


def _pieces(body: Sequence[nodes.Node], permuted: frozenset[str], *, listed: bool) -> Iterator[str]:
    """The template without its logic: slots in brackets, the first branch of every condition."""
    for node in body:
        if isinstance(node, nodes.Output):
            for part in node.nodes:
                if isinstance(part, nodes.TemplateData):
                    yield part.data
                elif slot := _slot(part):
                    mark = _LISTED if listed or slot.split()[0] in permuted else ""
                    yield f"‹{slot}›{mark}"
        elif isinstance(node, nodes.For):
            # A loop within one line prints a form to fill in, not what is permuted.
            spans_lines = any("\n" in piece for piece in _pieces(node.body, permuted, listed=False))
            lists = spans_lines and _slot(node.iter) in permuted
            yield from _pieces(node.body, permuted, listed=listed or lists)
        elif isinstance(node, nodes.If):
            yield from _pieces(node.body, permuted, listed=listed)


def _slot(expression: nodes.Node) -> str:
    """`option.description` as `option description`; "" for what is no variable."""
    if isinstance(expression, nodes.Filter) and expression.node is not None:
        return _slot(expression.node)
    if isinstance(expression, nodes.Getattr):
        return f"{_slot(expression.node)} {show.words(expression.attr)}".strip()
    return show.words(expression.name) if isinstance(expression, nodes.Name) else ""


def _lines(text: str) -> Iterator[PromptLine]:
    for raw in text.splitlines():
        line = raw.replace(_LISTED, "").strip()
        if line:
            yield PromptLine(show.short(line, _WIDTH), _LISTED in raw)


def _condense(lines: Sequence[PromptLine]) -> list[PromptLine]:
    """At most `MOST_LINES`: what is permuted and the lines before it stay, the rest goes first."""
    keep = set(range(len(lines)))
    loose = [
        index
        for index in range(len(lines))
        if not lines[index].permuted and not lines[index].text.startswith(("#", "‹"))
    ]
    while len(keep) > MOST_LINES and loose:
        keep.discard(loose.pop())
    return [lines[index] for index in sorted(keep)][:MOST_LINES]
