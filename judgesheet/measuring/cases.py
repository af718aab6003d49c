"""The calls of a run, with their prompts and replies, and which of them a figure reads."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import compress
from typing import TYPE_CHECKING, Any, get_args

from judgesheet.axes import all_axes, get_axis
from judgesheet.axis import Readings
from judgesheet.base.digits import counted
from judgesheet.base.errors import UsageError
from judgesheet.base.keys import Key
from judgesheet.base.records import Outcome, ShownCall
from judgesheet.base.sanitize import brief
from judgesheet.base.scale import in_numbers

if TYPE_CHECKING:
    from judgesheet.ledger.ledger import Ledger

LOST = "lost"
OUTCOMES = (*get_args(Outcome), "not asked", LOST)
"""Stands for every outcome of a call that was made and gave no verdict."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which calls are wanted; None for all. `outcome` may be `LOST`."""

    axis: str | None = None
    stimulus: str | None = None
    cell: Mapping[str, str] = field(default_factory=dict)
    outcome: str | None = None
    verdict: str | None = None

    def keep(self, shown: ShownCall) -> bool:
        """Whether a call is wanted."""
        call = shown.call
        return (
            self.axis in (None, call.axis)
            and self.stimulus in (None, call.stimulus)
            and all(_is(call.cell.get(name), value) for name, value in self.cell.items())
            and (self.outcome in (None, shown.ended) or (self.outcome == LOST and shown.is_lost))
            and (self.verdict is None or _is(shown.verdict, self.verdict))
        )

    def check(self, readings: Mapping[str, Readings]) -> None:
        """UsageError for an outcome, or an axis, stimulus or name in a cell, that the run lacks."""
        if self.outcome is not None and self.outcome not in OUTCOMES:
            raise UsageError(f"--outcome {brief(self.outcome)}: there are {', '.join(OUTCOMES)}")
        if self.axis is not None:
            require_asked(self.axis, readings)
        mine = [one.every for name, one in readings.items() if self.axis in (None, name)]
        for name in self.cell:
            if not any(name in frame for frame in mine):
                raise UsageError(f"no cell of {', '.join(readings)} has {name!r}")
        stimuli = {str(name) for frame in mine for name in frame["stimulus"]}
        if self.stimulus is not None and self.stimulus not in stimuli:
            likely = get_close_matches(self.stimulus, stimuli, n=3) or sorted(stimuli)[:3]
            have = counted(len(stimuli), "stimulus", "stimuli")
            raise UsageError(
                f"no call is about {self.stimulus!r}; the run has {have}, such as "
                f"{', '.join(likely)}"
            )


def _is(value: Any, written: str) -> bool:
    """Whether a user means this value: in JSON, as a word, or a list with commas or spaces."""
    listed = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    try:
        return listed in (written, written.replace(" ", ",")) or json.loads(written) == value
    except (ValueError, RecursionError):
        return False


def require_asked(axis: str, readings: Mapping[str, Readings]) -> None:
    """UsageError if the run did not ask about the axis."""
    if axis not in readings:
        raise UsageError(f"the run has no calls of {axis}; it asked about {', '.join(readings)}")


def known(text: str) -> Key:
    """The key of a figure that an axis has; UsageError if it is none, or another is written."""
    key = Key.parse(text)
    if str(key) != text:
        raise UsageError(
            f"{text!r} is read as {key}; write each dimension once, as in axis.name[dim=value]"
        )
    if key.name not in get_axis(key.axis).ESTIMATES:
        raise UsageError(f"{text!r} names no figure; `judgesheet explain` lists them all")
    return key


def read_by(ledger: "Ledger", keys: Iterable[Key]) -> dict[str, list[str]]:
    """The ids of the calls that each of these figures reads, in plan order, by its key."""
    ids, cells = defaultdict(list), defaultdict(list)
    for call_id, axis, _, cell, repeat in ledger.cells():
        ids[axis].append(call_id)
        cells[axis].append({**json.loads(cell), "repeat": repeat})
    return {
        str(key): [*compress(ids[key.axis], all_axes()[key.axis].reads(key, cells[key.axis]))]
        for key in keys
    }


def shown_calls(ledger: "Ledger", readings: Mapping[str, Readings]) -> Iterator[ShownCall]:
    """Every call of these axes and what came of it, in plan order."""
    answers = {row[0]: row[1:] for one in readings.values() for row in _answers(one)}
    for call in ledger.calls():
        if call.id in answers:
            outcome, text, verdict, reason = answers[call.id]
            yield ShownCall(call, outcome, text, in_numbers(verdict, call.cell), reason)


def _answers(readings: Readings) -> Iterator[tuple[str, str, str, Any, str]]:
    """Call, outcome, text, reading and reason of each call; "" where there is none."""
    if readings.texts is None:
        raise ValueError("these readings do not hold the replies")
    frame = readings.every
    texts = readings.texts.reindex(frame["call_id"])
    columns = (frame["call_id"], frame["outcome"], texts, frame["value"], frame["shape"])
    for call, outcome, text, value, reason in zip(*columns, strict=True):
        yield call, _or_empty(outcome), _or_empty(text), value, _or_empty(reason)


def _or_empty(text: Any) -> str:
    """A text; "" for one that is missing."""
    return text if isinstance(text, str) else ""
