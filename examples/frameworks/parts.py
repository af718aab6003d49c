"""The parts of a question, for a judge that has a prompt of its own.

The templates score.j2 and pair.j2 hand a question over in parts. The functions here take it
apart, so that a framework can put the parts into its own prompt.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Messages = Sequence[Mapping[str, str]]
Params = Mapping[str, float]

NO_VERDICT = "no verdict"
"""A reply where the framework could not read its model: counted as unreadable, not asked again."""

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
class Comparison:
    """Two responses to one request, in the order to show them in."""

    request: str
    first: str
    second: str


def grading(messages: Messages) -> Grading:
    """The parts of a question that score.j2 wrote."""
    what = r"request,response,reference,criterion(,score \d)+"
    named = _parts(messages, what, "--axis score_order --prompt score_order=score.j2")
    texts = [text for _, text in named]
    scores = [int(name.removeprefix("score ")) for name, _ in named[4:]]
    return Grading(*texts[:4], dict(zip(scores, texts[4:], strict=True)))


def comparison(messages: Messages) -> Comparison:
    """The parts of a question that pair.j2 wrote."""
    options = "--axis candidate_order --prompt candidate_order=pair.j2"
    return Comparison(*(text for _, text in _parts(messages, "request,first,second", options)))


def _parts(messages: Messages, expected: str, options: str) -> list[tuple[str, str]]:
    """The parts with their names; ValueError if they are others: a text may imitate a name."""
    _, *pieces = _NAME.split(messages[-1]["content"])
    names, texts = pieces[::2], [text.strip() for text in pieces[1::2]]
    if not re.fullmatch(expected, ",".join(names)) or len(set(names)) < len(names):
        raise ValueError(f"this question is not in the parts that this judge takes: give {options}")
    return list(zip(names, texts, strict=True))
