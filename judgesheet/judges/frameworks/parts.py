"""The parts of a question, for a judge that has a prompt of its own.

The template `parts_<axis>` of an axis hands its questions over in parts, which the functions here
take apart, so that a framework can put them into its own prompt.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Messages = Sequence[Mapping[str, str]]

_NAME = re.compile(r"^=== (.+)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Grading:
    """A response to grade. `scale` maps scores to descriptions, in the order to show them in."""

    request: str
    response: str
    reference: str
    criterion: str
    scale: Mapping[int, str]

    @property
    def rubric(self) -> str:
        """The scale as text, in its order."""
        return "\n".join(f"Score {score}: {text}" for score, text in self.scale.items())


@dataclass(frozen=True, slots=True)
class ResponsePair:
    """Two responses to one request, in the order to show them in."""

    request: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Given:
    """What the framework asks: `model`, or `own`, an object of the user's in place of ours.

    `limits` are the temperature and the max_tokens of the run.
    """

    model: str
    own: Any
    limits: dict[str, Any]


def grading(messages: Messages) -> Grading:
    """The parts of a question about one response; ValueError for any other."""
    named = _parts(messages, r"request,response,reference,criterion(,score \d)+")
    (_, request), (_, response), (_, reference), (_, criterion), *lines = named
    scale = {int(name.removeprefix("score ")): text for name, text in lines}
    return Grading(request, response, reference, criterion, scale)


def comparison(messages: Messages) -> ResponsePair:
    """The parts of a question about two responses; ValueError for any other."""
    return ResponsePair(*(text for _, text in _parts(messages, "request,first,second")))


FORMS = {
    "grading": ("grade", grading, "[RESULT] {}"),
    "comparison": ("compare", comparison, '{{"winner": "{}"}}'),
}
"""By `axis.Parts`: the function that a framework's module has for them, how they are taken apart,
and the words that the built-in prompts ask for a verdict in."""


def _parts(messages: Messages, expected: str) -> list[tuple[str, str]]:
    """The parts with their names; ValueError if they are others: a text may imitate a name."""
    _, *pieces = _NAME.split(messages[-1]["content"])
    names, texts = pieces[::2], [text.strip() for text in pieces[1::2]]
    if not re.fullmatch(expected, ",".join(names)) or len(set(names)) < len(names):
        raise ValueError(
            "this question is not in the parts that judges of frameworks take: leave --prompt out"
        )
    return list(zip(names, texts, strict=True))
