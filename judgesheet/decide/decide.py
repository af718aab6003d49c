"""The one place where a sheet is decided: controls applied, findings ranked, marks, decision.

What it finds out is stored in the sheet, and everything that prints only prints it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from judgesheet.base.datasheet import SCHEMA_VERSION
from judgesheet.base.keys import Key
from judgesheet.base.records import Datasheet, Verdict
from judgesheet.decide.controls import with_controls
from judgesheet.decide.decision import decide_judge
from judgesheet.decide.findings import with_findings
from judgesheet.decide.gate import usable, verdicts
from judgesheet.decide.policy import Policy
from judgesheet.decide.remedies import with_remedies
from judgesheet.decide.statuses import with_statuses


def decide(
    sheet: Datasheet, policy: Policy | None = None, extra: Sequence[Verdict] = ()
) -> Datasheet:
    """The sheet with its controls, findings, marks and, under a policy, verdicts and decision.

    `extra` are further verdicts that count in the same way (those of a baseline). Without a
    `policy`, verdicts that the sheet has already are kept. A sheet that was decided before, also by
    an older version, is decided anew.
    """
    checked = with_controls(replace(sheet, schema_version=SCHEMA_VERSION))
    judged = _with_verdicts(checked, policy, extra)
    marked = with_remedies(with_statuses(with_findings(judged)))
    # A policy of which nothing applies proves nothing, which is a decision, too.
    is_judged = bool(marked.verdicts) or isinstance(marked.provenance.get("policy"), Mapping)
    return replace(marked, decision=decide_judge(marked) if is_judged else None)


def _with_verdicts(sheet: Datasheet, policy: Policy | None, extra: Sequence[Verdict]) -> Datasheet:
    axes = {axis.name: axis for axis in sheet.axes}
    given = (*(sheet.verdicts if policy is None else ()), *extra)
    held = tuple(usable(one, axes.get(Key.parse(one.key).axis)) for one in given)
    if policy is None:
        return replace(sheet, verdicts=held)
    run = {**sheet.run, "review_days": policy.review_days} if policy.review_days else sheet.run
    provenance = {**sheet.provenance, "policy": {**policy.as_record, "axes": policy.axes}}
    return replace(
        sheet, verdicts=(*verdicts(sheet, policy), *held), provenance=provenance, run=run
    )
