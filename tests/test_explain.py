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
    reported = judgesheet.explain(key)
    assert reported.startswith(f"{key.partition('[')[0]}\n\n")
    assert inspect.cleandoc(figure.__doc__ or "") in reported


@pytest.mark.parametrize("axis", all_axes())
def test_every_key_of_a_run_is_explained(axis: str) -> None:
    for profile, spec in (("quick", "first-biased"), ("smoke", "unreadable")):
        for estimate in simulate(spec, profile, axis).result.estimates:
            refer(estimate.key)


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.parent.name)
def test_every_key_of_a_shipped_sheet_is_explained(path: Path) -> None:
    for axis in json.loads(path.read_text(encoding="utf-8"))["axes"]:
        for estimate in axis["estimates"]:
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
