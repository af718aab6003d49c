"""The decision about a judge: from the verdicts on the limits of a policy, all of them at once.

`reject` where a limit is broken. `not_proven` where one is not proven and not excused, and where
none is kept at all. Otherwise `conditions` where anything of `conditions.of` applies, and `adopt`
where nothing does.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import Literal, NamedTuple

from judgesheet.base.datasheet import by_key, named
from judgesheet.base.digits import count, counted
from judgesheet.base.keys import Key
from judgesheet.base.limits import MOST_EXAMPLES, MOST_NAMED
from judgesheet.base.records import Datasheet, Decision, Estimate, Verdict, VerdictStatus
from judgesheet.base.sanitize import listed
from judgesheet.decide import conditions
from judgesheet.decide.controls import COMPLETE, ONE_VERSION, end_of_run, failed
from judgesheet.decide.effects import printed
from judgesheet.decide.gate import NEVER, not_asked, weight

PASSED, FAILED, NOT_PROVEN = 0, 3, 4  # scripts branch on them; 1 and 2 are faults and wrong use
EXIT_CODES = {"adopt": PASSED, "conditions": PASSED, "reject": FAILED, "not_proven": NOT_PROVEN}


def decide_judge(sheet: Datasheet) -> Decision:
    """The decision that the verdicts of a sheet give; its policy stands in the provenance."""
    policy = sheet.provenance.policy
    verdict, limiting, because, text = _decided(sheet)
    use = policy.use if policy else None
    agreed = [*dict.fromkeys(conditions.of(sheet, use))] if verdict == "adopt" else []
    scope = _scope(sheet, is_usable=verdict == "adopt")
    return Decision(
        verdict="conditions" if agreed else verdict,
        policy=policy.name if policy else "",
        policy_digest=policy.digest if policy else "",
        use=use or "",
        limiting=limiting,
        text=f"{text.replace('Adopt:', 'Adopt under conditions:') if agreed else text}{scope}",
        because=because,
        conditions=tuple(agreed),
        not_settled=tuple(conditions.not_settled(sheet)),
        required=dict(Counter(one.status for one in sheet.verdicts if not one.warns)),
        warning=dict(Counter(one.status for one in sheet.verdicts if one.warns)),
        what_would_decide=tuple(_needed(sheet)),
    )


def review_day(sheet: Datasheet) -> date | None:
    """The day on which the policy wants the judge measured again; None if it is not given."""
    days = sheet.run.review_days
    if days is None:
        return None
    try:
        return datetime.fromisoformat(str(sheet.run.ended_at)).date() + timedelta(days=days)
    except (ValueError, OverflowError):  # no time, or one at the end of all calendars
        return None


class _Decided(NamedTuple):
    """The verdict (`adopt` before conditions), the key that decides and by what, the sentence."""

    verdict: Literal["adopt", "reject", "not_proven"]
    limiting: str
    because: VerdictStatus | Literal[""]
    text: str


def _decided(sheet: Datasheet) -> _Decided:
    by_status = {
        status: [one for one in sheet.verdicts if one.status == status]
        for status in ("pass", "fail", "inconclusive", "invalid")
    }
    if broken := by_status["fail"]:
        worst = min(broken, key=weight)
        return _Decided("reject", worst.key, "fail", f"Reject: {_limits(broken)} broken.")
    if invalid := by_status["invalid"]:
        rests = "rests on a figure that is" if len(invalid) == 1 else "rest on figures that are"
        text = f"{_limits(invalid)} {rests} not usable ({invalid[0].why})"
        return _Decided("not_proven", invalid[0].key, "invalid", f"Not proven: {text}.")
    if open_ := [one for one in by_status["inconclusive"] if not one.excused]:
        text = f"Not proven: {_limits(open_)}."
        return _Decided("not_proven", open_[0].key, "inconclusive", text)
    if not (kept := by_status["pass"]):
        text = "Not proven: no limit of the policy is proven on what was probed."
        return _Decided("not_proven", "", "", text)
    if several := conditions.several_models(sheet, conditions.judged_axes(sheet)):
        # Each limit is kept by one of them, and nobody knows of any that keeps them all.
        return _Decided("not_proven", "", "", f"Not proven: {several}.")
    tightest = min(kept, key=weight)
    return _Decided("adopt", tightest.key, "pass", f"Adopt: {_limits(kept)} kept.")


def _limits(verdicts: Sequence[Verdict]) -> str:
    return counted(len(verdicts), "limit")


def _needed(sheet: Datasheet) -> Iterator[str]:
    """What would decide a policy that is not decided: what costs least first."""
    if any(one.status == "fail" for one in sheet.verdicts):
        yield from _mended(sheet)
        return
    open_ = [one for one in sheet.verdicts if one.status != "pass" and not one.excused]
    is_named = any(one.needed == ONE_VERSION for one in open_)
    if not is_named and conditions.several_models(sheet, conditions.judged_axes(sheet)):
        yield ONE_VERSION
    on = {Key.parse(one.key).axis for one in open_}
    cut = [a for a in sheet.axes if a.name in on and any(c.code == COMPLETE for c in failed(a))]
    if cut:
        made, planned = sum(a.made for a in sheet.axes), sum(a.planned for a in sheet.axes)
        yield (
            f"finish the run: {count(made)} of {count(planned)} planned calls were made, "
            f"{end_of_run(sheet)}"
        )
    # More stimuli are for a run that is whole: until then nobody knows how many it lacks.
    rest = [one for one in open_ if Key.parse(one.key).axis not in {axis.name for axis in cut}]
    # Where more stimuli leave a limit open, they do not decide.
    others = [one for one in rest if one.status == "invalid" or not one.more_stimuli]
    ranked = sorted(others, key=lambda one: one.status != "invalid")
    yield from _grouped(sheet, ranked)
    if not any(one.needed == NEVER for one in rest):
        yield from _stimuli(sheet, [one for one in rest if one.more_stimuli])


def _mended(sheet: Datasheet) -> Iterator[str]:
    """What moves the figures that reject a judge: the remedies that this run showed to help."""
    found = by_key(sheet)
    broken = {one.key for one in sheet.verdicts if one.status == "fail"}
    for axis in sheet.axes:
        for remedy in axis.mitigations:
            against = {one.key for one in axis.effects if one.remedy == remedy.code}
            before, after = found.get(remedy.before), found.get(remedy.after)
            if remedy.outcome == "helps" and before and after and broken & {before.key, *against}:
                action = f"{remedy.action} ({counted(remedy.calls, 'call')} per judgment)"
                was = printed(before, before.value)
                name = named(found, remedy.after)
                yield f"{action}: {name} is then {_with_interval(after)} instead of {was}"


def _with_interval(estimate: Estimate) -> str:
    value, low, high = (
        printed(estimate, one) for one in (estimate.value, estimate.low, estimate.high)
    )
    return f"{value} ({low} to {high})" if estimate.low is not None else value


def _grouped(sheet: Datasheet, verdicts: Iterable[Verdict]) -> Iterator[str]:
    """What several limits need alike, with the figures that they bound, or how many those are."""
    found = by_key(sheet)
    groups: dict[str, list[str]] = {}
    for verdict in verdicts:
        if verdict.needed:
            # Labels are those of the sheet, which does not show a figure without a value.
            name = verdict.key if verdict.observed is None else named(found, verdict.key)
            groups.setdefault(verdict.needed, []).append(name)
    for needed, names in [*groups.items()][:MOST_EXAMPLES]:
        limits = (
            listed(names, MOST_NAMED) if len(names) <= MOST_NAMED else counted(len(names), "limit")
        )
        yield f"{needed} ({limits})"


def _stimuli(sheet: Datasheet, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """More stimuli, per axis as many as its neediest limit takes: first those of the pool."""
    most: dict[str, Verdict] = {}
    for verdict in verdicts:
        axis = Key.parse(verdict.key).axis
        most[axis] = max(most.get(axis, verdict), verdict, key=lambda each: each.more_stimuli or 0)
    if not most:
        return
    found, spare = by_key(sheet), not_asked(sheet)
    counts = ", ".join(
        f"about {count(one.more_stimuli or 0)} for {named(found, one.key)}"
        f"{_unasked(spare.get(axis, 0), one.more_stimuli or 0)}"
        for axis, one in most.items()
    )
    yield f"more stimuli, if values stay: {counts}"


def _unasked(spare: int, needed: int) -> str:
    """How many of the stimuli needed the pool has, which the run left out."""
    if not spare:
        return ""
    rest = "" if spare >= needed else ", the rest of your own"
    return f" ({count(min(spare, needed))} in a larger --profile{rest})"


def _scope(sheet: Datasheet, *, is_usable: bool) -> str:
    """What the decision does not cover, and how long a judge that may be used is to be trusted."""
    absent = absent_axes(sheet)
    day = review_day(sheet) if is_usable and sheet.provenance.policy else None
    # Their titles are known only to the axes, which whoever decides need not load.
    names = ", ".join(name.replace("_", " ") for name in absent)
    skipped = f" Not probed: {names}." if absent else ""
    return skipped + (f" Measure again by {day.isoformat()}." if day else "")


def absent_axes(sheet: Datasheet) -> list[str]:
    """Axes that the policy limits and the run left out."""
    policy, probed = sheet.provenance.policy, {axis.name for axis in sheet.axes}
    return [one for one in policy.axes if one not in probed] if policy else []
