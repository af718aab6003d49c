"""The stimuli of candidate_order: banks of sentences to compose responses from, or own pairs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Discriminator, Field, RootModel, Tag, model_validator

from judgesheet.axes.candidate_order._compose import VARIANTS, Composer
from judgesheet.axis import Problem
from judgesheet.axis.material import Name, Strict, Text, duplicates, leaks, word_count
from judgesheet.base.digits import percent
from judgesheet.base.records import Label, Stimulus

LENGTH_LIMIT = 0.10
"""Largest share by which a composed response may differ from its task's mean word count."""

Wordings = Annotated[list[Text], Field(min_length=VARIANTS)]


class Element(Strict):
    """One thing that a good response says: stated in full or by half, each in several wordings."""

    requirement: Text
    full: Wordings
    half: Annotated[list[Text], Field(min_length=1)]


class Task(Strict):
    """A bank of sentences; the level of a response is how many elements it states, in this order.

    `neutral` holds one slot of wordings per element: the sentence used while the element is
    missing. `filler` are sentences without content, `identical` a text for pairs of equal texts.
    """

    id: Name
    domain: str = ""
    request: Text
    elements: list[Element]
    neutral: list[Wordings]
    filler: Annotated[list[Text], Field(min_length=1)]
    identical: Text

    @model_validator(mode="after")
    def _is_a_ladder(self) -> Self:
        if len(self.elements) < 2:
            raise ValueError(
                f"task {self.id} has {len(self.elements)} elements; a ladder needs two or more"
            )
        if len(self.neutral) != len(self.elements):
            raise ValueError(
                f"task {self.id} has {len(self.elements)} elements and {len(self.neutral)} neutral "
                "slots; each element needs the slot that stands in for it"
            )
        self._is_nested()
        spread = length_spread(self.model_dump())
        if spread > LENGTH_LIMIT:
            raise ValueError(
                f"the responses of task {self.id} differ by up to {percent(spread)} from their "
                f"mean length (limit {percent(LENGTH_LIMIT)}); length would give the level away"
            )
        return self

    def _is_nested(self) -> None:
        """A sentence used in two places would make a level contain what it should lack."""
        places: dict[str, str] = {}
        for place, sentence in _sentences(self.model_dump()):
            if sentence in places:
                raise ValueError(
                    f"the chain of task {self.id} is not nested: {place} repeats a sentence of "
                    f"{places[sentence]}"
                )
            places[sentence] = place


class Pair(Strict):
    """Two responses of the user's own; `better` names the better one, if that is known.

    `source` names the set that the pair comes from.
    """

    id: Name
    request: Text
    u: str
    v: str
    better: Literal["u", "v"] | None = None
    requirements: list[Text] = Field(default_factory=list)
    source: Text | None = None


def _kind(record: Any) -> str:
    own = isinstance(record, Pair) or (isinstance(record, Mapping) and {"u", "v"} & set(record))
    return "pair" if own else "task"


class Material(RootModel[Any]):
    """One line of a stimuli file: a task, or a pair of the user's own."""

    root: Annotated[
        Annotated[Task, Tag("task")] | Annotated[Pair, Tag("pair")], Discriminator(_kind)
    ]


def material() -> type[BaseModel]:
    """The schema of one stimulus: a bank of sentences to compose from, or a pair of responses."""
    return Material


def labels(stimuli: Sequence[Stimulus]) -> Iterator[Label]:  # noqa: ARG001
    """None: what is known about a pair (its step, the better response) is in its cell."""
    return iter(())


def is_task(stimulus: Stimulus) -> bool:
    """Whether it is a task to compose responses from; if not, it is a pair."""
    return "elements" in stimulus.fields


def _sentences(task: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(place, sentence) of everything that responses are composed from."""
    slots = zip(task["elements"], task["neutral"], strict=True)
    for number, (element, neutral) in enumerate(slots, start=1):
        yield from ((f"element {number}", sentence) for sentence in element["full"])
        yield from ((f"half of element {number}", sentence) for sentence in element["half"])
        yield from ((f"neutral slot {number}", sentence) for sentence in neutral)


def length_spread(task: Mapping[str, Any]) -> float:
    """Largest relative distance of a composed response from the task's mean word count.

    Every level counts in every wording, half-steps included.
    """
    composer = Composer(task, seed=0)  # the seed moves sentences, not their number of words
    counts = [
        word_count(composer.response(half_steps / 2, wording))
        for wording in range(VARIANTS)
        for half_steps in range(2 * composer.levels + 1)
    ]
    mean = sum(counts) / len(counts)
    return max(abs(count - mean) / mean for count in counts) if mean else 0.0


def check(stimuli: Sequence[Stimulus]) -> Iterator[Problem]:
    """The faults that the schema cannot detect; see `judgesheet stimuli check`."""
    tasks = [stimulus for stimulus in stimuli if is_task(stimulus)]
    for stimulus in tasks:
        yield from _leaks(stimulus)
        yield from _single_sentences(stimulus)
    if tasks:
        worst = max(tasks, key=lambda task: length_spread(task.fields))
        yield Problem(
            "pool",
            f"the responses of a task differ by at most {percent(length_spread(worst.fields))} "
            f"from their mean length ({worst.id}; limit {percent(LENGTH_LIMIT)})",
            grave=False,
        )
    yield from duplicates([(task.id, task.fields["request"]) for task in tasks])
    yield from duplicates([(task.id, task.fields["identical"]) for task in tasks])


def _leaks(stimulus: Stimulus) -> Iterator[Problem]:
    where, fields = f"{stimulus.id} ({stimulus.source})", stimulus.fields
    for place, sentence in _sentences(fields):
        yield from leaks(f"{where}, {place}", sentence)
    for text in (*fields["filler"], fields["identical"]):
        yield from leaks(where, text)


# Where a second sentence begins.
_WITHIN = re.compile(r"[.!?][\"')\]]*\s+[A-Z]")


def _single_sentences(stimulus: Stimulus) -> Iterator[Problem]:
    """All slots must hold one sentence, or the number of sentences reveals the level."""
    several = [text for _, text in _sentences(stimulus.fields) if _WITHIN.search(text)]
    if several:
        yield Problem(
            f"{stimulus.id} ({stimulus.source})",
            f"{len(several)} slots hold more than one sentence, such as “{several[0][:60]}…”",
            grave=False,
        )
