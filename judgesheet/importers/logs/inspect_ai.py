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
    status, scorers, unscored = None, dict[str, dict[str, Any]](), list[Row]()
    for record in records:
        status = record.cells.get("status", status)
        for sample in _samples(record):
            if not sample.cells.get("scores"):
                unscored += _unscored(sample)
                continue
            for row in _sample(sample):
                shared = {name: row.cells[name] for name in ("scorer", "graded", "grades")}
                scorers.setdefault(str(row.cells["scorer"]), shared)
                yield row
    for sample in unscored:
        yield from (Row(sample.where, {**sample.cells, **shared}) for shared in scorers.values())
    if not scorers and isinstance(status, str) and status != "success":
        raise StimuliError(
            f"the evaluation ended with status {status[:40]!r} and no sample was scored: run it "
            "again (`inspect eval-retry LOG`)"
        )


def _samples(record: Row) -> Iterator[Row]:
    if "samples" not in record.cells:
        yield record
        return
    for number, sample in enumerate(record.rows("samples"), start=1):
        where = f"{record.where}: sample {number}"
        yield Row(where, {**sample.cells, "eval": record.cells.get("eval")})


def _unscored(sample: Row) -> Iterator[Row]:
    """What is known of a sample that was answered and never scored: a lost call of each scorer."""
    output = sample.cells.get("output")
    answer = output.get("completion") if isinstance(output, Mapping) else None
    if answer:
        yield Row(sample.where, {**_about(sample, answer), "value": None, "scores": {}})


def _about(sample: Row, answer: Any) -> dict[str, Any]:
    name = sample.text("id")
    return {
        "sample": name,
        "response": f"{name}/{digest(str(answer))[:8]}",
        "epoch": sample.cells.get("epoch", 1),
        "metadata": sample.cells.get("metadata"),
    }


def _sample(sample: Row) -> Iterator[Row]:
    scores = sample.row("scores")
    values = {scorer: scores.row(scorer).cells.get("value") for scorer in scores.cells}
    offered = _offered(sample)
    for scorer in scores.cells:
        score, edit = _judged(scores.row(scorer))
        metadata = score.cells.get("metadata")
        lost = str(score.cells.get("explanation") or "").startswith(UNREADABLE)
        yield Row(
            sample.where,
            {
                **_about(sample, score.cells.get("answer")),
                "scorer": scorer,
                "graded": isinstance(metadata, Mapping) and "grading" in metadata,
                "value": None if lost else score.cells.get("value"),
                "edit": edit,
                "scores": values,
                "grades": offered.get(scorer, "I,P,C"),
                "grader": _grader(metadata),
            },
        )


def _judged(score: Row) -> tuple[Row, Any]:
    """A score as the scorer gave it, and the value that a person gave it later, None for none.

    An edited score keeps what it was first in its history, without the provenance of an edit.
    """
    history = score.rows("history") if score.cells.get("history") else []
    if not history or history[0].cells.get("provenance"):
        return score, None
    edited = any(edit.cells.get("value") != "UNCHANGED" for edit in history[1:])
    return history[0], score.cells.get("value") if edited else None


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
        "judge": "grader", "verdict": "value", "scale": "grades", "human": "edit",
    },
    marks=(frozenset({"samples", "eval"}), frozenset({"id", "epoch", "scores"})),
    where={"graded": "true"},
    lacks="Inspect asks its grader once per answer, with the grades in one order",
    checked="inspect-ai 0.3.285 (log version 2)",
)  # fmt: skip
