"""The cells of score_order: which item is graded under which order, how often."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgesheet.axis import Options
from judgesheet.axis.arms import Read, Settings, item_fault, reads, sequences
from judgesheet.axis.material import LONGEST_RUBRIC, spread
from judgesheet.axis.prompt import object_schema, parameters, renderer
from judgesheet.base.records import LOGPROBS, Call, Stimulus

if TYPE_CHECKING:
    import numpy as np

MAIN_SCALE = 5
"""The scale of the headline figures (Xu et al., table 2), or of the shortest rubric if less."""
# What a limit can decide is fixed by the number of prompts, not of calls: 24 can prove V < .15
# (docs/decisions/0020-profiles.md). `first` leaves out the reverse rotations, which add neighbours,
# not places (docs/decisions/0034-a-first-sheet.md).
PROFILES: Mapping[str, Settings] = {
    "first": Settings(stimuli=6, candidates=1, repeated=1, random=0, fixed=0, forward=True),
    "smoke": Settings(stimuli=3, candidates=2, repeated=2, random=0, fixed=1),
    "quick": Settings(stimuli=24, candidates=2, repeated=2, random=0, fixed=1),
    "standard": Settings(None, None, repeated=4, random=None, fixed=None, scales=(2, 3, 9)),
    "full": Settings(None, None, repeated=None, random=None, fixed=None, scales=(2, 3, 9)),
}


def design(
    stimuli: Sequence[Stimulus], options: Options, rng: "np.random.Generator"
) -> Iterator[Call]:
    """Every call, item by item; within an item the arms are interleaved at random.

    Calls of one item stand together so that an endpoint with prefix caching answers faster, and in
    random order so that a drift of the endpoint over time cannot pose as an effect of the order.
    """
    shown, permuted = ("prompt", "response"), {"options.description": "option"}
    render = renderer("score_order", options, shown, permuted, labelled=True)
    settings, kind = PROFILES[options.profile].chosen(options), options.sequences
    # One scale for the whole pool: figures of rubrics of different lengths do not compare.
    scale = min(MAIN_SCALE, *map(_longest, stimuli))
    for index, stimulus in enumerate(spread(stimuli, settings.stimuli)):
        # Candidates of a prompt share the cells, so that they can be ranked.
        cells = list(reads(scale, kind, index, settings, rng))
        for other in settings.scales:
            if other != scale and other <= _longest(stimulus):
                cells += [Read("balanced", order, 0) for order in sequences(other, kind)]
        for candidate in stimulus.fields["candidates"][: settings.candidates]:
            for pick in rng.permutation(len(cells)):
                yield _call(stimulus, candidate, cells[pick], options, render)


def _longest(stimulus: Stimulus) -> int:
    return len(stimulus.fields["rubric"]["levels"])


def _call(
    stimulus: Stimulus,
    candidate: Mapping[str, Any],
    read: Read,
    options: Options,
    render: Callable[..., str],
) -> Call:
    fields, scale = stimulus.fields, len(read.order)
    descriptions = _picked(fields["rubric"]["levels"], scale)
    prompt = render(
        prompt=fields["prompt"],
        response=candidate["text"],
        reference=fields.get("reference"),
        criterion=fields["rubric"]["criterion"],
        options=[{"score": s, "description": descriptions[s - 1]} for s in read.order],
        n=scale,
        reply=options.reply,
    )
    schema = object_schema({"score": {"type": "integer", "enum": list(range(1, scale + 1))}})
    # Free text compares before it scores; constrained JSON is one number.
    params = parameters(options, {"text": 1024, "json": 32}, "score", schema)
    return Call(
        axis="score_order",
        stimulus=stimulus.id,
        cell={
            "item": f"{stimulus.id}/{candidate['id']}",
            "arm": read.arm,
            "scale": scale,
            "order": list(read.order),
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


def arm(cell: Mapping[str, Any]) -> str:
    """The row of a cell in the plan's table: its arm, and the rubric's length."""
    return f"{cell['arm']}, scale {cell['scale']}"
