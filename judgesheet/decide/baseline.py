"""Whether a judge got worse than a baseline: verdicts on the differences of two sheets."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from judgesheet.base.digits import counted, significant
from judgesheet.base.facts import BaselineRemarks
from judgesheet.base.keys import Key, key
from judgesheet.base.records import Characteristic, Datasheet, Verdict, VerdictStatus
from judgesheet.decide.bounded_value import BoundedValue
from judgesheet.decide.compare import (
    NO_DIRECTION,
    Comparison,
    Difference,
    OtherQuestionsError,
    difference,
)
from judgesheet.decide.controls import READ
from judgesheet.decide.gate import VERDICTS_ON_LOST, outlook, times
from judgesheet.decide.policy import Policy, Regression
from judgesheet.stats.multiplicity import holm

ALPHA = 0.05
"""Level of a one-sided test, and error of a one-sided bound."""
LOST_DECIDE = "the calls without a verdict decide it"


def against(comparison: Comparison, policy: Policy) -> tuple[Verdict, ...]:
    """Verdicts on getting worse than a baseline, one per `[[regression]]` of the policy.

    A policy without any holds its limits' figures to a margin of 0, which can be broken but never
    proven, so those only warn. Broken is what is proven worse by more than the margin (Holm over
    the regressions); proven is what a one-sided 95 % bound keeps within it.
    """
    rows = {row.key: row for row in comparison.differences}
    wanted = [_directed(one, rows) for one in regressions(policy)]
    # What only a limit names may be absent; a [[regression]] that is absent is told of.
    found = [(one, row) for one, row in wanted if one.key in rows or policy.regression]
    p = [None if row is None else row.p_worse(one.margin) for one, row in found]
    unread = _unread(comparison)
    return tuple(
        _regression_verdict(one, row, q, unread)
        for (one, row), q in zip(found, holm(p), strict=True)
    )


def _unread(comparison: Comparison) -> dict[str, str]:
    """By axis of which either run lost many calls: what would make them readable."""
    return {
        axis.name: control.mend if sheet is comparison.new else f"for the baseline: {control.mend}"
        for sheet in (comparison.old, comparison.new)
        for axis in sheet.axes
        for control in axis.controls
        if control.code == READ and not control.passed
    }


def unanswered(sheet: Datasheet, why: OtherQuestionsError, accept: str) -> Iterator[Verdict]:
    """Per axis the verdict where a baseline answered other questions: nothing is proven of it.

    `accept` names the file of the sheet, which could be the next baseline.
    """
    needed = f"accept `{accept}` (copy it over the baseline); {why.way_out}"
    obstacles = "; ".join(one.text for one in why.obstacles)
    for axis in sheet.axes:
        yield Verdict(
            rule="not worse than the baseline",
            key=key(axis.name, "baseline"),
            observed=None,
            status="inconclusive",
            why=f"the baseline answered different questions: {obstacles}",
            needed=needed,
            against_baseline=True,
        )


def with_remarks(sheet: Datasheet, comparison: Comparison) -> Datasheet:
    """The sheet with what limits its comparison with the baseline, in its provenance."""
    remarks = BaselineRemarks(tuple(comparison.remarks), tuple(comparison.forced))
    return replace(sheet, provenance=replace(sheet.provenance, baseline=remarks))


def regressions(policy: Policy) -> Sequence[Regression]:
    """What a policy holds against a baseline: its regressions, else the figures of its limits."""
    return policy.regression or [
        Regression(
            key=limit.key,
            better="lower" if limit.kind == "max" else "higher",
            not_proven="warn",
        )
        for limit in policy.limit
        if "*" not in limit.key  # the members of a family may differ between two sheets
    ]


def _directed(
    regression: Regression, rows: Mapping[str, Difference]
) -> tuple[Regression, Difference | None]:
    """The difference in the direction that the policy names, else in the sheet's own."""
    row = rows.get(regression.key)
    if row is None or not regression.better or row.verdict == "void":
        return regression, row
    wanted = Characteristic(regression.key, better=regression.better)
    return regression, difference(regression.key, *row.compared, wanted, row.pairing)


def _regression_verdict(
    regression: Regression, row: Difference | None, p: float | None, unread: Mapping[str, str]
) -> Verdict:
    verdict = Verdict(
        rule=f"worse than the baseline by at most {regression.margin:g}",
        key=regression.key,
        observed=None,
        status="inconclusive",
        why="",
        limit=regression.margin,
        kind="max",
        warns=regression.not_proven == "warn",
        against_baseline=True,
    )
    if row is not None and row.verdict == "void":
        return replace(verdict, status="invalid", why=row.note, needed="two runs that are usable")
    if row is None or row.worsening is None or p is None:
        why = "neither sheet has it" if row is None else row.note
        if row is not None and row.reason == NO_DIRECTION.code:
            why = f"{NO_DIRECTION.sentence}; the policy can (better = …)"
        return replace(verdict, why=why, needed="a run of both judges that measures it")
    read, (down, up) = row.worsening.at(ALPHA), row.room
    found = BoundedValue(read.value, read.low - down, read.high + up)
    status: VerdictStatus = (
        "fail" if p < ALPHA else "pass" if found.high <= regression.margin else "inconclusive"
    )
    bound, side = (found.low, "lower") if status == "fail" else (found.high, "upper")
    why = f"worse by {significant(found.value)}; one-sided 95 % {side} bound {significant(bound)}"
    if row.lost:
        why += f", with {counted(row.lost, 'lost call')} counted against the limit"
    measured = replace(verdict, observed=found.value, status=status, why=why, bound=bound)
    if status != "inconclusive":
        return measured
    if _is_open(found, regression.margin) and not _is_open(read, regression.margin):
        if mend := unread.get(Key.parse(regression.key).axis):
            return replace(measured, status="invalid", why=LOST_DECIDE, needed=mend)
        return replace(measured, needed=VERDICTS_ON_LOST)
    needed = outlook(
        regression.margin, "max", found, lambda factor: f"{times(factor)} of both runs"
    )
    return replace(measured, needed=needed)


def _is_open(worsening: BoundedValue, margin: float) -> bool:
    return worsening.low <= margin < worsening.high
