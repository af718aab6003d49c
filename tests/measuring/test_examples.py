"""The example of an effect is the stimulus on which a judge departs most, and it gives no text."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from judgesheet.base.facts import JudgeIdentity, Provenance, RunFacts, StimulusPool
from judgesheet.base.records import BUILT_IN, Datasheet, MeasuredSheet
from judgesheet.decide import decide
from judgesheet.measuring.slices import with_slices
from judgesheet.sheet.context import context
from judgesheet.sheet.identity import stimulus_in_words
from tests.simulate import simulate

ODD = "so-music-1"
BUILT = Provenance(stimuli=(StimulusPool("score_order", name=BUILT_IN),))


def odd_on_one(frame: pd.DataFrame, *, by_order: bool) -> pd.DataFrame:
    """The replies with those on one stimulus turned round, or made to follow the list."""

    def text(stimulus: str, cell: str, said: str) -> str:
        order, score = json.loads(cell)["order"], json.loads(said)["score"]
        other = order[0] if by_order else len(order) + 1 - score
        return json.dumps({"score": other}) if stimulus == ODD else said

    rows = zip(frame["stimulus"], frame["cell"], frame["text"], strict=True)
    return frame.assign(text=[text(*row) for row in rows])


@pytest.mark.parametrize(("by_order", "figure"), [(True, "excess_change_rate"),
                                                  (False, "pearson_r[arm=balanced]")])  # fmt: skip
def test_the_stimulus_that_departs_most_is_the_example(by_order: bool, figure: str) -> None:
    run = simulate("good", "quick", edit=lambda frame: odd_on_one(frame, by_order=by_order))
    (result,) = with_slices([run.result], {"score_order": run.readings}, in_time=True)
    found = {one.key: one.example for one in result.declared}
    assert found[f"score_order.{figure}"] == ODD


def test_what_is_shown_has_the_example_and_the_rest_none() -> None:
    run = simulate("good", "quick", edit=lambda frame: odd_on_one(frame, by_order=True))
    results = tuple(with_slices([run.result], {"score_order": run.readings}, in_time=True))
    sheet = decide(MeasuredSheet("", JudgeIdentity(), RunFacts(), Provenance(), results))
    effects = sheet.axes[0].effects
    assert any(one.verdict != "shown" for one in effects)
    assert all(one.verdict == "shown" for one in effects if one.example)
    assert context(sheet).example == ODD


def test_only_a_stimulus_that_is_built_in_is_reported_in_words() -> None:
    built = Datasheet("", JudgeIdentity(), RunFacts(), BUILT, ())
    assert ODD in stimulus_in_words(built, "score_order", ODD) != ODD
    own = replace(built, provenance=Provenance(stimuli=(StimulusPool("score_order", name="own"),)))
    assert stimulus_in_words(own, "score_order", ODD) == ODD
    assert stimulus_in_words(built, "score_order", "unknown") == "unknown"
    assert stimulus_in_words(built, "../policies", ODD) == ODD
    assert len(stimulus_in_words(own, "score_order", "x" * 999)) < 99
