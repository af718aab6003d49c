"""What the page says before any format prints it: decision, findings, controls, table, figures."""

import math
import re
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import pytest

from judgesheet.base.facts import JudgeIdentity, PromptUsed, Provenance, RunFacts, StimulusPool
from judgesheet.base.records import (
    AxisResult,
    Characteristic,
    Control,
    Datasheet,
    Estimate,
    Verdict,
)
from judgesheet.decide import decide
from judgesheet.decide.statuses import detectable
from judgesheet.sheet import show
from judgesheet.sheet.forest import forest
from judgesheet.sheet.page import Page, build
from judgesheet.sheet.page.appendix import EstimateFamily, families, missing
from judgesheet.sheet.page.identity import part_number, protocol_id, review_by
from judgesheet.sheet.page.parts import share_out
from judgesheet.sheet.page.printed import PrintedEstimate, printed, size
from judgesheet.sheet.page.schematic import schema
from judgesheet.sheet.page.table import TableRow
from tests.sheet import sheets


def row(name: str, page: Page) -> TableRow:
    return next(
        one for axis in page.axes for one in axis.every if one.key == f"{sheets.AXIS}.{name}"
    )


def page(sheet: Datasheet) -> Page:
    """The page of a sheet that was changed: decided anew, as every real one is."""
    return build(decide(sheet))


def words(spec: TableRow) -> list[str]:
    return [mark.word for mark in spec.marks]


def measured(
    value: float, low: float, high: float | None, null: float, unit: str = "share"
) -> TableRow:
    """The row of one estimate that stands alone on a sheet."""
    sheet = sheets.plausible()
    estimate = Estimate(f"{sheets.AXIS}.one", "one", value, low, high, unit=unit, n=9, clusters=9)
    characteristic = Characteristic(estimate.key, "X", null)
    axis = replace(sheet.axes[0], estimates=(estimate,), characteristics=(characteristic,))
    return row("one", page(replace(sheet, axes=(axis,))))


# -- identity --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("judge", "part"),
    [
        (JudgeIdentity("openai/gpt", served_models={"gpt-2026": 3}), "openai/gpt@gpt-2026"),
        (JudgeIdentity("openai/gpt", name="gpt", served_models={"gpt": 3}), "openai/gpt"),
        (JudgeIdentity("sim/fair", served_models={"sim/fair": 3}), "sim/fair"),
        (JudgeIdentity("a/b", served_models={"b-1": 3, "b-2": 1}), "a/b@2 models"),
        (JudgeIdentity(), "unnamed judge"),
    ],
)
def test_the_part_number_names_the_version_once(judge: JudgeIdentity, part: str) -> None:
    assert part_number(judge) == part


def test_the_protocol_changes_with_what_was_asked_and_nothing_else() -> None:
    sheet = sheets.plausible()
    same = replace(sheet, judge=JudgeIdentity(model="another"), axes=())
    warmer = replace(sheet, run=replace(sheet.run, temperature=1.0))
    prompts = (replace(sheet.provenance.prompts[0], digest="f" * 64),)
    worded = replace(sheet, provenance=replace(sheet.provenance, prompts=prompts))
    assert protocol_id(same) == protocol_id(sheet)
    assert len({protocol_id(one) for one in (sheet, warmer, worded)}) == 3


def test_a_sheet_is_reviewed_after_half_a_year_or_when_the_policy_says() -> None:
    sheet = sheets.plausible()
    assert review_by(sheet) == "19 May 2027"
    assert review_by(replace(sheet, run=replace(sheet.run, review_days=10))) == "30 November 2026"
    for run in (RunFacts(), RunFacts(ended_at="9999-12-31T23:59:59+00:00")):
        assert review_by(replace(sheet, run=run)) == show.NOT_RECORDED


# -- the decision, the findings and the controls ---------------------------------------------------


def test_without_a_policy_the_banner_says_how_to_apply_one() -> None:
    banner = build(sheets.plausible()).front.banner
    assert (banner.mark.style, banner.mark.word) == ("none", "NO POLICY APPLIED")
    assert "judgesheet measure RUN --policy" in banner.text


@pytest.mark.parametrize(
    ("verdict", "word"),
    [
        ("adopt", "ADOPT"),
        ("conditions", "ADOPT WITH CONDITIONS"),
        ("reject", "REJECT"),
        ("inconclusive", "NOT PROVEN"),
    ],
)
def test_the_banner_names_policy_counts_and_what_decided(verdict: Any, word: str) -> None:
    sheet = sheets.judged(verdict)
    decision = sheet.decision
    assert decision is not None
    assert decision.verdict == verdict
    banner = build(sheet).front.banner
    assert (banner.mark.word, banner.policy) == (word, "leaderboard")
    assert banner.counts == show.limits(decision)
    assert banner.limiting[0] == show.ROLES[decision.because]
    assert bool(banner.conditions) == (verdict == "conditions")
    assert bool(banner.needed) == (verdict in ("inconclusive", "reject"))


def test_the_figure_that_decides_has_its_value_its_bound_and_its_limit() -> None:
    figure = build(sheets.judged("reject")).front.banner.limiting[1]
    assert figure.startswith("Order of the rubric's scores: Cramér's V of the chosen position, ")
    assert figure.endswith("0.271 (one-sided bound ≥ 0.229, limit ≤ 0.15)")


def test_findings_stand_in_the_order_that_was_decided_under_their_axis() -> None:
    sheet = sheets.several(2)
    stop = replace(sheet.axes[1].findings[-1], text="Do not use it for X.", stops=True)
    told = (*sheet.axes[1].findings, stop)
    front = page(replace(sheet, axes=(sheet.axes[0], replace(sheet.axes[1], findings=told)))).front
    assert [finding.rank for finding in front.findings] == list(range(1, 12))
    first = front.findings[0]
    assert (first.mark.word, first.must, first.axis) == ("Do not use", True, sheet.axes[1].title)
    assert [axis for axis, _ in front.by_axis] == [sheet.axes[1].title, sheet.axes[0].title]
    assert sum(len(told) for _, told in front.by_axis) == 11


def test_problems_come_first() -> None:
    tones = [finding.mark.style for finding in build(sheets.plausible()).front.findings]
    assert tones == ["bad", "bad", "unknown", "good", "neutral"]


def test_every_axis_has_its_line_at_a_glance() -> None:
    sheet = sheets.several(3)
    cut = replace(sheet.run, complete=False)
    axes = (sheet.axes[0], replace(sheet.axes[1], answered=400), *sheet.axes[2:])
    front = page(replace(sheet, run=cut, axes=axes)).front
    assert [line.axis for line in front.glance] == [axis.title for axis in sheet.axes]
    assert [line.mark.word for line in front.glance] == ["problem", "not usable", "problem"]
    assert "414 calls" in front.glance[1].asked
    limited = build(sheets.judged("reject")).front.glance[0]
    assert (limited.mark.word, limited.limit) == ("fail", "≤ 0.15")


def test_a_problem_at_a_glance_stands_beside_how_the_limit_of_its_figure_came_out() -> None:
    sheet = sheets.judged("reject")
    summary = sheet.axes[0].summary
    assert summary is not None
    found = replace(sheet.axes[0], summary=replace(summary, outcome="problem"))
    line = build(replace(sheet, axes=(found, *sheet.axes[1:]))).front.glance[0]
    assert (line.mark.word, line.limit) == ("problem", "≤ 0.15, broken")


def test_all_stimuli_are_counted_beside_the_independent_ones() -> None:
    sheet = sheets.plausible()
    (axis,) = sheet.axes
    independent = max(estimate.clusters for estimate in axis.estimates)
    pool = StimulusPool(axis.name, "own", independent + 3)
    for told in (independent, independent + 3):
        stimuli = (replace(pool, independent=told),)
        asked = page(replace(sheet, provenance=Provenance(stimuli=stimuli))).front.glance[0].asked
        assert (f"{independent + 3} stimuli, {independent} " in asked) == (told == independent)


def test_what_a_void_axis_says_is_marked_and_nothing_of_another() -> None:
    sheet = sheets.several(2)
    failed = Control("one form of reply", False, "They differ.", of="run")
    sheet = replace(sheet, axes=(sheet.axes[0], replace(sheet.axes[1], controls=(failed,))))
    shown = page(sheet)
    assert shown.front.checks[0].mark.word == "failed"
    assert [bool(axis.void) for axis in shown.axes] == [False, True]
    assert {words(one)[0] for one in shown.axes[1].every} == {"not usable"}
    assert "not usable" not in {word for one in shown.axes[0].every for word in words(one)}
    control, *others = shown.findings[1]
    assert (control.mark.word, control.mark.style, control.holds) == ("Not usable", "bad", True)
    assert {one.mark.style for one in others} == {"invalid"}
    assert not any(one.holds for one in others)
    assert {one.axis for one in shown.front.advice} == {sheet.axes[0].title}
    assert shown.front.findings[0] == control


def test_controls_that_failed_come_first_and_those_that_passed_are_one_line() -> None:
    axes = sheets.several(2).axes
    asked = [
        Control("first", True, "yes", code="a"),
        Control("second", None, "who knows", code="b"),
        Control("third", False, "no", code="c"),
    ]
    front = page(
        replace(sheets.several(2), axes=(replace(axes[0], controls=tuple(asked)), axes[1]))
    ).front
    own = [check for check in front.checks if check.name in ("first", "second", "third")]
    assert [check.name for check in own] == ["third", "second", "first"]
    assert "first" in front.passed
    assert not {"second", "third"} & set(front.passed.split(", "))


# -- what the table says of a figure ---------------------------------------------------------------


def test_the_smallest_detectable_effect_is_that_of_80_percent_power() -> None:
    """At a standard error of .05, 80 of 100 runs find an effect of (1.960 + 0.842) * .05."""
    half = 1.959964 * 0.05
    estimate = Estimate("a.b", "b", 0.0, -half, half)
    assert detectable(estimate) == pytest.approx(0.14008, abs=1e-4)
    assert detectable(replace(estimate, low=None)) is None


@pytest.mark.parametrize(
    ("value", "low", "high", "null", "marks", "resolved"),
    [
        (0.20, 0.10, 0.30, 0.0, ["effect"], False),
        (0.02, -0.03, 0.07, 0.0, ["none seen"], True),  # would have seen 7 %
        (0.02, -0.10, 0.14, 0.0, ["open"], True),  # would have seen only 17 %
        (0.0, 0.0, 0.16, 0.0, ["open", "floor"], True),
        (1.0, 0.83, 1.0, 0.5, ["effect", "ceiling"], False),
        (0.5, 0.30, None, 0.0, ["effect"], False),
        (0.0, 0.0, None, 0.0, ["open", "floor"], False),  # without an end, nothing is ruled out
    ],
)
def test_a_null_is_never_a_tick(
    value: float, low: float, high: float | None, null: float, marks: list[str], resolved: bool
) -> None:
    spec = measured(value, low, high, null)
    assert words(spec) == marks
    assert bool(spec.detectable) == resolved
    assert "✓" not in {mark.symbol for mark in spec.marks}


@pytest.mark.parametrize(
    ("low", "high", "mark"), [(0.40, 0.60, "effect"), (0.20, 0.35, "noise"), (0.36, 0.5, "open")]
)
def test_an_order_effect_must_rise_above_noise(low: float, high: float, mark: str) -> None:
    """Repetition alone gives .30, .23 to .38 on this sheet."""
    sheet = sheets.plausible()
    name = f"{sheets.AXIS}.order_flip_rate"
    moved = tuple(
        replace(one, value=(low + high) / 2, low=low, high=high) if one.key == name else one
        for one in sheet.axes[0].estimates
    )
    shown = page(replace(sheet, axes=(replace(sheet.axes[0], estimates=moved),)))
    assert words(row("order_flip_rate", shown)) == [mark]


def test_one_odd_reply_is_no_effect() -> None:
    assert words(measured(0.004, 0.001, 0.026, 0.0)) == ["none seen"]
    assert words(measured(0.04, 0.02, 0.06, 0.0)) == ["effect"]


def test_a_unit_without_a_scale_is_left_open() -> None:
    assert words(measured(0.0, -1.0, 1.0, 0.0, "points")) == ["open"]


def test_limits_marks_and_noise_stand_beside_the_figure() -> None:
    page = build(sheets.judged())
    assert [words(row(name, page)) for name, *_ in sheets.LIMITS] == [
        ["fail"], ["inconclusive"], ["pass"], ["inconclusive"], ["pass"]
    ]  # fmt: skip
    assert row("cramers_v", page).limit == "≤ 0.15"
    assert row("kendall_tau", page).limit == "≥ 0.3"
    assert row("order_flip_rate", page).limit == "≤ 60"
    assert row("order_flip_rate", page).noise == "30"


def test_of_two_rules_for_a_figure_the_worse_outcome_is_printed() -> None:
    sheet = sheets.judged()
    broken = sheet.verdicts[0]
    kept = Verdict("at least 0", broken.key, 0.27, "pass", "it is", 0.0, "min")
    for verdicts in ((broken, kept), (kept, broken)):
        shown = page(replace(sheet, verdicts=verdicts))
        assert words(row("cramers_v", shown)) == ["fail"]
        assert row("cramers_v", shown).limit == "≤ 0.15, ≥ 0"


# -- room ------------------------------------------------------------------------------------------


def test_room_is_shared_in_turns() -> None:
    queues = [["a1", "a2", "a3"], ["b1"], ["c1", "c2"]]
    assert share_out(queues, 5) == [["a1", "a2"], ["b1"], ["c1", "c2"]]
    assert share_out(queues, 0) == [[], [], []]


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_every_axis_shows_up_in_the_table_and_in_the_plot(number: int) -> None:
    page = build(sheets.several(number))
    assert all(axis.rows for axis in page.axes)
    drawn = forest(page.axes).svg
    assert all(axis.title[:40].replace("'", "&#39;") in drawn for axis in page.axes)


def test_rows_that_are_trimmed_are_counted() -> None:
    for axis in build(sheets.several(4)).axes:
        left_out = len(axis.every) - len(axis.rows)
        assert left_out > 0
        assert axis.more == f"+{left_out} more in the appendix, 1 not measured"


def test_caveats_without_end_are_counted() -> None:
    axis = replace(sheets.plausible().axes[0], caveats=tuple(f"no. {n}" for n in range(1_102)))
    told = page(replace(sheets.plausible(), axes=(axis,))).axes[0].caveats
    assert told[99:] == ("no. 99", "1,002 more are in datasheet.json.")


def test_figures_under_a_limit_or_behind_a_problem_are_shown_and_the_others_take_turns() -> None:
    keys = [estimate.key for estimate in sheets.plausible().axes[0].estimates]
    held = sheets.judged().verdicts[0]
    verdicts = tuple(replace(held, key=key) for key in keys)
    (axis,) = page(replace(sheets.judged(), verdicts=verdicts)).axes
    assert {row.key for row in axis.rows} == set(keys) > {row.key for row in axis.every if row.turn}
    turns = [[row.turn for row in axis.every] for axis in build(sheets.several(3)).axes]
    # Each begins with the figure on which its problem rests, whatever the room.
    assert [turn[:3] for turn in turns] == [[0, 1, 4], [0, 2, 5], [0, 3, 6]]


@pytest.mark.parametrize(
    ("kind", "limit", "status", "least", "most"),
    [
        ("max", 0.4, "pass", "0.10", "≤ 0.30"),
        ("max", 0.2, "inconclusive", "0.10", "≤ 0.30"),
        ("max", 0.1, "fail", "≥ 0.10", "0.30"),
        ("min", 0.1, "pass", "≥ 0.10", "0.30"),
        ("min", 0.4, "fail", "0.10", "≤ 0.30"),
    ],
)
def test_the_bound_that_decides_stands_in_place_of_its_end(
    kind: Any, limit: float, status: Any, least: str, most: str
) -> None:
    sheet = sheets.judged()
    spec = measured(0.2, 0.1, 0.3, 0.0, "V")
    bound = 0.1 if "≥" in least else 0.3
    rule = replace(sheet.verdicts[0], key=spec.key, status=status, kind=kind, limit=limit)
    axis = replace(sheet.axes[0], estimates=(spec.estimate,), characteristics=(), mitigations=())
    (part,) = build(replace(sheet, axes=(axis,), verdicts=(replace(rule, bound=bound),))).axes
    assert [(row.least, row.shown.value, row.most) for row in part.every] == [(least, "0.20", most)]


# -- drawings --------------------------------------------------------------------------------------


def test_the_forest_draws_limits_and_says_outcomes_in_words() -> None:
    drawing = forest(build(sheets.judged()).axes)
    for text in ("✗ broken", "✓ proven", "? not proven", "≤ 0.15", "points", "share | coefficient"):
        assert text in drawing.svg
    assert "limit ≤ 0.15, broken" in drawing.description
    assert not any(math.isnan(float(x)) for x in drawing.svg.split('"') if x.strip(".-").isdigit())


def test_what_reaches_beyond_the_scale_is_an_arrow_and_no_label_meets_the_next() -> None:
    sheet, wide = sheets.judged(), measured(0.89, -0.7, 1.12, 1.0, "share")
    axis = replace(
        sheet.axes[0],
        estimates=(wide.estimate,),
        characteristics=(Characteristic(wide.estimate.key, "X", 1.0),),
    )
    verdict = replace(sheet.verdicts[0], key=wide.estimate.key)
    drawn = forest(page(replace(sheet, axes=(axis,), verdicts=(verdict,))).axes).svg
    assert re.search(r"l3 2l-3 2|l-3 2l3 2", drawn), "the interval goes on"
    assert "stroke-dasharray" in drawn, "no effect is at the end of the scale, and drawn"
    ticks = re.findall(r'<text x="([\d.]+)" y="[\d.]+" fill="#5b636d">[−\d]+ %<', drawn)
    assert all(float(b) - float(a) > 24 for a, b in pairwise(ticks))
    assert len(ticks) > 4


def test_the_bound_that_decides_is_drawn_from_the_value_and_every_sign_is_named() -> None:
    sheet = sheets.judged()
    verdict = replace(sheet.verdicts[0], bound=0.2, limit=0.15)
    rule = replace(sheet, verdicts=(verdict,))
    drawn = forest(build(rule).axes).svg
    places = {
        text: float(x)
        for x, text in re.findall(r'<text x="([\d.]+)" y="[\d.]+" fill="#5b636d">([\d.]+)<', drawn)
    }
    left, right = places["0"], places["1"]
    # The last such stroke: the first one is the sample of the legend.
    *_, bound = re.findall(r'd="M([\d.]+) [\d.]+H([\d.]+)M[^"]*" [^>]*stroke-width="2.2"', drawn)
    ends = [(float(x) - left) / (right - left) for x in bound]
    assert ends == [pytest.approx(0.2713, abs=2e-3), pytest.approx(0.2, abs=2e-3)]
    for sign in ("value", "95 % interval", "one-sided bound", "limit", "no effect"):
        assert sign in drawn
    without = forest(build(sheets.plausible()).axes).svg
    assert "bound" not in without
    assert ">limit" not in without


def test_of_two_limits_on_a_figure_both_are_drawn() -> None:
    sheet = sheets.judged()
    broken = sheet.verdicts[0]
    kept = Verdict("at least 0", broken.key, 0.27, "pass", "it is", 0.0, "min", bound=0.23)
    worse = replace(broken, against_baseline=True, status="pass")
    drawn = forest(build(replace(sheet, verdicts=(broken, kept, worse))).axes)
    told = [(dict(card)["Limit"], dict(card)["Result"]) for _, card in drawn.cards]
    assert told == [("≤ 0.15", "✗ broken"), ("≥ 0", "✓ proven")]
    assert "limit ≤ 0.15, broken" in drawn.description
    assert "limit ≥ 0, proven" in drawn.description


def test_of_many_limits_the_plot_shows_the_worst_and_counts_the_others() -> None:
    sheet = sheets.judged()
    cells = [e for e in sheet.axes[0].estimates if e.key.startswith(f"{sheets.AXIS}.selection")]
    kept = [replace(sheet.verdicts[0], key=e.key, status="pass") for e in cells]
    broken = replace(kept[-1], status="fail")
    drawn = forest(build(replace(sheet, verdicts=(*kept[:-1], broken))).axes)
    assert len(drawn.cards) == 24
    assert drawn.cards[-1][0].endswith(cells[-1].label)
    assert drawn.notes == ("1 more limits are in the table of page two",)


def test_the_price_is_that_of_verdicts_and_says_so() -> None:
    sheet = sheets.plausible()
    lost = replace(sheet.axes[0], answered=sheet.axes[0].answered // 2)
    cost = lost.answered / 1000
    price = build(replace(sheet, axes=(lost,), run=replace(sheet.run, cost_usd=cost))).front.price
    assert [fact.value for fact in price if fact.name == "Per 1,000 readable verdicts"] == ["$1.00"]


def test_a_forest_without_policy_has_no_limits() -> None:
    drawing = forest(build(sheets.plausible()).axes)
    assert "Limit" not in drawing.svg
    assert "no policy was applied" in drawing.caption


def test_nothing_measured_draws_nothing() -> None:
    drawing = forest(build(sheets.all_unreadable()).axes)
    assert (drawing.svg, drawing.notes) == ("", ("No effect with an interval was measured",))


def test_the_schematic_marks_what_changes_place() -> None:
    drawn = schema(PromptUsed("x", template=sheets.TEMPLATE, permuted=("options",)), "Order")
    assert drawn is not None
    marked = [line.text for line in drawn.lines if line.permuted]
    assert marked == ["Score ‹option score›: ‹option description›"]
    assert "‹response›" in [line.text for line in drawn.lines]
    assert schema(PromptUsed("x"), "x") is None


def test_a_permuted_variable_may_have_several_words() -> None:
    template = "# Task\n{{ first_answer.text }} and {{ task }}\nplain"
    drawn = schema(PromptUsed("x", template=template, permuted=("first_answer",)), "x")
    assert drawn is not None
    assert [(line.text, line.permuted, line.frame) for line in drawn.lines] == [
        ("# Task", False, True),
        ("‹first answer text› and ‹task›", True, True),
        ("plain", False, False),
    ]


def test_a_control_that_several_axes_passed_is_told_once() -> None:
    axes = sheets.several(2).axes
    same = Control("scores follow quality", True, "They do.", code="follows_quality")
    for second, lines in ((same, 1), (replace(same, code="another"), 2)):
        controls = (replace(axes[0], controls=(same,)), replace(axes[1], controls=(second,)))
        checks = page(replace(sheets.several(2), axes=controls)).front.checks
        assert [check.name for check in checks].count(same.name) == lines


def test_what_axes_say_of_one_control_are_sentences_that_follow_each_other() -> None:
    axes = sheets.several(2).axes
    first = Control("scores follow quality", True, "They do, mostly.", code="follows_quality")
    controls = (
        replace(axes[0], controls=(first,)),
        replace(axes[1], controls=(replace(first, text="nobody asked"),)),
    )
    checks = page(replace(sheets.several(2), axes=controls)).front.checks
    [told] = [check.text for check in checks if check.name == first.name]
    assert told == "They do, mostly. Nobody asked."


@pytest.mark.parametrize(
    "template",
    [
        "{% if a %}x{% else %}y",
        "{% endif %}{% endfor %}",
        "{{ 7 * 7 }}",
        "{{ a",
        "{% for %}\n{{x}}",
    ],
)
def test_a_broken_template_breaks_no_sheet(template: str) -> None:
    schema(PromptUsed("x", template=template), "x")


# -- the appendix ----------------------------------------------------------------------------------


def members(*estimates: Estimate) -> AxisResult:
    return replace(sheets.plausible().axes[0], estimates=estimates)


def cell(score: int, position: int, note: str = "", n: int = 90) -> Estimate:
    key = f"{sheets.AXIS}.selection[score={score},position={position}]"
    return Estimate(key, "share", 0.2, 0.1, 0.3, unit="share", n=n, clusters=9, note=note)


def in_words(axis: AxisResult) -> dict[str, PrintedEstimate]:
    return {estimate.key: printed(estimate, axis) for estimate in axis.estimates}


def families_of(axis: AxisResult) -> list[EstimateFamily]:
    return list(families(axis, in_words(axis)))


def test_estimates_over_two_dimensions_are_a_table_whose_notes_are_said_once() -> None:
    every = [cell(score, place, "seen once") for score, place in product((1, 2, 3), repeat=2)]
    (family,) = families_of(members(*every))
    assert family.grid is not None
    assert family.grid.columns == ("1", "2", "3")
    assert [(head, len(row)) for head, _, row in family.grid.rows] == [("1", 3), ("2", 3), ("3", 3)]
    assert "Note: seen once." in family.about
    assert not family.worded


def test_what_a_table_cannot_say_stands_below_it() -> None:
    places = list(product((1, 2, 3), repeat=2))
    every = [cell(score, place, n=80 + score) for score, place in places[:-1]]
    every.append(cell(3, 3, "few", 83))
    (family,) = families_of(members(*every))
    assert family.grid is not None
    assert [size for _, size, _ in family.grid.rows] == ["81 (9)", "82 (9)", "83 (9)"]
    assert [line.remarks for line in family.worded] == ["few."]


def test_a_few_members_or_one_dimension_are_no_table() -> None:
    (family,) = families_of(members(cell(1, 1), cell(1, 2), cell(2, 1), cell(2, 2)))
    assert family.grid is None
    assert len(family.worded) == 4


def test_what_was_not_measured_is_collected_by_reason() -> None:
    absent = [replace(cell(1, place), value=None, note="none was read") for place in (1, 2)]
    other = Estimate(f"{sheets.AXIS}.chi2", "chi2", None, note="too few")
    axis = members(cell(2, 1), *absent, other)
    (family,) = families_of(axis)
    assert len(family.lines) == 1
    told = [
        (reason.why, [(name, len(lines)) for name, lines in reason.families])
        for reason in missing(axis, in_words(axis))
    ]
    assert told == [
        ("none was read.", [(f"{sheets.AXIS}.selection", 2)]),
        ("too few.", [(f"{sheets.AXIS}.chi2", 1)]),
    ]


def test_a_small_rate_has_its_count_and_no_other_has() -> None:
    rate = replace(cell(1, 1), value=0.0139, n=72, count=1)
    assert size(rate) == "1 of 72 (9)"
    assert size(replace(rate, value=0.06)) == "72 (9)"
    assert size(replace(rate, count=None)) == "72 (9)"


def test_the_most_that_a_design_allows_is_a_condition() -> None:
    sheet = sheets.plausible()
    key = sheet.axes[0].characteristics[0].key
    bounded = [replace(e, ceiling=0.889) if e.key == key else e for e in sheet.axes[0].estimates]
    axis = replace(sheet.axes[0], estimates=tuple(bounded))
    (part,) = build(replace(sheet, axes=(axis,))).axes
    (first,) = (spec for spec in part.every if spec.key == key)
    assert "at most 88.9 % possible" in first.conditions


def test_latency_is_told_with_where_it_was_seen() -> None:
    sheet = sheets.plausible()
    local = replace(sheet.judge, base_url=None)
    here = replace(sheet, judge=local, run=replace(sheet.run, machine="2 cores, a processor"))
    for one, where in ((sheet, "the probing machine"), (here, "2 cores, a processor")):
        assert any(where in fact.value for fact in build(one).front.price)
    assert ("Tokens per call, in / out", "355 / 7") in [
        (fact.name, fact.value) for fact in build(sheet).front.price
    ]


def test_the_rows_of_the_plot_are_cards_too_and_their_texts_end_before_the_next() -> None:
    drawn = forest(build(sheets.judged()).axes)
    name, facts = drawn.cards[0]
    assert name.startswith("Order of the rubric's scores: ")
    assert {"Value (interval)", "Limit", "Result"} <= dict(facts).keys()
    assert len(drawn.cards) == drawn.description.count(";") + 1
    long = measured(-0.003, -0.009, 0.004, 0.0, "difference")
    sheet = sheets.judged()
    title = "Verdict changes with the order, same content in other words"
    axis = replace(
        sheet.axes[0],
        estimates=(replace(long.estimate, label=title),),
        characteristics=(Characteristic(long.estimate.key, "X", 0.0),),
    )
    verdict = replace(sheet.verdicts[0], key=long.estimate.key)
    svg = forest(page(replace(sheet, axes=(axis,), verdicts=(verdict,))).axes).svg
    words = " ".join(re.findall(r">([^<]+)</text>", svg))
    assert title in words
    assert "… " not in words
    assert svg.count('font-size="') == 1
