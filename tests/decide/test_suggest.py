"""Policies suggested from a run, and the shipped ones that need no scores by people."""

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

import judgesheet
from judgesheet.base.errors import RunError
from judgesheet.base.facts import RunFacts
from judgesheet.base.records import Bounds, Control, Datasheet, Estimate
from judgesheet.collect.options import Request
from judgesheet.collect.request import make_plan, settle
from judgesheet.decide import decide
from judgesheet.decide import policy as policies
from judgesheet.decide.suggest import suggest
from proof.rehearsal import rehearse
from tests.command import run

SEEDS = (0, 1)
KEYS = {
    "order-only": [one.key for one in policies.load("order-only").limit],
    "natural-pairs": [one.key for one in policies.load("natural-pairs").limit],
}


def sheets(request: Request, judge: str, policy: str) -> list[Datasheet]:
    """What a policy says of several draws of a judge under the plan of a request."""
    plan = make_plan(request, settle(request))
    rules = policies.load(policy)
    return [decide(rehearse(plan, judge, seed, KEYS[policy]), rules) for seed in SEEDS]


def verdicts(found: list[Datasheet]) -> set[str]:
    return {sheet.decision.verdict for sheet in found if sheet.decision}


def test_order_only_adopts_a_good_judge_and_rejects_a_biased_one() -> None:
    request = Request("sim/good", ["criterion_order"], "standard")
    assert verdicts(sheets(request, "sim/good", "order-only")) <= {"adopt", "conditions"}
    assert verdicts(sheets(request, "sim/first-biased", "order-only")) == {"reject"}


def test_natural_pairs_adopts_a_good_judge_and_rejects_a_biased_one(tmp_path: Path) -> None:
    pairs = (
        {"id": f"p{n}", "request": f"Question {n}?", "u": f"Yes {n}.", "v": f"No {n}."}
        for n in range(60)
    )
    path = tmp_path / "candidate_order.jsonl"
    path.write_text("\n".join(map(json.dumps, pairs)), encoding="utf-8")
    request = Request("sim/good", ["candidate_order"], "standard", path)
    assert verdicts(sheets(request, "sim/good", "natural-pairs")) <= {"adopt", "conditions"}
    assert verdicts(sheets(request, "sim/first-biased", "natural-pairs")) == {"reject"}


@pytest.fixture(scope="module")
def biased() -> Datasheet:
    request = Request("sim/good", ["criterion_order"], "quick")
    keys = [limit.key for name in policies.shipped() for limit in policies.load(name).limit]
    return rehearse(make_plan(request, settle(request)), "sim/first-biased", 0, keys)


def test_a_suggested_policy_is_kept_by_its_own_run_and_has_a_reason_for_each_limit(
    biased: Datasheet,
) -> None:
    text = suggest(biased)
    policy = policies.parse(text, "suggested.toml")
    assert policy.limit
    assert all(verdict.status == "pass" for verdict in decide(biased, policy).verdicts)
    assert all(limit.why for limit in policy.limit)
    assert "proves nothing about that run" in text


def test_a_limit_is_the_shipped_one_where_that_is_kept_and_says_so_where_not(
    biased: Datasheet,
) -> None:
    key = "listwise_consensus.excess_flip_rate"
    for high, limit, said in (
        (0.1, 0.25, "The limit of order-only"),
        (0.263, 0.27, "not a recommend"),
    ):
        estimate = Estimate(key, "", 0.05, 0.0, high, n=80, clusters=40, bounds=Bounds(0.0, high))
        axis = replace(biased.axes[0], name="listwise_consensus", estimates=(estimate,))
        (found,) = tomllib.loads(suggest(replace(biased, axes=(axis,))))["limit"]
        assert (found["key"], found["max"]) == (key, limit)
        assert said in found["why"]
        assert f"bound of {high:g}, from 40 stimuli," in found["why"]
    # A limit of a profile's pool would be read as one of the run's.
    every = [limit for name in policies.shipped() for limit in policies.load(name).limit]
    assert not [limit.key for limit in every if "profile" in limit.why]


def test_what_cannot_be_limited_is_named_with_the_reason(biased: Datasheet) -> None:
    keys = {
        "candidate_order.order_inconsistent[set=natural]": Bounds(0.0, 0.12),
        "candidate_order.positional_false_preference[set=natural]": Bounds(0.0, 1.0),
    }
    bounded = [
        Estimate(key, "", 0.05, 0.0, b.high, unit="share", n=40, bounds=b)
        for key, b in keys.items()
    ]
    silent = Estimate(
        "candidate_order.slot1_share[set=natural]", "", None, note="no win\n[[limit]]", n=0
    )
    axis = replace(biased.axes[0], name="candidate_order", estimates=(*bounded, silent))
    text = suggest(replace(biased, axes=(axis,)))
    assert "# Left out: candidate_order.positional_false_preference[set=natural]" in text
    assert "# Left out: candidate_order.slot1_share[set=natural]: no win" in text
    assert len(tomllib.loads(text)["limit"]) == 1


def test_a_figure_that_its_own_run_could_not_prove_is_left_out_once(biased: Datasheet) -> None:
    key = "candidate_order.slot1_share[set=natural]"
    share = Estimate(key, "", 0.5, 0.45, 0.55, unit="share", n=40, bounds=Bounds(0.45, 0.55))
    other = replace(share, key="candidate_order.order_inconsistent[set=natural]")
    axis = replace(biased.axes[0], name="candidate_order", estimates=(share, other))
    failed = Control("asked twice", False, "the answers differ", touches=("slot1_share",))
    text = suggest(replace(biased, axes=(replace(axis, controls=(failed,)),)))
    assert text.count(f"# Left out: {key}: not usable (the control “asked twice” failed)") == 1
    assert [one["key"] for one in tomllib.loads(text)["limit"]] == [other.key]


def test_nothing_is_suggested_from_a_run_that_is_not_complete(biased: Datasheet) -> None:
    with pytest.raises(RunError):
        suggest(replace(biased, run=RunFacts(complete=False)))
    with pytest.raises(RunError):
        suggest(replace(biased, axes=()))


def test_the_commands(tmp_path: Path) -> None:
    judgesheet.probe("sim/good", tmp_path / "run", axes=["listwise_consensus"], pdf=False)
    out = tmp_path / "policy.toml"
    done = run("policy", "suggest", tmp_path / "run")
    assert done.returncode == 0
    assert "proves nothing about that run" in done.stderr
    out.write_text(done.stdout, "utf-8")
    assert run("gate", tmp_path / "run", "--policy", out).returncode == 0
    listed = run("policy", "list").stdout.splitlines()
    assert [line.split()[0] for line in listed] == policies.shipped()
    assert tomllib.loads(run("policy", "show", "order-only").stdout)["name"] == "order-only"
    assert run("policy", "show", "nope").returncode == 2
