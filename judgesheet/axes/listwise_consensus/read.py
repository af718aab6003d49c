"""The replies of listwise_consensus: read, taken for lost ones, and given by a simulated judge.

Every displayed candidate must appear once, or the reply is unreadable.

A lost call is replaced by scores in which one candidate has all points and the others none, since
no answer can move a decision further: every place in turn, the list's usual winner, the right
answer, and a wrong one.

How a simulated judge scores a list of candidate answers.

Candidate c of a prompt, shown at place p of n in some order, gets a score from 0 to 100:

    score = 50 + gap * (1 if c is gold) * min(quality, 1) + slot_p + shared * e_c + perturb * e_co
            + noise * e

`slot_p` is 10 points per logit of the judge's preference for a place (`position`, `first`, `last`),
so that `first-biased` prefers the first answer too; `e_c` is normal and fixed for a prompt's
candidate whatever the order: the errors that all orders share; `e_co` is fixed for a candidate
under an order; `e` is new in each call, with `noise` = 10 points per unit of `width` (none if
`greedy`). Scores are rounded and clipped to 0..100; each candidate is marked uncertain in a share
`unsure` of calls. The identity of the candidates and the gold are taken from the cell of the call.
`policy` replaces the scores by a rule.
"""

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from judgesheet.axis import Readings
from judgesheet.axis.losses import Row, answered, lost, split
from judgesheet.axis.material import word_count
from judgesheet.axis.prompt import object_schema
from judgesheet.axis.simulation import Known, Parameters, hashed
from judgesheet.base.records import Call, ReplyFormat
from judgesheet.base.scale import Scale
from judgesheet.reading import INCOMPLETE, Reading
from judgesheet.reading.marks import spelled_point
from judgesheet.reading.verdicts import agreed, displayed, highest, recorded, under_key

if TYPE_CHECKING:
    import pandas as pd

DIRECT, REPEATED, PERMUTED = ARMS = ("direct", "repeated", "permuted")
"""The arms of a cell: the canonical order once, again, and other orders."""

# -- reading ---------------------------------------------------------------------------------------


LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
RATIONALE = 120
"""Characters of a rationale under constrained decoding: enough for a reason, and cheap."""
FLAGS = ("major_error", "hallucinated_specificity", "calibrated_uncertainty")

Verdict = dict[str, dict[str, Any]]
"""Candidate id -> `score` (0 to 100) and `uncertain`, in displayed order."""

HIGHEST = 100
_SCALE = Scale.between(0, HIGHEST)
_LABEL = re.compile(r"(?:candidate[ _]?)?([A-Z])", re.IGNORECASE)


def _label(value: Any) -> Any:
    """A label as replies spell it: "A", "[a]", "Candidate A"."""
    spelled = _LABEL.fullmatch(value.strip(" *_`\"'.[]()")) if isinstance(value, str) else None
    return spelled[1].upper() if spelled else value


def _number(value: Any) -> Any:
    """A score as replies spell it: 80, "80", "80/100"."""
    if not isinstance(value, str):
        return value
    point = spelled_point(value, _SCALE)
    return None if point is None else _SCALE.number(point)


_Score = Annotated[float, Field(ge=0, le=HIGHEST, allow_inf_nan=False)]
# True or false, also as 1, 0 or in quotes.
_Flag = Annotated[bool, Field(strict=False)]


class _Rated(BaseModel):
    """What a reply says about one candidate; the rationale is not read."""

    model_config = ConfigDict(strict=True)

    label: Annotated[str, BeforeValidator(_label)]
    score: Annotated[_Score, BeforeValidator(_number)]
    major_error: _Flag
    hallucinated_specificity: _Flag
    calibrated_uncertainty: _Flag


class _Recorded(BaseModel):
    """What a recorded verdict says about one candidate."""

    model_config = ConfigDict(strict=True)

    score: _Score
    uncertain: bool = False


_RATED = TypeAdapter(list[_Rated])
_RECORDED = TypeAdapter(dict[str, _Recorded])


def schema(n: int) -> dict[str, Any]:
    """The JSON Schema of an answer on n candidates."""
    properties: dict[str, Any] = {
        "label": {"type": "string", "enum": list(LABELS[:n])},
        "score": {"type": "integer", "minimum": 0, "maximum": 100},
        "rationale": {"type": "string", "maxLength": RATIONALE},
        **{flag: {"type": "boolean"} for flag in FLAGS},
    }
    candidate = object_schema(properties)
    listed = {"type": "array", "items": candidate, "minItems": n, "maxItems": n}
    return object_schema({"candidates": listed})


def reading(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> Reading:
    """Score and mark of every candidate by its id; all answers in a reply must agree."""
    if reply == "recorded":
        return agreed([_recorded(text, cell["order"])], INCOMPLETE)
    return under_key(text, "candidates", lambda listed: _answer(listed, cell["order"]), INCOMPLETE)


def parts(cell: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """What the user's own parser may call each displayed candidate."""
    return displayed(cell["order"])


def chosen(verdict: Verdict, order: Sequence[str]) -> str | None:
    """The candidate that scores highest; None where several do."""
    return highest({name: rated["score"] for name, rated in verdict.items()}, order)


def points_by_place(verdict: Verdict, order: Sequence[str]) -> list[float]:
    """The scores of the candidates, in displayed order."""
    return [float(verdict[name]["score"]) for name in order]


def golds_shown(cell: Mapping[Any, Any]) -> frozenset[str]:
    """The ids of the right candidates that the cell of a call names, if they are known."""
    several, single = cell.get("golds"), cell.get("gold")
    listed = several if isinstance(several, list) else [single]
    return frozenset(name for name in listed if isinstance(name, str))


def _answer(listed: Any, order: Sequence[str]) -> Verdict | None:
    """One answer, by displayed label."""
    if isinstance(listed, Mapping):  # an object for each label
        listed = [
            {"label": label, **rated}
            for label, rated in listed.items()
            if isinstance(rated, Mapping)
        ]
    try:
        by_label = {rated.label: rated for rated in _RATED.validate_python(listed)}
    except ValidationError:
        return None
    if len(listed) != len(order) or set(by_label) != set(LABELS[: len(order)]):
        return None
    given = [rated.score for rated in by_label.values()]
    if max(given) <= 1 and not all(score.is_integer() for score in given):
        return None  # shares, not points up to 100
    rated = zip(order, (by_label[label] for label in LABELS), strict=False)
    return {
        name: {"score": one.score, "uncertain": one.calibrated_uncertainty} for name, one in rated
    }


def _recorded(text: str, order: Sequence[str]) -> Verdict | None:
    """A recorded verdict, by candidate id."""
    try:
        rated = _RECORDED.validate_python(recorded(text))
    except ValidationError:
        return None
    return {name: rated[name].model_dump() for name in order} if set(rated) == set(order) else None


# -- lost calls: by place, evenly, by order, the usual one, the right one --------------------------


def impute(readings: Readings) -> "Iterator[pd.DataFrame]":
    """Each place in turn wins, then the usual winner, the right answer, and a wrong one."""
    calls, read = split(readings.frame)
    wins: defaultdict[Any, Counter[str]] = defaultdict(Counter)
    for call in read:
        if (winner := chosen(call["value"], call["order"])) is not None:
            wins[_list(call)][winner] += 1
    lists = [(call["order"], wins[_list(call)], golds_shown(call)) for call in calls]
    # Shorter lists give their last place.
    for place in range(max(len(order) for order, _, _ in lists)):
        yield _won(readings, [order[min(place, len(order) - 1)] for order, _, _ in lists])
    yield _won(readings, [_likeliest(order, seen) for order, seen, _ in lists])
    if any(golds for _, _, golds in lists):
        for right in (True, False):
            yield _won(
                readings,
                [
                    _likeliest([one for one in order if (one in golds) == right] or order, seen)
                    for order, seen, golds in lists
                ],
            )


def _won(readings: Readings, winners: Sequence[str]) -> "pd.DataFrame":
    """The table with these winners of its lost calls."""
    frame = readings.frame
    orders = frame.loc[lost(frame), "order"]
    verdicts = [
        {name: {"score": 100.0 * (name == winner), "uncertain": False} for name in order}
        for order, winner in zip(orders, winners, strict=True)
    ]
    return answered(frame, verdicts)


def _list(call: Row) -> tuple[str, str]:
    return call["stimulus"], call["item"]


def _likeliest(among: Sequence[str], wins: Mapping[str, int]) -> str:
    """The candidate that wins the list most often: several lost calls agree on it."""
    return max(sorted(among), key=lambda name: wins.get(name, 0))


# -- a simulated judge -----------------------------------------------------------------------------


POINTS_PER_LOGIT = 10.0
_MIDDLE, _WIN, _LOSE = 50, 90, 10
_CANDIDATE = re.compile(
    r"\[\[(\w+) candidate (\w) begins\]\]\n(.*?)\n\[\[\1 candidate \2 ends\]\]", re.DOTALL
)


def expected_scores(parameters: Parameters, cell: Mapping[str, Any], stimulus: str) -> list[float]:
    """The planted truth: the score of each displayed candidate before noise, rounding and cut.

    The stimulus and the candidate's id decide the shared error.
    """
    order = [str(name) for name in cell["order"]]
    gold = set(cell.get("golds") or [cell.get("gold")])
    gap = parameters.gap * min(parameters.quality, 1.0)
    slots = parameters.position_logits(str(cell["item"]), len(order))
    scores = []
    for name, slot in zip(order, slots, strict=True):
        shared = parameters.normal(parameters.shared, stimulus, name)
        perturbed = parameters.normal(parameters.perturb, stimulus, name, ",".join(order))
        worth = gap if name in gold else 0.0
        scores.append(_MIDDLE + worth + POINTS_PER_LOGIT * slot + shared + perturbed)
    return scores


def simulate(parameters: Parameters, call: Call, known: Known, rng: random.Random) -> str:
    """The reply of a simulated judge."""
    del known  # which answer is right stands in the cell
    scores = _POLICIES[parameters.policy](parameters, call, rng)
    listed = [
        {
            "label": label,
            "score": score,
            "rationale": "As planted.",
            "major_error": False,
            "hallucinated_specificity": False,
            "calibrated_uncertainty": rng.random() < parameters.unsure,
        }
        for label, score in zip(LABELS, scores, strict=False)
    ]
    text = json.dumps({"candidates": listed})
    return text if call.reply == "json" else f"I have compared them all.\n```json\n{text}\n```"


def _by_model(parameters: Parameters, call: Call, rng: random.Random) -> list[int]:
    noise = 0.0 if parameters.greedy else POINTS_PER_LOGIT * parameters.width
    means = expected_scores(parameters, call.cell, call.stimulus)
    return [round(min(100.0, max(0.0, mean + rng.gauss(0, noise)))) for mean in means]


def _by_length(call: Call) -> list[int]:
    shown = _CANDIDATE.findall(call.messages[-1]["content"])
    counts = [word_count(body) for _, _, body in shown]
    return [round(100 * count / max(counts)) for count in counts]


def _by_hash(call: Call) -> list[int]:
    """Scores by a hash of the prompt, which changes with the order."""
    text = call.messages[-1]["content"]
    return [hashed(f"{place}{text}") % 101 for place in range(_n(call))]


def _n(call: Call) -> int:
    return len(call.cell["order"])


# How to score a list.
_POLICIES: Mapping[str, Callable[[Parameters, Call, random.Random], list[int]]] = {
    "model": _by_model,
    "hash": lambda _, call, __: _by_hash(call),
    "slot1": lambda _, call, __: [_WIN, *[_LOSE] * (_n(call) - 1)],
    "ties": lambda _, call, __: [_MIDDLE] * _n(call),
    "longer": lambda _, call, __: _by_length(call),
    "coin": lambda _, call, rng: [rng.randint(0, 100) for _ in range(_n(call))],
}
