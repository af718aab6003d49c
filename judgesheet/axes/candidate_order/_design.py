"""The calls of candidate_order: which pairs are shown, in which arms, how often."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import filterfalse, islice
from typing import TYPE_CHECKING, Any

from judgesheet.axis import Options
from judgesheet.axis.comparison import tag, variables_used
from judgesheet.axis.material import in_turn, part, told
from judgesheet.axis.prompt import object_schema, parameters, renderer
from judgesheet.base.limits import MOST_REPEATS
from judgesheet.base.records import Call, Stimulus

from ._material import HALF, Composer, Shown, is_task

if TYPE_CHECKING:
    import numpy as np

BASELINE, STRICT = "baseline", "strict"
LISTING = "1|2|tie"
"""The order in which the prompt lists the allowed answers; recorded calls may have another."""
ORDERS = (("u", "v"), ("v", "u"))
KINDS = ("empty", "whitespace", "identical")
CONDITIONS = ("vacuum", "delta0_same", "delta0_different", "ladder", "filler", "natural")


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of the design a profile runs; None means all there are.

    `tasks` banks and `natural` pairs of the user's own are asked. Per task: the `kinds` of vacuum,
    `same` and `different` pairs of equal quality, `ladder` pairs per step (None: each pair of
    levels once), `filler` pairs. On `strict_on` tasks, `strict_same` and `strict_ladder` of them
    are asked again under the strict prompt, the vacuum too if `strict_vacuum`. Pairs of equal
    quality and own pairs are read `repeats` times, all others once.
    """

    tasks: int | None
    natural: int | None
    same: int
    ladder: Mapping[float, int | None]
    kinds: tuple[str, ...] = KINDS
    different: int = 0
    filler: int = 0
    strict_on: int | None = None
    strict_same: int = 0
    strict_ladder: Mapping[float, int | None] = field(default_factory=dict)
    strict_vacuum: bool = False
    repeats: int = 1

    @property
    def lenient(self) -> "Extent":
        """What is asked of a task that is not asked under the strict prompt."""
        return replace(self, strict_same=0, strict_ladder={}, strict_vacuum=False)


_STEPS = tuple(float(step) for step in range(1, 10))

# 40 tasks, as 22 without any fault prove 10 %.
PROFILES: Mapping[str, Extent] = {
    "first": Extent(tasks=6, natural=6, same=1, kinds=("identical",), ladder={5: 1}),
    "smoke": Extent(tasks=2, natural=4, same=1, strict_same=1, ladder={1: 1, 5: 1},
                    strict_ladder={1: 1}),
    "quick": Extent(tasks=40, natural=60, same=1, filler=1, kinds=("identical",),
                    ladder={1: 1, 5: 1}, repeats=2),
    "standard": Extent(tasks=40, natural=None, same=1, different=1, filler=1,
                       ladder=dict.fromkeys((HALF, *_STEPS[:5]), 1), strict_on=6, strict_same=1,
                       strict_ladder={1: 1, 5: 1}, strict_vacuum=True, repeats=2),
    # Of ten tasks of five elements: 60 pairs of equal quality, 50, 40, 30, 20, 10 of each step.
    "full": Extent(tasks=None, natural=None, same=6, different=2, filler=2, strict_same=6,
                   ladder={**dict.fromkeys(_STEPS), HALF: 4},
                   strict_ladder={**dict.fromkeys(_STEPS), HALF: 2}, strict_vacuum=True,
                   repeats=4),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Cell:
    shown: Shown
    order: tuple[str, str]
    prompt: str = BASELINE
    repeat: int = 0

    @property
    def changes(self) -> frozenset[str]:
        """The variables of the prompt in which it departs from the baseline arm."""
        return frozenset({"prompt"} if self.prompt != BASELINE else ())


def design(
    stimuli: Sequence[Stimulus], options: Options, rng: "np.random.Generator"
) -> Iterator[Call]:
    """Every call, task by task; within a task all arms are mixed at random.

    Calls of one task share their first half (request and requirements), so that an endpoint with
    prefix caching answers faster; mixed, because a drift of the endpoint over time must not pose as
    an effect of the prompt or the order.
    """
    render = _prompt(options)
    profile = PROFILES[options.profile]
    used = variables_used(
        render,
        partial(_variables, options, "request", "uv"),
        {"prompt": {"prompt": STRICT}},
    )
    repeats = options.repeats or profile.repeats
    tasks = in_turn(filter(is_task, stimuli), rng, profile.tasks)
    # Drawn before anything else: a task has the same responses in all profiles.
    composers = [Composer(task.fields, int(mine.integers(2**32))) for task, mine in tasks]
    strict = part((mine for _, mine in tasks), profile.strict_on)
    for place, (task, composer) in enumerate(zip(tasks, composers, strict=True)):
        extent = profile if place in strict else profile.lenient
        cells = [cell for cell in _task_cells(composer, extent, repeats) if cell.changes <= used]
        for pick in composer.rng.permutation(len(cells)):
            yield _call(task.stimulus, cells[pick], options, render)
    for pair, _ in in_turn(filterfalse(is_task, stimuli), rng, profile.natural):
        for cell in _natural_cells(pair, repeats):
            yield _call(pair, cell, options, render)


def both_orders(stimulus: Stimulus, options: Options) -> tuple[Call, Call]:
    """One call in each order of an own pair: the direct one shows u first, the swapped one v."""
    render = _prompt(options)
    direct, swapped = _natural_cells(stimulus, repeats=1)
    return _call(stimulus, direct, options, render), _call(stimulus, swapped, options, render)


def _prompt(options: Options) -> Callable[..., str]:
    permuted = {"first": "response one", "second": "response two"}
    return renderer("candidate_order", options, ("request",), permuted)


def _variables(
    options: Options,
    request: str,
    responses: Sequence[str],
    requirements: Sequence[str] = (),
    prompt: str = BASELINE,
) -> dict[str, Any]:
    """What a template is filled with; `responses` in displayed order."""
    return {
        "request": request,
        "requirements": requirements,
        "prompt": prompt,
        "answers": LISTING.split("|"),
        "reply": options.reply,
        "first": responses[0],
        "second": responses[1],
        "tag": tag(request, responses),
    }


def _task_cells(composer: Composer, extent: Extent, repeats: int) -> Iterator[_Cell]:
    vacuum = [shown for shown in composer.vacuum() if shown.kind in extent.kinds]
    same = list(islice(composer.same_subset(), extent.same))
    different = islice(composer.different_subset(), extent.different)
    steps = {delta: composer.ladder(delta, count) for delta, count in extent.ladder.items()}
    yield from _both_orders(vacuum)
    yield from _both_orders([*same, *different], repeats=repeats)
    for pairs in steps.values():
        yield from _both_orders(pairs)
    yield from _both_orders(islice(composer.filler(), extent.filler))
    if extent.strict_vacuum:
        yield from _both_orders(vacuum, prompt=STRICT)
    yield from _both_orders(same[: extent.strict_same], prompt=STRICT)
    for delta, count in extent.strict_ladder.items():
        yield from _both_orders(steps.get(delta, [])[:count], prompt=STRICT)


def _natural_cells(stimulus: Stimulus, repeats: int) -> Iterator[_Cell]:
    fields = stimulus.fields
    shown = Shown(stimulus.id, "natural", fields["u"], fields["v"], better=fields["better"])
    yield from _both_orders([shown], repeats=repeats)


def _both_orders(
    pairs: Iterable[Shown], prompt: str = BASELINE, repeats: int = 1
) -> Iterator[_Cell]:
    for shown in pairs:
        for order in ORDERS:
            for repeat in range(repeats):
                yield _Cell(shown, order, prompt, repeat)


def _call(stimulus: Stimulus, cell: _Cell, options: Options, render: Callable[..., str]) -> Call:
    shown, fields = cell.shown, stimulus.fields
    responses = [{"u": shown.u, "v": shown.v}[side] for side in cell.order]
    elements = [element["requirement"] for element in fields.get("elements", ())]
    requirements = elements or fields.get("requirements", [])
    variables = _variables(options, fields["request"], responses, requirements, cell.prompt)
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
            "listing": LISTING,
            **told(stimulus, *responses),
        },
        repeat=cell.repeat,
        messages=({"role": "user", "content": render(**variables)},),
        params=params(variables["answers"], options),
        reply=options.reply,
    )


def params(answers: Sequence[str], options: Options) -> dict[str, Any]:
    """The parameters of a call that may give one of these answers."""
    schema = object_schema({"winner": {"type": "string", "enum": list(answers)}})
    # Text leaves room for the sentences that the prompt allows before the verdict.
    return parameters(options, {"text": 512, "json": 32}, "winner", schema)


def arm(cell: Mapping[str, Any]) -> str:
    """The arm of a cell, for the budget of a plan."""
    return str(cell["condition"])


def fault(cell: Mapping[str, Any]) -> str | None:
    """What keeps a recorded cell from being one of ours, as a sentence; None if nothing does."""
    condition = cell.get("condition")
    if not isinstance(cell.get("pair"), str):
        return "cell.pair must name the pair"
    if condition not in CONDITIONS:
        return f"cell.condition must be one of {', '.join(CONDITIONS)}"
    if cell.get("prompt", BASELINE) not in (BASELINE, STRICT):
        return "cell.prompt must be baseline or strict"
    if condition == "vacuum" and cell.get("kind") not in KINDS:
        return f"cell.kind must be one of {', '.join(KINDS)}"
    if cell.get("order") not in [list(order) for order in ORDERS]:
        return 'cell.order must be ["u", "v"] or ["v", "u"], as displayed'
    if cell.get("better") not in ("u", "v", None):
        return 'cell.better must be "u", "v" or null'
    if not isinstance(cell.get("listing", LISTING), str):
        return "cell.listing must name the answers as listed"
    return _delta_fault(cell)


def _delta_fault(cell: Mapping[str, Any]) -> str | None:
    delta, is_ladder = cell.get("delta"), cell["condition"] == "ladder"
    if delta is None and not is_ladder:
        return None
    if isinstance(delta, bool) or not isinstance(delta, int | float):
        return "cell.delta must be the number of steps between the two responses"
    if not is_ladder:
        return None
    if not 0 < delta <= MOST_REPEATS:
        return f"cell.delta must be a number above 0 and up to {MOST_REPEATS}"
    return None if cell.get("better") else 'cell.better must be "u" or "v" on the ladder'
