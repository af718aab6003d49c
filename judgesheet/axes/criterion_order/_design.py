"""The cells of criterion_order: which item is graded under which order of criteria, how often."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgesheet.axes.criterion_order._names import fault_of_names
from judgesheet.axis import Options
from judgesheet.axis.arms import ARMS, Read, Settings, reads
from judgesheet.axis.material import spread
from judgesheet.axis.prompt import Variant, built_in, compile_prompt, mark, refuse_blind
from judgesheet.records import Call, Stimulus

if TYPE_CHECKING:
    import numpy as np

PROFILES: Mapping[str, Settings] = {
    "smoke": Settings(stimuli=3, candidates=2, repeated=1, random=0, fixed=0),
    "quick": Settings(stimuli=12, candidates=2, repeated=1, random=0, fixed=1),
    "standard": Settings(None, None, repeated=4, random=None, fixed=None),
    "full": Settings(None, None, repeated=None, random=None, fixed=None),
}
LONGEST_SCALE = 100
MOST_RECORDED = 20
"""Criteria in a recorded order."""

_WHAT = "the prompt of criterion_order"


def build(
    stimuli: Sequence[Stimulus], options: Options, rng: "np.random.Generator", template: str
) -> Iterator[Call]:
    """Every call, item by item; within an item the arms are interleaved at random.

    Calls of one item stand together so that an endpoint with prefix caching answers faster, and in
    random order so that a drift of the endpoint over time cannot pose as an effect of the order.
    """
    render = compile_prompt(options.template or built_in(template), _WHAT)
    if options.template:
        refuse_blind(render, list(_variants(options)), ("prompt", "response"), _WHAT)
    settings = PROFILES[options.profile].chosen(options)
    for index, stimulus in enumerate(spread(stimuli, settings.stimuli)):
        count = len(stimulus.fields["criteria"])
        cells = list(reads(count, options.sequences, index, settings, rng))
        for candidate in stimulus.fields["candidates"][: settings.candidates]:
            for pick in rng.permutation(len(cells)):
                yield _call(stimulus, candidate, cells[pick], options, render)


def _variants(options: Options) -> Iterator[Variant]:
    """A template must show prompt, response and criteria in order; levels may be left out."""
    for order in ((1, 2, 3), (3, 1, 2)):
        names = [f"criterion {number}" for number in order]
        variables = {
            "prompt": mark("prompt"),
            "response": mark("response"),
            "reference": None,
            "criteria": [
                {
                    "name": mark(name),
                    "levels": [{"score": s, "description": f"{name}, {s}"} for s in (1, 2)],
                }
                for name in names
            ],
            "n": 3,
            "scale": 2,
            "reply": options.reply,
        }
        yield Variant(variables, names)


def fault(cell: Mapping[str, Any]) -> str | None:
    """What keeps a recorded cell from being one of ours, as a sentence; None if nothing does."""
    if not isinstance(cell.get("item"), str):
        return "cell.item must name the graded response"
    if cell.get("arm") not in ARMS:
        return f"cell.arm must be one of {', '.join(ARMS)}"
    scale, order = cell.get("scale"), cell.get("order")
    if scale is not None and (type(scale) is not int or not 2 <= scale <= LONGEST_SCALE):
        return f"cell.scale must be a number from 2 to {LONGEST_SCALE}, or be left out"
    if not isinstance(order, list) or not 2 <= len(order) <= MOST_RECORDED:
        return f"cell.order must list 2 to {MOST_RECORDED} criteria, as displayed"
    wrong = fault_of_names(order)
    return None if wrong is None else f"cell.order: {wrong}"


def _call(
    stimulus: Stimulus,
    candidate: Mapping[str, Any],
    cell: Read,
    options: Options,
    render: Callable[..., str],
) -> Call:
    fields = stimulus.fields
    shown = [fields["criteria"][number - 1] for number in cell.order]
    names, scale = [criterion["name"] for criterion in shown], len(shown[0]["levels"])
    prompt = render(
        prompt=fields["prompt"],
        response=candidate["text"],
        reference=fields.get("reference"),
        criteria=[
            {
                "name": criterion["name"],
                "levels": [
                    {"score": score, "description": description}
                    for score, description in enumerate(criterion["levels"], start=1)
                ],
            }
            for criterion in shown
        ],
        n=len(shown),
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
    json_budget = 32 + sum(len(name.encode()) + 6 for name in names)
    budget = {"text": 1024, "json": json_budget}.get(options.reply, 0)
    params: dict[str, Any] = {
        "temperature": options.temperature,
        "max_tokens": options.max_tokens or budget,
    }
    if options.reply == "json":
        params["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "scores", "strict": True, "schema": _schema(names, scale)},
        }
    return params


def _schema(names: Sequence[str], scale: int) -> dict[str, Any]:
    """Properties in displayed order: constrained decoding answers in that order."""
    score = {"type": "integer", "enum": list(range(1, scale + 1))}
    scores = {
        "type": "object",
        "properties": dict.fromkeys(names, score),
        "required": list(names),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"scores": scores},
        "required": ["scores"],
        "additionalProperties": False,
    }
