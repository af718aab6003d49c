"""From a number to the replies that it reads: on the terminal, as JSON, and for any axis."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import judgesheet
from judgesheet.base.keys import Key
from judgesheet.base.records import Call, Reply, ShownCall
from judgesheet.cli import main
from judgesheet.ledger.ledger import Ledger
from judgesheet.measuring.cases import read_by
from judgesheet.reading.reasons import REASONS

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


def shown(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["cases", *map(str, arguments)])


def planned(run: Path) -> list[Call]:
    with Ledger.open(run / "ledger.sqlite") as ledger:
        return [*ledger.calls()]


# -- which calls -----------------------------------------------------------------------------------


def emitted(path: Path) -> Iterator[Key]:
    for axis in json.loads(path.read_text())["axes"]:
        yield from (Key.parse(estimate["key"]) for estimate in axis["estimates"])


def test_every_figure_reads_calls_of_its_axis_in_the_order_of_the_plan(run: Path) -> None:
    keys = [*emitted(run / "datasheet.json")]
    calls = planned(run)
    with Ledger.open(run / "ledger.sqlite") as ledger:
        read = read_by(ledger, keys)
    for key in keys:
        mine = [call.id for call in calls if call.axis == key.axis]
        assert read[str(key)], key
        assert read[str(key)] == [one for one in mine if one in {*read[str(key)]}], key


def test_a_figure_leads_to_the_calls_that_it_reads_and_no_others(run: Path) -> None:
    key = "candidate_order.wrong_rate[delta=1]"
    found = judgesheet.cases(run, key)
    [count] = [
        estimate["given"]["calls"] if "calls" in estimate["given"] else estimate["n"]
        for axis in json.loads((run / "datasheet.json").read_text())["axes"]
        for estimate in axis["estimates"]
        if estimate["key"] == key
    ]
    assert len(found) == count
    asked = [(c.call.cell["condition"], c.call.cell["delta"], c.call.cell["prompt"]) for c in found]
    assert {*asked} == {("ladder", 1, "baseline")}


def test_without_a_key_every_call_is_shown_as_it_was_asked(run: Path) -> None:
    assert [one.call for one in judgesheet.cases(run)] == planned(run)


Holds = Callable[[ShownCall], bool]


@pytest.mark.parametrize(
    ("filters", "holds"),
    [
        ({"axis": "score_order"}, lambda one: one.call.axis == "score_order"),
        ({"cell": {"arm": "fixed"}}, lambda one: one.call.cell.get("arm") == "fixed"),
        (
            {"cell": {"scale": "5", "order": "5,4,3,2,1"}},
            lambda one: one.call.cell.get("order") == [5, 4, 3, 2, 1],
        ),
        ({"verdict": "5"}, lambda one: one.verdict == 5),
        ({"outcome": "ok", "verdict": "3"}, lambda one: one.verdict == 3),
    ],
)
def test_filters_keep_the_calls_that_they_name(
    run: Path, filters: dict[str, Any], holds: Holds
) -> None:
    every = judgesheet.cases(run)
    wanted = [one.call.id for one in every if holds(one)]
    assert 0 < len(wanted) < len(every)
    assert [one.call.id for one in judgesheet.cases(run, **filters)] == wanted


def test_filters_and_a_figure_keep_what_both_mean(run: Path) -> None:
    key = "score_order.order_change_rate"
    mine = judgesheet.cases(run, key)
    stimulus, verdict = mine[-1].call.stimulus, mine[-1].verdict
    both = judgesheet.cases(run, key, stimulus=stimulus, verdict=str(verdict))
    assert [one.call.id for one in both] == [
        one.call.id for one in mine if one.call.stimulus == stimulus and one.verdict == verdict
    ]
    assert 0 < len(both) < len([one for one in mine if one.call.stimulus == stimulus])


def test_lost_calls_are_those_that_the_sheet_counts(losing: Path) -> None:
    [axis] = judgesheet.load(losing).axes
    lost = judgesheet.cases(losing, outcome="lost")
    assert len(lost) == axis.unreadable + axis.refused + axis.failed > 0
    for name, count in (("unreadable", axis.unreadable), ("refused", axis.refused)):
        assert len(judgesheet.cases(losing, outcome=name)) == count > 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["score_order.nonsense"], "names no figure"),
        (["nonsense"], "is not an estimate key"),
        (["score_order.selection[score=1,score=2]"], "write each dimension once"),
        (["no_axis.cramers_v"], "there is no axis 'no_axis'"),
        (["--axis", "nothing"], "it asked about"),
        (["--cell", "colour=red"], "no cell of"),
        (["--stimulus", "nothing"], "'nothing'"),
        (["--stimulus", "\udcff"], "no call is about"),
    ],
)
def test_what_means_nothing_is_refused_in_one_sentence(
    run: Path, arguments: Sequence[str], sentence: str
) -> None:
    lines = shown(run, *arguments)
    assert lines.exit_code in (1, 2)
    assert sentence in lines.stderr
    assert lines.stderr.count("\n") == 1


def test_a_figure_of_an_axis_that_was_not_asked_is_refused(losing: Path) -> None:
    lines = shown(losing, "candidate_order.wrong_rate[delta=1]")
    assert lines.exit_code == 2
    assert "it asked about score_order" in lines.stderr


# -- output ----------------------------------------------------------------------------------------


def test_a_terminal_shows_which_call_it_is_its_prompt_reply_and_verdict(run: Path) -> None:
    key = "score_order.cramers_v"
    first, *others = judgesheet.cases(run, key)
    lines = shown(run, key, "--limit", "1").stdout.splitlines()
    assert lines[0] == f"{len(others) + 1} calls"
    assert lines[2].startswith(f"{first.call.id[:8]}  {first.call.stimulus}: order ")
    assert " ".join(lines[2:4]).split(f": {first.verdict}")[1:], "the line may be broken"
    assert f"   | {first.text}" in lines
    prompt = lines[lines.index("   prompt") + 1 : lines.index("   reply")]
    assert prompt[0].startswith(f"   | {first.call.messages[0]['content'][:60]}")
    assert re.fullmatch(r"   … \d+ more lines \(--json, --html\)", prompt[-1])
    assert lines[-1] == f"… {len(others)} more (--limit)"


def test_a_lost_call_says_why_it_has_no_verdict(losing: Path) -> None:
    lines = shown(losing, "--outcome", "unreadable", "--limit", "1").stdout
    assert f": unreadable ({REASONS['no_verdict'].words})" in " ".join(lines.split())
    assert "| I would rather not put a number on this." in lines
    refused = shown(losing, "--outcome", "refused", "--limit", "1").stdout
    assert f": refused ({REASONS['refused'].words})" in " ".join(refused.split())


def test_json_holds_whole_prompts_and_replies_up_to_the_limit(losing: Path) -> None:
    every = judgesheet.cases(losing)
    document = json.loads(shown(losing, "--json", "--limit", "2").stdout)
    assert document["count"] == len(every)
    assert [one["call_id"] for one in document["calls"]] == [one.call.id for one in every[:2]]
    for record, one in zip(document["calls"], every, strict=False):
        assert record["messages"] == list(one.call.messages)
        assert record["reply"] == one.text
        assert record["verdict"] == one.verdict


def scripted(directory: Path, axis: str, script: Callable[[Call], str]) -> Path:
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


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_terminal_and_a_workflow_obey_no_reply(tmp_path: Path, form: list[str]) -> None:
    evil = "::error::owned\n\x1b[31m\x07##[group]\u202e ##vso[task]\r::set-output name=x::y"
    scripted(tmp_path, "score_order", lambda _: evil)
    lines = shown(tmp_path, *form)
    assert lines.exit_code == 0
    assert not set("\x1b\x07\u202e\r") & set(lines.output)
    assert "##[" not in lines.output
    assert "##vso" not in lines.output
    assert not [line for line in lines.output.splitlines() if line.lstrip().startswith("::")]


def test_calls_that_were_not_made_are_shown_as_such(tmp_path: Path) -> None:
    planned, _ = judgesheet.plan("openai/some", axes=["score_order"], profile="smoke")
    with Ledger.create_or_open(tmp_path / "ledger.sqlite", planned, {"model": "m"}):
        pass
    assert {one.ended for one in judgesheet.cases(tmp_path)} == {"not asked"}
    assert judgesheet.cases(tmp_path, outcome="lost") == ()


@pytest.mark.usefixtures("pages")
def test_the_page_and_its_links_come_with_the_sheet_unless_unwanted(
    losing: Path, tmp_path: Path
) -> None:
    key = "score_order.cramers_v_debiased"
    judgesheet.measure(losing, pdf=False)
    assert (losing / "cases.html").is_file()
    assert f'href="cases.html#key={key}"' in (losing / "datasheet.html").read_text()
    judgesheet.measure(losing, pdf=False, cases=False)
    assert not (losing / "cases.html").exists()
    assert "cases.html" not in (losing / "datasheet.html").read_text()
    done = shown(losing, key, "--html", tmp_path / "own.html")
    assert done.exit_code == 0, done.stderr
    assert key in (tmp_path / "own.html").read_text()
