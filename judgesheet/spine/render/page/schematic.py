"""A probe prompt as a drawing in words: what is fixed, what is filled in, what is permuted."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgesheet.spine.render import show

_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
_BLOCK = re.compile(r"\{%-?\s*(\w+)(.*?)-?%\}", re.DOTALL)
_SLOT = re.compile(r"\{\{-?\s*(.*?)\s*-?\}\}", re.DOTALL)
_ORDERED = re.compile(r"first|second|\d$|options?|candidates?|criteria|criterion_list|responses")
MOST_LINES = 12
_WIDTH = 84


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
    """The template without its logic; slots in brackets."""
    text = _COMMENT.sub("", template)
    depth = 0
    for raw in _branch(text).splitlines():
        opened = len(re.findall(r"\x01", raw))
        closed = len(re.findall(r"\x02", raw))
        names = [_slot(match[1]) for match in _SLOT.finditer(raw)]
        line = re.sub(r"[\x01\x02]", "", _SLOT.sub(lambda m: f"‹{_slot(m[1])}›", raw)).strip()
        looped = depth > 0 or opened > 0
        depth = max(depth + opened - closed, 0)
        if line:
            permuted = bool(names) and (
                (looped and not line.startswith("-")) or any(map(_ORDERED.fullmatch, names))
            )
            yield PromptLine(show.short(line, _WIDTH), permuted)


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
            out.append("\x01")
        elif word == "endfor" and not any(skipping):
            out.append("\x02")
    out.append(text[place:])
    return "".join(out)


def _slot(expression: str) -> str:
    """`option.description` as `option description`."""
    return show.words(expression.split("|")[0].strip().replace(".", " "))


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
