"""The stimuli of score_order: prompts with responses, and a rubric of described scores."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Annotated, Self

from pydantic import Field, model_validator

from judgesheet.axis import Problem
from judgesheet.axis.labels import Rated, label
from judgesheet.axis.material import (
    Levels,
    Name,
    Strict,
    Text,
    duplicates,
    leaks,
    length_against_level,
    length_spread,
    responses,
    word_count,
)
from judgesheet.base.records import Label, Stimulus

LENGTH_LIMIT = 0.15
"""Largest share by which a response may differ from its prompt's mean word count."""
CUE_LIMIT = 0.2
"""Largest correlation of length with the intended level over the pool."""
MARKED = 3
"""A rubric line with so many times the words of another is told by its length."""


class Rubric(Strict):
    """A criterion and its described scores, worst first."""

    criterion: Text
    levels: Levels


class Candidate(Strict):
    """A response to grade, with what is known about it and never shown.

    `level` is the rubric level that it was written for (1 is the worst); `human` what people gave
    it and `model` what another model did: one score, or one per rater (null where one gave none),
    on any scale.
    """

    id: Name
    text: Text
    level: Annotated[int, Field(ge=1)] | None = None
    human: Rated | None = None
    model: Rated | None = None


class Material(Strict):
    """One line of a stimuli file."""

    id: Name
    domain: str = ""
    prompt: Text
    reference: Text | None = None
    rubric: Rubric
    candidates: Annotated[list[Candidate], Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        ids = [candidate.id for candidate in self.candidates]
        if len(set(ids)) != len(ids):
            raise ValueError("two candidates have the same id")
        highest = max((c.level or 0 for c in self.candidates), default=0)
        if highest > len(self.rubric.levels):
            raise ValueError(
                f"a candidate has level {highest}, the rubric ends at {len(self.rubric.levels)}"
            )
        return self


def material() -> type[Material]:
    """The schema of one stimulus: a prompt, a rubric and the responses to grade."""
    return Material


def labels(stimuli: Sequence[Stimulus]) -> Iterator[Label]:
    """One label per response and kind; levels scaled to 0..1, scores averaged over raters."""
    for stimulus in stimuli:
        last = len(stimulus.fields["rubric"]["levels"]) - 1
        for candidate in stimulus.fields["candidates"]:
            item = f"{stimulus.id}/{candidate['id']}"
            for kind in ("human", "model"):
                if candidate.get(kind) is not None:
                    yield label("score_order", item, kind, candidate[kind])
            if candidate.get("level") is not None:
                yield Label("score_order", item, "intended", (candidate["level"] - 1) / last)


def check(stimuli: Sequence[Stimulus]) -> Iterator[Problem]:
    """The faults that the schema cannot detect; see `judgesheet stimuli check`."""
    yield from length_spread(responses(stimuli), LENGTH_LIMIT)
    texts, pairs, used = [], [], set()
    for stimulus in stimuli:
        candidates = stimulus.fields["candidates"]
        yield from _rubric(stimulus)
        for candidate in candidates:
            where = f"{stimulus.id}/{candidate['id']}"
            texts.append((where, candidate["text"]))
            yield from leaks(where, candidate["text"])
            if candidate.get("level") is not None:
                used.add(candidate["level"])
                pairs.append((float(candidate["level"]), word_count(candidate["text"])))
    yield from length_against_level(pairs, CUE_LIMIT)
    yield from duplicates(texts)
    for low, high in pairwise(sorted(used)):
        if high - low > 1:
            yield Problem("pool", f"no response was written for levels {low + 1} to {high - 1}")


def _rubric(stimulus: Stimulus) -> Iterator[Problem]:
    counts = [word_count(level) for level in stimulus.fields["rubric"]["levels"]]
    if max(counts) > MARKED * max(min(counts), 1):
        what = f"rubric lines have {min(counts)} to {max(counts)} words; length may mark a line"
        yield Problem(stimulus.id, what, grave=False)
