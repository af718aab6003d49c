"""The stimuli of candidate_order: banks of sentences to compose responses from, or own pairs.

A response of level k in wording v holds the full sentences of elements 1 to k and the neutral
sentences of the other slots, all in wording v: every level contains what a lower one does, and all
have equally many sentences. A half-step replaces the next neutral sentence by one that states half
of its element.

Each wording of a task has its own order of slots, drawn from the seed and the task's id. So a place
in the text says nothing about the level; two levels in one wording differ only in the sentences
that make the difference; and two wordings of one level differ in words and in arrangement.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from pydantic import BaseModel, Discriminator, Field, RootModel, Tag, model_validator

from judgesheet.axis import Problem
from judgesheet.axis.material import Name, Strict, Text, leaks, near_copies, word_count
from judgesheet.axis.shaping import Holds, NotAStimulusError, Prompt, Response, known
from judgesheet.base.digits import counted, percent
from judgesheet.base.records import Label, Stimulus

if TYPE_CHECKING:
    from numpy.random import Generator

    from judgesheet.axis.arrays import Floats

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


def labels(stimuli: Sequence[Stimulus]) -> Iterator[Label]:  # noqa: ARG001
    """None: what is known about a pair (its step, the better response) is in its cell."""
    return iter(())


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
