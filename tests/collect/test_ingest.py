"""Recorded judgments: every figure that they allow, and a plain word about every other one."""

import importlib.util
import json
import sqlite3
import sys
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from judgesheet.base.errors import StimuliError
from judgesheet.base.records import AxisResult, MeasuredAxis
from judgesheet.collect import ingest as stage
from judgesheet.decide.effects import judged
from judgesheet.ledger.ledger import Ledger
from judgesheet.measuring.measure import measure
from judgesheet.stats.orders import balanced
from tests.command import run, sentence
from tests.simulate import SHARED, simulate

Record = dict[str, Any]
ORDERS = [list(order) for order in balanced(3)]
TRUE = [1, 2, 2, 3, 2, 2, 1, 3]
"""The score that an order-blind judge gives to the item of that number."""


def ingested(folder: Path, rows: Iterable[Record]) -> MeasuredAxis:
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    stage.ingest([path], folder / "ledger.sqlite")
    with Ledger.open(folder / "ledger.sqlite") as ledger:
        return measure(ledger).results[0]


def score(item: int, order: Sequence[int], arm: str, verdict: int, repeat: int = 0) -> Record:
    cell = {"item": f"s{item}/a", "arm": arm, "scale": 3, "order": list(order)}
    return {"axis": "score_order", "stimulus": f"s{item}", "cell": cell, "repeat": repeat,
            "verdict": verdict}  # fmt: skip


def people() -> list[Record]:
    return [
        {"human": {"axis": "score_order", "item": f"s{n}/a", "score": true + n / 100}}
        for n, true in enumerate(TRUE)
    ]


def values(result: MeasuredAxis) -> dict[str, float | None]:
    return {e.key.split(".", 1)[1]: e.value for e in result.estimates}


def notes(result: MeasuredAxis) -> dict[str, str]:
    return {e.key.split(".", 1)[1]: e.note for e in result.estimates}


def test_a_fixed_arm_alone_gives_noise_and_correlation_and_no_places(tmp_path: Path) -> None:
    rows = [score(n, [1, 2, 3], "fixed", true, repeat) for n, true in enumerate(TRUE)
            for repeat in range(2)]  # fmt: skip
    result = ingested(tmp_path, [*rows, *people()])
    found, why = values(result), notes(result)
    assert found["pearson_r[arm=fixed]"] == pytest.approx(1, abs=1e-3)
    assert found["repeat_change_rate"] == 0
    for key in ("cramers_v", "order_change_rate", "pearson_r[arm=balanced]"):
        assert found[key] is None
        assert "lack balanced orders" in why[key]
    reported = " ".join(result.caveats)
    assert "Not estimable from these records, because the records lack balanced orders" in reported
    assert "kendall_tau" in reported
    assert {row.key.split(".", 1)[1] for row in result.characteristics} >= {"cramers_v"}


def test_a_random_arm_alone_gives_correlation(tmp_path: Path) -> None:
    rows = [score(n, ORDERS[(n + k) % 6], "random", true, k) for n, true in enumerate(TRUE)
            for k in range(3)]  # fmt: skip
    found = values(ingested(tmp_path, [*rows, *people()]))
    assert found["pearson_r[arm=random]"] == pytest.approx(1, abs=1e-3)
    assert found["cramers_v"] is None


def test_orders_that_are_not_balanced_accuse_nobody(tmp_path: Path) -> None:
    rows = [score(n, order, "balanced", true) for n, true in enumerate(TRUE)
            for order in ORDERS[:2]]  # fmt: skip
    result = ingested(tmp_path, rows)
    found, why = values(result), notes(result)
    assert found["cramers_v"] is None
    assert "even shares" in why["cramers_v"]
    assert found["order_dependence_p"] == 1
    assert found["order_change_rate"] == 0
    shares = [e for e in result.estimates if ".position_share[" in e.key]
    assert all("UNBALANCED" in share.conditions for share in shares)
    assert not [one for one in judged(AxisResult.of(result)) if one.verdict == "shown"]


def test_items_read_under_different_orders_are_not_balanced(tmp_path: Path) -> None:
    rows = [score(n, ORDERS[n % 6], "balanced", true) for n, true in enumerate(TRUE)]
    result = ingested(tmp_path, rows)
    assert values(result)["cramers_v"] is None
    assert values(result)["order_dependence_p"] is None
    assert not [one for one in judged(AxisResult.of(result)) if one.verdict == "shown"]


def test_a_balanced_recording_has_every_place_figure(tmp_path: Path) -> None:
    rows = [score(n, order, "balanced", order[0]) for n in range(8) for order in ORDERS]
    found = values(ingested(tmp_path, rows))
    assert found["position_share[position=1]"] == 1
    assert found["cramers_v"] == 1
    assert (found["order_dependence_p"] or 1.0) < 0.01


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"axis": "scores"}, r"'scores'.*score_order"),
        ({"score": True}, "log.jsonl:9: a human row needs"),
        ({"score": 1, "ratings": [True, 1]}, "log.jsonl:9: a human row needs"),
        ({"score": -2e9}, "log.jsonl:9: a human score is beyond 1,000,000,000"),
        ({"score": 1, "ratings": [1e300, 1]}, "log.jsonl:9: a human score is beyond"),
    ],
)
def test_a_human_row_that_cannot_be_meant_is_named(
    tmp_path: Path, changes: Record, words: str
) -> None:
    rows = [score(n, [1, 2, 3], "fixed", true) for n, true in enumerate(TRUE)]
    row = {"human": {"axis": "score_order", "item": "s0/a", "score": 1, **changes}}
    with pytest.raises(StimuliError, match=words):
        ingested(tmp_path, [*rows, row])


def test_human_rows_may_be_more_than_judgments_but_not_all_strangers(tmp_path: Path) -> None:
    rows = [score(n, [1, 2, 3], "fixed", true) for n, true in enumerate(TRUE)]
    stranger = {"human": {"axis": "score_order", "item": "s0-a", "score": 1}}
    assert values(ingested(tmp_path, [*rows, *people(), stranger]))["pearson_r[arm=fixed]"]
    with pytest.raises(StimuliError, match="'s0-a'"):
        ingested(tmp_path, [*rows, stranger])


def comparison(task: int, order: str, verdict: object, repeat: int = 0, **cell: Any) -> Record:
    shown = {"condition": "natural", "pair": "a-b", "order": list(order), **cell}
    return {"axis": "candidate_order", "stimulus": f"q{task}", "cell": shown, "repeat": repeat,
            "verdict": verdict}  # fmt: skip


def test_pairs_in_one_order_say_that_they_were_not_swapped(tmp_path: Path) -> None:
    result = ingested(tmp_path, [comparison(n, "uv", 1) for n in range(8)])
    found, why = values(result), notes(result)
    assert found["positional_false_preference[set=natural]"] is None
    assert "in one order only" in why["positional_false_preference[set=natural]"]
    assert "condition vacuum" in why["dark_current[kind=empty]"]
    assert "cell.better" in why["target_sensitivity[set=natural]"]
    assert "condition ladder" in why["threshold75"]


def test_a_better_response_makes_accuracy_estimable(tmp_path: Path) -> None:
    rows = [comparison(n, order, 1, better="u") for n in range(8) for order in ("uv", "vu")]
    found = values(ingested(tmp_path, rows))
    assert found["target_sensitivity[set=natural]"] == 0.5
    assert found["positional_false_preference[set=natural]"] == 1


def test_a_probe_lists_nothing_as_missing() -> None:
    result = simulate("fair", profile="smoke").result
    assert not any("these records" in caveat for caveat in result.caveats)


# -- the converters under examples/ ----------------------------------------------------------------


def converters() -> ModuleType:
    path = Path(__file__).parents[2] / "examples" / "recorded_logs.py"
    spec = importlib.util.spec_from_file_location("recorded_logs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def converted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object
) -> list[Record]:
    monkeypatch.setattr(sys, "argv", ["recorded_logs.py", *map(str, arguments)])
    converters().main()
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    ("name", "judge", "expected"),
    [
        ("judging_the_judges", "gpt-4-0613", 0.181),
        ("qlora_vicuna_pairwise", None, 0.386),
    ],
)
def test_public_verdicts_become_a_sheet(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    judge: str | None,
    expected: float,
) -> None:
    log = SHARED / "data" / f"recorded_judgments_{name}.jsonl.gz"
    if not log.is_file():
        pytest.skip("the public logs are not here")
    chosen = ["--judge", judge] if judge else []
    found = values(ingested(tmp_path, converted(monkeypatch, capsys, "pairs", log, *chosen)))
    assert found["order_inconsistent[set=natural]"] == pytest.approx(expected, abs=5e-4)


def test_public_scores_in_one_order_correlate_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = SHARED / "data" / "recorded_judgments_hanna_llm_pointwise.jsonl.gz"
    if not log.is_file():
        pytest.skip("the public logs are not here")
    rows = converted(
        monkeypatch, capsys, "hanna", log, "--judge", "ChatGPT", "--criterion", "Coherence"
    )
    result = ingested(tmp_path, rows)
    found = values(result)
    assert found["pearson_r[arm=fixed]"] == pytest.approx(0.551, abs=5e-4)
    assert found["cramers_v"] is None
    (r,) = [e for e in result.estimates if e.key == "score_order.pearson_r[arm=fixed]"]
    assert (r.n, r.clusters) == (1056, 96)


@pytest.mark.parametrize(
    ("axis", "cell", "field"),
    [
        ("candidate_order", {"condition": "natural", "pair": "a-b"}, "better"),
        ("listwise_consensus", {"item": "s", "arm": "permuted"}, "gold"),
    ],
)
def test_what_is_true_of_a_thing_must_not_change_with_the_order(
    tmp_path: Path, axis: str, cell: dict[str, Any], field: str
) -> None:
    """A log that marks the right slot instead of the right answer."""
    verdict = 1 if axis == "candidate_order" else {
        name: {"score": 9, "uncertain": False} for name in "uv"
    }  # fmt: skip
    rows = [
        {"axis": axis, "stimulus": "s", "verdict": verdict,
         "cell": {**cell, "order": order, field: order[0]}}
        for order in (["u", "v"], ["v", "u"])
    ]  # fmt: skip
    with pytest.raises(StimuliError, match=rf"log\.jsonl:2: cell\.{field}\b"):
        ingested(tmp_path, rows)


def test_people_who_rated_few_prompts_prove_no_perfect_judge(tmp_path: Path) -> None:
    rows = [score(n, order, "balanced", 1 + n % 3) for n in range(12) for order in ORDERS]
    rated = [
        {"human": {"axis": "score_order", "item": f"s{n}/a", "score": 1 + n % 3}} for n in range(3)
    ]
    result = ingested(tmp_path, [*rows, *rated])
    assert values(result)["pearson_r[arm=balanced]"] == 1
    verdicts = {one.key: one.verdict for one in judged(AxisResult.of(result))}
    assert verdicts["score_order.pearson_r[arm=balanced]"] == "inconclusive"


def test_following_the_prompts_is_no_sense_of_quality(tmp_path: Path) -> None:
    """The worse response of every prompt gets more, and prompts differ by more than that."""
    rows, rated = [], []
    for prompt in range(12):
        level = 1 + prompt % 2
        for name, more in (("a", 0), ("b", 1)):
            cell = {"item": f"s{prompt}/{name}", "arm": "balanced", "scale": 3}
            rows += [
                {"axis": "score_order", "stimulus": f"s{prompt}", "verdict": level + more,
                 "cell": {**cell, "order": order}}
                for order in ORDERS
            ]  # fmt: skip
            human = {"axis": "score_order", "item": cell["item"], "score": 4 * level - more}
            rated.append({"human": human})
    result = ingested(tmp_path, [*rows, *rated])
    assert (values(result)["pearson_r[arm=balanced]"] or 0) > 0.5
    assert values(result)["pair_accuracy"] == 0
    verdicts = {one.key: one.verdict for one in judged(AxisResult.of(result))}
    assert verdicts["score_order.pair_accuracy"] == "shown"


def test_a_log_must_not_contradict_itself(tmp_path: Path) -> None:
    rows = [score(0, ORDERS[0], "fixed", 1)]
    people = [{"human": {"axis": "score_order", "item": "s0/a", "score": n}} for n in (1, 1, 2)]
    with pytest.raises(StimuliError, match=r"log\.jsonl:4: s0/a\b"):
        ingested(tmp_path, [*rows, *people])
    line = json.dumps(rows[0])
    (tmp_path / "twice.jsonl").write_text(line.replace('"repeat"', '"verdict": 3, "repeat"'))
    with pytest.raises(StimuliError, match=r"twice\.jsonl:1: .*'verdict'"):
        stage.ingest([tmp_path / "twice.jsonl"], tmp_path / "l.sqlite")


def test_recorded_calls_have_the_ids_of_their_content(tmp_path: Path) -> None:
    rows = [score(item, order, "balanced", 2, repeat) for item in range(2) for order in ORDERS
            for repeat in range(2)]  # fmt: skip
    ingested(tmp_path, [{**row, "stimulus": f"é {row['stimulus']}"} for row in rows])
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        calls = list(ledger.calls())
        assert [call.id for call in calls] == [call.content_id() for call in calls]
        assert [call.cell for call in calls] == [row["cell"] for row in rows]
        assert [reply.text for reply in ledger.replies()] == ["2"] * len(rows)


def test_half_a_character_is_refused_wherever_it_stands(tmp_path: Path) -> None:
    plain = score(0, ORDERS[0], "fixed", 1)
    for row in (
        {**plain, "stimulus": "\ud800"},
        {**plain, "cell": {**plain["cell"], "item": "\ud800"}},
        {**plain, "remark": "\ud800"},
    ):
        with pytest.raises(StimuliError, match=r"log\.jsonl:2: "):
            ingested(tmp_path, [score(1, ORDERS[0], "fixed", 1), row])


def test_a_changed_log_does_not_pass_for_the_one_that_was_ingested(tmp_path: Path) -> None:
    def written(verdicts: Sequence[int]) -> Path:
        rows = [score(n, ORDERS[0], "balanced", one) for n, one in enumerate(verdicts)]
        path = tmp_path / "log.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    def verdicts() -> list[str]:
        with Ledger.open(out / "ledger.sqlite") as ledger:
            return [str(text) for *_, text, _, _ in ledger.answers()]

    out, how = tmp_path / "run", ("--no-pdf", "--no-cases")
    assert run("ingest", written(TRUE), "--out", out, *how).returncode == 0
    assert run("ingest", written(TRUE), "--out", out, *how).returncode == 0
    other = [4 - one for one in TRUE]
    assert "--fresh" in sentence(run("ingest", written(other), "--out", out, *how))
    assert verdicts() == [str(one) for one in TRUE]
    assert run("ingest", written(other), "--out", out, *how, "--fresh").returncode == 0
    assert verdicts() == [str(one) for one in other]
    assert (tmp_path / "run.old-1" / "ledger.sqlite").is_file()


def test_ingesting_again_writes_what_an_interrupted_run_left_out(tmp_path: Path) -> None:
    rows = [score(item, order, "balanced", 1) for item in range(3) for order in ORDERS]
    whole = values(ingested(tmp_path, rows))
    # Only `closing` closes: left to Python 3.13, the connection fails whichever test runs by then.
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as db, db:
        db.execute("DELETE FROM attempt WHERE rowid % 2")
    assert values(ingested(tmp_path, rows)) == whole
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        assert ledger.totals().attempts == ledger.totals().settled == len(rows)


def test_a_cut_line_is_left_out_and_reported(tmp_path: Path) -> None:
    rows = [
        score(item, ORDERS[0], "fixed", true, n) for item, true in enumerate(TRUE) for n in (0, 1)
    ]
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    (tmp_path / "log.jsonl").write_text(text[:-20], encoding="utf-8")
    done = run("ingest", tmp_path / "log.jsonl", "--out", tmp_path / "run", "--no-pdf")
    assert done.returncode == 0
    reported = "1 of 16 lines cannot be read (line 16) and counts as lost: log.jsonl:16: not JSON"
    assert reported in done.stderr
    looked = run("inspect-log", tmp_path / "log.jsonl")
    assert "line 16" in looked.stdout
