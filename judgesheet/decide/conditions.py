"""Under which conditions a judge is adopted whose required limits are kept, and what is open."""

from collections.abc import Collection, Iterator

from judgesheet.base.datasheet import by_key, named
from judgesheet.base.effects import JudgedEffect, Use
from judgesheet.base.keys import Key
from judgesheet.base.limits import MOST_NAMED
from judgesheet.base.records import (
    AxisResult,
    Condition,
    Datasheet,
    Estimate,
    Mitigation,
    Verdict,
)
from judgesheet.base.sanitize import listed
from judgesheet.decide.bounded_value import reach
from judgesheet.decide.controls import EVERY, ONE_VERSION, READ, loss_rate
from judgesheet.decide.effects import printed


def of(sheet: Datasheet, use: Use | None) -> Iterator[Condition]:
    """The conditions of an adoption for a use; None: for any, on the axes that are limited.

    - each effect that is shown and concerns the use, with its remedy;
    - every call on some stimuli was refused, so that nothing is known of such texts;
    - a limit is kept by what holds after a remedy, and not by what holds before: that remedy;
    - the axes of kept limits were answered by different served models;
    - nobody can tell whether a control is passed that a limit rests on.
    """
    judged = judged_axes(sheet)
    kept = [verdict for verdict in sheet.verdicts if verdict.status == "pass"]
    if several := several_models(sheet, {Key.parse(one.key).axis for one in kept}):
        yield Condition(f"{ONE_VERSION}: {several}")
    found = by_key(sheet)
    for axis in sheet.axes:
        for effect, condition in _shown(axis, found):
            if axis.name in judged if use is None else use in effect.uses:
                yield condition
        for remedy in axis.mitigations:
            limits = [one for one in kept if one.key == remedy.after]
            if not all(_keeps(found.get(remedy.before), one) for one in limits):
                yield Condition("", (remedy.after,), *_remedy(remedy, found))
        if axis.name in judged:
            yield from _unknown_controls(axis, {Key.parse(one.key).name for one in kept})
            yield from _refused(axis)


def recommended(sheet: Datasheet) -> Iterator[Condition]:
    """What to do about the effects that are shown, for any use, where the run measured a remedy."""
    found = by_key(sheet)
    every = (condition for axis in sheet.axes for _, condition in _shown(axis, found))
    return (condition for condition in every if condition.remedy)


def _shown(
    axis: AxisResult, found: dict[str, Estimate]
) -> Iterator[tuple[JudgedEffect, Condition]]:
    """Each effect that is shown, and as a condition with its remedy."""
    remedies = {one.code: _remedy(one, found) for one in axis.mitigations if one.helps}
    for effect in axis.effects:
        if effect.verdict == "shown":
            words = remedies.get(effect.remedy, ())
            yield effect, Condition(effect.text, (effect.key,), *words)


def _remedy(remedy: Mitigation, found: dict[str, Estimate]) -> tuple[str, int, str]:
    """What to do, the calls that it takes, and what it leaves."""
    before, after = found.get(remedy.before), found.get(remedy.after)
    if before is None or after is None:
        return remedy.action, remedy.calls, ""
    change = f"{printed(after, after.value)} instead of {printed(before, before.value)}"
    return remedy.action, remedy.calls, f"{named(found, remedy.after)}: {change}"


def _keeps(estimate: Estimate | None, verdict: Verdict) -> bool:
    """Whether another figure would keep the limit of a verdict too."""
    bounds = None if estimate is None else reach(estimate)
    if bounds is None or verdict.limit is None:
        return False
    is_ceiling = verdict.kind == "max"
    return bounds.high <= verdict.limit if is_ceiling else bounds.low >= verdict.limit


def judged_axes(sheet: Datasheet) -> set[str]:
    """The axes with a limit that must be kept."""
    return {Key.parse(verdict.key).axis for verdict in sheet.verdicts if not verdict.warns}


def not_settled(sheet: Datasheet) -> Iterator[str]:
    """The limits that only warn and are not proven; those on one figure with one reason are one."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for verdict in sheet.verdicts:
        if verdict.warns and verdict.status in ("inconclusive", "invalid"):
            key = Key.parse(verdict.key)
            which = f"{key.axis}.{key.name}", verdict.rule, verdict.why, verdict.needed
            alike.setdefault(which, []).append(verdict.key)
    found = by_key(sheet)
    for (_, rule, why, needed), keys in alike.items():
        names = listed([named(found, key) for key in keys], MOST_NAMED)
        yield f"{names} {rule}: {why}{needed and f'; {needed}'}"


def several_models(sheet: Datasheet, axes: Collection[str]) -> str:
    """That no served model was measured on all these axes; "" if one was, or if unknown."""
    models = {one.title: listed([*one.served_models], 1) for one in sheet.axes if one.name in axes}
    served = [f"{model} on {title}" for title, model in models.items() if model]
    alike = len({*models.values()} - {""}) < 2
    return "" if alike else f"no one model was measured on every axis: {'; '.join(served)}"


def _unknown_controls(axis: AxisResult, names: set[str]) -> Iterator[Condition]:
    """Controls with an unknown outcome on which limited figures rest."""
    for control in axis.controls:
        touched = EVERY in control.touches or names & {*control.touches}
        if control.passed is None and control.code != READ and touched:
            text = f"the result of the control “{control.name}” is not known: {control.text}"
            yield Condition(text, control.evidence)


def _refused(axis: AxisResult) -> Iterator[Condition]:
    """The stimuli of which every call was refused, all of them by name."""
    rate = loss_rate(axis)
    refused = [] if rate is None else rate.given.get("refused", [])
    if rate is not None and refused:
        text = f"not for texts that it refuses: every call on {listed(refused, len(refused))}"
        yield Condition(text, (rate.key,))
