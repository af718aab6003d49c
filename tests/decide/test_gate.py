"""The gate: limits proven, broken or left open, and everything that must never pass."""

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
import xmlschema
from click.testing import CliRunner, Result

import judgesheet
from judgesheet.axes import all_axes
from judgesheet.axis.figure import Figures, UnkeyedEstimate, absent
from judgesheet.base.datasheet import SCHEMA_VERSION, from_json, to_json
from judgesheet.base.errors import PolicyError, UsageError
from judgesheet.base.facts import JudgeIdentity, Provenance, RunFacts, StimulusPool
from judgesheet.base.keys import Key
from judgesheet.base.missing_reasons import NO_OBSERVATIONS, NOT_RECORDED, PERFECT
from judgesheet.base.records import (
    AxisResult,
    Bounds,
    Characteristic,
    Datasheet,
    Decision,
    Estimate,
    Imputed,
    Mitigation,
    Verdict,
)
from judgesheet.cli import main
from judgesheet.decide import decide
from judgesheet.decide import policy as policies
from judgesheet.decide.baseline import against
from judgesheet.decide.compare import compare
from judgesheet.decide.gate import MANY, NEVER, WORSE
from judgesheet.sheet import render, show
from judgesheet.sheet.context import context
from judgesheet.sheet.verdicts import annotations, as_markdown, as_text
from judgesheet.stats.interval import Ends, Interval
from tests.simulate import simulate

KEY = "candidate_order.order_inconsistent[set=same_subset]"
V = "score_order.cramers_v"


def share(key: str, value: float | None, low: float, high: float, **more: object) -> Estimate:
    """A rate with one-sided bounds at `low` and `high`."""
    note = "" if value is not None else "nothing was read"
    bounds = None if value is None else Bounds(low, high)
    return Estimate(key, key, value, low, high, unit="share", n=240, clusters=40, note=note,
                    bounds=bounds, **more)  # type: ignore[arg-type]  # fmt: skip


def sheet(*estimates: Estimate, **parts: object) -> Datasheet:
    """A datasheet with these estimates, each on its axis."""
    axes = tuple(
        AxisResult(name, name, "?", 100, 100, 0, 0, 0, tuple(mine), (),
                   characteristics=tuple(Characteristic(e.key, better="lower") for e in mine))
        for name in dict.fromkeys(Key.parse(e.key).axis for e in estimates)
        if (mine := [e for e in estimates if Key.parse(e.key).axis == name])
    )  # fmt: skip
    run = RunFacts(complete=True, ended_at="2026-11-21T07:00:00+00:00")
    made = Datasheet("1.1", JudgeIdentity("sim/judge"), run, Provenance(), axes)
    return replace(made, **parts)  # type: ignore[arg-type]


def policy(text: str) -> policies.Policy:
    return policies.parse(text, "mine.toml", dict.fromkeys(all_axes()))


def limit(key: str = KEY, rule: str = "max = 0.10", *more: str) -> str:
    return "\n".join(["[[limit]]", f'key = "{key}"', rule, *more, ""])


def decided(estimate: Estimate, rule: str) -> Verdict:
    (verdict,) = decide(sheet(estimate), policy(limit(estimate.key, rule))).verdicts
    return verdict


def verdict_of(made: Datasheet) -> str:
    assert made.decision is not None
    return made.decision.verdict


# -- one limit -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "rule", "status"),
    [
        (0.02, 0.09, "max = 0.10", "pass"),
        (0.02, 0.11, "max = 0.10", "inconclusive"),
        (0.11, 0.20, "max = 0.10", "fail"),
        (0.11, 0.20, "min = 0.10", "pass"),
        (0.05, 0.20, "min = 0.10", "inconclusive"),
        (0.02, 0.09, "min = 0.10", "fail"),
        (0.0, 1.0, "max = 1", "pass"),
    ],
)
def test_the_right_bound_decides(low: float, high: float, rule: str, status: str) -> None:
    verdict = decided(share(KEY, (low + high) / 2, low, high), rule)
    assert verdict.status == status
    assert verdict.bound in (low, high)
    assert bool(verdict.needed) == (status == "inconclusive")


def test_of_many_limits_one_is_broken_only_beyond_what_chance_breaks() -> None:
    """A judge that sits on five limits breaks one of them in a seventh of runs, taken singly."""
    others = [f"{KEY.partition('[')[0]}[set=s{n}]" for n in range(4)]
    keep = [share(key, 0.05, 0.02, 0.12) for key in others]
    rules = "".join(limit(key) for key in (KEY, *others))

    def held(low: float) -> list[str]:
        made = decide(sheet(share(KEY, 0.18, low, 0.27), *keep), policy(rules))
        return [one.status for one in made.verdicts]

    alone = decided(share(KEY, 0.18, 0.102, 0.27), "max = 0.10")
    assert alone.status == "fail"
    assert held(0.102) == ["inconclusive"] * 5
    made = decide(sheet(share(KEY, 0.18, 0.102, 0.27), *keep), policy(rules))
    assert "among 5 limits" in made.verdicts[0].why
    assert verdict_of(made) == "not_proven"
    assert held(0.14)[0] == "fail"


def test_after_the_first_broken_limit_the_others_are_held_to_less() -> None:
    second = f"{KEY.partition('[')[0]}[set=other]"
    rules = limit() + limit(second)
    both = sheet(share(KEY, 0.5, 0.4, 0.6), share(second, 0.18, 0.102, 0.27))
    assert [one.status for one in decide(both, policy(rules)).verdicts] == ["fail"] * 2
    one = sheet(share(KEY, 0.05, 0.02, 0.12), share(second, 0.18, 0.102, 0.27))
    assert [one.status for one in decide(one, policy(rules)).verdicts] == ["inconclusive"] * 2


def test_a_value_below_the_limit_is_no_proof() -> None:
    verdict = decided(share(KEY, 0.05, 0.01, 0.16), "max = 0.10")
    assert verdict.status == "inconclusive"
    assert verdict.limit == 0.10
    assert verdict.kind == "max"
    # the bound is .11 away and may be .05 away: 4.84 times the 40 stimuli
    assert "154 more stimuli" in verdict.needed


@pytest.mark.parametrize("value", [0.02, 0.1, 0.5])
def test_a_limit_on_flips_says_that_ties_are_broken_at_random(value: float) -> None:
    """Beside every verdict: a judge that ties everything flips in half of the readings or more."""
    key = "score_order.order_flip_rate"
    flips = replace(share(key, value, value - 0.02, value + 0.02), given={"ties": "random"})
    made = decide(sheet(flips, share(KEY, 0.02, 0.0, 0.05)), policy(limit(key) + limit(KEY)))
    reported, other = as_text(made).splitlines()[1:3]
    assert "ties are broken at random" in reported
    assert "ties" not in other
    if value == 0.5:
        assert render(made, "junit").count(b"ties are broken at random") > 0


@pytest.mark.parametrize(
    ("name", "profile"),  # quick asks for the criteria of one response per prompt: none to rank
    [("score_order", "quick"), ("criterion_order", "standard"), ("listwise_consensus", "quick")],
)
def test_flips_of_every_axis_break_ties_at_random(name: str, profile: str) -> None:
    found = {one.key: one for one in simulate("constant", profile, name).result.estimates}
    for flips in ("order_flip_rate", "repeat_flip_rate"):
        one = found[f"{name}.{flips}"]
        assert one.given == {"ties": "random"}
        assert "ties broken at random" in one.conditions
    assert (found[f"{name}.order_flip_rate"].value or 0) >= 0.5


def test_too_few_stimuli_for_any_judge_are_reported() -> None:
    none = replace(share(KEY, 0.0, 0.0, 0.109), clusters=20)  # (1 - .109)^20 = .1
    needed = decided(none, "max = 0.10").needed
    assert "20 stimuli are too few to prove it for any judge; about 9 more stimuli" in needed
    excess = replace(share(KEY, -0.02, -0.13, 0.12), clusters=20)  # a difference may be below 0
    assert "no judge" not in decided(excess, "max = 0.10").needed
    enough = share(KEY, 0.02, 0.0, 0.12)
    assert "no judge" not in decided(enough, "max = 0.10").needed


def test_a_limit_that_rounding_does_not_tell_from_0_is_read_as_0() -> None:
    none = share(KEY, 0.0, 0.0, 0.12)
    assert decided(none, "max = 1e-300").needed == decided(none, "max = 0").needed


def test_stimuli_that_lost_calls_outweigh_are_not_asked_for() -> None:
    """Of 20 % of lost calls the value may lie at .32, with however many stimuli."""
    lost = Imputed(32, 0.0, 0.48, 0.0, 0.32)
    none = replace(share(KEY, 0.0, 0.0, 0.105), imputed=lost, bounds=Bounds(0.0, 0.45))
    verdict = decided(none, "max = 0.10")
    assert verdict.more_stimuli is None
    assert verdict.needed.startswith("fewer calls without a verdict, since no number of stimuli")
    # The part of chance, .13, shrinks to the .05 that are left above the lost calls' .32.
    above = decided(none, "max = 0.37")
    assert above.needed == "verdicts for the lost calls: the calls that were read would decide it"
    read = replace(none, high=0.4)
    assert decided(read, "max = 0.37").more_stimuli == math.ceil(40 * ((0.13 / 0.05) ** 2 - 1))
    # Nor do more stimuli break a limit below a value that lost calls may bring down to 0.
    high = replace(share(KEY, 0.2, 0.05, 0.3), imputed=lost, bounds=Bounds(0.0, 0.45))
    assert "no number of stimuli" in decided(high, "max = 0.10").needed


def test_more_calls_do_not_decide_a_value_on_the_limit() -> None:
    assert decided(share(KEY, 0.1, 0.04, 0.18), "max = 0.10").needed == NEVER


def test_more_stimuli_than_anybody_adds_are_no_advice_unless_the_pool_has_them() -> None:
    near = share(KEY, 0.08, 0.03, 0.19)
    verdict = decided(near, "max = 0.10")
    assert (verdict.needed, verdict.more_stimuli) == (NEVER, None)
    pool = Provenance(stimuli=(StimulusPool("candidate_order", stimuli=40, in_pool=5000),))
    made = decide(replace(sheet(near), provenance=pool), policy(limit()))
    assert MANY < (made.verdicts[0].more_stimuli or 0) < 5000


def test_of_no_events_more_data_decides_in_proportion() -> None:
    verdict = decided(share(KEY, 0.0, 0.0, 0.2), "max = 0.10")
    assert "about 40 more stimuli" in verdict.needed


@pytest.mark.parametrize(
    "estimate",
    [
        Estimate(KEY, "x", None, note="nothing was read"),
        Estimate(KEY, "x", 0.0, None, None),
        Estimate(KEY, "x", float("nan"), 0.0, 0.01),
        share("candidate_order.wrong_rate[delta=1]", 0.0, 0.0, 0.01),
    ],
    ids=["null", "no interval", "NaN", "missing"],
)
def test_what_is_not_known_never_passes(estimate: Estimate) -> None:
    made = decide(sheet(estimate), policy(limit()))
    assert made.verdicts[0].status == "inconclusive"
    assert verdict_of(made) == "not_proven"


@pytest.mark.parametrize(
    ("low", "high", "rule", "status"),
    [
        (0.6, None, "min = 0.5", "pass"),
        (0.4, None, "min = 0.5", "inconclusive"),
        (0.6, None, "max = 0.5", "fail"),
        (0.4, None, "max = 0.5", "inconclusive"),
        (None, 0.6, "max = 0.65", "pass"),
        (None, 0.6, "min = 0.65", "fail"),
        (None, 0.6, "min = 0.5", "inconclusive"),
    ],
)
def test_one_bound_is_enough_for_its_side(
    low: float | None, high: float | None, rule: str, status: str
) -> None:
    verdict = decided(Estimate(KEY, "x", 0.55, low, high, n=40, clusters=20), rule)
    assert verdict.status == status
    assert bool(verdict.needed) == (status == "inconclusive")
    assert verdict.bound in (low, high)
    json.loads(json.dumps(verdict.bound), parse_constant=pytest.fail)


@pytest.mark.parametrize(
    ("r", "clusters", "lost", "status"),
    [
        (1.0, 24, None, "pass"),
        (1.0, 6, None, "inconclusive"),
        (1.0, 24, Imputed(3, 0.6, 1.0), "pass"),
        (1.0, 24, Imputed(3, 0.4, 1.0), "inconclusive"),
        (1.0, 24, Imputed(3, None, None), "inconclusive"),
        (-1.0, 24, None, "fail"),
        (1.0, 0, None, "inconclusive"),  # records that do not say how many stimuli they rest on
    ],
)
def test_of_a_perfect_correlation_stimuli_that_were_not_drawn_decide(
    r: float, clusters: int, lost: Imputed | None, status: str
) -> None:
    one = Estimate(KEY, "x", r, None, None, n=99, clusters=clusters, reason=PERFECT.code,
                   imputed=lost)  # fmt: skip
    assert decided(one, "min = 0.5").status == status


def test_a_value_on_the_wrong_side_is_not_told_to_ask_more() -> None:
    wrong = decided(share(KEY, 0.15, 0.05, 0.3), "max = 0.10").needed
    assert wrong.startswith("about 12")
    assert wrong.endswith(WORSE)
    right = decided(share(KEY, 0.15, 0.05, 0.3), "max = 0.20").needed
    assert right.endswith("would prove it if the value stays")
    floor = decided(Estimate(KEY, "x", 0.55, 0.4, None, n=40, clusters=20), "min = 0.6").needed
    assert floor.endswith(WORSE)


def test_a_sheet_without_bounds_is_held_to_its_interval() -> None:
    """Older sheets and sheets written by hand: the two-sided ends are conservative."""
    assert decided(Estimate(KEY, "x", 0.05, 0.01, 0.09), "max = 0.10").status == "pass"
    assert decided(Estimate(KEY, "x", 0.05, 0.01, 0.12), "max = 0.10").status == "inconclusive"


def test_a_sheet_of_schema_1_0_is_read() -> None:
    old = json.loads(to_json(sheet(Estimate(KEY, "x", 0.05, 0.01, 0.09))))
    old["schema_version"] = "1.0"
    del old["decision"]
    for estimate in old["axes"][0]["estimates"]:
        del estimate["bounds"]
    assert decide(from_json(json.dumps(old)), policy(limit())).verdicts[0].status == "pass"


def test_bounds_and_decision_survive_the_file() -> None:
    made = decide(sheet(share(KEY, 0.05, 0.01, 0.09)), policy(limit()))
    assert from_json(to_json(made)) == made


def test_a_misspelt_key_says_what_is_meant() -> None:
    key = KEY.replace("inconsistent", "inconsistant")
    made = decide(sheet(share(KEY, 0.0, 0.0, 0.01)), policy(limit(key)))
    assert KEY in made.verdicts[0].needed


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("candidate_order.order_inconsistent[set=subset]", KEY),
        ("candidate_order.order_inconsistent", KEY),
        ("candidate_order.dark_currents", "candidate_order.dark_current[kind=empty]"),
        ("score_order.dark_current[kind=empty]", "candidate_order.dark_current[kind=empty]"),
        ("candidate_order.threshold75", ""),
    ],
)
def test_the_name_says_what_is_meant_and_not_the_axis(wrong: str, meant: str) -> None:
    keys = (KEY, "candidate_order.dark_current[kind=empty]", "candidate_order.no_preference",
            "score_order.order_inconsistent")  # fmt: skip
    made = decide(sheet(*(share(key, 0.0, 0.0, 0.01) for key in keys)), policy(limit(wrong)))
    assert made.verdicts[0].needed == (
        f"is {meant} meant?" if meant else "`judgesheet explain` lists the keys"
    )


@pytest.mark.parametrize(
    ("limited", "needed"),
    [
        ("order_inconsistent[set=same_subset]", "--policy natural-pairs, which limits"),
        ("target_sensitivity[delta=5]", "--policy natural-pairs, which limits"),
        ("slot_gap[delta=1]", "a run that measures it; this one measures"),
        ("filler_preference", "a run that measures it"),
    ],
)
def test_the_key_of_a_shipped_policy_is_no_slip(limited: str, needed: str) -> None:
    """A run of pairs of one's own lacks what the built-in tasks have."""
    names = ("order_inconsistent", "target_sensitivity", "slot_gap")
    own = [share(f"candidate_order.{name}[set=natural]", 0.0, 0.0, 0.01) for name in names]
    made = decide(sheet(*own), policy(limit(f"candidate_order.{limited}")))
    assert made.verdicts[0].needed.startswith(needed)
    blank = [replace(one, value=None, note="nothing was read") for one in own]
    made = decide(sheet(*blank), policy(limit(f"candidate_order.{limited}")))
    assert made.verdicts[0].needed == "a run that measures it"


def test_rows_that_another_policy_would_decide_name_the_same_one() -> None:
    """A run of the built-in tasks; `ci-regression` limits one of these figures, too."""
    names = ("positional_false_preference", "order_inconsistent")
    built_in = [share(f"candidate_order.{name}[set=same_subset]", 0.0, 0.0, 0.01) for name in names]
    made = decide(
        sheet(*built_in),
        policy("".join(limit(f"candidate_order.{name}[set=natural]") for name in names)),
    )
    first, second = (one.needed.split(",")[0] for one in made.verdicts)
    assert first == second


def test_a_figure_without_a_value_is_named_by_its_key() -> None:
    """The sheet shows no label of it; the command says what it needs."""
    known = share(KEY, 0.0, 0.0, 0.01)
    lacking = replace(known, value=None, low=None, high=None, bounds=None, note="no pairs")
    made = decide(sheet(lacking), policy(limit(KEY)))
    assert made.decision is not None
    (needed,) = made.decision.what_would_decide
    assert "judgesheet explain candidate_order.order_inconsistent`" in needed
    assert needed.endswith(f"({KEY})")


def test_what_would_decide_says_what_records_lack() -> None:
    """`explain` tells what a figure is, not what a log has to hold for it."""
    known = share(KEY, 0.0, 0.0, 0.01)
    lacking = replace(known, value=None, note="the records lack pairs", reason=NOT_RECORDED.code)
    (verdict,) = decide(sheet(lacking), policy(limit(KEY))).verdicts
    assert verdict.needed == "`judgesheet probe`, as the records lack pairs"


def test_a_star_holds_every_member_to_the_limit() -> None:
    keys = [f"score_order.position_share[position={p}]" for p in (1, 2, 3)]
    estimates = [share(key, 0.2, 0.1, 0.3) for key in keys]
    rule = policy(limit("score_order.position_share[position=*]", "max = 0.4"))
    assert [v.key for v in decide(sheet(*estimates), rule).verdicts] == keys
    none = decide(sheet(share(V, 0.1, 0.0, 0.2)), rule)
    assert none.verdicts[0].status == "inconclusive"


# -- the decision --------------------------------------------------------------------------------

GOOD, BAD, OPEN = (share(KEY, 0.05, 0.01, 0.09), share(KEY, 0.3, 0.2, 0.4), share(KEY, 0.1, 0, 0.2))


def test_decisions() -> None:
    rule = policy(limit())
    assert verdict_of(decide(sheet(GOOD), rule)) == "adopt"
    assert verdict_of(decide(sheet(BAD), rule)) == "reject"
    assert verdict_of(decide(sheet(OPEN), rule)) == "not_proven"


def test_a_broken_limit_beats_one_that_is_open() -> None:
    made = decide(sheet(OPEN, share(V, 0.5, 0.4, 0.6)), policy(limit() + limit(V)))
    assert verdict_of(made) == "reject"
    assert made.decision is not None
    assert made.decision.limiting == V


def test_a_warning_is_not_settled_unless_it_is_broken() -> None:
    warn = policy(limit() + limit(V, "max = 0.1", 'not_proven = "warn"'))
    made = decide(sheet(GOOD, share(V, 0.1, 0, 0.2)), warn)
    assert verdict_of(made) == "adopt"
    assert made.decision is not None
    assert len(made.decision.not_settled) == 1
    assert verdict_of(decide(sheet(GOOD, share(V, 0.5, 0.4, 0.6)), warn)) == "reject"


def test_warnings_alone_prove_nothing() -> None:
    made = decide(sheet(OPEN), policy(limit(KEY, "max = 0.1", 'not_proven = "warn"')))
    assert verdict_of(made) == "not_proven"


def test_a_limit_kept_after_a_mitigation_asks_for_it() -> None:
    made = sheet(GOOD)
    remedy = Mitigation("ask in both orders", "candidate_order.raw_false_preference", KEY, 2)
    made = replace(made, axes=(replace(made.axes[0], mitigations=(remedy,)),))
    decision = decide(made, policy(limit())).decision
    assert decision is not None
    (one,) = decision.conditions
    assert (one.keys, one.remedy, one.calls) == ((KEY,), "ask in both orders", 2)


def test_lost_replies_and_an_open_run_prove_nothing() -> None:
    made = sheet(GOOD)
    lossy = replace(made, axes=(replace(made.axes[0], answered=80, unreadable=20),))
    assert verdict_of(decide(lossy, policy(limit()))) == "not_proven"
    cut = replace(made, run=RunFacts(complete=False))
    cut_here = replace(cut, axes=(replace(made.axes[0], answered=80),))
    for open_run in (cut, cut_here):
        judged = decide(open_run, policy(limit()))
        assert [one.status for one in judged.verdicts] == ["invalid"]
        assert verdict_of(judged) == "not_proven"
        # Nor does it reject: whoever looks again and again sees every judge break a limit once.
        broken = replace(open_run.axes[0], estimates=(share(KEY, 0.3, 0.25, 0.36),))
        judged = decide(replace(open_run, axes=(broken,)), policy(limit()))
        assert verdict_of(judged) == "not_proven"


def test_axes_that_were_not_probed() -> None:
    plain = decide(sheet(GOOD), policy(limit() + limit(V)))
    assert verdict_of(plain) == "not_proven"
    assert "--axis score_order" in plain.verdicts[1].needed
    lenient = policy(limit() + limit(V, "max = 0.1", "when_probed = true"))
    made = decide(sheet(GOOD), lenient)
    assert verdict_of(made) == "adopt"
    assert made.decision is not None
    assert "Not probed: score order" in made.decision.text


def test_a_policy_of_which_nothing_applies_proves_nothing() -> None:
    made = decide(sheet(GOOD), policy(limit(V, "max = 0.1", "when_probed = true")))
    assert made.verdicts == ()
    assert verdict_of(made) == "not_proven"


def test_the_day_of_review_is_named() -> None:
    decision = decide(sheet(GOOD), policy("review_days = 10\n" + limit())).decision
    assert decision is not None
    assert "2026-12-01" in decision.text


def test_a_day_of_review_beyond_the_calendar_is_not_named() -> None:
    last = replace(sheet(GOOD), run=replace(sheet(GOOD).run, ended_at="9999-12-31T23:59:59+00:00"))
    decision = decide(last, policy("review_days = 10\n" + limit())).decision
    assert decision is not None
    assert "Measure again" not in decision.text


# -- policies ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[limit]", "TOML"),
        (limit(KEY, f"max = 1{'0' * 5_000}"), "TOML"),
        ("", "no [[limit]]"),
        (limit(KEY, "max = 0.1\nmin = 0.2"), "not both"),
        (limit(KEY, ""), "either max or min"),
        (limit(KEY, "max = nan"), "finite"),
        (limit(KEY, "max = inf"), "finite"),
        (limit(KEY, 'max = "0.1"'), "limit.1.max"),
        (limit(KEY, "max = true"), "limit.1.max"),
        (limit(KEY, "maximum = 0.1"), "maximum"),
        (limit(KEY, "max = 0.1", 'not_proven = "ignore"'), "'fail' or 'warn'"),
        (limit() + limit(KEY, "max = 0.2"), "twice"),
        (limit("scor_order.cramers_v"), "there is no axis 'scor_order'"),
        (limit("cramers_v"), "key"),
        ("limits = 3\n" + limit(), "limits"),
        ("review_days = 0\n" + limit(), "review_days"),
        ('digest = "x"\n' + limit(), "digest"),
        ("limit = 3", "limit"),
        ("[[regression]]\nkey = 'score_order.cramers_v'\nmargin = -1", "margin"),
    ],
)
def test_a_broken_policy_is_one_sentence(text: str, words: str) -> None:
    with pytest.raises(PolicyError) as caught:
        policy(text)
    assert words in str(caught.value)
    assert "mine.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("side", ["max = 15", "min = -2"])
def test_a_limit_outside_the_scale_of_its_figure_has_its_line(side: str) -> None:
    with pytest.raises(PolicyError) as caught:
        policy(limit(KEY, side))
    assert caught.value.place == ("limit", 0, side[:3])
    assert len(policy(limit("criterion_order.score_spread", side)).limit) == 1


def test_a_floor_and_a_ceiling_on_one_key_are_two_limits() -> None:
    assert len(policy(limit() + limit(KEY, "min = 0.01")).limit) == 2


def test_an_unknown_policy_names_those_that_ship() -> None:
    with pytest.raises(
        UsageError, match="ci-regression, natural-pairs, order-only, ranking, scoring"
    ):
        policies.load("rankings")


@pytest.mark.parametrize("name", policies.shipped())
def test_shipped_policies_give_reasons_for_keys_that_exist(name: str) -> None:
    found = policies.load(name)
    assert found.name == name
    reasons = [(one.key, one.why) for one in found.limit]
    reasons += [(one.key, one.why) for one in found.regression]
    for key, why in reasons:
        assert len(why) > 20, key
        parts = Key.parse(key)
        if parts.axis in all_axes():
            assert parts.name in all_axes()[parts.axis].ESTIMATES, key


@pytest.mark.parametrize(
    ("axis", "name"), [("score_order", "scoring"), ("candidate_order", "ranking")]
)
def test_a_fair_judge_keeps_a_shipped_policy_with_one_axis(axis: str, name: str) -> None:
    made = simulate("fair", "standard", axis)
    probed = replace(sheet(GOOD), axes=(AxisResult.of(made.result),))
    judged = decide(probed, policies.load(name))
    assert verdict_of(judged) in ("adopt", "conditions"), as_text(judged)
    biased = simulate("position-only", "standard", axis)
    judged = decide(replace(probed, axes=(AxisResult.of(biased.result),)), policies.load(name))
    assert verdict_of(judged) == "reject"


def test_measuring_gives_bounds() -> None:
    def estimates(_: None) -> Iterator[UnkeyedEstimate]:
        ends = Ends(0.0, 0.05, (0.0, 0.04))
        yield UnkeyedEstimate("x", Interval(0.0, lambda _: ends, clusters=20), n=120)
        yield absent("x", NO_OBSERVATIONS)

    found, nothing = Figures("any")("share")(estimates)(None, 0.95)
    assert found.bounds is not None
    assert 0.03 < found.bounds.high < 0.05
    assert nothing.bounds is None


# -- a baseline ----------------------------------------------------------------------------------


def regression(margin: float, *more: str) -> policies.Policy:
    text = f'[[regression]]\nkey = "{KEY}"\nmargin = {margin}\n' + "\n".join(more)
    return policy(text)


def test_getting_worse_is_broken_proven_or_open() -> None:
    old, new = sheet(share(KEY, 0.05, 0.03, 0.08)), sheet(share(KEY, 0.30, 0.25, 0.36))
    worse = compare(old, new)
    (verdict,) = against(worse, regression(0.05))
    assert verdict.status == "fail"
    assert against(worse, regression(0.40))[0].status == "pass"
    assert against(worse, regression(0.25))[0].status == "inconclusive"
    assert against(compare(new, old), regression(0.05))[0].status == "pass"
    assert against(worse, regression(0.05, 'better = "higher"'))[0].status == "pass"


def test_a_bound_that_would_read_as_its_margin_has_more_digits() -> None:
    old, new = sheet(share(KEY, 0.05, 0.03, 0.08)), sheet(share(KEY, 0.30, 0.25, 0.36))
    (verdict,) = against(compare(old, new), regression(0.28))
    assert verdict.status == "inconclusive"
    assert verdict.bound is not None
    near = replace(verdict, limit=0.1, bound=0.1004, observed=0.05)
    of = share(KEY, 0.05, 0.02, 0.11)
    assert show.bound(near, replace(of, unit="V")) == "≤ 0.1004"
    close = policy(f'[[regression]]\nkey = "{KEY}"\nmargin = {verdict.bound - 1e-4}\n')
    (nearly,) = against(compare(old, new), close)
    assert nearly.needed.startswith("about 1.1 times the data of both runs")


def test_a_policy_without_margins_watches_its_limits_for_proven_harm() -> None:
    old, new = sheet(share(KEY, 0.05, 0.03, 0.08)), sheet(share(KEY, 0.30, 0.25, 0.36))
    (worse,) = against(compare(old, new), policy(limit()))
    assert worse.status == "fail"
    (same,) = against(compare(old, old), policy(limit()))
    assert same.status == "inconclusive"
    assert same.warns


def test_a_regression_that_cannot_be_seen_is_not_proven() -> None:
    old, new = sheet(share(V, 0.05, 0.03, 0.08)), sheet(share(V, 0.05, 0.03, 0.08))
    (verdict,) = against(compare(old, new), regression(0.1))
    assert verdict.status == "inconclusive"


# -- reports -------------------------------------------------------------------------------------

EVIL = "x\x00\x1b[31m<b>&\"'\n::error::%0A \u202e"


def three() -> Datasheet:
    """A proven, a broken, an open and a warned limit, with a hostile judge."""
    keys = [f"score_order.position_share[position={p}]" for p in (1, 2, 3, 4)]
    estimates = (
        share(keys[0], 0.05, 0.01, 0.09),
        share(keys[1], 0.3, 0.2, 0.4),
        Estimate(keys[2], "x", None, note=EVIL),
        share(keys[3], 0.1, 0.0, 0.2),
    )
    rules = [limit(key) for key in keys[:3]]
    rules.append(limit(keys[3], "max = 0.1", 'not_proven = "warn"'))
    return decide(sheet(*estimates, judge=JudgeIdentity(model=EVIL)), policy("".join(rules)))


def test_junit_is_valid_and_counts() -> None:
    text = render(three(), "junit").decode()
    xmlschema.XMLSchema(Path(__file__).parents[1] / "junit.xsd").validate(text)
    suite = ElementTree.fromstring(text)[0]
    assert {k: suite.get(k) for k in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5",  # the decision is one
        "failures": "2",
        "errors": "1",
        "skipped": "1",
    }
    assert suite.get("timestamp") == "2026-11-21T07:00:00"
    properties = {p.get("name"): p.get("value") for p in suite.iter("property")}
    assert properties["judge"] is not None
    assert "\x00" not in text
    assert len(properties["datasheet.sha256"] or "") == 64
    assert properties["policy.sha256"]


def test_junit_needs_a_decision() -> None:
    with pytest.raises(UsageError, match="--policy"):
        render(decide(sheet(GOOD)), "junit")


def test_junit_of_a_policy_of_which_nothing_applies_is_an_error() -> None:
    made = decide(sheet(GOOD), policy(limit(V, "max = 0.1", "when_probed = true")))
    text = render(made, "junit").decode()
    xmlschema.XMLSchema(Path(__file__).parents[1] / "junit.xsd").validate(text)
    (case,) = ElementTree.fromstring(text).iter("testcase")
    assert (case.get("name"), case[0].tag) == ("decision", "error")


def test_what_would_decide_follows_the_decision_as_a_sentence() -> None:
    made = decide(sheet(OPEN), policy(limit()))
    assert made.decision is not None
    text = f"{made.decision.text} What would decide: {made.decision.what_would_decide[0]}."
    of_decision, _ = annotations(made)
    assert of_decision.endswith(f"::{text.replace('%', '%25')}")
    (case, _) = ElementTree.fromstring(render(made, "junit").decode()).iter("testcase")
    assert case[0].text == text


def test_annotations_cannot_be_forged() -> None:
    lines = list(annotations(three()))
    levels = ["::error", "::error", "::error", "::warning"]
    assert [line.split(" ")[0] for line in lines] == levels
    assert all("\n" not in line and "\r" not in line for line in lines)
    of_decision, broken, open_, _ = lines
    assert "title=judgesheet%3A decision::Reject" in of_decision
    assert "position=2]" in broken
    assert "title=judgesheet%3A score_order" in broken
    assert "%250A" in open_


def test_tables_say_every_limit() -> None:
    for text in (as_text(three()), as_markdown(three())):
        for words in ("kept", "BROKEN", "NOT PROVEN", "not proven (warning)"):
            assert words in text
        assert "\x1b" not in text
    assert "<b>" not in as_markdown(three())


def test_a_change_from_the_baseline_is_no_second_limit_on_the_same_key() -> None:
    old, new = sheet(share(KEY, 0.30, 0.25, 0.36)), sheet(share(KEY, 0.05, 0.03, 0.08))
    worse = against(compare(old, new), policy(limit()))
    judged = decide(new, policy(limit()), worse)
    text, page = as_text(judged), as_markdown(judged)
    rows = [line for line in text.splitlines() if line.removeprefix("Δ ").startswith(KEY)]
    assert [row.startswith("Δ ") for row in rows] == [False, True]
    value, bound, most = re.split("  +", rows[1])[1:4]
    assert value == "worse by −25.0 percentage points"
    assert bound.endswith(" percentage points")
    assert most.endswith(" percentage points")
    assert f"`Δ {KEY}`" in page
    assert " -" not in "".join(rows)


# -- the command ---------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Runner":
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return Runner(tmp_path)


class Runner:
    """`judgesheet gate` in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, estimate: Estimate, text: str, *more: str) -> Result:
        path, rules = self.folder / "datasheet.json", self.folder / "mine.toml"
        path.write_text(to_json(sheet(estimate)), encoding="utf-8")
        rules.write_text(text, encoding="utf-8")
        return CliRunner().invoke(main, ["gate", str(self.folder), "--policy", str(rules), *more])


@pytest.mark.parametrize(
    ("estimate", "text", "code"),
    [
        (GOOD, limit(), 0),
        (BAD, limit(), 3),
        (OPEN, limit(), 4),
        (GOOD, limit("candidate_order.wrong_rate[delta=1]"), 4),
        (Estimate(KEY, "x", None, note="none"), limit(), 4),
        (OPEN, limit(V, "max = 0.1", "when_probed = true"), 4),
        (GOOD, "[[limit]", 1),
        (GOOD, limit("scor_order.x"), 1),
    ],
)
def test_exit_codes(run: "Runner", estimate: Estimate, text: str, code: int) -> None:
    done = run(estimate, text)
    assert done.exit_code == code, done.output
    if code == 1:
        assert done.stdout == ""
        assert done.stderr.startswith("judgesheet: mine.toml")
        assert done.stderr.count("\n") == 1


def test_a_warning_is_printed_and_passes(run: "Runner") -> None:
    text = limit(KEY, "max = 0.2") + limit(KEY, "min = 0.05", 'not_proven = "warn"')
    done = run(OPEN, text)
    assert done.exit_code == 0
    assert "? Not settled: " in done.stdout
    assert "not proven (warning)" in run(OPEN, text, "--verbose").stdout


def test_a_warning_about_a_figure_without_a_value_lies_within_no_limit() -> None:
    of_none = limit("candidate_order.wrong_rate[delta=1]", "max = 0.1", 'not_proven = "warn"')
    rules = limit(KEY, "max = 0.15", 'not_proven = "warn"') + of_none
    beyond, within, unmeasured = context(decide(sheet(OPEN), policy(rules))).waived
    assert not beyond
    assert [one.key for one in within] == [KEY]
    assert [one.key for one in unmeasured] == ["candidate_order.wrong_rate[delta=1]"]


def test_json_is_one_document(run: "Runner", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    done = run(OPEN, limit(), "--json")
    content = json.loads(done.stdout)
    assert content["exit_code"] == done.exit_code == 4
    assert content["decision"]["verdict"] == "not_proven"
    assert content["verdicts"][0]["key"] == KEY
    assert "::error" in done.stderr


def test_github_gets_annotations_and_a_summary(
    run: "Runner", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert "::error title=" in run(OPEN, limit()).stdout
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert KEY in text


def test_junit_and_baseline_from_the_command(run: "Runner", tmp_path: Path) -> None:
    old = tmp_path / "old.json"
    old.write_text(to_json(sheet(share(KEY, 0.01, 0.0, 0.03))), encoding="utf-8")
    more = ("--baseline", str(old), "--junit", str(tmp_path / "out" / "j.xml"))
    assert run(share(KEY, 0.3, 0.25, 0.36), limit(KEY, "max = 0.5"), *more).exit_code == 3
    assert (tmp_path / "out" / "j.xml").read_text(encoding="utf-8").count("<testcase") == 3
    assert run(share(KEY, 0.01, 0.0, 0.03), limit(KEY, "max = 0.5"), *more).exit_code == 0


def test_it_loads_no_arithmetic(tmp_path: Path) -> None:
    """A gate in a pipeline starts at once: also with a baseline, a JUnit file and a summary."""
    path, rules = tmp_path / "datasheet.json", tmp_path / "mine.toml"
    today = replace(sheet(GOOD), schema_version=SCHEMA_VERSION)
    path.write_text(to_json(today), encoding="utf-8")
    rules.write_text(limit(), encoding="utf-8")
    program = (
        "import sys\n"
        "from judgesheet.cli import main\n"
        "try:\n"
        "    main(sys.argv[1:])\n"
        "except SystemExit as stop:\n"
        "    assert stop.code == 0, stop.code\n"
        "heavy = {*'numpy scipy pandas statsmodels pyarrow weasyprint'.split(),\n"
        "         *'aiohttp httpx pypdf'.split()}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    command = ["gate", path, "--policy", rules, "--baseline", path, "--junit", tmp_path / "j.xml"]
    subprocess.run(
        [sys.executable, "-c", program, *map(str, command)],
        env={**os.environ, "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")},
        check=True,
        capture_output=True,
    )


def test_it_is_a_function(tmp_path: Path) -> None:
    path = tmp_path / "datasheet.json"
    path.write_text(to_json(sheet(GOOD)), encoding="utf-8")
    rules = tmp_path / "mine.toml"
    rules.write_text(limit(), encoding="utf-8")
    found = judgesheet.gate(path, rules)
    assert isinstance(found.decision, Decision)
    assert found.provenance.policy is not None
    assert found.provenance.policy.name == "mine.toml"


def test_an_axis_that_was_not_asked_yet_is_not_a_wrong_key() -> None:
    (axis,) = sheet(share(KEY, 0.05, 0.01, 0.1)).axes
    unasked = replace(axis, answered=0, estimates=())
    (verdict,) = decide(sheet(axes=(unasked,)), policy(limit())).verdicts
    assert verdict.status == "inconclusive"
    assert "made yet" in verdict.why


@pytest.mark.parametrize(
    ("high", "independent", "status"),
    [
        (0.08, 24, "pass"),
        (0.08, 2, "invalid"),
        (0.40, 2, "invalid"),  # what two stories show proves nothing against a judge, either
        (0.40, 24, "fail"),
    ],
)
def test_copies_of_two_stimuli_decide_nothing(high: float, independent: int, status: str) -> None:
    pools = (StimulusPool("candidate_order", stimuli=24, independent=independent),)
    rate = share(KEY, high - 0.05, high - 0.1, high)
    made = sheet(rate, provenance=Provenance(stimuli=pools))
    held = decide(made, policy("min_independent = 10\n" + limit())).verdicts
    assert [one.status for one in held] == [status]
    (free,) = decide(made, policy(limit())).verdicts
    assert free.status == ("pass" if high < 0.1 else "fail")


def test_few_stimuli_that_are_no_copies_can_reject_and_not_adopt() -> None:
    pools = (StimulusPool("candidate_order", stimuli=5, independent=5),)
    for rate, status in ((share(KEY, 0.0, 0.0, 0.08), "invalid"), (share(KEY, 1, 0.9, 1), "fail")):
        made = sheet(rate, provenance=Provenance(stimuli=pools))
        (verdict,) = decide(made, policy("min_independent = 10\n" + limit())).verdicts
        assert verdict.status == status
