"""The structure of a probe prompt in words: what is fixed, filled in, and permuted."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jinja2 import Environment, TemplateError, nodes

from judgesheet.base.facts import PromptUsed
from judgesheet.base.limits import LONGEST_LOOK, MOST_DRAWN_LINES
from judgesheet.sheet import show

_WIDTH = 62
_PERMUTED = "↕"
"""Stands before a slot whose content changes place, until its line is known to hold one."""


class PromptLine(NamedTuple):
    """One line of the schema.

    `permuted` ones change their place between calls; a `frame` line, a heading or what begins with
    a slot, shows how the prompt is built.
    """

    text: str
    permuted: bool
    frame: bool


class Schema(NamedTuple):
    """The schema of one axis's prompt."""

    axis: str
    lines: tuple[PromptLine, ...]


def schema(prompt: PromptUsed, axis: str) -> Schema | None:
    """The schema of an axis's recorded prompt; None without a valid template.

    What is permuted and what frames it stay; of the rest the last lines go first.
    """
    template = prompt.template
    if template is None or not template.strip():
        return None
    try:
        # Only read, never rendered: a template that was recorded elsewhere is foreign code.
        tree = Environment(autoescape=True).parse(template[:LONGEST_LOOK])
    except (TemplateError, RecursionError):  # the second: nested too deeply to be a prompt
        return None
    text = "".join(_drawn(tree.body, frozenset(prompt.permuted), listed=False))
    lines = [_line(line) for line in text.split("\n") if line.strip()]
    loose = [place for place, line in enumerate(lines) if not (line.permuted or line.frame)]
    excess = max(0, len(lines) - MOST_DRAWN_LINES)
    dropped = loose[max(0, len(loose) - excess) :]
    kept = [line for place, line in enumerate(lines) if place not in dropped][:MOST_DRAWN_LINES]
    return Schema(show.short(axis, 40), tuple(kept))


def _drawn(body: Sequence[nodes.Node], permuted: frozenset[str], *, listed: bool) -> Iterator[str]:
    """The template without its logic: its slots, and the first branch of every condition."""
    for node in body:
        if isinstance(node, nodes.Output):
            for part in node.nodes:
                if isinstance(part, nodes.TemplateData):
                    yield part.data
                elif path := _path(part):
                    mark = _PERMUTED if listed or path[0] in permuted else ""
                    yield f"{mark}‹{' '.join(map(show.words, path))}›"
        elif isinstance(node, nodes.For):
            # A loop within one line prints a form to fill in, not what is permuted.
            spans_lines = "\n" in "".join(_drawn(node.body, permuted, listed=False))
            lists = spans_lines and not permuted.isdisjoint(_path(node.iter)[:1])
            yield from _drawn(node.body, permuted, listed=listed or lists)
        elif isinstance(node, nodes.If):
            yield from _drawn(node.body, permuted, listed=listed)


def _path(expression: nodes.Node) -> tuple[str, ...]:
    """`option.description` as `("option", "description")`; empty for anything but a variable."""
    if isinstance(expression, nodes.Filter) and expression.node is not None:
        return _path(expression.node)
    if isinstance(expression, nodes.Getattr):
        return (*_path(expression.node), expression.attr)
    return (expression.name,) if isinstance(expression, nodes.Name) else ()


def _line(drawn: str) -> PromptLine:
    text = drawn.replace(f"{_PERMUTED}‹", "‹").strip()
    # Headings begin with the mark of Markdown, as prompts are written.
    return PromptLine(show.short(text, _WIDTH), text != drawn.strip(), text.startswith(("‹", "#")))
