"""The replies behind a figure or a finding, the worst first. No call is made."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import pandas as pd

from judgesheet.axes import all_axes, get_axis
from judgesheet.axis import Axis, Readings
from judgesheet.axis.cases import CALLS, CaseFinder
from judgesheet.base.digits import counted
from judgesheet.base.errors import UsageError
from judgesheet.base.estimates import Estimates
from judgesheet.base.keys import Key
from judgesheet.base.records import Case, Casebook, Datasheet, ShownCall
from judgesheet.reading.reasons import REASONS

if TYPE_CHECKING:
    from judgesheet.ledger.ledger import Ledger

LOST, LOST_AS = "loss_rate", "loss_shape"
"""The figures whose cases are the calls without a verdict, and that counts them by shape."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which calls and cases are wanted; None for all.

    `stimulus` and `cell` choose calls; `outcome` and `verdict` cases with a call of this outcome or
    verdict.
    """

    stimulus: str | None = None
    cell: Mapping[str, str] = field(default_factory=dict)
    outcome: str | None = None
    verdict: str | None = None

    def of(self, readings: Readings) -> Readings:
        """The readings of the calls that are wanted."""
        frame = readings.frame
        if self.stimulus is not None:
            # One by one: what a user wrote need not be UTF-8, which a whole column insists on.
            frame = frame[[one == self.stimulus for one in frame["stimulus"]]]
        for name, value in self.cell.items():
            held = frame[name] if name in frame else pd.Series(None, frame.index, dtype=object)
            frame = frame[[_is(one, value) for one in held]]
        return replace(readings, frame=frame.reset_index(drop=True))

    def keep(self, answer: ShownCall) -> bool:
        """Whether a call ended as wanted."""
        ended = self.outcome in (None, answer.ended)
        return ended and (self.verdict is None or _is(answer.verdict, self.verdict))


def _is(value: Any, written: str) -> bool:
    """Whether a user means this value: as JSON, as a plain word, or a list joined by commas."""
    listed = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    try:
        return written == listed or json.loads(written) == value
    except (ValueError, RecursionError):
        return False


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


def chosen_keys(
    readings: Mapping[str, Readings], key: str | None, axis: str | None, stimulus: str | None
) -> list[Key]:
    """The key; without one the calls on the stimulus, or the lost ones, of the axis or of each.

    UsageError if the run did not ask about the axis, or the key is of another one.
    """
    shown = LOST if stimulus is None else CALLS
    keys = [Key(name, shown) for name in readings] if key is None else [known(key)]
    mine = [one for one in keys if axis in (None, one.axis)]
    if not mine or mine[0].axis not in readings:
        raise UsageError(
            f"the run has no {key or 'calls'} of {mine[0].axis if mine else axis}; it asked about "
            f"{', '.join(readings)}"
        )
    return mine


def _no_call(stimulus: str | None, asked: Mapping[str, Readings]) -> str:
    """Why no call is left, with the names of stimuli that are like the one that was asked for."""
    names = {str(name) for one in asked.values() for name in one.frame["stimulus"]}
    if stimulus is None or stimulus in names:
        return "no call was made under these conditions; `--json` without --cell shows all"
    likely = ", ".join(get_close_matches(stimulus, names, n=3) or sorted(names)[:3])
    have = counted(len(names), "stimulus", "stimuli")
    return f"no call is about {stimulus!r}; the run has {have}, such as {likely}"


def casebook(
    ledger: "Ledger",
    readings: Mapping[str, Readings],
    keys: Iterable[Key],
    filters: Filters | None = None,
    *,
    whole: bool = False,
) -> Casebook:
    """The cases behind these figures, with the answers in them (`whole`: every answer)."""
    filters, keys = filters or Filters(), tuple(keys)
    asked = {key.axis: readings[key.axis] for key in keys}
    for name in filters.cell:
        if not any(name in one.frame for one in asked.values()):
            raise UsageError(f"no cell of {', '.join(asked)} has {name!r}")
    wanted = {name: filters.of(one) for name, one in asked.items()}
    if readings and not any(len(one.frame) for one in wanted.values()):
        raise UsageError(_no_call(filters.stimulus, asked))
    behind = {name: CaseFinder(all_axes()[name], one) for name, one in wanted.items()}
    found: dict[str, tuple[Case, ...]] = {}
    none: dict[str, str] = {}
    for key in keys:
        found[str(key)] = behind[key.axis].cases(key)
        none[str(key)] = behind[key.axis].why_none(key)
    named = {call for cases in found.values() for case in cases for call in case.calls}
    ids = None if whole else named
    answers = dict(_answers(ledger, wanted, ids))
    if filters.outcome is not None or filters.verdict is not None:
        good = {name for name, answer in answers.items() if filters.keep(answer)}
        for name, cases in found.items():
            found[name] = tuple(case for case in cases if good.intersection(case.calls))
            if cases:
                none[name] = (
                    f"none of {counted(len(cases), 'case')} behind {name} had this outcome or "
                    "verdict"
                )
    some = {Key.parse(key).axis for key, cases in found.items() if cases and cases[0].group}
    own = {parser["axis"] for parser in ledger.parsers()}
    return Casebook(
        {key: cases for key, cases in found.items() if cases},
        answers,
        {key: none[key] for key, cases in found.items() if not cases},
        {
            name: _groups(all_axes()[name], wanted[name], answers, has_parser=name in own)
            for name in some
        },
    )


def of_sheet(ledger: "Ledger", readings: Mapping[str, Readings], sheet: Datasheet) -> Casebook:
    """The cases behind every figure of a sheet of this run, and every answer."""
    keys = (Key.parse(one.key) for axis in sheet.axes for one in axis.estimates)
    return casebook(ledger, readings, (key for key in keys if key.axis in readings), whole=True)


def _answers(
    ledger: "Ledger", readings: Mapping[str, Readings], ids: Collection[str] | None
) -> Iterator[tuple[str, ShownCall]]:
    """The answers to these calls, in plan order; to all of the axes if `ids` is None."""
    read = {answer[0]: answer for one in readings.values() for answer in _read(one, ids)}
    for call in ledger.calls():
        if call.id in read:
            _, outcome, text, value, shape = read[call.id]
            yield call.id, ShownCall(call, outcome, text, value, shape)


def _read(
    readings: Readings, ids: Collection[str] | None
) -> Iterator[tuple[str, str, str, Any, str]]:
    """Call, outcome, text, reading and shape of these calls; "" where there is none."""
    frame = readings.frame if ids is None else readings.frame[readings.frame["call_id"].isin(ids)]
    if readings.texts is None:
        raise ValueError("these readings do not hold the replies")
    texts = readings.texts.reindex(frame["call_id"])
    columns = (frame["call_id"], frame["outcome"], texts, frame["value"], frame["shape"])
    for call, outcome, text, value, shape in zip(*columns, strict=True):
        yield call, _or_empty(outcome), _or_empty(text), value, _or_empty(shape)


def _or_empty(text: Any) -> str:
    """A text; "" for one that is missing."""
    return text if isinstance(text, str) else ""


# -- calls without a verdict -----------------------------------------------------------------------


def _groups(
    axis: Axis, readings: Readings, answers: Mapping[str, ShownCall], *, has_parser: bool
) -> dict[str, str]:
    """What to know of each shape of lost calls: how many, in which orders, what would read them."""
    by_shape: dict[str, list[ShownCall]] = {}
    for answer in answers.values():
        if answer.call.axis == axis.NAME and answer.shape:
            by_shape.setdefault(answer.shape, []).append(answer)
    only = replace(readings, families=frozenset({LOST_AS}))
    figures = Estimates(axis.NAME, axis.measure(only))
    return {
        code: _told(code, lost, figures, has_parser=has_parser) for code, lost in by_shape.items()
    }


def _told(code: str, lost: list[ShownCall], figures: Estimates, *, has_parser: bool) -> str:
    figure, shape = figures.known(LOST_AS, shape=code), REASONS[code]
    count = figure.conditions if figure is not None else counted(len(lost), "call")
    advice = shape.advice(lost[0].call.reply, has_parser=has_parser)
    return f"{shape.words}: {count}. What helps: {advice}."
