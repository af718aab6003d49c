"""Effects judged by hand-made figures, in each branch; the error of a fair sheet; conditions."""

from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from judgesheet.axes import all_axes, get_axis
from judgesheet.base.effects import EXCESS, Effect, JudgedEffect
from judgesheet.base.keys import Key
from judgesheet.base.missing_reasons import EQUAL_SCORES, NOT_RECORDED, PERFECT
from judgesheet.base.records import Bounds, Estimate, Imputed, Mitigation
from judgesheet.decide import decide
from judgesheet.decide.bounded_value import p_at
from judgesheet.decide.effects import FEWEST, REST, TESTS, judged
from judgesheet.decide.policy import Policy
from judgesheet.stats.interval import mean_t
from tests.decide.test_controls import KEY, axis, limits, rate, sheet

P = "one.order_dependence_p"
SAYS = {name: f"{name} {{value}} {{interval}} {{bound}}" for name in
        ("shown", "by_test", "negligible", "inconclusive")}  # fmt: skip
UP = Effect(KEY, null=0.0, small=0.1, harm="up", says=SAYS, uses=("ranking",), test=P)
QUALITY = Effect(KEY, null=0.5, small=0.0, harm="down", says=SAYS)
BOTH = Effect(KEY, null=0.5, small=0.1, harm="both", says=SAYS)


OURS = ("candidate_order", "criterion_order", "listwise_consensus", "presentation", "score_order")
"""The axes that share the error of a sheet."""


def figure(value: float | None, low: float | None, high: float | None, **parts: Any) -> Estimate:
    given = {"unit": "difference", "n": 80, "clusters": 40, "note": "why", **parts}
    return Estimate(KEY, "a figure", value, low, high, **given)


def p(value: float) -> Estimate:
    return Estimate(P, "p", value, unit="p", clusters=40)


def judge(effect: Effect, *estimates: Estimate, **parts: Any) -> JudgedEffect:
    (one,) = judged(replace(axis(estimates=estimates, **parts), declared=(effect,)))
    return one


def r(value: float | None, low: float | None, high: float | None, **parts: Any) -> Estimate:
    return figure(value, low, high, **{"unit": "r", **parts})


@pytest.mark.parametrize(
    ("effect", "estimates", "verdict"),
    [
        (UP, (figure(0.02, -0.02, 0.06),), "negligible"),
        (UP, (figure(0.05, 0.02, 0.08), p(0.0001)), "negligible"),  # there, and small
        (UP, (figure(0.3, 0.25, 0.35),), "shown"),
        (UP, (figure(0.3, 0.02, 0.58),), "inconclusive"),
        (UP, (figure(0.1, -0.1, 0.3), p(0.0001)), "shown"),
        (UP, (figure(0.1, -0.1, 0.3), p(0.01)), "inconclusive"),
        (UP, (figure(None, None, None), p(0.0001)), "shown"),
        (UP, (figure(None, None, None), p(0.5)), "not_measured"),
        (UP, (figure(0.3, None, None),), "not_measured"),
        (UP, (figure(-0.3, -0.5, -0.1),), "negligible"),  # the other side does no harm
        (QUALITY, (r(0.9, 0.8, 0.95),), "negligible"),
        (QUALITY, (r(0.1, -0.1, 0.3),), "shown"),
        (QUALITY, (r(0.4, 0.1, 0.6),), "inconclusive"),
        (QUALITY, (r(None, None, None, reason=EQUAL_SCORES.code),), "shown"),
        (QUALITY, (r(None, None, None, reason=EQUAL_SCORES.code, clusters=2),), "not_measured"),
        (QUALITY, (r(1.0, None, None, reason=PERFECT.code),), "negligible"),
        (QUALITY, (r(1.0, None, None, reason=PERFECT.code, clusters=3),), "inconclusive"),
        (QUALITY, (r(-1.0, None, None, reason=PERFECT.code),), "shown"),
        (BOTH, (figure(0.5, 0.45, 0.55, unit="share"),), "negligible"),
        (BOTH, (figure(0.1, 0.05, 0.2, unit="share"),), "shown"),
        (BOTH, (figure(0.9, 0.8, 0.95, unit="share"),), "shown"),
        (BOTH, (figure(0.6, 0.45, 0.75, unit="share"),), "inconclusive"),
    ],
)
def test_a_verdict_on_an_effect(
    effect: Effect, estimates: tuple[Estimate, ...], verdict: str
) -> None:
    one = judge(effect, *estimates)
    assert one.verdict == verdict
    assert bool(one.why) == (verdict in ("not_measured", "invalid"))
    assert "{" not in one.text


def test_of_what_was_not_asked_nothing_is_said() -> None:
    assert not judged(replace(axis(estimates=(p(0.0001),)), declared=(UP,)))


def test_what_a_guess_gives_moves_the_null_midway_to_one() -> None:
    effect = replace(QUALITY, guessing="one.chance")
    chance = replace(p(0.5), key="one.chance")
    found = figure(0.62, 0.58, 0.66, unit="share")
    assert judge(effect, found).verdict == "negligible"
    assert judge(effect, found, chance).verdict == "shown"


def test_few_stimuli_may_show_and_never_clear() -> None:
    for clusters in (FEWEST - 1, FEWEST):
        quiet = judge(UP, figure(0.0, -0.01, 0.01, clusters=clusters))
        assert (quiet.verdict == "negligible") == (clusters == FEWEST)
    assert judge(UP, figure(0.9, 0.85, 0.95, clusters=4)).verdict == "shown"


def test_lost_calls_count_against_what_is_negligible_and_against_what_is_shown() -> None:
    lost = Imputed(9, -0.2, 0.4, -0.1, 0.3)
    assert judge(UP, figure(0.02, -0.02, 0.06, imputed=lost)).verdict == "inconclusive"
    bounds = Bounds(-0.1, 0.5)
    shown = figure(0.3, 0.25, 0.35, imputed=replace(lost, high=0.6), bounds=bounds)
    assert judge(UP, shown).verdict == "inconclusive"
    test = replace(p(0.0001), imputed=Imputed(9, 0.0001, 0.2))
    assert judge(UP, figure(0.1, -0.1, 0.3), test).verdict == "inconclusive"


def test_a_failed_control_of_the_judge_clears_of_nothing_and_accuses() -> None:
    parts = {"unearned": {KEY: "it reads nothing"}}
    quiet = judge(UP, figure(0.0, -0.02, 0.02), **parts)
    assert (quiet.verdict, quiet.why) == ("invalid", "it reads nothing")
    assert judge(UP, figure(0.3, 0.25, 0.35), **parts).verdict == "shown"


@pytest.mark.parametrize("part", [{"invalid": "cut"}, {"voided": {KEY: "cut"}}])
def test_a_failed_control_of_the_run_leaves_nothing_to_say(part: dict[str, Any]) -> None:
    for estimate in (figure(0.3, 0.25, 0.35), figure(0.0, -0.01, 0.01), figure(None, None, None)):
        one = judge(UP, estimate, p(0.0001), **part)
        assert (one.verdict, one.why) == ("invalid", "cut")


def test_a_test_that_must_not_be_used_shows_nothing() -> None:
    one = judge(UP, figure(0.1, -0.1, 0.3), p(0.0001), voided={P: "one reply given twice"})
    assert (one.verdict, one.p) == ("inconclusive", None)


@pytest.mark.parametrize(("has_others", "verdict"), [(True, "not_measured"), (False, "shown")])
def test_a_test_is_about_pairs_that_a_log_has(has_others: bool, verdict: str) -> None:
    keys = [f"{KEY}[set=lacking]", f"{KEY}[set=own]"]
    lacking = replace(figure(None, None, None, reason=NOT_RECORDED.code), key=keys[0])
    own = replace(figure(0.1, -0.1, 0.3), key=keys[1])
    found = (lacking, own, p(0.0001)) if has_others else (lacking, p(0.0001))
    declared = tuple(replace(UP, key=key) for key in keys)
    judged_ones = judged(replace(axis(estimates=found), declared=declared))
    assert {one.key: one.verdict for one in judged_ones}[keys[0]] == verdict


def test_every_member_of_a_family_is_judged_the_worst_first() -> None:
    family = replace(UP, key="one.gap[kind=*]", test="one.order_dependence_p[kind=*]")
    values = {"b": (0.01, 0.0, 0.02), "a": (0.3, 0.25, 0.35), "c": (0.6, 0.5, 0.7)}
    estimates = [replace(figure(*of), key=f"one.gap[kind={kind}]") for kind, of in values.items()]
    test = replace(p(0.0001), key="one.order_dependence_p[kind=b]")
    found = judged(replace(axis(estimates=(*estimates, test)), declared=(family,)))
    assert [one.key[-2] for one in found] == ["c", "a", "b"]
    assert [one.p for one in found] == [None, None, 0.0001]


def test_the_bound_that_decided_stands_beside_the_verdict() -> None:
    assert judge(UP, figure(0.3, 0.25, 0.35)).bound == 0.25
    assert judge(UP, figure(0.02, -0.02, 0.06)).bound == 0.06
    assert judge(QUALITY, r(0.9, 0.8, 0.95)).bound == 0.8
    assert judge(QUALITY, r(0.1, -0.1, 0.3)).bound == 0.3


def test_a_strangers_sentence_fills_in_no_more_than_its_numbers() -> None:
    says = {"shown": "{value.__class__} {0} {value:>999999} {key}"}
    one = judge(replace(UP, says=says), figure(0.3, 0.25, 0.35))
    assert one.text == says["shown"]


@pytest.mark.parametrize(
    ("estimate", "limit", "bound"),
    [
        (figure(0.3, 0.1, 0.5), 0.1, 0.1),
        (r(0.3, 0.1, 0.5), 0.1, 0.1),
        (figure(0.3, 0.1, 0.5, unit="share"), 0.1, 0.1),
        (figure(1.0, 0.9, 1.0, unit="share"), 0.9, 0.9),
    ],
)
def test_at_its_own_bound_a_value_is_as_surprising_as_the_bound_errs(
    estimate: Estimate, limit: float, bound: float
) -> None:
    """The bounds of these figures are the ends of their intervals, of level .95."""
    assert p_at(limit, bound, estimate) == pytest.approx(0.05)
    nearer = (bound + (estimate.value or 0.0)) / 2
    assert p_at(limit, nearer, estimate) < 0.05


SHIFT = Effect(KEY, null=0.0, small=1.5, harm="both", says=SAYS)
"""Points of 1 to 10, of which stimuli that were not drawn could lose nine."""


def shift(points: Any, **parts: Any) -> Estimate:
    found = mean_t(points, (-9.0, 9.0))
    assert found.bounds is not None
    return figure(
        found.value, found.low, found.high, clusters=found.clusters, unit="points",
        bounds=replace(Bounds(*found.bounds, seen=found.at().seen), **parts),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("points", "stimuli", "verdict"),
    [(3, 24, "shown"), (-3, 24, "shown"), (3, 6, "inconclusive")],  # as six coins fall
)
def test_points_that_every_stimulus_gains_are_shown_of_enough(
    points: int, stimuli: int, verdict: str
) -> None:
    """No share of others explains what is seen on those that were asked."""
    effect, moved = replace(SHIFT, share=0.0002), shift([points] * stimuli)
    assert judge(effect, moved).verdict == verdict
    assert judge(effect, shift([points] * stimuli, seen=None)).verdict == "inconclusive"
    # A limit on it leaves room for them.
    assert moved.bounds is not None
    assert moved.bounds.low < points < moved.bounds.high


@pytest.mark.parametrize("stimuli", [12, 24, 40])
@pytest.mark.parametrize("spread", [0.02, 0.1, 0.5], ids=["slips", "few", "half"])
def test_scores_that_nothing_moves_are_seldom_said_to_be_moved(stimuli: int, spread: float) -> None:
    """A judge that scores otherwise in a share of calls, by whole points, in both copies alike."""
    rng, error = np.random.default_rng([stimuli, int(100 * spread)]), 0.05
    effect = replace(SHIFT, share=error)
    moved = 0
    for _ in range(300):
        pair = rng.integers(-3, 4, (2, stimuli)) * (rng.random((2, stimuli)) < spread)
        moved += judge(effect, shift(pair[0] - pair[1])).verdict == "shown"
    assert binomtest(moved, 300, error, alternative="greater").pvalue > 0.01


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        (figure(0.02, -0.02, 0.06), figure(0.2, -0.1, 0.5), [f"{KEY}_too"]),
        (figure(0.1, -0.1, 0.3), figure(0.2, -0.1, 0.5), [KEY]),
        (figure(0.02, -0.02, 0.06), figure(0.02, -0.02, 0.06), []),
        (figure(0.1, -0.1, 0.3), figure(0.4, 0.35, 0.45), [f"{KEY}_too", KEY]),
    ],
    ids=["the first is small", "both are open", "both are small", "the second shows itself"],
)
def test_a_test_shows_the_first_effect_that_is_not_negligible(
    first: Estimate, second: Estimate, shown: list[str]
) -> None:
    too = replace(UP, key=f"{KEY}_too", test=P)
    estimates = (first, replace(second, key=too.key), p(0.0001))
    effects = judged(replace(axis(estimates=estimates), declared=(UP, too)))
    assert [one.key for one in effects if one.verdict == "shown"] == shown


def test_of_the_members_of_an_effect_a_test_shows_the_worst() -> None:
    values = {"a": 0.1, "b": 0.3, "c": 0.2}
    members = [
        replace(figure(value, value - 0.3, value + 0.3), key=f"{KEY}[criterion={name}]")
        for name, value in values.items()
    ]
    each = replace(UP, key=f"{KEY}[criterion=*]")
    effects = judged(replace(axis(estimates=(*members, p(0.0001))), declared=(each,)))
    assert [one.key for one in effects if one.verdict == "shown"] == [f"{KEY}[criterion=b]"]


def test_a_fair_sheet_shows_anything_in_five_of_a_hundred_at_most() -> None:
    """One axis more adds its own error of .01; so would what an effect takes for itself."""
    axes = [get_axis(name) for name in OURS]
    with_orders = [one for one in axes if any(effect.test for effect in one.EFFECTS)]
    assert len(with_orders) <= 4
    spent = 4 * (TESTS["order_dependence_p"] + EXCESS + TESTS["slice_p"]) + 5 * REST
    assert spent <= 0.05 + 1e-12
    for one in axes:
        shares = {Key.parse(effect.key).name: effect.share for effect in one.EFFECTS}
        assert sum(shares.values()) <= EXCESS, one.NAME


@pytest.mark.parametrize("name", all_axes())
def test_every_effect_declares_a_figure_sentences_and_a_remedy_of_its_axis(name: str) -> None:
    known = all_axes()[name].ESTIMATES
    for effect in all_axes()[name].EFFECTS:
        for key in filter(None, (effect.key, effect.test, effect.noise)):
            assert key.partition("[")[0].removeprefix(f"{name}.") in known, key
        assert {"shown", "negligible", "inconclusive"} <= set(effect.says)
        assert effect.uses
        assert abs(effect.null) < inf
        assert effect.small >= 0


# -- conditions ------------------------------------------------------------------------------------

MANY = replace(UP, remedy="swap")
SHOWN = figure(0.3, 0.25, 0.35)
REMEDY = Mitigation("ask twice", KEY, "one.other", 2, code="swap")


def adopted(policy: Policy, *effects: Effect, **parts: Any) -> Any:
    estimates = (SHOWN, rate("one.other", 0.02, 0.01, 0.04), rate("one.third"))
    one = replace(axis(estimates=estimates, **parts), declared=effects)
    return decide(sheet(one), policy).decision


@pytest.mark.parametrize(
    ("use", "verdict"), [("ranking", "conditions"), ("scoring", "adopt"), (None, "conditions")]
)
def test_what_is_shown_conditions_the_uses_that_it_concerns(use: Any, verdict: str) -> None:
    policy = limits('third"\nmax = 0.2').model_copy(update={"use": use})
    decision = adopted(policy, MANY, mitigations=(REMEDY,))
    assert (decision.verdict, decision.use) == (verdict, use or "")
    for one in decision.conditions:
        assert (one.keys, one.remedy, one.calls) == ((KEY,), "ask twice", 2)
        assert "30 %" in one.left


def test_a_warning_that_stays_open_is_not_settled_and_no_condition() -> None:
    policy = limits('third"\nmax = 0.2', 'rate"\nmax = 0.32\nnot_proven = "warn"')
    decision = adopted(policy)
    assert (decision.verdict, len(decision.not_settled)) == ("adopt", 1)


def test_a_remedy_of_what_breaks_a_limit_is_named() -> None:
    remedy = replace(REMEDY, gain="one.gain")
    gain = Estimate("one.gain", "gain", 0.2, 0.1, 0.3, unit="difference", clusters=40)
    estimates = SHOWN, rate("one.other", 0.02, 0.01, 0.04), gain
    one = replace(axis(mitigations=(remedy,), estimates=estimates), declared=(MANY,))
    decision = decide(sheet(one), limits('rate"\nmax = 0.1')).decision
    assert decision is not None
    (sentence,) = decision.what_would_decide
    assert sentence.startswith("ask twice (2 calls")
