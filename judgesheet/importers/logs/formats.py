"""The logs of public tools, each as a map over its table.

A format says which columns hold what and which of its own words mean what; `docs/ingest.md` is
written from the same declaration. What is no table, as nested test runs, is made one by a function.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from judgesheet.base.records import digest
from judgesheet.importers._rows import Row
from judgesheet.importers.logs import inspect_ai, promptfoo
from judgesheet.importers.logs._log import LogFormat
from judgesheet.importers.words import NONE, finite


def deepeval(records: Iterator[Row]) -> Iterator[Row]:
    """A row per test case and metric; the same answer to the same input is one response."""
    for record in records:
        run = record.row("testRunData") if record.cells.get("testRunData") else record
        for number, case in enumerate(run.rows("testCases"), start=1):
            asked = str(case.cells.get("input"))
            about = {
                "case": f"c-{digest(asked)[:12]}",
                "response": digest(f"{asked}\n{case.cells.get('actualOutput')}")[:12],
                "reading": str(number),
                "test_case": case.cells,
            }
            for metric in case.rows("metricsData") if case.cells.get("metricsData") else ():
                cells = {"evaluationModel": None, **metric.cells}
                score = None if cells.get("error") else cells.get("score")
                graded = bool(cells["evaluationModel"])
                where = f"{record.where}: test case {number}"
                yield Row(where, {**about, **cells, "score": score, "graded": graded})


def arena_hard(records: Iterator[Row]) -> Iterator[Row]:
    """A row per question, with a name for the baseline, which version 0.1 does not write."""
    for record in records:
        yield Row(record.where, {**record.cells, "baseline": record.at("baseline") or "baseline"})


def alpaca_eval(records: Iterator[Row]) -> Iterator[Row]:
    """A row per comparison, with the preference as the name of an output."""
    for record in records:
        names = [record.optional(f"generator_{n}") or f"output_{n}" for n in (1, 2)]
        number = finite(record.cells.get("preference"))
        winner = record.cells.get("preference")
        if number in (0, 1.5):
            winner = "tie"
        elif number is not None and 1 <= number <= 2:
            winner = names[number > 1.5]
        pair = {"first": names[0], "second": names[1], "winner": winner}
        yield Row(record.where, {**record.cells, **pair})


def langsmith(records: Iterator[Row]) -> Iterator[Row]:
    """Feedback as it is; the rows of an experiment with `feedback.KEY` as `score` if it has one."""
    for record in records:
        keys = [name for name in record.cells if name.startswith("feedback.")]
        if record.cells.get("key") is None and len(keys) == 1:
            feedback = {"key": keys[0].partition(".")[2], "score": record.cells[keys[0]]}
            yield Row(record.where, {**record.cells, **feedback})
        else:
            yield record


def langfuse(records: Iterator[Row]) -> Iterator[Row]:
    """Scores; of a category the word is what was said."""
    for record in records:
        kind = record.at("data_type|dataType")
        said = "string_value|stringValue" if kind in ("CATEGORICAL", "TEXT") else "value"
        yield Row(record.where, {**record.cells, "said": record.at(said)})


def _marks(*columns: str) -> frozenset[str]:
    return frozenset(columns)


PLAIN = LogFormat({}, (), lacks="each stands alone in the mapped columns")
"""A table: the user's map says all."""

LOGS: Mapping[str, LogFormat] = {
    "inspect": inspect_ai.LOG,
    "promptfoo": promptfoo.LOG,
    "promptfoo-select-best": promptfoo.SELECT_BEST,
    "mt-bench-pairs": LogFormat(
        {
            "stimulus": "question_id+turn|question_id", "group": "question_id",
            "judge": "judge.0|judge", "first": "model_1", "second": "model_2",
            "verdict": "g1_winner", "again": "g2_winner",
        },
        (_marks("question_id", "model_1", "model_2", "g1_winner", "g2_winner"),),
        unless="m1_score",
        words={"error": NONE},
        lacks="FastChat asks once in each order",
        conventions=(
            "FastChat's `MODEL_pair.jsonl`. The two games of a line are the two orders: `model_1` "
            "wins the second game if it is better when shown second.",
            "A turn is a stimulus of its own; the turns of a question count as one.",
            "A line that was made of two single scores (`m1_score`) is no comparison and is left "
            "out; a game with `error` is unreadable.",
        ),
        checked="FastChat 0.2.36",
    ),
    "mt-bench-scores": LogFormat(
        {
            "stimulus": "question_id", "judge": "judge.0|judge",
            "item": "question_id+model+turn|question_id+model", "verdict": "score",
        },
        (_marks("question_id", "model", "judge", "score", "turn"),),
        words={"-1": NONE},
        lacks="MT-Bench asks for each score once",
        conventions=(
            "FastChat's `MODEL_single.jsonl`, scores from 1 to 10: a score of -1 is unreadable. "
            "(`stimuli import mt-bench` reads other files: the questions and the answers.)",
        ),
        checked="FastChat 0.2.36",
        scale="1:10",
    ),
    "arena-hard": LogFormat(
        {
            "stimulus": "uid|question_id", "judge": "judge", "first": "baseline", "second": "model",
            "verdict": "games.0.score", "again": "games.1.score",
        },
        tuple(_marks(name, "model", "judge", "games") for name in ("uid", "question_id")),
        rows=arena_hard,
        lacks="Arena-Hard asks once in each order",
        conventions=(
            "Arena-Hard-Auto's `model_judgment/JUDGE/MODEL.jsonl`. The first game shows the "
            "baseline as A and the model as B, the second the other way round.",
            "`A>>B` and `A>B` are both a win of A: the strength of a verdict is not read.",
        ),
        checked="arena-hard-auto 0.1 and 2.0",
    ),
    "deepeval": LogFormat(
        {
            "stimulus": "case", "item": "response", "repeat": "reading", "metric": "name",
            "judge": "evaluationModel", "verdict": "score",
        },
        (_marks("testCases", "metricsScores"), _marks("testRunData")),
        rows=deepeval,
        where={"graded": "true"},
        lacks="deepeval asks its judge once per test case, with one prompt",
        conventions=(
            "The JSON of a test run (the folder of `DEEPEVAL_RESULTS_FOLDER`, or "
            "`.deepeval/.latest_test_run.json`). Metrics without a model (`evaluationModel`) are "
            "left out, and those that ended in an error are unreadable.",
            "`--where name=METRIC` chooses a metric; equal test cases are second readings; "
            "`--map human=test_case.metadata.rating` reads human ratings.",
        ),
        checked="deepeval 4.3.1",
    ),
    "alpaca-eval": LogFormat(
        {
            "stimulus": "instruction", "first": "first", "second": "second", "verdict": "winner",
            "swapped": "is_switched_outputs", "judge": "annotator",
        },
        (_marks("instruction", "output_1", "output_2", "preference"),),
        rows=alpaca_eval,
        lacks="AlpacaEval asks about each pair once, and does not record which it showed first",
        conventions=(
            "`annotations.json`. A preference of 1 or 2 names an output, one between them the "
            "output that is nearer; 0 and 1.5 are draws.",
            "AlpacaEval shuffles the outputs and does not record which came first. The log is "
            "useful only if it holds each pair twice, with a column `is_switched_outputs` that is "
            "true for one of the two, or if the better output is known (`--map better=COLUMN`).",
        ),
        checked="alpaca-eval 0.6.6",
    ),
    "lm-eval": LogFormat(
        {"stimulus": "doc_id"},
        (_marks("doc_id", "doc", "filtered_resps", "metrics"),),
        lacks="lm-eval asks about each document once",
        conventions=(
            "`samples_*.jsonl` of `--log_samples`. Name the column with the judge's verdict: "
            "`--map verdict=filtered_resps.0` if the evaluated model is the judge, or a metric "
            "that a judge gave.",
        ),
        checked="lm-eval 0.4.13",
    ),
    "langsmith": LogFormat(
        {
            "stimulus": "example_id|run_id", "item": "run_id|id", "metric": "key",
            "by": "feedback_source.type|feedback_source", "verdict": "score",
        },
        (_marks("run_id", "key", "score"), _marks("example_id", "execution_time")),
        rows=langsmith,
        people=frozenset({"app"}),
        lacks="LangSmith stores one score of a run per evaluator, not what the evaluator saw",
        conventions=(
            "Feedback, one object per line, and an experiment as a table (`feedback.KEY` columns). "
            "Feedback with the source `app` comes from a person, all other from the judge.",
        ),
        checked="langsmith 0.15.0",
    ),
    "langfuse": LogFormat(
        {
            "stimulus": "trace_id|traceId|session_id|sessionId",
            "item": "trace_id+observation_id|traceId+observationId|trace_id|traceId|session_id|"
            "sessionId",
            "metric": "name", "by": "source", "verdict": "said",
        },
        (
            _marks("trace_id", "name", "value", "source", "data_type"),
            _marks("traceId", "name", "value", "source", "dataType"),
        ),
        rows=langfuse,
        people=frozenset({"ANNOTATION"}),
        lacks="Langfuse stores the score of a trace, not what the judge saw",
        conventions=(
            "Exported scores (JSON, JSONL, CSV, Parquet) in the names of the export or of the API. "
            "Scores with the source `ANNOTATION` come from people, all others from the judge.",
            "The verdict is the value; for a category and for text, its name.",
        ),
        checked="langfuse 5.0.4 (API) and the field reference of its export",
    ),
}  # fmt: skip
"""Every format by the name that the command line gives it."""


def fitting(columns: Any) -> str | None:
    """The format whose marks a table or a document has."""
    has = frozenset(columns)
    names = (name for name, log in LOGS.items() if any(marks <= has for marks in log.marks))
    return next(names, None)
