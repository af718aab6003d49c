"""Control checks: questions with a known answer, and whether the measurement itself is whole.

Each names the figures that it touches. Where one of the run fails, they are void: nothing can be
proven or broken by them. Where one of the judge fails, a figure that looks well is no merit.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from judgesheet.base.defaults import LOSS_ERROR, MANY_LOST
from judgesheet.base.digits import count, counted, percent
from judgesheet.base.keys import Key
from judgesheet.base.limits import MOST_EXAMPLES
from judgesheet.base.records import BATCH, AxisResult, Control, Datasheet, Estimate
from judgesheet.base.sanitize import listed
from judgesheet.reading.reasons import REASONS

EVERY = "*"
"""Touches every figure of the axis."""
COMPLETE, SERVED, READ = "complete", "one_served_model", "readable"
OF_RUN = (COMPLETE, SERVED, READ)
"""Codes of the controls that are the same on every axis, in the order of their weight."""
ONE_VERSION = "pin one version of the model and measure again with --fresh"
LOSS_RATE = "loss_rate"
"""The figure that says how many calls gave no verdict, what came instead, and where."""
OF_KIND = {"failed": "no_answer", "refused": "refused", "unreadable": "no_verdict"}
"""What stands for a kind of loss where nobody knows what came."""


def with_controls(sheet: Datasheet) -> Datasheet:
    """The sheet with the controls of its run on every axis, and what they make void."""
    return replace(sheet, axes=tuple(_controlled(axis, sheet) for axis in sheet.axes))


def failed(axis: AxisResult) -> Iterator[Control]:
    """The controls that the axis did not pass, those of the run first."""
    return (control for control in axis.controls if control.passed is False)


def touches(control: Control, key: str) -> bool:
    """Whether a figure must not be used where the control fails, but for its own evidence."""
    named = EVERY in control.touches or Key.parse(key).name in control.touches
    return named and key not in control.evidence


def _controlled(axis: AxisResult, sheet: Datasheet) -> AxisResult:
    own = tuple(control for control in axis.controls if control.code not in OF_RUN)
    of_run = [_complete(axis, sheet), _served(axis, sheet)]
    if axis.made:
        of_run.append(_readable(axis, sheet))
    checked = replace(axis, controls=(*of_run, *own))
    whole = next((c for c in failed(checked) if c.of == "run" and EVERY in c.touches), None)
    return replace(
        checked,
        invalid=None if whole is None else whole.text,
        voided=dict(touched_by(checked, "run")),
        unearned=dict(touched_by(checked, "judge")),
    )


def touched_by(axis: AxisResult, of: str) -> Iterator[tuple[str, str]]:
    """Key and reason of every figure that a failed control of the run or the judge touches."""
    for control in failed(axis):
        if control.of == of:
            for estimate in axis.estimates:
                if touches(control, estimate.key):
                    yield estimate.key, f"the control “{control.name}” failed"


def loss_rate(axis: AxisResult) -> Estimate | None:
    """The figure of the axis that tells of its lost calls."""
    return next((one for one in axis.estimates if Key.parse(one.key).name == LOSS_RATE), None)


# -- the measurement -------------------------------------------------------------------------------


def _complete(axis: AxisResult, sheet: Datasheet) -> Control:
    """Whether all was asked: a run that is read before its end shows what chance shows first."""
    looks = sheet.run.looks
    goes_on = looks is not None and not looks.ended
    lacking = [one.name for one in sheet.axes if one.made < one.planned]
    # Only a plain no counts: a sheet that does not say may be whole. Where no axis lacks a call,
    # something else is missing.
    cut = sheet.run.complete is False and (axis.name in lacking or goes_on or not lacking)
    text = f"{'only ' if cut else ''}{count(axis.made)} of {count(axis.planned)} calls were made"
    if not axis.made and axis.planned:
        text = f"none of {count(axis.planned)} calls was made"
    if cut and axis.name not in lacking:
        text = "the run is not finished"
        text += f": {counted(axis.failed, 'call')} failed" if axis.failed else ""
    mend = f"finish the run: {end_of_run(sheet)}"
    return Control(
        "run complete", not cut, text, code=COMPLETE, of="run", mend=mend, touches=(EVERY,)
    )


def end_of_run(sheet: Datasheet) -> str:
    """What brings a run to its end that is not complete."""
    if sheet.judge.provider == BATCH and sheet.run.complete is False:
        return "`judgesheet plan --resume` exports the calls that have no answer"
    settled, made = sheet.run.settled, sum(axis.made for axis in sheet.axes)
    failed = 0 if settled is None else made - settled
    if failed <= 0 or made < sum(axis.planned for axis in sheet.axes):
        return "the same command resumes it"
    calls = counted(failed, "call")
    return f"{calls} failed, which the same command asks again and --give-up counts as lost"


def _served(axis: AxisResult, sheet: Datasheet) -> Control:
    """Whether one model answered all calls of the axis, as far as the endpoint says."""
    # Without counts of its own an axis may have been answered by any model of the sheet.
    by_axis = any(one.served_models for one in sheet.axes)
    models = axis.served_models if by_axis else sheet.judge.served_models
    passed: bool | None = len(models) == 1
    text = "every reply names the same model"
    if not models:
        # What answers in this process, or from a file on this machine, cannot be exchanged.
        is_here = not sheet.judge.base_url and sheet.run.reply != "recorded"
        passed = True if is_here else None
        text = (
            "it runs on this machine"
            if is_here
            else "the endpoint does not say which model answered"
        )
    elif not passed:
        served = [f"{name} ({counted(number, 'call')})" for name, number in models.items()]
        mixed = axis.mixed_stimuli
        both = f", and on {mixed} stimul{'us' if mixed == 1 else 'i'} several did" if mixed else ""
        text = (
            f"{len(models)} models answered under one name: {listed(served, MOST_EXAMPLES)}{both}"
        )
    return Control(
        "only one model answered",
        passed,
        text,
        code=SERVED,
        of="run",
        mend=ONE_VERSION,
        touches=(EVERY,),
    )


def _readable(axis: AxisResult, sheet: Datasheet) -> Control:
    """Whether nearly all calls gave a verdict, and those that did not whatever the order.

    Else no limit is kept by the rest; one that is broken whatever the lost calls would have said
    is broken. Stimuli that were refused whole do not count: they are a condition of any use.
    """
    kinds = {"unreadable": axis.unreadable, "refused": axis.refused, "failed": axis.failed}
    lost = {name: number for name, number in kinds.items() if number}
    counts = ", ".join(f"{count(number)} {name}" for name, number in lost.items())
    rate = loss_rate(axis)
    given = {} if rate is None else rate.given
    p, refused = given.get("order_p"), given.get("refused_calls", 0)
    share = (axis.made - axis.answered - refused) / max(1, axis.made - refused)
    # A judge that loses nearly so many must not pass on one seed and fail on the next: below the
    # bound of the rate it is the bounds of the figures that count what was lost.
    surely = share if rate is None or rate.bounds is None else rate.bounds.low
    many = min(share, surely) > MANY_LOST
    by_order = p is not None and p < LOSS_ERROR
    if not axis.answered:
        text = f"none of {count(axis.made)} calls gave a verdict ({counts})"
    else:
        text = f"{percent(axis.answered / axis.made)} of {count(axis.made)} calls gave a verdict"
        text += f" ({counts})" if counts else ""
        text += "; which of them did depends on the order" if by_order else ""
    return Control(
        "replies readable",
        bool(axis.answered) and not many and not by_order,
        text,
        () if rate is None else (rate.key,),
        code=READ,
        # Without a verdict nothing is known; with some, what is broken stays so.
        of="judge" if axis.answered else "run",
        mend=_mend_losses(axis, lost, sheet),
        touches=(EVERY,),
    )


def mend_of_losses(axis: AxisResult) -> str:
    """What would bring verdicts on the calls of the axis that have none; "" where all have one."""
    return next((control.mend for control in axis.controls if control.code == READ), "")


def _mend_losses(axis: AxisResult, lost: Mapping[str, int], sheet: Datasheet) -> str:
    """What helps against what came most often instead of a verdict."""
    rate = loss_rate(axis)
    reasons = {} if rate is None else rate.given.get("reasons", {})
    counts = {code: number for code, number in reasons.items() if code in REASONS}
    # Sheets of earlier versions count by the kind of loss alone, which says less of what came.
    of_kind = {OF_KIND[kind]: number for kind, number in lost.items()}
    most = max(counts or of_kind, key=(counts or of_kind).__getitem__, default="")
    if not most:
        return ""
    has_parser = any(one.axis == axis.name for one in sheet.provenance.parsers)
    advice = REASONS[most].advice(str(sheet.run.reply), has_parser=has_parser)
    return f"{advice} (most of the lost calls: {REASONS[most].words})" if counts else advice
