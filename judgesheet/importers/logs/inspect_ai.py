"""Inspect: `.eval` archives and JSON logs, with what each scorer said of each sample.

A row is what one scorer said of one sample in one epoch. A scorer that asks a model keeps the
question to it in the score's metadata (`grading`), and so is told from one that compares texts. The
same answer in two epochs is one response that was graded twice.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from judgesheet.base.errors import StimuliError
from judgesheet.base.records import digest
from judgesheet.importers._rows import Row
from judgesheet.importers.logs._log import LogFormat

UNREADABLE = "Grade not found in model output"
"""How the explanation begins where the grader gave no grade; older versions score that as wrong."""


def rows(records: Iterator[Row]) -> Iterator[Row]:
    """A row per sample and scorer, of an archive's samples or of a whole document.

    StimuliError where no sample was scored because the evaluation failed.
    """
    status, scored = None, 0
    for record in records:
        status = record.cells.get("status", status)
        for row in _samples(record):
            scored += 1
            yield row
    if not scored and isinstance(status, str) and status != "success":
        raise StimuliError(
            f"the evaluation ended with status {status[:40]!r} and no sample was scored: run it "
            "again (`inspect eval-retry LOG`)"
        )


def _samples(record: Row) -> Iterator[Row]:
    if "samples" not in record.cells:
        yield from _sample(record)
        return
    for number, sample in enumerate(record.rows("samples"), start=1):
        where = f"{record.where}: sample {number}"
        yield from _sample(Row(where, {**sample.cells, "eval": record.cells.get("eval")}))


def _sample(sample: Row) -> Iterator[Row]:
    if not sample.cells.get("scores"):
        return  # it failed, or the log was cut off before it was scored
    scores, name = sample.row("scores"), sample.text("id")
    values = {scorer: scores.row(scorer).cells.get("value") for scorer in scores.cells}
    offered = _offered(sample)
    for scorer in scores.cells:
        score = scores.row(scorer)
        metadata = score.cells.get("metadata")
        lost = str(score.cells.get("explanation") or "").startswith(UNREADABLE)
        yield Row(
            sample.where,
            {
                "sample": name,
                "response": f"{name}/{digest(str(score.cells.get('answer')))[:8]}",
                "epoch": sample.cells.get("epoch", 1),
                "scorer": scorer,
                "graded": isinstance(metadata, Mapping) and "grading" in metadata,
                "value": None if lost else score.cells.get("value"),
                "scores": values,
                "metadata": sample.cells.get("metadata"),
                "grades": offered.get(scorer, "I,P,C"),
                "grader": _grader(metadata),
            },
        )


def _grader(metadata: Any) -> str | None:
    """The model that answered the grading prompt."""
    said = metadata.get("grading") if isinstance(metadata, Mapping) else None
    last = said[-1] if isinstance(said, list) and said else None
    model = last.get("model") if isinstance(last, Mapping) else None
    return model if isinstance(model, str) else None


def _offered(sample: Row) -> dict[str, str]:
    """The grades that each scorer offers; a partial one is an option."""
    head = sample.cells.get("eval")
    scorers = head.get("scorers") if isinstance(head, Mapping) else None
    offered = {}
    for scorer in scorers if isinstance(scorers, list) else ():
        options = scorer.get("options") if isinstance(scorer, Mapping) else None
        if isinstance(options, Mapping):
            offered[str(scorer.get("name"))] = "I,P,C" if options.get("partial_credit") else "I,C"
    return offered


LOG = LogFormat(
    rows,
    columns={
        "stimulus": "sample", "item": "response", "repeat": "epoch", "metric": "scorer",
        "judge": "grader", "verdict": "value", "scale": "grades",
    },
    marks=(frozenset({"samples", "eval"}), frozenset({"id", "epoch", "scores"})),
    where={"graded": "true"},
    lacks="Inspect asks its grader once per answer, with the grades in one order",
    checked="inspect-ai 0.3.285 (log version 2)",
)  # fmt: skip
