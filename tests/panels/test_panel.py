"""`judgesheet panel` over runs of simulated judges, and what it refuses."""

import json
import shlex
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import judgesheet
from judgesheet.base.errors import RunError, UsageError
from judgesheet.correcting.result import ReportedNumber
from judgesheet.decide.agreement import choice
from judgesheet.panels.options import options
from judgesheet.panels.result import Option, Panel
from judgesheet.panels.run import _advice
from judgesheet.panels.verdicts import PanelVerdicts
from judgesheet.sheet.panel import render
from judgesheet.stats.dawid_skene import posterior
from tests.command import run

JUDGES = ("fair", "noisy", "first-biased")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("panel")
    for name in JUDGES:
        judgesheet.probe(
            f"sim/{name}", folder / name, axes=("candidate_order",), profile="quick",
            pdf=False, cases=False,
        )  # fmt: skip
    return [folder / name for name in JUDGES]


@pytest.fixture(scope="module")
def panel(runs: list[Path]) -> Panel:
    return judgesheet.panel(*runs, accuracy=0.8)


def test_the_better_judge_is_the_cheapest_that_is_proven(panel: Panel) -> None:
    assert panel.truth == "known"
    assert panel.recommended is not None
    assert len(panel.recommended.judges) == 1
    assert "noisy" not in panel.recommended.judges[0]
    accuracy = {one.judges[0]: one.accuracy.value or 0 for one in panel.singles if one.orders == 1}
    noisy = next(name for name in accuracy if "noisy" in name)
    assert accuracy[noisy] == min(accuracy.values())


@pytest.mark.parametrize(
    ("low", "printed"),
    [(0.897, "95.0 % (89.7–100)"), (0.89999, "95.000 % (89.999–100)"), (0.9, "95 % (90–100)")],
)
def test_a_bound_reads_as_the_target_only_where_it_is(
    low: float, printed: str, panel: Panel
) -> None:
    accuracy = replace(panel.best[0].accuracy, value=0.95, low=low, high=1.0)
    option = replace(panel.best[0], accuracy=accuracy)
    changed = replace(panel, target=0.9, best=(option,), singles=(), recommended=None)
    assert f"| {printed} |" in render(changed, "md", "a4").decode()


def test_a_long_name_leaves_room_for_what_is_said() -> None:
    names = ("a" * 3000, "b" * 3000)
    figure = ReportedNumber(0.8, 0.7, 0.9, 0.95, 40, 40, "")
    ways = [Option(judges, 2, 1, 2 * len(judges), figure) for judges in ((names[0],), names)]
    said = _advice(ways, ways[:1], None, None)
    assert "a single judge is no worse" in said
    assert len(said) < 600


def test_a_target_is_named_as_it_was_given(runs: list[Path]) -> None:
    assert "92.5 %" in judgesheet.panel(*runs[:2], accuracy=0.925).advice


def test_panels_stand_beside_the_single_judge_with_more_orders(panel: Panel) -> None:
    assert {len(one.judges) for one in panel.best} == {1, 2, 3}
    assert {one.orders for one in panel.singles} == {1, 2}
    for one in (*panel.best, *panel.singles):
        assert one.calls == len(one.judges) * one.orders * one.repeats
        assert one.accuracy.low is not None


def test_agreement_is_of_every_two(panel: Panel) -> None:
    assert len(panel.pairs) == 3
    assert all(one.kappa.value is not None for one in panel.pairs)


def test_the_atlas_opens_the_cases(panel: Panel) -> None:
    assert panel.atlas
    spread = [one.disagreement for one in panel.atlas]
    assert spread == sorted(spread, reverse=True)
    command = shlex.split(panel.atlas[0].commands[0])
    assert run(*command[1:]).returncode == 0


def test_a_judge_that_follows_the_slot_said_no_tie(tmp_path: Path) -> None:
    for name in ("fair", "always-1"):
        judgesheet.probe(f"sim/{name}", tmp_path / name, axes=("candidate_order",),
                         profile="smoke", pdf=False, cases=False)  # fmt: skip
    atlas = judgesheet.panel(tmp_path / "fair", tmp_path / "always-1").atlas
    compared = judgesheet.compare(tmp_path / "fair", tmp_path / "always-1")[0].agreement
    assert compared is not None
    assert atlas
    assert compared.partings
    for one in (*atlas, *compared.partings):
        assert one.votes[1] == "u if u is shown first, v if v is"
        assert one.votes[0] in ("u", "v", "tie")


def test_repeats_that_differ_are_told() -> None:
    first, second = np.array([1.0, 1.0, -1.0]), np.array([1.0, -1.0, np.nan])
    told = "plain mostly if plain is shown first, plain as often as red if red is"
    assert choice([first, second], "plain|red") == told
    assert choice([np.array([0.0]), np.array([np.nan])], "plain|red") == "tie"


def test_the_page_has_a_command_that_can_be_copied(panel: Panel) -> None:
    command = panel.atlas[0].commands[0]
    page = render(panel, "md", "a4").decode()
    assert f"`{command}`" in page
    assert render(panel, "html", "a4").decode().count(f"<pre>{command}</pre>") == 1
    assert panel.advice[:1].islower(), "it does not begin with the name of a judge"


def test_twins_agree_and_have_no_atlas(runs: list[Path], tmp_path: Path) -> None:
    judgesheet.probe(
        f"sim/{JUDGES[0]}", tmp_path / "twin", axes=("candidate_order",), profile="quick",
        pdf=False, cases=False,
    )  # fmt: skip
    found = judgesheet.panel(runs[0], tmp_path / "twin")
    assert not found.atlas
    assert found.judges[0] != found.judges[1]


def test_no_judge_looks_right_for_what_it_left_out(runs: list[Path], tmp_path: Path) -> None:
    """A judge loses half of its calls: they are no votes, and may all have been wrong or right."""
    lossy = tmp_path / "lossy"
    shutil.copytree(runs[0], lossy)
    with closing(sqlite3.connect(lossy / "ledger.sqlite")) as db, db:
        db.execute("UPDATE attempt SET text = 'no' WHERE rowid % 2 = 0")
        db.execute("UPDATE meta SET value = '1.0' WHERE key = 'created_at'")
    whole, found = judgesheet.panel(runs[0], runs[1]), judgesheet.panel(lossy, runs[1])
    assert found.questions == whole.questions, "what one judge lost is compared all the same"
    mine, other = found.coverage
    assert (mine.asked, mine.calls) == (other.asked, other.calls)
    assert mine.lost > 0.3 * mine.calls
    assert other.lost == 0
    assert [one.split(" gave no verdict")[0] for one in found.warnings] == [mine.judge]

    def alone(panel: Panel, at: int) -> ReportedNumber:
        way = (panel.judges[at],), 2, 1
        return next(
            one.accuracy for one in panel.singles if (one.judges, one.orders, one.repeats) == way
        )

    before, after = alone(whole, 0), alone(found, 0)
    assert None not in (before.value, before.low, after.low, after.value, after.high)
    assert after.value < before.value  # type: ignore[operator]
    assert after.low < before.low - 0.2  # type: ignore[operator]
    assert after.high >= before.value  # type: ignore[operator]
    # The judge that lost nothing keeps its share.
    assert alone(found, 1).value == alone(whole, 1).value
    assert "Data behind it" in render(found, "md", "a4").decode()


@pytest.mark.parametrize("form", ["md", "html", "pdf", "json"])
def test_every_format_is_written(form: str, runs: list[Path], tmp_path: Path) -> None:
    out = tmp_path / f"panel.{form}"
    done = run("panel", *runs, "--to", form, "--out", out)
    assert done.returncode == 0, done.stderr
    if form == "json":
        assert len(json.loads(out.read_text())["judges"]) == 3
    else:
        assert out.stat().st_size > 1000


def test_a_sheet_alone_is_not_enough(runs: list[Path], tmp_path: Path) -> None:
    alone = tmp_path / "datasheet.json"
    alone.write_bytes((runs[0] / "datasheet.json").read_bytes())
    with pytest.raises(RunError):
        judgesheet.panel(runs[1], alone)
    beside = judgesheet.panel(runs[1] / "datasheet.json", runs[0])
    assert beside.questions
    with pytest.raises(UsageError):
        judgesheet.panel(runs[0])


def test_judges_without_a_common_comparison_are_refused(runs: list[Path], tmp_path: Path) -> None:
    judgesheet.probe("sim/fair", tmp_path / "scores", axes=("score_order",), profile="first",
                     pdf=False, cases=False)  # fmt: skip
    with pytest.raises(
        RunError, match=r"no pair was read in both orders by sim/fair \(.*scores\);"
    ):
        judgesheet.panel(runs[0], tmp_path / "scores")


def test_truths_are_found_without_being_told() -> None:
    rng = np.random.default_rng(0)
    true = np.where(rng.random(400) < 0.6, 1.0, -1.0)
    votes = np.stack([np.where(rng.random(400) < hit, true, -true) for hit in (0.9, 0.8, 0.7)], 1)
    found = posterior(votes)
    assert np.mean((found > 0.5) == (true > 0)) > 0.9


def test_a_run_votes_once_also_as_a_copy(runs: list[Path], tmp_path: Path) -> None:
    copy = shutil.copytree(runs[0], tmp_path / "copy")
    for twice in (runs[0], copy):
        with pytest.raises(UsageError):
            judgesheet.panel(runs[0], twice)


def test_no_judge_is_surer_for_calls_that_it_lost() -> None:
    """Two judges are always right, and the first gave no verdict in one call of forty pairs."""
    names = tuple(f"q{at}" for at in range(40))
    votes, lost = np.ones((40, 2, 2, 1)), np.zeros((40, 2, 2, 1), dtype=bool)
    votes[0, 0, 0], lost[0, 0, 0] = np.nan, True
    verdicts = PanelVerdicts(
        ("lossy", "whole"), names, names, names, names, names, votes, np.ones(40), lost, (40, 40)
    )
    made = [one for one in options(verdicts, "known", np.ones(40)) if one.orders == 2]
    low = {one.judges: one.accuracy.low or 0.0 for one in made}
    whole = low.pop(("whole",))
    # The level that all share differs a little where calls are lost.
    assert max(low.values()) <= whole + 0.001
