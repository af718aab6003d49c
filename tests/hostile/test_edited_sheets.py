"""A sheet whose figures contradict each other is refused by name; every sheet of ours is read."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judgesheet import gate, probe
from judgesheet.base.datasheet import from_json
from judgesheet.sheet import render
from tests.command import run, sentence

ROOT = Path(__file__).parents[2]
KEY = "score_order.order_flip_rate"
POLICY = f'[[limit]]\nkey = "{KEY}"\nmax = 0.99\n'
Edit = Callable[[dict[str, Any], dict[str, Any]], object]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sheet as it was written, and a policy beside it."""
    folder = tmp_path_factory.mktemp("run")
    probe("sim/fair", folder, axes=["score_order"], profile="smoke", pdf=False, cases=False)
    (folder / "policy.toml").write_text(POLICY)
    return folder


EDITS: dict[str, tuple[Edit, str]] = {
    "a value outside its interval": (lambda one, _: one.update(value=-7.0), "is outside its"),
    "an interval that ends before it begins": (
        lambda one, _: one.update(low=one["high"], high=one["low"]),
        "interval ends before it begins",
    ),
    "bounds that end before they begin": (
        lambda one, _: one["bounds"].update(low=1.0, high=0.0),
        "bounds ends before it begins",
    ),
    "bounds apart from the interval": (
        lambda one, _: one["bounds"].update(low=-0.9, high=-0.8),
        "is outside its range of bounds",
    ),
    "bounds without an interval": (
        lambda one, _: one.update(low=None, high=None),
        "bounds, but no interval",
    ),
    "a level of 0": (
        lambda one, _: one["bounds"].update(level=0.0),
        "the level of its range of bounds",
    ),
    "fewer calls than none": (lambda one, _: one.update(n=-1), "a negative count"),
    "a number as a text": (lambda one, _: one.update(value=str(one["value"])), "a valid number"),
    "a count as a text": (lambda one, _: one.update(n="12"), "a valid integer"),
    "a truth value as a number": (lambda one, _: one["bounds"].update(low=False), "a valid number"),
    "NaN": (lambda one, _: one.update(value=float("nan")), "NaN is not a number"),
    "infinity": (
        lambda one, _: one["bounds"].update(low=-float("inf")),
        "Infinity is not a number",
    ),
    "a key that is there twice": (
        lambda one, axis: axis["estimates"].append(one | {"value": one["low"]}),
        "occurs twice",
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_sheet_is_refused_by_name(written: Path, tmp_path: Path, name: str) -> None:
    edit, words = EDITS[name]
    data = json.loads((written / "datasheet.json").read_text())
    (axis,) = data["axes"]
    edit(next(one for one in axis["estimates"] if one["key"] == KEY), axis)
    said = _refused(written, tmp_path, json.dumps(data))
    assert KEY in said, said
    assert words in said, said


def test_more_calls_than_were_planned(written: Path, tmp_path: Path) -> None:
    data = json.loads((written / "datasheet.json").read_text())
    data["axes"][0]["answered"] = data["axes"][0]["planned"] + 1
    assert "score_order has " in _refused(written, tmp_path, json.dumps(data))


@pytest.mark.parametrize("other", [f'"value": 0.0, "key": "{KEY}"', '"high": 1e999'])
def test_what_no_editor_shows(written: Path, tmp_path: Path, other: str) -> None:
    """A name that is given twice, of which readers see one or the other; a number beyond all."""
    text = (written / "datasheet.json").read_text()
    at = f'"key": "{KEY}",'
    assert KEY in _refused(written, tmp_path, text.replace(at, f"{at} {other},", 1))


def _refused(written: Path, tmp_path: Path, text: str) -> str:
    sheet = tmp_path / "datasheet.json"
    sheet.write_text(text)
    return sentence(run("gate", sheet, "--policy", written / "policy.toml"))


def test_a_range_that_is_no_confidence_interval_proves_nothing(
    written: Path, tmp_path: Path
) -> None:
    key = "score_order.budget_r[k=2,arm=balanced]"
    policy = tmp_path / "policy.toml"
    policy.write_text(f'[[limit]]\nkey = "{key}"\nmin = -1.0\n')
    judged = gate(written, policy)
    (verdict,) = judged.verdicts
    assert (verdict.observed is None, verdict.status) == (False, "inconclusive"), verdict
    assert judged.decision is not None
    assert judged.decision.verdict == "not_proven"


@pytest.mark.parametrize(
    "sheet",
    [
        *(ROOT / "tests" / "golden").glob("*.json"),
        *(ROOT / "examples").glob("*/datasheet.json"),
    ],
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_sheets_of_earlier_versions_are_read(sheet: Path) -> None:
    assert from_json(sheet).axes


def test_a_mitigation_of_figures_that_are_not_there_is_left_out(written: Path) -> None:
    sheet = json.loads((written / "datasheet.json").read_text())
    lost = {"action": "ask an oracle", "before": "score_order.x", "after": "score_order.y"}
    sheet["axes"][0]["mitigations"].append({**lost, "calls": 2, "outcome": "helps"})
    assert b"ask an oracle" not in render(from_json(json.dumps(sheet)), "html")


@pytest.mark.parametrize(
    ("model", "more"),
    [
        ("sim/noisy?unreadable=0.2&refused=0.2", {"axes": ["score_order", "presentation"]}),
        ("sim/noisy?refused=1", {"axes": ["score_order", "listwise_consensus"]}),
        ("sim/constant", {"axes": ["score_order", "candidate_order"]}),
        ("sim/first-biased", {"axes": ["criterion_order"]}),
        ("sim/good", {"axes": ["score_order"], "logprobs": True}),
    ],
    ids=["losses", "refusing", "constant", "first-biased", "logprobs"],
)
def test_what_we_write_we_read(tmp_path: Path, model: str, more: dict[str, Any]) -> None:
    probe(model, tmp_path, profile="smoke", pdf=False, cases=False, **more)
    for sheet in tmp_path.rglob("datasheet.json"):
        assert from_json(sheet).axes
