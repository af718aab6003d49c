import asyncio
import json
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from judgesheet.axes import all_axes
from judgesheet.axes.candidate_order.read import verdict_probabilities
from judgesheet.axes.score_order.read import score_probabilities
from judgesheet.axis.simulation import Parameters
from judgesheet.base.errors import JudgesheetError, UsageError
from judgesheet.base.records import Call, Reply, ReplyFormat
from judgesheet.judges.providers import JudgeRef
from judgesheet.judges.simulated import PRESETS, SimulatedJudge

ORDER = [3, 1, 5, 2, 4]


def make_call(repeat: int = 0, reply: ReplyFormat = "json", axis: str = "score_order") -> Call:
    return Call(
        axis=axis,
        stimulus="s",
        cell={"item": "i", "arm": "balanced", "scale": 5, "order": ORDER},
        repeat=repeat,
        messages=({"role": "user", "content": "Grade."},),
        params={},
        reply=reply,
    )


def ask(judge: SimulatedJudge, *calls: Call) -> list[Reply]:
    async def main() -> list[Reply]:
        async with judge:
            return [await judge.ask(call, 1) for call in calls]

    return asyncio.run(main())


def test_probabilities_are_the_documented_softmax() -> None:
    planted = Parameters(quality=2.0, width=1.0, first=0.7, last=-0.2)
    weights = [
        math.exp(2.0 * -((score - 4.0) ** 2) / 2 + logit)
        for score, logit in zip(ORDER, [0.7, 0, 0, 0, -0.2], strict=True)
    ]
    truth = score_probabilities(planted, "i", 5, ORDER, 0.75)
    assert truth == pytest.approx([weight / sum(weights) for weight in weights])


def test_draws_follow_the_planted_truth() -> None:
    judge = SimulatedJudge.from_name("first-biased", {"i": 0.5})
    replies = ask(judge, *(make_call(repeat) for repeat in range(4000)))
    counts = Counter(json.loads(reply.text)["score"] for reply in replies)
    truth = score_probabilities(judge.parameters, "i", 5, ORDER, 0.5)
    shares = [counts[score] / len(replies) for score in ORDER]
    assert shares == pytest.approx(truth, abs=0.04)  # four standard errors at most


def test_the_same_call_gets_the_same_reply() -> None:
    calls = [make_call(repeat) for repeat in range(20)]
    first = [reply.text for reply in ask(SimulatedJudge.from_name("random"), *calls)]
    again = [reply.text for reply in ask(SimulatedJudge.from_name("random"), *calls)]
    other = [reply.text for reply in ask(SimulatedJudge.from_name("random?seed=1"), *calls)]
    assert first == again
    assert first != other


def test_interaction_has_no_mean_and_belongs_to_the_item() -> None:
    planted = Parameters(interaction=1.5)
    logits = planted.position_logits("i", 7)
    assert math.fsum(logits) == pytest.approx(0)
    assert logits == planted.position_logits("i", 7)
    assert logits != planted.position_logits("j", 7)


@pytest.mark.parametrize(
    ("knots", "n", "expected"),
    [
        ((1.0, 0.0), 3, [1, 0.5, 0]),
        ((2.0, 0.0, 1.0), 5, [2, 1, 0, 0.5, 1]),
        ((2.0, 0.0, 1.0), 3, [2, 0, 1]),
        ((), 2, [0, 0]),
        ((4.0,), 2, [4, 4]),
    ],
)
def test_position_logits_are_interpolated(
    knots: tuple[float, ...], n: int, expected: list[float]
) -> None:
    assert Parameters(position=knots).position_logits("i", n) == pytest.approx(expected)


def test_presets_do_what_their_names_say() -> None:
    def truth(name: str) -> list[float]:
        return score_probabilities(PRESETS[name], "i", 5, ORDER, 1.0)

    assert truth("position-only") == [1, 0, 0, 0, 0]
    assert truth("random") == pytest.approx([0.2] * 5)
    assert truth("constant") == [1, 0, 0, 0, 0]  # the middle score, 3, is on the first line
    assert max(truth("fair")) == truth("fair")[ORDER.index(5)]
    assert truth("first-biased")[0] > truth("fair")[0]
    assert truth("last-biased")[-1] > truth("fair")[-1]
    assert max(truth("noisy")) < max(truth("fair"))


def test_both_reply_formats() -> None:
    judge = SimulatedJudge.from_name("position-only")
    as_json, as_text = ask(judge, make_call(), make_call(reply="text"))
    assert json.loads(as_json.text) == {"score": 3}
    assert as_text.text.endswith("\n[RESULT] 3")


def test_shares_of_unreadable_and_refused() -> None:
    unreadable, refused = SimulatedJudge.from_name("unreadable"), "fair?refused=1"
    assert "RESULT" not in ask(unreadable, make_call())[0].text
    assert ask(SimulatedJudge.from_name(refused), make_call())[0].outcome == "refused"


def test_an_axis_without_plantings_is_named() -> None:
    with pytest.raises(JudgesheetError, match="listwise"):
        ask(SimulatedJudge.from_name("fair"), make_call(axis="listwise"))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("nobody", "fair, first-biased"),
        ("fair?colour=1", "quality, width"),
        ("fair?width=0", "0.001"),
        ("fair?first=inf", "logit"),
        ("fair?position=1:x", "1:0:0:0:1"),
        ("fair?greedy=2", "0 or 1"),
        ("fair?refused=0.6&unreadable=0.6", "at most 1"),
    ],
)
def test_mistakes_are_answered_with_what_is_valid(name: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        SimulatedJudge.from_name(name)


def test_parameters_override_a_preset_and_are_its_identity() -> None:
    judge = SimulatedJudge.from_name("first-biased?first=1.5&position=0:1&seed=9")
    assert judge.parameters == replace(
        PRESETS["first-biased"], first=1.5, position=(0.0, 1.0), seed=9
    )
    assert judge.identity["parameters"]["first"] == 1.5


def test_opening_a_simulated_judge_loads_nothing_heavy() -> None:
    program = "from judgesheet.judges import *; open_judge('sim/fair', Connection())"
    assert loaded(program, "httpx", "aiohttp", "numpy") == set()
    assert JudgeRef.parse("sim/fair").about.reply == "json"


def test_batches_are_written_and_read_without_a_client() -> None:
    program = "import judgesheet.judges.dialects, judgesheet.collect.ingest"
    assert loaded(program, "httpx", "aiohttp") == set()


def loaded(program: str, *modules: str) -> set[str]:
    """Which of the modules a program of its own has loaded at its end."""
    program += "; import sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    return {*modules} & {*done.stdout.split()}


TOY = """
from dataclasses import dataclass
from typing import Annotated
from judgesheet.axis import Axis
from judgesheet.axis.simulation import Logit

@dataclass
class Simulated:
    boldness: Annotated[Logit, "preference for loud words"] = 1.5

class Toy(Axis):
    NAME = "toy"
    SIMULATED = Simulated
    material = design = fault = measure = None

    def simulate(self, parameters, call, known, rng):
        return f"{parameters.of(Simulated).boldness} {parameters.quality} {known()}"
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An axis that another package installs."""
    (tmp_path / "toy_axis.py").write_text(TOY, encoding="utf-8")
    about = tmp_path / "toy_axis-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: toy-axis\nVersion: 1\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[judgesheet.axes]\ntoy = toy_axis:Toy\n")
    monkeypatch.syspath_prepend(tmp_path)
    all_axes.cache_clear()
    yield
    all_axes.cache_clear()


@pytest.mark.usefixtures("toy")
def test_an_installed_axis_answers_with_parameters_of_its_own() -> None:
    judge = SimulatedJudge.from_name("fair?boldness=3&quality=2", {"i": 0.25})
    assert ask(judge, make_call(axis="toy"))[0].text == "3.0 2.0 0.25"
    assert judge.identity["parameters"]["boldness"] == 3.0
    assert ask(SimulatedJudge.from_name("fair", {"i": 0}), make_call(axis="toy"))[0].text == (
        "1.5 1.0 0"
    )
    with pytest.raises(UsageError, match="boldness"):
        SimulatedJudge.from_name("fair?boldness=loud")
    with pytest.raises(UsageError, match=r"seed, .*boldness"):
        SimulatedJudge.from_name("fair?colour=1")


def test_a_slot_beyond_all_measure_is_no_overflow() -> None:
    cell = {"condition": "vacuum", "order": ["u", "v"], "pair": "p"}
    assert verdict_probabilities(Parameters(slot=-1e6, lapse=1.0), cell, "s")["2"] == 1.0


def test_slips_are_given_by_chance_and_keep_the_other_replies() -> None:
    calls = [make_call(repeat) for repeat in range(2000)]
    sure = [reply.text for reply in ask(SimulatedJudge.from_name("perfect"), *calls)]
    good = [reply.text for reply in ask(SimulatedJudge.from_name("perfect?slip=0.1"), *calls)]
    other = sum(a != b for a, b in zip(sure, good, strict=True)) / len(calls)
    assert other == pytest.approx(0.1 * 4 / 5, abs=0.02)  # one in five guesses is right


def test_a_greedy_judge_takes_the_lower_of_two_right_scores_wherever_it_stands() -> None:
    judge = SimulatedJudge.from_name("perfect", {"i": 0.375})  # between 2 and 3 of five
    shown = [replace(make_call(), cell={**make_call().cell, "order": order})
             for order in (ORDER, ORDER[::-1])]  # fmt: skip
    assert [json.loads(reply.text)["score"] for reply in ask(judge, *shown)] == [2, 2]


def made(axis: str, stimulus: str = "s", **cell: object) -> Call:
    return Call(
        axis=axis,
        stimulus=stimulus,
        cell={"item": "i", "arm": "balanced", "scale": 5, **cell},
        repeat=0,
        messages=({"role": "user", "content": "Grade."},),
        params={},
        reply="json",
    )


def said(judge: SimulatedJudge, call: Call) -> object:
    return json.loads(judge.planted(call).text)


NAMES = ["Accuracy", "Clarity", "Style"]
KNOWN = {"i\nAccuracy": 1.0, "i\nClarity": 0.0, "i\nStyle": 0.5, "i": 0.25}


def test_a_halo_scores_every_criterion_as_the_first() -> None:
    call = made("criterion_order", order=NAMES[::-1])
    fair = SimulatedJudge.from_name("perfect", KNOWN)
    assert said(fair, call) == {"scores": {"Style": 3, "Clarity": 1, "Accuracy": 5}}
    halo = SimulatedJudge.from_name("perfect?halo=1", KNOWN)
    assert said(halo, call) == {"scores": dict.fromkeys(NAMES, 5)}


def test_a_criterion_that_is_not_heeded_follows_no_quality() -> None:
    def scores(level: float) -> dict[str, int]:
        judge = SimulatedJudge.from_name(
            "perfect?heeds=0:1:1", {f"i\n{name}": level for name in NAMES}
        )
        sentences = said(judge, made("criterion_order", order=NAMES))
        assert isinstance(sentences, dict)
        return dict(sentences["scores"])

    assert scores(0.0)["Accuracy"] == scores(1.0)["Accuracy"]
    assert (scores(0.0)["Clarity"], scores(1.0)["Clarity"]) == (1, 5)


def test_only_a_part_of_the_scale_may_be_used() -> None:
    call = made("score_order", order=[1, 2, 3, 4, 5])
    given = [
        said(SimulatedJudge.from_name("perfect?scored=0.5:1", {"i": level}), call)
        for level in (0.0, 0.5, 1.0)
    ]
    assert given == [{"score": 3}, {"score": 4}, {"score": 5}]


def test_the_padded_copy_is_preferred_in_either_slot() -> None:
    judge = SimulatedJudge.from_name("perfect?filler=20")
    orders = (["u", "v"], ["v", "u"])
    shown = [
        made("candidate_order", condition="filler", pair="filler-1", order=one) for one in orders
    ]
    assert [said(judge, call) for call in shown] == [{"winner": "2"}, {"winner": "1"}]


def test_places_matter_on_the_prone_stimuli_alone() -> None:
    judge = SimulatedJudge.from_name("perfect?slot=20&prone=0.3")
    shown = [
        made("candidate_order", f"s{i}", condition="delta0_same", pair="p", order=["u", "v"])
        for i in range(400)
    ]
    winners = Counter(str(said(judge, call)) for call in shown)
    assert winners.keys() == {"{'winner': '1'}", "{'winner': 'tie'}"}
    assert 90 <= winners["{'winner': '1'}"] <= 150  # 120 expected, three standard errors of 9
