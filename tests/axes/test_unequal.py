"""Which stimuli carry an effect of the order, on every axis."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judgesheet.axis import places, unequal
from judgesheet.axis.statements import ORDER_ERROR, p_value
from judgesheet.base.records import Estimate, Statement
from tests.simulate import ORDER_AXES, Sheet, simulate
from tests.test_edges import rewritten

AXES = ORDER_AXES
GOOD = "fair?width=0.2"
READ = frozenset({"chi2", "mean_delta_pos", "order_inconsistent", "win_share"})
"""What says on an axis whether enough was read to tell anything."""
PLACES = unequal.NAMES | READ
NOISE = READ | {"wavering_p", "level_p", "anywhere_p"}
HOSTILE = '{0} & <script>alert("x")</script>, {stimuli} %s \n| a |'
Edit = Callable[[pd.DataFrame], pd.DataFrame]


def always_first(axis: str, stimuli: int) -> Edit:
    """The judge takes the first place on the last few stimuli."""

    def edit(frame: pd.DataFrame) -> pd.DataFrame:
        biased = frame["stimulus"].unique()[-stimuli:]
        rows = [row for row, name in enumerate(frame["stimulus"]) if name in biased]
        return rewritten(frame, axis, rows, 0)

    return edit


def biased(sheet: Sheet, stimuli: int) -> set[str]:
    return set(list(dict.fromkeys(call.stimulus for call in sheet.plan.calls))[-stimuli:])


def said(sheet: Sheet) -> list[Statement]:
    """What page one says of few stimuli."""
    test = f"{sheet.result.name}.any_stimulus_p"
    return [one for one in sheet.result.findings if test in one.evidence]


@pytest.mark.parametrize("stimuli", [1, 2])
@pytest.mark.parametrize("axis", AXES)
def test_the_stimuli_that_carry_the_bias_are_named(axis: str, stimuli: int) -> None:
    # Quick asks too few pairs of one task for two tasks to show alone.
    profile = "standard" if axis == "candidate_order" else "quick"
    sheet = simulate(GOOD, profile, axis, edit=always_first(axis, stimuli), families=PLACES)
    share, largest = sheet["unequal_stimuli"], sheet["largest_stimulus_effect"]
    assert set(share.given["stimuli"]) == biased(sheet, stimuli)
    assert share.value == stimuli / share.given["of"]
    assert share.low is not None
    assert share.low < sheet.value("unequal_stimuli")
    assert share.high is None, "what too few calls could show is not ruled out"
    assert largest.given["stimulus"] in biased(sheet, stimuli)
    assert largest.given["place"] == 1
    assert sheet.value("largest_stimulus_effect") > largest.given["by_noise"]
    (finding,) = said(sheet)
    assert all(name in finding.text for name in biased(sheet, stimuli))
    assert finding.tone == ("bad" if sheet.value("any_stimulus_p") < ORDER_ERROR else "unknown")


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("spec", ["first-biased", "always-1"])
def test_no_few_are_named_where_all_are_biased(axis: str, spec: str) -> None:
    assert not said(simulate(spec, "quick", axis, families=PLACES))


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("spec", ["fair", "noisy"])
def test_a_judge_that_is_blind_to_the_order_has_no_such_problem(axis: str, spec: str) -> None:
    """Stimuli may be named by chance in one run of twenty, and then it says how sure that is."""
    sheet = simulate(spec, "quick", axis, families=PLACES)
    for finding in said(sheet):
        assert finding.tone == "unknown"
        assert p_value(sheet["any_stimulus_p"]) in finding.text


def own_places(axis: str, calls: float) -> Edit:
    """On every stimulus a place of its own is preferred, in this share of calls."""

    def edit(frame: pd.DataFrame) -> pd.DataFrame:
        places = frame["cell"].map(lambda cell: len(json.loads(cell)["order"]))
        place = pd.factorize(frame["stimulus"])[0] % places
        chosen = np.random.default_rng(0).random(len(frame)) < calls
        for at in place.unique():
            frame = rewritten(frame, axis, np.flatnonzero((place == at) & chosen).tolist(), at)
        return frame

    return edit


@pytest.mark.parametrize("axis", AXES)
def test_effects_that_cancel_in_averages_are_a_problem(axis: str) -> None:
    sheet = simulate(GOOD, "standard", axis, edit=own_places(axis, 0.7), families=PLACES)
    assert sheet.value("unequal_stimuli") > 0.5
    assert sheet["unequal_stimuli"].given["in_common"] < 0.2
    (finding,) = said(sheet)
    assert finding.tone == "bad"


@pytest.mark.parametrize(
    ("axis", "average", "limit"),
    [("score_order", "cramers_v", 0.15), ("criterion_order", "max_delta_pos", 0.5)],
)
def test_excess_changes_see_what_cancels_in_averages(axis: str, average: str, limit: float) -> None:
    sheet = simulate(GOOD, "standard", axis, edit=own_places(axis, 1.0))
    assert sheet.value(average) < limit
    excess = sheet["excess_change_rate"]
    assert excess.bounds is not None
    assert excess.bounds.low > 0.25, "the limit of the shipped policies"
    assert "bad" in sheet.tones("excess_change_rate")


@pytest.mark.parametrize("axis", AXES)
def test_names_travel_as_data(axis: str) -> None:
    """Whatever a stimulus is called, it is named and nothing of it is carried out."""

    def edit(frame: pd.DataFrame) -> pd.DataFrame:
        spoiled = always_first(axis, 1)(frame)
        last = frame["stimulus"].unique()[-1]
        return spoiled.assign(stimulus=spoiled["stimulus"].replace(last, HOSTILE))

    sheet = simulate(GOOD, "quick", axis, edit=edit, families=PLACES)
    assert sheet["unequal_stimuli"].given["stimuli"] == [HOSTILE]
    assert HOSTILE in said(sheet)[0].text


def test_stimuli_with_two_calls_are_not_tested_alone() -> None:
    def edit(frame: pd.DataFrame) -> pd.DataFrame:
        cells = frame["cell"].map(json.loads)
        pair = cells.map(lambda cell: (cell["pair"], cell["condition"]))
        chosen = cells.map(lambda cell: cell["condition"] == "delta0_same")
        firsts = pair[chosen].groupby(frame["stimulus"]).first()
        keep = pair == frame["stimulus"].map(firsts)
        prompt = cells.map(lambda cell: cell["prompt"] == "baseline")
        listing = cells.map(lambda cell: cell["listing"] == "1|2|tie")
        return frame[keep & prompt & listing].reset_index(drop=True)

    sheet = simulate("always-1", "quick", "candidate_order", edit=edit)
    assert sheet["unequal_stimuli"].reason == unequal.TOO_FEW.code
    assert not said(sheet)


@pytest.mark.parametrize("axis", AXES)
def test_a_judge_that_answers_alike_everywhere_shows_nothing(axis: str) -> None:
    sheet = simulate("constant", "quick", axis)
    assert sheet.value("unequal_stimuli") == 0
    assert sheet.value("any_stimulus_p") == 1
    assert sheet.value("largest_stimulus_effect") == pytest.approx(0)


def test_an_order_in_pairs_is_told_from_noise() -> None:
    """A coin changes its verdict in half of the pairs, but to either side."""
    coin = simulate("random", "quick", "candidate_order")
    slot = simulate("fair?slot=8", "quick", "candidate_order")
    for sheet, by_order in ((coin, False), (slot, True)):
        assert sheet.value("order_inconsistent[set=same_subset]") > 0.3
        p: Any = sheet["order_dependence_p[set=same_subset]"].value
        assert (p < ORDER_ERROR) == by_order
        (change,) = [one for one in sheet.result.findings if one.text.startswith("Swapping two")]
        assert change.tone == ("bad" if by_order else "neutral")


# -- noise that some orders bring ------------------------------------------------------------------


def noisy_in(axis: str, order: list[object]) -> Edit:
    """The replies of another, noisier judge in this order."""
    loud: list[pd.DataFrame] = []

    def keep(frame: pd.DataFrame) -> pd.DataFrame:
        loud.append(frame)
        return frame

    simulate("fair?width=1.5&seed=7", "quick", axis, edit=keep)

    def edit(frame: pd.DataFrame) -> pd.DataFrame:
        shown = frame["cell"].map(lambda cell: json.loads(cell)["order"] == order)
        return frame.assign(text=frame["text"].where(~shown, loud[0]["text"]))

    return edit


CRITERIA = ["Courtesy", "Practicality", "Organisation", "Coverage", "Accuracy"]


@pytest.mark.parametrize(
    ("axis", "order"), [("score_order", [5, 4, 2, 3, 1]), ("criterion_order", CRITERIA)]
)
def test_noise_in_one_order_only_is_told(axis: str, order: list[object]) -> None:
    sheet = simulate("fair?width=0.3", "quick", axis, edit=noisy_in(axis, order), families=NOISE)
    assert sheet.value("wavering_p") < ORDER_ERROR
    assert sheet["wavering_p"].given["order"] == [*map(str, order)]
    (told,) = sheet.about("wavering_p")
    assert told.tone == "bad"
    assert ", ".join(map(str, order)) in told.text


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("spec", ["noisy", "constant"])
def test_noise_that_every_order_brings_is_none_of_one(axis: str, spec: str) -> None:
    sheet = simulate(spec, "quick", axis, families=NOISE)
    assert not sheet.about("wavering_p")
    test = sheet["wavering_p"]
    assert test.value is None or test.value > ORDER_ERROR
    if spec == "constant" or axis == "candidate_order":
        assert test.reason == "never_wavers", "no reading differs from another of its item"


def test_wavering_and_level_keep_their_size() -> None:
    """Of 60 noisy judges about 3 are below .05 (at most 8 in 995 of 1,000 such sixties)."""
    both = frozenset({"wavering_p", "level_p"})
    sheets = [
        simulate(f"fair?width=1&seed={seed}", "smoke", "criterion_order", families=both)
        for seed in range(60)
    ]
    for name in both:
        assert sum(sheet.value(name) < 0.05 for sheet in sheets) <= 8, name


@pytest.mark.parametrize(("value", "verb"), [(0.4, "favours"), (0.12, "disfavours")])
def test_a_place_that_gets_too_little_is_not_favoured(value: float, verb: str) -> None:
    won = Estimate("one.win_share", "", value, value - 0.1, value + 0.1, unit="share")
    farthest = places.Farthest("2", won, 0.25)
    said = places.wordings("a place", "it wins", farthest, None, little="", none="", rest="")
    assert said["shown"].startswith(f"It {verb} a place: ")
    assert f"evidence that it {verb} a place" in said["indicated"]
