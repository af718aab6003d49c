"""The stimuli of listwise_consensus: prompts with competing candidate answers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, model_validator

from judgesheet.axis import Problem
from judgesheet.axis.material import (
    Name,
    Strict,
    Text,
    duplicates,
    leaks,
    length_spread,
    responses,
    word_count,
)
from judgesheet.base.digits import two_digits
from judgesheet.base.records import Label, Stimulus

MOST_CANDIDATES = 26
"""As many as there are letters to call them by."""
FEWEST_FOR_BALANCE = 20
"""With fewer prompts a correlation with the gold says nothing about the pool."""
LENGTH_LIMIT = 0.15
CUE_LIMIT = 0.2
"""A cue that tells nothing exceeds it by chance in 13 % of pools of 20 lists of four, 2 % of 44."""


class Candidate(Strict):
    """An answer that competes; `flaw` is what its author planted in it, never shown."""

    id: Name
    text: Text
    flaw: str = ""


class Material(Strict):
    """One line of a stimuli file; `gold` names the right candidate or candidates, if known.

    A `reference` is shown to the judge for orientation; `gold` and flaws never are.
    """

    id: Name
    domain: str = ""
    source: str = ""
    prompt: Text
    reference: Text | None = None
    gold: Name | Annotated[list[Name], Field(min_length=1)] | None = None
    candidates: Annotated[list[Candidate], Field(min_length=2, max_length=MOST_CANDIDATES)]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        ids = [candidate.id for candidate in self.candidates]
        if len(set(ids)) != len(ids):
            raise ValueError("two candidates have the same id")
        gold = golds(self.model_dump())
        unknown = sorted(set(gold) - set(ids))
        if unknown:
            raise ValueError(f"gold names {unknown[0]!r}, which is not one of the candidates")
        if len(set(gold)) == len(ids):
            raise ValueError("every candidate is gold, so no answer could be wrong")
        return self


def material() -> type[BaseModel]:
    """The schema of one stimulus: a prompt, its candidate answers, and the right one if known."""
    return Material


def labels(stimuli: Sequence[Stimulus]) -> Iterator[Label]:  # noqa: ARG001
    """None: the right answer is in the cell of each call, which no prompt shows."""
    return iter(())


def golds(fields: Mapping[str, Any]) -> list[str]:
    """The ids of the right candidates; none where they are not known."""
    gold = fields.get("gold")
    return [] if gold is None else [gold] if isinstance(gold, str) else list(gold)


def golds_shown(cell: Mapping[Any, Any]) -> frozenset[str]:
    """The ids of the right candidates that the cell of a call names, if they are known."""
    several, single = cell.get("golds"), cell.get("gold")
    listed = several if isinstance(several, list) else [single]
    return frozenset(name for name in listed if isinstance(name, str))


# -- checks --------------------------------------------------------------------------------------

_DIGIT = re.compile(r"\d+")
_LABEL = re.compile(r"\b(?i:candidate|answer|response|option)\s+[A-Z]\b")
CUES = {
    "the number of words": lambda text: float(word_count(text)),
    "the number of figures": lambda text: float(len(_DIGIT.findall(text))),
    "the mean length of words": lambda text: len(text) / max(word_count(text), 1),
}
"""What must not tell the gold from the others."""


def check(stimuli: Sequence[Stimulus]) -> Iterator[Problem]:
    """The faults that the schema cannot detect; see `judgesheet stimuli check`."""
    yield from length_spread(responses(stimuli), LENGTH_LIMIT)
    for stimulus in stimuli:
        candidates = stimulus.fields["candidates"]
        where = f"{stimulus.id} ({stimulus.source})"
        yield from _identical(where, candidates)
        for candidate in candidates:
            place = f"{stimulus.id}/{candidate['id']} ({stimulus.source})"
            yield from leaks(place, candidate["text"])
            for label in _LABEL.findall(candidate["text"]):
                yield Problem(place, f"speaks of “{label}”, as the prompt calls a candidate", False)
        for problem in duplicates([(c["id"], c["text"]) for c in candidates]):
            yield replace(problem, where=where, what=f"{problem.where} {problem.what}", grave=False)
    yield from duplicates([(stimulus.id, stimulus.fields["prompt"]) for stimulus in stimuli])
    yield from _gold(stimuli)


def _identical(where: str, candidates: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    """Equal texts are allowed: they test whether a judge treats equals as equal."""
    seen: dict[str, str] = {}
    for candidate in candidates:
        twin = seen.setdefault(candidate["text"].strip(), candidate["id"])
        if twin != candidate["id"]:
            what = f"candidates {twin} and {candidate['id']} have the same text: a fair tie"
            yield Problem(where, what, grave=False)


def _gold(stimuli: Sequence[Stimulus]) -> Iterator[Problem]:
    """The gold must not be recognisable by anything that can be counted."""
    known = [stimulus for stimulus in stimuli if golds(stimulus.fields)]
    if len(known) < FEWEST_FOR_BALANCE:
        return
    for name, cue in CUES.items():
        r = _lean(known, cue)
        if abs(r) > CUE_LIMIT:
            more = "more" if r > 0 else "less"
            yield Problem("pool", f"{name} tells the gold: it has {more} (r = {two_digits(r)})")


def _lean(stimuli: Sequence[Stimulus], cue: Any) -> float:
    """Correlation of a cue, centred within each prompt, with being gold."""
    import numpy as np

    lists = []
    for stimulus in stimuli:
        gold, candidates = golds(stimulus.fields), stimulus.fields["candidates"]
        rows = [(cue(one["text"]), float(one["id"] in gold)) for one in candidates]
        lists.append(np.array(rows) - np.mean(rows, axis=0))
    values, right = np.concatenate(lists).T
    return 0.0 if np.allclose(values, 0) else float(np.corrcoef(values, right)[0, 1])
