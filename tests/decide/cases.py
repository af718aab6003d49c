"""Sheets of simulated judges and damaged runs, each under a policy or under none."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from judgesheet.base.datasheet import SCHEMA_VERSION, from_json, to_json
from judgesheet.base.facts import JudgeIdentity, Provenance, RunFacts
from judgesheet.base.records import AxisResult, Control, Datasheet
from judgesheet.decide import decide
from judgesheet.decide.policy import Policy, load, parse
from tests.simulate import Sheet, simulate

SCORES, PAIRS = "score_order", "candidate_order"
V, EXCESS, R = (f"{SCORES}.{name}" for name in ("cramers_v", "excess_flip_rate", "single_read_r"))
LEFT = f"{PAIRS}.repeat_rate"
SERVED = {"model-1": 300, "model-2": 324}


@dataclass(frozen=True)
class Case:
    """A sheet as it was measured, and the text of the policy that it is judged by ("": none)."""

    sheet: Datasheet
    policy: str = ""

    @property
    def rules(self) -> Policy | None:
        return parse(self.policy, "mine.toml") if self.policy else None

    @property
    def judged(self) -> Datasheet:
        return decide(self.sheet, self.rules)


def limit(key: str, most: float, *more: str) -> str:
    return "\n".join(["[[limit]]", f'key = "{key}"', f"max = {most}", *more, ""])


WARNS = 'not_proven = "warn"'
LENIENT = limit(V, 0.9)


def measured(*sheets: Sheet, **run: Any) -> Datasheet:
    """The sheet of a whole run of several axes."""
    return Datasheet(
        SCHEMA_VERSION,
        JudgeIdentity("sim/some", served_models={"sim/some": 624}),
        replace(RunFacts("quick", reply="json", temperature=0.0, complete=True,
                         ended_at="2026-11-21T07:00:00+00:00"), **run),
        Provenance(),
        tuple(AxisResult.of(sheet.result) for sheet in sheets),
    )  # fmt: skip


def scores(spec: str = "fair") -> Sheet:
    return simulate(spec, "quick", SCORES)


def pairs(spec: str = "fair") -> Sheet:
    return simulate(spec, "quick", PAIRS)


def shipped(name: str) -> str:
    from judgesheet.decide.policy import text_of_shipped

    return text_of_shipped(name)


def changed(sheet: Datasheet, at: int, **parts: Any) -> Datasheet:
    """The sheet with another axis in one place."""
    axes = list(sheet.axes)
    axes[at] = replace(axes[at], **parts)
    return replace(sheet, axes=tuple(axes))


def two_models(*places: int) -> Datasheet:
    """Two models answered under one name on these axes, and one of them on the others."""
    sheet = measured(scores(), pairs())
    one = {"model-1": 624}
    axes = tuple(
        replace(axis, served_models=SERVED if at in places else one, mixed_stimuli=2)
        for at, axis in enumerate(sheet.axes)
    )
    return replace(sheet, judge=replace(sheet.judge, served_models=SERVED), axes=axes)


def cut(*places: int) -> Datasheet:
    """A run of which half the calls on these axes are still to be made."""
    sheet = replace(measured(scores(), pairs()), run=RunFacts(complete=False))
    for at in places:
        sheet = changed(sheet, at, planned=2 * sheet.axes[at].planned)
    return sheet


def unasked(axis: AxisResult) -> dict[str, Any]:
    """The fields of an axis of which no call was made yet."""
    empty: dict[str, Any] = dict.fromkeys(("estimates", "controls", "mitigations"), ())
    return {**empty, "answered": 0, "unreadable": 0, "refused": 0, "failed": 0,
            "characteristics": ()}  # fmt: skip


def of_schema_1_3(sheet: Datasheet) -> Datasheet:
    """What `load` makes of a sheet as an older version wrote it."""
    return decide(from_json(text_of_schema_1_3(decide(sheet, load("scoring")))))


def text_of_schema_1_3(sheet: Datasheet) -> str:
    """A decided sheet in the form that schema 1.3 had."""
    data = json.loads(to_json(sheet))
    data["schema_version"] = "1.3"
    passed = {"pass": True, "fail": False}
    for verdict in data["verdicts"]:
        verdict["passed"] = passed.get(verdict.pop("status"))
        del verdict["more_stimuli"]
    kept = ("verdict", "policy", "limiting", "text")
    data["decision"] = {**{name: data["decision"][name] for name in kept}, "conditions": ["one"]}
    data["recommendations"] = [{"axis": SCORES, "text": "average", "evidence": [], "stops": True}]
    for axis in data["axes"]:
        for name in ("invalid", "voided", "unearned", "served_models",
                     "mixed_stimuli", "declared", "effects"):  # fmt: skip
            del axis[name]
        axis["findings"] = [{"text": "it wavers", "evidence": [], "tone": "bad"}]
        run = {"complete", "one_served_model", "readable"}
        axis["controls"] = [
            {name: one[name] for name in ("name", "passed", "text", "evidence", "code")}
            for one in axis["controls"]
            if one["code"] not in run
        ]
        for remedy in axis["mitigations"]:
            del remedy["outcome"]
    return json.dumps(data)


def one_figure_touched() -> Datasheet:
    """A control of the run failed that touches one family of figures only."""
    failed = Control("one form of reply", False, "two forms are mixed", code="form", of="run",
                     touches=("excess_flip_rate",), mend="ask for one form")  # fmt: skip
    sheet = measured(scores())
    return changed(sheet, 0, controls=(*sheet.axes[0].controls, failed))


CASES: dict[str, Callable[[], Case]] = {
    "fair, scoring": lambda: Case(measured(scores()), shipped("scoring")),
    "biased, scoring": lambda: Case(measured(scores("first-biased?first=4")), shipped("scoring")),
    "fair, ranking": lambda: Case(measured(pairs()), shipped("ranking")),
    "always slot 1, ranking": lambda: Case(measured(pairs("always-1")), shipped("ranking")),
    "random, scoring": lambda: Case(measured(scores("random")), shipped("scoring")),
    "constant, lenient": lambda: Case(measured(scores("constant")), LENIENT),
    "fair, lenient": lambda: Case(measured(scores()), LENIENT),
    "only warnings": lambda: Case(measured(scores()), limit(EXCESS, 0.01, WARNS)),
    "a warning is not proven": lambda: Case(
        measured(scores()), LENIENT + limit(EXCESS, 0.02, WARNS)
    ),
    "open": lambda: Case(measured(scores()), LENIENT + limit(EXCESS, 0.02)),
    "two models on one axis": lambda: Case(
        two_models(1), LENIENT + limit(f"{PAIRS}.order_inconsistent[set=same_subset]", 0.9)
    ),
    "two models on another axis": lambda: Case(two_models(1), LENIENT),
    "two models on all axes": lambda: Case(two_models(0, 1), shipped("scoring")),
    "cut on one axis": lambda: Case(cut(1), LENIENT),
    "cut on the limited axis": lambda: Case(cut(0), LENIENT),
    "cut on all axes": lambda: Case(cut(0, 1), shipped("ranking")),
    "an axis not asked yet": lambda: Case(
        changed(cut(), 0, **unasked(cut().axes[0])), LENIENT
    ),
    "unreadable on one axis": lambda: Case(
        measured(scores(), pairs("unreadable")), shipped("ranking")
    ),
    "refuses 5 %": lambda: Case(measured(scores("fair?refused=0.05")), LENIENT),
    "refuses 12 %": lambda: Case(measured(scores("fair?refused=0.12")), limit(V, 0.2)),
    "refuses 12 %, ranking": lambda: Case(
        measured(pairs("fair?refused=0.12")), shipped("ranking")
    ),
    "broken, void, open and warned": lambda: Case(
        changed(
            measured(scores("first-biased?first=4"), pairs()), 1, served_models=SERVED
        ),
        limit(V, 0.1) + limit(EXCESS, 0.3) + limit(f"{SCORES}.order_flip_rate", 0.99, WARNS)
        + limit(f"{PAIRS}.order_inconsistent[set=same_subset]", 0.9),
    ),
    "shown, and no limit is broken": lambda: Case(
        measured(scores("first-biased")), limit(V, 0.99)
    ),
    "no policy": lambda: Case(measured(scores("first-biased"))),
    "no policy, two models": lambda: Case(two_models(0)),
    "nothing of the policy applies": lambda: Case(
        measured(scores()), limit(f"{PAIRS}.dark_current[kind=empty]", 0.1, "when_probed = true")
    ),
    "one figure touched": lambda: Case(one_figure_touched(), LENIENT + limit(EXCESS, 0.9)),
    "schema 1.3": lambda: Case(of_schema_1_3(measured(scores()))),
    "schema 1.3, cut": lambda: Case(of_schema_1_3(cut(0))),
}  # fmt: skip


@lru_cache(maxsize=64)
def case(name: str) -> Case:
    """The case of that name, made once."""
    return CASES[name]()
