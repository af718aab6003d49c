"""The replies of candidate_order: read, taken for lost ones, and given by a simulated judge.

How far a lost call can move a figure is shown by each slot in turn and a tie. If the pair was read
in the other order, the call may have chosen the same slot (a preference for the place) or the same
response (no preference for it); where one response is better, that one or the other.

A simulated judge that compares two responses leans towards slot 1 (`axis.comparison`) by

    x = slot + sensitivity * (better in slot 1: delta, in slot 2: -delta) + surface * e_pair
        + filler * (padded copy in slot 1: 1, in slot 2: -1)

with a tie threshold of `tie` (+ `strict` under the strict prompt). `e_pair` is normal, fixed for a
pair of responses, and changes sign when they are swapped. It takes delta and the better response
from the cell of the call, which a real judge never sees.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgesheet.axis import Readings
from judgesheet.axis.comparison import Imputer, chances, imputations, lapses, simulated
from judgesheet.axis.items import codes
from judgesheet.axis.losses import Row
from judgesheet.axis.simulation import Known, Parameters
from judgesheet.base.records import Call, ReplyFormat
from judgesheet.reading import OFF_SCALE, Reading
from judgesheet.reading.objects import within
from judgesheet.reading.verdicts import recorded, under_key
from judgesheet.stats.pairwise import FIRST, INVALID, SECOND, TIE

if TYPE_CHECKING:
    import pandas as pd

# -- reading: one verdict, or none -----------------------------------------------------------------


CODES: Mapping[str, int] = {
    "1": FIRST,
    "2": SECOND,
    "tie": TIE,
    "abstain": TIE,
    "invalid": INVALID,
}
"""What a verdict may be; an abstention is no preference, `invalid` exists only in recordings."""

_SPELLED = re.compile(
    r"""(?:winner:\s|it['’]s\s)? (?:the\s|a\s)? (?:(?:response|answer|candidate)[\s_-]?)? \#?
    (?: (?P<first>1(?:\.0|st)?|one|first) | (?P<second>2(?:\.0|nd)?|two|second)
      | (?P<tie>tie|draw|equal) | (?P<abstain>abstain) )
    (?:\s(?:response|answer|one))? (?:\s(?:is|wins)\b(?:\s(?:the\s)?(?:better|winner))?)?
    (?:\s*\([^()]*\))?""",
    re.VERBOSE,
)
_VERDICTS = {"first": "1", "second": "2", "tie": "tie", "abstain": "abstain"}
_MARKS = " \t\n*_`\"'.,;:#[]{}<>"


def reading(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> Reading:  # noqa: ARG001
    """`1`, `2`, `tie` or `abstain`.

    A recorded verdict may also be `invalid`: an answer outside the allowed ones.
    """
    if reply == "recorded":
        verdict = _recorded(recorded(text))
        return Reading(verdict) if verdict in CODES else OFF_SCALE
    return under_key(text, "winner", lambda winner: within(winner, _verdict))


def chosen(verdict: str, order: Sequence[str]) -> str | None:
    """Which of the two responses a verdict favours; None for a tie."""
    return {"1": order[0], "2": order[1]}.get(verdict)


def points_by_place(verdict: str, order: Sequence[str]) -> list[float]:  # noqa: ARG001
    """What a verdict gives to each of the responses, in displayed order."""
    return [float(verdict == "1"), float(verdict == "2")]


def _verdict(value: object) -> str | None:
    """A verdict as replies spell it: 1, "1", "Response 1", "first"."""
    # `true` is 1 to Python, and says nothing about a slot.
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    spelled = _SPELLED.fullmatch(str(value).casefold().strip(_MARKS))
    if spelled is None:
        return None
    return next(verdict for name, verdict in _VERDICTS.items() if spelled[name])


def _recorded(value: object) -> str | None:
    """A recorded verdict as text: 1 and "1" are the same, capitals and blanks do not matter."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value)
    return value.strip().lower() if isinstance(value, str) else None


# -- lost calls: for a slot, a response, a tie, the better response --------------------------------


_SLOTS = ("1", "2")
_OPPONENT: Mapping[Any, str] = {"u": "v", "v": "u"}
_PAIR = ("stimulus", "pair", "condition", "prompt", "listing")
_DESIGN = ("condition", "prompt", "listing")
ABSENT = "absent"
"""The outcome of a call that a log does not hold."""


def _always(verdict: str) -> Imputer:
    return lambda _call, _other: verdict


def _same_slot(_call: Row, other: str | None) -> str:
    """The slot of the other order; where that was a tie, a decision."""
    return other if other in _SLOTS else "1"


def _same_response(call: Row, other: str | None) -> str:
    """The response of the other order, or a tie like it; u where neither order was read."""
    if other in _SLOTS:
        return "2" if other == "1" else "1"
    return other or _of("u", call)


def _of_quality(*, better: bool) -> Imputer:
    """The better response where one is (of padded ones the one without), or the other one."""

    def answer(call: Row, other: str | None) -> str:
        known = "u" if call["condition"] == "filler" else str(call.get("better"))
        if known not in _OPPONENT:
            return _same_response(call, other)
        return _of(known if better else _OPPONENT[known], call)

    return answer


def _of(response: str, call: Row) -> str:
    return _SLOTS[list(call["order"]).index(response)]


ANSWERS: tuple[Imputer, ...] = (
    *map(_always, (*_SLOTS, "tie")),
    *(_same_slot, _same_response),
    *(_of_quality(better=better) for better in (True, False)),
)
"""Each slot, neither, the slot or the response of the other order, quality and its opposite."""


def impute(readings: Readings) -> "Iterator[pd.DataFrame]":
    """The table with its lost calls answered in each way of `ANSWERS`."""
    return imputations(readings, ANSWERS, lambda call: tuple(str(call.get(of)) for of in _PAIR))


def complete(frame: "pd.DataFrame") -> "pd.DataFrame":
    """The table with a lost call for the other order of each pair that a log has in one only.

    Only where the log has other pairs of the same kind in both: which pairs lack an order may
    depend on the verdicts. A log of single orders throughout lacks nothing of its own design, and
    calls that a run has not made yet are in its plan.
    """
    import pandas as pd

    if not (frame["reply"] == "recorded").all():
        return frame
    first = frame["order"].str[0]
    pair, kind = (
        codes(frame[[name for name in names if name in frame]])
        for names in ((*_PAIR, "repeat"), _DESIGN)
    )
    # By the first response shown: 2 where a pair was logged in both orders.
    twice = first.groupby(pair).transform("nunique") > 1
    alone = ~twice & twice.groupby(kind).transform("any")
    other = frame[alone].assign(outcome=ABSENT, order=frame.loc[alone, "order"].str[::-1])
    other["value"] = pd.Series(None, index=other.index, dtype=object)
    return pd.concat([frame, other], ignore_index=True) if len(other) else frame


# -- a simulated judge -----------------------------------------------------------------------------


def verdict_probabilities(
    parameters: Parameters, cell: Mapping[str, Any], stimulus: str
) -> dict[str, float]:
    """The planted truth of `policy=model`: the probability of `1`, `2` and `tie` in a cell.

    The stimulus and the cell's pair decide the reaction to surface.
    """
    if cell["condition"] == "vacuum":
        return lapses(parameters)
    leaning, limit = _leaning(parameters, cell, stimulus), parameters.tie
    if cell.get("prompt") == "strict":
        limit += parameters.strict
    return chances(leaning, limit)


def _leaning(parameters: Parameters, cell: Mapping[str, Any], stimulus: str) -> float:
    """Logits towards slot 1."""
    shown_first = cell["order"][0]
    surface = parameters.normal(parameters.surface, stimulus, cell["pair"])
    left = parameters.keyed if cell.get("keyed") else 1.0
    leaning = left * parameters.slot + (surface if shown_first == "u" else -surface)
    if cell.get("better"):
        delta = 1.0 if cell.get("delta") is None else float(cell["delta"])
        side = 1 if cell["better"] == shown_first else -1
        leaning += parameters.sensitivity * delta * side
    if cell["condition"] == "filler":  # v is the padded copy
        leaning += parameters.filler * (1 if shown_first == "v" else -1)
    return leaning


def simulate(parameters: Parameters, call: Call, known: Known, rng: random.Random) -> str:
    """The reply of a simulated judge."""
    del known  # what a comparison may know stands in its cell
    if call.cell.get("keyed") == "solve":
        return f"My own answer to {call.stimulus}, as planted."
    return simulated(parameters, call, rng, verdict_probabilities)
