"""Formats whose records are rows already, or nearly so: mostly a map of their columns."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgesheet.base.records import digest
from judgesheet.importers._rows import Row, finite
from judgesheet.importers.logs._log import LogFormat


def as_they_are(records: Iterator[Row]) -> Iterator[Row]:
    """The records are the rows."""
    return records


def deepeval(records: Iterator[Row]) -> Iterator[Row]:
    """A row per test case and metric; the same answer to the same input is one response."""
    for record in records:
        run = record.row("testRunData") if "testRunData" in record.cells else record
        for number, case in enumerate(run.rows("testCases"), start=1):
            where = f"{record.where}: test case {number}"
            asked = case.cells.get("input")
            said = f"{asked}\n{case.cells.get('actualOutput')}"
            for metric in case.rows("metricsData") if case.cells.get("metricsData") else ():
                shared = {"case": f"c-{digest(str(asked))[:12]}", "response": digest(said)[:12]}
                more = {"reading": str(number), "test_case": case.cells, **metric.cells}
                more["score"] = None if metric.cells.get("error") else metric.cells.get("score")
                more["graded"] = bool(metric.cells.get("evaluationModel"))
                yield Row(where, {**shared, **more})


def alpaca_eval(records: Iterator[Row]) -> Iterator[Row]:
    """A row per comparison; the shown order is known only where a column says so."""
    for record in records:
        names = [record.optional(f"generator_{n}") or f"output_{n}" for n in (1, 2)]
        winner = _preferred(record.at("preference"), names)
        if str(record.cells.get("is_switched_outputs")).lower() in ("true", "1"):
            names.reverse()
        instruction = f"p-{digest(record.text('instruction'))[:12]}"
        pair = {"first": names[0], "second": names[1], "winner": winner, "question": instruction}
        yield Row(record.where, {"annotator": None, **record.cells, **pair})


def _preferred(preference: Any, names: Sequence[str]) -> Any:
    """Which output won; 0 and 1.5 are draws, and what AlpacaEval cannot write stays as it is."""
    number = finite(preference)
    if number in (0, 1.5):
        return "tie"
    if number is None or not 1 <= number <= 2:
        return preference
    # Weighted annotators write 1 plus the probability that the second wins.
    return names[number > 1.5]


def langsmith(records: Iterator[Row]) -> Iterator[Row]:
    """Feedback as it is; the rows of an experiment with `feedback.KEY` as `score` if it has one."""
    for record in records:
        keys = [name for name in record.cells if name.startswith("feedback.")]
        source: Any = record.cells.get("feedback_source")
        more: dict[str, Any] = {
            "by": source.get("type") if isinstance(source, Mapping) else source,
            "example": record.cells.get("example_id") or record.cells.get("run_id"),
            "run": record.cells.get("run_id") or record.cells.get("id"),
        }
        if "key" not in record.cells and len(keys) == 1:
            more |= {"key": keys[0].partition(".")[2], "score": record.cells[keys[0]]}
        yield Row(record.where, {**record.cells, **more})


def langfuse(records: Iterator[Row]) -> Iterator[Row]:
    """Scores of an export or of the API, whose names differ; a category's word is its value."""
    for record in records:
        cells = {_snake(name): cell for name, cell in record.cells.items()}
        word = cells.get("data_type") in ("CATEGORICAL", "TEXT")
        trace, part = cells.get("trace_id"), cells.get("observation_id")
        more = {
            "trace": trace or cells.get("session_id"),
            "scored": f"{trace}/{part}" if part else trace or cells.get("session_id"),
            "said": cells.get("string_value") if word else cells.get("value"),
        }
        yield Row(record.where, {**cells, **more})


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


PLAIN = LogFormat(
    as_they_are, columns={}, marks=(), checked="", lacks="each stands alone in the mapped columns"
)
"""A table: the user's map says all."""

LOGS: Mapping[str, LogFormat] = {
    "deepeval": LogFormat(
        deepeval,
        columns={
            "stimulus": "case", "item": "response", "repeat": "reading", "metric": "name",
            "judge": "evaluationModel", "verdict": "score",
        },
        marks=(frozenset({"testCases", "metricsScores"}), frozenset({"testRunData"})),
        where={"graded": "true"},
        lacks="deepeval asks its judge once per test case, with one prompt",
        checked="deepeval 4.3.1",
    ),
    "alpaca-eval": LogFormat(
        alpaca_eval,
        columns={
            "stimulus": "question", "first": "first", "second": "second", "verdict": "winner",
            "judge": "annotator",
        },
        marks=(frozenset({"instruction", "output_1", "output_2", "preference"}),),
        lacks="AlpacaEval asks about each pair once, and does not record which it showed first",
        checked="alpaca-eval 0.6.6",
    ),
    "lm-eval": LogFormat(
        as_they_are,
        columns={"stimulus": "doc_id"},
        marks=(frozenset({"doc_id", "doc", "filtered_resps", "metrics"}),),
        lacks="lm-eval asks about each document once",
        checked="lm-eval 0.4.13",
    ),
    "langsmith": LogFormat(
        langsmith,
        columns={
            "stimulus": "example", "item": "run", "metric": "key", "by": "by", "verdict": "score",
        },
        marks=(
            frozenset({"run_id", "key", "score"}), frozenset({"example_id", "execution_time"}),
        ),
        lacks="LangSmith stores one score of a run per evaluator, not what the evaluator saw",
        people=frozenset({"app"}),
        checked="langsmith 0.15.0",
    ),
    "langfuse": LogFormat(
        langfuse,
        columns={
            "stimulus": "trace", "item": "scored", "metric": "name", "by": "source",
            "verdict": "said",
        },
        marks=(
            frozenset({"trace_id", "name", "value", "source", "data_type"}),
            frozenset({"traceId", "name", "value", "source", "dataType"}),
        ),
        lacks="Langfuse stores the score of a trace, not what the judge saw",
        people=frozenset({"ANNOTATION"}),
        checked="langfuse 5.0.4 (API) and the field reference of its export",
    ),
}  # fmt: skip
