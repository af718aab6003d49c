"""The questions of criterion_order: responses, criteria, and orders of these."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Annotated, Any, Self

import numpy as np
from pydantic import BaseModel, Field, model_validator

from judgesheet.axis import Options, Problem
from judgesheet.axis.arms import Read, Settings, item_fault, reads
from judgesheet.axis.labels import Kind, Rated, label
from judgesheet.axis.material import (
    Levels,
    Name,
    Range,
    Strict,
    Text,
    field_and_words,
    in_points,
    leaks,
    length_against_level,
    length_spread,
    near_copies,
    require_one_scale,
    scale_of,
    word_count,
)
from judgesheet.axis.prompt import object_schema, parameters, renderer, score_schema
from judgesheet.axis.shaping import Holds, Prompt, candidate_fields, heading, known
from judgesheet.base.digits import two_digits
from judgesheet.base.errors import UsageError
from judgesheet.base.limits import LONGEST_CRITERION, LONGEST_SCALE, MOST_CRITERIA, MOST_RECORDED
from judgesheet.base.records import Call, Label, Stimulus
from judgesheet.base.scale import Scale
from judgesheet.reading.marks import plain

# -- names of criteria -----------------------------------------------------------------------------


_RESERVED = "[]="


def fault_of_names(names: Sequence[object]) -> str | None:
    """What keeps these from being names that a reply and a key can tell apart; None if nothing."""
    for name in names:
        if not isinstance(name, str) or not plain(name) or name != name.strip():
            return f"{name!r} cannot be the name of a criterion"
        if len(name) > LONGEST_CRITERION or not name.isprintable() or set(_RESERVED) & set(name):
            return (
                f"{name[:LONGEST_CRITERION]!r} cannot be the name of a criterion: at most "
                f"{LONGEST_CRITERION} visible characters without {' '.join(_RESERVED)}"
            )
    if len({plain(str(name)) for name in names}) != len(names):
        return "two criteria have the same name"
    return None


# -- stimuli ---------------------------------------------------------------------------------------


CUE_LIMIT = 0.3
"""Largest correlation of length with the intended level on a criterion."""
KINDS: tuple[Kind, ...] = ("human", "model")


class Criterion(Strict):
    """A criterion: its described scores, worst first, or what it means and a range of scores."""

    name: Text
    description: Text | None = None
    levels: Levels | None = None
    range: Range | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.levels is None and (self.range is None or self.description is None):
            raise ValueError("a criterion needs levels, or a description and a range")
        scale_of(self.levels, self.range)
        return self


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
    field: Text | None = None
    group: Text | None = None
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
        scales = [scale_of(criterion.levels, criterion.range) for criterion in self.criteria]
        if len(set(scales)) > 1:
            raise ValueError("all criteria of a prompt need the same number of levels, or range")
        for candidate in self.candidates:
            _check_labels(candidate, names, scales[0].count)
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
        scale = _scale(stimulus)
        for candidate in stimulus.fields["candidates"]:
            item = f"{stimulus.id}/{candidate['id']}"
            for kind in KINDS:
                for name, given in (candidate.get(kind) or {}).items():
                    yield label("criterion_order", item, kind, in_points(given, scale), name)
            for name, level in (candidate.get("level") or {}).items():
                worth = (level - 1) / (scale.count - 1)
                yield Label("criterion_order", item, "intended", worth, name)


def check(stimuli: Sequence[Stimulus]) -> Iterator[Problem]:
    """The faults that the schema cannot detect; see `judgesheet stimuli check`."""
    yield from length_spread(stimuli)
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
    yield from near_copies("responses", list(texts.items()))


def _related(names: Sequence[str], levels: Sequence[Mapping[str, int]]) -> Iterator[Problem]:
    """Levels of two criteria that rise together cannot show that a judge tells them apart."""
    for one, other in combinations(names, 2):
        both = np.array([(v[one], v[other]) for v in levels if one in v and other in v], float)
        # Ten unrelated pairs exceed .5 by chance in one pool of seven, fewer more often.
        if len(both) < 10 or not both.std(axis=0).all():
            continue
        r = float(np.corrcoef(both.T)[0, 1])
        if abs(r) > 0.5:
            what = f"levels of {one} and {other} go together (r = {two_digits(r)}, limit 0.5)"
            yield Problem("pool", what, grave=False)


# -- imported prompts: graded on all chosen criteria at once ---------------------------------------


TAKES = {Holds.RATINGS: 0}


def shape(prompt: Prompt) -> dict[str, Any]:
    """The prompt with its criteria and all its responses.

    UsageError unless two criteria or more are described.
    """
    if len(prompt.rubrics) < 2:
        raise UsageError(
            "criterion_order needs two criteria or more; give them with --rubric FILE "
            '({"criterion name": ["worst", …, "best"], …}), and no --criterion'
        )
    return {
        **heading(prompt),
        "criteria": [{"name": name, **rubric} for name, rubric in prompt.rubrics.items()],
        "candidates": [
            candidate_fields(
                one, human=known(**{name: one.human.get(name) for name in prompt.rubrics})
            )
            for one in prompt.responses
        ],
    }


# -- calls -----------------------------------------------------------------------------------------


# `quick` reads two orders twice, so that the noise of a prompt is not 0 or 1
# (docs/notes/designs.md); `first` shows two criteria, which spares orders and words.
PROFILES: Mapping[str, Settings] = {
    "first": Settings(stimuli=6, candidates=1, repeated=0, random=0, fixed=0, listed=2),
    "smoke": Settings(stimuli=3, candidates=2, repeated=2, random=0, fixed=0),
    "quick": Settings(
        stimuli=24, candidates=1, repeated=2, random=0, fixed=0, half=True, repeated_on=16
    ),
    "standard": Settings(
        None, candidates=2, repeated=2, random=None, fixed=None, half=True, arms_on=4
    ),
    "full": Settings(None, None, repeated=None, random=None, fixed=None),
}


def design(
    stimuli: Sequence[Stimulus], options: Options, rng: "np.random.Generator"
) -> Iterator[Call]:
    """Every call, item by item; within an item the arms are interleaved at random.

    Calls of one item stand together so that an endpoint with prefix caching answers faster, and in
    random order so that a drift of the endpoint over time cannot pose as an effect of the order.
    """
    shown, permuted = ("prompt", "response"), {"criteria.name": "criterion"}
    render = renderer(template(stimuli), options, shown, permuted)
    profile = PROFILES[options.profile].chosen(options)
    require_one_scale(stimuli, _scale, of_one_length=False)
    for (stimulus, mine), settings in profile.of(stimuli, rng):
        count = len(stimulus.fields["criteria"][: settings.listed])
        cells = list(reads(count, options.sequences, settings, mine))
        for candidate in stimulus.fields["candidates"][: settings.candidates]:
            for pick in mine.permutation(len(cells)):
                yield _call(stimulus, candidate, cells[pick], options, render)


def fault(cell: Mapping[str, Any]) -> str | None:
    """What keeps a recorded cell from being one of ours, as a sentence; None if nothing does."""
    if wrong := item_fault(cell, "the graded response"):
        return wrong
    scale, order = cell.get("scale"), cell.get("order")
    if scale is not None and (type(scale) is not int or not 2 <= scale <= LONGEST_SCALE):
        return f"cell.scale must be a number from 2 to {LONGEST_SCALE}, or be left out"
    if not isinstance(order, list) or not 2 <= len(order) <= MOST_RECORDED:
        return f"cell.order must list 2 to {MOST_RECORDED} criteria, as displayed"
    wrong = fault_of_names(order)
    return None if wrong is None else f"cell.order: {wrong}"


def arm(cell: Mapping[str, Any]) -> str:
    """The arm of a cell in the plan's table."""
    return f"{cell['arm']}, scale {cell['scale']}" if "scale" in cell else str(cell["arm"])


def _scale(stimulus: Stimulus) -> Scale:
    first = stimulus.fields["criteria"][0]
    return scale_of(first.get("levels"), first.get("range"))


def template(stimuli: Sequence[Stimulus]) -> str:
    """The name of the built-in prompt for these stimuli: the usual one prints scores from 1."""
    criteria = (criterion for one in stimuli for criterion in one.fields["criteria"])
    has_range = any(criterion.get("range") is not None for criterion in criteria)
    return "criterion_range" if has_range else "criterion_order"


def _shown(criterion: Mapping[str, Any], scale: Scale) -> dict[str, Any]:
    """A criterion as the template gets it."""
    described = enumerate(criterion.get("levels") or (), start=1)
    return {
        "name": criterion["name"],
        **known(description=criterion.get("description")),
        "levels": [{"score": scale.number(s), "description": text} for s, text in described],
    }


def _call(
    stimulus: Stimulus,
    candidate: Mapping[str, Any],
    cell: Read,
    options: Options,
    render: Callable[..., str],
) -> Call:
    fields = stimulus.fields
    criteria = [fields["criteria"][number - 1] for number in cell.order]
    names, scale = [criterion["name"] for criterion in criteria], _scale(stimulus)
    prompt = render(
        prompt=fields["prompt"],
        response=candidate["text"],
        reference=fields.get("reference"),
        criteria=[_shown(criterion, scale) for criterion in criteria],
        n=len(names),
        scale=scale.high,
        low=scale.low,
        step=scale.step,
        reply=options.reply,
    )
    return Call(
        axis="criterion_order",
        stimulus=stimulus.id,
        cell={
            "item": f"{stimulus.id}/{candidate['id']}",
            "arm": cell.arm,
            "scale": scale.count,
            **scale.own,
            "order": names,
            **field_and_words(stimulus, candidate["text"]),
        },
        repeat=cell.repeat,
        messages=({"role": "user", "content": prompt},),
        params=_params(names, scale, options),
        reply=options.reply,
    )


def _params(names: Sequence[str], scale: Scale, options: Options) -> dict[str, Any]:
    # A name may take a token for each of its letters; a score, quotes and a comma take six.
    budgets = {"text": 1024, "json": 32 + sum(len(name.encode()) + 6 for name in names)}
    # Properties stand in displayed order: a constrained judge answers in that order.
    schema = object_schema({"scores": object_schema(dict.fromkeys(names, score_schema(scale)))})
    return parameters(options, budgets, "scores", schema)
