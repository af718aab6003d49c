"""The reply of listwise_consensus: what is asked for, and how it is read.

Every displayed candidate once, or nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from judgesheet.axis.prompt import object_schema
from judgesheet.axis.reply import displayed, json_answers, one_reading, recorded
from judgesheet.records import ReplyFormat

LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
RATIONALE = 120
"""Characters of a rationale under constrained decoding: enough for a reason, and cheap."""
FLAGS = ("major_error", "hallucinated_specificity", "calibrated_uncertainty")

Verdict = dict[str, dict[str, Any]]
"""Candidate id -> `score` (0 to 100) and `uncertain`, in displayed order."""

_ANSWER = re.compile(r'(?<!\\)"candidates"\s*:')
_Score = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]


class _Rated(BaseModel):
    """What a reply says of one candidate; the rationale is not read."""

    model_config = ConfigDict(strict=True)

    label: str
    score: _Score
    major_error: bool
    hallucinated_specificity: bool
    calibrated_uncertainty: bool


class _Recorded(BaseModel):
    """What a recorded verdict says of one candidate."""

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


def parse(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> Verdict | None:
    """Score and mark of every candidate by its id; None if the reply does not say exactly one.

    Whatever looks like the beginning of an answer must be one, and all must agree: a judge that
    quotes an answer from a candidate, or breaks off in its own, has not been understood.
    """
    if reply == "recorded":
        return _recorded(text, cell["order"])
    answers = json_answers(text, "candidates")
    if answers is None or len(answers) != len(_ANSWER.findall(text)):
        return None
    return one_reading([_answer(answer, cell["order"]) for answer in answers])


def parts(cell: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """What the user's own parser may call each displayed candidate."""
    return displayed(cell["order"])


def chosen(verdict: Verdict, order: Sequence[str]) -> str | None:
    """The candidate that scores highest; None where several do."""
    best = max(verdict[name]["score"] for name in order)
    top = [name for name in order if verdict[name]["score"] == best]
    return top[0] if len(top) == 1 else None


def _answer(listed: Any, order: Sequence[str]) -> Verdict | None:
    """One answer, by displayed label."""
    try:
        by_label = {rated.label: rated for rated in _RATED.validate_python(listed)}
    except ValidationError:
        return None
    if len(listed) != len(order) or set(by_label) != set(LABELS[: len(order)]):
        return None
    rated = zip(order, (by_label[label] for label in LABELS), strict=False)
    return {
        name: {"score": one.score, "uncertain": one.calibrated_uncertainty} for name, one in rated
    }


def _recorded(text: str, order: Sequence[str]) -> Verdict | None:
    """A verdict that was taken elsewhere, by candidate id."""
    try:
        rated = _RECORDED.validate_python(recorded(text))
    except ValidationError:
        return None
    return {name: rated[name].model_dump() for name in order} if set(rated) == set(order) else None
