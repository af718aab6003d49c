"""The questions of listwise_consensus: lists of answers, and their orders."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np
from pydantic import BaseModel, Field, model_validator

from judgesheet.axis import Options, Problem
from judgesheet.axis.arms import Read, item_fault
from judgesheet.axis.material import (
    Name,
    Strict,
    Text,
    field_and_words,
    in_turn,
    leaks,
    length_spread,
    near_copies,
    word_count,
)
from judgesheet.axis.prompt import boundary, parameters, renderer
from judgesheet.axis.shaping import (
    Holds,
    NotAStimulusError,
    Prompt,
    candidate_fields,
    heading,
    known,
)
from judgesheet.base.digits import two_digits
from judgesheet.base.errors import TemplateError
from judgesheet.base.limits import MOST_CANDIDATES, MOST_REVERSED
from judgesheet.base.records import Call, Stimulus
from judgesheet.stats import orders
from judgesheet.stats.orders import Order

from .read import ARMS, DIRECT, LABELS, PERMUTED, REPEATED, schema

# -- stimuli ---------------------------------------------------------------------------------------


FEWEST_FOR_BALANCE = 20
"""With fewer prompts a correlation with the gold says nothing about the pool."""
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
    field: Text | None = None
    group: Text | None = None
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


def golds(fields: Mapping[str, Any]) -> list[str]:
    """The ids of the right candidates; none where they are not known."""
    gold = fields.get("gold")
    return [] if gold is None else [gold] if isinstance(gold, str) else list(gold)


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
    yield from length_spread(stimuli)
    for stimulus in stimuli:
        candidates = stimulus.fields["candidates"]
        where = f"{stimulus.id} ({stimulus.source})"
        yield from _identical(where, candidates)
        for candidate in candidates:
            place = f"{stimulus.id}/{candidate['id']} ({stimulus.source})"
            yield from leaks(place, candidate["text"])
            for label in _LABEL.findall(candidate["text"]):
                yield Problem(place, f"speaks of “{label}”, as the prompt calls a candidate", False)
        places = [(f"{stimulus.id}/{c['id']}", c["text"]) for c in candidates]
        yield from (replace(problem, where=where) for problem in near_copies("candidates", places))
    yield from near_copies("prompts", [(one.id, one.fields["prompt"]) for one in stimuli])
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
    lists = []
    for stimulus in stimuli:
        gold, candidates = golds(stimulus.fields), stimulus.fields["candidates"]
        rows = [(cue(one["text"]), float(one["id"] in gold)) for one in candidates]
        lists.append(np.array(rows) - np.mean(rows, axis=0))
    values, right = np.concatenate(lists).T
    return 0.0 if np.allclose(values, 0) else float(np.corrcoef(values, right)[0, 1])


# -- imported prompts: all responses compete, in an order that says nothing ------------------------


TAKES = {Holds.ANSWERS: 0, Holds.BEST: 0, Holds.RUBRIC: 1}


def shape(prompt: Prompt) -> dict[str, Any]:
    """The prompt with its responses and the right one or ones, if they are known.

    NotAStimulusError if there are fewer than two responses, or two of the same text.
    """
    drawn = prompt.shuffled()
    if len({response.text for response in drawn}) < len(drawn):
        raise NotAStimulusError("two responses are the same text")
    if len(drawn) < 2:
        raise NotAStimulusError("fewer than two responses")
    gold = [response.id for response in drawn if response.gold]
    return {
        **heading(prompt),
        **known(source=prompt.source),
        "gold": gold[0] if len(gold) == 1 else gold or None,
        "candidates": [candidate_fields(response) for response in drawn],
    }


# -- calls -----------------------------------------------------------------------------------------


PAPER_K = 7
"""Runs of the paper's consensus and of its repeated arm (004, section 4.3)."""


@dataclass(frozen=True, slots=True)
class ListSettings:
    """How much of the design a profile runs.

    `stimuli` prompts (None: all) are each read under the balanced orders (`forward`: only under the
    n forward rotations), the canonical order `repeated` times in all. `again` of the other orders
    (None: all), drawn for each prompt, are read `repeats` times. The canonical reading, which
    the arms share, is requested once, in the direct arm. `listed` is the most candidates that are
    shown (None: all), the right answer among them.
    """

    stimuli: int | None
    forward: bool
    repeated: int
    again: int | None
    repeats: int = 2
    listed: int | None = None


PROFILES: Mapping[str, ListSettings] = {
    "first": ListSettings(stimuli=6, forward=True, repeated=1, again=0, listed=2),
    "smoke": ListSettings(stimuli=3, forward=True, repeated=2, again=0),
    "quick": ListSettings(stimuli=36, forward=True, repeated=2, again=1),
    "standard": ListSettings(stimuli=36, forward=False, repeated=PAPER_K, again=1),
    "full": ListSettings(stimuli=None, forward=False, repeated=PAPER_K, again=None, repeats=3),
}


def sequences(n: int, kind: str = "cyclic", *, forward: bool = False) -> tuple[Order, ...]:
    """The orders of the permuted arm, the canonical one first.

    Cyclic: n forward, then n reverse rotations, so that the first n, and all 2n, show every
    candidate equally often at every place, and the paper's K = 3, 5, 7 are the first orders.
    """
    if kind == "williams":
        first, *rest = orders.williams(n)
        canonical = {candidate: place + 1 for place, candidate in enumerate(first)}
        return tuple(tuple(canonical[c] for c in order) for order in (first, *rest))
    balanced = orders.balanced(n)
    return balanced[:n] if forward or n > MOST_REVERSED else balanced


def depths(n: int, total: int) -> list[int]:
    """The K at which an arm of `total` runs is evaluated: the paper's, and the balanced ones."""
    return sorted({k for k in (3, 5, PAPER_K, n, 2 * n, total) if 2 <= k <= total})


def canonical_ids(stimulus: Stimulus, index: int, most: int | None = None) -> list[str]:
    """The candidates in canonical order: the file's, rotated so that the gold's place is `index`.

    Of more than `most`, the gold and those that follow it. Many files list the right answer first,
    and the direct arm would then measure that place.
    """
    ids = [candidate["id"] for candidate in stimulus.fields["candidates"]]
    gold = golds(stimulus.fields)
    start = ids.index(gold[0]) if gold else index % len(ids)
    kept = (ids[start:] + ids[:start])[:most]
    shift = -index % len(kept)
    return kept[shift:] + kept[:shift]


def design(
    stimuli: Sequence[Stimulus], options: Options, rng: "np.random.Generator"
) -> Iterator[Call]:
    """Every call, prompt by prompt; within a prompt the arms are interleaved at random."""
    render = _renderer(options)
    settings = PROFILES[options.profile]
    if options.repeats is not None:
        settings = replace(settings, repeats=options.repeats)
    for stimulus, mine in in_turn(stimuli, rng, settings.stimuli):
        ids = canonical_ids(stimulus, int(mine.integers(2**16)), settings.listed)
        cells = list(_cells(int(mine.integers(2**16)), len(ids), settings, options))
        for pick in mine.permutation(len(cells)):
            yield _call(stimulus, ids, cells[pick], options, render)


def list_calls(
    stimulus: Stimulus, shown: Sequence[Sequence[int]], options: Options
) -> Iterator[Call]:
    """One call per order of a prompt's candidates, the first as the direct one.

    Orders count the candidates from 1, as the file lists them.
    """
    render = _renderer(options)
    ids = [candidate["id"] for candidate in stimulus.fields["candidates"]]
    for number, order in enumerate(shown):
        cell = Read(PERMUTED if number else DIRECT, tuple(order), 0)
        yield _call(stimulus, ids, cell, options, render)


def arm(cell: Mapping[str, Any]) -> str:
    """The arm of a cell."""
    return str(cell["arm"])


def _renderer(options: Options) -> Callable[..., str]:
    """As `renderer`; TemplateError also if a candidate's text could imitate an end or another."""
    render = renderer("listwise_consensus", options, ("prompt",), {"candidates.text": "candidate"})

    def marked_off(**variables: Any) -> str:
        text = render(**variables)
        if text.count(variables["boundary"]) < variables["n"]:
            what = "the prompt of listwise_consensus"
            raise TemplateError(f"{what} does not mark each candidate with the boundary")
        return text

    return marked_off


def _cells(start: int, n: int, settings: ListSettings, options: Options) -> Iterator[Read]:
    """The readings of a prompt, with the orders from `start` on repeated."""
    canonical, *others = sequences(n, options.sequences, forward=settings.forward)
    yield Read(DIRECT, canonical, 0)
    for repeat in range(1, settings.repeated):
        yield Read(REPEATED, canonical, repeat)
    again = len(others) if settings.again is None else settings.again
    for place, order in enumerate(others):
        often = (place - start) % len(others) < again
        for repeat in range(settings.repeats if often else 1):
            yield Read(PERMUTED, order, repeat)


def _shown(
    prompt: str, reference: str | None, texts: Sequence[str], options: Options
) -> dict[str, object]:
    """The variables of the template."""
    return {
        "prompt": prompt,
        "reference": reference,
        "candidates": [
            {"label": label, "text": text} for label, text in zip(LABELS, texts, strict=False)
        ],
        "n": len(texts),
        "boundary": boundary([prompt, reference or ""], texts),
        "reply": options.reply,
    }


def _call(
    stimulus: Stimulus,
    ids: Sequence[str],
    cell: Read,
    options: Options,
    render: Callable[..., str],
) -> Call:
    fields = stimulus.fields
    texts = {candidate["id"]: candidate["text"] for candidate in fields["candidates"]}
    shown = [ids[place - 1] for place in cell.order]
    gold = [name for name in golds(fields) if name in shown]
    listed, n = [texts[name] for name in shown], len(shown)
    prompt = render(**_shown(fields["prompt"], fields.get("reference"), listed, options))
    right = {"gold": gold[0] if gold else None, **({"golds": gold} if len(gold) > 1 else {})}
    return Call(
        axis="listwise_consensus",
        stimulus=stimulus.id,
        cell={
            "item": stimulus.id,
            "arm": cell.arm,
            "order": shown,
            **right,
            **field_and_words(stimulus, *listed),
        },
        repeat=cell.repeat,
        messages=({"role": "user", "content": prompt},),
        # An entry takes about 65 tokens; in text mode the judge may reason before it.
        params=parameters(
            options, {"text": 512 + 160 * n, "json": 32 + 120 * n}, "candidates", schema(n)
        ),
        reply=options.reply,
    )


# -- recorded cells --------------------------------------------------------------------------------


def fault(cell: Mapping[str, Any]) -> str | None:
    """What keeps a recorded cell from being one of ours, as a sentence; None if nothing does."""
    if wrong := item_fault(cell, "the prompt", ARMS):
        return wrong
    order = cell.get("order")
    shown = order if isinstance(order, list) and all(isinstance(one, str) for one in order) else []
    if not 2 <= len(shown) <= MOST_CANDIDATES or len(set(shown)) != len(shown):
        return f"cell.order must list 2 to {MOST_CANDIDATES} candidate ids, each once, as displayed"
    gold = cell.get("golds") or ([] if cell.get("gold") is None else [cell["gold"]])
    if not isinstance(gold, list) or not all(one in shown for one in gold):
        return "cell.gold must be one of the candidate ids in cell.order, or null"
    return None
