"""A probe prompt as a drawing in words: what is fixed, what is filled in, what is permuted."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgesheet.spine.render import show

_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
_BLOCK = re.compile(r"\{%-?\s*(\w+)(.*?)-?%\}", re.DOTALL)
_OPEN, _CLOSE = "\x01", "\x02"
_SLOT = re.compile(r"\{\{-?\s*(.*?)\s*-?\}\}", re.DOTALL)
_PLACES = {"first", "second"}
"""Slots that are named after the place where they stand."""
_FIXED = {"requirement"}
"""What a template lists without ever permuting it."""
MOST_LINES = 10
_WIDTH = 62


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
    """The schema of a recorded prompt; None where its template was not recorded."""
    template = prompt.get("template")
    if not isinstance(template, str) or not template.strip():
        return None
    lines = _condense(list(_lines(template[:20_000])))
    return Schema(show.short(show.words(str(prompt.get("axis"))), 40), tuple(lines))


def _lines(template: str) -> Iterator[PromptLine]:
    """The template without its logic, slots in brackets.

    Permuted is what a loop of several lines lists, and what is named after its place.
    """
    depth = 0
    for raw in _branch(_COMMENT.sub("", template)).splitlines():
        names = {_slot(match[1]) for match in _SLOT.finditer(raw)}
        line = _SLOT.sub(lambda match: f"‹{_slot(match[1])}›", raw)
        line = line.replace(_OPEN, "").replace(_CLOSE, "").strip()
        listed = depth > 0 and bool(names - _FIXED)
        depth = max(depth + raw.count(_OPEN) - raw.count(_CLOSE), 0)
        if line:
            yield PromptLine(show.short(line, _WIDTH), listed or bool(names & _PLACES))


def _branch(text: str) -> str:
    """Loops as marks, the first branch of every condition, nothing of the others."""
    out: list[str] = []
    skipping: list[bool] = []
    place = 0
    for match in _BLOCK.finditer(text):
        if not any(skipping):
            out.append(text[place : match.start()])
        place = match.end()
        word = match[1]
        if word == "if":
            skipping.append(False)
        elif word in ("else", "elif") and skipping:
            skipping[-1] = True
        elif word == "endif" and skipping:
            skipping.pop()
        elif word == "for" and not any(skipping):
            out.append(_OPEN)
        elif word == "endfor" and not any(skipping):
            out.append(_CLOSE)
    out.append(text[place:])
    return "".join(out)


def _slot(expression: str) -> str:
    """`option.description` as `option description`."""
    return show.words(expression.partition("|")[0].strip().replace(".", " "))


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
