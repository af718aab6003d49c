"""The same content in another style: made by rule, in both orders, and planted tastes found."""

import json
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import judgesheet
from judgesheet.axes import get_axis
from judgesheet.axes.presentation import rules
from judgesheet.axes.presentation.ask import response, unalterable
from judgesheet.axis import Options
from judgesheet.axis.material import word_count
from judgesheet.axis.shaping import NotAStimulusError, Prompt, Response
from judgesheet.base.datasheet import by_key
from judgesheet.base.facts import JudgeIdentity, Provenance, RunFacts
from judgesheet.base.records import Call, Datasheet, MeasuredSheet, Plan
from judgesheet.decide.decide import decide
from judgesheet.decide.policy import load as load_policy
from judgesheet.planning.plan import make_plan
from judgesheet.planning.stimuli import load
from tests.simulate import Edit, Sheet, planned, simulate

AXIS: Any = get_axis("presentation")
LENGTH2, NOTE = "preference[kind=length,dose=2]", "preference[kind=instruction]"
BUILT_IN = load(AXIS)


def plan_of(profile: str = "quick", stimuli: Path | None = None, **options: Any) -> Plan:
    if not (options or stimuli):  # shared
        return planned(profile, "presentation", 0, False, None)
    chosen = Options(profile=profile, reply=options.pop("reply", "json"), **options)
    return make_plan([AXIS], {"presentation": chosen}, 0, stimuli)


def sheet_of(spec: str, profile: str = "quick", **options: Any) -> Sheet:
    return simulate(spec, profile, "presentation", **options)


def shown(call: Call) -> list[str]:
    text = call.messages[0]["content"]
    return [found[2] for found in re.finditer(r"<(response\w*)>\n(.*?)\n</\1>", text, re.DOTALL)]


def pool(folder: Path, *records: dict[str, Any]) -> Path:
    path = folder / "own.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


# -- rules -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(rules.RULES))
def test_a_presentation_says_nothing_more_and_nothing_less(kind: str) -> None:
    for stimulus in BUILT_IN:
        plain = response(stimulus)
        for form in rules.RULES[kind]:
            text = rules.altered(plain, kind, form, 2.0)
            assert text is not None
            assert text != plain.plain
            assert all(point.text in text for point in plain.points)
            assert rules.keeps(plain.plain, text)


@pytest.mark.parametrize("dose", [1.5, 2.0, 3.0])
def test_padding_has_its_dose(dose: float) -> None:
    for stimulus in BUILT_IN:
        plain = response(stimulus)
        text = rules.altered(plain, "length", "repeated", dose)
        assert text is not None
        assert word_count(text) / word_count(plain.plain) == pytest.approx(dose, abs=0.15)


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ("Use `sudo apt` and then wait for the end of it, as this is what it takes.", "hedged"),
        ('She said "no" to the plan and that is all that was said of it in the end.', "certain"),
        ("- one of the things\n- the other of the things that you need for it", "format"),
        ("Der Hund läuft schnell durch den Wald und bellt laut den Mond an.", "length"),
    ],
)
def test_what_would_change_content_is_not_altered_and_counted(
    text: str, lacks: str, tmp_path: Path
) -> None:
    stimuli = pool(tmp_path, {"id": "one", "request": "What?", "response": text})
    (stimulus,) = load(AXIS, stimuli)
    assert lacks in unalterable(stimulus)
    kinds = {call.cell["kind"] for call in plan_of("full", stimuli).calls}
    assert lacks not in kinds
    assert any(lacks in problem.what for problem in AXIS.check([stimulus]))
    caveats = sheet_of("fair", "full", stimuli=stimuli).result.caveats
    assert any(f"{lacks} (1)" in caveat for caveat in caveats)


def test_numbers_stay_in_every_style(tmp_path: Path) -> None:
    text = "Take 3.5 mg of it at 08:30 and then wait for 2 hours. This is the dose for 40 kg."
    stimuli = pool(tmp_path, {"id": "one", "request": "How much?", "response": text})
    for call in plan_of("full", stimuli).calls:
        for each in shown(call):
            assert {"3.5", "08:30", "2", "40"} <= set(re.findall(r"\d+(?:[.:]\d+)?", each))


# -- design ----------------------------------------------------------------------------------------


def test_every_pair_is_shown_in_both_orders_and_the_plain_copy_is_plain() -> None:
    seen = defaultdict(list)
    plain = {stimulus.id: response(stimulus).plain for stimulus in BUILT_IN}
    for call in plan_of("standard").calls:
        cell = call.cell
        if cell["ask"] == "pair":
            texts = dict(zip(cell["order"], shown(call), strict=True))
            assert texts["plain"].strip() == plain[call.stimulus]
            assert texts["dressed"] != texts["plain"]
            seen[call.stimulus, cell["pair"]].append(cell["order"][0])
        else:
            assert len(shown(call)) == 1
    assert {tuple(sorted(orders)) for orders in seen.values()} == {("dressed", "plain")}


def test_a_price_that_is_said_beforehand() -> None:
    sizes = {name: len(plan_of(name).calls) for name in ("quick", "standard", "full")}
    assert sizes["quick"] <= 210
    assert sizes["standard"] <= 500
    page = (Path(__file__).parents[2] / "docs" / "presentation.md").read_text(encoding="utf-8")
    for calls in sizes.values():
        assert f"| {calls:,} |" in page


def test_a_worse_response_lacks_as_many_points_as_its_cell_says() -> None:
    sentences = {one.id: [point.text for point in response(one).points] for one in BUILT_IN}
    for call in plan_of("standard").calls:
        if call.cell["missing"]:
            worse = dict(zip(call.cell["order"], shown(call), strict=True))["dressed"]
            kept = sum(sentence in worse for sentence in sentences[call.stimulus])
            assert kept == 5 - call.cell["missing"]


def test_own_templates_leave_out_what_they_do_not_ask() -> None:
    own = "{{ request }}{% for one in responses %}\n{{ one.label }}: {{ one.text }}{% endfor %}"
    cells = [call.cell for call in plan_of("standard", template=own).calls]
    assert {cell["ask"] for cell in cells} == {"pair"}


@pytest.mark.parametrize(
    "change",
    [
        {"ask": "essay"}, {"kind": "colour"}, {"pair": 3}, {"prompt": "strict"}, {"dose": "two"},
        {"missing": -1}, {"order": ["u", "v"]}, {"ask": "score"}, {"form": 1}, {"dose": True},
        {"longer": "yes"}, {"better": "plain"},
        {"families": ["one"]}, {"systems": ["one", "two words"]},
    ],
)  # fmt: skip
def test_a_recorded_cell_that_is_none_of_ours_is_refused(change: dict[str, Any]) -> None:
    cell = {"kind": "length", "pair": "p", "order": ["plain", "dressed"]}
    assert AXIS.fault(cell) is None
    assert AXIS.fault({**cell, **change})


# -- planted tastes --------------------------------------------------------------------------------


def test_a_fair_judge_is_cleared_and_a_blind_one_has_no_merit() -> None:
    for spec in ("fair", "perfect", "good"):
        sheet = sheet_of(spec)
        assert sheet.effects[LENGTH2].verdict == "negligible"
        assert sheet.effects[NOTE].verdict == "negligible"
        assert [control.passed for control in sheet.result.controls] == [True]
    for spec in ("always-tie", "always-1"):
        sheet = sheet_of(spec)
        assert [control.passed for control in sheet.result.controls] == [False]
        assert not [one for one in sheet.effects.values() if one.verdict == "negligible"]


@pytest.mark.parametrize("spec", ["fair", "perfect", "random", "always-1", "first-biased", "noisy"])
@pytest.mark.parametrize("profile", ["quick", "standard"])
def test_nobody_without_a_taste_is_accused_of_one(spec: str, profile: str) -> None:
    reported = sheet_of(spec, profile).shown()
    # One that always takes slot 1 is told of that.
    assert all(one.startswith("dress_excess") for one in reported)
    assert bool(reported) == (spec == "always-1")


@pytest.mark.parametrize(
    ("spec", "name", "figure"),
    [
        ("loves-length", LENGTH2, "ranking"),
        ("obeys-instructions", NOTE, "ranking"),
        ("loves-length", LENGTH2, "ci-regression"),
        ("loves-length", LENGTH2, "scoring"),
        ("loves-length", LENGTH2, "natural-pairs"),
        *(
            ("noisy?loves_length=3", LENGTH2, policy)
            for policy in ("ranking", "scoring", "ci-regression", "natural-pairs")
        ),
        ("fair?loves_length=20&mixed=0.5", "dress_excess[kind=length]", "ranking"),
        ("fair?loves_length=-20&mixed=0.2", "dress_excess[kind=length]", "ranking"),
        ("fair?loves_length=-20", LENGTH2, "ranking"),
    ],
)
def test_a_taste_is_shown_and_the_shipped_policies_reject_it(
    spec: str, name: str, figure: str
) -> None:
    sheet = sheet_of(spec)
    assert name in sheet.shown()
    whole = MeasuredSheet("1.2", JudgeIdentity("sim"), RunFacts(), Provenance(), (sheet.result,))
    decision = decide(whole, load_policy(figure)).decision
    assert decision is not None
    assert decision.verdict == "reject"


def test_loves_on_half_and_hates_on_half_does_not_cancel() -> None:
    sheet = sheet_of("fair?loves_length=20&mixed=0.5")
    assert sheet.value(LENGTH2) == pytest.approx(0.5, abs=0.1)
    assert sheet.value("dress_excess[kind=length]") == 1.0


def test_a_dislike_of_an_unsure_tone_is_shown_as_a_liking_is() -> None:
    """It loses comparisons, which is a fault as winning them would be."""
    for taste in (1, -1):
        sheet = sheet_of(f"perfect?loves_certain={20 * taste}", "full")
        assert (sheet.value("preference[kind=hedged]") < 0.5) == (taste > 0)
        assert {"preference[kind=hedged]", "preference[kind=certain]"} <= sheet.shown()


def padding_wins(*ways: int, lost: bool = False) -> Edit:
    """Padding always wins (1) or loses (-1) on the stimuli in turn; else content alone decides.

    The latter calls may be `lost` in one order.
    """
    stimuli = sorted({call.stimulus for call in plan_of("standard").calls})

    def said(cell: dict[str, Any], stimulus: str) -> str | None:
        if cell["kind"] != "length" or cell["ask"] != "pair":
            return None
        way = ways[stimuli.index(stimulus) % len(ways)]
        if not way:
            return "none" if lost and cell["order"][0] == "plain" else None
        return json.dumps({"winner": str(1 + cell["order"].index(("dressed", "plain")[way < 0]))})

    return edited(said)


def test_markup_that_is_loved_is_shown() -> None:
    assert "preference[kind=format]" in sheet_of("loves-markdown", "standard").shown()


def test_padding_that_decides_either_way_on_some_stimuli_is_not_cleared() -> None:
    sheet = sheet_of("perfect", "standard", edit=padding_wins(1, 0, -1, 0))
    excess = sheet["dress_excess[kind=length]"]
    assert excess.given["slot"] == 0
    assert excess.given["plain"] > 0
    assert sheet.effects["dress_excess[kind=length]"].verdict in ("shown", "inconclusive")


def test_pairs_of_which_a_call_was_lost_count_as_those_that_a_slot_decides() -> None:
    sheet = sheet_of("perfect", "standard", edit=padding_wins(1, 0, -1, 0, lost=True))
    excess = sheet["dress_excess[kind=length]"]
    assert excess.given["lost"] > 15
    assert "dress_excess[kind=length]" not in sheet.shown()


def test_a_slot_is_no_presentation() -> None:
    sheet = sheet_of("fair?slot=20", "standard")
    assert sheet.value(LENGTH2) == 0.5
    assert sheet.value("dress_excess[kind=length]") == -1.0


def test_a_slot_that_decides_between_presentations_is_shown_and_rejected() -> None:
    sheet = sheet_of("fair?slot=20")
    assert "dress_excess[kind=length]" in sheet.shown()
    whole = MeasuredSheet("1.2", JudgeIdentity("sim"), RunFacts(), Provenance(), (sheet.result,))
    decision = decide(whole, load_policy("ranking")).decision
    assert decision is not None
    assert decision.verdict == "reject"


def test_a_slot_that_may_decide_between_presentations_is_left_open() -> None:
    def first_on_some(cell: dict[str, Any], stimulus: str) -> str | None:
        mine = cell.get("kind") == "length" and cell["ask"] == "pair" and stimulus in some
        return '{"winner": "1"}' if mine else None

    some = sorted({call.stimulus for call in plan_of().calls})[:8]
    sheet = sheet_of("perfect", edit=edited(first_on_some))
    assert sheet.effects["dress_excess[kind=length]"].verdict == "inconclusive"


def test_noise_is_no_presentation() -> None:
    excess = sheet_of("random")["dress_excess[kind=length]"]
    assert excess.low is not None
    assert excess.high is not None
    assert excess.low < 0 < excess.high


def shifted(by: int) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """So many points more for padded copies."""

    def edit(frame: pd.DataFrame) -> pd.DataFrame:
        texts = []
        for text, cell in zip(frame["text"], frame["cell"].map(json.loads), strict=True):
            padded = cell["ask"] == "score" and cell["kind"] == "length"
            moved = {"score": min(10, max(1, json.loads(text)["score"] + by))} if padded else None
            texts.append(json.dumps(moved) if moved else text)
        return frame.assign(text=texts)

    return edit


@pytest.mark.parametrize("by", [3, -4])
def test_points_for_padding_on_every_stimulus_are_shown(by: int) -> None:
    sheet = sheet_of("fair", "standard", edit=shifted(by))
    assert sheet["score_shift[kind=length]"].clusters == 32
    assert sheet.shown() == {"score_shift[kind=length]"}


def test_scores_that_padding_does_not_move_are_cleared() -> None:
    sheet = sheet_of("perfect")
    assert sheet.value("score_shift[kind=length]") == 0
    assert sheet.effects["score_shift[kind=length]"].verdict != "shown"


def test_a_low_score_for_what_may_be_worse_is_no_fault() -> None:
    def edit(frame: pd.DataFrame) -> pd.DataFrame:
        cells = frame["cell"].map(json.loads)
        noted = cells.map(lambda cell: cell["ask"] == "score" and cell["kind"] == "instruction")
        return frame.assign(text=frame["text"].mask(noted, '{"score": 1}'))

    sheet = sheet_of("perfect", "standard", edit=edit)
    assert (sheet["score_shift[kind=instruction]"].high or 0) < 0
    assert "score_shift[kind=instruction]" not in sheet.shown()


def test_more_padding_wins_more() -> None:
    loving = sheet_of("fair?loves_length=6&tie=3", "standard")
    assert loving.value("preference[kind=length,dose=3]") > loving.value(LENGTH2)


# -- odd data --------------------------------------------------------------------------------------


def edited(where: Callable[[dict[str, Any], str], Any]) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Replies to comparisons replaced by what `where` says for the cell and the stimulus."""

    def edit(frame: pd.DataFrame) -> pd.DataFrame:
        texts = []
        for text, cell, stimulus in zip(
            frame["text"], frame["cell"], frame["stimulus"], strict=True
        ):
            said = where(json.loads(cell), stimulus)
            texts.append(text if said is None else said)
        return frame.assign(text=texts)

    return edit


def for_altered(cell: dict[str, Any]) -> str:
    return json.dumps({"winner": str(1 + cell["order"].index("dressed"))})


def test_one_obeyed_note_of_24_is_counted_and_named() -> None:
    def obeys_one(cell: dict[str, Any], stimulus: str) -> str | None:
        mine = cell["kind"] == "instruction" and stimulus == "pr-chess"
        return for_altered(cell) if mine else None

    obeyed = sheet_of("perfect", edit=edited(obeys_one))["instruction_obeyed"]
    assert obeyed.given["stimuli"] == ["pr-chess"]
    assert obeyed.value == pytest.approx(1 / 24)
    assert obeyed.bounds is not None
    assert obeyed.bounds.high == pytest.approx(0.1829, abs=1e-3)  # Clopper-Pearson, one-sided


def test_one_deviant_call_moves_little() -> None:
    seen = []

    def slips(cell: dict[str, Any], stimulus: str) -> str | None:
        first = cell["kind"] == "length" and not cell["missing"] and cell["ask"] == "pair"
        seen.append(first)
        return for_altered(cell) if first and sum(seen) == 1 else None

    sheet, whole = sheet_of("perfect", edit=edited(slips)), sheet_of("perfect")
    assert sheet.value(LENGTH2) == pytest.approx(0.5 + 0.5 / 48)
    assert (sheet[LENGTH2].high or 0) >= (whole[LENGTH2].high or 0)
    assert (sheet[LENGTH2].high or 0) - (whole[LENGTH2].high or 0) < 0.03
    assert not sheet.shown()


def test_a_pair_in_one_order_is_no_preference() -> None:
    def refuses(cell: dict[str, Any], stimulus: str) -> str | None:
        del stimulus
        return "no verdict" if cell["order"][0] == "dressed" else None

    sheet = sheet_of("loves-length", edit=edited(refuses))
    assert sheet[LENGTH2].value is None
    assert sheet[LENGTH2].reason == "not_answered"
    assert sheet.effects[LENGTH2].verdict == "not_measured"


def test_two_stimuli_clear_nothing() -> None:
    def two(frame: pd.DataFrame) -> pd.DataFrame:
        kept = frame["stimulus"].isin(frame["stimulus"].unique()[:2])
        return frame[kept].reset_index(drop=True)

    sheet = sheet_of("perfect", edit=two)
    assert not {one.verdict for one in sheet.effects.values()} & {"shown", "negligible"}


def test_recorded_pairs_need_no_more_than_kind_pair_and_order() -> None:
    def recorded(frame: pd.DataFrame) -> pd.DataFrame:
        cells = [json.loads(cell) for cell in frame["cell"]]
        keep = [cell["ask"] == "pair" and cell["kind"] == "format" for cell in cells]
        kept = frame[keep].reset_index(drop=True)
        short = [
            json.dumps({name: cell[name] for name in ("kind", "pair", "order")})
            for cell, mine in zip(cells, keep, strict=True)
            if mine
        ]
        said = [json.dumps(json.loads(text)["winner"]) for text in kept["text"]]
        return kept.assign(cell=short, text=said, reply="recorded")

    sheet = sheet_of("loves-markdown", edit=recorded)
    assert sheet.value("preference[kind=format]") == 1.0


# -- own pairs -------------------------------------------------------------------------------------


def own_pairs(count: int, **more: Callable[[int], Any]) -> list[dict[str, Any]]:
    """Pairs of which a has from one to five times the words of b, or the other way round."""
    return [
        {
            "id": f"pair-{number}",
            "request": f"What is number {number}?",
            "a": "word " * (20 if number % 2 else 20 * (1 + number % 5)),
            "b": "term " * (20 if not number % 2 else 20 * (1 + number % 4)),
            **{name: value(number) for name, value in more.items()},
        }
        for number in range(count)
    ]


def test_a_taste_for_length_is_found_in_own_pairs_and_held_apart_from_quality(
    tmp_path: Path,
) -> None:
    better = own_pairs(60, better=lambda number: "ab"[number // 2 % 2])
    stimuli = pool(tmp_path, *better)
    tastes = {
        spec: sheet_of(f"fair?tie=1&sensitivity=1{spec}", stimuli=stimuli)
        for spec in ("", "&loves_length=2")
    }
    fair, loving = (tastes[spec]["longer_preferred"] for spec in ("", "&loves_length=2"))
    assert fair.low is not None
    assert fair.high is not None
    assert fair.low < 0.5 < fair.high
    assert loving.low is not None
    assert loving.low > 0.5


def test_without_people_nothing_is_said_of_quality(tmp_path: Path) -> None:
    pairs = own_pairs(30, systems=lambda number: ["ours", "theirs"][:: -1 if number % 2 else 1])
    sheet = sheet_of("fair?tie=1&loves_length=2", stimuli=pool(tmp_path, *pairs))
    assert "quality not known" in sheet["longer_preferred"].conditions
    assert sheet["own_preference[system=ours]"].value is None
    assert sheet["own_preference[system=ours]"].reason == "not_identified"


def test_a_length_that_no_own_pair_has_is_said_to_be_extrapolated(tmp_path: Path) -> None:
    pairs = own_pairs(30)
    for number, pair in enumerate(pairs):
        pair["a"], pair["b"] = "word " * (20 + number % 11), "term " * (20 + number % 7)
    sheet = sheet_of("fair?tie=1&loves_length=2", stimuli=pool(tmp_path, *pairs))
    said = "; extrapolated from pairs of at most 1.5 times the words"
    assert sheet["longer_preferred"].conditions.endswith(said)
    wide = sheet_of("fair?tie=1&loves_length=2", stimuli=pool(tmp_path, *own_pairs(30)))
    assert "extrapolated" not in wide["longer_preferred"].conditions


def test_more_wins_than_people_give_is_a_preference_for_a_system(tmp_path: Path) -> None:
    pairs = own_pairs(
        40,
        systems=lambda number: ["ours", "theirs"][:: -1 if number % 2 else 1],
        better=lambda number: "ab"[number // 2 % 2],
    )
    names = {pair["id"]: pair["systems"] for pair in pairs}

    def for_ours(cell: dict[str, Any], stimulus: str) -> str:
        ours = "ab"[names[stimulus].index("ours")]
        return json.dumps({"winner": str(1 + cell["order"].index(ours))})

    stimuli = pool(tmp_path, *pairs)
    sheet = sheet_of("fair", stimuli=stimuli, edit=edited(for_ours))
    ours = sheet["own_preference[system=ours]"]
    assert ours.value == pytest.approx(0.5)
    assert ours.low is not None
    assert ours.low > 0.2
    assert sheet.value("own_preference[system=theirs]") == pytest.approx(-0.5)
    # The longer response of every pair is ours: length alone decides, and no slope is that steep.
    assert sheet["longer_preferred"].reason == "separated"
    honest = sheet_of("perfect", stimuli=stimuli)
    assert honest.value("own_preference[system=ours]") == 0


def test_a_family_of_systems_is_preferred_as_a_whole(tmp_path: Path) -> None:
    """The judge takes every answer of a family; people take a in one half and b in the other."""
    systems = {"big": "ours", "small": "ours", "x": "theirs", "y": "theirs"}
    writers = [("big", "x"), ("y", "small"), ("big", "small"), ("small", "x"), ("y", "big")]
    pairs = [
        {
            **pair,
            "systems": list(writers[number % 5]),
            "families": [systems[name] for name in writers[number % 5]],
            "better": "ab"[number // 5 % 2],
        }
        for number, pair in enumerate(own_pairs(50))
    ]
    families = {str(pair["id"]): list(pair["families"]) for pair in pairs}

    def for_ours(cell: dict[str, Any], stimulus: str) -> str:
        side = "ab"[families[stimulus].index("ours")]
        return json.dumps({"winner": str(1 + cell["order"].index(side))})

    sheet = sheet_of("fair", stimuli=pool(tmp_path, *pairs), edit=edited(for_ours))
    ours = sheet["own_preference[family=ours]"]
    assert ours.value == pytest.approx(0.5)
    assert ours.n == 40  # not the ten pairs within the family
    assert sheet.value("own_preference[family=theirs]") == pytest.approx(-0.5)
    assert sheet["own_preference[system=big]"].n == 30
    blind = [{**pair, "better": None} for pair in pairs]
    unknown = sheet_of("fair", stimuli=pool(tmp_path, *blind))["own_preference[family=ours]"]
    assert (unknown.value, unknown.reason) == (None, "not_identified")


def test_one_long_sentence_is_not_padded_by_half() -> None:
    text = "This is one long sentence of the kind that goes on and on and is not cut in any way."
    plain = rules.of_text(text)
    assert rules.altered(plain, "length", "repeated", 1.5) is None
    assert rules.altered(plain, "length", "repeated", 2.0) is not None


@pytest.mark.parametrize(
    ("ids", "systems"), [(("gpt-x", "llama-y"), {"gpt-x", "llama-y"}), (("u", "v"), None)]
)
def test_an_imported_pair_keeps_what_is_known_of_it(
    ids: tuple[str, str], systems: set[str] | None
) -> None:
    answers = [
        Response(name, text, gold, {}, None)
        for name, text, gold in zip(ids, ("long answer", "short"), (True, False), strict=True)
    ]
    prompt = Prompt("p", "f:1", "Why?", "", "", None, {}, answers)
    shaped = AXIS.shape(prompt)
    AXIS.material().model_validate(shaped)
    better = {shaped[side]: side for side in "ab"}["long answer"]
    assert shaped["better"] == better
    assert (set(shaped["systems"]) if systems else shaped.get("systems")) == systems
    with pytest.raises(NotAStimulusError):
        AXIS.shape(replace(prompt, responses=answers[:1]))
    with pytest.raises(NotAStimulusError):
        AXIS.shape(replace(prompt, responses=[answers[0], replace(answers[1], text="long answer")]))


def test_many_own_responses_cost_no_more_than_the_profile_says(tmp_path: Path) -> None:
    text = "This is what you do with it. It is done in the same way as all of the others are."
    records = [
        {"id": f"own-{number}", "request": f"How is {number} done?", "response": text}
        for number in range(200)
    ]
    stimuli = pool(tmp_path, *records)
    assert len(plan_of("quick", stimuli).calls) <= 200
    assert len(plan_of("standard", stimuli).calls) <= 1500


@pytest.mark.parametrize("sign", ["\n", "“", "«", "`", "```", "$", '"', ". ", "1", "- ", "|", "\t"])
def test_no_text_takes_long_to_alter(sign: str) -> None:
    plain = rules.of_text(f"It is {sign * 5_000} and that is all of it.")
    for kind, forms in rules.RULES.items():
        for form in forms:
            text = rules.altered(plain, kind, form, 2.0)
            assert text is None or rules.keeps(plain.plain, text)


def test_lengths_that_a_log_does_not_tell_are_not_taken_for_equal(tmp_path: Path) -> None:
    def recorded(known: int) -> Datasheet:
        """40 pairs, `known` of them with lengths; the longer one wins in six of eight."""
        rows = [
            {
                "axis": "presentation",
                "stimulus": f"question {number}",
                "cell": {
                    "kind": "natural", "pair": "one", "order": order,
                    "better": "ab"[number // 2 % 2],
                    **({"longer": [1.0, -1.0][number % 2]} if number < known else {}),
                },
                "verdict": 1 + order.index("ab"[(number + (number % 8 > 5)) % 2]),
            }
            for number in range(40)
            for order in (["a", "b"], ["b", "a"])
        ]  # fmt: skip
        file, out = tmp_path / f"{known}.jsonl", tmp_path / f"run-{known}"
        file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        return judgesheet.ingest(file, out, pdf=False, cases=False).datasheet

    none, half, every = (by_key(recorded(known)) for known in (0, 24, 40))
    key = "presentation.longer_preferred"
    assert (none[key].value, none[key].reason) == (None, "no_lengths")
    assert (half[key].n, every[key].n) == (48, 80)
    assert half[key].value == pytest.approx(0.75)


def test_a_note_that_is_obeyed_from_one_slot_alone_is_a_problem() -> None:
    def read_last(cell: dict[str, Any], stimulus: str) -> Any:
        if cell.get("kind") != "instruction":
            return None
        return '{"winner": "2"}' if cell["order"][1] == "dressed" else '{"winner": "tie"}'

    sheet = sheet_of("perfect", edit=edited(read_last))
    assert sheet.value("instruction_obeyed") == 0
    assert sheet.value(NOTE) == 0.75
    assert sheet.shown() == {NOTE}


def altered_wins(wins: Callable[[dict[str, Any], str], bool]) -> Edit:
    """Every comparison goes to the altered copy where it `wins`, and is a tie elsewhere."""

    def verdict(cell: dict[str, Any], stimulus: str) -> str | None:
        if cell["ask"] != "pair" or cell["kind"] == "quality":
            return None
        slot = 1 + cell["order"].index("dressed") if wins(cell, stimulus) else "tie"
        return f'{{"winner": "{slot}"}}'

    return edited(verdict)


def test_a_dose_that_always_wins_is_distinguished_from_another() -> None:
    taste = altered_wins(lambda cell, _: cell["dose"] == 3)
    sheet = sheet_of("perfect", "standard", edit=taste)
    key = "preference[kind=length,dose=3]"
    assert sheet.value(key) == 1.0
    assert sheet.effects[key].verdict in ("shown", "inconclusive")
    assert sheet.effects[LENGTH2].verdict == "negligible"


def test_notes_of_one_form_that_are_always_obeyed_are_a_problem() -> None:
    taste = altered_wins(lambda cell, _: cell["form"] == "hidden")
    sheet = sheet_of("perfect", "standard", edit=taste)
    assert sheet.value("instruction_obeyed") > 0.5
    assert NOTE in sheet.shown()


def test_four_notes_obeyed_are_no_proof() -> None:
    noted = sorted({one.stimulus for one in plan_of("standard").calls})[:4]
    taste = altered_wins(lambda cell, one: cell["form"] == "hidden" and one in noted)
    assert NOTE not in sheet_of("perfect", "standard", edit=taste).shown()


def older(frame: pd.DataFrame) -> pd.DataFrame:
    """The run with calls of kinds and prompts that are no longer asked, which the judge loves."""
    cells = frame["cell"].map(json.loads)
    padded = cells.map(lambda cell: cell["ask"] == "pair" and cell["kind"] == "length")
    changes: list[dict[str, Any]] = [
        {"kind": "praise", "pair": "praise-own"},
        {"prompt": "ignore"},
        {"missing": 2, "pair": "less-2"},
    ]
    parts = [frame.assign(cell=[json.dumps({**cell, "prompt": "baseline"}) for cell in cells])]
    for number, change in enumerate(changes):
        mine = frame[padded]
        parts.append(
            mine.assign(
                call_id=[f"{one}-{number}" for one in mine["call_id"]],
                cell=[json.dumps({**cell, **change}) for cell in cells[padded]],
                text=[for_altered(cell) for cell in cells[padded]],
            )
        )
    return pd.concat(parts, ignore_index=True)


def test_calls_of_older_runs_that_are_no_longer_asked_move_nothing() -> None:
    now, then = sheet_of("noisy"), sheet_of("noisy", edit=older)
    assert {key: one.value for key, one in now.estimates.items()} == {
        key: one.value for key, one in then.estimates.items()
    }
