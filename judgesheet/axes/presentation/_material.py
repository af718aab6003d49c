"""The stimuli of presentation: responses to dress, and pairs of the user's own."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Discriminator, Field, RootModel, Tag

from judgesheet.axes.presentation._rules import RULES, Point, Response, dressed, of_text, paragraphs
from judgesheet.axis import Problem
from judgesheet.axis.material import Name, Strict, Text, leaks, near_copies
from judgesheet.axis.shaping import Holds, NotAStimulusError, Prompt, known
from judgesheet.base.records import Label, Stimulus


class Said(Strict):
    """A point of a response: a sentence that meets a requirement, and its heading."""

    heading: Text
    requirement: Text
    text: Text


class Composed(Strict):
    """A response of which it is known what each sentence is for."""

    id: Name
    domain: str = ""
    field: Text | None = None
    group: Text | None = None
    topic: Text
    request: Text
    points: Annotated[list[Said], Field(min_length=2)]


class Own(Strict):
    """A response of the user's own; the rest is optional."""

    id: Name
    domain: str = ""
    field: Text | None = None
    group: Text | None = None
    topic: Text | None = None
    request: Text
    requirements: list[Text] = Field(default_factory=list)
    response: Text


class Pair(Strict):
    """Two different responses; `better` is people's verdict.

    `systems` says who wrote them, `families` of which family each writer is, such as its vendor's.
    """

    id: Name
    field: Text | None = None
    group: Text | None = None
    request: Text
    requirements: list[Text] = Field(default_factory=list)
    a: Text
    b: Text
    better: Literal["a", "b", "tie"] | None = None
    systems: tuple[Name, Name] | None = None
    families: tuple[Name, Name] | None = None


def _kind(record: Any) -> str:
    has = set(record) if isinstance(record, Mapping) else set(type(record).model_fields)
    return "pair" if {"a", "b"} & has else "composed" if "points" in has else "own"


class Material(RootModel[Any]):
    """One line of a stimuli file: a response in its points, one as it comes, or a pair."""

    root: Annotated[
        Annotated[Composed, Tag("composed")]
        | Annotated[Own, Tag("own")]
        | Annotated[Pair, Tag("pair")],
        Discriminator(_kind),
    ]


def material() -> type[BaseModel]:
    """The schema of one stimulus."""
    return Material


def labels(stimuli: Sequence[Stimulus]) -> Iterator[Label]:  # noqa: ARG001
    """None: what is known about a pair stands in its cell."""
    return iter(())


def is_pair(stimulus: Stimulus) -> bool:
    """Whether it is a pair of the user's own; if not, it is a response to dress."""
    return "a" in stimulus.fields


def requirements(stimulus: Stimulus) -> list[str]:
    """What a good response must contain, as the prompt lists it."""
    fields = stimulus.fields
    if points := fields.get("points"):
        return [point["requirement"] for point in points]
    return list(fields.get("requirements", ()))


def response(stimulus: Stimulus) -> Response:
    """The response that is to be dressed."""
    fields = stimulus.fields
    topic = fields.get("topic") or ""
    if points := fields.get("points"):
        said = tuple(Point(one["text"], one["heading"]) for one in points)
        return Response(said, paragraphs(len(said)), topic)
    return of_text(fields["response"], topic)


def undressed(stimulus: Stimulus) -> list[str]:
    """The kinds that this response cannot be dressed in at all without changing what it says."""
    mine = response(stimulus)
    return [
        kind
        for kind, forms in RULES.items()
        if all(dressed(mine, kind, form, 2.0) is None for form in forms)
    ]


def check(stimuli: Sequence[Stimulus]) -> Iterator[Problem]:
    """Requests that share a template, words about grading, and responses that cannot be dressed."""
    answers = [stimulus for stimulus in stimuli if not is_pair(stimulus)]
    for stimulus in answers:
        yield from leaks(f"{stimulus.id} ({stimulus.source})", response(stimulus).plain)
    lacking = [kind for stimulus in answers for kind in undressed(stimulus)]
    for kind in dict.fromkeys(lacking):
        text = f"{lacking.count(kind)} of {len(answers)} responses are not asked in the form"
        why = "it would change what they say"
        yield Problem("pool", f"{text} {kind}: {why}", grave=False)
    yield from near_copies("requests", [(one.id, one.fields["request"]) for one in stimuli])


# -- imported prompts ------------------------------------------------------------------------------


TAKES = {Holds.PAIR: 10, Holds.ANSWERS: 10, Holds.BEST: 10}


def shape(prompt: Prompt) -> dict[str, Any]:
    """A pair as it comes; NotAStimulusError unless there are two responses that differ."""
    if len(prompt.responses) != 2:
        raise NotAStimulusError("not two responses")
    first, second = prompt.shuffled()
    if first.text == second.text:
        raise NotAStimulusError("the two responses are the same text")
    better = None if first.gold == second.gold else "a" if first.gold else "b"
    named = [one.id for one in (first, second) if _SYSTEM.fullmatch(one.id)]
    return {
        "id": prompt.id,
        "request": prompt.text,
        "a": first.text,
        "b": second.text,
        **known(better=better, systems=named if len(named) == 2 else None),
    }


# Ids that name who wrote a response: no places (u, v, 1, 2).
_SYSTEM = re.compile(r"(?=.{2,80}\Z)[A-Za-z][A-Za-z0-9_.:-]*")
