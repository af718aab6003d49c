"""What presentation asks: stimuli, their copies in another style, and the calls."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import filterfalse
from math import log2
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, Discriminator, Field, RootModel, Tag

from judgesheet.axis import Options, Problem
from judgesheet.axis.comparison import tag, variables_used
from judgesheet.axis.material import (
    Asked,
    Name,
    Strict,
    Text,
    field_and_words,
    in_turn,
    leaks,
    near_copies,
    word_count,
)
from judgesheet.axis.prompt import object_schema, parameters, renderer
from judgesheet.axis.shaping import Holds, NotAStimulusError, Prompt, known
from judgesheet.base.records import Call, Stimulus

from .rules import (
    AUTHORITY,
    CERTAIN,
    FORMAT,
    HEDGED,
    INSTRUCTION,
    LENGTH,
    RULES,
    Point,
    Response,
    altered,
    of_text,
    paragraphs,
)

if TYPE_CHECKING:
    import pandas as pd

# -- stimuli ---------------------------------------------------------------------------------------


class Said(Strict):
    """A point of a response: a sentence that meets a requirement, and its heading."""

    heading: Text
    requirement: Text
    text: Text


class Composed(Strict):
    """A response of which it is known what each sentence is for."""

    id: Name
    domain: str = ""
    field: Text | None = None
    group: Text | None = None
    topic: Text
    request: Text
    points: Annotated[list[Said], Field(min_length=2)]


class Own(Strict):
    """A response of the user's own; the rest is optional."""

    id: Name
    domain: str = ""
    field: Text | None = None
    group: Text | None = None
    topic: Text | None = None
    request: Text
    requirements: list[Text] = Field(default_factory=list)
    response: Text


class Pair(Strict):
    """Two different responses; `better` is people's verdict.

    `systems` says who wrote them, `families` of which family each writer is, such as its vendor's.
    """

    id: Name
    field: Text | None = None
    group: Text | None = None
    request: Text
    requirements: list[Text] = Field(default_factory=list)
    a: Text
    b: Text
    better: Literal["a", "b", "tie"] | None = None
    systems: tuple[Name, Name] | None = None
    families: tuple[Name, Name] | None = None


def _kind(record: Any) -> str:
    has = set(record) if isinstance(record, Mapping) else set(type(record).model_fields)
    return "pair" if {"a", "b"} & has else "composed" if "points" in has else "own"


class Material(RootModel[Any]):
    """One line of a stimuli file: a response in its points, one as it comes, or a pair."""

    root: Annotated[
        Annotated[Composed, Tag("composed")]
        | Annotated[Own, Tag("own")]
        | Annotated[Pair, Tag("pair")],
        Discriminator(_kind),
    ]


def material() -> type[BaseModel]:
    """The schema of one stimulus."""
    return Material


def is_pair(stimulus: Stimulus) -> bool:
    """Whether it is a pair of the user's own; if not, it is a response to alter."""
    return "a" in stimulus.fields


def requirements(stimulus: Stimulus) -> list[str]:
    """What a good response must contain, as the prompt lists it."""
    fields = stimulus.fields
    if points := fields.get("points"):
        return [point["requirement"] for point in points]
    return list(fields.get("requirements", ()))


def response(stimulus: Stimulus) -> Response:
    """The response that is to be altered."""
    fields = stimulus.fields
    topic = fields.get("topic") or ""
    if points := fields.get("points"):
        said = tuple(Point(one["text"], one["heading"]) for one in points)
        return Response(said, paragraphs(len(said)), topic)
    return of_text(fields["response"], topic)


def unalterable(stimulus: Stimulus) -> list[str]:
    """The kinds that this response cannot be altered in at all without changing what it says."""
    mine = response(stimulus)
    return [
        kind
        for kind, forms in RULES.items()
        if all(altered(mine, kind, form, 2.0) is None for form in forms)
    ]


def check(stimuli: Sequence[Stimulus]) -> Iterator[Problem]:
    """Requests that share a template, words about grading, and responses that cannot be altered."""
    answers = [stimulus for stimulus in stimuli if not is_pair(stimulus)]
    for stimulus in answers:
        yield from leaks(f"{stimulus.id} ({stimulus.source})", response(stimulus).plain)
    lacking = [kind for stimulus in answers for kind in unalterable(stimulus)]
    for kind in dict.fromkeys(lacking):
        text = f"{lacking.count(kind)} of {len(answers)} responses are not asked in the form"
        why = "it would change what they say"
        yield Problem("pool", f"{text} {kind}: {why}", grave=False)
    yield from near_copies("requests", [(one.id, one.fields["request"]) for one in stimuli])


# -- imported prompts ------------------------------------------------------------------------------


TAKES = {Holds.PAIR: 10, Holds.ANSWERS: 10, Holds.BEST: 10}


def shape(prompt: Prompt) -> dict[str, Any]:
    """A pair as it comes; NotAStimulusError unless there are two responses that differ."""
    if len(prompt.responses) != 2:
        raise NotAStimulusError("not two responses")
    first, second = prompt.shuffled()
    if first.text == second.text:
        raise NotAStimulusError("the two responses are the same text")
    better = None if first.gold == second.gold else "a" if first.gold else "b"
    named = [one.id for one in (first, second) if _SYSTEM.fullmatch(one.id)]
    return {
        "id": prompt.id,
        "request": prompt.text,
        "a": first.text,
        "b": second.text,
        **known(better=better, systems=named if len(named) == 2 else None),
    }


# Ids that name who wrote a response: no places (u, v, 1, 2).
_SYSTEM = re.compile(r"(?=.{2,80}\Z)[A-Za-z][A-Za-z0-9_.:-]*")


# -- calls -----------------------------------------------------------------------------------------


PAIR, SCORE = "pair", "score"
ORDERS = (("plain", "dressed"), ("dressed", "plain"))
NATURAL_ORDERS = (("a", "b"), ("b", "a"))
SCALE = 10
"""Scores run from 1 to this."""
QUALITY, NATURAL, PLAIN = "quality", "natural", "plain"
"""Kinds that are no style: a worse response in prose, own pairs, the plain one scored."""
ALONE = "plain"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,79}")
KINDS = (*RULES, QUALITY, NATURAL, PLAIN)
FORMER: Mapping[str, frozenset[object]] = {
    "kind": frozenset({"summary", "praise", "typos", "casual", "language", "identical"}),
    "form": frozenset({"foreign", "verdict"}),
    "prompt": frozenset({"ignore", "guard", "stripped", "cut"}),
}
"""What older runs have asked too, in no figure any more: name in the cell -> values."""
FEWEST_LEFT = 2
"""Points that a worse response still makes, so that every way to alter it remains."""


@dataclass(frozen=True, slots=True)
class Arm:
    """Calls of one sort: a kind in its forms, on so many stimuli (None: on all).

    A stimulus is asked one of the `forms`, drawn by its id. `dose` is the number of words
    that a padded response has for each of the plain one, `missing` the number of points that the
    worse response lacks.
    """

    kind: str
    forms: tuple[str, ...]
    stimuli: int | None
    dose: float = 1.0
    missing: int = 0
    ask: str = PAIR
    repeats: int = 1


_NOTES = tuple(RULES[INSTRUCTION])


def _forms(kind: str) -> tuple[str, ...]:
    return tuple(RULES[kind])


def _each(kind: str, stimuli: int | None) -> tuple[Arm, ...]:
    """An arm for every form of a kind."""
    return tuple(Arm(kind, (form,), stimuli) for form in RULES[kind])


def _scored(stimuli: int | None, *kinds: str, repeats: int = 1) -> tuple[Arm, ...]:
    """Scores of plain responses, and of the same in a style."""
    altered = (
        Arm(kind, _forms(kind)[:1], stimuli, 2.0 if kind == LENGTH else 1.0, ask=SCORE)
        for kind in kinds
    )
    return Arm(PLAIN, (ALONE,), stimuli, ask=SCORE, repeats=repeats), *altered


_CONTROL = Arm(QUALITY, (ALONE,), 8, missing=3)
_PADDED = Arm(LENGTH, ("repeated",), None, dose=2.0)
PROFILES: Mapping[str, tuple[Arm, ...]] = {
    "first": (replace(_PADDED, stimuli=4), replace(_CONTROL, stimuli=2)),
    "smoke": (
        *(replace(_PADDED, stimuli=2), replace(_CONTROL, stimuli=2)),
        *(Arm(INSTRUCTION, _NOTES, 2), Arm(FORMAT, ("list",), 2)),
        *_scored(1, LENGTH),
    ),
    # What policies limit, on as many stimuli as prove a limit.
    "quick": (
        *(replace(_PADDED, stimuli=24), Arm(INSTRUCTION, _NOTES, 24), Arm(FORMAT, ("list",), 16)),
        *(Arm(HEDGED, ("openers",), 16), Arm(AUTHORITY, _forms(AUTHORITY), 6)),
        replace(_CONTROL, stimuli=6),
        *_scored(12, LENGTH),
    ),
    "standard": (
        *(_PADDED, replace(_PADDED, stimuli=8, dose=3.0)),
        *(Arm(FORMAT, ("list",), 24), Arm(FORMAT, ("table", "code"), 12)),
        *(Arm(HEDGED, ("openers",), 16), Arm(CERTAIN, ("openers",), 16)),
        Arm(AUTHORITY, _forms(AUTHORITY), 16),
        *(Arm(INSTRUCTION, _NOTES, None), Arm(INSTRUCTION, _NOTES[::-1], 12)),
        replace(_CONTROL, stimuli=10),
        *_scored(None, LENGTH),
        *(Arm(kind, _forms(kind)[:1], 8, ask=SCORE) for kind in (FORMAT, INSTRUCTION)),
    ),
    "full": (
        *(replace(_PADDED, repeats=2), replace(_PADDED, dose=3.0)),
        *(arm for kind in RULES if kind != LENGTH for arm in _each(kind, None)),
        replace(_CONTROL, stimuli=None),
        *_scored(None, *RULES, repeats=2),
    ),
}
STIMULI: Mapping[str, int | None] = {"first": 6, "smoke": 4, "quick": 24}
"""Responses to alter that a profile asks; all of them where it does not say."""
NATURAL_PAIRS: Mapping[str, int | None] = {"first": 6, "smoke": 4, "quick": 60}
"""Own pairs that a profile asks; all of them where it does not say."""


class StyleVariants:
    """The texts of one stimulus; which points a worse response lacks follows from the seed."""

    def __init__(self, asked: Asked) -> None:
        self.stimulus, self.rng = asked
        self.response = response(self.stimulus)
        # Drawn before anything else: a stimulus has the same texts in all profiles.
        self._left_out = [int(at) for at in self.rng.permutation(len(self.response.points))]
        self.turn = int(self.rng.integers(2**16))
        self.draw = float(self.rng.random())

    def pair(self, arm: Arm, form: str) -> tuple[str, str] | None:
        """The plain text and the other one; None where the response cannot be altered so."""
        plain = self.response.plain
        if arm.kind in RULES:
            text = altered(self.response, arm.kind, form, arm.dose)
            return None if text is None else (plain, text)
        if not self._may_lack(arm.missing):
            return None
        return plain, self.response.without(self._left_out[: arm.missing]).plain

    def _may_lack(self, missing: int) -> bool:
        """Whether the points are known to be what a response needs, and enough of them remain."""
        composed = "points" in self.stimulus.fields
        return not missing or (composed and len(self.response.points) - missing >= FEWEST_LEFT)

    @cached_property
    def unalterable(self) -> list[str]:
        """The kinds that it is not asked in."""
        return unalterable(self.stimulus)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A call before it is written down; `texts` are those of `order`, one for a score."""

    cell: Mapping[str, Any]
    texts: tuple[str, ...]
    repeat: int


def design(
    stimuli: Sequence[Stimulus], options: Options, rng: "np.random.Generator"
) -> Iterator[Call]:
    """Every call, stimulus by stimulus; within a stimulus all arms are mixed at random."""
    render = renderer("presentation", options, ("request",), {"responses.text": "response"})
    pair = partial(_variables, options, "request", ("u", "v"))
    asks_scores = bool(variables_used(render, pair, {"ask": {"ask": SCORE}}))
    altered = in_turn(filterfalse(is_pair, stimuli), rng, STIMULI.get(options.profile))
    variants = [*map(StyleVariants, altered)]
    asked: dict[str, list[_Asked]] = {one.stimulus.id: [] for one in variants}
    for arm in PROFILES[options.profile]:
        for variant, call in _calls(arm, variants, options):
            asked[variant.stimulus.id].append(call)
    for variant in variants:
        mine = asked[variant.stimulus.id]
        mine = [one for one in mine if asks_scores or one.cell["ask"] == PAIR]
        for at in variant.rng.permutation(len(mine)):
            yield _call(variant.stimulus, mine[at], options, render)
    for stimulus, _ in in_turn(filter(is_pair, stimuli), rng, NATURAL_PAIRS.get(options.profile)):
        for one in _natural(stimulus, options):
            yield _call(stimulus, one, options, render)


def _calls(
    arm: Arm, variants: Sequence[StyleVariants], options: Options
) -> Iterator[tuple[StyleVariants, _Asked]]:
    """The calls of an arm on as many of the stimuli as it wants that can be altered so."""
    able = [one for one in variants if any(one.pair(arm, form) for form in arm.forms)]
    # The same for all arms: scores of a copy are compared with those of the plain response.
    drawn = sorted(able, key=lambda one: one.draw)[: arm.stimuli]
    for variant in drawn:
        form, texts = _next_form(arm, variant)
        for repeat in range(options.repeats or arm.repeats):
            for call in _in_orders(arm, form, texts, repeat, variant):
                yield variant, call


def _next_form(arm: Arm, variant: StyleVariants) -> tuple[str, tuple[str, str]]:
    """The form whose turn it is, or the next that the response can be altered in, and texts."""
    turned = (arm.forms[(variant.turn + step) % len(arm.forms)] for step in range(len(arm.forms)))
    return next((form, pair) for form in turned if (pair := variant.pair(arm, form)))


def _in_orders(
    arm: Arm, form: str, texts: tuple[str, str], repeat: int, variant: StyleVariants
) -> Iterator[_Asked]:
    names = [arm.kind, form, *([f"{arm.dose:g}"] if arm.dose != 1 else [])]
    names += [f"less-{arm.missing}"] if arm.missing else []
    lacking = variant.unalterable
    cell = {
        "item": variant.stimulus.id,
        "ask": arm.ask,
        "kind": arm.kind,
        "form": form,
        "dose": arm.dose,
        "missing": arm.missing,
        "pair": "-".join(names),
        **({"undressed": lacking} if lacking else {}),
    }
    if arm.ask == SCORE:
        yield _Asked({**cell, "order": list(range(1, SCALE + 1))}, texts[1:], repeat)
        return
    shown = dict(zip(ORDERS[0], texts, strict=True))
    for order in ORDERS:
        yield _Asked({**cell, "order": list(order)}, tuple(shown[name] for name in order), repeat)


def _natural(stimulus: Stimulus, options: Options) -> Iterator[_Asked]:
    """A pair of the user's own in both orders."""
    fields = stimulus.fields
    a, b = (max(1, word_count(fields[side])) for side in ("a", "b"))
    cell = {
        "item": stimulus.id,
        "ask": PAIR,
        "kind": NATURAL,
        "form": ALONE,
        "dose": 1.0,
        "missing": 0,
        "pair": stimulus.id,
        "longer": round(log2(a / b), 4),
        "better": fields.get("better"),
        "systems": fields.get("systems"),
        **({"families": families} if (families := fields.get("families")) else {}),
    }
    for repeat in range(options.repeats or 1):
        for order in NATURAL_ORDERS:
            texts = tuple(fields[side] for side in order)
            yield _Asked({**cell, "order": list(order)}, texts, repeat)


# -- the prompt ------------------------------------------------------------------------------------


def _variables(
    options: Options,
    request: str,
    texts: Sequence[str],
    required: Sequence[str] = (),
    ask: str = PAIR,
) -> dict[str, Any]:
    """What a template is filled with; `texts` in displayed order."""
    return {
        "request": request,
        "requirements": required,
        "ask": ask,
        "reply": options.reply,
        "tag": tag(request, texts),
        "responses": [
            {"label": str(place), "text": text} for place, text in enumerate(texts, start=1)
        ],
    }


def _call(stimulus: Stimulus, asked: _Asked, options: Options, render: Callable[..., str]) -> Call:
    cell = asked.cell
    variables = _variables(
        options,
        stimulus.fields["request"],
        asked.texts,
        requirements(stimulus),
        cell["ask"],
    )
    return Call(
        axis="presentation",
        stimulus=stimulus.id,
        cell={**cell, **field_and_words(stimulus, *asked.texts)},
        repeat=asked.repeat,
        messages=({"role": "user", "content": render(**variables)},),
        params=_params(cell["ask"], options),
        reply=options.reply,
    )


def _params(ask: str, options: Options) -> dict[str, Any]:
    answers: dict[str, Any] = (
        {"winner": {"type": "string", "enum": ["1", "2", "tie"]}}
        if ask == PAIR
        else {"score": {"type": "integer", "enum": list(range(1, SCALE + 1))}}
    )
    # Text leaves room for the sentences that the prompt allows before the verdict.
    name = next(iter(answers))
    return parameters(options, {"text": 512, "json": 32}, name, object_schema(answers))


def arm(cell: Mapping[str, Any]) -> str:
    """The arm of a cell, for the budget of a plan."""
    return "scores" if cell["ask"] == SCORE else str(cell["kind"])


def fault(cell: Mapping[str, Any]) -> str | None:
    """What keeps a recorded cell from being one of ours, as a sentence; None if nothing does."""
    if cell.get("ask", PAIR) not in (PAIR, SCORE):
        return "cell.ask must be pair or score"
    if cell.get("kind") not in {*KINDS, *FORMER["kind"]}:
        return f"cell.kind must be one of {', '.join(KINDS)}"
    if not isinstance(cell.get("pair"), str):
        return "cell.pair must name the pair"
    if cell.get("prompt", "baseline") not in {"baseline", *FORMER["prompt"]}:
        return "cell.prompt must be baseline"
    if not isinstance(cell.get("form", ALONE), str):
        return "cell.form must name the form of the change"
    return _number_fault(cell) or _order_fault(cell)


def _number_fault(cell: Mapping[str, Any]) -> str | None:
    for name in ("dose", "missing"):
        value = cell.get(name, 1)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
            return f"cell.{name} must be a number from 0 to 100"
    longer = cell.get("longer", 0.0)
    if isinstance(longer, bool) or not isinstance(longer, int | float) or abs(longer) > 100:
        return "cell.longer must be the binary logarithm of the words of a over those of b"
    return None


def _order_fault(cell: Mapping[str, Any]) -> str | None:
    order = cell.get("order")
    if cell.get("ask", PAIR) == SCORE:
        scores = list(range(1, SCALE + 1))
        return None if order == scores else f"cell.order of a score must list 1 to {SCALE}"
    allowed = NATURAL_ORDERS if cell["kind"] == NATURAL else ORDERS
    if order not in [list(one) for one in allowed]:
        return f"cell.order must be {' or '.join(map(str, map(list, allowed)))}, as displayed"
    if cell.get("better") not in ("a", "b", "tie", None):
        return 'cell.better must be "a", "b", "tie" or null'
    return next(filter(None, (_writers_fault(cell, who) for who in ("systems", "families"))), None)


def _writers_fault(cell: Mapping[str, Any], who: str) -> str | None:
    names = cell.get(who)
    if names is not None and not (isinstance(names, list) and len(names) == 2):
        return f"cell.{who} must list the one of a and that of b"
    if any(not isinstance(name, str) or not NAME.fullmatch(name) for name in names or ()):
        return f"cell.{who} must be names of letters, digits, _ . : and -"
    return None


def not_altered(frame: "pd.DataFrame") -> list[str]:
    """The kinds that stimuli of a table were not asked in, one entry per stimulus and kind."""
    each = frame.drop_duplicates("stimulus")["undressed"]
    return [kind for kinds in each if isinstance(kinds, list) for kind in kinds]


def is_read(cell: Mapping[str, Any]) -> bool:
    """Whether a figure reads the call: none does of kinds, forms and prompts of older runs.

    Nor of their altered copies that lacked points.
    """
    is_former = any(cell.get(name) in values for name, values in FORMER.items())
    lacks = (cell.get("missing") or 0) > 0
    return not is_former and (cell.get("kind") == QUALITY or not lacks)
