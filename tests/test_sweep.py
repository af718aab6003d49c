"""A run for each value of a request parameter, and their figures by value."""

import json
from pathlib import Path
from typing import Any

import pytest

import judgesheet
from judgesheet.base.errors import JudgeError, RunError, StoppedError, UsageError
from judgesheet.collect.sweep import SweptParameter, parse_sweep
from judgesheet.sheet import by_value
from tests.command import run
from tests.judges.loopback import Answer, Request, Script, completion, failure, serving

OPTIONS: dict[str, Any] = {"axes": ("score_order",), "profile": "smoke", "pdf": False}
CALLS = 78
REVOKED = failure(401, message="revoked")


def sweep(directory: Path, model: str, text: str, **options: Any) -> list[judgesheet.Run]:
    return judgesheet.sweep(model, directory, sweep=text, **{**OPTIONS, **options})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("temperature", "NAME=VALUE"),
        ("temperature=0,0.0", "temperature"),
        ("temperature=0,,1", "temperature"),
        ("temperature=0,hot", "0 to 5"),
        ("temperature=0,9", "0 to 5"),
        ("temperature=0,nan", "0 to 5"),
        ("max_tokens=8,many", "max_tokens"),
        ("messages=a,b", "messages"),
        ("../x=a,b", "NAME=VALUE"),
        ("effort=a b,a/b", "folder"),
    ],
)
def test_a_sweep_that_makes_no_sense_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        parse_sweep(text)


def test_folders_are_plain_names_whatever_was_typed() -> None:
    swept = SweptParameter("effort", ("../../etc", "a b"))
    assert [swept.folder(value) for value in swept.values] == ["effort-etc", "effort-a-b"]


def test_a_bias_that_fades_with_the_parameter_shows_in_one_table(tmp_path: Path) -> None:
    asked = "sim/fair?first=3&calming=4 --axis score_order --profile quick --no-pdf"
    words = ["probe", "--model", *asked.split(), "--sweep=temperature=0,0.5,1", "--out"]
    words.append(str(tmp_path / "run"))
    found = json.loads(run(*words, "--json").stdout)
    assert found["runs"] == [str(tmp_path / f"run/temperature-{t}") for t in ("0", "0.5", "1")]
    assert found["parameter"] == "temperature"
    v = {t: one["value"] for t, one in found["figures"]["score_order.cramers_v"].items()}
    assert v["0"] > v["0.5"] + 0.1 > v["1"]
    for name in ("chi2", "pearson_r[arm=balanced]", "within_item_sd[arm=balanced]"):
        assert found["figures"][f"score_order.{name}"].keys() == v.keys()
    compared = run("compare", *found["runs"])
    assert "## By temperature" in compared.stdout


def test_any_parameter_is_sent_and_reported(tmp_path: Path) -> None:
    with serving(lambda *_: completion("[RESULT] 1")) as server:
        at = server.base_url
        runs = sweep(tmp_path / "run", "openai-compatible/m", "effort=low,high", base_url=at)
        assert {request.body["effort"] for request in server.requests} == {"low", "high"}
    assert by_value.parameter([one.datasheet for one in runs]) == "effort"
    assert by_value.parameter([judgesheet.load(one.directory) for one in runs]) == "effort"


def test_a_sweep_that_was_cut_short_goes_on(tmp_path: Path) -> None:
    folder, swept = tmp_path / "run", "temperature=0,1"
    (begun,) = sweep(folder, "sim/first-biased", swept, max_calls=5)
    assert (begun.datasheet.run.complete, begun.datasheet.run.settled) == (False, 5)
    whole = sweep(folder, "sim/first-biased", swept)
    assert [one.datasheet.run.complete for one in whole] == [True, True]
    assert [one.progress and one.progress.asked for one in whole] == [CALLS - 5, CALLS]
    # Another value later asks for no more than itself.
    more = sweep(folder, "sim/first-biased", "temperature=0,0.5,1")
    assert [one.progress and one.progress.asked for one in more] == [0, CALLS, 0]


def test_a_budget_of_requests_is_one_for_all_values(tmp_path: Path) -> None:
    failing = lambda _, n: completion("[RESULT] 1") if n % 2 else failure(400)  # noqa: E731
    with serving(failing) as server:
        sweep(tmp_path / "run", "openai-compatible/m", "temperature=0,0.5,1",
              base_url=server.base_url, max_calls=20, concurrency=1)  # fmt: skip
        assert len(server.requests) == 20


def test_a_budget_of_dollars_is_one_for_all_values(tmp_path: Path) -> None:
    options = {"max_cost": 4.0, "prices": (100.0, 100.0)}
    with serving(lambda *_: completion("[RESULT] 1")) as server:
        at = server.base_url
        folder, model, swept = tmp_path / "run", "openai-compatible/m", "temperature=0,0.5,1"
        sweep(folder, model, swept, base_url=at, **options)
        asked = len(server.requests)
        assert 0 < asked * 12 * 100 / 1e6 <= 4.0
        sweep(folder, model, swept, base_url=at, **options)
        assert len(server.requests) == asked


def test_a_sweep_starts_over_and_keeps_what_was_there(tmp_path: Path) -> None:
    folder, swept = tmp_path / "run", "temperature=0,1"
    sweep(folder, "sim/first-biased", swept)
    again = sweep(folder, "sim/first-biased", swept, fresh=True)
    assert [one.progress and one.progress.asked for one in again] == [CALLS, CALLS]
    assert judgesheet.load(folder / "temperature-0.old-1").run.complete is True


@pytest.mark.parametrize("judges", [("sim/fair", "sim/noisy"), ("sim/fair", "sim/fair")])
def test_what_is_no_sweep_has_no_table_by_value(tmp_path: Path, judges: tuple[str, str]) -> None:
    runs = [
        judgesheet.probe(judge, tmp_path / f"run-{n}", sweep="temperature=0", **OPTIONS)
        for n, judge in enumerate(judges)
    ]
    assert by_value.parameter([run.datasheet for run in runs]) == ""


def test_one_value_is_one_run_and_several_are_not(tmp_path: Path) -> None:
    with serving(lambda *_: completion("[RESULT] 1")) as server:
        judgesheet.probe("openai-compatible/m", tmp_path / "one", sweep="effort=low",
                         base_url=server.base_url, **OPTIONS)  # fmt: skip
        assert {request.body["effort"] for request in server.requests} == {"low"}
    with pytest.raises(UsageError):
        judgesheet.probe("sim/fair", tmp_path / "several", sweep="temperature=0,1", **OPTIONS)


def test_a_single_run_is_not_overwritten(tmp_path: Path) -> None:
    judgesheet.probe("sim/fair", tmp_path / "run", **OPTIONS)
    with pytest.raises(RunError):
        sweep(tmp_path / "run", "sim/fair", "temperature=0,1")


def test_the_folder_of_a_value_is_no_link(tmp_path: Path) -> None:
    judgesheet.probe("sim/fair", tmp_path / "mine", **OPTIONS)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "temperature-0").symlink_to(tmp_path / "mine")
    with pytest.raises(RunError):
        sweep(tmp_path / "run", "sim/fair", "temperature=0,1")


def test_several_judges_have_a_run_each_and_are_compared(tmp_path: Path) -> None:
    words = ["probe", "--axis", "score_order", "--profile", "smoke", "--no-pdf", "--json"]
    judges = ["--model", "sim/fair", "--model", "sim/noisy"]
    found = json.loads(run(*words, *judges, "--out", tmp_path / "runs").stdout)
    assert found["runs"] == [str(tmp_path / "runs" / f"sim-{one}") for one in ("fair", "noisy")]
    assert [one["new"]["judge"] for one in found["changes"]] == ["sim/noisy"]
    assert judgesheet.load(tmp_path / "runs" / "sim-noisy").run.complete is True


def test_no_judge_is_asked_where_one_cannot_be(tmp_path: Path) -> None:
    out = tmp_path / "runs"
    for second in ("sim/fair", "sim/nobody", "nowhere/m"):
        done = run("probe", "--model", "sim/fair", "--model", second, "--out", out)
        assert done.returncode in (1, 2)
        assert not out.exists()


def test_a_plan_counts_every_setting() -> None:
    from judgesheet.planning.plan import as_record, as_text

    plan, budgets = judgesheet.plan(
        "sim/fair", sweep="temperature=0,0.5,1", axes=("score_order",), profile="smoke"
    )
    assert as_record(plan, budgets, None)["calls"] == 3 * len(plan.calls)
    assert f"{3 * len(plan.calls):,} calls in all" in as_text(plan, budgets, None)


def until(setting: float, number: int) -> Script:
    """A judge that answers settings below this one, and so many requests in all."""

    def script(request: Request, count: int) -> Answer:
        answers = request.body["temperature"] < setting or count <= number
        return completion("[RESULT] 1") if answers else REVOKED

    return script


def served(folder: Path, script: Script) -> list[judgesheet.Run]:
    with serving(script) as server:
        at = server.base_url
        return sweep(folder, "openai-compatible/m", "temperature=0,1", base_url=at)


@pytest.mark.parametrize("answered", [0, 90])
def test_a_sweep_that_its_endpoint_ends_keeps_what_was_answered(
    tmp_path: Path, answered: int
) -> None:
    folder = tmp_path / "run"
    with pytest.raises(StoppedError, match="revoked") as stopped:
        served(folder, until(1, answered))
    assert stopped.value.exit_code == 5
    assert judgesheet.load(folder / "temperature-0").run.complete is True
    whole = served(folder, lambda *_: completion("[RESULT] 1"))
    assert [one.datasheet.run.answered for one in whole] == [CALLS, CALLS]


def test_a_sweep_without_an_answer_has_none(tmp_path: Path) -> None:
    with pytest.raises(JudgeError) as stopped:
        served(tmp_path / "run", lambda *_: REVOKED)
    assert stopped.value.exit_code == 5
