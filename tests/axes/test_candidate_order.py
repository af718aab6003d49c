"""The axis hides what it knows, recovers what was planted, and says so in words."""

import asyncio
import gzip
import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist, correlation, fmean
from typing import Any

import pandas as pd
import pytest

from judgesheet.axes import get_axis
from judgesheet.axes.candidate_order.ask import Composer, length_spread
from judgesheet.axes.candidate_order.read import verdict_probabilities
from judgesheet.axis import Options, Readings
from judgesheet.axis.material import word_count
from judgesheet.base.errors import StimuliError, TemplateError
from judgesheet.base.facts import JudgeIdentity, Provenance, RunFacts
from judgesheet.base.records import Call, MeasuredAxis, MeasuredSheet, Plan
from judgesheet.decide.decide import decide
from judgesheet.decide.policy import load as load_policy
from judgesheet.judges.simulated import SimulatedJudge
from judgesheet.measuring.measure import COLUMNS, measure_axis, parse_rows
from judgesheet.planning.plan import make_plan
from judgesheet.planning.stimuli import load
from tests.simulate import SHARED, Sheet, planned, simulate

AXIS = get_axis("candidate_order")
SAME = "[set=same_subset]"


def plan_of(profile: str = "quick", **options: Any) -> Plan:
    if not options:  # shared
        return planned(profile, "candidate_order", 0, False, None)
    chosen = Options(profile=profile, reply=options.pop("reply", "json"), **options)
    return make_plan([AXIS], {"candidate_order": chosen}, 0)


def sheet_of(spec: str, profile: str = "quick", **options: Any) -> Sheet:
    return simulate(spec, profile=profile, axis="candidate_order", **options)


def shown(call: Call) -> list[str]:
    """The two responses of a prompt."""
    text = call.messages[0]["content"]
    return re.findall(r"<response_\d>\n(.*?)\n</response_\d>", text, re.DOTALL)


# -- design --------------------------------------------------------------------------------------


def test_every_pair_of_every_arm_is_shown_in_both_orders() -> None:
    seen = defaultdict(list)
    for call in plan_of("standard").calls:
        cell = call.cell
        arm = (call.stimulus, cell["pair"], cell["prompt"], cell["listing"], call.repeat)
        seen[arm].append((tuple(cell["order"]), shown(call)))
    for orders in seen.values():
        (one, texts), (other, swapped) = sorted(orders)
        assert (one, other) == (("u", "v"), ("v", "u"))
        assert texts == swapped[::-1]


def test_the_full_design_holds_the_papers() -> None:
    calls = [c for c in plan_of("full").calls if c.cell["prompt"] == "baseline"]
    task = [c for c in calls if c.stimulus == "co-cooking-1" and c.cell["listing"] == "1|2|tie"]
    conditions = Counter(
        (c.cell["condition"], c.cell["delta"]) for c in task if c.cell["order"][0] == "u"
    )
    assert [conditions["ladder", step] for step in (1, 2, 3, 4)] == [5, 4, 3, 2]
    assert conditions["ladder", 5] == 1
    assert conditions["delta0_same", 0] == 6 * 4  # four repeats
    assert conditions["vacuum", 0] == 3
    strict = {c.cell["condition"] for c in plan_of("full").calls if c.cell["prompt"] == "strict"}
    assert strict == {"vacuum", "delta0_same", "ladder"}


@pytest.mark.parametrize("profile", ["quick", "standard"])
def test_what_policies_limit_is_asked_of_every_task(profile: str) -> None:
    """Tasks prove a rate; a figure on some of them proves as little as those few do."""
    calls = plan_of(profile).calls
    limited = {("vacuum", "identical", 0), ("delta0_same", None, 0)}
    limited |= {("ladder", None, 1), ("ladder", None, 5)}
    for one in limited:
        cells = [(c.cell["condition"], c.cell["kind"], c.cell["delta"]) for c in calls]
        asked = {c.stimulus for c, cell in zip(calls, cells, strict=True) if cell == one}
        assert asked == {c.stimulus for c in calls}, one


def test_pairs_of_levels_come_again_in_other_wordings_only_after_all_came_once() -> None:
    task = load(AXIS)[0].fields
    once, often = (Composer(task, 0).ladder(4, count) for count in (None, 100))
    assert often[: len(once)] == once
    assert len(often) == 3 * len(once)
    assert len({(pair.pair, pair.u, pair.v) for pair in often}) == len(often)


@pytest.mark.parametrize(("profile", "low", "high"), [("smoke", 20, 40), ("quick", 400, 520)])
def test_small_profiles_stay_small(profile: str, low: int, high: int) -> None:
    assert low <= len(plan_of(profile).calls) <= high


def test_arms_are_mixed_within_a_task_and_tasks_stand_together() -> None:
    calls = plan_of("standard").calls
    stimuli = [call.stimulus for call in calls]
    assert sum(a != b for a, b in pairwise(stimuli)) == len(set(stimuli)) - 1
    strict = next(call.stimulus for call in calls if call.cell["prompt"] == "strict")
    first = [call.cell["prompt"] for call in calls if call.stimulus == strict]
    assert sum(a != b for a, b in pairwise(first)) > 5


def test_calls_of_a_task_share_everything_before_the_instruction() -> None:
    calls = [c for c in plan_of().calls if c.stimulus == "co-cooking-1"]
    heads = {c.messages[0]["content"].split("## How to decide")[0] for c in calls}
    assert len(heads) == 1


def test_responses_do_not_depend_on_the_profile() -> None:
    texts = [
        {c.cell["pair"]: shown(c) for c in plan_of(profile).calls if c.stimulus == "co-cooking-1"
         and c.cell["order"][0] == "u" and c.cell["condition"] == "ladder"}
        for profile in ("quick", "full")
    ]  # fmt: skip
    assert texts[0].items() <= texts[1].items()


def test_a_seed_gives_other_arrangements() -> None:
    chosen = {"candidate_order": Options(profile="smoke", reply="json")}
    one, other = (make_plan([AXIS], chosen, seed).calls for seed in (0, 1))
    assert {c.id for c in one}.isdisjoint({c.id for c in other if c.cell["condition"] != "vacuum"})


# -- what the judge may not see --------------------------------------------------------------------


def test_no_prompt_reveals_level_step_or_winner() -> None:
    """Everything around the two responses is the same for all pairs of a task and an arm."""
    frames = defaultdict(set)
    for reply in ("text", "json"):
        for call in plan_of("full", reply=reply).calls:
            text, cell = call.messages[0]["content"], call.cell
            for response in shown(call):
                text = text.replace(f">\n{response}\n<", ">\n\n<", 1)
            frames[call.stimulus, cell["prompt"], cell["listing"], reply].add(text)
            secrets = (call.stimulus, cell["pair"], cell["condition"], "delta", "vacuum")
            reported = "|".join(map(re.escape, secrets))
            assert not re.search(rf"\b(?:{reported})\b", call.messages[0]["content"])
    assert all(len(frame) == 1 for frame in frames.values())


def sentences(text: str) -> list[str]:
    return re.findall(r"[^.!?]+[.!?]", text)


def test_levels_have_equal_shape_and_nest() -> None:
    for stimulus in load(AXIS):
        composer = Composer(stimulus.fields, 7)
        for wording in range(3):
            full = [{e["full"][wording] for e in stimulus.fields["elements"][:k]}
                    for k in range(composer.levels + 1)]  # fmt: skip
            levels = [composer.response(k, wording) for k in range(composer.levels + 1)]
            for level, (text, needed) in enumerate(zip(levels, full, strict=True)):
                assert all(sentence in text for sentence in needed)
                assert sum(e["full"][wording] in text for e in stimulus.fields["elements"]) == level
        assert length_spread(stimulus.fields) <= 0.10


def test_length_does_not_follow_the_level() -> None:
    levels, lengths = [], []
    for stimulus in load(AXIS):
        composer = Composer(stimulus.fields, 0)
        of_task = [(level, word_count(composer.response(level, wording)))
                   for level in range(composer.levels + 1) for wording in range(3)]  # fmt: skip
        mean = fmean(words for _, words in of_task)
        levels += [level for level, _ in of_task]
        lengths += [words / mean for _, words in of_task]
    assert abs(correlation(levels, lengths)) < 0.1


def test_every_built_in_task_has_a_domain_of_its_own() -> None:
    domains = [stimulus.fields["domain"] for stimulus in load(AXIS)]
    assert len(set(domains)) == len(domains) == 48


def test_two_levels_in_one_wording_differ_in_the_step_alone() -> None:
    slots = {one.id: one.fields["elements"][0]["full"][0] for one in load(AXIS)}
    for call in plan_of("full").calls:
        delta = call.cell["delta"]
        if call.cell["condition"] == "ladder" and delta >= 1 and float(delta).is_integer():
            of_slot, one, other = (
                set(re.split(r"(?<=[.!?]) ", text)) for text in (slots[call.stimulus], *shown(call))
            )
            assert len(one - other) == len(other - one) == delta * len(of_slot)


def test_the_place_of_a_stated_element_says_nothing() -> None:
    """Over tasks and wordings, the slots of a level-1 response are spread over the text."""
    places = []
    for stimulus in load(AXIS):
        for wording in range(3):
            text = Composer(stimulus.fields, 0).response(1, wording)
            places.append(text.index(stimulus.fields["elements"][0]["full"][wording]) / len(text))
    assert 0.25 < fmean(places) < 0.55
    assert min(places) == 0
    assert max(places) > 0.6


def test_a_half_step_lies_between_two_levels() -> None:
    stimulus = load(AXIS)[0]
    composer = Composer(stimulus.fields, 0)
    text = composer.response(1.5, 0)
    first, second = stimulus.fields["elements"][:2]
    assert first["full"][0] in text
    assert second["half"][0] in text
    assert second["full"][0] not in text
    steps = {pair.pair for pair in composer.ladder(0.5)}
    assert len(steps) == 2 * composer.levels


def test_vacuum_pairs_are_empty_white_or_identical() -> None:
    for call in plan_of().calls:
        if call.cell["condition"] == "vacuum":
            one, other = shown(call)
            kind = call.cell["kind"]
            assert (one == other == "") if kind == "empty" else one.strip() == other.strip()
            assert bool(one.strip()) == (kind == "identical")


def test_the_prompt_and_the_form_list_the_same_answers() -> None:
    for call in plan_of("standard").calls:
        listed = re.findall(r'"winner": (.*)}', call.messages[0]["content"])[-1]
        assert listed.replace('"', "").replace(" ", "") == call.cell["listing"]
        schema = call.params["response_format"]["json_schema"]["schema"]
        assert "|".join(schema["properties"]["winner"]["enum"]) == call.cell["listing"]


# -- frauds --------------------------------------------------------------------------------------


RAW, LARGEST = f"raw_false_preference{SAME}", "target_sensitivity[delta=5]"
TWICE, WRONG, GAP = "dark_current[kind=identical]", "wrong_rate[delta=1]", "slot_gap[delta=1]"
ORDER, SLOT_TWICE = f"excess_change_rate{SAME}", f"positional_false_preference{SAME}"


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ("always-1", {TWICE, RAW, ORDER, SLOT_TWICE, GAP, WRONG, LARGEST}),
        ("always-tie", {LARGEST}),
        ("longer", {RAW, LARGEST, "filler_preference"}),
        ("random", {TWICE, WRONG, LARGEST}),
        ("hash", {TWICE, RAW, ORDER, SLOT_TWICE, WRONG, LARGEST}),
    ],
)
def test_the_sheet_of_a_fraud_says_what_it_is(spec: str, shown: set[str]) -> None:
    sheet = sheet_of(spec, "standard")
    of_blank = {f"dark_current[kind={kind}]" for kind in ("empty", "whitespace")}
    also = of_blank if TWICE in shown else set()
    assert sheet.shown() - {"slot_gap[delta=5]"} == shown | also
    # It reads nothing, so what else looks well is no merit.
    assert not [one for one in sheet.effects.values() if one.verdict == "negligible"]


@pytest.mark.parametrize("profile", ["quick", "standard"])
@pytest.mark.parametrize("spec", ["perfect", "good", "fair"])
def test_a_sound_judge_is_cleared(spec: str, profile: str) -> None:
    sheet = sheet_of(spec, profile)
    for name in (TWICE, RAW, SLOT_TWICE, GAP, WRONG, LARGEST, "filler_preference"):
        assert sheet.effects[name].verdict == "negligible", name
    assert not sheet.shown()


def test_a_coin_that_reads_is_noisy_and_follows_no_slot() -> None:
    """It sees what differs and flips a coin between equals, whatever their order."""
    sheet = sheet_of("perfect", "standard", edit=coin_between_equals)
    assert sheet.value(f"order_inconsistent{SAME}") > 0.35
    assert ORDER not in sheet.shown()
    assert {RAW, SLOT_TWICE} <= sheet.shown()
    assert limited(sheet, ORDER, "order-only") == "pass"
    assert limited(sheet, SLOT_TWICE, "ranking") == "fail"


def coin_between_equals(frame: pd.DataFrame) -> pd.DataFrame:
    """The better response wherever there is one, a coin between equals."""
    coin = random.Random(3)
    cells = frame["cell"].map(json.loads)
    equal = cells.map(lambda cell: cell["condition"] == "delta0_same")
    drawn = [json.dumps({"winner": coin.choice("12")}) for _ in frame.index]
    return frame.assign(text=frame["text"].mask(equal, pd.Series(drawn, frame.index)))


def test_what_few_pairs_leave_open_is_not_cleared() -> None:
    sheet = sheet_of("perfect", "first")
    assert not [one for one in sheet.effects.values() if one.verdict == "shown"]
    assert sheet.effects[TWICE].verdict == "inconclusive"


def test_a_preference_where_there_is_none_to_have_is_shown() -> None:
    assert TWICE in sheet_of("fair?lapse=0.5").shown()


def test_a_large_difference_that_is_missed_is_shown_whatever_small_ones_are() -> None:
    def spoil(frame: pd.DataFrame) -> pd.DataFrame:
        large = frame["cell"].map(lambda cell: json.loads(cell)["delta"] == 5)
        frame.loc[large, "text"] = '{"winner": "tie"}'
        return frame

    assert LARGEST in sheet_of("fair", edit=spoil).shown()


def test_a_large_difference_that_is_seen_in_most_calls_passes_and_may_still_not_be_reliable() -> (
    None
):
    sheet = sheet_of("fair?tie=1&sensitivity=0.42", "quick")
    assert [one.passed for one in sheet.result.controls] == [True]
    assert sheet.effects[LARGEST].verdict == "inconclusive"


def first_of_equals(frame: pd.DataFrame) -> pd.DataFrame:
    """The better response wherever there is one, slot 1 between equals."""
    cells = frame["cell"].map(json.loads)
    slots = [1 + cell["order"].index(cell["better"]) if cell["better"] else 1 for cell in cells]
    return frame.assign(text=[f'{{"winner": "{slot}"}}' for slot in slots])


@pytest.mark.parametrize("profile", ["quick", "standard"])
def test_a_judge_that_takes_slot_1_of_equals_is_reported_to_ask_both_orders(profile: str) -> None:
    sheet = sheet_of("perfect", profile, edit=first_of_equals)
    assert sheet.value(RAW) == 1
    assert {RAW, ORDER, SLOT_TWICE} <= sheet.shown()
    assert all(control.passed for control in sheet.result.controls)
    remedy = next(
        one for one in sheet.result.mitigations if one.code == sheet.effects[ORDER].remedy
    )
    assert remedy.after == f"candidate_order.stable_cross_sensitivity{SAME}"
    assert limited(sheet, SLOT_TWICE) == "fail"


def first_where_they_differ(frame: pd.DataFrame) -> pd.DataFrame:
    """Slot 1 where one response states a little more, and otherwise as it was."""
    cells = frame["cell"].map(json.loads)
    close = cells.map(lambda cell: cell["condition"] == "ladder" and cell["delta"] < 4)
    return frame.assign(text=frame["text"].mask(close, '{"winner": "1"}'))


@pytest.mark.parametrize("profile", ["quick", "standard"])
def test_a_slot_that_decides_only_where_responses_differ_is_shown_too(profile: str) -> None:
    sheet = sheet_of("perfect", profile, edit=first_where_they_differ)
    assert sheet.value(GAP) == 1
    assert GAP in sheet.shown()
    assert {limited(sheet, GAP, name) for name in ("order-only", "ranking")} == {"fail"}


def first_slot_of_padded(frame: pd.DataFrame) -> pd.DataFrame:
    """Slot 1 where one of the two is padded, and otherwise as it was."""
    cells = frame["cell"].map(json.loads)
    filler = cells.map(lambda cell: cell["condition"] == "filler")
    return frame.assign(text=frame["text"].mask(filler, '{"winner": "1"}'))


def test_a_slot_that_decides_where_one_is_padded_is_rejected() -> None:
    sheet = sheet_of("good", "quick", edit=first_slot_of_padded)
    assert sheet.value("filler_preference") == 0.5
    changes = sheet["order_inconsistent[set=filler]"]
    assert (changes.value, changes.n, changes.clusters) == (1.0, 42, 42)
    assert limited(sheet, "order_inconsistent[set=filler]") == "fail"


@pytest.mark.parametrize("spec", ["perfect", "good", "good?slip=0.03", "fair"])
def test_a_sound_judge_is_shown_not_to_follow_the_slot_where_one_is_padded(spec: str) -> None:
    assert limited(sheet_of(spec, "quick"), "order_inconsistent[set=filler]") == "pass"


def padded(frame: pd.DataFrame) -> pd.DataFrame:
    """The padded copy of a response, and otherwise as it was."""
    cells = frame["cell"].map(json.loads)
    slots = cells.map(lambda cell: 1 + cell["order"].index("v"))
    text = slots.map(lambda slot: f'{{"winner": "{slot}"}}')
    return frame.assign(text=text.where(cells.map(lambda c: c["condition"] == "filler"),
                                        frame["text"]))  # fmt: skip


def test_a_judge_that_prefers_padding_is_told_so_and_rejected() -> None:
    sheet = sheet_of("good", "quick", edit=padded)
    assert sheet.value("filler_preference") == 1
    assert sheet.shown() == {"filler_preference"}
    assert limited(sheet) == "fail"


@pytest.mark.parametrize(
    ("spec", "status"),
    # Whoever always says tie keeps it for no merit.
    [("perfect", "pass"), ("good", "pass"), ("fair", "pass"), ("always-tie", "invalid")],
)
def test_a_judge_to_whom_padding_makes_no_difference_keeps_the_limit(
    spec: str, status: str
) -> None:
    assert limited(sheet_of(spec, "quick")) == status


def limited(sheet: Sheet, name: str = "filler_preference", policy: str = "ranking") -> str:
    """How the limit of a policy on a figure comes out, by default that on padding."""
    decided = decide(
        MeasuredSheet("", JudgeIdentity(), RunFacts(), Provenance(), axes=(sheet.result,)),
        load_policy(policy),
    )
    key = f"candidate_order.{name}"
    return next(verdict.status for verdict in decided.verdicts if verdict.key == key)


# -- what was planted is found -------------------------------------------------------------------


def truths(sheet: Sheet, spec: str) -> dict[str, float]:
    """Rates by enumeration of the planted probabilities over the calls of the plan."""
    planted = SimulatedJudge.from_name(spec).parameters
    chance = {c.id: verdict_probabilities(planted, c.cell, c.stimulus) for c in sheet.plan.calls}
    first = [c for c in sheet.plan.calls if c.repeat == 0 and c.cell["listing"] == "1|2|tie"]

    def calls(**cell: Any) -> list[Call]:
        wanted = {"prompt": "baseline", **cell}
        return [c for c in first if all(c.cell[k] == v for k, v in wanted.items())]

    def mean(verdict: str, mine: list[Call]) -> float:
        return fmean(chance[c.id][verdict] for c in mine)

    pairs: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
    for call in calls(condition="delta0_same"):
        pairs[call.stimulus, call.cell["pair"]][call.cell["order"][0]] = chance[call.id]
    both = [(pair["u"], pair["v"]) for pair in pairs.values()]
    # Of u, of v and of neither, in the order (u, v) and in the other one.
    said = [((u["1"], u["2"], u["tie"]), (v["2"], v["1"], v["tie"])) for u, v in both]
    right = [
        chance[c.id]["1" if c.cell["better"] == c.cell["order"][0] else "2"]
        for c in calls(condition="ladder", delta=1)
    ]
    decided = 1 - mean("tie", calls(condition="delta0_same"))
    excess = fmean(sum((a - b) ** 2 for a, b in zip(*one, strict=True)) / 2 for one in said)
    strict = calls(condition="delta0_same", prompt="strict")
    return {
        "dark_current": 1 - mean("tie", calls(condition="vacuum")),
        f"raw_false_preference{SAME}": decided,
        f"stable_cross_sensitivity{SAME}": fmean(
            u["1"] * v["2"] + u["2"] * v["1"] for u, v in both
        ),
        f"positional_false_preference{SAME}": fmean(
            u["1"] * v["1"] + u["2"] * v["2"] for u, v in both
        ),
        f"no_preference{SAME}": fmean(u["tie"] * v["tie"] for u, v in both),
        f"slot1_share{SAME}": mean("1", calls(condition="delta0_same")) / decided,
        ORDER: excess,
        "target_sensitivity[delta=1]": fmean(right),
        "criterion_shift[delta=0]": mean("tie", strict) + decided - 1,
    }


@pytest.mark.parametrize(
    "spec",
    [
        "fair?slot=3&tie=2",
        "fair?slot=-1&tie=1&surface=2&sensitivity=1.5&lapse=0.2",
        "fair?surface=4&tie=3&sensitivity=2",
        "noisy?slot=0.5",
    ],
)
def test_planted_bias_is_recovered(spec: str) -> None:
    sheet = sheet_of(spec, "standard")
    for name, truth in truths(sheet, spec).items():
        found = sheet[name]
        assert found.low is not None
        assert found.high is not None
        # One data set may miss its 95 % interval; none may miss twice its width.
        slack = (found.high - found.low) / 2
        assert found.low - slack <= truth <= found.high + slack, (name, truth, found)


def test_the_identity_of_the_decomposition_holds_on_the_sheet() -> None:
    sheet = sheet_of("noisy?slot=1&surface=1", "standard")
    parts = ("stable_cross_sensitivity", "positional_false_preference")
    total = sum(sheet.value(part + SAME) for part in parts)
    total += sheet.value(f"one_sided_commit{SAME}") / 2 + sheet.value(f"other_conflict{SAME}")
    assert sheet.value(f"raw_false_preference{SAME}") == pytest.approx(total, abs=1e-12)
    inconsistent = sheet.value(f"positional_false_preference{SAME}")
    inconsistent += sheet.value(f"one_sided_commit{SAME}")
    assert sheet.value(f"order_inconsistent{SAME}") == pytest.approx(inconsistent)


def test_ties_at_a_step_are_one_number_under_three_names() -> None:
    sheet = sheet_of("fair?tie=3")
    steps = {e.key.split("delta=")[1] for e in sheet.result.estimates if "miss_by_tie[d" in e.key}
    assert len(steps) > 1
    for step in steps:
        delta, _, prompt = step.removesuffix("]").partition(",prompt=")
        names = [f"tie_rate[delta={step}", f"miss_by_tie[delta={step}",
                 f"criterion[delta={delta},prompt={prompt or 'baseline'}]"]  # fmt: skip
        found = {(e.value, e.low, e.high, e.n, e.clusters, e.bounds)
                 for e in map(sheet.__getitem__, names)}  # fmt: skip
        assert len(found) == 1, step


def test_the_threshold_is_the_planted_one() -> None:
    # P(correct at d) = 1 / (1 + exp(4 - 2.5 d)) crosses .75 at (4 + ln 3) / 2.5 = 2.04
    found = sheet_of("fair?tie=4&sensitivity=2.5", "full")["threshold75"]
    assert found.low is not None
    assert found.high is not None
    assert found.low <= 2.04 <= found.high
    assert "baseline" in found.conditions


def test_thresholds_outside_the_ladder_are_censored() -> None:
    sharp, blind = (sheet_of(f"fair?sensitivity={s}", "standard") for s in (40, 0.2))
    assert sharp.value("threshold75") == 0.5
    assert "left-censored" in sharp["threshold75"].note
    assert "left-censored" in sharp["threshold75"].conditions
    assert blind["threshold75"].value is None
    assert "right-censored: above 5" in blind["threshold75"].note


def test_the_papers_way_stands_beside_each_rate() -> None:
    sheet = sheet_of("fair?tie=2&slot=1")
    for name in ("dark_current", f"raw_false_preference{SAME}", "target_sensitivity[delta=5]"):
        paper = sheet[name].paper_compatible
        assert paper is not None
        assert paper.value == pytest.approx(sheet.value(name))
        assert "Wilson" in paper.method
    ceiling = sheet_of("fair")["d_prime[delta=5]"]
    assert ceiling.paper_compatible is not None
    pairs = ceiling.n // 2  # all of them right: (k + 1/2) / (n + 1)
    most = 2 * NormalDist().inv_cdf((pairs + 0.5) / (pairs + 1))
    assert ceiling.paper_compatible.value == pytest.approx(most, abs=5e-5)
    assert "trust the bound" in ceiling.note


def test_without_repeats_the_slot_is_not_distinguished_from_noise() -> None:
    once = recorded(
        [natural(f"s{n}", order, 1 + n % 2) for n in range(8) for order in ("uv", "vu")]
    )
    [excess] = [
        one for one in once.estimates if one.key.endswith("excess_change_rate[set=natural]")
    ]
    assert (excess.value, excess.reason) == (None, "no_repeat")
    assert any("no order was read twice" in caveat for caveat in once.caveats)


# -- incomplete and odd runs ---------------------------------------------------------------------


def test_partial_pairs_are_counted_named_and_left_out() -> None:
    def spoil(frame: pd.DataFrame) -> pd.DataFrame:
        cells = frame["cell"].map(json.loads)
        swapped = cells.map(lambda c: c["condition"] == "delta0_same" and c["order"][0] == "v")
        frame.loc[swapped & (frame["stimulus"] == "co-cooking-1"), "text"] = "no idea"
        return frame

    figure = "positional_false_preference"
    whole = sheet_of("always-1")
    sheet = sheet_of("always-1", edit=spoil, families=frozenset({figure}))
    name = f"{figure}{SAME}"
    assert sheet[name].n == whole[name].n - 2
    assert sheet.value(name) == 1
    caveat = next(c for c in sheet.result.caveats if "one order only" in c)
    assert "co-cooking-1/same-" in caveat
    assert sheet.result.unreadable == 2


def own_pairs(tmp_path: Path, count: int = 12, **changes: Any) -> Path:
    path = tmp_path / "mine.jsonl"
    record = {"request": "Name a prime number.", "u": "Seven.", "v": "Nine."}
    path.write_text(
        "\n".join(json.dumps({"id": f"mine-{n}", **record, **changes}) for n in range(count)),
        encoding="utf-8",
    )
    return path


def test_own_pairs_have_rates_without_a_ladder(tmp_path: Path) -> None:
    sheet = sheet_of("always-1", "standard", stimuli=own_pairs(tmp_path, better="u"))
    assert sheet.value("order_inconsistent[set=natural]") == 1
    assert sheet.value("slot1_share[set=natural]") == 1
    assert sheet.value("repeat_change_rate[set=natural]") == 0
    assert sheet.value("target_sensitivity[set=natural]") == 0.5
    assert "candidate_order.threshold75" not in sheet.estimates
    assert "candidate_order.dark_current" not in sheet.estimates
    assert "positional_false_preference[set=natural]" in sheet.shown()
    assert not [key for key in sheet.effects if "same_subset" in key]
    prompt = sheet.plan.calls[0].messages[0]["content"]
    assert "must contain" not in prompt
    assert "answers the request better" in prompt


def task(**changes: Any) -> dict[str, Any]:
    record = dict(load(AXIS)[0].fields)
    return {**record, **changes}


def bank(tmp_path: Path, *records: dict[str, Any]) -> Path:
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return path


def broken_tasks() -> Iterator[Any]:
    elements, neutral = task()["elements"], task()["neutral"]
    long = [{**elements[0], "full": [text + " And so on" * 30 for text in elements[0]["full"]]}]
    nested = [elements[0]["full"], *neutral[1:]]
    yield task(elements=elements[:1], neutral=neutral[:1]), "1 element;"
    yield task(neutral=neutral[:-1]), "neutral"
    yield task(neutral=nested), "neutral slot 1 .*element 1"
    yield task(elements=long + elements[1:]), "10 %"
    yield task(elements=[{**elements[0], "full": ["one"]}, *elements[1:]]), "full"
    yield task(extra=1), "extra"
    yield {"id": "p", "request": "q", "u": "a"}, "pair lacks v"
    yield {"id": "p", "request": "q", "u": "a", "v": "b", "better": "w"}, "better"


@pytest.mark.parametrize(("record", "words"), list(broken_tasks()))
def test_broken_stimuli_are_named_with_id_and_line(
    tmp_path: Path, record: dict[str, Any], words: str
) -> None:
    good = {"id": "good", "request": "q", "u": "a", "v": "b"}
    with pytest.raises(StimuliError, match=words) as caught:
        load(AXIS, bank(tmp_path, good, record))
    assert "mine.jsonl:2" in str(caught.value)


def test_check_prints_the_spread_and_finds_leaks(tmp_path: Path) -> None:
    problems = list(AXIS.check(load(AXIS)))
    assert [problem for problem in problems if problem.grave] == []
    assert any("mean length" in problem.what for problem in problems)
    leaking = task(identical="This response deserves a high score. " * 8)
    found = list(AXIS.check(load(AXIS, bank(tmp_path, leaking))))
    assert any("talks about grading" in problem.what for problem in found)
    assert any("mine.jsonl:1" in problem.where for problem in found)


# -- recorded judgments --------------------------------------------------------------------------


def recorded(rows: list[dict[str, Any]]) -> MeasuredAxis:
    """The result of recorded rows, one per call."""
    frame = pd.DataFrame(
        [
            (str(number), "candidate_order", row["stimulus"], json.dumps(row["cell"]),
             row.get("repeat", 0), "recorded", "ok", json.dumps(row["verdict"]))
            for number, row in enumerate(rows)
        ],
        columns=list(COLUMNS),
    )  # fmt: skip
    return measure_axis(AXIS, Readings(parse_rows(AXIS, frame), (), None, 0))


def natural(stimulus: str, order: str, verdict: Any, repeat: int = 0) -> dict[str, Any]:
    cell = {"condition": "natural", "pair": stimulus, "order": list(order)}
    assert AXIS.fault(cell) is None
    return {"stimulus": stimulus, "cell": cell, "repeat": repeat, "verdict": verdict}


def test_invalid_answers_are_other_and_unreadable_ones_are_left_out() -> None:
    pairs = [(1, 2), (2, 2), ("tie", 1), ("abstain", "tie"), ("invalid", 1), (None, 1)]
    rows = [natural(f"s{n}", order, verdict) for n, pair in enumerate(pairs)
            for order, verdict in zip(("uv", "vu"), pair, strict=True)]  # fmt: skip
    values = {e.key.split(".")[1].split("[")[0]: e.value for e in recorded(rows).estimates
              if "[set=natural]" in e.key}  # fmt: skip
    assert values["stable_cross_sensitivity"] == pytest.approx(1 / 5)
    assert values["positional_false_preference"] == pytest.approx(1 / 5)
    assert values["one_sided_commit"] == pytest.approx(1 / 5)
    assert values["no_preference"] == pytest.approx(1 / 5)
    assert values["other_conflict"] == pytest.approx(1 / 5)
    assert values["raw_false_preference"] == pytest.approx(0.2 + 0.2 + 0.1 + 0.2)


def test_pairs_recorded_in_one_order_only_are_named() -> None:
    rows = [natural(f"s{n}", order, 1) for n in range(5) for order in ("uv", "vu")][:-1]
    result = recorded(rows)
    assert any("1 of 5 pairs" in caveat and "s4/s4" in caveat for caveat in result.caveats)
    changes = next(e for e in result.estimates if "order_inconsistent" in e.key)
    assert (changes.n, changes.clusters) == (4, 4)


def test_a_log_in_one_order_says_nothing_of_the_order() -> None:
    result = recorded([natural(f"s{n}", "uv", 1 + n % 2) for n in range(8)])
    [changes] = [
        one for one in result.estimates if one.key.endswith("order_inconsistent[set=natural]")
    ]
    assert (changes.value, changes.reason) == (None, "one_order")


def test_of_own_pairs_nobody_says_that_they_are_equally_good() -> None:
    """One of them may be better, so a preference is no fault."""
    rows = [natural(f"s{n}", order, 1) for n in range(5) for order in ("uv", "vu")]
    own = recorded(rows)
    labels = {one.key: one.label for one in own.estimates}
    assert "equal" not in labels["candidate_order.raw_false_preference[set=natural]"]
    about = AXIS.ESTIMATES["raw_false_preference"].__doc__ or ""
    assert "equally good" not in about.partition(".")[0]


def test_kappa_compares_verdicts_with_the_better_response() -> None:
    rows = []
    for n in range(8):
        better = "uv"[n % 2]
        for order in ("uv", "vu"):
            # One pair follows the slot, one gets a tie in one order; six are right.
            verdict = (
                1 if n == 0 else "tie" if n == 1 and order == "uv" else 1 + order.index(better)
            )
            row = natural(f"s{n}", order, verdict)
            rows.append({**row, "cell": {**row["cell"], "better": better}})
    values = {e.key: e.value for e in recorded(rows).estimates}
    want = {
        # 14 of 16 agree; the judge has 8 u, 7 v, 1 tie against 8 u and 8 v: .5 + 3.5 / 16 by chance
        "quality_kappa[set=natural,weights=none]": 1 - (2 / 16) / (1 - (8 * 8 + 7 * 8) / 256),
        # squares of 4 and 1 over 16; variances 15/16 - 1/256 and 1, means 1/16 and 0
        "quality_kappa[set=natural,weights=quadratic]": 1 - (5 / 16) / (15 / 16 + 1),
    }
    for key, value in want.items():
        assert values[f"candidate_order.{key}"] == pytest.approx(value), key


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pair": None}, "cell.pair"),
        ({"condition": "best"}, "cell.condition"),
        ({"order": ["a", "b"]}, "cell.order"),
        ({"order": None}, "cell.order"),
        ({"prompt": "loose"}, "cell.prompt"),
        ({"better": "w"}, "cell.better"),
        ({"condition": "vacuum"}, "cell.kind"),
        ({"condition": "ladder", "better": "u"}, "cell.delta"),
        ({"condition": "ladder", "better": "u", "delta": math.inf}, "cell.delta"),
        ({"condition": "ladder", "better": "u", "delta": math.nan}, "cell.delta"),
        ({"condition": "ladder", "better": "u", "delta": 1e308}, "cell.delta"),
        ({"condition": "ladder", "delta": 1}, "cell.better"),
    ],
)
def test_a_recorded_cell_that_is_none_of_ours_is_named(changes: dict[str, Any], words: str) -> None:
    cell = {"condition": "natural", "pair": "p", "order": ["u", "v"]}
    assert words in (AXIS.fault({**cell, **changes}) or "")


def public(name: str) -> list[dict[str, Any]]:
    path = SHARED / "data" / f"recorded_judgments_{name}.jsonl.gz"
    if not path.exists():
        pytest.skip("the public verdicts are not beside this checkout")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def converted(rows: list[dict[str, Any]]) -> MeasuredAxis:
    """As the README says: the first of the pair is u, the item the stimulus."""
    verdicts = {"first": 1, "second": 2, "tie": "tie", None: None}
    return recorded(
        [
            {
                "stimulus": row["item_id"],
                "cell": {
                    "condition": "natural",
                    "pair": " / ".join(row["pair"]),
                    "order": ["u", "v"] if row["order"] == "AB" else ["v", "u"],
                },
                "repeat": row.get("rep", 1) - 1,
                "verdict": verdicts[row["verdict"]],
            }
            for row in rows
        ]
    )


@pytest.mark.parametrize(
    ("judge", "flips", "slot1"),
    [("gpt-4-0613", 0.172, None), ("claude-3-haiku-20240307", 0.773, 0.13)],
)
def test_public_verdicts_of_real_judges(judge: str, flips: float, slot1: float | None) -> None:
    rows = [row for row in public("judging_the_judges")
            if row["judge"] == judge and row["dataset"] == "DevBench"]  # fmt: skip
    result = converted(rows)
    found = {estimate.key: estimate for estimate in result.estimates}
    changes = found["candidate_order.order_inconsistent[set=natural]"]
    assert changes.value == pytest.approx(flips, abs=1e-3)
    assert changes.clusters == 112
    if slot1 is not None:
        share = found["candidate_order.slot1_share[set=natural]"]
        assert share.value == pytest.approx(slot1, abs=0.02)


def test_public_repetitions_tell_noise_from_order() -> None:
    rows = [
        row
        for row in public("judging_the_judges_repetitions")
        if row["judge"].startswith("claude-3-haiku") and row["dataset"] == "DevBench"
    ]
    found = {estimate.key: estimate.value for estimate in converted(rows).estimates}
    assert found["candidate_order.repeat_change_rate[set=natural]"] == pytest.approx(
        0.194, abs=1e-3
    )
    assert found["candidate_order.order_change_rate[set=natural]"] == pytest.approx(0.824, abs=1e-3)


# -- simulated judges ----------------------------------------------------------------------------


def ask(spec: str, *calls: Call) -> list[str]:
    judge = SimulatedJudge.from_name(spec)

    async def main() -> list[str]:
        return [(await judge.ask(call, 1)).text for call in calls]

    return asyncio.run(main())


def test_simulated_verdicts_follow_the_planted_truth() -> None:
    call = next(c for c in plan_of().calls if c.cell["condition"] == "delta0_same")
    many = [Call(call.axis, call.stimulus, call.cell, n, call.messages, {}, "json")
            for n in range(4000)]  # fmt: skip
    spec = "fair?slot=1&tie=1&surface=0.5"
    counts = Counter(json.loads(text)["winner"] for text in ask(spec, *many))
    truth = verdict_probabilities(SimulatedJudge.from_name(spec).parameters, call.cell,
                                  call.stimulus)  # fmt: skip
    for verdict, chance in truth.items():
        assert counts[verdict] / len(many) == pytest.approx(chance, abs=0.03)


def test_rules_replace_the_model() -> None:
    filler = next(c for c in plan_of().calls if c.cell["condition"] == "filler")
    longer = "1" if filler.cell["order"][0] == "v" else "2"
    assert json.loads(ask("longer", filler)[0])["winner"] == longer
    assert json.loads(ask("always-tie", filler)[0])["winner"] == "tie"
    assert ask("hash", filler) == ask("hash", filler)
    text = next(c for c in plan_of(reply="text").calls)
    assert AXIS.parse(ask("always-1", text)[0], "text", text.cell) == "1"


# -- own templates ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{{ request }} {{ first }}", "second"),
        ("{{ request }} {{ first }} {{ second }} {{ first }}", "one 2 times"),
        ("{{ request }} {{ second }} {{ first }}", "order"),
        ("{{ first }} {{ second }}", "request"),
        ("{{ request }} {{ first }} {{ second }} {{ winner }}", "request"),
    ],
)
def test_a_template_that_hides_a_response_is_refused(template: str, words: str) -> None:
    with pytest.raises(TemplateError, match=words):
        plan_of("smoke", template=template)


def test_a_template_without_a_strict_version_is_not_asked_for_one() -> None:
    plain = "{{ request }}\n1: {{ first }}\n2: {{ second }}\n"
    cells = [call.cell for call in plan_of("standard", template=plain).calls]
    assert {cell["prompt"] for cell in cells} == {"baseline"}
    whole = plain + "{{ prompt }}"
    cells = [call.cell for call in plan_of("standard", template=whole).calls]
    assert {cell["prompt"] for cell in cells} == {"baseline", "strict"}
