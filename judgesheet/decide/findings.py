"""The findings of a sheet in the order in which a reader must see them.

First what the judge must not be used for, then failed controls, problems, what rests on a figure
that decides, what is not known, what is good, and the rest; what rests on figures that must not be
used comes last. Of several axes the one that decides most goes first.
"""

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from judgesheet.base.keys import Key
from judgesheet.base.records import AxisResult, Control, Datasheet, Recommendation, Statement
from judgesheet.base.sanitize import capital
from judgesheet.decide.controls import failed
from judgesheet.decide.effects import statements
from judgesheet.decide.gate import weight

STOP, CONTROL, PROBLEM, DECIDES, UNKNOWN, GOOD, NOTE, VOID = range(8)
"""Kinds of findings, the first to be seen first."""
_KINDS = {"bad": PROBLEM, "unknown": UNKNOWN, "good": GOOD, "neutral": NOTE}


def with_findings(sheet: Datasheet) -> Datasheet:
    """The sheet with a finding for each failed control, and a rank on every finding.

    What findings and advice rest on and must not be used makes them void.
    """
    by_name = {axis.name: axis for axis in sheet.axes}
    broken = {one.key for one in sheet.verdicts if one.status == "fail"}
    axes = [replace(axis, findings=tuple(_every(axis, broken))) for axis in sheet.axes]
    deciding = [one for one in sorted(sheet.verdicts, key=weight) if one.status != "pass"]
    first = [*dict.fromkeys(Key.parse(one.key).axis for one in deciding)]
    order = {
        axis.name: first.index(axis.name) if axis.name in first else len(first) for axis in axes
    }
    keys = {one.key for one in deciding}
    places = {place: rank for rank, place in enumerate(_ranked(axes, order, keys), 1)}
    advice = (
        replace(one, void=_advice_void(by_name.get(one.axis), one)) for one in sheet.recommendations
    )
    return replace(
        sheet,
        recommendations=tuple(
            sorted(advice, key=lambda one: (not one.stops, order.get(one.axis, len(first))))
        ),
        axes=tuple(
            replace(
                axis,
                findings=tuple(
                    replace(finding, rank=places[at, number])
                    for number, finding in enumerate(axis.findings)
                ),
            )
            for at, axis in enumerate(axes)
        ),
    )


def kind(finding: Statement) -> int:
    """What a finding is to a reader who decides: one of `STOP` to `VOID`."""
    if finding.control:
        return CONTROL
    if finding.void:
        return VOID
    return STOP if finding.stops else _KINDS[finding.tone]


def _void(axis: AxisResult, evidence: Sequence[str], merits: Container[str] = ()) -> str:
    """Why a sentence does not hold: its figures say nothing, or are `merits` that were not earned.

    Merits are figures that a sentence shows without a fault in them.
    """
    reasons = [reason for key in evidence if (reason := axis.silent_reason(key))]
    reasons += [axis.unearned[key] for key in evidence if key in axis.unearned and key in merits]
    return axis.invalid or next(iter(reasons), "")


def _advice_void(axis: AxisResult | None, advice: Recommendation) -> str:
    """Why an advice does not hold; that nothing more needs to be done is praise."""
    if axis is None:
        return ""
    return _void(axis, advice.evidence, () if advice.binding else advice.evidence)


def _every(axis: AxisResult, broken: Collection[str]) -> Iterator[Statement]:
    # Of an axis without a call the control says all there is.
    told = (one for one in axis.findings if not (one.control or one.of_effect))
    own = [*statements(axis.effects), *told] if axis.made else []
    accused = {key for finding in own if finding.tone == "bad" for key in finding.evidence}
    for control in failed(axis):
        # What the judge did is mostly told by the axis itself, with its number.
        if control.of == "run" or not accused & {*control.evidence}:
            yield _of_control(control)
    for finding in own:
        merits = _merits(finding, accused | {*broken})
        void = finding.void if finding.of_effect else _void(axis, finding.evidence, merits)
        yield replace(finding, void=void)


def _merits(finding: Statement, faults: Collection[str]) -> Collection[str]:
    """The figures of a finding that a reader takes for well: of a note those without `faults`."""
    if finding.tone == "good":
        return finding.evidence
    return {*finding.evidence}.difference(faults) if finding.tone == "neutral" else ()


def _of_control(control: Control) -> Statement:
    whose = "" if control.of == "run" else f"the control “{control.name}” failed. "
    sentence = f"{whose}{control.text}"
    mend = f" Remedy: {control.mend}." if control.mend else ""
    text = f"{capital(sentence).rstrip('.')}.{mend}"
    return Statement(text, control.evidence, "bad", control=control.code or control.name)


def _ranked(
    axes: Sequence[AxisResult], order: Mapping[str, int], deciding: set[str]
) -> Iterator[tuple[int, int]]:
    """(place of the axis, place of the finding) of every finding, the first to be seen first."""
    by_kind: dict[int, list[list[tuple[int, int]]]] = {}
    for at, axis in sorted(enumerate(axes), key=lambda placed: order[placed[1].name]):
        mine: dict[int, list[tuple[bool, int]]] = {}
        for number, finding in enumerate(axis.findings):
            which, free = kind(finding), not deciding & {*finding.evidence}
            if UNKNOWN <= which < VOID and not free:
                which = DECIDES
            # What decides comes first among its like.
            mine.setdefault(which, []).append((free, number))
        for which, found in mine.items():
            by_kind.setdefault(which, []).append([(at, number) for _, number in sorted(found)])
    for which in sorted(by_kind):
        # Every axis in turn, so that no axis hides the others.
        turns = zip_longest(*by_kind[which])
        yield from (place for place in chain.from_iterable(turns) if place is not None)
