"""What a sheet says beforehand of agreement, on verdicts whose relation is planted."""

import json
from collections.abc import Iterator

import pandas as pd
import pytest

from validity import page
from validity.study import agreement, judged, rejected_less, spearman
from validity.verdicts import LOG, half, read, recorded

QUESTIONS = 40


def verdicts(model: str, setting: str, flips: int, wrong: int) -> Iterator[dict[str, object]]:
    """On `flips` of forty questions slot 1 wins, on `wrong` of the others the worse response."""
    for number in range(QUESTIONS):
        for order in ("AB", "BA"):
            shown = ("output_1", "output_2") if order == "AB" else ("output_2", "output_1")
            place = (7 * number) % QUESTIONS
            steady = "output_2" if place < flips + wrong else "output_1"
            winner = shown[0] if place < flips else steady
            yield {
                "judge": model,
                "setting": setting,
                "item_id": f"Natural/{number}",
                "order": order,
                "verdict": "first" if winner == shown[0] else "second",
                "winner": winner,
                "label": "output_1",
            }


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """Four models, the more their verdicts change with the order the less right."""
    folder = tmp_path_factory.mktemp("log")
    rows = [
        row for model, flips in (("a", 0), ("b", 8), ("c", 20), ("d", 32))
        for row in verdicts(model, "plain", flips, 2)
    ]  # fmt: skip
    (folder / LOG).write_text("\n".join(map(json.dumps, rows)))
    found = read(folder)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def rows(calls: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """Both halves of every judge."""
    return judged(calls, tmp_path_factory.mktemp("runs"))


def test_a_sheet_does_not_know_which_response_is_better(calls: pd.DataFrame) -> None:
    assert "output" not in json.dumps(list(recorded(calls)))


def test_a_planted_relation_is_found(rows: pd.DataFrame) -> None:
    found = spearman(rows, "order_inconsistent", "agreement")
    assert found is not None
    assert found.rho < -0.9
    assert (found.judges, found.models) == (4, 4)


def test_what_varies_in_no_judge_predicts_nothing(rows: pd.DataFrame) -> None:
    assert spearman(rows, "lost", "agreement") is None


def test_rejected_judges_agree_less(rows: pd.DataFrame) -> None:
    assert set(rows.loc[rows["model"] == "d", "decision"]) == {"reject"}
    gap = rejected_less(rows)
    assert gap is not None
    assert gap["value"] > 0


def test_agreement_counts_a_lost_call_half() -> None:
    calls = pd.DataFrame(
        {
            "stimulus": ["q", "q"],
            "order": ["AB", "BA"],
            "winner": ["output_1", None],
            "right": [1.0, 0.5],
        }
    )
    found = agreement(calls)
    assert (found["agreement"], found["decided"]) == (0.75, 0)


def test_halves_depend_on_the_question_alone() -> None:
    assert {half(f"Natural/{number}") for number in range(20)} == {"a", "b"}
    assert half("Natural/1") == half("Natural/1")


def test_the_chart_is_that_of_the_committed_figures() -> None:
    assert page.CHART.read_text("utf-8") == page.chart()
