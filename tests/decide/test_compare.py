"""Comparisons: planted differences are found, none is invented, and like is compared with like."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from statsmodels.stats.inter_rater import cohens_kappa

import judgesheet
from judgesheet.base.errors import RunError
from judgesheet.base.facts import (
    JudgeIdentity,
    PromptUsed,
    Provenance,
    RunFacts,
    StimulusPool,
    TakenOver,
)
from judgesheet.base.records import (
    AxisResult,
    Bounds,
    Characteristic,
    Control,
    Datasheet,
    Estimate,
)
from judgesheet.base.resources import data_folder
from judgesheet.cli import main
from judgesheet.decide import decide
from judgesheet.decide.baseline import against
from judgesheet.decide.bounded_value import BoundedValue
from judgesheet.decide.compare import (
    Comparison,
    Difference,
    OtherQuestionsError,
    compare,
    mover,
)
from judgesheet.decide.policy import parse
from judgesheet.ledger.run_directory import JUDGMENTS
from judgesheet.sheet import comparison
from judgesheet.sheet.markdown import escape, for_terminal
from tests.sheet.pdf_text import page_texts

FEW = 12
"""Stimuli of the runs that are compared; with fewer than six no correlation is estimated."""
PROVIDER = "openai-compatible"
RATE = "candidate_order.order_inconsistent[set=same_subset]"


def rate(value: float | None, low: float | None = None, high: float | None = None,
         key: str = RATE, **more: object) -> Estimate:  # fmt: skip
    note = "" if value is not None else "nothing was read"
    return Estimate(key, key, value, low, high, unit="share", note=note, **more)  # type: ignore[arg-type]


def sheet(*estimates: Estimate, row: Characteristic | None = None, **run: object) -> Datasheet:
    rows = (row,) if row else tuple(Characteristic(e.key, better="lower") for e in estimates)
    axis = AxisResult("candidate_order", "t", "q", 1, 1, 0, 0, 0, estimates, (),
                      characteristics=rows)  # fmt: skip
    facts = replace(RunFacts(), **run)  # type: ignore[arg-type]
    return Datasheet("1.1", JudgeIdentity("sim/a"), facts, Provenance(), (axis,))


def change(old: Estimate, new: Estimate, row: Characteristic | None = None) -> Difference:
    return compare(sheet(old, row=row), sheet(new, row=row)).differences[0]


def render(found: Sequence[Comparison], form: str = "md") -> str:
    return comparison.render(found, form, "a4").decode()


# -- arithmetic ----------------------------------------------------------------------------------


def test_newcombe_s_example() -> None:
    """56/70 against 48/80, method 10 (Newcombe 1998, table II): .0524 to .3339."""
    new, old = BoundedValue(0.8, 0.6918, 0.8771), BoundedValue(0.6, 0.4904, 0.7003)
    found = mover(old, new)
    assert found.value == pytest.approx(0.2)
    assert found.low == pytest.approx(0.0524, abs=2e-4)
    assert found.high == pytest.approx(0.3339, abs=2e-4)


@pytest.mark.parametrize("df", [inf, 11])
def test_p_agrees_with_the_interval(df: float) -> None:
    assert BoundedValue(0.2, 0.0, 0.3, df).p_above(0.0) == pytest.approx(0.025, abs=1e-4)
    assert BoundedValue(0.2, 0.1, 0.4, df).p_above(0.4) == pytest.approx(0.975, abs=1e-4)
    assert BoundedValue(0.0, -0.1, 0.1, df).p_above(0.0) == pytest.approx(0.5)
    assert BoundedValue(0.0, 0.0, 0.0, df).p_above(0.0) == pytest.approx(0.5), "no change at all"
    assert BoundedValue(0.2, 0.1, 0.4, df).at(0.025) == pytest.approx((0.2, 0.1, 0.4, df))


# -- verdicts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "old", "new", "verdict"),
    [
        (Characteristic(RATE, better="lower"), 0.1, 0.4, "worse"),
        (Characteristic(RATE, better="lower"), 0.4, 0.1, "better"),
        (Characteristic(RATE, better="higher"), 0.1, 0.4, "better"),
        (Characteristic(RATE, better="lower"), 0.1, 0.12, "no_change_proven"),
        (Characteristic(RATE, null=0.5, better="nearer"), 0.45, 0.1, "worse"),
        (Characteristic(RATE, null=0.5, better="nearer"), 0.9, 0.55, "better"),
        (Characteristic(RATE, null=0.5, better="nearer"), 0.2, 0.8, "no_change_proven"),
        (Characteristic(RATE), 0.1, 0.9, ""),
        (Characteristic(RATE, null=0.0), 0.1, 0.9, ""),
    ],
)
def test_which_way_is_better(row: Characteristic, old: float, new: float, verdict: str) -> None:
    found = change(rate(old, old - 0.05, old + 0.05), rate(new, new - 0.05, new + 0.05), row)
    assert found.verdict == verdict
    assert (found.detectable is not None) == (verdict == "no_change_proven")
    assert found.value == pytest.approx(new - old)
    assert found.low is not None


def test_many_figures_need_more_than_one_that_stands_out() -> None:
    """p = .03 alone is a change, as one of twenty it is none."""

    def figures(shifted: float) -> list[Estimate]:
        values = [shifted, *[0.3] * 19]
        keys = [f"{RATE[:-1]},n={n}]" for n in range(20)]
        return [rate(v, v - 0.07, v + 0.07, key) for v, key in zip(values, keys, strict=True)]

    many = compare(sheet(*figures(0.3)), sheet(*figures(0.41)))
    assert many.count("worse") == 0
    alone = compare(sheet(figures(0.3)[0]), sheet(figures(0.41)[0]))
    assert alone.count("worse") == 1


@pytest.mark.parametrize(
    ("old", "new", "note"),
    [
        (rate(None), rate(0.1, 0.0, 0.2), "nothing was read"),
        (rate(0.1), rate(0.1, 0.0, 0.2), "interval"),
        (rate(0.1, 0.0, 0.2, bounds=Bounds(-1, 1, proves=False)),
         rate(0.9, 0.8, 1.0), "interval"),
    ],
)  # fmt: skip
def test_what_is_unknown_gets_no_verdict(old: Estimate, new: Estimate, note: str) -> None:
    found = change(old, new)
    assert found.verdict == ""
    assert note in found.note


def test_a_figure_of_one_sheet_only() -> None:
    other = rate(0.1, 0.0, 0.2, "candidate_order.wrong_rate[delta=1]")
    found = compare(sheet(rate(0.1, 0.0, 0.2)), sheet(other)).differences
    assert {row.note for row in found} == {"only in the old sheet", "only in the new sheet"}


def of_stimuli(digest: str) -> Provenance:
    return Provenance(stimuli=(StimulusPool("candidate_order", digest=digest),))


def test_apples_and_oranges() -> None:
    one, other = sheet(rate(0.1, 0, 0.2), reply="text"), sheet(rate(0.1, 0, 0.2), reply="json")
    with pytest.raises(RunError):
        compare(one, other)
    forced = compare(one, other, force=True)
    assert forced.forced
    assert "by --force" in render([forced])
    asked = replace(one, provenance=of_stimuli("a"))
    again = replace(one, provenance=of_stimuli("b"))
    with pytest.raises(RunError, match="candidate_order"):
        compare(asked, again)
    with pytest.raises(RunError):
        compare(one, replace(one, axes=()))


def test_two_prompts_are_compared_if_that_is_wanted() -> None:
    def asked(prompt: str, stimuli: str = "s") -> Datasheet:
        used = replace(of_stimuli(stimuli), prompts=(PromptUsed("candidate_order", digest=prompt),))
        return replace(sheet(rate(0.1, 0, 0.2)), provenance=used)

    with pytest.raises(OtherQuestionsError, match="--across-prompts"):
        compare(asked("a"), asked("b"))
    made = compare(asked("a"), asked("b"), across_prompts=True)
    assert not made.forced
    for form in ("md", "html", "json"):
        assert "Two prompts are compared" in render([made], form)
    with pytest.raises(OtherQuestionsError) as refused:
        compare(asked("a"), asked("b", "t"), across_prompts=True)
    assert {one.code for one in refused.value.obstacles} == {"prompts", "stimuli"}


def test_foreign_names_stay_text() -> None:
    evil = replace(
        sheet(rate(0.1, 0, 0.2)), judge=JudgeIdentity(model="<script>alert(1)</script>|\x00")
    )
    found = [compare(evil, evil)]
    assert "<script>alert" not in render(found, "html")
    assert "<script>" not in render(found)
    assert "\x00" not in render(found, "html") + render(found)
    assert json.loads(render(found, "json"))[0]["no_change_proven"] == 1


def test_paper_has_a_table_of_each_judge() -> None:
    old = sheet(rate(0.1, 0, 0.2))
    worse, better = (
        replace(sheet(rate(value, value - 0.02, value + 0.02)), judge=JudgeIdentity(model=name))
        for name, value in (("sim/b", 0.6), ("sim/c", 0.02))
    )
    pages = page_texts(comparison.render([compare(old, worse), compare(old, better)], "pdf", "a4"))
    text = " ".join(" ".join(pages).split())
    assert text.index("What changed: sim/b") < text.index("✗ worse")
    assert text.index("✗ worse") < text.index("What changed: sim/c") < text.index("? no change")
    assert RATE in text.replace(" ", "")


def test_long_names_of_judges_leave_room_on_paper_for_their_figures() -> None:
    old, new = (
        replace(
            sheet(rate(value, value - 0.1, value + 0.2)), judge=JudgeIdentity(f"{PROVIDER}/{name}")
        )
        for name, value in (("chat-judge-of-may", 0.1), ("chat-judge-of-june", 0.6))
    )
    lines = "".join(page_texts(comparison.render([compare(old, new)], "pdf", "a4"))).splitlines()
    (row,) = (at for at, line in enumerate(lines) if "(0–30)" in line)
    assert lines[row - 1] == RATE, "on one line"


# -- what must not be used -------------------------------------------------------------------------


def void(made: Datasheet, *touches: str) -> Datasheet:
    """The sheet with a failed control of its run that touches these figures, or all of them."""
    failed = Control("one form", False, "two forms are mixed", of="run", touches=touches or ("*",))
    return decide(replace(made, axes=(replace(made.axes[0], controls=(failed,)),)))


OTHER = "candidate_order.wrong_rate[delta=1]"


@pytest.mark.parametrize("which", ["old", "new", "both"])
def test_no_change_of_a_void_figure_has_a_verdict(which: str) -> None:
    worse, fine = rate(0.6, 0.5, 0.7), rate(0.1, 0.05, 0.15)
    old, new = sheet(fine, rate(0.1, 0.05, 0.15, OTHER)), sheet(worse, rate(0.6, 0.5, 0.7, OTHER))
    old = void(old, "order_inconsistent") if which != "new" else decide(old)
    new = void(new, "order_inconsistent") if which != "old" else decide(new)
    first, second = compare(old, new).differences
    assert (first.verdict, second.verdict) == ("void", "worse")
    assert (first.p, first.p_holm, first.worsening, first.detectable) == (None, None, None, None)
    assert "one form" in first.note
    assert ("old" if which != "new" else "new") in first.note
    # What cannot be used costs the others nothing.
    assert second.p_holm == second.p


def test_a_comparison_says_which_axes_are_void_and_how_many_figures() -> None:
    old, new = decide(sheet(rate(0.1, 0.05, 0.15))), void(sheet(rate(0.6, 0.5, 0.7)))
    made = compare(old, new)
    assert made.count("void") == len(made.differences) == 1
    assert any("new sheet" in one and "two forms are mixed" in one for one in made.remarks)
    for form in ("md", "html", "json"):
        assert "two forms are mixed" in render([made], form)
    text = render([made])
    assert "1 not usable" in text
    assert "not usable" not in render([compare(old, old)])


@pytest.mark.parametrize("better", ["", 'better = "lower"'])
@pytest.mark.parametrize("which", [0, 1])
def test_a_baseline_that_is_void_decides_nothing(which: int, better: str) -> None:
    sheets = [sheet(rate(0.1, 0.05, 0.15)), sheet(rate(0.6, 0.5, 0.7))]
    sheets[which] = void(sheets[which])
    rules = parse(f"[[regression]]\nkey = '{RATE}'\nmargin = 0.1\n{better}", "mine.toml")
    verdicts = against(compare(decide(sheets[0]), decide(sheets[1])), rules)
    judged = decide(sheets[1], rules, verdicts)
    assert [one.status for one in judged.verdicts] == ["invalid"]
    assert judged.decision is not None
    assert judged.decision.verdict == "not_proven"
    assert judged.verdicts[0].needed


# -- whole runs ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same judge twice, and one that follows the slot and the first line."""
    folder = tmp_path_factory.mktemp("runs")
    models = {"one": "sim/noisy?seed=1", "two": "sim/noisy?seed=2",
              "biased": "sim/first-biased?first=6&seed=3"}  # fmt: skip
    few = folder / "stimuli.jsonl"
    lines = (data_folder("stimuli") / "score_order.jsonl").read_text(encoding="utf-8").splitlines()
    few.write_text("\n".join(lines[:FEW]), encoding="utf-8")
    asked: dict[str, Any] = {"profile": "quick", "axes": ["score_order"], "stimuli": few}
    for name, model in models.items():
        judgesheet.probe(model, folder / name, pdf=False, **asked)
    return {name: folder / name for name in models}


def test_a_planted_difference_is_found(runs: dict[str, Path]) -> None:
    (found,) = judgesheet.compare(runs["one"], runs["biased"])
    worse = {row.key for row in found.differences if row.verdict == "worse"}
    assert "score_order.cramers_v" in worse
    assert any(row.pairing is not None for row in found.differences)


def bias_cost_by_hand(run: Path) -> float:
    """That of the order 1 2 3 4 5, from the exported judgments of the first balanced pass."""
    table = pd.read_parquet(run / JUDGMENTS)
    asked = table[table["anchor"].isna()]  # no figure reads anchors
    rows = asked[(asked["arm"] == "balanced") & (asked["scale"] == 5) & (asked["repeat"] == 0)]
    chosen = np.zeros((5, 5))
    for order, score in zip(rows["order"], rows["score"], strict=True):
        listed = json.loads(order)
        chosen[int(score) - 1, listed.index(int(score))] += 1
    shares = chosen.diagonal() / chosen.sum(axis=1)
    return float(100 * np.abs(shares - 0.2).sum())


def test_the_difference_of_bias_costs_is_that_of_the_exported_judgments(
    runs: dict[str, Path],
) -> None:
    (found,) = judgesheet.compare(runs["one"], runs["biased"])
    (row,) = (row for row in found.differences if row.key == "score_order.bias_cost[order=12345]")
    old, new = (bias_cost_by_hand(runs[name]) for name in ("one", "biased"))
    assert row.value == pytest.approx(new - old)
    assert (row.low, row.high, row.verdict) == (None, None, "")


def test_the_same_judge_twice_is_no_change(runs: dict[str, Path]) -> None:
    (found,) = judgesheet.compare(runs["one"], runs["two"])
    assert {row.verdict for row in found.headline} <= {"no_change_proven", ""}
    assert found.count("no_change_proven") > 10


def test_equal_replies_are_no_change_of_any_figure(runs: dict[str, Path], tmp_path: Path) -> None:
    """Correlations too: what both judges share does not make their difference uncertain."""
    twin = shutil.copytree(runs["one"], tmp_path / "twin")
    (found,) = judgesheet.compare(runs["one"], twin)
    ends = [(row.low, row.high) for row in found.differences if row.low is not None]
    assert set(ends) == {(0.0, 0.0)}
    assert {"r", "V"} <= {row.unit for row in found.differences if row.low == 0.0}
    assert not found.count("worse") + found.count("better")


def test_a_sheet_of_the_same_run_proves_that_nothing_got_worse(
    runs: dict[str, Path], tmp_path: Path
) -> None:
    accepted = shutil.copy(runs["one"] / "datasheet.json", tmp_path)
    key = "score_order.cramers_v_debiased"
    limits = tmp_path / "policy.toml"
    limits.write_text(f'[[regression]]\nkey = "{key}"\nmargin = 0.01\nbetter = "lower"\n', "utf-8")
    judged = judgesheet.gate(runs["one"], limits, baseline=accepted)
    (verdict,) = (one for one in judged.verdicts if one.against_baseline)
    assert (verdict.key, verdict.status, verdict.observed) == (key, "pass", 0.0)
    assert judged.provenance.baseline is not None
    (remark,) = judged.provenance.baseline.remarks
    assert remark.startswith("Both are of one run, with identical figures")
    # A run that took over all of its replies took no time to ask.
    whole = judgesheet.load(accepted)
    reused = replace(whole, run=replace(whole.run, wall_s=0.0, taken_over=TakenOver(1)))
    assert compare(reused, reused).remarks[0].startswith("Both are of one run")
    # Another run of the same plan, though all its figures were the same, is none of it.
    sheet = json.loads(Path(accepted).read_text("utf-8"))
    sheet["run"]["wall_s"] += 1
    Path(accepted).write_text(json.dumps(sheet), "utf-8")
    judged = judgesheet.gate(runs["one"], limits, baseline=accepted)
    (verdict,) = (one for one in judged.verdicts if one.against_baseline)
    assert verdict.status == "inconclusive"


def test_every_figure_is_paired_not_only_the_first_ones(runs: dict[str, Path]) -> None:
    (found,) = judgesheet.compare(runs["one"], runs["two"])
    ends = [row for row in found.differences if row.low is not None]
    paired = [row for row in ends if row.pairing is not None]
    assert len(paired) > 0.8 * len(ends)
    assert len(paired) > len(found.headline)


def test_files_alone_are_compared_as_independent(runs: dict[str, Path]) -> None:
    (found,) = judgesheet.compare(*(runs[n] / "datasheet.json" for n in ("one", "biased")))
    assert all(row.pairing is None for row in found.differences)
    assert any("two run directories" in one for one in found.remarks)


def test_the_command(runs: dict[str, Path], tmp_path: Path) -> None:
    files = [str(runs[n] / "datasheet.json") for n in ("one", "two", "biased")]
    done = CliRunner().invoke(main, ["compare", *files])
    assert done.exit_code == 0
    assert "sim/first-biased" in done.stdout
    assert "score_order.cramers_v" in done.stdout
    page = tmp_path / "page.html"
    assert CliRunner().invoke(main, ["compare", *files, "--to", f"html={page}"])
    text = page.read_text(encoding="utf-8")
    titles = [html.unescape(one) for one in re.findall("What changed: ([^<]*)</h2>", text)]
    assert titles == ["sim/noisy?seed=2", "sim/first-biased?first=6&seed=3"]
    assert text.count('<th scope="row">') > 10 * len(titles)
    assert "http://" not in text.replace("http://www.w3.org/", "")
    content = json.loads(CliRunner().invoke(main, ["compare", *files, "--json"]).stdout)
    assert len(content) == 2
    key = {row["key"]: row for row in content[1]["differences"]}["score_order.cramers_v"]
    assert key["verdict"] == "worse"
    assert key["low"] < key["value"] < key["high"]


def on_a_terminal(*arguments: str | Path) -> str:
    """What a command prints where its output is a terminal."""
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "judgesheet", *map(str, arguments)]
    with subprocess.Popen(command, stdout=theirs, stdin=subprocess.DEVNULL) as process:
        os.close(theirs)
        parts: list[bytes] = []
        with suppress(OSError), os.fdopen(ours, "rb") as read:  # raised where the other end closes
            parts.extend(iter(lambda: read.read1(65536), b""))
    assert process.returncode == 0
    return b"".join(parts).decode()


def test_a_terminal_gets_no_escapes_of_markdown(runs: dict[str, Path], tmp_path: Path) -> None:
    """A program that reads the same output gets Markdown."""
    odd = shutil.copytree(runs["biased"], tmp_path / "odd_name")
    sheets = (runs["one"], odd)
    page = render(judgesheet.compare(*sheets))
    assert re.search(r"\| \+\d", page), "no block begins in a cell"
    shown = on_a_terminal("compare", *(run / "datasheet.json" for run in sheets))
    assert re.search(r"\| \+\d", shown)
    assert "\\" not in shown
    assert "&#8203;" not in shown
    assert "`score_order.cramers_v`" in shown


@pytest.mark.parametrize(
    "foreign", ["a_b*c [x](y)", "+2", "- 1. #x", r"C:\d\*", "https://a.b|c", "<b>"]
)
def test_what_is_escaped_is_shown_as_it_was(foreign: str) -> None:
    assert for_terminal(escape(foreign)) == foreign


def test_the_command_refuses_other_questions(runs: dict[str, Path], tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(runs["one"], copy)
    made = json.loads((copy / "datasheet.json").read_text(encoding="utf-8"))
    made["run"]["profile"] = "standard"
    (copy / "datasheet.json").write_text(json.dumps(made), encoding="utf-8")
    done = CliRunner().invoke(main, ["compare", str(runs["one"]), str(copy)])
    assert done.exit_code == 1
    assert done.stdout == ""
    assert "--force" in done.stderr


def test_recorded_runs_compare(tmp_path: Path) -> None:
    """Verdicts taken elsewhere: one judge follows the slot, the other always ties."""
    for name, first, second in (("slot", 1, 1), ("tie", "tie", "tie")):
        lines = []
        for task in range(12):
            for pair in range(4):
                for order, verdict in ((["u", "v"], first), (["v", "u"], second)):
                    cell = {"prompt": "baseline", "condition": "natural", "pair": f"p{pair}",
                            "order": order, "better": None}  # fmt: skip
                    lines.append({"axis": "candidate_order", "stimulus": f"t{task}", "cell": cell,
                                  "repeat": 0, "verdict": verdict})  # fmt: skip
        path = tmp_path / f"{name}.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        judgesheet.ingest(path, tmp_path / name)
    (found,) = judgesheet.compare(tmp_path / "slot", tmp_path / "tie")
    row = {one.key: one for one in found.differences}
    changed = row["candidate_order.order_inconsistent[set=natural]"]
    assert (changed.value, changed.verdict) == (-1, "better")
    page = render([found])
    assert "| not measured | not measured |" not in page
    (left_out,) = re.findall(r"(\d+) more figures without a value in either sheet", page)
    without = [
        row
        for row in found.headline
        if not any(one is not None and one.value is not None for one in (row.old, row.new))
    ]
    assert int(left_out) == len(without) > 10
    assert f"{left_out} more figures" in render([found], "html")


def rated_run(folder: Path, name: str, moved: int, ratings: int) -> Path:
    """Scores of twelve responses, so many of them moved, beside as many ratings by people."""
    lines: list[dict[str, Any]] = []
    for task in range(12):
        true = 1 + task % 3
        cell = {"item": f"t{task}/a", "arm": "fixed", "scale": 3, "order": [1, 2, 3]}
        score = 1 + (true + (task < moved)) % 3
        lines.append({"axis": "score_order", "stimulus": f"t{task}", "cell": cell,
                      "verdict": score})  # fmt: skip
        given = [true, true % 3 + 1 if task < 2 else true, true][:ratings]
        lines.append({"human": {"axis": "score_order", "item": f"t{task}/a", "ratings": given}})
    path = folder / f"{name}.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    judgesheet.ingest(path, folder / name, pdf=False)
    return folder / name


def test_the_same_ratings_differ_by_nothing(tmp_path: Path) -> None:
    one, two = rated_run(tmp_path, "one", 1, 3), rated_run(tmp_path, "two", 6, 3)
    alone = [run / "datasheet.json" for run in (one, two)]
    for sources in ((one, two), alone):
        (found,) = judgesheet.compare(*sources)
        rows = {row.key.partition(".")[2]: row for row in found.differences}
        ceiling = rows["rater_ceiling_r"]
        assert (ceiling.value, ceiling.low, ceiling.high) == (0, 0, 0)
        assert ceiling.method.startswith("human ratings alone")
        assert rows["pearson_r[arm=fixed]"].low != 0
    assert any("taken as independent" in line for line in (*found.remarks, render([found])))
    (found,) = judgesheet.compare(one, rated_run(tmp_path, "other", 6, 2))
    (row,) = (row for row in found.differences if row.key.endswith("rater_ceiling_r"))
    assert row.value
    assert row.low is None


def test_a_policy_travels_with_the_run(runs: dict[str, Path], tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(runs["biased"], copy)
    measured = judgesheet.measure(copy, policy="scoring").datasheet
    assert measured.decision is not None
    assert measured.decision.verdict == "reject"
    assert judgesheet.load(copy) == measured
    assert measured.provenance.policy is not None
    assert measured.provenance.policy.name == "scoring"
    done = CliRunner().invoke(main, ["render", str(copy), "--to", "junit"])
    assert done.exit_code == 0
    assert "<failure" in (copy / "datasheet.junit.xml").read_text(encoding="utf-8")


# -- agreement -------------------------------------------------------------------------------------


def test_agreement_is_that_of_two_call_by_call(runs: dict[str, Path]) -> None:
    """Against statsmodels, over the calls as the table of judgments has them."""
    names = list(runs)
    scores = {
        name: table[table["anchor"].isna()].set_index("call_id")["score"].astype(int)
        for name, table in ((name, pd.read_parquet(run / JUDGMENTS)) for name, run in runs.items())
    }
    for name, made in zip(names[1:], judgesheet.compare(*runs.values()), strict=True):
        (one,) = made.agreement
        both = [scores[names[0]], scores[name]]
        first, second = pd.concat(both, axis=1, join="inner").to_numpy().T
        table = np.zeros((5, 5))
        np.add.at(table, (first - 1, second - 1), 1)
        assert one.calls == len(first)
        assert one.kappa == pytest.approx(cohens_kappa(table, wt="quadratic").kappa)
        assert one.equal == pytest.approx((first == second).mean())


def test_a_tie_is_another_verdict_than_a_choice(tmp_path: Path) -> None:
    for name in ("always-1", "always-tie"):
        judgesheet.probe(f"sim/{name}", tmp_path / name, axes=("candidate_order",),
                         profile="smoke", pdf=False, cases=False)  # fmt: skip
    other, same = (
        judgesheet.compare(tmp_path / "always-1", tmp_path / name)[0].agreement[0]
        for name in ("always-tie", "always-1")
    )
    assert other.equal == 0
    assert same.equal == 1


def test_two_runs_of_one_judge_are_distinguished_by_their_paths(
    runs: dict[str, Path], tmp_path: Path
) -> None:
    twin = shutil.copytree(runs["one"], tmp_path / "twin")
    found = judgesheet.compare(runs["one"], twin)
    judge = judgesheet.load(twin).judge.model
    names = (f"{judge} ({runs['one']})", f"{judge} ({twin})")
    assert comparison.page(found).title == " → ".join(names)


def test_agreement_of_sheets_alone_is_unknown(runs: dict[str, Path]) -> None:
    two = judgesheet.compare(runs["one"], runs["two"])
    assert "The same verdicts: score" in render(two)
    (alone,) = judgesheet.compare(runs["one"], runs["two"] / "datasheet.json")
    assert alone.agreement == ()
    assert "The same verdicts" not in render([alone])
