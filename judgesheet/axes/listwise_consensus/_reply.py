"""The reply of listwise_consensus: its format, and how it is read.

Every displayed candidate must appear once, or the reply is unreadable.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from judgesheet.axis.afterwords import is_denied, takes_back
from judgesheet.axis.documents import answers
from judgesheet.axis.numbers import spelled_number, supports
from judgesheet.axis.prompt import object_schema
from judgesheet.axis.reply import Reading, displayed, highest, one_reading, recorded
from judgesheet.base.records import ReplyFormat

LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
RATIONALE = 120
"""Characters of a rationale under constrained decoding: enough for a reason, and cheap."""
FLAGS = ("major_error", "hallucinated_specificity", "calibrated_uncertainty")

Verdict = dict[str, dict[str, Any]]
"""Candidate id -> `score` (0 to 100) and `uncertain`, in displayed order."""

HIGHEST = 100
_LABEL = re.compile(r"(?:candidate[ _]?)?([A-Z])", re.IGNORECASE)


def _label(value: Any) -> Any:
    """A label as replies spell it: "A", "[a]", "Candidate A"."""
    spelled = _LABEL.fullmatch(value.strip(" *_`\"'.[]()")) if isinstance(value, str) else None
    return spelled[1].upper() if spelled else value


def _number(value: Any) -> Any:
    """A score as replies spell it: 80, "80", "80/100"."""
    return spelled_number(value, HIGHEST) if isinstance(value, str) else value


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


def reading(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> Reading | None:
    """Score and mark of every candidate by its id; None if the reply does not say exactly one.

    Whatever looks like the beginning of an answer must be one, and all must agree: a judge that
    quotes an answer from a candidate, or breaks off in its own, has not been understood.
    """
    if reply == "recorded":
        verdict = _recorded(text, cell["order"])
        return Reading(verdict) if verdict else None
    found = answers(text, "candidates")
    if found is None or not supports(found.rest, None, HIGHEST) or is_denied(found.before):
        return None
    if any(map(takes_back, found.reasons(behind=True))):
        return None
    verdict = one_reading([_answer(answer, cell["order"]) for answer in found.values])
    return Reading(verdict, found.alone) if verdict else None


def parts(cell: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """What the user's own parser may call each displayed candidate."""
    return displayed(cell["order"])


def parse(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> Verdict | None:
    """What `reading` finds, without where it stands."""
    found = reading(text, reply, cell)
    return found.value if found else None


def chosen(verdict: Verdict, order: Sequence[str]) -> str | None:
    """The candidate that scores highest; None where several do."""
    return highest({name: rated["score"] for name, rated in verdict.items()}, order)


def gives(verdict: Verdict, order: Sequence[str]) -> list[float]:
    """The scores of the candidates, in displayed order."""
    return [float(verdict[name]["score"]) for name in order]


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
