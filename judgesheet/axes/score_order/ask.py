"""The questions of score_order: responses, a rubric, and orders of its lines."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field, model_validator

from judgesheet.axis import Options, Problem
from judgesheet.axis.arms import Read, Settings, item_fault, reads, sequences
from judgesheet.axis.labels import Rated, label
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
from judgesheet.base.errors import UsageError
from judgesheet.base.limits import LONGEST_RUBRIC
from judgesheet.base.records import LOGPROBS, Call, Label, Stimulus
from judgesheet.base.scale import Scale

if TYPE_CHECKING:
    import numpy as np

# -- stimuli ---------------------------------------------------------------------------------------


CUE_LIMIT = 0.2
"""Largest correlation of length with the intended level over the pool."""
FEWEST_SCORES = 2
TWO_SCORES = (
    "A rubric of two scores has two orders and no middle: this run cannot tell a preference for "
    "the first line from an aversion to the last, and says nothing of longer rubrics. Responses "
    "that get the same score, often half of them, are ranked by chance, so that changes of the "
    "best one show little."
)
MARKED = 3
"""A rubric line with so many times the words of another is told by its length."""


class Rubric(Strict):
    """A criterion and its described scores, worst first; `range` says which numbers they are."""

    criterion: Text
    levels: Levels
    range: Range | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        scale_of(self.levels, self.range)
        return self


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
    field: Text | None = None
    group: Text | None = None
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
        scale = _scale(stimulus)
        for candidate in stimulus.fields["candidates"]:
            item = f"{stimulus.id}/{candidate['id']}"
            for kind in ("human", "model"):
                if candidate.get(kind) is not None:
                    yield label("score_order", item, kind, in_points(candidate[kind], scale))
            if candidate.get("level") is not None:
                worth = (candidate["level"] - 1) / (scale.count - 1)
                yield Label("score_order", item, "intended", worth)


def check(stimuli: Sequence[Stimulus]) -> Iterator[Problem]:
    """The faults that the schema cannot detect; see `judgesheet stimuli check`."""
    yield from length_spread(stimuli)
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
    yield from near_copies("responses", texts)
    for low, high in pairwise(sorted(used)):
        if high - low > 1:
            yield Problem("pool", f"no response was written for levels {low + 1} to {high - 1}")


def _rubric(stimulus: Stimulus) -> Iterator[Problem]:
    counts = [word_count(level) for level in stimulus.fields["rubric"]["levels"]]
    if max(counts) > MARKED * max(min(counts), 1):
        what = f"rubric lines have {min(counts)} to {max(counts)} words; length may mark a line"
        yield Problem(stimulus.id, what, grave=False)


# -- imported prompts: graded on the one criterion that was chosen ---------------------------------


TAKES = {Holds.RUBRIC: 0, Holds.RATINGS: 1, Holds.ANSWERS: 2}
ONE_CRITERION = True
"""A stimulus is graded on one: all criteria of a source are several stimuli."""


def shape(prompt: Prompt) -> dict[str, Any]:
    """The prompt with its rubric and all its responses.

    UsageError unless exactly one criterion is described.
    """
    if not prompt.rubrics:
        raise UsageError(
            "score_order needs described scores; give them with --rubric FILE "
            '({"criterion name": ["worst", …, "best"]})'
        )
    if len(prompt.rubrics) > 1:
        names = ", ".join(prompt.rubrics)
        raise UsageError(
            f"score_order grades one criterion; choose it with --criterion: {names}, or all"
        )
    [(criterion, rubric)] = prompt.rubrics.items()
    if "levels" not in rubric:
        raise UsageError(
            f"score_order needs described scores, and {criterion} has none: list them, worst first"
        )
    described = known(levels=rubric["levels"], range=rubric.get("range"))
    return {
        **heading(prompt),
        "rubric": {"criterion": criterion, **described},
        "candidates": [
            candidate_fields(one, human=one.scores(criterion), model=one.model)
            for one in prompt.responses
        ],
    }


# -- calls -----------------------------------------------------------------------------------------


MAIN_SCALE = 5
"""The scale of the headline figures (Xu et al., table 2), or of the shortest rubric if less."""
# What a limit can decide is fixed by the number of prompts, not of calls. `first` leaves out the
# reverse rotations, which add neighbours, not places. Only all rotations tell an effect of rising
# and falling lists from a preference for scores, so `standard` has them.
PROFILES: Mapping[str, Settings] = {
    "first": Settings(stimuli=6, candidates=1, repeated=1, random=0, fixed=0, forward=True),
    "smoke": Settings(stimuli=3, candidates=2, repeated=2, random=0, fixed=1),
    "quick": Settings(stimuli=36, candidates=2, repeated=1, random=0, fixed=0, half=True),
    "standard": Settings(
        stimuli=36, candidates=2, repeated=1, random=None, fixed=None, scales=(2, 3, 9),
        arms_on=6, scales_on=4,
    ),
    "full": Settings(None, None, repeated=None, random=None, fixed=None, scales=(2, 3, 9)),
}  # fmt: skip


def design(
    stimuli: Sequence[Stimulus], options: Options, rng: "np.random.Generator"
) -> Iterator[Call]:
    """Every call, item by item; within an item the arms are interleaved at random.

    Calls of one item stand together so that an endpoint with prefix caching answers faster, and in
    random order so that a drift of the endpoint over time cannot pose as an effect of the order.
    """
    shown, permuted = ("prompt", "response"), {"options.description": "option"}
    render = renderer("score_order", options, shown, permuted, labelled=True)
    # One scale for the whole pool: figures of rubrics of different lengths do not compare.
    scale, kind = _main_scale(stimuli), options.sequences
    profile = PROFILES[options.profile].chosen(options)
    for (stimulus, mine), settings in profile.of(stimuli, rng):
        # Candidates of a prompt share the cells, so that they can be ranked.
        cells = list(reads(scale, kind, settings, mine))
        for other in () if _has_range(stimulus) else settings.scales:
            if other != scale and other <= _longest(stimulus):
                cells += [Read("balanced", order, 0) for order in sequences(other, kind)]
        for candidate in stimulus.fields["candidates"][: settings.candidates]:
            for pick in mine.permutation(len(cells)):
                yield _call(stimulus, candidate, cells[pick], options, render)


def _main_scale(stimuli: Sequence[Stimulus]) -> int:
    """How many of the described scores are shown: all where the user named their numbers."""
    with_range = [*filter(_has_range, stimuli)]
    if not with_range:
        return min(MAIN_SCALE, *map(_longest, stimuli))
    # Else the first without one would be told to be of another scale than the usual.
    require_one_scale([*with_range, *stimuli], _scale, of_one_length=True)
    return _longest(with_range[0])


def _has_range(stimulus: Stimulus) -> bool:
    return stimulus.fields["rubric"].get("range") is not None


def _scale(stimulus: Stimulus) -> Scale:
    rubric = stimulus.fields["rubric"]
    return scale_of(rubric["levels"], rubric.get("range"))


def _longest(stimulus: Stimulus) -> int:
    return len(stimulus.fields["rubric"]["levels"])


def _call(
    stimulus: Stimulus,
    candidate: Mapping[str, Any],
    read: Read,
    options: Options,
    render: Callable[..., str],
) -> Call:
    fields, n = stimulus.fields, len(read.order)
    scale = _scale(stimulus) if _has_range(stimulus) else Scale(n)
    descriptions = _picked(fields["rubric"]["levels"], n)
    prompt = render(
        prompt=fields["prompt"],
        response=candidate["text"],
        reference=fields.get("reference"),
        criterion=fields["rubric"]["criterion"],
        options=[
            {"score": scale.number(s), "description": descriptions[s - 1]} for s in read.order
        ],
        n=n,
        low=scale.low,
        high=scale.high,
        reply=options.reply,
    )
    schema = object_schema({"score": score_schema(scale)})
    # Free text compares before it scores; constrained JSON is one number.
    params = parameters(options, {"text": 1024, "json": 32}, "score", schema)
    return Call(
        axis="score_order",
        stimulus=stimulus.id,
        cell={
            "item": f"{stimulus.id}/{candidate['id']}",
            "arm": read.arm,
            "scale": n,
            **scale.own,
            "order": list(read.order),
            **field_and_words(stimulus, candidate["text"]),
        },
        repeat=read.repeat,
        messages=({"role": "user", "content": prompt},),
        params={**params, **LOGPROBS} if options.logprobs else params,
        reply=options.reply,
    )


def _picked(levels: Sequence[str], scale: int) -> list[str]:
    """`scale` descriptions picked evenly from a longer rubric, first and last included."""
    last = len(levels) - 1
    return [levels[round(rank * last / (scale - 1))] for rank in range(scale)]


def fault(cell: Mapping[str, Any]) -> str | None:
    """What keeps a recorded cell from being one of ours, as a sentence; None if nothing does."""
    if wrong := item_fault(cell, "the graded response"):
        return wrong
    scale, order = cell.get("scale"), cell.get("order")
    if type(scale) is not int or not 2 <= scale <= LONGEST_RUBRIC:
        return f"cell.scale must be a number from 2 to {LONGEST_RUBRIC}"
    shown = order if isinstance(order, list) and {*map(type, order)} == {int} else []
    if sorted(shown) != list(range(1, scale + 1)):
        return f"cell.order must list the scores 1 to {scale}, each once, as displayed"
    return None


def cannot_show(cells: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """What a rubric of two scores cannot show."""
    if {cell.get("scale") for cell in cells} == {FEWEST_SCORES}:
        yield TWO_SCORES


def arm(cell: Mapping[str, Any]) -> str:
    """The row of a cell in the plan's table: its arm, and the rubric's length."""
    return f"{cell['arm']}, scale {cell['scale']}"
