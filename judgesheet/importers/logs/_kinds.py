"""The fields that a map of a log can name, and the kinds of verdicts that these say it holds.

Which axis a kind is for follows from its cell: it is the axis that finds no fault in it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judgesheet.axes import all_axes
from judgesheet.base.errors import UsageError

FIELDS: Mapping[str, str] = {
    "verdict": "what the judge said: a score, or which of two won (a slot, or a name); a list of "
    "them is several readings",
    "again": "what it said of the same two in the other order, if a row holds both",
    "verdict.NAME": "the score for the criterion NAME, if one reply scores several",
    "verdict.first": "of a pair with a score for each: that of `first`",
    "verdict.second": "that of `second`; the higher one wins, equal is a tie",
    "candidates": "the scores of a list: an object with a score per candidate",
    "first": "name of the response of a pair that was shown first",
    "second": "name of the response shown second",
    "swapped": "whether the two were shown in swapped order: true, yes, 1 or BA",
    "stimulus": "the question: the unit of resampling",
    "stimulus_text": "its text, without the instructions around it; near copies count as one",
    "group": "what several questions share, so that they count as one: a customer",
    "item": "the graded response",
    "order": "what was displayed, in order: scores, criteria or candidates",
    "repeat": "anything that tells readings of the same thing apart",
    "human": "human rating of the response, or a list of ratings",
    "human.NAME": "the same for the criterion NAME",
    "better": "which of a pair is known to be better (a slot, or a name)",
    "gold": "the candidate that is known to be best",
    "judge": "who judged; one sheet is about one judge",
    "metric": "the quality judged; one sheet is about one",
    "by": "who gave the verdict, the judge or a person",
    "scale": "the scale of this row's scores, as --scale has it",
}
"""What a map can name, and what it holds."""
OF_STIMULUS = ("group", "stimulus_text")
"""Fields about a question itself, which stand beside its judgments."""
_SHARED = ("stimulus", *OF_STIMULUS, "repeat", "judge", "metric", "by")
"""Fields that are read of every kind."""
PAIR_OF_SCORES = ("verdict.first", "verdict.second")
"""What says who won where each of two responses has a score."""
SWAPPED: Mapping[str, bool] = {
    **dict.fromkeys(("true", "yes", "1", "ba"), True),
    **dict.fromkeys(("false", "no", "0", "ab"), False),
}


class MissingFieldError(UsageError):
    """A map lacks a field that its kind of verdicts needs."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of verdicts.

    `cell` is one such as the axis for it has, `fields` are read beside the shared ones. `truth` is
    the field that says what a good judge would have said, `needs` what a figure could follow from.
    """

    cell: Mapping[str, Any]
    fields: tuple[str, ...]
    truth: str
    needs: str


_OF_SCORES = (
    ("item", "verdict", "order", "scale", "human"),
    "human",
    "human ratings (human), a second reading (repeat) or other orders (order)",
)
KINDS: Mapping[str, Kind] = {
    "list": Kind(
        {"item": "i", "arm": "direct", "order": ["a", "b"]},
        ("candidates", "order", "gold"),
        "gold",
        "a second order, a second reading (repeat) or the known best one (gold)",
    ),
    "pair": Kind(
        {"condition": "natural", "pair": "a / b", "order": ["u", "v"]},
        ("first", "second", "swapped", "verdict", "again", "better"),
        "better",
        "the other order of a pair, a second reading (repeat) or the known better one (better)",
    ),
    "criteria": Kind({"item": "i", "arm": "fixed", "scale": 2, "order": ["a", "b"]}, *_OF_SCORES),
    "score": Kind({"item": "i", "arm": "fixed", "scale": 2, "order": [1, 2]}, *_OF_SCORES),
}
TRUTHS = frozenset(kind.truth for kind in KINDS.values())


def is_field(name: str) -> bool:
    """Whether a map can name it; what else a map names is a word of the log."""
    return name in FIELDS or name.startswith(("human.", "verdict."))


def kind_of(columns: Mapping[str, str]) -> str:
    """The kind of verdicts that a map is about; UsageError if it is about none, or about two."""
    kind = _kind_named_by(columns)
    for name in columns:
        if name.partition(".")[0] not in (*_SHARED, *KINDS[kind].fields):
            raise UsageError(
                f"--map {name}=…: this field does not apply to verdicts of this kind ({kind}), "
                f"which have {', '.join(KINDS[kind].fields)}; {_instead(name, kind)}"
            )
    return kind


def _instead(name: str, kind: str) -> str:
    """What helps whoever maps a field that verdicts of this kind do not have."""
    hints = []
    if name.partition(".")[0] in TRUTHS:
        truth = KINDS[kind].truth
        hints.append(f"for the right answer use the field {truth}: {FIELDS[truth]}")
    if kind != "pair" and name in KINDS["pair"].fields:
        hints.append(
            "of a pair the map names two more columns, first and second, which hold the names of "
            "the two responses: add them to the file if it has none"
        )
    return "; ".join(hints) or f"all kinds have {', '.join(_SHARED)}"


def _kind_named_by(columns: Mapping[str, str]) -> str:
    if {"first", "second"} & columns.keys():
        scored = {"verdict.first", "verdict.second"} & columns.keys()
        _require(columns, "first", "second", *(PAIR_OF_SCORES if scored else ("verdict",)))
        return "pair"
    if "candidates" in columns:
        _require(columns, "stimulus", "order")
        return "list"
    _require(columns, *(() if "stimulus" in columns else ("item",)))
    if any(name.startswith("verdict.") for name in columns):
        return "criteria"
    _require(columns, "verdict")
    return "score"


def _require(columns: Mapping[str, str], *needed: str) -> None:
    for name in needed:
        if name not in columns:
            raise MissingFieldError(
                f"say which column holds the field {name} ({FIELDS[name]}): --map {name}=COLUMN"
            )


def axis_of(kind: str) -> str:
    """The axis that takes verdicts of this kind."""
    for name, axis in all_axes().items():
        if axis.fault(KINDS[kind].cell) is None:
            return name
    raise UsageError(f"no axis takes verdicts of this kind ({kind})")
