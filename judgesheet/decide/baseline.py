"""Whether a judge got worse than a baseline: verdicts on the differences of two sheets."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from judgesheet.base.digits import significant
from judgesheet.base.keys import key
from judgesheet.base.records import Characteristic, Datasheet, Verdict, VerdictStatus
from judgesheet.decide.compare import (
    NO_DIRECTION,
    Z95,
    Comparison,
    Difference,
    IntervalEstimate,
    OtherQuestionsError,
    difference,
    p_worse,
)
from judgesheet.decide.gate import outlook, times
from judgesheet.decide.policy import Policy, Regression
from judgesheet.stats.multiplicity import holm

ALPHA, ONE_SIDED = 0.05, 1.644854
"""Level of a one-sided test, and its normal quantile."""


def against(comparison: Comparison, policy: Policy) -> tuple[Verdict, ...]:
    """Verdicts on getting worse than a baseline, one per `[[regression]]` of the policy.

    A policy without any holds its limits' figures to a margin of 0, which can be broken but never
    proven, so those only warn. Broken is what is proven worse by more than the margin (Holm over
    the regressions); proven is what a one-sided 95 % bound keeps within it.
    """
    rows = {row.key: row for row in comparison.differences}
    wanted = [_directed(one, rows) for one in policy.regression or _from_limits(policy)]
    # What only a limit names may be absent; a [[regression]] that is absent is told of.
    found = [(one, row) for one, row in wanted if one.key in rows or policy.regression]
    p = [
        p_worse(row.worsening, one.margin) if row is not None and row.worsening else None
        for one, row in found
    ]
    return tuple(
        _regression_verdict(one, row, q) for (one, row), q in zip(found, holm(p), strict=True)
    )


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
            status="not proven",
            why=f"the baseline answered other questions: {obstacles}",
            needed=needed,
            against_baseline=True,
        )


def with_remarks(sheet: Datasheet, comparison: Comparison) -> Datasheet:
    """The sheet with what limits its comparison with the baseline, in its provenance."""
    told = {"remarks": [*comparison.remarks], "forced": [*comparison.forced]}
    return replace(sheet, provenance={**sheet.provenance, "baseline": told})


def _from_limits(policy: Policy) -> list[Regression]:
    return [
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
    return regression, difference(
        regression.key,
        row.old,
        row.new,
        Characteristic(regression.key, better=regression.better),
        row.pairing,
    )


def _regression_verdict(regression: Regression, row: Difference | None, p: float | None) -> Verdict:
    verdict = Verdict(
        rule=f"worse than the baseline by at most {regression.margin:g}",
        key=regression.key,
        observed=None,
        status="not proven",
        why="",
        limit=regression.margin,
        kind="max",
        warns=regression.not_proven == "warn",
        against_baseline=True,
    )
    if row is not None and row.verdict == "void":
        return replace(verdict, status="void", why=row.note, needed="two runs that are usable")
    found = None if row is None else row.worsening
    if found is None or p is None:
        why = "neither sheet has it" if row is None else row.note
        if row is not None and row.reason == NO_DIRECTION.code:
            why = f"{NO_DIRECTION.sentence}; the policy can (better = …)"
        return replace(verdict, why=why, needed="a run of both judges that measures it")
    # The ends are those of a 95 % interval; a one-sided bound of 95 % lies nearer.
    scale = ONE_SIDED / Z95
    upper = found.value + scale * (found.high - found.value)
    lower = found.value - scale * (found.value - found.low)
    status: VerdictStatus = (
        "broken" if p < ALPHA else "proven" if upper <= regression.margin else "not proven"
    )
    bound, side = (lower, "lower") if status == "broken" else (upper, "upper")
    why = f"worse by {significant(found.value)}; one-sided 95 % {side} bound {significant(bound)}"
    needed = ""
    if status == "not proven":
        span = IntervalEstimate(found.value, lower, upper)
        needed = outlook(
            regression.margin, "max", span, lambda factor: f"{times(factor)} of both runs"
        )
    return replace(
        verdict, observed=found.value, status=status, why=why, bound=bound, needed=needed
    )
