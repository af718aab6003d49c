"""The cells of criterion_order: which item is graded under which order of criteria, how often."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgesheet.axes.criterion_order._names import fault_of_names
from judgesheet.axis import Options
from judgesheet.axis.arms import Read, Settings, item_fault, reads
from judgesheet.axis.material import spread
from judgesheet.axis.prompt import object_schema, parameters, renderer
from judgesheet.base.records import Call, Stimulus

if TYPE_CHECKING:
    import numpy as np

# `quick` reads two orders twice, so that the noise of a prompt is not 0 or 1
# (docs/decisions/0020-profiles.md); `first` shows two criteria, which spares orders and words.
PROFILES: Mapping[str, Settings] = {
    "first": Settings(stimuli=6, candidates=1, repeated=0, random=0, fixed=0, listed=2),
    "smoke": Settings(stimuli=3, candidates=2, repeated=2, random=0, fixed=0),
    "quick": Settings(stimuli=12, candidates=2, repeated=2, random=0, fixed=1),
    "standard": Settings(None, None, repeated=4, random=None, fixed=None),
    "full": Settings(None, None, repeated=None, random=None, fixed=None),
}
LONGEST_SCALE = 100
MOST_RECORDED = 20
"""Criteria in a recorded order."""


def design(
    stimuli: Sequence[Stimulus], options: Options, rng: "np.random.Generator"
) -> Iterator[Call]:
    """Every call, item by item; within an item the arms are interleaved at random.

    Calls of one item stand together so that an endpoint with prefix caching answers faster, and in
    random order so that a drift of the endpoint over time cannot pose as an effect of the order.
    """
    shown, permuted = ("prompt", "response"), {"criteria.name": "criterion"}
    render = renderer("criterion_order", options, shown, permuted)
    settings = PROFILES[options.profile].chosen(options)
    for index, stimulus in enumerate(spread(stimuli, settings.stimuli)):
        count = len(stimulus.fields["criteria"][: settings.listed])
        cells = list(reads(count, options.sequences, index, settings, rng))
        for candidate in stimulus.fields["candidates"][: settings.candidates]:
            for pick in rng.permutation(len(cells)):
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


def _shown(name: str, levels: Sequence[str]) -> dict[str, Any]:
    """A criterion as the template gets it."""
    described = enumerate(levels, start=1)
    return {"name": name, "levels": [{"score": s, "description": text} for s, text in described]}


def _call(
    stimulus: Stimulus,
    candidate: Mapping[str, Any],
    cell: Read,
    options: Options,
    render: Callable[..., str],
) -> Call:
    fields = stimulus.fields
    criteria = [fields["criteria"][number - 1] for number in cell.order]
    names, scale = [criterion["name"] for criterion in criteria], len(criteria[0]["levels"])
    prompt = render(
        prompt=fields["prompt"],
        response=candidate["text"],
        reference=fields.get("reference"),
        criteria=[_shown(criterion["name"], criterion["levels"]) for criterion in criteria],
        n=len(names),
        scale=scale,
        reply=options.reply,
    )
    return Call(
        axis="criterion_order",
        stimulus=stimulus.id,
        cell={
            "item": f"{stimulus.id}/{candidate['id']}",
            "arm": cell.arm,
            "scale": scale,
            "order": names,
        },
        repeat=cell.repeat,
        messages=({"role": "user", "content": prompt},),
        params=_params(names, scale, options),
        reply=options.reply,
    )


def _params(names: Sequence[str], scale: int, options: Options) -> dict[str, Any]:
    # A name may take a token for each of its letters; a score, quotes and a comma take six.
    budgets = {"text": 1024, "json": 32 + sum(len(name.encode()) + 6 for name in names)}
    # Properties stand in displayed order: a constrained judge answers in that order.
    score = {"type": "integer", "enum": list(range(1, scale + 1))}
    schema = object_schema({"scores": object_schema(dict.fromkeys(names, score))})
    return parameters(options, budgets, "scores", schema)
