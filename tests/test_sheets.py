"""`make sheets` can tell a wrong decision, and its endpoints do what they say."""

from dataclasses import replace
from pathlib import Path

import pytest

import judgesheet
from judgesheet.decide.policy import shipped
from sheets.judges import ADOPT, BORDERLINE, REJECT, judges, simulated
from sheets.making import make
from sheets.served import (
    MODEL,
    Endpoint,
    Script,
    random_from_70_percent,
    refused_in_one_order,
    renamed_at_half,
)


def test_every_shipped_policy_has_a_judge_on_its_limit() -> None:
    assert {judge.policy for judge in BORDERLINE} == {*shipped()}


def test_judges_have_names_and_reasons_of_their_own() -> None:
    known = judges()
    assert all(judge.right and judge.why for judge in known.values())
    assert len({judge.words for judge in known.values()}) > len(known) / 2


def test_a_decision_is_held_against_the_right_one(tmp_path: Path) -> None:
    asked = ("--profile", "first", "--axis", "candidate_order", "--no-cases")
    judge = simulated("random", "random", "ranking", REJECT, "it is drawn", *asked)
    made = make(judge, tmp_path / "run")
    assert (made.decision, made.code, made.faults) == ("reject", 3, ())
    assert made.is_right
    assert not replace(made, judge=replace(judge, right=ADOPT)).is_right


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match="holds something else"):
        make(next(iter(judges().values())), tmp_path)
    assert (tmp_path / "thesis.txt").exists()


def test_half_of_the_replies_bear_another_name(tmp_path: Path) -> None:
    axes = ("listwise_consensus",)
    with Endpoint(renamed_at_half, axes).serving() as url:
        run = judgesheet.probe(
            MODEL, tmp_path, axes=axes, reply="text", base_url=url, pdf=False, cases=False
        )
    (axis,) = run.datasheet.axes
    assert axis.answered == axis.planned
    assert axis.served_models == dict.fromkeys(("judge-2026-01", "judge-2026-02"), axis.made // 2)


def test_only_one_order_is_refused(tmp_path: Path) -> None:
    axes = ("candidate_order",)
    with Endpoint(refused_in_one_order, axes).serving() as url:
        judgesheet.probe(
            MODEL, tmp_path, axes=axes, reply="text", base_url=url, pdf=False, cases=False
        )
    refused = [one.call.cell["order"] for one in judgesheet.cases(tmp_path, outcome="refused")]
    assert refused
    assert all(order == ["v", "u"] for order in refused)


@pytest.mark.parametrize(
    ("script", "stays"), [(renamed_at_half, True), (random_from_70_percent, False)]
)
def test_a_judge_that_changes_while_it_is_measured_is_shown(
    tmp_path: Path, script: Script, stays: bool
) -> None:
    """Another name alone is told by another control: the answers stay the same.

    The axis is that from which a whole plan takes its anchors.
    """
    axes = ("criterion_order",)
    with Endpoint(script, axes).serving() as url:
        run = judgesheet.probe(
            MODEL, tmp_path, axes=axes, reply="text", base_url=url, pdf=False, cases=False,
            concurrency=1, policy="order-only",
        )  # fmt: skip
    (axis,) = run.datasheet.axes
    assert [one.passed for one in axis.controls if one.code == "anchors"] == [stays]
    assert run.datasheet.decision is not None
    assert run.datasheet.decision.verdict == "not_proven"
