"""The records that every format prints: what stands where, and that nothing is decided in them."""

import json
from dataclasses import asdict, replace

import pytest

from judgesheet.base.effects import JudgedEffect, Use
from judgesheet.base.facts import PolicyName
from judgesheet.base.records import Datasheet, Estimate, Mitigation, Verdict
from judgesheet.sheet import render
from judgesheet.sheet.context import DECISIONS, Figure, context, used
from tests.sheet import sheets
from tests.sheet.sheets import AXIS, Outcome

FLIPS, V = f"{AXIS}.excess_flip_rate", f"{AXIS}.cramers_v"


def effect(of: str, verdict: str, **also: object) -> JudgedEffect:
    known = {"text": f"About {of}.", "value": 0.2, "low": 0.1, "high": 0.3, "bound": 0.1, "p": None}
    return JudgedEffect(key=of, verdict=verdict, **{"uses": ("ranking",), **known, **also})  # type: ignore[arg-type]


def with_effects(*effects: JudgedEffect, sheet: Datasheet | None = None) -> Datasheet:
    sheet = sheet or sheets.judged()
    return replace(sheet, axes=(replace(sheet.axes[0], effects=effects), *sheet.axes[1:]))


def for_use(sheet: Datasheet, use: Use) -> Datasheet:
    policy = PolicyName("mine", use=use)
    return replace(sheet, provenance=replace(sheet.provenance, policy=policy), decision=None)


def test_what_is_shown_for_the_use_is_reported_before_the_rest() -> None:
    scoring = effect(V, "shown", uses=("scoring",))
    ranked = effect(FLIPS, "shown")
    page = context(for_use(with_effects(scoring, ranked), "ranking"))
    assert [reported.effect for reported in page.shown] == [ranked]
    assert [reported.effect for reported in page.beside] == [scoring]


def test_what_a_condition_says_is_not_reported_again() -> None:
    both = effect(V, "shown"), effect(FLIPS, "shown")
    page = context(with_effects(*both, sheet=sheets.judged("conditions")))
    assert page.decision is not None
    assert page.decision.conditions
    assert page.in_box == page.wrong == ()


def test_of_a_judge_without_a_fault_the_largest_possible_effects_are_reported() -> None:
    page = context(with_effects(effect(V, "inconclusive"), effect(FLIPS, "negligible")))
    assert [one.key for one in page.possible] == [V]
    assert page.shown == page.beside == ()


def test_an_axis_that_must_not_be_used_accuses_of_nothing() -> None:
    sheet = with_effects(effect(V, "shown"))
    void = replace(sheet, axes=(replace(sheet.axes[0], invalid="a control failed"),))
    page = context(void)
    assert page.shown == ()
    assert [answer.mark.tone for answer in page.answers] == ["none"]


def test_a_remedy_stands_beside_its_effect_with_what_is_left() -> None:
    sheet = with_effects(effect(FLIPS, "shown", remedy="average"))
    remedy = Mitigation("average", FLIPS, V, 5, outcome="helps", code="average")
    (finding,) = context(
        replace(sheet, axes=(replace(sheet.axes[0], mitigations=(remedy,)),))
    ).shown
    assert finding.remedy == remedy
    assert finding.after is not None
    assert finding.after.key == V


@pytest.mark.parametrize(
    ("kind", "limit", "bound", "null", "share"),
    [
        ("max", 0.1, 0.05, 0.0, 0.5),
        ("max", 0.6, 0.65, 0.5, 1.5),  # from where there is no preference
        ("min", 0.9, 0.95, 0.5, 0.5),  # from the best end: one half is a coin
        ("min", -0.2, -0.1, 0.0, 0.5),
        ("max", 0.1, None, 0.0, None),
    ],
)
def test_the_share_of_a_limit_that_is_used(
    kind: str, limit: float, bound: float | None, null: float, share: float | None
) -> None:
    figure = context(sheets.judged()).figures[V]
    given = Estimate(V, "", 0.2, unit="difference" if limit < 0 else "share")
    figure = replace(figure, estimate=given, row=replace(figure.row, null=null))
    verdict = Verdict("", V, 0.2, "pass", "", limit=limit, kind=kind, bound=bound)  # type: ignore[arg-type]
    assert used(verdict, figure) == (None if share is None else pytest.approx(share))


@pytest.mark.parametrize("verdict", ["adopt", "conditions", "inconclusive", "reject"])
def test_the_mark_is_that_of_the_decision(verdict: Outcome) -> None:
    sheet = sheets.judged(verdict)
    assert sheet.decision is not None
    assert context(sheet).mark == DECISIONS[sheet.decision.verdict]


def test_every_estimate_has_one_place() -> None:
    page = context(sheets.several(2))
    listed = [
        one.estimate.key for axis in page.axes for family in axis.families for one in family.figures
    ]
    measured = [e.key for axis in page.sheet.axes for e in axis.estimates if e.value is not None]
    assert sorted(listed) == sorted(measured)
    unmeasured = {e.key for axis in page.sheet.axes for e in axis.estimates if e.value is None}
    assert bool(unmeasured) == any(axis.missing for axis in page.axes)


def test_a_figure_is_marked_by_its_limit_before_its_effect() -> None:
    page = context(with_effects(effect(V, "negligible"), effect(FLIPS, "negligible")))
    verdicts = {one.key for one in page.sheet.verdicts}
    figure: Figure = page.figures[V]
    assert V in verdicts
    assert figure.mark.word != "negligible"
    assert page.figures[FLIPS].effect is not None


def test_the_page_holds_the_sheet_as_it_is() -> None:
    """What is printed is what the JSON has: nothing is computed anew."""
    sheet = sheets.judged()
    page, data = context(sheet), json.loads(render(sheet, "json"))
    (axis,) = data["axes"]
    known = {one["key"]: one for one in axis["estimates"]}
    for name, figure in page.figures.items():
        assert json.loads(json.dumps(asdict(figure.estimate))) == known[name]
    assert name.startswith(AXIS)
