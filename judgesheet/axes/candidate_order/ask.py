"""What candidate_order asks: tasks, responses written from them, and the calls."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, filterfalse, islice
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from pydantic import BaseModel, Discriminator, Field, RootModel, Tag, model_validator

from judgesheet.axis import Options, Problem
from judgesheet.axis.comparison import tag, variables_used
from judgesheet.axis.material import (
    Name,
    Strict,
    Text,
    field_and_words,
    in_turn,
    leaks,
    near_copies,
    part,
    word_count,
)
from judgesheet.axis.prompt import object_schema, parameters, renderer
from judgesheet.axis.shaping import Holds, NotAStimulusError, Prompt, Response, known
from judgesheet.base.digits import counted, percent
from judgesheet.base.limits import MOST_REPEATS
from judgesheet.base.records import Call, Stimulus

if TYPE_CHECKING:
    from numpy.random import Generator

    from judgesheet.axis.arrays import Floats

# -- stimuli ---------------------------------------------------------------------------------------
# A response of level k in wording v holds the full sentences of elements 1 to k and the neutral
# sentences of the other slots, all in wording v: every level contains what a lower one does, and
# all have equally many sentences. A half-step replaces the next neutral sentence by one that states
# half of its element.
#
# Each wording of a task has its own order of slots, drawn from the seed and the task's id. So a
# place in the text says nothing about the level; two levels in one wording differ only in the
# sentences that make the difference; and two wordings of one level differ in words and in
# arrangement.


# -- composed responses ----------------------------------------------------------------------------


VARIANTS = 3
"""Wordings of a level; pairs of equal quality compare two of them."""
VACUUM: Mapping[str, tuple[str, str]] = {"empty": ("", ""), "whitespace": ("   \n  ", " \t\n\n ")}
"""Pairs without any content; `identical` takes the task's own text twice."""
WORDING_PAIRS = tuple(combinations(range(VARIANTS), 2))
HALF = 0.5


@dataclass(frozen=True, slots=True)
class Shown:
    """Two responses and what the design knows about them; `better` is `u`, `v` or None."""

    pair: str
    condition: str
    u: str
    v: str
    delta: float | None = None
    better: str | None = None
    kind: str | None = None


class Composer:
    """The responses of one task under one seed; the same for every profile."""

    def __init__(self, task: Mapping[str, Any], seed: int) -> None:
        self._task = task
        self.levels = len(task["elements"])
        self.rng: Generator = np.random.default_rng(seed)
        self._orders = [self.rng.permutation(self.levels) for _ in range(VARIANTS)]

    def response(self, level: float, wording: int) -> str:
        """The response of a level, which may end in a half."""
        whole = int(level)
        return self._text(wording, range(whole), half=whole if level > whole else None)

    def subset(self, slots: Sequence[int], wording: int) -> str:
        """A response that states just these elements, whether or not they begin the chain."""
        return self._text(wording, slots)

    def _text(self, wording: int, stated: Sequence[int], half: int | None = None) -> str:
        return " ".join(
            self._sentence(int(slot), wording, stated, half) for slot in self._orders[wording]
        )

    def _sentence(self, slot: int, wording: int, stated: Sequence[int], half: int | None) -> str:
        element = self._task["elements"][slot]
        if slot in stated:
            return str(element["full"][wording])
        if slot == half:
            return str(element["half"][wording % len(element["half"])])
        return str(self._task["neutral"][slot][wording])

    def vacuum(self) -> Iterator[Shown]:
        """Pairs in which there is nothing to prefer."""
        identical = self._task["identical"]
        for kind, (u, v) in {**VACUUM, "identical": (identical, identical)}.items():
            yield Shown(f"vacuum-{kind}", "vacuum", u, v, delta=0, kind=kind)

    def same_subset(self) -> Iterator[Shown]:
        """Two wordings of one level, all levels before any level comes again."""
        levels = self.rng.permutation(self.levels + 1)
        for turn in range(len(WORDING_PAIRS)):
            for place, level in enumerate(levels):
                one, other = WORDING_PAIRS[(place + turn) % len(WORDING_PAIRS)]
                texts = self.response(int(level), one), self.response(int(level), other)
                yield Shown(f"same-{level}-{one}{other}", "delta0_same", *texts, delta=0)

    def different_subset(self) -> Iterator[Shown]:
        """Equally many, but entirely other elements, in one wording."""
        largest = self.levels // 2
        for turn in range(2 * largest):
            size = largest - turn % largest
            drawn = [int(slot) for slot in self.rng.permutation(self.levels)[: 2 * size]]
            wording = turn % VARIANTS
            texts = self.subset(drawn[:size], wording), self.subset(drawn[size:], wording)
            yield Shown(f"different-{size}-{turn}", "delta0_different", *texts, delta=0)

    def ladder(self, delta: float, count: int | None = None) -> list[Shown]:
        """Pairs of levels that are `delta` apart, in an order of its own; v is the better.

        `count` of them, by default each once; where it asks for more than there are, they come
        again in their other wordings.
        """
        step = HALF if delta < 1 else 1.0
        lows = np.arange(0, self.levels - delta + step / 2, step)
        turns = [int(turn) for turn in self.rng.permutation(len(lows))]
        wanted = len(turns) if count is None else min(count, VARIANTS * len(turns))
        return [self._step(delta, lows, turns, number) for number in range(wanted)]

    def _step(self, delta: float, lows: "Floats", turns: Sequence[int], number: int) -> Shown:
        again, place = divmod(number, len(turns))
        low, wording = float(lows[turns[place]]), (turns[place] + again) % VARIANTS
        texts = self.response(low, wording), self.response(low + delta, wording)
        name = f"step-{low:g}-{low + delta:g}" + (f"-{wording}" if again else "")
        # 2 rather than 2.0: what a cell holds is part of the call's id.
        size = int(delta) if delta == int(delta) else delta
        return Shown(name, "ladder", *texts, delta=size, better="v")

    def filler(self) -> Iterator[Shown]:
        """The same response without (u) and with (v) sentences that say nothing, all levels."""
        extra = self._task["filler"]
        for level in self.rng.permutation(self.levels + 1):
            plain = self.response(int(level), int(level) % VARIANTS)
            padded = " ".join([extra[0], plain, *extra[1:]])
            yield Shown(f"filler-{level}", "filler", plain, padded, delta=0)


# -- stimuli ---------------------------------------------------------------------------------------


LENGTH_LIMIT = 0.10
"""Largest share by which a composed response may differ from its task's mean word count."""

Wordings = Annotated[list[Text], Field(min_length=VARIANTS)]


class Element(Strict):
    """One thing that a good response says: stated in full or by half, each in several wordings."""

    requirement: Text
    full: Wordings
    half: Annotated[list[Text], Field(min_length=1)]


class Task(Strict):
    """A bank of sentences; the level of a response is how many elements it states, in this order.

    `neutral` holds one slot of wordings per element: the sentence used while the element is
    missing. `filler` are sentences without content, `identical` a text for pairs of equal texts.
    """

    id: Name
    domain: str = ""
    field: Text | None = None
    group: Text | None = None
    request: Text
    elements: list[Element]
    neutral: list[Wordings]
    filler: Annotated[list[Text], Field(min_length=1)]
    identical: Text

    @model_validator(mode="after")
    def _is_a_ladder(self) -> Self:
        if len(self.elements) < 2:
            raise ValueError(
                f"task {self.id} has {counted(len(self.elements), 'element')}; "
                "a ladder needs two or more"
            )
        if len(self.neutral) != len(self.elements):
            raise ValueError(
                f"task {self.id} has {len(self.elements)} elements and {len(self.neutral)} neutral "
                "slots; each element needs the slot that stands in for it"
            )
        self._is_nested()
        spread = length_spread(self.model_dump())
        if spread > LENGTH_LIMIT:
            raise ValueError(
                f"the responses of task {self.id} differ by up to {percent(spread)} from their "
                f"mean length (limit {percent(LENGTH_LIMIT)}); length would give the level away"
            )
        return self

    def _is_nested(self) -> None:
        """A sentence used in two places would make a level contain what it should lack."""
        places: dict[str, str] = {}
        for place, sentence in _sentences(self.model_dump()):
            if sentence in places:
                raise ValueError(
                    f"the chain of task {self.id} is not nested: {place} repeats a sentence of "
                    f"{places[sentence]}"
                )
            places[sentence] = place


class Pair(Strict):
    """Two responses of the user's own; `better` names the better one, if that is known.

    `source` names the set that the pair comes from.
    """

    id: Name
    request: Text
    u: str
    v: str
    better: Literal["u", "v"] | None = None
    requirements: list[Text] = Field(default_factory=list)
    source: Text | None = None
    field: Text | None = None
    group: Text | None = None


def _kind(record: Any) -> str:
    own = isinstance(record, Pair) or (isinstance(record, Mapping) and {"u", "v"} & set(record))
    return "pair" if own else "task"


class Material(RootModel[Any]):
    """One line of a stimuli file: a task, or a pair of the user's own."""

    root: Annotated[
        Annotated[Task, Tag("task")] | Annotated[Pair, Tag("pair")], Discriminator(_kind)
    ]


def material() -> type[BaseModel]:
    """The schema of one stimulus: a bank of sentences to compose from, or a pair of responses."""
    return Material


def is_task(stimulus: Stimulus) -> bool:
    """Whether it is a task to compose responses from; if not, it is a pair."""
    return "elements" in stimulus.fields


def _sentences(task: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(place, sentence) of everything that responses are composed from."""
    slots = zip(task["elements"], task["neutral"], strict=True)
    for number, (element, neutral) in enumerate(slots, start=1):
        yield from ((f"element {number}", sentence) for sentence in element["full"])
        yield from ((f"half of element {number}", sentence) for sentence in element["half"])
        yield from ((f"neutral slot {number}", sentence) for sentence in neutral)


def length_spread(task: Mapping[str, Any]) -> float:
    """Largest relative distance of a composed response from the task's mean word count.

    Every level counts in every wording, half-steps included.
    """
    composer = Composer(task, seed=0)  # the seed moves sentences, not their number of words
    counts = [
        word_count(composer.response(half_steps / 2, wording))
        for wording in range(VARIANTS)
        for half_steps in range(2 * composer.levels + 1)
    ]
    mean = sum(counts) / len(counts)
    return max(abs(count - mean) / mean for count in counts) if mean else 0.0


def check(stimuli: Sequence[Stimulus]) -> Iterator[Problem]:
    """The faults that the schema cannot detect; see `judgesheet stimuli check`."""
    tasks = [stimulus for stimulus in stimuli if is_task(stimulus)]
    for stimulus in tasks:
        yield from _leaks(stimulus)
        yield from _unequal_slots(stimulus)
    if tasks:
        worst = max(tasks, key=lambda task: length_spread(task.fields))
        yield Problem(
            "pool",
            f"the responses of a task differ by at most {percent(length_spread(worst.fields))} "
            f"from their mean length ({worst.id}; limit {percent(LENGTH_LIMIT)})",
            grave=False,
        )
    yield from near_copies("requests", [(task.id, task.fields["request"]) for task in tasks])
    yield from near_copies("responses", [(task.id, task.fields["identical"]) for task in tasks])


def _leaks(stimulus: Stimulus) -> Iterator[Problem]:
    where, fields = f"{stimulus.id} ({stimulus.source})", stimulus.fields
    for place, sentence in _sentences(fields):
        yield from leaks(f"{where}, {place}", sentence)
    for text in (*fields["filler"], fields["identical"]):
        yield from leaks(where, text)


# Where another sentence begins.
_WITHIN = re.compile(r"[.!?][\"')\]]*\s+[A-Z]")


def _unequal_slots(stimulus: Stimulus) -> Iterator[Problem]:
    """All slots must hold equally many sentences, or their number reveals the level."""
    counts = {text: len(_WITHIN.findall(text)) + 1 for _, text in _sentences(stimulus.fields)}
    fewest, longest = min(counts.values()), max(counts, key=lambda text: counts[text])
    if fewest < counts[longest]:
        yield Problem(
            f"{stimulus.id} ({stimulus.source})",
            f"slots hold {fewest} to {counts[longest]} sentences, where all should hold equally "
            f"many; the longest is “{longest[:60]}…”",
            grave=False,
        )


# -- imported prompts: one pair each, since several would not be independent -----------------------


TAKES = {Holds.PAIR: 0, Holds.ANSWERS: 1, Holds.BEST: 1, Holds.RUBRIC: 2}


def shape(prompt: Prompt) -> dict[str, Any]:
    """The pair with what is known about the better one.

    NotAStimulusError if there are no two responses that differ.
    """
    u, v = _pair(prompt)
    if u.text == v.text:
        raise NotAStimulusError("the two responses are the same text")
    better = None if u.gold == v.gold else "u" if u.gold else "v"
    return {
        "id": prompt.id,
        "request": prompt.text,
        "u": u.text,
        "v": v.text,
        "better": better,
        **known(source=prompt.source),
    }


def _pair(prompt: Prompt) -> tuple[Response, Response]:
    """The pair as the source names it, else a best and another one, on sides drawn by content."""
    named = {response.id: response for response in prompt.responses}
    if named.keys() == {"u", "v"}:
        return named["u"], named["v"]
    drawn = prompt.shuffled()
    best = [response for response in drawn if response.gold]
    rest = [response for response in drawn if not response.gold]
    both = [best[0], rest[0]] if best and rest else drawn[:2]
    if len(both) < 2:
        raise NotAStimulusError("fewer than two responses")
    first, second = sorted(both, key=drawn.index)
    return first, second


# -- calls -----------------------------------------------------------------------------------------


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

# 29 tasks without any fault prove 10 %; 42 prove it of a judge that slips in 2 % of its calls.
PROFILES: Mapping[str, Extent] = {
    "first": Extent(tasks=6, natural=6, same=1, kinds=("identical",), ladder={5: 1}),
    "smoke": Extent(tasks=2, natural=4, same=1, strict_same=1, ladder={1: 1, 5: 1},
                    strict_ladder={1: 1}),
    "quick": Extent(tasks=42, natural=60, same=1, filler=1, kinds=("identical",),
                    ladder={1: 1, 5: 1}, repeats=2),
    "standard": Extent(tasks=42, natural=None, same=1, different=1, filler=1,
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
            **field_and_words(stimulus, *responses),
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
