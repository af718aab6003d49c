"""The expected score: recovered from what is planted, kept apart from the sampled score."""

import json
import math
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import judgesheet
from judgesheet.axes import get_axis
from judgesheet.axes.score_order.read import score_probabilities
from judgesheet.axis import Options
from judgesheet.axis.logprobs import Distribution
from judgesheet.base.errors import UsageError
from judgesheet.base.records import LOGPROBS
from judgesheet.judges.simulated import SimulatedJudge
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import LEDGER
from judgesheet.planning.plan import make_plan
from tests.judges.loopback import Answer, Request, failure, serving
from tests.simulate import Sheet, simulate

AXIS = get_axis("score_order")
BIASED = "noisy?width=1&first=1&interaction=1"


@pytest.fixture(scope="module")
def sheet() -> Sheet:
    return simulate(BIASED, "quick", logprobs=True)


# -- what was planted is found -----------------------------------------------------------------


def planted(sheet: Sheet) -> list[tuple[str, list[int], list[float]]]:
    """Item, order and probabilities of every first balanced reading."""
    parameters = SimulatedJudge.from_name(BIASED).parameters
    level = {label.item: label.score for label in sheet.plan.labels}
    return [
        (
            call.cell["item"],
            call.cell["order"],
            score_probabilities(
                parameters, call.cell["item"], 5, call.cell["order"], level[call.cell["item"]]
            ),
        )
        for call in sheet.plan.calls
        if call.cell["arm"] == "balanced" and call.repeat == 0
    ]


def test_the_order_effect_is_that_of_the_planted_means(sheet: Sheet) -> None:
    frame = pd.DataFrame(
        [(item, float(np.dot(order, line))) for item, order, line in planted(sheet)],
        columns=["item", "mean"],
    )
    spread = frame.groupby("item")["mean"].std(ddof=0)
    effect = float((spread**2).mean()) / float(frame["mean"].var(ddof=0))
    assert sheet.value("expected_order_effect") == pytest.approx(effect)
    # The sampled score is drawn: it varies more, and by noise too.
    assert sheet.value("within_item_sd[arm=balanced]") > spread.mean()


def test_expected_scores_correlate_better_than_drawn_ones(sheet: Sheet) -> None:
    name = "pearson_r[arm=balanced]"
    assert sheet.value(f"expected_{name}") > sheet.value(name)
    assert sheet["expected_pearson_r[arm=balanced]"].paper_compatible is None


@pytest.mark.parametrize(("spec", "effect"), [("fair", 0), ("position-only", 1)])
def test_a_judge_that_sees_only_content_or_only_places(spec: str, effect: float) -> None:
    found = simulate(spec, "quick", logprobs=True)
    assert found.value("expected_order_effect") == pytest.approx(effect)


# -- the two readings stay apart ---------------------------------------------------------------


def test_sampled_figures_do_not_change_when_log_probabilities_are_read(sheet: Sheet) -> None:
    def without(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.drop(columns="distribution")

    plain = simulate(BIASED, "quick", logprobs=True, edit=without)
    assert not any(key.split(".")[1].startswith("expected") for key in plain.estimates)
    for key, estimate in plain.estimates.items():
        assert sheet.estimates[key] == estimate


def test_a_plan_without_them_is_the_plan_it_was() -> None:
    off, on = (
        make_plan([AXIS], {"score_order": Options(profile="smoke", logprobs=asked)}, 0)
        for asked in (False, True)
    )
    assert off.digest != on.digest
    assert all("logprobs" not in call.params for call in off.calls)
    assert all(LOGPROBS.items() <= call.params.items() for call in on.calls)


def test_calls_without_this_reading_are_counted_with_their_reasons() -> None:
    def spoil(frame: pd.DataFrame) -> pd.DataFrame:
        values = frame["distribution"].tolist()
        values[: len(values) // 2] = ["its log-probabilities are damaged"] * (len(values) // 2)
        return frame.assign(distribution=pd.Series(values, dtype=object))

    half = simulate(BIASED, "quick", logprobs=True, edit=spoil)
    (sentence,) = (one for one in half.result.caveats if "no expected score" in one)
    assert f"its log-probabilities are damaged: {half.result.answered // 2}" in sentence


def test_nothing_readable_is_said_to_be_unknown() -> None:
    def spoil(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(distribution="the reply came without log-probabilities")

    none = simulate(BIASED, "quick", logprobs=True, edit=spoil)
    for key, estimate in none.estimates.items():
        if "expected_" in key:
            assert estimate.value is None, key
            assert estimate.note


def test_refused_and_unreadable_replies_have_no_expected_score() -> None:
    shaky = simulate("fair?unreadable=.3&refused=.2", "smoke", logprobs=True)
    assert any("the reply gives no score" in one for one in shaky.result.caveats)


# -- from an endpoint to the sheet -------------------------------------------------------------


def split(score: int, number: int) -> tuple[str, list[str]]:
    """What the endpoint says, and one of several ways to cut it into tokens."""
    text = json.dumps({"score": score})
    cuts = (
        ['{"', "score", '":', " ", str(score), "}"],
        ["```", "json\n", '{"score":', f" {score}", "}", "\n```", ""],
        ['{"score": ', f"{score}}}"],
    )
    return text, cuts[number % len(cuts)]


def chat(score: int, number: int, chance: float) -> Answer:
    text, cut = split(score, number)
    tokens = []
    for part in cut:
        same = [{"token": part, "logprob": 0.0}]
        if part.strip(" }") == str(score):
            others = [part.replace(str(score), str(s)) for s in range(1, 6) if s != score]
            same = [{"token": part, "logprob": math.log(chance)}]
            same += [{"token": t, "logprob": math.log((1 - chance) / 4)} for t in others]
        tokens.append({"token": part, "logprob": same[0]["logprob"], "top_logprobs": same})
    choice = {"message": {"content": text}, "logprobs": {"content": tokens}}
    # Without sizes: the same for all prompts would be those of a server that cuts them.
    return Answer(json.dumps({"choices": [choice]}).encode())


def probe(base_url: str, out: Path, **options: Any) -> judgesheet.Run:
    asked = {"axes": ["score_order"], "profile": "smoke", "reply": "json", **options}
    return judgesheet.probe("openai-compatible/m", out, base_url=base_url, pdf=False, **asked)


def test_an_endpoint_is_asked_and_read(tmp_path: Path) -> None:
    def script(request: Request, number: int) -> Answer:
        assert LOGPROBS.items() <= request.body.items()
        if number % 4 == 0:  # some servers forget
            return Answer(
                json.dumps({"choices": [{"message": {"content": '{"score":4}'}}]}).encode()
            )
        return chat(1 + number % 5, number, 0.6)

    with serving(script) as server:
        run = probe(server.base_url, tmp_path / "run", logprobs=True)
    (axis,) = run.datasheet.axes
    (sentence,) = (one for one in axis.caveats if "no expected score" in one)
    assert "the reply came without log-probabilities" in sentence
    assert axis.answered == axis.planned
    table = pd.read_parquet(tmp_path / "run" / "judgments.parquet")
    record = json.loads(next(v for v in table["distribution"] if v.startswith("{")))
    assert math.fsum(record["probabilities"]) == pytest.approx(1)
    assert judgesheet.measure(tmp_path / "run").datasheet == run.datasheet


def test_auto_asks_the_endpoint_once_and_remembers(tmp_path: Path) -> None:
    tried = []

    def script(request: Request, number: int) -> Answer:
        if "logprobs" in request.body:
            tried.append(number)
            return failure(400, message="logprobs are not supported")
        return chat(3, number, 0.6)

    with serving(script) as server:
        for _ in range(2):
            run = probe(server.base_url, tmp_path / "run", logprobs="auto")
            assert run.datasheet.run.logprobs is False
    assert tried == [1]
    with serving(lambda _, number: chat(3, number, 0.6)) as server:
        run = probe(server.base_url, tmp_path / "other", logprobs="auto")
    assert run.datasheet.run.logprobs is True


@pytest.mark.parametrize("model", ["anthropic/m", "python/json:dumps"])
def test_who_has_none_is_not_asked(model: str) -> None:
    with pytest.raises(UsageError, match="--logprobs"):
        judgesheet.plan(model, axes=["score_order"], profile="smoke", logprobs=True)


def test_only_a_local_model_is_asked_without_being_told_to() -> None:
    def asks(model: str) -> bool:
        planned, _ = judgesheet.plan(model, axes=["score_order"], profile="smoke")
        return bool(planned.provenance["settings"]["logprobs"])

    models = ("local/smollm2-135m", "sim/fair", "openai/m", "anthropic/m")
    assert {model: asks(model) for model in models} == {
        "local/smollm2-135m": True,
        "sim/fair": False,
        "openai/m": False,
        "anthropic/m": False,
    }


def test_bodies_are_read_only_where_they_were_asked_for(tmp_path: Path) -> None:
    for asked in (False, True):
        out = tmp_path / str(asked)
        judgesheet.probe(
            "sim/fair", out, axes=["score_order"], profile="smoke", logprobs=asked, pdf=False
        )
        with Ledger.open(out / LEDGER) as ledger:
            bodies = list(ledger.bodies())
            answers = list(ledger.answers())
        assert len(bodies) == (len(answers) if asked else 0)
    db = sqlite3.connect(out / LEDGER)
    raw = dict(db.execute("SELECT call_id, raw FROM attempt"))
    db.close()
    assert dict(bodies) == raw


def test_a_distribution_knows_its_mean() -> None:
    assert Distribution((0.25, 0.5, 0.25), 1.0, 0.0).expected == pytest.approx(2)
