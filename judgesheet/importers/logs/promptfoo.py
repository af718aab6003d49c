"""promptfoo: `--output results.json` or `.jsonl`, with every assertion on every output.

A row is one assertion on one output, or one comparison: `select-best` says of each output of a test
whether it was selected. Of more than two outputs only the winner is known, and no score.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from judgesheet.base.errors import StimuliError
from judgesheet.base.records import canonical_json, digest
from judgesheet.importers._rows import Row
from judgesheet.importers.logs._log import LogFormat

GRADED = frozenset(
    {
        *("llm-rubric", "model-graded-closedqa", "model-graded-factuality", "factuality", "g-eval"),
        *("answer-relevance", "context-faithfulness", "context-recall", "context-relevance"),
        *("conversation-relevance", "search-rubric", "agent-rubric", "trajectory:goal-success"),
    }
)
"""Assertions that ask a model for a score."""
SELECTED = "select-best"
_FAILURE = re.compile(
    r"API (call )?error|Request timed out|Rate limit|No output$|Could not extract JSON"
    r"|\S+ produced malformed response"
)
"""How promptfoo's own reasons begin where its grader failed; newer versions mark such results."""


def scores(records: Iterator[Row]) -> Iterator[Row]:
    """A row per assertion that gives an output a score."""
    for result in _results(records):
        for part in _parts(result):
            if part["type"] != SELECTED:
                yield Row(result.where, part)


def selections(records: Iterator[Row]) -> Iterator[Row]:
    """A row per test with two outputs and the selected one, in the order of their prompts."""
    chosen: defaultdict[str, list[tuple[Row, dict[str, Any]]]] = defaultdict(list)
    for result in _results(records):
        for part in _parts(result):
            if part["type"] == SELECTED:
                chosen[f"{part['run']} {part['metric']}"].append((result, part))
    for outputs in chosen.values():
        (at, one), (_, two) = _two(sorted(outputs, key=lambda entry: str(entry[1]["shown"])))
        winner = 1 if one["pass"] and not two["pass"] else 2 if two["pass"] else None
        pair = {"first": one["shown"], "second": two["shown"], "winner": winner}
        yield Row(at.where, {**one, **pair})


def _two(outputs: list[tuple[Row, dict[str, Any]]]) -> list[tuple[Row, dict[str, Any]]]:
    if len(outputs) != 2 or outputs[0][1]["shown"] == outputs[1][1]["shown"]:
        raise StimuliError(
            f"{outputs[0][0].where}: select-best chose among {len(outputs)} outputs; it is a "
            "comparison only with two prompts or providers, since the others get no score"
        )
    return outputs


def _results(records: Iterator[Row]) -> Iterator[Row]:
    """The results of a document, or of lines that are results."""
    for record in records:
        if record.cells.get("results") is None:
            yield record
            continue
        inner = record.cells["results"]
        holder = record.row("results") if isinstance(inner, Mapping) else record
        for number, result in enumerate(holder.rows("results"), start=1):
            yield Row(f"{record.where}: result {number}", result.cells)


def _parts(result: Row) -> Iterator[dict[str, Any]]:
    if not isinstance(result.cells.get("gradingResult"), Mapping):
        return  # the provider failed, or there was no assertion
    grading = result.row("gradingResult")
    if not grading.cells.get("componentResults"):
        return
    variables, provider = result.cells.get("vars"), result.cells.get("provider")
    # `--repeat` gives the same test another number; results of version 2 have none.
    number = result.optional("testIdx") or ""
    test = f"t-{digest(canonical_json(variables))[:12]}" if variables else number or result.where
    named = provider.get("label") or provider.get("id") if isinstance(provider, Mapping) else None
    prompt = result.optional("promptIdx") or digest(canonical_json(result.cells.get("prompt")))[:8]
    output = f"{prompt} {named or provider or ''}".strip()
    response = result.cells.get("response")
    said = response.get("output") if isinstance(response, Mapping) else response
    for part in grading.rows("componentResults"):
        if not isinstance(part.cells.get("assertion"), Mapping):
            continue
        asked = part.row("assertion").cells
        kind = str(asked.get("type"))
        metric = asked.get("metric") or f"{kind} {digest(canonical_json(asked.get('value')))[:6]}"
        yield {
            "test": test,
            "run": number or test,
            "output": f"{test}/{output}/{digest(str(said))[:8]}",
            "shown": output,
            "result": str(result.cells.get("id") or result.where),
            "type": kind,
            "graded": kind in GRADED,
            "metric": str(metric),
            "score": None if _failed(part) else part.cells.get("score"),
            "pass": part.cells.get("pass"),
            "vars": variables,
        }


def _failed(part: Row) -> bool:
    """Whether the grader failed, which promptfoo counts as a failed assertion of score 0."""
    metadata, reason = part.cells.get("metadata"), str(part.cells.get("reason"))
    is_marked = isinstance(metadata, Mapping) and bool(metadata.get("graderError"))
    return is_marked or (not part.cells.get("score") and _FAILURE.match(reason) is not None)


_MARKS = (
    frozenset({"evalId", "results"}),
    frozenset({"gradingResult", "testIdx", "promptIdx"}),
)
_CHECKED = "promptfoo 0.123.1 (results versions 2 and 3)"

LOG = LogFormat(
    {
        "stimulus": "test", "item": "output", "repeat": "result", "metric": "metric",
        "verdict": "score",
    },
    _MARKS,
    rows=scores,
    where={"graded": "true"},
    lacks="promptfoo asks its grader once per output, with one prompt",
    conventions=(
        "JSON or JSONL output (the CSV repeats its column names). Assertions that ask a model are "
        "scores (`llm-rubric`, `g-eval`, `factuality`, …); `--repeat` gives second readings if the "
        "output is the same.",
        "A grader that failed (an error, no output, a reply that is no JSON) is no score of 0: the "
        "call is lost.",
        "`--map human=vars.rating` reads human ratings from the variables.",
    ),
    checked=_CHECKED,
)  # fmt: skip
SELECT_BEST = LogFormat(
    {
        "stimulus": "test", "first": "first", "second": "second", "metric": "metric",
        "repeat": "run", "verdict": "winner",
    },
    _MARKS,
    rows=selections,
    lacks="select-best shows the outputs of a test once, in the order of the prompts",
    conventions=(
        "Reads `select-best` between two outputs as a comparison, always in the order of the "
        "prompts; with three or more outputs only the winner is known.",
    ),
    checked=_CHECKED,
)  # fmt: skip
