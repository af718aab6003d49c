"""Under which conditions a judge is adopted whose limits are proven."""

from collections.abc import Collection, Iterator

from judgesheet.base.datasheet import by_key, named
from judgesheet.base.digits import counted
from judgesheet.base.keys import Key
from judgesheet.base.limits import MOST_NAMED
from judgesheet.base.records import AxisResult, Datasheet, Estimate, Verdict
from judgesheet.base.sanitize import listed
from judgesheet.decide.bounded_value import reach
from judgesheet.decide.controls import EVERY, ONE_VERSION, READ, loss_rate

Condition = tuple[str, tuple[str, ...]]


def of(sheet: Datasheet) -> Iterator[Condition]:
    """The conditions of an adoption, each with the keys behind it.

    - the sheet advises against a use of an axis that the policy judges by warnings only;
    - a limit that only warns is not proven, or void;
    - a limit is kept by what holds after a mitigation, and not by what holds before: that
      mitigation;
    - the axes of proven limits were answered by different served models;
    - nobody can tell whether a control is passed that a limit rests on;
    - every call on some stimuli was refused, so that nothing is known of such texts;
    - a binding recommendation for an axis that the policy judges by more than warnings.
    """
    judged = judged_axes(sheet)
    limited = {Key.parse(verdict.key).axis for verdict in sheet.verdicts}
    yield from stops(sheet, limited - judged)
    yield from _unproven(sheet)
    proven = [verdict for verdict in sheet.verdicts if verdict.status == "proven"]
    kept = {verdict.key for verdict in proven}
    if several := several_models(sheet, {Key.parse(key).axis for key in kept}):
        yield f"{ONE_VERSION}: {several}", ()
    found = by_key(sheet)
    for axis in sheet.axes:
        for remedy in axis.mitigations:
            limits = [one for one in proven if one.key == remedy.after]
            if not all(_keeps(found.get(remedy.before), one) for one in limits):
                price = f"{counted(remedy.calls, 'call')} per judgment"
                yield f"{remedy.action}: {price}", (remedy.after,)
        if axis.name in judged:
            yield from _untold(axis, {Key.parse(key).name for key in kept})
            yield from _refused(axis)
    for advice in sheet.recommendations:
        if advice.binding and not advice.void and advice.axis in judged:
            yield advice.text, advice.evidence


def _keeps(estimate: Estimate | None, verdict: Verdict) -> bool:
    """Whether another figure would keep the limit of a verdict too."""
    bounds = None if estimate is None else reach(estimate)
    if bounds is None or verdict.limit is None:
        return False
    is_ceiling = verdict.kind == "max"
    return bounds.high <= verdict.limit if is_ceiling else bounds.low >= verdict.limit


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


def _unproven(sheet: Datasheet) -> Iterator[Condition]:
    """The limits that are not proven; those on one figure with the same outcome are one."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for verdict in sheet.verdicts:
        if verdict.status != "proven":
            key = Key.parse(verdict.key)
            figure = f"{key.axis}.{key.name}"
            alike.setdefault((figure, verdict.rule, verdict.status, verdict.why), []).append(
                verdict.key
            )
    found = by_key(sheet)
    for (_, rule, status, why), keys in alike.items():
        names = listed([named(found, key) for key in keys], MOST_NAMED)
        is_what = "not usable" if status == "void" else status
        yield f"the limit on {names} ({rule}) is {is_what}: {why}", tuple(keys)


def several_models(sheet: Datasheet, axes: Collection[str]) -> str:
    """That no served model was measured on all these axes; "" if one was, or if unknown."""
    models = {one.title: listed([*one.served_models], 1) for one in sheet.axes if one.name in axes}
    served = [f"{model} on {title}" for title, model in models.items() if model]
    alike = len({*models.values()} - {""}) < 2
    return "" if alike else f"no one model was measured on every axis: {'; '.join(served)}"


def _untold(axis: AxisResult, names: set[str]) -> Iterator[Condition]:
    """Controls with an unknown outcome on which limited figures rest."""
    for control in axis.controls:
        touched = EVERY in control.touches or names & {*control.touches}
        if control.passed is None and control.code != READ and touched:
            yield (
                f"the result of the control “{control.name}” is not known: {control.text}",
                control.evidence,
            )


def _refused(axis: AxisResult) -> Iterator[Condition]:
    """The stimuli of which every call was refused."""
    rate = loss_rate(axis)
    refused = [] if rate is None else rate.given.get("refused", [])
    if rate is not None and refused:
        what = counted(len(refused), "stimulus", "stimuli")
        named = listed(refused, MOST_NAMED)
        yield f"not for texts that it refuses: every call on {what} ({named})", (rate.key,)
