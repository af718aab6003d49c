"""Under which conditions a judge is adopted whose limits are proven."""

from collections.abc import Collection, Iterable, Iterator

from judgesheet.base.digits import percent
from judgesheet.base.keys import Key
from judgesheet.base.records import AxisResult, Datasheet, Verdict
from judgesheet.decide.controls import EVERY, READ

MANY_LOST = 0.05
"""A share of calls without a verdict from which a judge is adopted under that condition only."""
Condition = tuple[str, tuple[str, ...]]


def of(sheet: Datasheet) -> Iterator[Condition]:
    """The conditions of an adoption, each with the keys behind it.

    - the sheet advises against a use of an axis that the policy judges by warnings only;
    - a limit that only warns is not proven, or void;
    - a limit is kept by a figure that holds after a mitigation: the mitigation;
    - nobody can tell whether a control is passed that a limit rests on;
    - calls gave no verdict, and no bound allows for what they could have said;
    - a binding recommendation for an axis that the policy judges by more than warnings.
    """
    judged = judged_axes(sheet)
    limited = {Key.parse(verdict.key).axis for verdict in sheet.verdicts}
    yield from stops(sheet, limited - judged)
    yield from _unproven(sheet.verdicts)
    kept = {verdict.key for verdict in sheet.verdicts if verdict.status == "proven"}
    for axis in sheet.axes:
        for remedy in axis.mitigations:
            if remedy.after in kept and remedy.before not in kept:
                yield f"{remedy.action}: {remedy.calls} calls a judgment", (remedy.after,)
        if axis.name in judged:
            yield from _untold(axis, {Key.parse(key).name for key in kept})
            yield from _lost(axis)
    for advice in sheet.recommendations:
        if advice.binding and not advice.void and advice.axis in judged:
            yield advice.text, advice.evidence


def stops(sheet: Datasheet, axes: Collection[str]) -> Iterator[Condition]:
    """What the judge must not be used for, on these axes, each with the keys behind it.

    The advice first, as it says what not to do; a finding only where no advice rests on the same.
    """
    advised = set()
    for advice in sheet.recommendations:
        if advice.stops and not advice.void and advice.axis in axes:
            advised |= {*advice.evidence}
            yield advice.text, advice.evidence
    for axis in sheet.axes:
        if axis.name in axes:
            for finding in axis.findings:
                if finding.stops and not finding.void and not advised & {*finding.evidence}:
                    yield finding.text, finding.evidence


def judged_axes(sheet: Datasheet) -> set[str]:
    """The axes with a limit that must be proven."""
    return {Key.parse(verdict.key).axis for verdict in sheet.verdicts if not verdict.warns}


def _unproven(verdicts: Iterable[Verdict]) -> Iterator[Condition]:
    """The limits that are not proven; those on one figure with the same outcome are one."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for one in verdicts:
        if one.status != "proven":
            key = Key.parse(one.key)
            figure = f"{key.axis}.{key.name}"
            alike.setdefault((figure, one.rule, one.status, one.why), []).append(one.key)
    for (figure, rule, status, why), keys in alike.items():
        yield f"{figure} {rule} is {status} ({why})", tuple(keys)


def _untold(axis: AxisResult, names: set[str]) -> Iterator[Condition]:
    """Controls of which nobody can tell how they came out, and that limited figures rest on."""
    for control in axis.controls:
        touched = EVERY in control.touches or names & {*control.touches}
        if control.passed is None and control.code != READ and touched:
            yield (
                f"the control “{control.name}” could not be told: {control.text}",
                control.evidence,
            )


def _lost(axis: AxisResult) -> Iterator[Condition]:
    """The calls without a verdict, where the bounds do not allow for what they could have said."""
    lost, counted = axis.made - axis.answered, any(one.imputed for one in axis.estimates)
    if axis.made and lost / axis.made > MANY_LOST and not counted:
        told = f"{percent(lost / axis.made)} of the calls of {axis.name} gave no verdict"
        yield f"{told}; the limits are proven of the others only", ()
