"""The expected score: recovered from what is planted, kept apart from the sampled score."""

import json
import math
import sqlite3
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import judgesheet
from judgesheet.axes import get_axis
from judgesheet.axes.score_order import expected
from judgesheet.axes.score_order._reply import score_probabilities
from judgesheet.axis import Options
from judgesheet.axis.beyond_chance import OTHER_SCALE
from judgesheet.axis.labels import Reference
from judgesheet.axis.logprobs import Distribution
from judgesheet.axis.scored import Rows
from judgesheet.base.errors import UsageError
from judgesheet.base.records import LOGPROBS
from judgesheet.judges.simulated import SimulatedJudge
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import LEDGER
from judgesheet.planning.plan import make_plan
from judgesheet.sheet.plots import draw
from tests.judges.loopback import Answer, Request, completion, failure, serving
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


def test_position_mass_is_the_planted_mean_probability(sheet: Sheet) -> None:
    truth = np.mean([line for _, _, line in planted(sheet)], axis=0)
    found = [sheet.value(f"expected_position_mass[position={p}]") for p in range(1, 6)]
    assert found == pytest.approx(list(truth))
    for position in range(1, 6):
        share = sheet[f"position_share[position={position}]"]
        mass = sheet[f"expected_position_mass[position={position}]"]
        assert share.n == mass.n
        assert math.dist([share.low or 0], [share.high or 0]) > 0.9 * math.dist(
            [mass.low or 0], [mass.high or 0]
        )


def test_spread_and_order_effect_are_those_of_the_planted_means(sheet: Sheet) -> None:
    frame = pd.DataFrame(
        [(item, float(np.dot(order, line))) for item, order, line in planted(sheet)],
        columns=["item", "mean"],
    )
    spread = frame.groupby("item")["mean"].std(ddof=0)
    assert sheet.value("expected_within_item_sd[arm=balanced]") == pytest.approx(spread.mean())
    effect = float((spread**2).mean()) / float(frame["mean"].var(ddof=0))
    assert sheet.value("expected_order_effect") == pytest.approx(effect)
    # The sampled score is drawn: it varies more, and by noise too.
    assert sheet.value("within_item_sd[arm=balanced]") > spread.mean()


def test_expected_scores_correlate_better_than_drawn_ones(sheet: Sheet) -> None:
    for name in ("pearson_r[arm=balanced]", "single_read_r"):
        assert sheet.value(f"expected_{name}") > sheet.value(name)
    assert sheet["expected_pearson_r[arm=balanced]"].paper_compatible is None


def test_calls_saved_are_the_ratio_of_the_planted_variances(sheet: Sheet) -> None:
    lines = planted(sheet)
    moments = pd.DataFrame(
        [
            (item, np.dot(order, line), np.dot(np.square(order), line))
            for item, order, line in lines
        ],
        columns=["item", "mean", "square"],
    )
    own = float(moments.groupby("item")["mean"].var().mean())
    drawn = float((moments["square"] - moments["mean"] ** 2).mean())
    calls = sheet["calls_for_same_width[of=item_score]"]
    assert calls.low is not None
    assert calls.high is not None
    assert calls.low < (own + drawn) / own < calls.high
    assert calls.low > 1
    assert sheet.says("tells responses apart as well as several sampled ones")
    assert any("Read the log-probabilities" in advice.text for advice in sheet.advice)


def test_an_order_blind_judge_shows_no_order_at_all() -> None:
    fair = simulate("fair", "quick", logprobs=True)
    assert fair.value("expected_order_effect") == pytest.approx(0)
    assert fair.value("expected_position_mass[position=1]") == pytest.approx(0.2)
    saved = fair["calls_for_same_width[of=item_score]"]
    assert saved.value is None
    assert "does not vary" in saved.note


def test_a_judge_that_sees_only_the_place_is_recommended_nothing() -> None:
    blind = simulate("position-only", "quick", logprobs=True)
    assert blind.value("expected_order_effect") == pytest.approx(1)
    assert blind.value("expected_position_mass[position=1]") == pytest.approx(1)
    assert blind["calls_for_same_width[of=item_score]"].value is None
    assert not any("log-probabilities" in advice.text for advice in blind.advice)


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
    readable = half["expected_readable"]
    assert readable.value == pytest.approx(0.5, abs=0.01)
    assert readable.note == f"its log-probabilities are damaged: {readable.n // 2}"
    assert not any("log-probabilities" in advice.text for advice in half.advice)


def test_nothing_readable_is_said_to_be_unknown() -> None:
    def spoil(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(distribution="the reply came without log-probabilities")

    none = simulate(BIASED, "quick", logprobs=True, edit=spoil)
    assert none.value("expected_readable") == 0
    for key, estimate in none.estimates.items():
        if ("expected_" in key and "readable" not in key) or "calls_for" in key:
            assert estimate.value is None, key
            assert estimate.note
    assert none.says("could be read in only 0 %")


def test_refused_and_unreadable_replies_have_no_expected_score() -> None:
    shaky = simulate("fair?unreadable=.3&refused=.2", "smoke", logprobs=True)
    assert "the reply gives no score" in shaky["expected_readable"].note
    assert 0.4 < shaky.value("expected_readable") < 0.8


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
    body = {"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 9}}
    return Answer(json.dumps(body).encode())


def probe(base_url: str, out: Path, **options: Any) -> judgesheet.Run:
    asked = {"axes": ["score_order"], "profile": "smoke", "reply": "json", **options}
    return judgesheet.probe("openai-compatible/m", out, base_url=base_url, pdf=False, **asked)


@pytest.mark.usefixtures("only_json")
def test_an_endpoint_is_asked_and_read(tmp_path: Path) -> None:
    def script(request: Request, number: int) -> Answer:
        assert LOGPROBS.items() <= request.body.items()
        if number % 4 == 0:  # some servers forget
            return completion('{"score":4}', logprobs=None)
        return chat(1 + number % 5, number, 0.6)

    with serving(script) as server:
        run = probe(server.base_url, tmp_path / "run", logprobs=True)
    (axis,) = run.datasheet.axes
    found = {estimate.key: estimate for estimate in axis.estimates}
    readable = found["score_order.expected_readable"]
    assert readable.value == pytest.approx(0.75, abs=0.02)
    assert "the reply came without log-probabilities" in readable.note
    assert axis.answered == axis.planned
    assert "expected_readable" in axis.glossary
    (figure,) = (one for one in axis.figures if "expected_position_mass" in one.families)
    assert "xpected" in draw(figure, axis.estimates, "f").svg
    table = pd.read_parquet(tmp_path / "run" / "judgments.parquet")
    record = json.loads(next(v for v in table["distribution"] if v.startswith("{")))
    assert math.fsum(record["probabilities"]) == pytest.approx(1)
    assert judgesheet.measure(tmp_path / "run").datasheet == run.datasheet


@pytest.mark.usefixtures("only_json")
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
            assert run.datasheet.run["logprobs"] is False
    assert tried == [1]
    with serving(lambda _, number: chat(3, number, 0.6)) as server:
        run = probe(server.base_url, tmp_path / "other", logprobs="auto")
    assert run.datasheet.run["logprobs"] is True


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


@pytest.mark.usefixtures("only_json")
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


# -- confidence ------------------------------------------------------------------------------------


def _paired(right: np.ndarray, probabilities: np.ndarray, kind: Any = "human") -> Any:
    """Calls on items of their own, four to a stimulus, whose ratings are these scores (from 1)."""
    items = np.arange(len(right))
    known = Reference(kind, right.astype(float), right[:, None].astype(float))
    rows = Rows("Score", {}, right[:, None, None] * 1.0, items // 4, items, 3)
    sampled = SimpleNamespace(
        reference=known, rows=[rows], items=tuple(items), scale=3,
        rng=lambda: np.random.default_rng(0),
    )  # fmt: skip
    found = [Distribution(tuple(line), 1.0, 0.0) for line in probabilities.tolist()]
    asked = pd.DataFrame({
        "item": items, "cluster": items // 4, "arm": "balanced", "scale": 3, "distribution": found,
    })  # fmt: skip
    return SimpleNamespace(sampled=sampled, asked=asked)


def _drawn(rng: np.random.Generator, sharper: float, calls: int = 400) -> Any:
    """Ratings drawn from probabilities of which the judge states a power."""
    truth = rng.dirichlet([1.0, 1.0, 1.0], size=calls)
    right = 1 + (rng.random((calls, 1)) > truth.cumsum(axis=1)).sum(axis=1)
    stated = truth**sharper
    return _paired(right, stated / stated.sum(axis=1, keepdims=True))


def test_the_brier_score_is_the_squared_distance() -> None:
    third = 1 / 3
    stated = np.array([[1, 0, 0], [1, 0, 0], [third, third, third], [0, 0.5, 0.5]])
    both = _paired(np.array([1, 2, 3, 3]), stated)
    (found,) = expected.brier(both)
    assert found.value == pytest.approx((0 + 2 + 2 / 3 + 0.5) / 4)
    (gap,) = expected.overconfidence(both)
    # Ties of the likeliest go to the lower score: 1 is not right for the third, 2 for the fourth.
    assert gap.value == pytest.approx((1 + 1 + 1 / 3 + 0.5) / 4 - 1 / 4)


def test_a_judge_that_knows_how_sure_it_may_be_is_not_accused() -> None:
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(100):
        (gap,) = expected.overconfidence(_drawn(rng, 1.0))
        assert gap.low is not None
        assert gap.high is not None
        inside += gap.low <= 0 <= gap.high
    assert inside >= 88
    both = _drawn(rng, 1.0)
    (error,) = expected.calibration_error(both)
    assert error.value == pytest.approx(float(error.conditions.split()[0]), abs=0.04)


def test_a_judge_that_is_too_sure_is_told_how_much() -> None:
    rng = np.random.default_rng(2)
    both = _drawn(rng, 4.0)
    (gap,) = expected.overconfidence(both)
    assert gap.low is not None
    assert gap.low > 0.1
    right = {e.key: e.value for e in expected.right_at_confidence(both)}
    sure = {e.key: e.value for e in expected.confidence_in_tenth(both)}
    last = "score_order.right_at_confidence[confidence=0.9]"
    assert (right[last] or 1.0) < (
        sure[last.replace("right_at_confidence", "confidence_in_tenth")] or 0
    )
    scores = [expected.brier(one)[0].value or 0.0 for one in (both, _drawn(rng, 1.0))]
    assert scores[0] > scores[1]


def test_confidence_needs_quality_on_the_judges_scale() -> None:
    both = _paired(np.array([1.5, 2, 3, 3]), np.full((4, 3), 1 / 3))
    for figure in (expected.brier, expected.overconfidence, expected.calibration_error):
        assert figure(both)[0].reason == OTHER_SCALE.code
    assert expected.right_at_confidence(both) == ()
