"""Logs of other tools: what they become, what they cannot, and where a bad one is bad.

The shapes are those that the tools wrote (versions: docs/ingest.md); the content is our own.
"""

import csv
import json
import shlex
import struct
import zipfile
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from judgesheet import ingest, inspect_log, load
from judgesheet.base.errors import JudgesheetError, StimuliError, UsageError
from judgesheet.base.scale import Scale
from judgesheet.commands import log_report
from judgesheet.importers import logs
from judgesheet.importers.logs import LogOptions, LogScale, opened, proposed, reader
from judgesheet.reading.verdicts import has_verdict
from tests.command import run, sentence

Record = dict[str, Any]
Told = dict[str, Any]


def lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def document(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")
    return path


def records_of(path: Path, **chosen: Any) -> list[Record]:
    """The recorded judgments of a log."""
    return [record for record, _ in logs.reader([path], LogOptions(**chosen)).records()]


def verdicts(rows: Iterable[Record]) -> list[Any]:
    return [row["verdict"] for row in rows if "verdict" in row]


# -- the formats -----------------------------------------------------------------------------------


def sample(number: int, epoch: int, grade: object, said: str = "") -> Record:
    """A sample of Inspect with a graded score and one that compares texts."""
    grading = [{"role": "user", "content": "?"}, {"role": "assistant", "model": "mock/grader"}]
    graded = {
        "value": grade, "answer": f"answer {number}", "explanation": said,
        "metadata": {"grading": grading}, "history": [],
    }  # fmt: skip
    return {
        "id": f"q{number}", "epoch": epoch, "input": "?", "target": "1",
        "scores": {"model_graded_qa": graded, "match": {"value": "C", "answer": "1"}},
        "metadata": {"rating": number}, "events": [],
    }  # fmt: skip


UNREAD = "Grade not found in model output: what?"
SAMPLES = [sample(1, 1, "C"), sample(1, 2, "I"), sample(2, 1, "P"), sample(2, 2, "I", UNREAD)]
HEAD = {
    "version": 2,
    "eval": {"scorers": [{"name": "model_graded_qa", "options": {"partial_credit": True}}]},
}


def archive(path: Path, members: Mapping[str, bytes], *, zstd: bool) -> Path:
    """A ZIP archive; with Zstandard, as Inspect packs by now, which Python 3.11 cannot write."""
    codec = pa.Codec("zstd")
    with zipfile.ZipFile(path, "w") as made:
        for name, content in members.items():
            packed = codec.compress(content, asbytes=True) if zstd else content
            made.writestr(name, packed)
        places = [info.header_offset for info in made.infolist()]
    if zstd:
        data = bytearray(path.read_bytes())
        for place in places:
            data[place + 8 : place + 10] = struct.pack("<H", 93)
        at = data.find(b"PK\x01\x02")
        for content in members.values():
            data[at + 10 : at + 12] = struct.pack("<H", 93)
            data[at + 24 : at + 28] = struct.pack("<I", len(content))
            at = data.find(b"PK\x01\x02", at + 4)
        path.write_bytes(bytes(data))
    return path


def inspect_archive(path: Path, *, zstd: bool) -> Path:
    members = {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in SAMPLES}
    content = {"header.json": HEAD, **members, "summaries.json": []}
    return archive(
        path, {name: json.dumps(one).encode() for name, one in content.items()}, zstd=zstd
    )


def inspect_document(path: Path) -> Path:
    return document(path, {**HEAD, "samples": SAMPLES})


@pytest.mark.parametrize(
    "make",
    [
        lambda path: inspect_archive(path / "log.eval", zstd=True),
        lambda path: inspect_archive(path / "log.eval", zstd=False),
        lambda path: inspect_document(path / "log.json"),
    ],
    ids=["zstd", "stored", "json"],
)
def test_inspect_grades_are_scores_and_equal_answers_are_read_again(
    tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    rows = records_of(make(tmp_path), form="inspect")
    assert verdicts(rows) == [3, 1, 2, None]
    assert [row["repeat"] for row in rows] == [0, 1, 0, 1]
    assert len({row["cell"]["item"] for row in rows}) == 2
    assert {row["cell"]["scale"] for row in rows} == {3}


def test_what_people_or_another_scorer_said_is_mapped(tmp_path: Path) -> None:
    log = inspect_document(tmp_path / "log.json")
    rows = records_of(log, form="inspect", columns={"human": "scores.match"})
    assert [row["human"]["ratings"] for row in rows if "human" in row] == [[3]] * 4
    ingest(log, tmp_path / "run", form="inspect", columns={"human": "scores.match"}, pdf=False)


def outcome(test: int, prompt: int, score: object, chosen: bool, reason: str = "so") -> Record:
    """A result of promptfoo with a rubric, a comparison of texts and a selection."""
    parts = [
        {"assertion": {"type": "llm-rubric", "value": "polite", "metric": "polite"},
         "pass": True, "score": score, "reason": reason},
        {"assertion": {"type": "contains", "value": "a"}, "pass": True, "score": 1},
        {"assertion": {"type": "select-best", "value": "best"}, "pass": chosen, "score": chosen},
    ]  # fmt: skip
    return {
        "id": f"r{test}{prompt}", "testIdx": test, "promptIdx": prompt, "provider": {"id": "echo"},
        "response": {"output": f"out {test} {prompt}"}, "vars": {"rating": test},
        "gradingResult": {"pass": True, "score": 1, "componentResults": parts},
    }  # fmt: skip


OUTCOMES = [outcome(t, p, [0, 0.5, 1][(t + p) % 3], p == t % 2) for t in range(3) for p in (0, 1)]


@pytest.mark.parametrize("kind", ["json", "jsonl"])
def test_promptfoo_rubrics_are_scores_and_selections_comparisons(tmp_path: Path, kind: str) -> None:
    whole = {"evalId": "e", "results": {"version": 3, "results": OUTCOMES}}
    path = tmp_path / f"out.{kind}"
    log = document(path, whole) if kind == "json" else lines(path, OUTCOMES)
    rows = records_of(log, form="promptfoo", scale="0:1:0.5", columns={"human": "vars.rating"})
    assert verdicts(rows) == [1, 2, 2, 3, 3, 1]
    pairs = records_of(log, form="promptfoo-select-best", columns={"better": "shown"})
    assert verdicts(pairs) == [1, 2, 1]
    again = [{**one, "testIdx": 9, "id": f"{one['id']} again"} for one in OUTCOMES[:2]]
    twice = records_of(lines(tmp_path / "twice.jsonl", [*OUTCOMES, *again]), form="promptfoo",
                 scale="0:1:0.5")  # fmt: skip
    assert [row["repeat"] for row in twice] == [0, 0, 0, 0, 0, 0, 1, 1]
    assert {tuple(row["cell"]["order"]) for row in pairs} == {("u", "v")}


def test_promptfoo_a_grader_without_an_answer_gave_no_score(tmp_path: Path) -> None:
    lost = outcome(3, 0, 0, True, "Could not extract JSON from llm-rubric response")
    log = lines(tmp_path / "out.jsonl", [*OUTCOMES, lost])
    rows = records_of(log, form="promptfoo", scale="0:1:0.5", columns={"human": "vars.rating"})
    assert verdicts(rows)[-1] is None


def test_promptfoo_the_best_of_three_is_no_comparison(tmp_path: Path) -> None:
    log = lines(tmp_path / "out.jsonl", [outcome(0, p, 1, p == 1) for p in range(3)])
    with pytest.raises(StimuliError, match=r"out\.jsonl:1: .*\b3\b"):
        records_of(log, form="promptfoo-select-best")


def game(question: int, one: str, two: str, turn: int = 1) -> Record:
    return {"question_id": question, "model_1": "a", "model_2": "b", "g1_winner": one,
            "g2_winner": two, "judge": ["gpt-4", "pair-v2"], "turn": turn}  # fmt: skip


GAMES = [
    game(1, "model_1", "model_1"),
    game(2, "model_1", "model_2"),
    game(2, "tie", "error", 2),
    {**game(3, "tie", "tie"), "m1_score": 5, "m2_score": 5},
]


def test_both_games_of_mt_bench_are_both_orders(tmp_path: Path) -> None:
    log = lines(tmp_path / "pair.jsonl", GAMES)
    rows = records_of(log, form="mt-bench-pairs")
    assert [one if has_verdict(one) else None for one in verdicts(rows)] == [
        1,
        2,
        1,
        1,
        "tie",
        None,
    ]
    assert [row["cell"]["order"] for row in rows[:2]] == [["u", "v"], ["v", "u"]]
    sheet = ingest(log, tmp_path / "run", form="mt-bench-pairs", pdf=False).datasheet
    assert sheet.judge.model == "recorded/gpt-4"
    (flips,) = [
        estimate
        for estimate in sheet.axes[0].estimates
        if estimate.key.endswith(".order_inconsistent[set=natural]")
    ]
    assert (flips.value, flips.clusters) == (0.5, 2)


def test_single_scores_of_mt_bench_need_fewer_points_and_a_truth(tmp_path: Path) -> None:
    rows = [
        {"question_id": q, "model": m, "judge": ["gpt-4", "single-v1"], "score": s, "turn": 1}
        for q, m, s in ((1, "a", 10), (1, "b", 7.5), (2, "a", -1))
    ]
    log = lines(tmp_path / "single.jsonl", rows)
    with pytest.raises(UsageError, match=r"0:100.*--scale 0:100:10 --round"):
        records_of(log, form="mt-bench-scores", scale="0:100")
    fewer = {"form": "mt-bench-scores", "scale": "1:10:1.5", "nearest": True}
    found = verdicts(records_of(log, **fewer, columns={"human": "turn"}))
    assert [one if has_verdict(one) else None for one in found] == [7, 5, None]
    with pytest.raises(StimuliError):
        records_of(log, **fewer)


def test_alpaca_eval_does_not_say_what_it_showed_first(tmp_path: Path) -> None:
    rows = [
        {"instruction": f"do {n}", "output_1": "x", "generator_1": "m", "output_2": "y",
         "generator_2": "ref", "annotator": "gpt", "preference": p}
        for n, p in enumerate((1.0, 1.8, 1.5, None))
    ]  # fmt: skip
    log = document(tmp_path / "annotations.json", rows)
    with pytest.raises(StimuliError, match="4 verdicts"):
        records_of(log, form="alpaca-eval")
    shown = [{**row, "is_switched_outputs": n > 0} for n, row in enumerate(rows)]
    again = [{**row, "is_switched_outputs": False} for row in rows]
    log = document(tmp_path / "both.json", [*shown, *again[1:]])
    assert verdicts(records_of(log, form="alpaca-eval")) == [1, 1, "tie", None, 2, "tie", None]


def test_deepeval_metrics_are_chosen_and_equal_cases_are_read_again(tmp_path: Path) -> None:
    def case(answer: str, *scores: float | None) -> Record:
        metrics = [
            {"name": name, "score": score, "evaluationModel": "j", "error": None}
            for name, score in zip(("Tone", "Fit"), scores, strict=True)
        ]
        return {"input": "q", "actualOutput": answer, "metricsData": metrics}

    whole = {"testCases": [case("a", 0.2, 1), case("a", 0.4, 1), case("b", None, 0)],
             "metricsScores": []}  # fmt: skip
    for log in (
        document(tmp_path / "run.json", whole),
        document(tmp_path / "latest.json", {"testRunData": whole}),
    ):
        with pytest.raises(StimuliError, match=r"case 1: .*'Fit'.*'Tone'"):
            records_of(log, form="deepeval", scale="0:1:0.2")
        rows = records_of(log, form="deepeval", scale="0:1:0.2", where={"name": "Tone"})
        assert verdicts(rows) == [2, 3, None]
        assert [row["repeat"] for row in rows] == [0, 1, 0]


def test_lm_eval_needs_the_column_of_the_verdict(tmp_path: Path) -> None:
    rows = [
        {"doc_id": n, "doc": {"gold": n}, "target": str(n), "filtered_resps": [str(n % 3)],
         "metrics": ["exact_match"], "exact_match": 0.0}
        for n in range(3)
    ]  # fmt: skip
    log = lines(tmp_path / "samples.jsonl", rows)
    with pytest.raises(UsageError, match="verdict"):
        records_of(log, form="lm-eval")
    columns = {"verdict": "filtered_resps.0", "human": "doc.gold"}
    assert verdicts(records_of(log, form="lm-eval", columns=columns, scale="0:2")) == [1, 2, 3]


def score_of(trace: str, value: object, source: str, **more: object) -> Record:
    return {"id": f"{trace}{source}{value}", "trace_id": trace, "observation_id": None,
            "name": "help", "value": value, "source": source, "data_type": "NUMERIC",
            "string_value": None, **more}  # fmt: skip


def test_langfuse_annotations_are_peoples(tmp_path: Path) -> None:
    rows = [
        score_of("t1", 3, "EVAL"),
        score_of("t1", 4, "ANNOTATION"),
        score_of("t2", 5, "EVAL"),
        score_of("t1", 2, "ANNOTATION"),
    ]
    log = lines(tmp_path / "scores.jsonl", rows)
    found = records_of(log, form="langfuse", scale="1:5")
    assert verdicts(found) == [3, 5]
    assert [row["human"]["ratings"] for row in found if "human" in row] == [[4, 2]]
    with (tmp_path / "scores.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    assert records_of(tmp_path / "scores.csv", form="langfuse", scale="1:5") == found
    words = [
        {"traceId": "t", "name": "n", "value": 0, "source": s, "dataType": "CATEGORICAL",
         "stringValue": word}
        for s, word in (("EVAL", "bad"), ("ANNOTATION", "good"))
    ]  # fmt: skip
    log = document(tmp_path / "api.json", words)
    found = records_of(log, form="langfuse", scale="bad,good")
    assert (verdicts(found), found[1]["human"]["ratings"]) == ([1], [2])


def test_langsmith_feedback_and_experiments(tmp_path: Path) -> None:
    feedback = [
        {"run_id": run, "key": "fit", "score": score, "feedback_source": {"type": who}}
        for run, score, who in (("r1", 0, "model"), ("r1", 1, "app"), ("r2", None, "model"))
    ]
    log = lines(tmp_path / "feedback.jsonl", feedback)
    found = records_of(log, form="langsmith", scale="0:1")
    assert (verdicts(found), found[-1]["human"]["ratings"]) == ([1, None], [1])
    table = pa.table(
        {"example_id": ["e1", "e2"], "id": ["r1", "r2"], "execution_time": [0.1, 0.2],
         "feedback.fit": [0.0, 1.0], "reference.rating": [1, 2]}
    )  # fmt: skip
    pq.write_table(table, tmp_path / "experiment.parquet")
    columns = {"human": "reference.rating"}
    found = records_of(
        tmp_path / "experiment.parquet", form="langsmith", scale="0:1", columns=columns
    )
    assert verdicts(found) == [1, 2]


# -- tables ----------------------------------------------------------------------------------------


def test_a_table_of_scores_under_several_orders(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    rows = [f"q{n},{order},{n % 3 + 1}\n" for n in range(4) for order in ('"1,2,3"', '"3,2,1"')]
    path.write_text("question_id,shown,score\n" + "".join(rows))
    done = run("ingest", path, "--map", "stimulus=question_id,verdict=score", "--map",
               "order=shown", "--scale", "1:3", "--out", tmp_path / "run", "--no-pdf")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "8 verdicts for score_order were read" in done.stderr
    assert (tmp_path / "run" / "datasheet.json").is_file()


@pytest.mark.parametrize("form", [None, "json"])
def test_a_list_and_lines_are_one_table(tmp_path: Path, form: str | None) -> None:
    rows = [{"q": n, "s": n, "h": n} for n in (1, 2)]
    chosen = {"form": form, "columns": {"item": "q", "verdict": "s", "human": "h"}, "scale": "1:2"}
    found = records_of(document(tmp_path / "list.json", rows), **chosen)
    assert verdicts(found) == [1, 2]
    assert records_of(lines(tmp_path / "lines.json", rows), **chosen) == found


def test_a_table_of_pairs_by_name_and_by_slot(tmp_path: Path) -> None:
    rows: list[Record] = [
        {"q": 1, "a": "x", "b": "y", "won": "x", "best": "y"},
        {"q": 1, "a": "y", "b": "x", "won": 1, "best": "first"},
        {"q": 2, "a": "x", "b": "y", "won": "tie", "best": None},
    ]
    columns = {"stimulus": "q", "first": "a", "second": "b", "verdict": "won", "better": "best"}
    found = records_of(lines(tmp_path / "p.jsonl", rows), columns=columns)
    assert verdicts(found) == [1, 1, "tie"]
    assert [row["cell"]["better"] for row in found] == ["v", "v", None]


def test_a_table_of_pairs_says_which_were_swapped(tmp_path: Path) -> None:
    rows = [{"q": 1, "of": ["x", "y"], "order": order, "won": 1} for order in ("AB", "BA")]
    columns = {"stimulus": "q", "first": "of.0", "second": "of.1", "swapped": "order",
               "verdict": "won"}  # fmt: skip
    found = records_of(lines(tmp_path / "p.jsonl", rows), columns=columns)
    assert [row["cell"]["order"] for row in found] == [["u", "v"], ["v", "u"]]
    with pytest.raises(StimuliError, match=r"p\.jsonl:1: order .*'cd'"):
        records_of(lines(tmp_path / "p.jsonl", [{**rows[0], "order": "CD"}]), columns=columns)


def test_a_table_of_criteria_and_one_of_lists(tmp_path: Path) -> None:
    rows = [
        {"id": "r", "shown": shown, "fit": 2, "tone": tone}
        for shown, tone in ((["fit", "tone"], 3), (["tone", "fit"], None))
    ]
    columns = {"item": "id", "order": "shown", "verdict.fit": "fit", "verdict.tone": "tone"}
    found = records_of(lines(tmp_path / "c.jsonl", rows), columns=columns, scale="1:5")
    assert verdicts(found) == [{"fit": 2, "tone": 3}, None]
    listed = {"q": 1, "shown": ["a", "b"], "points": {"a": 10, "b": 90}, "right": "b"}
    columns = {"stimulus": "q", "order": "shown", "candidates": "points", "gold": "right"}
    log = lines(tmp_path / "l.jsonl", [listed])
    assert verdicts(records_of(log, columns=columns))[0]["b"] == {"score": 90, "uncertain": False}
    axes = ingest(log, tmp_path / "run", columns=columns, pdf=False).datasheet.axes
    assert [axis.answered for axis in axes] == [1]


ONE = {"q": 1, "s": 3, "who": "j"}


@pytest.mark.parametrize(
    ("rows", "chosen", "words"),
    [
        ([ONE], {"columns": {"verdict": "s"}}, "item"),
        ([ONE], {"columns": {"verdict": "s", "item": "q", "mark": "s"}, "scale": "1:5"}, "mark"),
        ([ONE], {"columns": {"verdict": "s", "item": "q"}}, "--scale"),
        ([ONE], {"columns": {"verdict": "z", "item": "q"}, "scale": "1:5"},
         r"log\.jsonl:1: .*'z'"),
        ([ONE], {"columns": {"verdict": "s.t", "item": "q"}, "scale": "1:5"},
         r"log\.jsonl:1: .*\bs\.t\b"),
        ([ONE, {**ONE, "s": 9}], {"columns": {"verdict": "s", "item": "q"}, "scale": "1:5"},
         r"log\.jsonl:2: '9'.*1:5"),
        ([{**ONE, "s": 2.5}], {"columns": {"verdict": "s", "item": "q"}, "scale": "1:5"},
         r"log\.jsonl:1: '2\.5'.*--round"),
        ([ONE, {**ONE, "who": "k"}],
         {"columns": {"verdict": "s", "item": "q", "judge": "who"}, "scale": "1:5"},
         r"log\.jsonl:2: .*'k'.*'j'.*--where who="),
        ([ONE], {"columns": {"verdict": "s", "item": "q"}, "scale": "1:5", "where": {"q": "7"}},
         "q=7"),
        ([ONE], {"columns": {"verdict": "s", "item": "q"}, "scale": "5:1"}, "LOW:HIGH"),
        ([ONE], {"columns": {"verdict": "s", "item": "q"}, "scale": "1:2:0.3"}, "LOW:HIGH"),
        ([ONE], {"columns": {"verdict": "s", "item": "q"}, "scale": "1:5"},
         r"log\.jsonl: .*\b1 verdict,"),
        ([{"a": "x", "b": "x", "w": 1}],
         {"columns": {"first": "a", "second": "b", "verdict": "w"}}, "first.*second|x"),
        ([{"a": "x", "b": "y", "w": 3}],
         {"columns": {"first": "a", "second": "b", "verdict": "w"}}, r"log\.jsonl:1: w .*'3'"),
        ([{**ONE, "q": None}], {"columns": {"verdict": "s", "item": "q"}, "scale": "1:5"},
         r"log\.jsonl:1: q .*item"),
    ],
)  # fmt: skip
def test_every_fault_of_a_table_is_one_sentence(
    tmp_path: Path, rows: list[Record], chosen: Told, words: str
) -> None:
    with pytest.raises(JudgesheetError, match=words):
        records_of(lines(tmp_path / "log.jsonl", rows), **chosen)


def test_readings_that_nothing_tells_apart_are_refused(tmp_path: Path) -> None:
    rows = [{"q": 1, "s": 1, "n": n} for n in "ab"]
    log, columns = lines(tmp_path / "log.jsonl", rows), {"verdict": "s", "item": "q"}
    with pytest.raises(StimuliError, match=r"log\.jsonl:2: .*\brepeat\b"):
        ingest(log, tmp_path / "run", columns={**columns, "human": "s"}, scale="1:2", pdf=False)
    found = records_of(log, columns={**columns, "repeat": "n"}, scale="1:2")
    assert [row["repeat"] for row in found] == [0, 1]


@pytest.mark.parametrize(
    ("scale", "cell", "point"),
    [("1:5", "4.0", 4), ("0:1:0.25", 0.75, 4), ("no,yes", True, None), ("false,true", True, 2),
     ("I,P,C", "c", 3), ("1:5", float("nan"), None), ("1:5", "", None), ("-1:1", -1, 1)],
)  # fmt: skip
def test_a_score_is_a_point_of_its_scale(scale: str, cell: object, point: int | None) -> None:
    row = logs.Row("here:1", {})
    if (scale, cell) == ("no,yes", True):
        with pytest.raises(StimuliError, match=r"here:1: 'True'.*no,yes"):
            LogScale.of(scale).point(cell, row)
    else:
        assert LogScale.of(scale).point(cell, row) == point


# -- hostile files ---------------------------------------------------------------------------------


def bomb(path: Path) -> Path:
    """A sample that says that it is small and holds megabytes of nothing."""
    inner = b'{"id": "q", "epoch": 1, "scores": {}, "x": "' + b" " * 30_000_000 + b'"}'
    return archive(path, {"header.json": json.dumps(HEAD).encode(), "samples/a.json": inner},
                   zstd=True)  # fmt: skip


def scratched(path: Path, *, zstd: bool) -> None:
    """An archive with other bytes in the middle of a sample."""
    inner = bytes(range(256)) * 40
    archive(path, {"header.json": json.dumps(HEAD).encode(), "samples/a.json": inner}, zstd=zstd)
    data = bytearray(path.read_bytes())
    at = data.find(b"samples/a.json") + 60
    data[at : at + 40] = b"\xff" * 40
    path.write_bytes(bytes(data))


BAD: dict[str, Callable[[Path], object]] = {
    "bomb": bomb,
    "no log": lambda path: archive(path, {"a.txt": b"a"}, zstd=False),
    "cut off": lambda path: path.write_bytes(
        inspect_archive(path.with_name("whole"), zstd=True).read_bytes()[:-60]
    ),
    "garbage in it": lambda path: archive(path, {"header.json": b"{}", "samples/a.json": b"\xff"},
                                          zstd=True),
    "scratched": lambda path: scratched(path, zstd=False),
    "scratched, packed": lambda path: scratched(path, zstd=True),
    "only a list": lambda path: path.write_text("[1, 2]"),
    "no JSON": lambda path: path.write_text("{\n"),
    "deep": lambda path: path.write_text("[" * 200_000),
    "empty": lambda path: path.write_bytes(b""),
    "scores of another kind": lambda path: document(path, {**HEAD, "samples": [
        {"id": "q", "epoch": 1, "scores": [1]}]}),
    "samples that are none": lambda path: document(path, {**HEAD, "samples": {"a": 1}}),
    "named for the terminal": lambda path: document(path, {**HEAD, "samples": [
        {"id": "q\x1b[2J", "epoch": 1, "scores": {"\x1b]0;x\x07": 1}}]}),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_hostile_file_gets_one_sentence(tmp_path: Path, name: str) -> None:
    path = tmp_path / "log.json"
    BAD[name](path)
    commands: list[list[str | Path]] = [
        ["inspect-log", path],
        ["ingest", path, "--from", "inspect", "--out", "run"],
    ]
    for command in commands:
        done = run(*command, cwd=tmp_path)
        assert "\x1b" not in sentence(done, done.returncode)
        assert done.returncode in (1, 2)
    assert not (tmp_path / "run" / "ledger.sqlite").exists()


# -- inspect-log -----------------------------------------------------------------------------------


def test_inspect_log_says_what_a_log_allows_and_how_to_go_on(tmp_path: Path) -> None:
    log = lines(tmp_path / "pair.jsonl", GAMES)
    found = inspect_log(log)
    assert (found.form, found.verdicts, found.unreadable, found.stimuli) == (
        "mt-bench-pairs", 6, 1, 3,
    )  # fmt: skip
    assert "order_inconsistent[set=natural]" in " ".join(found.allows)
    assert any("condition vacuum" in why for why in found.missing)
    done = run("inspect-log", log)
    command = next(line for line in done.stdout.splitlines() if line.startswith("next"))
    words = command.split()[2:]
    assert run(*words[:-1], tmp_path / "run", "--no-pdf").returncode == 0
    assert json.loads(run("inspect-log", log, "--json").stdout)["form"] == "mt-bench-pairs"


def test_inspect_log_allows_what_the_sheet_then_has(tmp_path: Path) -> None:
    log = inspect_document(tmp_path / "log.json")
    found = inspect_log(log)
    sheet = ingest(log, tmp_path / "run", form="inspect", pdf=False).datasheet
    headline = {row.key for axis in sheet.axes for row in axis.characteristics}
    valued = {e.key for axis in sheet.axes for e in axis.estimates if e.value is not None}
    assert set(found.allows) == headline & valued


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.csv", "question_id,score\n1,2\n",
         "--map verdict=score,stimulus=question_id,human=COLUMN --scale LOW:HIGH"),
        ("u.csv", "chat,answer,score\n1,2,3\n", "stimulus=chat,item=answer"),
        ("v.csv", "chat,agent,score\n1,a,3\n1,b,4\n2,a,3\n2,b,1\n", "item=chat+agent"),
        ("w.csv", "chat,run,said,score\n1,x,p,3\n1,x,q,4\n2,x,r,3\n", "item=said"),
        ("t.json", '[{"id": 1, "x": 2}]', "t.json --map verdict=COLUMN,stimulus=COLUMN"),
        ("b.jsonl", '{"custom_id": "a", "response": {}}\n', "answers of an OpenAI batch"),
        ("s.jsonl", '{"doc_id": 1, "doc": 1, "filtered_resps": [], "metrics": []}\n',
         "--from lm-eval --map item=COLUMN,verdict=COLUMN --scale LOW:HIGH"),
        ("d.json", json.dumps({"testCases": [{"input": 1, "metricsData": [
            {"name": "N", "score": score, "evaluationModel": "j"}]} for score in (1, 0)],
            "metricsScores": 1}), "--from deepeval --scale 0:1 --out"),
        ("r.csv", "chat,agent,grade,label\n1,a,3,2\n1,b,4,5\n2,a,3,\n2,b,1,1\n",
         "human=label,item=chat+agent --scale 1:5 --out"),
        ("l.csv", "chat,model_a,model_b,winner,human\n1,x,y,x,3\n1,y,x,x,4\n",
         "verdict=winner,stimulus=chat,first=model_a,second=model_b --out"),
    ],
)  # fmt: skip
def test_inspect_log_proposes_and_guesses_nothing(
    tmp_path: Path, name: str, content: str, words: str
) -> None:
    (tmp_path / name).write_text(content)
    done = run("inspect-log", tmp_path / name)
    assert done.returncode == 0, done.stderr
    assert words in done.stdout


def test_a_proposed_map_from_which_nothing_would_follow_says_what_is_missing(
    tmp_path: Path,
) -> None:
    (tmp_path / "t.csv").write_text("chat,agent,grade\n1,a,3\n1,b,2\n2,a,5\n2,b,1\n")
    report = inspect_log(tmp_path / "t.csv")
    assert "item=chat+agent,human=COLUMN --scale LOW:HIGH" in report.draft
    assert not report.command
    (tmp_path / "t.csv").write_text("chat,agent,grade\n" + "1,a,3\n" * 2)
    assert "=COLUMN" not in inspect_log(tmp_path / "t.csv").draft


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"first": "a", "second": "b", "verdict": "w", "human": "h"}, "the field better"),
        ({"stimulus": "q", "verdict": "s", "better": "h"}, "the field human"),
        ({"stimulus": "q", "candidates": "c", "order": "o", "better": "s"}, "the field gold"),
    ],
)
def test_a_field_that_would_not_be_read_is_refused(
    columns: dict[str, str], words: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=f"does not apply to verdicts of this kind.*{words}"):
        records_of(lines(tmp_path / "log.jsonl", [{"q": 1}]), columns=columns)


def test_what_is_reported_of_a_stimulus_stands_beside_its_judgments(tmp_path: Path) -> None:
    rows = [graded(n, 1 + n % 5) | {"customer": "c", "question": "?"} for n in range(4)]
    path = lines(tmp_path / "log.jsonl", rows)
    about = {"group": "customer", "stimulus_text": "question"}
    plain = records_of(path, columns=COLUMNS, scale="1:5")
    known = {"group": "c", "stimulus_text": "?"}
    assert records_of(path, columns=COLUMNS | about, scale="1:5") == [row | known for row in plain]


def test_joined_columns_name_the_responses_of_systems(tmp_path: Path) -> None:
    rows = [
        {"chat": f"c{n // 2}", "agent": "ab"[n % 2], "score": 1 + n % 5, "people": 3}
        for n in range(6)
    ]
    path = lines(tmp_path / "log.jsonl", rows)
    columns = {"stimulus": "chat", "item": "chat+agent", "verdict": "score", "human": "people"}
    records = records_of(path, columns=columns, scale="1:5")
    cells = [row["cell"]["item"] for row in records if "cell" in row]
    assert cells == ["c0/a", "c0/b", "c1/a", "c1/b", "c2/a", "c2/b"]
    alone = ("--map", "stimulus=chat,item=agent,verdict=score,human=people", "--scale", "1:5")
    said = sentence(run("ingest", path, *alone, "--out", tmp_path / "run"))
    assert "item=chat+agent" in said
    assert "item=chat+agent" in run("inspect-log", path, *alone).stdout


def test_counts_of_a_part_and_columns_without_a_field_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_report, "MOST_REMEMBERED_ROWS", 4)
    rows = [{"chat": f"c{n // 2}", "agent": "ab"[n % 2], "Note": 1 + n % 5} for n in range(6)]
    path = lines(tmp_path / "log.jsonl", rows)
    proposed = run("inspect-log", path).stdout
    assert "left over: Note\n" in proposed
    named = ("--map", "stimulus=chat,item=chat+agent,verdict=Note,judge=agent", "--scale", "1:5")
    counted = run("inspect-log", path, *named).stdout
    assert "a (2), b (2); of the first 4 rows" in counted


def test_a_table_with_a_column_human_is_no_record_of_our_own(tmp_path: Path) -> None:
    rows = [{"item_id": f"i{n}", "criterion": "c", "human": [4, 5, 2]} for n in range(3)]
    assert inspect_log(lines(tmp_path / "table.jsonl", rows)).form == "table"


def test_inspect_log_reads_our_own_records(tmp_path: Path) -> None:
    cell = {"condition": "natural", "pair": "p"}
    axis = records_of(lines(tmp_path / "pair.jsonl", GAMES), form="mt-bench-pairs")[0]["axis"]
    rows = [
        {"axis": axis, "stimulus": "q", "cell": {**cell, "order": order}, "verdict": 1}
        for order in (["u", "v"], ["v", "u"])
    ]
    found = inspect_log(lines(tmp_path / "own.jsonl", rows))
    assert (found.form, found.verdicts, found.axes) == ("recorded judgments", 2, (axis,))


def test_inspect_log_meets_an_item_that_is_no_text(tmp_path: Path) -> None:
    cell = {"item": "s/a", "arm": "balanced", "scale": 3, "order": [1, 2, 3]}
    rows: list[dict[str, Any]] = [
        {"axis": "score_order", "stimulus": "s", "cell": cell, "verdict": 2},
        {"human": {"axis": "score_order", "item": "s/a", "ratings": [2]}},
        {"human": {"axis": "score_order", "item": ["s/a"], "ratings": [2]}},
    ]
    found = inspect_log(lines(tmp_path / "own.jsonl", rows))
    assert (found.verdicts, found.rated) == (1, 2)


def test_a_column_without_a_name_is_no_judge(tmp_path: Path) -> None:
    table = lines(
        tmp_path / "t.jsonl", [{"id": "a", "": "x", "v": 1}, {"id": "b", "": "y", "v": 2}]
    )
    found = inspect_log(table, columns={"item": "id", "verdict": "v"}, scale="1:2")
    assert found.values.keys() == {"verdict"}


def test_a_log_that_is_none_of_a_format_says_where_to_look(tmp_path: Path) -> None:
    log = lines(tmp_path / "pair.jsonl", GAMES)
    said = sentence(run("ingest", log, "--from", "deepeval", "--out", tmp_path / "run"), 2)
    assert "pair.jsonl is no log of deepeval" in said
    table = lines(tmp_path / "table.jsonl", [{"id": 1, "x": 2}])
    assert "inspect-log" in sentence(run("ingest", table, "--out", tmp_path / "run"))
    said = sentence(run("ingest", log, "--from", "nonsense", "--out", tmp_path / "run"), 2)
    assert "the formats are inspect, promptfoo" in said


# -- ordinary logs -------------------------------------------------------------------------------


def test_a_known_log_needs_no_name_of_its_format(tmp_path: Path) -> None:
    path = inspect_archive(tmp_path / "log.eval", zstd=True)
    done = run("ingest", path, "--map", "human=metadata.rating", "--out", tmp_path / "named",
               "--no-pdf", "--no-cases")  # fmt: skip
    assert done.returncode == 0, done.stderr
    alone = run("ingest", path, "--out", tmp_path / "alone", "--no-pdf", "--no-cases")
    assert alone.returncode == 0, alone.stderr
    assert "3 verdicts and 1 call without one for score_order" in alone.stderr


def test_people_may_have_a_scale_of_their_own(tmp_path: Path) -> None:
    rows = [
        {"id": f"q{n}", "grade": "IPC"[n % 3], "epoch": 1, "rating": (n % 3) / 2} for n in range(9)
    ]
    chosen = {"columns": {"item": "id", "verdict": "grade", "human": "rating"}, "scale": "I,P,C"}
    path = lines(tmp_path / "log.jsonl", rows)
    ratings = [row["human"]["ratings"] for row in records_of(path, **chosen) if "human" in row]
    assert ratings == [[0.0], [0.5], [1.0]] * 3
    points = records_of(path, **chosen, human_scale="0:1:0.5")
    assert [row["human"]["ratings"] for row in points if "human" in row] == [[1], [2], [3]] * 3
    strange = [*rows, {"id": "q9", "grade": "C", "epoch": 1, "rating": "C"}]
    with pytest.raises(StimuliError):
        records_of(lines(tmp_path / "mixed.jsonl", strange), **chosen)


def graded(number: int, grade: object) -> Record:
    return {"id": f"q{number // 2}", "grade": grade, "epoch": number % 2}


COLUMNS = {"item": "id", "verdict": "grade", "repeat": "epoch"}


def test_one_bad_verdict_does_not_refuse_a_file(tmp_path: Path) -> None:
    rows = [graded(n, "A/B?" if n in (6, 11, 39) else 1 + n % 5) for n in range(80)]
    path = lines(tmp_path / "log.jsonl", rows)
    judged = logs.reader([path], LogOptions(columns=COLUMNS, scale="1:5"))
    found = verdicts(record for record, _ in judged.records())
    assert [has_verdict(one) for one in found].count(False) == 3
    assert len(found) == 80
    (note,) = [note for note in judged.notes() if "cannot be read" in note]
    assert "3 of 80 rows cannot be read (lines 7, 12, 40)" in note
    counted = records_of(path, columns=COLUMNS, scale="1:5", unreadable=("A/B?",))
    assert [has_verdict(one) for one in verdicts(counted)].count(False) == 3
    assert len(verdicts(counted)) == 80
    with pytest.raises(StimuliError, match="19 of 80 rows"):
        records_of(path, columns=COLUMNS, scale="2:5")


def cut(path: Path, *numbers: int) -> Path:
    """The file with only the first half of some lines; the last of the file ends in the middle."""
    text = path.read_text(encoding="utf-8").splitlines()
    for number in numbers:
        text[number - 1] = text[number - 1][: len(text[number - 1]) // 2]
    path.write_text("\n".join(text), encoding="utf-8")
    return path


def test_a_cut_line_does_not_refuse_a_file(tmp_path: Path) -> None:
    path = lines(tmp_path / "log.jsonl", [graded(n, 1 + n % 5) for n in range(80)])
    cut(path, 1, 80)
    options = ("--map", "item=id,verdict=grade,repeat=epoch", "--scale", "1:5")
    done = run("ingest", path, *options, "--out", tmp_path / "run", "--no-pdf")
    assert done.returncode == 0
    assert "2 of 80 lines cannot be read (lines 1, 80) and count as lost" in done.stderr
    assert "78 verdicts" in done.stderr
    report = inspect_log(path, columns=COLUMNS, scale="1:5")
    assert report.fault == ""
    assert "lines 1, 80" in report.lost


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (lambda rows: json.dumps(rows, indent=1), r"log\.jsonl:1: not JSON"),
        (lambda rows: "[" + ",\n".join(map(json.dumps, rows)) + "]", r"log\.jsonl:1: not JSON"),
        # Its second line would be taken for a record.
        (
            lambda rows: "\n".join(
                [*map(json.dumps, rows), '{"of": [', json.dumps(rows[0]), "]}", json.dumps(rows[1])]
            ),
            r"log\.jsonl:81: not JSON",
        ),
        (lambda rows: "id;grade\n" + "\n".join("1;2" for _ in rows), "81 of 81 lines"),
    ],
    ids=["indented", "list", "one over several lines", "another kind"],
)
def test_parts_of_a_longer_document_are_no_lines(
    document: Callable[[list[Record]], str], words: str, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(document([graded(n, 1 + n % 5) for n in range(80)]), encoding="utf-8")
    with pytest.raises(StimuliError, match=words):
        records_of(path, columns=COLUMNS, scale="1:5")


def test_a_table_without_a_map_is_told_where_to_begin(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("question_id,score\n1,2\n")
    done = run("ingest", tmp_path / "t.csv", "--out", tmp_path / "run")
    assert done.returncode == 2
    assert "inspect-log" in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("one", "other"),
    [("model_a", "model_b"), ("answer_1", "answer_2"), ("Left answer", "Right answer")],
)
def test_a_table_of_pairs_is_proposed_its_sides(one: str, other: str, tmp_path: Path) -> None:
    row = {"question": "?", one: "x", other: "y", "winner": "x"}
    report = inspect_log(lines(tmp_path / "log.jsonl", [row]))
    assert f"first={one},second={other}" in report.draft
    assert "verdict=winner" in report.draft
    assert "item=" not in report.draft


def test_the_next_command_is_not_the_one_that_failed(tmp_path: Path) -> None:
    path = lines(tmp_path / "log.jsonl", [graded(n, 9) for n in range(8)])
    report = inspect_log(path, columns=COLUMNS, scale="1:5")
    assert report.fault
    assert report.command == ""
    options = ("--map", "item=id,verdict=grade,repeat=epoch", "--scale", "1:5")
    assert run("inspect-log", path, *options).returncode == 1


def test_rows_that_cannot_be_read_are_all_named_before_ingest(tmp_path: Path) -> None:
    rows = [
        {"q": f"q{n // 2}", "a": "xy"[n % 2], "b": "yx"[n % 2], "said": "x", "people": "y"}
        for n in range(40)
    ]
    rows[3]["b"], rows[7]["said"], rows[8]["said"] = "", "", "?"
    columns = {"stimulus": "q", "first": "a", "second": "b", "verdict": "said", "better": "people"}
    report = inspect_log(lines(tmp_path / "log.jsonl", rows), columns=columns)
    assert report.fault == ""
    assert "2 of 40 rows cannot be read (lines 4, 9)" in report.lost
    assert "log.jsonl:4: b is empty" in report.lost
    said = "\n".join(report.as_lines())
    assert "empty (1)" in said
    assert "the right answer is known for 39" in said
    assert "human ratings" not in said
    table = tmp_path / "log.csv"
    table.write_text("q,s\n1,2\n1\n1,3\n2,3,4\n2\n", encoding="utf-8")
    with pytest.raises(StimuliError, match=r"log\.csv:3: .*this line 1 .*others: 5, 6\)"):
        records_of(table, columns={"stimulus": "q", "verdict": "s"}, scale="1:5")


def test_rows_that_contradict_each_other_are_reported_by_their_column(tmp_path: Path) -> None:
    row = {"q": "q1", "said": "x", "people": "x"}
    rows = [{**row, "a": "x", "b": "y"}, {**row, "a": "y", "b": "x", "people": "tie"}]
    columns = {"stimulus": "q", "first": "a", "second": "b", "verdict": "said", "better": "people"}
    report = inspect_log(lines(tmp_path / "log.jsonl", rows), columns=columns)
    assert "log.jsonl:2: its people contradicts that of another row" in report.fault


@pytest.mark.parametrize(("has_runs", "item"), [(True, "chat_id+bot"), (False, None)])
def test_a_time_tells_no_responses_apart(has_runs: bool, item: str | None, tmp_path: Path) -> None:
    readings = enumerate(product(("c1", "c2"), "ab", "12"), start=1)
    rows = [
        f"2026-09-0{day}T10:00:00Z,{day},{chat},{bot},3,{run if has_runs else ''}"
        for day, (chat, bot, run) in readings
    ]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(["ts,number,chat_id,bot,grade,run", *rows]), encoding="utf-8")
    assert proposed([*opened(path, None).rows]).get("item") == item


def test_a_winner_is_of_two_responses_that_the_table_must_name(tmp_path: Path) -> None:
    shown = (f"c{chat},{place},ours,vendor" for chat in range(9) for place in ("AB", "BA"))
    path = tmp_path / "log.csv"
    path.write_text("\n".join(["chat_id,shown,winner,human_preferred", *shown]), encoding="utf-8")
    columns = proposed([*opened(path, None).rows])
    assert (columns["first"], columns["second"]) == (logs.UNKNOWN, logs.UNKNOWN)
    assert not {"item", "human"} & columns.keys()
    assert columns["better"] == "human_preferred"
    assert "--scale" not in inspect_log(path).draft


def test_a_system_under_many_questions_is_no_question(tmp_path: Path) -> None:
    rows = [{"nr": f"n{i}", "system": one, "score": 3} for i in range(9) for one in "ab"]
    columns = proposed([*opened(lines(tmp_path / "log.jsonl", rows), None).rows])
    assert (columns["stimulus"], columns["item"]) == (logs.UNKNOWN, "system")


def test_a_failed_evaluation_is_reported_by_its_status(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    sample = {"id": "a", "epoch": 1, "scores": None}
    log = {"version": 2, "status": "error", "eval": {}, "samples": [sample]}
    path.write_text(json.dumps(log), encoding="utf-8")
    with pytest.raises(StimuliError, match="'error'"):
        list(opened(path, None).rows)


# -- cells that are nearly something else ----------------------------------------------------------

SCORES = {"stimulus": "q", "item": "i", "repeat": "n", "verdict": "s", "human": "h"}


def scored_table(path: Path, rows: Iterable[tuple[Any, Any]]) -> Path:
    """A CSV of responses that were graded twice, with the ratings of people."""
    text = "".join(f"q{n // 2};a{n // 2};{n % 2};{s};{h}\n" for n, (s, h) in enumerate(rows))
    path.write_text(f"q;i;n;s;h\n{text}", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("cells", "more", "said"),
    [
        ((3, "nan"), {}, "leave the cell empty where there is none"),
        ((3, "7"), {"human_scale": "1:5"}, "say which it is with --human-scale"),
        ((3, "good"), {}, "if people rate on a different scale, give it: --human-scale"),
    ],
)
def test_a_cell_that_is_no_number_is_reported_with_what_helps(
    cells: tuple[Any, Any], more: dict[str, str], said: str, tmp_path: Path
) -> None:
    path = scored_table(tmp_path / "t.csv", [cells] * 4)
    with pytest.raises(StimuliError) as caught:
        records_of(path, columns=SCORES, scale="1:5", **more)
    assert said in str(caught.value)
    assert "with --scale" not in str(caught.value)


def test_a_missing_number_of_parquet_is_an_empty_cell(tmp_path: Path) -> None:
    rows = [
        {"q": f"q{n}", "i": f"i{n}", "s": float("nan") if n == 1 else 3.0,
         "h": float("nan") if n == 2 else 4.0}
        for n in range(4)
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
    columns = {"stimulus": "q", "item": "i", "verdict": "s", "human": "h"}
    records = records_of(tmp_path / "t.parquet", columns=columns, scale="1:5")
    assert verdicts(records) == [3, None, 3, 3]
    assert sum("human" in record for record in records) == 3


def test_true_and_false_of_people_are_words_as_those_of_the_judge(tmp_path: Path) -> None:
    rows = [{"q": f"q{n}", "s": n % 2 == 0, "h": n % 3 == 0} for n in range(6)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
    columns = {"stimulus": "q", "verdict": "s", "human": "h"}
    records = records_of(tmp_path / "t.parquet", columns=columns, scale="False,True")
    assert verdicts(records) == [2, 1, 2, 1, 2, 1]
    ratings = [record["human"]["ratings"] for record in records if "human" in record]
    assert ratings == [[2], [1], [1], [2], [1], [1]]


def test_calls_without_a_verdict_are_counted_apart(tmp_path: Path) -> None:
    rows = [("" if n == 3 else "n/a" if n == 7 else 3, 4) for n in range(40)]
    path = scored_table(tmp_path / "t.csv", rows)
    reader = logs.reader([path], LogOptions(columns=SCORES, scale="1:5"))
    assert len([record for record, _ in reader.records() if "verdict" in record]) == 40
    first, second, *_ = reader.notes()
    assert first.startswith("38 verdicts and 2 calls without one for score_order were read")
    assert second.startswith("1 of 40 rows cannot be read (line 9) and counts as lost")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"stimulus": "q", "verdict": "w", "swapped": "x"},
         "(score), which have item, verdict, order, scale, human; of a pair the map names two more "
         "columns, first and second"),
        ({"first": "a", "second": "b", "verdict": "w", "order": "o"},
         "(pair), which have first, second, swapped, verdict, again, better; all kinds have stim"),
        ({"first": "a", "second": "b", "verdict": "w", "human": "h"},
         "for the right answer use the field better"),
    ],
)  # fmt: skip
def test_a_field_that_is_not_read_is_reported_with_those_that_are(
    columns: dict[str, str], said: str, tmp_path: Path
) -> None:
    path = lines(tmp_path / "log.jsonl", [dict.fromkeys("qabwxoh", "1")])
    with pytest.raises(UsageError) as caught:
        records_of(path, columns=columns, scale="1:5")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("again", "verdict"), [("q0;a0;1;3;4", "the same"), ("q0;a0;1;2;4", "another")]
)
def test_a_line_that_occurs_twice_is_reported_with_the_other(
    again: str, verdict: str, tmp_path: Path
) -> None:
    path = scored_table(tmp_path / "t.csv", [(3, 4)] * 4)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{again}\n")
    with pytest.raises(StimuliError) as caught:
        ingest(path, tmp_path / "run", columns=SCORES, scale="1:5")
    assert "t.csv:6: the same question, response, order and reading as t.csv:3" in str(caught.value)
    assert f"with {verdict} verdict; drop one of the two lines" in str(caught.value)


def test_rows_of_two_settings_are_distinguished_by_a_column_that_is_left_out(
    tmp_path: Path,
) -> None:
    rows = [f"q{n},{order},first,{prompt}" for n in range(4) for order in ("AB", "BA")
            for prompt in ("short", "long")]  # fmt: skip
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["id,order,said,a,b,prompt", *(f"{row}" for row in rows)]), "utf-8")
    pairs = {"stimulus": "id", "swapped": "order", "verdict": "said", "first": "a", "second": "b"}
    path.write_text(path.read_text().replace("first,", "first,x,y,"), "utf-8")
    with pytest.raises(StimuliError, match=r"--where COLUMN=VALUE \(prompt\)$"):
        ingest(path, tmp_path / "run", columns=pairs)
    ingest(path, tmp_path / "run", columns=pairs, where={"prompt": "short"}, pdf=False)


@pytest.mark.parametrize(
    ("means", "verdicts"), [({}, [1, 1]), ({"1": "ours", "2": "theirs"}, [1, 2])]
)
def test_a_word_may_mean_a_response_whichever_slot_it_has(
    means: dict[str, str], verdicts: list[int], tmp_path: Path
) -> None:
    row = {"q": "Why?", "ours": "so", "theirs": "no", "said": "1", "said_swapped": "1"}
    path = lines(tmp_path / "log.jsonl", [row])
    columns = {"stimulus": "q", "first": "ours", "second": "theirs", "verdict": "said",
               "again": "said_swapped"}  # fmt: skip
    log = reader([path], LogOptions(columns=columns, verdicts=means))
    assert [record["verdict"] for record, _ in log.records()] == verdicts
    asked = [note for note in log.notes() if "--verdict 1=ours --verdict 2=theirs" in note]
    assert len(asked) == (not means), "where 1 is a slot or a response, the user is told"


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"first": "model_1", "second": "model_2", "swapped": "swapped"}, "1"),
        ({"first": "shown_first", "second": "shown_second"}, "2"),
        ({"first": "shown_first", "second": "shown_second"}, "output 2"),
    ],
)
def test_a_number_that_is_a_slot_and_another_response_is_asked_about(
    columns: dict[str, str], says: str, tmp_path: Path
) -> None:
    rows = [
        {"q": q, "model_1": "x", "model_2": "y", "shown_first": shown[0], "shown_second": shown[1],
         "swapped": shown == "yx", "won": says} for q in range(3) for shown in ("xy", "yx")
    ]  # fmt: skip
    path = lines(tmp_path / "log.jsonl", rows)
    columns = {"stimulus": "q", "verdict": "won", **columns}
    with pytest.raises(UsageError) as caught:
        records_of(path, columns=columns)
    side = says[-1]
    slots, responses = f"{says}={side}", f"{says}=model_{side}"
    assert all(shlex.quote(one) in str(caught.value) for one in (slots, responses))
    here, there = int(side), 3 - int(side)
    for option, expected in ((slots, [here, here]), (responses, [here, there])):
        means = dict([option.split("=")])
        log = reader([path], LogOptions(columns=columns, verdicts=means))
        assert [record["verdict"] for record, _ in log.records()] == expected * 3
    named = [{**row, "won": f"model_{side}"} for row in rows]
    assert verdicts(records_of(lines(path, named), columns=columns)) == [here, there] * 3


def test_one_response_per_question_is_why_no_winner_can_change(tmp_path: Path) -> None:
    path = scored_table(tmp_path / "t.csv", [(n % 3 + 1, 4) for n in range(24)])
    sheet = ingest(path, tmp_path / "run", columns=SCORES, scale="1:5", pdf=False).datasheet
    by_key = {one.key: one for one in sheet.axes[0].estimates}
    assert by_key["score_order.repeat_change_rate"].value is not None
    note = by_key["score_order.repeat_flip_rate"].note
    assert note == "no prompt has several candidates that were all read"


PROMPTS = [("p1", "a"), ("p1", "b"), ("p2", "c"), ("p2", "d")]


@pytest.mark.parametrize(
    ("header", "rows", "proposal"),
    [
        (
            "question_id,model_a,model_b,winner",
            ["q1,x,y,model_a", "q1,y,x,model_b", "q2,x,y,tie (bothbad)", "q2,y,x,model_a"],
            "--map verdict=winner,stimulus=question_id,first=model_a,second=model_b",
        ),
        (
            "prompt,response,human_score,llm_score",
            [f"{prompt},{text},{at},{at + 1}" for at, (prompt, text) in enumerate(PROMPTS, 1)],
            "--map verdict=llm_score,stimulus=prompt,item=response,human=human_score",
        ),
        (
            "inputs,outputs,relevance/v1/score,human_score",  # as MLflow writes its evaluations
            [f"{prompt},{text},{at},{at}" for at, (prompt, text) in enumerate(PROMPTS, 1)],
            "--map verdict=relevance/v1/score,stimulus=inputs,item=outputs,human=human_score",
        ),
    ],
)
def test_a_table_without_a_map_is_told_one_that_reads_it(
    header: str, rows: list[str], proposal: str, tmp_path: Path
) -> None:
    path = tmp_path / "a table.csv"
    path.write_text("\n".join([header, *rows]), encoding="utf-8")
    with pytest.raises(UsageError) as refused:
        reader([path], LogOptions())
    assert proposal in str(refused.value)
    assert f"inspect-log '{path}'" in str(refused.value), "as it must be typed"
    columns = dict(pair.split("=") for pair in proposal.removeprefix("--map ").split(","))
    assert len([*reader([path], LogOptions(columns=columns, scale="1:5")).records()]) >= len(rows)


def test_of_two_games_in_a_row_the_user_says_which_is_which(tmp_path: Path) -> None:
    games = [{"judgment": {"text": "…"}, "decision": won} for won in ("A>B", "A=B")]
    row = {"question": "Why?", "response_A": "so", "response_B": "no", "judgments": games}
    found = inspect_log(lines(tmp_path / "log.jsonl", [row]))
    assert all(f"judgments.{game}.decision" in found.to_say for game in (0, 1))
    assert "again=COLUMN" in found.to_say


def test_a_list_of_objects_is_several_readings(tmp_path: Path) -> None:
    rows = [{"uid": n, "runs": [{"score": n, "at": 1}, {"at": 2}, {"score": 3}]} for n in (1, 2)]
    path = lines(tmp_path / "log.jsonl", rows)
    found = records_of(path, columns={"stimulus": "uid", "verdict": "runs.score"}, scale="1:5")
    assert verdicts(found) == [1, None, 3, 2, None, 3]
    assert [row["repeat"] for row in found] == [0, 1, 2] * 2
    assert inspect_log(path).reads_as["verdict"] == "runs.score"


def test_pairs_as_alpaca_eval_writes_them_need_no_annotator(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("instruction,output_1,output_2,preference,best\nWhy?,so,no,2,2\n", "utf-8")
    (record, _) = next(reader([path], LogOptions(columns={"better": "best"})).records())
    assert record["verdict"] == 2


def spread_of(log: Path, scale: str, out: Path) -> tuple[float, Any]:
    """The spread of a response's grades in points, and the scale that the sheet names."""
    options = ("--map", "stimulus=q,item=a,repeat=run,verdict=grade", "--scale", scale)
    assert run("ingest", log, *options, "--out", out, "--no-pdf", "--no-cases").returncode == 0
    sheet = load(out)
    points = (one for one in sheet.axes[0].estimates if ".within_item_sd[" in one.key)
    (spread,) = (one.value for one in points if one.value is not None)
    return spread, sheet.provenance.scale


@pytest.mark.parametrize(("low", "step"), [(0.0, 0.25), (0.0, 25.0), (1.0, 1.5)])
def test_points_are_those_of_the_users_scale(low: float, step: float, tmp_path: Path) -> None:
    def log(name: str, low: float, step: float) -> Path:
        rows = (
            {"q": f"q{n // 4}", "a": f"a{n // 4}", "run": n % 4, "grade": low + step * (n * 7 % 5)}
            for n in range(48)
        )
        return lines(tmp_path / name, rows)

    plain, _ = spread_of(log("plain.jsonl", 1, 1), "1:5", tmp_path / "plain")
    scale = f"{low:g}:{low + 4 * step:g}:{step:g}"
    own, named = spread_of(log("own.jsonl", low, step), scale, tmp_path / "own")
    assert own == pytest.approx(step * plain)
    assert named == Scale(5, low, step)
