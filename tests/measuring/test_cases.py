"""From a number to the replies behind it: on the terminal, as JSON, and for any axis."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner, Result

import judgesheet
from judgesheet.axes import all_axes
from judgesheet.axis import Readings
from judgesheet.axis.cases import CaseFinder
from judgesheet.base.errors import UsageError
from judgesheet.base.keys import Key
from judgesheet.base.records import Call, Casebook, Reply
from judgesheet.cli import main
from judgesheet.collect.knob import Knob, remember
from judgesheet.ledger.ledger import Ledger
from judgesheet.measuring.measure import read_all
from judgesheet.reading.reasons import REASONS
from judgesheet.sheet.cases import as_lines, changed_lines
from tests.toy import greeting_order

GOLDEN = Path(__file__).parents[1] / "golden"
BIASED = "sim/first-biased?first=3&slot=30"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge that follows the first place, on every axis."""
    directory = tmp_path_factory.mktemp("run")
    judgesheet.probe(BIASED, directory, profile="smoke", pdf=False)
    return directory


@pytest.fixture(scope="module")
def losing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge that loses one call in seven, on one axis."""
    directory = tmp_path_factory.mktemp("losing")
    judgesheet.probe(f"{BIASED}&unreadable=0.1&refused=0.05", directory, profile="smoke",
                     axes=["score_order"], pdf=False)  # fmt: skip
    return directory


@pytest.fixture(scope="module")
def perfect(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("perfect")
    judgesheet.probe("sim/perfect", directory, profile="smoke", axes=["score_order"], pdf=False)
    return directory


@pytest.fixture(scope="module")
def readings(run: Path) -> dict[str, Readings]:
    with Ledger.open(run / "ledger.sqlite") as ledger:
        return read_all(ledger)


def text(book: Casebook, width: int = 100, limit: int = 3) -> str:
    lines = as_lines(book, limit, width)
    return "\n".join("".join(part for part, _ in line).rstrip() for line in lines)


def shown(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["cases", *map(str, arguments)])


# -- every figure ----------------------------------------------------------------------------------


def emitted(path: Path) -> Iterator[Key]:
    for axis in json.loads(path.read_text())["axes"]:
        yield from (Key.parse(estimate["key"]) for estimate in axis["estimates"])


@pytest.mark.parametrize("sheet", [None, *sorted(GOLDEN.glob("*.json"))])
def test_every_figure_has_cases_or_says_why_not(
    run: Path, readings: dict[str, Readings], sheet: Path | None
) -> None:
    behind = {name: CaseFinder(all_axes()[name], one) for name, one in readings.items()}
    for key in emitted(sheet or run / "datasheet.json"):
        cases = behind[key.axis].cases(key)
        asked = {call.id for call in behind[key.axis].calls}
        severity = [case.severity for case in cases]
        assert severity == sorted(severity, reverse=True), key
        assert all(case.calls and case.why and asked.issuperset(case.calls) for case in cases), key
        sentence = behind[key.axis].why_none(key)
        assert sentence.startswith(f"there are no cases behind {key}: "), key
        assert "\n" not in sentence


# -- what is shown ---------------------------------------------------------------------------------


def test_a_change_shows_one_item_in_two_orders_farthest_apart_first(run: Path) -> None:
    book = judgesheet.cases(run, "score_order.order_change_rate")
    worst, *_ = book.cases["score_order.order_change_rate"]
    one, other = (book.answers[call] for call in worst.calls)
    assert one.call.cell["item"] == other.call.cell["item"]
    assert one.call.cell["order"] != other.call.cell["order"]
    assert worst.severity == abs(one.verdict - other.verdict)
    told = text(book, limit=1)
    assert f"{worst.calls[0][:8]}  order" in told
    assert " │ " in told
    assert "> Score" in told


def test_a_place_names_the_stimuli_that_follow_it(run: Path) -> None:
    book = judgesheet.cases(run, "score_order.cramers_v")
    worst, *_ = book.cases["score_order.cramers_v"]
    assert "place 1" in worst.why
    first = book.answers[worst.calls[0]]
    assert first.call.cell["order"].index(first.verdict) == 0
    assert {book.answers[call].call.stimulus for call in worst.calls} == {first.call.stimulus}
    third = judgesheet.cases(run, "score_order.selection[score=3,position=1]")
    [cases] = third.cases.values()
    leading = third.answers[cases[0].calls[0]]
    assert (leading.verdict, leading.call.cell["order"][0]) == (3, 3)


def test_a_miss_shows_both_responses(run: Path) -> None:
    key = "candidate_order.wrong_rate[delta=1]"
    book = judgesheet.cases(run, key)
    cells = [book.answers[call].call.cell for case in book.cases[key] for call in case.calls]
    assert {(cell["condition"], cell["delta"], cell["prompt"]) for cell in cells} == {
        ("ladder", 1, "baseline")
    }
    pair = next(case for case in book.cases[key] if len(case.calls) == 2)
    left, right = (book.answers[call].call.messages[0]["content"] for call in pair.calls)
    spans = changed_lines(left.split("\n"), right.split("\n"))
    assert all(any("Response 2" in line for line, _ in span) for span in spans)


def test_lost_calls_are_grouped_by_shape_with_counts_and_what_helps(losing: Path) -> None:
    book = judgesheet.cases(losing)
    [axis] = judgesheet.load(losing).axes
    counted = {
        Key.parse(one.key).dims["shape"]: one.given["calls"]
        for one in axis.estimates
        if Key.parse(one.key).name == "loss_shape"
    }
    groups = [case.group for case in book.cases["score_order.loss_rate"]]
    assert counted == {group: groups.count(group) for group in groups}
    assert sum(counted.values()) == axis.unreadable + axis.refused + axis.failed > 0
    told = text(book)
    assert f"{REASONS['no_verdict'].words}: {counted['no_verdict']} calls; listed first:" in told
    assert "What helps:" in told
    assert "| I would rather not put a number on this." in told
    findings = [one for one in axis.findings if "What came instead" in one.text]
    assert [one.tone for one in findings] == ["neutral"]


def test_a_run_that_lost_nothing_says_so(perfect: Path) -> None:
    told = shown(perfect)
    assert told.output == (
        "there are no cases behind score_order.loss_rate: every call that was made gave a verdict\n"
    )


Script = Callable[[Call], str]


def scripted(directory: Path, axis: str, script: Script) -> Path:
    """A run whose calls got these words."""
    planned, _ = judgesheet.plan("openai/some", axes=[axis], profile="smoke", reply="text")
    judge = {"provider": "scripted", "model": "scripted"}
    with Ledger.create_or_open(directory / "ledger.sqlite", planned, judge) as ledger:
        ledger.record(
            [
                Reply(call.id, 1, "ok", script(call), "", 0.1, 9, 9, "scripted", 1.0)
                for call in planned.calls
            ]
        )
    return directory


def test_a_refusal_where_the_favourite_stands_second_is_counted_there(tmp_path: Path) -> None:
    def script(call: Call) -> str:
        return '{"winner": "1"}' if call.cell["order"][0] == "u" else "I cannot choose."

    scripted(tmp_path, "candidate_order", script)
    told = judgesheet.cases(tmp_path).groups["candidate_order"]["no_verdict"]
    calls = int(told.split(": ")[1].split()[0])
    assert f"listed first: v ({calls}); its favourite at place 2 ({calls})." in told


# -- filters ---------------------------------------------------------------------------------------


def calls_of(book: Casebook) -> list[Any]:
    return [book.answers[call] for cases in book.cases.values() for c in cases for call in c.calls]


@pytest.mark.parametrize(
    ("filters", "holds"),
    [
        ({"stimulus": "so-repair-1"}, lambda one: one.call.stimulus == "so-repair-1"),
        ({"cell": {"arm": "fixed"}}, lambda one: one.call.cell["arm"] == "fixed"),
        (
            {"cell": {"scale": "5", "order": "5,4,3,2,1"}},
            lambda one: one.call.cell["order"][0] == 5,
        ),
    ],
)
def test_filters_choose_calls(
    run: Path, filters: dict[str, Any], holds: Callable[[Any], bool]
) -> None:
    every = calls_of(judgesheet.cases(run, "score_order.single_read_r"))
    stimulus = every[0].call.stimulus
    if "stimulus" in filters:
        filters, holds = {"stimulus": stimulus}, lambda one: one.call.stimulus == stimulus
    mine = calls_of(judgesheet.cases(run, "score_order.single_read_r", **filters))
    assert mine
    assert all(map(holds, mine))
    assert [one.call.id for one in mine] != [one.call.id for one in every]


def test_outcome_and_verdict_choose_cases(run: Path, losing: Path) -> None:
    refused = judgesheet.cases(losing, outcome="refused")
    assert {one.ended for one in calls_of(refused)} == {"refused"}
    key = "score_order.order_change_rate"
    five = judgesheet.cases(run, key, verdict="5")
    cases = five.cases[key]
    assert cases
    assert all(5 in {five.answers[call].verdict for call in case.calls} for case in cases)
    assert len(cases) < len(judgesheet.cases(run, key).cases[key])


def test_a_stimulus_without_a_key_shows_every_call_on_it(perfect: Path) -> None:
    with Ledger.open(perfect / "ledger.sqlite") as ledger:
        calls = [*ledger.calls()]
    mine = {call.id for call in calls if call.stimulus == calls[-1].stimulus}
    told = shown(perfect, "--axis", "score_order", "--stimulus", calls[-1].stimulus, "--json")
    [figure] = json.loads(told.stdout)["figures"]
    assert {call["call_id"] for case in figure["worst"] for call in case["calls"]} == mine


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["score_order.nonsense"], "names no figure"),
        (["nonsense"], "is not an estimate key"),
        (["score_order.selection[score=1,score=2]"], "write each dimension once"),
        (["no_axis.cramers_v"], "there is no axis 'no_axis'"),
        (["score_order.cramers_v", "--axis", "candidate_order"], "it asked about"),
        (["--axis", "nothing"], "it asked about"),
        (["--cell", "colour=red"], "no cell of"),
        (["--stimulus", "nothing"], "'nothing'"),
        (["--stimulus", "\udcff"], "no call is about"),
    ],
)
def test_what_means_nothing_is_refused_in_one_sentence(
    run: Path, arguments: Sequence[str], sentence: str
) -> None:
    told = shown(run, *arguments)
    assert told.exit_code in (1, 2)
    assert sentence in told.stderr
    assert told.stderr.count("\n") == 1


def test_a_sweep_names_its_runs(tmp_path: Path) -> None:
    remember(tmp_path, Knob("temperature", ("0", "1")))
    with pytest.raises(UsageError, match=r"holds a run for each setting"):
        judgesheet.cases(tmp_path)


# -- output ----------------------------------------------------------------------------------------


def test_the_limit_holds_per_figure_and_group(losing: Path) -> None:
    document = json.loads(shown(losing, "--json", "--limit", "1").stdout)
    for figure in document["figures"]:
        groups = [case["group"] for case in figure["worst"]]
        assert len(groups) == len(set(groups)) == len(figure["groups"])
        assert figure["cases"] >= len(groups)
        for case in figure["worst"]:
            assert {"call_id", "cell", "messages", "reply", "verdict"} <= set(case["calls"][0])


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_terminal_and_a_workflow_obey_no_reply(tmp_path: Path, form: list[str]) -> None:
    evil = "::error::owned\n\x1b[31m\x07##[group]\u202e ##vso[task]\r::set-output name=x::y"
    scripted(tmp_path, "score_order", lambda _: evil)
    told = shown(tmp_path, *form)
    assert told.exit_code == 0
    assert not set("\x1b\x07\u202e\r") & set(told.output)
    assert "##[" not in told.output
    assert "##vso" not in told.output
    assert not [line for line in told.output.splitlines() if line.lstrip().startswith("::")]


@pytest.mark.parametrize(
    ("settings", "shown"), [({}, "a\x1b[4mb\x1b[0m"), ({"NO_COLOR": "1"}, "ab")]
)
def test_marks_are_underlined_on_a_terminal_that_wants_it(
    settings: dict[str, str], shown: str
) -> None:
    ours, theirs = pty.openpty()
    code = (
        "from judgesheet.commands.terminal import say_parts; say_parts([('a', False), ('b', True)])"
    )
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | settings
    subprocess.run([sys.executable, "-c", code], stdout=theirs, env=environment, check=True)
    os.close(theirs)
    assert os.read(ours, 100).decode().strip() == shown
    os.close(ours)


def test_the_page_and_its_links_come_with_the_sheet_unless_unwanted(
    perfect: Path, tmp_path: Path
) -> None:
    key = "score_order.cramers_v_debiased"
    assert (perfect / "cases.html").is_file()
    assert f'href="cases.html#key={key}"' in (perfect / "datasheet.html").read_text()
    judgesheet.measure(perfect, pdf=False, cases=False)
    assert not (perfect / "cases.html").exists()
    assert "cases.html" not in (perfect / "datasheet.html").read_text()
    done = shown(perfect, key, "--html", tmp_path / "own.html")
    assert done.exit_code == 0, done.stderr
    assert key in (tmp_path / "own.html").read_text()


def test_an_axis_that_says_nothing_of_cases_has_them(readings: dict[str, Readings]) -> None:
    mine = readings["score_order"].frame.head(4).copy()
    mine = mine[["call_id", "repeat", "reply", "shape"]].assign(
        stimulus=["a", "a", "b", "b"],
        item=["a", "a", "b", "b"],
        outcome="ok",
        order=pd.Series([["Hi", "Hey"], ["Hey", "Hi"]] * 2, mine.index),
        value=pd.Series(["Hi", "Hey", "Hi", None], mine.index, dtype=object),
        shape=pd.Series([None, None, None, "no_verdict"], mine.index, dtype=object),
    )
    behind = CaseFinder(greeting_order, Readings(mine, (), 0.0, 0))  # type: ignore[arg-type]
    lost, changed = behind.cases(Key("greeting_order", "first_share"))
    assert lost.calls == (mine["call_id"].iloc[3],)
    assert set(changed.calls) == set(mine["call_id"].iloc[:2])
    assert changed.why == "a: Hi in one call, Hey elsewhere"
