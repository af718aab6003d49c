"""Verdicts that lost calls could have given: for a slot, a response, a tie, the better response.

The extremes show how far a lost call can move a figure. If the pair was read in the other order,
the call may have chosen the same slot (a preference for the place), the same response (no
preference for it), or whatever makes the pair count as half decided.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from judgesheet.axes.candidate_order._design import STRICT, SWAPPED
from judgesheet.axis import Imputation, Readings
from judgesheet.axis.losses import Call, answered, codes, split

if TYPE_CHECKING:
    import pandas as pd

Answer = Callable[[Call, str | None], str]
"""What a lost call says, from its cell and the verdict on the pair in the other order."""

TIE = "tie"
_SLOTS = ("1", "2")
_WORSE: Mapping[Any, str] = {"u": "v", "v": "u"}
_PAIR = ("stimulus", "pair", "condition", "prompt", "listing")
_DESIGN = ("condition", "prompt", "listing")
ABSENT = "absent"
"""The outcome of a call that a log does not hold."""


def _slot(first: str, second: str) -> Answer:
    """One slot, the other one where the prompt lists the answers in another order."""
    return lambda call, _other: first if call.get("listing") != SWAPPED else second


def _tie(_call: Call, _other: str | None) -> str:
    return TIE


def _same_slot(_call: Call, other: str | None) -> str:
    """The slot of the other order; where that was a tie, a decision."""
    return other if other in _SLOTS else "1"


def _same_response(call: Call, other: str | None) -> str:
    """The response of the other order, or a tie like it; u where neither order was read."""
    if other in _SLOTS:
        return "2" if other == "1" else "1"
    return TIE if other else _of("u", call)


def _half(call: Call, other: str | None) -> str:
    """A decision beside a tie, a tie beside a decision."""
    if other is None:
        return "1" if call["order"][0] == "u" else TIE
    return TIE if other in _SLOTS else "1"


def _better(call: Call, other: str | None) -> str:
    """The better response where one is; the padded one; else half a decision."""
    if call["condition"] == "filler":
        return _of("v", call)
    return _of(call["better"], call) if call.get("better") in _WORSE else _half(call, other)


def _worse(call: Call, other: str | None) -> str:
    """The worse response where one is; the one without padding; else the same response."""
    if call["condition"] == "filler":
        return _of("u", call)
    worse = _WORSE.get(call.get("better"))
    return _of(worse, call) if worse else _same_response(call, other)


def _ties_if_strict(call: Call, other: str | None) -> str:
    return TIE if call.get("prompt") == STRICT else _same_slot(call, other)


def _ties_if_usual(call: Call, other: str | None) -> str:
    return _same_slot(call, other) if call.get("prompt") == STRICT else TIE


def _of(response: str, call: Call) -> str:
    return _SLOTS[list(call["order"]).index(response)]


ANSWERS: tuple[Answer, ...] = (
    *(_slot("1", "2"), _slot("2", "1"), _tie, _same_slot, _same_response, _half),
    *(_better, _worse, _ties_if_strict, _ties_if_usual),
)


def impute(readings: Readings) -> Iterator[Imputation]:
    """Every extreme of `ANSWERS`."""
    frame = readings.frame
    calls, read = split(frame)
    verdicts = {_place(call): str(call["value"]) for call in read}
    others = [verdicts.get(_place(call, turned=True)) for call in calls]
    for answer in ANSWERS:
        values = [answer(call, other) for call, other in zip(calls, others, strict=True)]
        yield Imputation(answered(frame, values))


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


def _place(call: Call, *, turned: bool = False) -> tuple[Any, ...]:
    """The pair, the repeat, and which response stands first (with `turned`: second)."""
    pair = (str(call.get(name)) for name in _PAIR)
    return (*pair, call["repeat"], call["order"][1 if turned else 0])
