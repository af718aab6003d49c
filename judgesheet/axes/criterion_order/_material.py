"""The stimuli of criterion_order: prompts with responses, and several criteria to grade them on."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Annotated, Self

from pydantic import BaseModel, Field, model_validator

from judgesheet.axes.criterion_order._names import fault_of_names
from judgesheet.axis import Problem
from judgesheet.axis.labels import Kind, Rated, label
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
from judgesheet.base.digits import two_digits
from judgesheet.base.records import Label, Stimulus

MOST_CRITERIA = 8
LENGTH_LIMIT = 0.15
"""Largest share by which a response may differ from its prompt's mean word count."""
CUE_LIMIT = 0.3
"""Largest correlation of length with the intended level on a criterion."""
KINDS: tuple[Kind, ...] = ("human", "model")


class Criterion(Strict):
    """A criterion and its described scores, worst first."""

    name: Text
    levels: Levels


class Candidate(Strict):
    """A response to grade, with what is known about it and never shown, by criterion.

    `level` is the one that it was written for (1 is the worst), for every criterion; `human` what
    people gave it and `model` what another model did, for some or all of them: one score, or one
    per rater (null where one gave none), on any scale.
    """

    id: Name
    text: Text
    level: dict[str, Annotated[int, Field(ge=1)]] | None = None
    human: dict[str, Rated] | None = None
    model: dict[str, Rated] | None = None


class Material(Strict):
    """One line of a stimuli file."""

    id: Name
    domain: str = ""
    prompt: Text
    reference: Text | None = None
    criteria: Annotated[list[Criterion], Field(min_length=2, max_length=MOST_CRITERIA)]
    candidates: Annotated[list[Candidate], Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        ids = [candidate.id for candidate in self.candidates]
        if len(set(ids)) != len(ids):
            raise ValueError("two candidates have the same id")
        names = [criterion.name for criterion in self.criteria]
        fault = fault_of_names(names)
        if fault:
            raise ValueError(fault)
        scales = [len(criterion.levels) for criterion in self.criteria]
        if len(set(scales)) > 1:
            raise ValueError("all criteria of a prompt need the same number of levels")
        for candidate in self.candidates:
            _check_labels(candidate, names, scales[0])
        return self


def material() -> type[BaseModel]:
    """The schema of one stimulus: a prompt, criteria and the responses to grade."""
    return Material


def _check_labels(candidate: Candidate, names: Sequence[str], scale: int) -> None:
    for what in ("level", "human", "model"):
        unknown = sorted(set(getattr(candidate, what) or ()) - set(names))
        if unknown:
            raise ValueError(f"candidate {candidate.id}: {what} names no criterion: {unknown[0]!r}")
    levels = candidate.level
    if levels is not None:
        missing = [name for name in names if name not in levels]
        if missing:
            raise ValueError(f"candidate {candidate.id}: level lacks {missing[0]!r}")
        if max(levels.values()) > scale:
            raise ValueError(f"candidate {candidate.id}: a level is beyond the last, {scale}")


def labels(stimuli: Sequence[Stimulus]) -> Iterator[Label]:
    """One label per response, criterion and kind; levels are scaled to 0..1."""
    for stimulus in stimuli:
        last = len(stimulus.fields["criteria"][0]["levels"]) - 1
        for candidate in stimulus.fields["candidates"]:
            item = f"{stimulus.id}/{candidate['id']}"
            for kind in KINDS:
                for name, given in (candidate.get(kind) or {}).items():
                    yield label("criterion_order", item, kind, given, name)
            for name, level in (candidate.get("level") or {}).items():
                yield Label("criterion_order", item, "intended", (level - 1) / last, name)


def check(stimuli: Sequence[Stimulus]) -> Iterator[Problem]:
    """The faults that the schema cannot detect; see `judgesheet stimuli check`."""
    yield from length_spread(responses(stimuli), LENGTH_LIMIT)
    texts: dict[str, str] = {}
    levels: dict[str, Mapping[str, int]] = {}
    for stimulus in stimuli:
        candidates = stimulus.fields["candidates"]
        for candidate in candidates:
            where = f"{stimulus.id}/{candidate['id']}"
            texts[where], levels[where] = candidate["text"], candidate.get("level") or {}
            yield from leaks(where, candidate["text"])
    names = list(dict.fromkeys(name for level in levels.values() for name in level))
    for name in names:
        pairs = [
            (float(level[name]), word_count(texts[where]))
            for where, level in levels.items()
            if name in level
        ]
        for problem in length_against_level(pairs, CUE_LIMIT):
            yield Problem(f"{problem.where}, {name}", problem.what, problem.grave)
    yield from _related(names, list(levels.values()))
    yield from duplicates(list(texts.items()))


def _related(names: Sequence[str], levels: Sequence[Mapping[str, int]]) -> Iterator[Problem]:
    """Levels of two criteria that rise together cannot show that a judge tells them apart."""
    import numpy as np

    for one, other in combinations(names, 2):
        both = np.array([(v[one], v[other]) for v in levels if one in v and other in v], float)
        # Ten unrelated pairs exceed .5 by chance in one pool of seven, fewer more often.
        if len(both) < 10 or not both.std(axis=0).all():
            continue
        r = float(np.corrcoef(both.T)[0, 1])
        if abs(r) > 0.5:
            what = f"levels of {one} and {other} go together (r = {two_digits(r)}, limit 0.5)"
            yield Problem("pool", what, grave=False)
