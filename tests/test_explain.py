"""From a printed key to the function that computes it, for every key that a sheet can show."""

import inspect
import json
import re
from pathlib import Path

import pytest

import judgesheet
from judgesheet.axes import all_axes
from judgesheet.base.errors import UsageError
from judgesheet.base.keys import Key
from tests.command import run
from tests.simulate import simulate

SHEETS = sorted(Path(__file__).parents[1].glob("examples/*/datasheet.json"))


def refer(key: str) -> None:
    """The key leads to a function of its name with a docstring, which `explain` prints."""
    name = Key.parse(key).name
    figure = all_axes()[Key.parse(key).axis].ESTIMATES[name]
    assert inspect.unwrap(figure).__name__ == name
    told = judgesheet.explain(key)
    assert told.startswith(f"{key.partition('[')[0]}\n\n")
    assert inspect.cleandoc(figure.__doc__ or "") in told


@pytest.mark.parametrize("axis", all_axes())
def test_every_key_of_a_run_is_explained(axis: str) -> None:
    for profile, spec in (("quick", "first-biased"), ("smoke", "unreadable")):
        for estimate in simulate(spec, profile, axis).result.estimates:
            refer(estimate.key)


GONE = {
    *("inline_rate", "unequal_stimuli", "any_stimulus_p", "anywhere_p", "wavering_p", "repeats_p"),
    *("largest_stimulus_effect", "level_p", "position_bias_p"),
    *("memory", "memory_p", "drift", "drift_p", "late", "late_p"),
    *("rater_alpha", "order_alpha", "repeat_alpha"),
    *("expected_readable", "expected_mass", "expected_within_item_sd", "expected_position_mass"),
    *("expected_single_read_r", "calls_for_same_width", "brier", "overconfidence"),
    *("calibration_error", "right_at_confidence", "confidence_in_tenth"),
    *("averaging_gain", "averaging_gain_noise", "averaging_gain_order", "budget_agreement"),
    *("content_component", "noise_component"),
    *("swap_gain", "format_cue", "calls_per_point_gained", "winner_place"),
    *("delta_r_p", "delta_r_equivalence_p"),
    *("delta_pos_null", "delta_pos_null95", "friedman_p_holm"),
    *("order_agreement", "agreeing_orders", "subset_agreement"),
    *("criterion_order.top1_flip_rate", "criterion_order.kendall_tau"),
    *("criterion_order.within_item_sd", "criterion_order.spearman_r"),
    "criterion_order.pair_accuracy",
    *("loss_order_p", "loss_position_p", "loss_stimulus_p", "loss_shape"),
    *("loss_kind_rate", "loss_kind_p", "position_component"),
    *("listwise_consensus.order_change_rate", "listwise_consensus.repeat_change_rate"),
}
"""Figures of earlier versions, which the examples still hold."""


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.parent.name)
def test_every_key_of_a_shipped_sheet_is_explained(path: Path) -> None:
    for axis in json.loads(path.read_text(encoding="utf-8"))["axes"]:
        for estimate in axis["estimates"]:
            key = Key.parse(estimate["key"])
            if not {key.name, f"{key.axis}.{key.name}"} & GONE:
                refer(estimate["key"])


def test_a_slip_gets_the_likely_keys() -> None:
    with pytest.raises(UsageError, match=r"score_order\.cramers_v"):
        judgesheet.explain("cramer_v")
    with pytest.raises(UsageError, match=r"candidate_order\.order_change_rate, criterion_order"):
        judgesheet.explain("order_change_rate")
    with pytest.raises(UsageError):
        judgesheet.explain("%%%")


def test_a_run_before_the_key_is_told_to_go() -> None:
    done = run("explain", "runs/judge", "score_order.loss_rate")
    assert done.returncode == 2
    assert "no run, only a key: judgesheet explain score_order.loss_rate" in done.stderr


PAIRS_OF_CALLS = [
    f"{axis}.{name}"
    for axis, names in {
        "score_order": ("order_change_rate", "repeat_change_rate", "excess_change_rate",
                        "order_flip_rate", "repeat_flip_rate", "excess_flip_rate"),
        "candidate_order": ("order_inconsistent", "order_change_rate", "repeat_change_rate"),
        "listwise_consensus": ("repeat_flip_rate",),
    }.items()
    for name in names
]  # fmt: skip


@pytest.mark.parametrize("key", PAIRS_OF_CALLS)
def test_a_rate_over_pairs_of_calls_says_what_n_counts(key: str) -> None:
    assert re.search(r"^n counts ", judgesheet.explain(key), re.MULTILINE)
