"""Runs that stop once a policy is decided."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from math import nan
from pathlib import Path
from typing import Any

import pytest

import judgesheet
from judgesheet.axes import all_axes
from judgesheet.axis import Options, Readings
from judgesheet.base.datasheet import from_json, to_json
from judgesheet.base.errors import RunError, StimuliError, UsageError
from judgesheet.base.facts import Looks
from judgesheet.base.keys import Key
from judgesheet.base.records import Estimate, Plan
from judgesheet.decide import EXIT_CODES
from judgesheet.decide import policy as policies
from judgesheet.decide.looks import SHARES, PlannedCell, needed, of_plan, schedules
from judgesheet.judges.simulated import SimulatedJudge, answer_key
from judgesheet.ledger.ledger import Ledger
from judgesheet.measuring.measure import parse_rows
from judgesheet.planning.plan import make_plan
from judgesheet.sheet import show
from proof.rehearsal import answered
from tests.command import run, sentence

EASY = """
[[limit]]
key = "candidate_order.positional_false_preference[set=same_subset]"
max = 0.30
[[limit]]
key = "candidate_order.dark_current[kind=identical]"
max = {most}
"""
ASK: dict[str, Any] = {"axes": ("candidate_order",), "pdf": False, "cases": False}


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return written(tmp_path, 0.30)


@pytest.fixture(scope="module")
def rejected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that ended at its first look; to be copied before it is changed."""
    folder = tmp_path_factory.mktemp("rejected")
    judgesheet.probe("sim/always-1", folder / "run", until_decided=written(folder, 0.30), **ASK)
    return folder / "run"


def copied(directory: Path, folder: Path) -> Path:
    shutil.copytree(directory, folder / "copy")
    return folder / "copy"


def written(folder: Path, most: float) -> Path:
    path = folder / f"policy-{most}.toml"
    path.write_text(EASY.format(most=most), encoding="utf-8")
    return path


def looks(out: Path) -> Looks:
    with Ledger.open(out / "ledger.sqlite") as ledger:
        assert ledger.looks is not None
        return ledger.looks


def planned(out: Path) -> list[dict[str, Any]]:
    """The lines of the plan."""
    return [json.loads(line) for line in (out / "plan.jsonl").read_text("utf-8").splitlines()]


def asked(out: Path) -> list[str]:
    """The ids of all attempts, in the order in which they were written."""
    with Ledger.open(out / "ledger.sqlite") as ledger:
        return [reply.call_id for reply in ledger.replies()]


def levels(estimates: tuple[Estimate, ...]) -> set[float]:
    return {e.level for e in estimates if e.low is not None}


# -- where it ends ---------------------------------------------------------------------------------


def test_a_good_judge_stops_early_and_passes(tmp_path: Path, policy: Path) -> None:
    out = tmp_path / "run"
    sheet = judgesheet.probe("sim/perfect", out, until_decided=policy, **ASK).datasheet
    reached, fixed = looks(out), judgesheet.plan("sim/perfect", axes=ASK["axes"])[0]
    assert reached.ended
    assert 1 <= reached.look < reached.of == len(SHARES)
    assert sheet.decision is not None
    assert EXIT_CODES[sheet.decision.verdict] == 0
    assert all(verdict.status == "pass" for verdict in sheet.verdicts)
    # Ids are those of the fixed design, which the plan holds whole, and nothing else was asked.
    plan = [one["call_id"] for one in planned(out)]
    assert plan == [call.id for call in fixed.calls]
    assert len(asked(out)) == len(set(asked(out))) == reached.calls < reached.needed
    assert set(asked(out)) < set(plan)
    assert reached.planned == len(plan)
    # What it says of itself: complete, at the level of its look, which the schema has room for.
    (axis,) = sheet.axes
    assert sheet.run.complete
    assert sheet.run.planned == axis.planned == axis.answered == reached.calls
    assert levels(axis.estimates) == {reached.axes[0].level}
    assert 0.95 < reached.axes[0].level < 1
    assert from_json(to_json(sheet)) == sheet
    assert run("gate", out, "--policy", policy).returncode == 0


def test_a_biased_judge_stops_early_and_fails(policy: Path, rejected: Path) -> None:
    sheet = judgesheet.load(rejected)
    assert looks(rejected).look == 1
    assert sheet.decision is not None
    assert sheet.decision.verdict == "reject"
    level = f"{100 * looks(rejected).axes[0].level:.3g} %"
    assert any(f"the one-sided {level} lower bound" in one.why for one in sheet.verdicts)
    assert level != "95 %"
    assert run("gate", rejected, "--policy", policy).returncode == 3


def test_a_judge_on_the_limit_goes_to_the_end(tmp_path: Path) -> None:
    out, policy = tmp_path / "run", written(tmp_path, 0.02)  # out of reach of 40 tasks
    sheet = judgesheet.probe("sim/perfect", out, until_decided=policy, **ASK).datasheet
    reached = looks(out)
    assert (reached.look, reached.calls) == (reached.of, reached.needed)
    assert sheet.run.complete
    assert run("gate", out, "--policy", policy).returncode == 4
    assert sheet.axes[0].estimates[0].level < 0.97  # most of the error is left for the last look


def test_every_axis_ends_by_itself(tmp_path: Path) -> None:
    policy, out = tmp_path / "policy.toml", tmp_path / "run"
    late = 'key = "candidate_order.wrong_rate[delta=1]"\nmax = 0.01\n'
    early = '[[limit]]\nkey = "score_order.cramers_v"\nmax = 0.5\n[[limit]]\n'
    policy.write_text(early + late)
    ask = {**ASK, "axes": ("candidate_order", "score_order", "criterion_order")}
    sheet = judgesheet.probe("sim/perfect", out, until_decided=policy, **ask).datasheet
    by_axis = {one.axis: one for one in looks(out).axes}
    assert by_axis.keys() == {"candidate_order", "score_order"}  # no limit reads the third
    assert by_axis["score_order"].look == 1
    assert by_axis["candidate_order"].look == by_axis["candidate_order"].of
    found = {one.name: levels(one.estimates) for one in sheet.axes if one.name in by_axis}
    assert found == {axis: {one.level} for axis, one in by_axis.items()}
    assert sheet.decision is not None
    assert sheet.decision.verdict == "not_proven"


# -- what it asks ----------------------------------------------------------------------------------


@cache
def standard() -> Plan:
    options = {name: Options(profile="standard", reply="json") for name in all_axes()}
    return make_plan(list(all_axes().values()), options, 0, None)


@pytest.mark.parametrize("name", sorted(all_axes()))
def test_a_figure_is_the_same_without_the_calls_that_it_does_not_read(name: str) -> None:
    axis = all_axes()[name]
    calls = tuple(call for call in standard().calls if call.axis == name)
    # The first stimuli are enough: what a figure reads does not depend on their number.
    few = list(dict.fromkeys(call.stimulus for call in calls))[:6]
    plan = Plan(0, tuple(call for call in calls if call.stimulus in few), standard().labels, {})
    judge = SimulatedJudge.from_name("noisy?seed=3", answer_key(plan.labels))
    frame = parse_rows(axis, answered(plan, judge))
    labels = tuple(label for label in plan.labels if label.axis == name)

    def numbers(one: Estimate) -> list[float]:
        bounds = (None, None) if one.bounds is None else (one.bounds.low, one.bounds.high)
        reported = (one.value, one.low, one.high, *bounds, one.n, one.clusters)
        return [nan if number is None else number for number in reported]

    def figures(rows: Any, families: frozenset[str] | None) -> Mapping[str, Estimate]:
        readings = Readings(rows.reset_index(drop=True), labels, None, 0, families)
        return {one.key: one for one in axis.measure(readings)}

    shipped = (policies.load(one) for one in policies.shipped())
    limited = [Key.parse(rule.key) for one in shipped for rule in one.limit]
    limits = {key.name for key in limited if key.axis == name}
    whole, part = figures(frame, None), of_plan(plan)
    fewer: Counter[str] = Counter()
    groups: dict[frozenset[str], list[str]] = {}
    for key in whole:
        ids = frozenset(call.id for call in needed(name, [Key.parse(key)], part))
        groups.setdefault(ids, []).append(key)
    for ids, keys in groups.items():
        if len(ids) == len(frame):
            continue
        families = frozenset(Key.parse(key).name for key in keys)
        found = figures(frame[frame["call_id"].isin(ids)], families)
        for key in keys:
            assert numbers(found[key]) == pytest.approx(numbers(whole[key]), nan_ok=True), key
            fewer[Key.parse(key).name] += 1
    assert fewer.keys() >= limits - {"excess_flip_rate"}


def test_looks_take_whole_stimuli_in_the_order_of_the_plan() -> None:
    calls = of_plan(standard())
    first = schedules(calls, policies.load("ranking"))
    mine = first["candidate_order"]
    asked = dict.fromkeys(call.cluster for call in calls if call.axis == "candidate_order")
    assert list(mine.calls) == list(asked) != sorted(asked)
    taken = [set(mine.until(look)) for look in range(len(mine.sizes))]
    assert all(less < more for less, more in pairwise(taken))
    stimulus = {call.id: call.cluster for call in calls}
    for ids, size in zip(taken, mine.sizes, strict=True):
        names = {stimulus[one] for one in ids}
        assert len(names) == size
        assert sum(len(mine.calls[name]) for name in names) == len(ids)
    assert list(mine.levels) == sorted(mine.levels, reverse=True)
    assert "criterion_order" not in first


# -- resuming --------------------------------------------------------------------------------------

SLOW = """
import os, time
def judge(prompt):
    time.sleep(0.002)
    with open(os.environ["ASKED"], "a") as file:
        file.write("x\\n")
    return '{"winner": "tie"}'
"""


def test_a_killed_run_goes_on_at_its_look_and_asks_nothing_twice(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    policy, log = written(tmp_path, 0.02), tmp_path / "asked"
    words = ["probe", "--model", "python/slow:judge", "--axis", "candidate_order", "--out", "run",
             "--until-decided", str(policy), "--no-pdf", "--no-cases", "--quiet"]  # fmt: skip
    environment = {**os.environ, "ASKED": str(log), "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-m", "judgesheet", *words], cwd=tmp_path, env=environment
    )
    first = 0
    while process.poll() is None:
        # Killed in the middle of a look that is not the first one.
        asked_so_far = log.read_text(encoding="utf-8").count("x") if log.exists() else 0
        first = first or _first_look(tmp_path)
        if first and asked_so_far > first + 24 + 10:  # anchors of two thirds
            process.send_signal(signal.SIGKILL)
            process.wait()
        time.sleep(0.005)
    assert process.returncode == -signal.SIGKILL
    before, kept = looks(tmp_path / "run"), set(asked(tmp_path / "run"))
    assert before.look > 1
    assert not before.ended
    done = subprocess.run([sys.executable, "-m", "judgesheet", *words], cwd=tmp_path,
                          env=environment, check=False)  # fmt: skip
    assert done.returncode == 0
    with Ledger.open(tmp_path / "run/ledger.sqlite") as ledger:
        totals, after = ledger.totals(), ledger.looks
    assert after is not None
    assert after.ended
    assert after.look >= before.look
    assert kept <= set(asked(tmp_path / "run"))
    assert totals.attempts == after.calls == totals.planned  # every call once


def _first_look(folder: Path) -> int:
    """Calls of the first look; 0 while they are not known."""
    if not (folder / "run/plan.jsonl").exists():
        return 0
    keep = policies.load(next(folder.glob("policy-*.toml")))
    calls = [
        PlannedCell(one["call_id"], one["axis"], one["stimulus"], {**one["cell"], "repeat": 0})
        for one in planned(folder / "run")
    ]
    return len(schedules(calls, keep)["candidate_order"].until(0))


def test_a_spent_budget_leaves_the_look_open(tmp_path: Path) -> None:
    out, policy = tmp_path / "run", written(tmp_path, 0.02)
    words = ["probe", "--model", "sim/perfect", "--axis", "candidate_order", "--out", str(out),
             "--until-decided", str(policy), "--no-pdf", "--no-cases", "--quiet"]  # fmt: skip
    few = looks_of_first(policy) + 5  # five calls into the second look
    assert run(*words, "--max-calls", str(few)).returncode == 5
    assert len(asked(out)) == few
    assert not looks(out).ended
    assert run(*words).returncode == 0
    whole = tmp_path / "whole"
    judgesheet.probe("sim/perfect", whole, until_decided=policy, **ASK)
    assert sorted(asked(out)) == sorted(asked(whole))
    assert looks(out) == looks(whole)


def looks_of_first(policy: Path) -> int:
    plan, _ = judgesheet.plan("sim/perfect", axes=ASK["axes"])
    return len(schedules(of_plan(plan), policies.load(policy))["candidate_order"].until(0))


def test_a_run_keeps_its_kind_of_looks(tmp_path: Path, policy: Path, rejected: Path) -> None:
    out, full = copied(rejected, tmp_path), tmp_path / "full"
    ask: dict[str, Any] = {**ASK, "profile": "smoke"}
    ends: list[dict[str, Any]] = [{}, {"until_decided": "ranking"}, {"policy": "ranking"}]
    for end in ends:
        with pytest.raises(RunError, match="--until-decided"):
            judgesheet.probe("sim/always-1", out, **ASK, **end)
    judgesheet.probe("sim/always-1", full, **ask)
    with pytest.raises(RunError):
        judgesheet.probe("sim/always-1", full, until_decided=policy, **ask)
    messages: list[str] = []
    fresh: dict[str, Any] = {"fresh_if_changed": True, "tell": messages.append}
    judgesheet.probe("sim/always-1", full, until_decided=policy, **ask, **fresh)
    assert "asked in full" in messages[0]
    assert looks(full).ended


def test_a_policy_that_ends_nothing_is_refused(tmp_path: Path, policy: Path) -> None:
    with pytest.raises(RunError):
        judgesheet.probe("sim/fair", tmp_path / "none", until_decided=policy,
                         **{**ASK, "axes": ("score_order",)})  # fmt: skip
    with pytest.raises(UsageError, match="--policy"):
        judgesheet.probe("sim/fair", tmp_path / "two", until_decided=policy, policy=policy, **ASK)
    with pytest.raises(UsageError, match="--until-decided"):
        judgesheet.sweep("sim/fair", tmp_path / "sweep", until_decided=policy,
                         sweep="temperature=0,1", **ASK)  # fmt: skip


@pytest.mark.parametrize("level", [1.0, 0.2, "high"])
def test_a_ledger_with_impossible_looks_is_damaged(
    tmp_path: Path, rejected: Path, level: object
) -> None:
    out = copied(rejected, tmp_path)
    with Ledger.open(out / "ledger.sqlite", writable=True) as ledger:
        record = ledger.get_meta("looks")
        record["axes"][0]["level"] = level
        ledger.set_meta("looks", record)
    assert "meta.looks cannot be" in sentence(run("measure", out))


# -- what is told ----------------------------------------------------------------------------------


def test_the_sheet_says_what_was_saved_and_how_sure_its_intervals_are(
    tmp_path: Path, rejected: Path
) -> None:
    out, sheet = rejected, judgesheet.load(rejected)
    reported, reached = show.looks(sheet.run), looks(out)
    level = f"{100 * reached.axes[0].level:.3g} %"
    assert reported == (
        f"stopped after look 1 of {len(SHARES)}; {reached.calls} of {reached.planned} planned "
        f"calls asked, a limit reads {reached.needed} of those planned; intervals hold whenever it "
        f"stops, at "
        f"candidate_order {level} (30 of 42 stimuli)"
    )
    judgesheet.render(out, formats=("md", "html"), out=tmp_path)
    for path in (tmp_path / "datasheet.html", tmp_path / "datasheet.md"):
        page = path.read_text(encoding="utf-8")
        assert reported[1:] in page.replace("\\", "")  # it begins a sentence
        assert f"{reached.calls} calls on 30 stimuli" in page
        assert "95 % interval" not in page
        assert f"{level} interval" in page


# -- batches ---------------------------------------------------------------------------------------


def test_a_batch_asks_what_the_next_look_asks(tmp_path: Path, rejected: Path) -> None:
    out, rest = copied(rejected, tmp_path), tmp_path / "rest.jsonl"
    messages: list[str] = []
    how: dict[str, Any] = {"axes": ASK["axes"], "tell": messages.append}
    planned, _ = judgesheet.plan("sim/always-1", None, rest, resume=out, **how)
    left = len(planned.calls) - looks(out).calls
    assert messages == [
        f"0 of {len(planned.calls)} calls are to be asked; --until-decided leaves {left} out so far"
    ]
    assert not rest.exists()
    with Ledger.open(out / "ledger.sqlite") as ledger:
        waiting = ledger.left_out[0]
    late = {"custom_id": waiting, "response": None, "error": {"code": "batch_expired"}}
    file = tmp_path / "late.jsonl"
    file.write_text(json.dumps(late) + "\n", encoding="utf-8")
    with pytest.raises(StimuliError):
        judgesheet.ingest(file, out, pdf=False, cases=False)
