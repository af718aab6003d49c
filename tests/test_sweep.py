import json
from pathlib import Path
from typing import Any

import pytest

import judgesheet
from judgesheet.base.datasheet import by_key
from judgesheet.base.errors import OtherRunError, RunError, UsageError
from judgesheet.base.records import Datasheet, Estimate
from judgesheet.collect.knob import Knob, parse_knob
from judgesheet.collect.request import Request
from judgesheet.commands.sheets import Run
from judgesheet.commands.sweep_loop import probe_each_value
from tests.judges.loopback import completion, failure, serving

pytestmark = pytest.mark.usefixtures("only_json")
OPTIONS: dict[str, Any] = {"axes": ("score_order",), "profile": "quick"}


def sweep(directory: Path, model: str, knob: str, **options: Any) -> Datasheet:
    asked = {**OPTIONS, "pdf": False, **options}
    return judgesheet.probe(model, directory, sweep=knob, **asked).datasheet


def estimate(sheet: Datasheet, name: str) -> Estimate:
    return by_key(sheet)[f"score_order.{name}"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("temperature", "NAME=VALUE"),
        ("temperature=0", "temperature"),
        ("temperature=0,0.0", "temperature"),
        ("temperature=0,,1", "temperature"),
        ("temperature=0,hot", "0 to 5"),
        ("temperature=0,9", "0 to 5"),
        ("temperature=0,nan", "0 to 5"),
        ("max_tokens=8,many", "max_tokens"),
        ("messages=a,b", "messages"),
        ("../x=a,b", "NAME=VALUE"),
    ],
)
def test_a_knob_that_makes_no_sense_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        parse_knob(text)


def test_places_are_numbers_or_steps() -> None:
    assert parse_knob("temperature=0,0.3,1").places == (0.0, 0.3, 1.0)
    assert parse_knob("reasoning_effort=low,medium,high").places == (0.0, 1.0, 2.0)


def test_folders_are_plain_names_whatever_was_typed() -> None:
    knob = Knob("effort", ("../../etc", "a b", "a/b"))
    assert [knob.folder(v) for v in knob.values] == [
        "01-effort-etc",
        "02-effort-a-b",
        "03-effort-a-b",
    ]


def test_a_bias_that_fades_with_the_knob_shows_a_trend(tmp_path: Path) -> None:
    sheet = sweep(tmp_path / "run", "sim/fair?first=3&calming=4", "temperature=0,0.5,1")
    levels = [estimate(sheet, f"cramers_v[temperature={t}]").value for t in ("0", "0.5", "1")]
    assert levels[0] is not None
    assert levels[2] is not None
    assert levels[0] > levels[2] + 0.2
    slope = estimate(sheet, "trend[of=cramers_v]")
    assert slope.high is not None
    assert slope.high < 0
    assert (estimate(sheet, "trend_p[of=cramers_v]").value or 1) < 0.05
    assert slope.label == "Cramér's V of the chosen position: change with temperature"
    texts = [finding.text for finding in sheet.axes[0].findings]
    assert any("falls with temperature" in text for text in texts)
    for key in by_key(sheet):
        assert judgesheet.explain(key).startswith(key.partition("[")[0])


def test_a_bias_that_stays_is_said_to_stay(tmp_path: Path) -> None:
    sheet = sweep(tmp_path / "run", "sim/fair?first=2", "reasoning_effort=low,medium,high")
    assert estimate(sheet, "trend_p[of=cramers_v]").value is None  # no reply changed
    assert any("does the endpoint honour" in caveat for caveat in sheet.axes[0].caveats)
    bad = [finding for finding in sheet.axes[0].findings if finding.tone == "bad"]
    assert "No setting of reasoning_effort removes it" in bad[0].text
    assert "Average over orders" in sheet.recommendations[0].text
    lost = estimate(sheet, "unreadable_share[reasoning_effort=high]")
    assert (lost.value, lost.low) == (0.0, 0.0)
    assert lost.high is not None
    assert 0 < lost.high < 0.3


def test_every_setting_keeps_its_run_and_the_sheet_can_be_made_again(tmp_path: Path) -> None:
    run = tmp_path / "run"
    sheet = sweep(run, "sim/first-biased", "temperature=0,1", profile="smoke")
    assert (run / "01-temperature-0" / "ledger.sqlite").is_file()
    assert (
        json.loads((run / "02-temperature-1" / "datasheet.json").read_text())["run"]["temperature"]
        == 1
    )
    assert judgesheet.measure(run).datasheet == sheet
    assert sweep(run, "sim/first-biased", "temperature=0,1", profile="smoke") == sheet
    with pytest.raises(OtherRunError):
        sweep(run, "sim/first-biased", "temperature=0,2", profile="smoke")


def test_a_sweep_that_was_cut_short_says_so(tmp_path: Path) -> None:
    run = tmp_path / "run"
    sheet = sweep(run, "sim/first-biased", "temperature=0,1", profile="smoke", max_calls=5)
    assert sheet.run["complete"] is False
    assert sheet.run["settled"] == 5
    assert judgesheet.measure(run).datasheet == sheet
    whole = sweep(run, "sim/first-biased", "temperature=0,1", profile="smoke")
    assert whole.run["complete"] is True


def test_the_runs_of_the_other_values_are_known(tmp_path: Path) -> None:
    """Their requests count for limits by the minute."""
    asked = []

    def probe(request: Request, folder: Path) -> Run:
        asked.append([ledger.parent.name for ledger in request.beside])
        return judgesheet.probe(request, folder, pdf=False, cases=False)

    request = Request("sim/fair", sweep="temperature=0,0.5,1", **(OPTIONS | {"profile": "smoke"}))
    probe_each_value(request, tmp_path / "run", probe, fresh=False, pdf=False)
    names = ["01-temperature-0", "02-temperature-0.5"]
    assert asked == [names[:at] for at in range(3)]


def test_a_budget_of_requests_is_one_for_all_values(tmp_path: Path) -> None:
    failing = lambda _, n: completion("[RESULT] 1") if n % 2 else failure(400)  # noqa: E731
    with serving(failing) as server:
        sweep(
            tmp_path / "run",
            "openai-compatible/m",
            "temperature=0,0.5,1",
            profile="smoke",
            base_url=server.base_url,
            max_calls=20,
            concurrency=1,
        )
        assert len(server.requests) == 20


def test_a_budget_of_dollars_is_one_for_all_values(tmp_path: Path) -> None:
    options = {"max_cost": 4.0, "prices": (100.0, 100.0), "profile": "smoke"}
    with serving(lambda *_: completion("[RESULT] 1")) as server:
        at = server.base_url
        run, model, knob = tmp_path / "run", "openai-compatible/m", "temperature=0,0.5,1"
        sweep(run, model, knob, base_url=at, **options)
        asked = len(server.requests)
        assert 0 < asked * 12 * 100 / 1e6 <= 4.0
        sweep(run, model, knob, base_url=at, **options)
        assert len(server.requests) == asked


def test_a_single_run_is_not_overwritten(tmp_path: Path) -> None:
    judgesheet.probe(
        "sim/fair", tmp_path / "run", axes=("score_order",), profile="smoke", pdf=False
    )
    with pytest.raises(RunError):
        sweep(tmp_path / "run", "sim/fair", "temperature=0,1", profile="smoke")


def test_a_plan_counts_every_setting() -> None:
    from judgesheet.planning.plan import as_record, as_text

    plan, budgets = judgesheet.plan(
        "sim/fair", sweep="temperature=0,0.5,1", axes=("score_order",), profile="smoke"
    )
    assert as_record(plan, budgets, None)["calls"] == 3 * len(plan.calls)
    assert f"{3 * len(plan.calls):,} calls in all" in as_text(plan, budgets, None)


def test_a_virtue_that_stays_is_no_bias(tmp_path: Path) -> None:
    sheet = sweep(tmp_path / "run", "sim/fair?width=0.5", "temperature=0,1")
    assert [f for f in sheet.axes[0].findings if f.tone == "bad"] == []
    assert sheet.recommendations == ()
    assert sheet.run["temperature"] == "0, 1"
