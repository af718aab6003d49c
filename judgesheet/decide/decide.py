"""The one place where a sheet is decided: controls, effects, limits, remedies and decision.

What it finds out is stored in the sheet, and everything that prints only prints it.
"""

from collections.abc import Sequence
from dataclasses import replace

from judgesheet.axes import all_axes
from judgesheet.base.datasheet import SCHEMA_VERSION, by_key
from judgesheet.base.records import AxisResult, Datasheet, Estimate, MeasuredSheet, Verdict
from judgesheet.decide import conditions
from judgesheet.decide.controls import failed, with_controls
from judgesheet.decide.decision import decide_judge
from judgesheet.decide.effects import with_effects
from judgesheet.decide.gate import usable, verdicts
from judgesheet.decide.policy import Policy, policy_of
from judgesheet.decide.remedies import weighed


def decide(
    measured: MeasuredSheet, policy: Policy | None = None, extra: Sequence[Verdict] = ()
) -> Datasheet:
    """What was measured, with controls, effects, remedies and, under a policy, the decision.

    `extra` are further verdicts that count in the same way (those of a baseline). Without a
    `policy`, the limits are those that the sheet names. How its limits came out is never taken from
    a sheet: it follows from its figures.
    """
    sheet = Datasheet.of(measured)
    rules = policy_of(sheet) if policy is None else policy
    recorded = _declaring(sheet if policy is None else _with_policy(sheet, policy))
    checked = with_effects(with_controls(replace(recorded, schema_version=SCHEMA_VERSION)))
    held: tuple[Verdict, ...] = ()
    if rules is not None:
        by_name = {axis.name: axis for axis in checked.axes}
        held = (*verdicts(checked, rules), *(usable(one, by_name) for one in extra))
    broken, found = {one.key for one in held if one.status == "fail"}, by_key(checked)
    axes = tuple(_result(axis, broken, found) for axis in checked.axes)
    judged = replace(checked, axes=axes, verdicts=held)
    return replace(
        judged,
        recommendations=tuple(conditions.recommended(judged)),
        # A policy of which nothing applies proves nothing, which is a decision, too.
        decision=None if rules is None else decide_judge(judged),
    )


def _result(axis: AxisResult, broken: set[str], found: dict[str, Estimate]) -> AxisResult:
    """The axis with what its remedies do; what is shown to be bad counts, whatever it failed."""
    shown = {one.key for one in axis.effects if one.verdict == "shown"}
    # Of what a control rests on, the first is what it found too bad.
    bad = broken | shown | {key for control in failed(axis) for key in control.evidence[:1]}
    merits = {key: why for key, why in axis.unearned.items() if key not in bad}
    accused = replace(axis, unearned=merits)
    remedies = tuple(weighed(one, accused, found) for one in axis.mitigations)
    return replace(accused, mitigations=remedies)


def _declaring(sheet: Datasheet) -> Datasheet:
    """A sheet from before 3.0 with the effects that its axes declare today."""
    if sheet.schema_version.partition(".")[0] not in ("1", "2"):
        return sheet
    known = all_axes()
    return replace(
        sheet,
        axes=tuple(
            replace(axis, declared=known[axis.name].EFFECTS)
            if axis.name in known and known[axis.name].EFFECTS
            else axis
            for axis in sheet.axes
        ),
    )


def _with_policy(sheet: Datasheet, policy: Policy) -> Datasheet:
    """The sheet with what it keeps of its policy beside the limits, which its verdicts name."""
    days = policy.review_days or sheet.run.review_days
    return replace(
        sheet,
        run=replace(sheet.run, review_days=days),
        provenance=replace(sheet.provenance, policy=policy.named),
    )
