"""A probe prompt as a drawing in words: what is fixed, what is filled in, what is permuted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, TemplateError, nodes

from judgesheet.spine.render import show

MOST_LINES = 10
_MOST_CHARACTERS = 20_000
_WIDTH = 62


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the prompt within one line: fixed words, or a slot that is filled in."""

    text: str
    slot: bool = False
    permuted: bool = False


@dataclass(frozen=True, slots=True)
class PromptLine:
    """One line of the schema.

    `permuted` ones change their place between calls; a `frame` line, a heading or what begins with
    a slot, shows how the prompt is built.
    """

    text: str
    permuted: bool
    frame: bool


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
    lines = _condense(list(_lines(_pieces(tree.body, permuted, listed=False))))
    return Schema(show.short(show.words(str(prompt.get("axis"))), 40), tuple(lines))


def _pieces(
    body: Sequence[nodes.Node], permuted: frozenset[str], *, listed: bool
) -> Iterator[Piece]:
    """The template without its logic: its slots, and the first branch of every condition."""
    for node in body:
        if isinstance(node, nodes.Output):
            for part in node.nodes:
                if isinstance(part, nodes.TemplateData):
                    yield Piece(part.data)
                elif path := _path(part):
                    words = " ".join(map(show.words, path))
                    yield Piece(f"‹{words}›", slot=True, permuted=listed or path[0] in permuted)
        elif isinstance(node, nodes.For):
            # A loop within one line prints a form to fill in, not what is permuted.
            spans_lines = any(
                "\n" in one.text for one in _pieces(node.body, permuted, listed=False)
            )
            lists = spans_lines and not permuted.isdisjoint(_path(node.iter)[:1])
            yield from _pieces(node.body, permuted, listed=listed or lists)
        elif isinstance(node, nodes.If):
            yield from _pieces(node.body, permuted, listed=listed)


def _path(expression: nodes.Node) -> tuple[str, ...]:
    """`option.description` as `("option", "description")`; empty for what is no variable."""
    if isinstance(expression, nodes.Filter) and expression.node is not None:
        return _path(expression.node)
    if isinstance(expression, nodes.Getattr):
        return (*_path(expression.node), expression.attr)
    return (expression.name,) if isinstance(expression, nodes.Name) else ()


def _lines(pieces: Iterator[Piece]) -> Iterator[PromptLine]:
    line: list[Piece] = []
    for piece in pieces:
        head, *rest = piece.text.split("\n")
        line.append(Piece(head, piece.slot, piece.permuted))
        for text in rest:
            yield from _line(line)
            line = [Piece(text)]
    yield from _line(line)


def _line(pieces: Sequence[Piece]) -> Iterator[PromptLine]:
    """The line that these pieces make, unless it is empty."""
    told = [piece for piece in pieces if piece.text.strip()]
    if told:
        text = "".join(piece.text for piece in pieces).strip()
        heading = told[0].text.lstrip().startswith("#")  # of Markdown, as prompts are written
        permuted = any(piece.permuted for piece in told)
        yield PromptLine(show.short(text, _WIDTH), permuted, frame=told[0].slot or heading)


def _condense(lines: Sequence[PromptLine]) -> list[PromptLine]:
    """At most `MOST_LINES`: what is permuted and what frames it stay, the rest goes first."""
    keep = set(range(len(lines)))
    loose = [i for i, line in enumerate(lines) if not line.permuted and not line.frame]
    while len(keep) > MOST_LINES and loose:
        keep.discard(loose.pop())
    return [lines[index] for index in sorted(keep)][:MOST_LINES]
