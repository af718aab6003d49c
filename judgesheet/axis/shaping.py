"""What an importer passes to an axis: a prompt with its responses, whatever the file format.

An axis that can make a stimulus from such a prompt has the members of `Shaping`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, runtime_checkable

from judgesheet.base.records import digest

UNNAMED = "score"
"""The name of a criterion that the source does not name."""

Rated = float | Sequence[float | None]
"""One score, or a list with a place per rater and None where that rater gave none."""


class Holds(Enum):
    """What a source knows about the responses to a prompt."""

    RATINGS = "people's scores on several criteria"
    RUBRIC = "a rubric for each prompt"
    ANSWERS = "several responses"
    BEST = "several responses, of which the right ones are known"
    PAIR = "two responses"


@dataclass(frozen=True, slots=True)
class Response:
    """A response with what is known about it.

    `gold` is True for a response known to be best (or better), False for one known not to be.
    `human` holds people's scores by criterion (None: not given on any line), `model` those of
    another model.
    """

    id: str
    text: str
    gold: bool | None
    human: Mapping[str, Rated | None]
    model: Rated | None

    def scores(self, criterion: str) -> Rated | None:
        """People's scores on a criterion; a source without names has one, whichever it is."""
        return self.human.get(criterion, self.human.get(UNNAMED))


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt and its responses, one at least, in the order of the source.

    `rubrics` are the criteria to grade by, each with what a stimulus says of it (`levels`, worst
    first, `description`, `range`): the prompt's own, else those that the user chose. `where` is
    `file:line` of the first mention. `group` is what it has in common with other prompts, so that
    they count as one; "" if nothing says.
    """

    id: str
    where: str
    text: str
    domain: str
    source: str
    reference: str | None
    rubrics: Mapping[str, Mapping[str, Any]]
    responses: Sequence[Response]
    group: str = ""

    def shuffled(self) -> list[Response]:
        """The responses in an order that says nothing about them, the same for the same content."""
        return sorted(self.responses, key=lambda one: digest(f"{self.id}\n{one.text}"))


class NotAStimulusError(Exception):
    """A prompt that cannot serve an axis; the text is the reason, counted in the report."""


@runtime_checkable
class Shaping(Protocol):
    """The optional members of an axis that can take imported prompts."""

    TAKES: Mapping[Holds, int]
    """The sources that it can take; a source goes to the axis with the lowest number by default."""

    def shape(self, prompt: Prompt) -> dict[str, Any]:
        """One stimulus, as a line of a stimuli file has it.

        NotAStimulusError if this prompt lacks what the axis needs. UsageError if every prompt will,
        because an option is missing.
        """


def heading(prompt: Prompt) -> dict[str, Any]:
    """The fields with which the stimuli of most axes begin."""
    fields = {"id": prompt.id, "domain": prompt.domain, "prompt": prompt.text}
    return {**fields, **known(reference=prompt.reference)}


def candidate_fields(response: Response, **more: Any) -> dict[str, Any]:
    """A response as a candidate, with what is known of `more`."""
    return {"id": response.id, "text": response.text, **known(**more)}


def known(**fields: Any) -> dict[str, Any]:
    """The fields that are not empty."""
    return {name: value for name, value in fields.items() if value not in (None, "", {})}
