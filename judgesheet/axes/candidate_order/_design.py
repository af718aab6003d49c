"""The cells of candidate_order: which pairs are shown, in which arms, how often."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from judgesheet.axes.candidate_order._compose import Composer, Shown
from judgesheet.axes.candidate_order._material import is_task
from judgesheet.axis import Options
from judgesheet.axis.material import spread
from judgesheet.axis.prompt import (
    Variant,
    boundary,
    built_in,
    compile_prompt,
    mark,
    refuse_blind,
)
from judgesheet.records import Call, Stimulus

if TYPE_CHECKING:
    import numpy as np

BASELINE, STRICT = "baseline", "strict"
LISTING, SWAPPED = "1|2|tie", "2|1|tie"
"""The order in which the prompt lists the allowed answers; every arm but one has the first."""
ORDERS = (("u", "v"), ("v", "u"))
KINDS = ("empty", "whitespace", "identical")
CONDITIONS = ("vacuum", "delta0_same", "delta0_different", "ladder", "filler", "natural")
SIDES = ("u", "v", None)
MOST_STEPS = 1000
"""How many steps apart two recorded responses may be; more is a slip of the pen."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How much of the design a profile runs; None means all there are.

    `tasks` banks and `natural` pairs of the user's own are asked. Per task: `same` and `different`
    pairs of equal quality, `ladder` pairs per step, `filler` pairs. `strict_same` and
    `strict_ladder` of them are asked again under the strict prompt, the vacuum too if
    `strict_vacuum`; `swapped` pairs of equal quality are asked again with the answers listed in the
    other order. Pairs of equal quality and own pairs are read `repeats` times, all others once.
    """

    tasks: int | None
    natural: int | None
    same: int
    different: int
    ladder: Mapping[float, int | None]
    filler: int
    strict_same: int
    strict_ladder: Mapping[float, int | None] = field(default_factory=dict)
    strict_vacuum: bool = True
    swapped: int = 1
    repeats: int = 1


_EVERY_STEP: Mapping[float, int | None] = {0.5: 4, **{float(step): None for step in range(1, 10)}}

PROFILES: Mapping[str, Settings] = {
    "smoke": Settings(
        tasks=2,
        natural=4,
        same=1,
        different=0,
        ladder={1: 1, 5: 1},
        filler=0,
        strict_same=1,
        strict_ladder={1: 1},
        strict_vacuum=False,
    ),
    "quick": Settings(
        tasks=10,
        natural=60,
        same=3,
        different=1,
        ladder={0.5: 1, 1: 2, 2: 1, 3: 1, 5: 1},
        filler=1,
        strict_same=2,
        strict_ladder={1: 1, 5: 1},
    ),
    "standard": Settings(
        tasks=20,
        natural=None,
        same=6,
        different=2,
        ladder=_EVERY_STEP,
        filler=2,
        strict_same=6,
        strict_ladder={1: None, 5: None},
        swapped=2,
        repeats=2,
    ),
    "full": Settings(
        tasks=None,
        natural=None,
        same=12,
        different=4,
        ladder={**_EVERY_STEP, 0.5: None},
        filler=3,
        strict_same=12,
        strict_ladder=_EVERY_STEP,
        swapped=6,
        repeats=4,
    ),
}


def settings_for(options: Options) -> Settings:
    """The profile's settings with the user's own number of repeats."""
    settings = PROFILES[options.profile]
    return settings if options.repeats is None else replace(settings, repeats=options.repeats)


@dataclass(frozen=True, slots=True)
class _Cell:
    shown: Shown
    order: tuple[str, str]
    prompt: str = BASELINE
    listing: str = LISTING
    repeat: int = 0


_WHAT = "the prompt of candidate_order"


def build(
    stimuli: Sequence[Stimulus], options: Options, rng: "np.random.Generator", template: str
) -> Iterator[Call]:
    """Every call, task by task; within a task all arms are mixed at random.

    Calls of one task share their first half (request and requirements), so that an endpoint with
    prefix caching answers faster; mixed, because a drift of the endpoint over time must not pose as
    an effect of the prompt or the order.
    """
    render = compile_prompt(options.template or built_in(template), _WHAT)
    if options.template:
        refuse_blind(render, list(_variants(options)), ("request",), _WHAT)
    settings = settings_for(options)
    heard = _heard(render, options)
    seed = int(rng.integers(2**32))
    tasks = [stimulus for stimulus in stimuli if is_task(stimulus)]
    pairs = [stimulus for stimulus in stimuli if not is_task(stimulus)]
    for stimulus in spread(tasks, settings.tasks):
        composer = Composer(stimulus.fields, seed)
        cells = [cell for cell in _task_cells(composer, settings) if _differs(cell, heard)]
        for pick in composer.rng.permutation(len(cells)):
            yield _call(stimulus, cells[pick], options, render)
    for stimulus in spread(pairs, settings.natural):
        for cell in _natural_cells(stimulus, settings.repeats):
            yield _call(stimulus, cell, options, render)


def both_orders(stimulus: Stimulus, options: Options, template: str) -> tuple[Call, Call]:
    """One call in each order of an own pair, u first and v first, under the ordinary prompt."""
    render = compile_prompt(options.template or built_in(template), _WHAT)
    if options.template:
        refuse_blind(render, list(_variants(options)), ("request",), _WHAT)
    direct, swapped = _natural_cells(stimulus, repeats=1)
    return (
        _call(stimulus, direct, options, render),
        _call(stimulus, swapped, options, render),
    )


def _variants(options: Options) -> Iterator[Variant]:
    """A template must show the request and both responses, the first before the second."""
    for names in (["response one", "response two"], ["response two", "response one"]):
        yield Variant(_trial(options, *map(mark, names)), names)


def _trial(options: Options, first: str, second: str, **changes: Any) -> dict[str, Any]:
    variables = {
        "request": mark("request"),
        "requirements": [],
        "prompt": BASELINE,
        "answers": LISTING.split("|"),
        "reply": options.reply,
        "first": first,
        "second": second,
        "tag": "response",
    }
    return {**variables, **changes}


def _heard(render: Callable[..., str], options: Options) -> frozenset[str]:
    """Which of the arms' variables a template makes use of; `prompt` and `answers` may be left out.

    Without them the strict arm, or that of the other listing, would ask the baseline again and find
    that nothing changes.
    """
    baseline = render(**_trial(options, "u", "v"))
    arms = {"prompt": STRICT, "answers": SWAPPED.split("|")}
    return frozenset(
        name
        for name, value in arms.items()
        if render(**_trial(options, "u", "v", **{name: value})) != baseline
    )


def _differs(cell: "_Cell", heard: frozenset[str]) -> bool:
    """Whether the template can ask a cell of the strict or the swapped arm at all."""
    return (cell.prompt == BASELINE or "prompt" in heard) and (
        cell.listing == LISTING or "answers" in heard
    )


def _task_cells(composer: Composer, settings: Settings) -> Iterator[_Cell]:
    vacuum = list(composer.vacuum())
    same = list(islice(composer.same_subset(), settings.same))
    different = islice(composer.different_subset(), settings.different)
    steps = {delta: composer.ladder(delta)[:count] for delta, count in settings.ladder.items()}
    yield from _both_orders(vacuum)
    yield from _both_orders([*same, *different], repeats=settings.repeats)
    for pairs in steps.values():
        yield from _both_orders(pairs)
    yield from _both_orders(islice(composer.filler(), settings.filler))
    if settings.strict_vacuum:
        yield from _both_orders(vacuum, prompt=STRICT)
    yield from _both_orders(spread(same, settings.strict_same), prompt=STRICT)
    for delta, count in settings.strict_ladder.items():
        yield from _both_orders(steps.get(delta, [])[:count], prompt=STRICT)
    yield from _both_orders(spread(same, settings.swapped), listing=SWAPPED)


def _natural_cells(stimulus: Stimulus, repeats: int) -> Iterator[_Cell]:
    fields = stimulus.fields
    shown = Shown(stimulus.id, "natural", fields["u"], fields["v"], better=fields["better"])
    yield from _both_orders([shown], repeats=repeats)


def _both_orders(
    pairs: "Iterator[Shown] | Sequence[Shown]",
    prompt: str = BASELINE,
    listing: str = LISTING,
    repeats: int = 1,
) -> Iterator[_Cell]:
    for shown in pairs:
        for order in ORDERS:
            for repeat in range(repeats):
                yield _Cell(shown, order, prompt, listing, repeat)


def _call(stimulus: Stimulus, cell: _Cell, options: Options, render: Callable[..., str]) -> Call:
    shown, fields = cell.shown, stimulus.fields
    texts = {"u": shown.u, "v": shown.v}
    first, second = (texts[side] for side in cell.order)
    elements = fields.get("elements", ())
    answers = cell.listing.split("|")
    prompt = render(
        request=fields["request"],
        requirements=[e["requirement"] for e in elements] or fields.get("requirements", []),
        prompt=cell.prompt,
        answers=answers,
        reply=options.reply,
        first=first,
        second=second,
        tag=tag(fields["request"], [first, second]),
    )
    return Call(
        axis="candidate_order",
        stimulus=stimulus.id,
        cell={
            "prompt": cell.prompt,
            "condition": shown.condition,
            "kind": shown.kind,
            "pair": shown.pair,
            "delta": shown.delta,
            "order": list(cell.order),
            "better": shown.better,
            "listing": cell.listing,
        },
        repeat=cell.repeat,
        messages=({"role": "user", "content": prompt},),
        params=params(answers, options),
        reply=options.reply,
    )


_MARK = re.compile(r"</?\s*response", re.IGNORECASE)


def tag(request: str, responses: Sequence[str]) -> str:
    """What marks the responses off: a plain word unless a text tries to look like such a mark."""
    if any(_MARK.search(text) for text in (request, *responses)):
        return f"response_{boundary([request], responses)}"
    return "response"


def params(answers: Sequence[str], options: Options) -> dict[str, Any]:
    budget = {"text": 512, "json": 32}.get(options.reply, 0)
    params: dict[str, Any] = {
        "temperature": options.temperature,
        "max_tokens": options.max_tokens or budget,
    }
    if options.reply == "json":
        schema = {
            "type": "object",
            "properties": {"winner": {"type": "string", "enum": list(answers)}},
            "required": ["winner"],
            "additionalProperties": False,
        }
        params["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "winner", "strict": True, "schema": schema},
        }
    return params


def fault(cell: Mapping[str, Any]) -> str | None:
    """What keeps a recorded cell from being one of ours, as a sentence; None if nothing does."""
    if not isinstance(cell.get("pair"), str):
        return "cell.pair must name the pair"
    if cell.get("condition") not in CONDITIONS:
        return f"cell.condition must be one of {', '.join(CONDITIONS)}"
    if cell.get("prompt", BASELINE) not in (BASELINE, STRICT):
        return "cell.prompt must be baseline or strict"
    if cell["condition"] == "vacuum" and cell.get("kind") not in KINDS:
        return f"cell.kind must be one of {', '.join(KINDS)}"
    if tuple(cell.get("order") or ()) not in ORDERS:
        return 'cell.order must be ["u", "v"] or ["v", "u"], as displayed'
    if cell.get("better") not in SIDES:
        return 'cell.better must be "u", "v" or null'
    return _ladder_fault(cell) if cell["condition"] == "ladder" else None


def _ladder_fault(cell: Mapping[str, Any]) -> str | None:
    delta = cell.get("delta")
    if isinstance(delta, bool) or not isinstance(delta, int | float):
        return "cell.delta must be the number of steps between the two responses"
    if not 0 < delta <= MOST_STEPS:
        return f"cell.delta must be a number above 0 and up to {MOST_STEPS}"
    if cell.get("better") is None:
        return 'cell.better must be "u" or "v" on the ladder'
    return None
