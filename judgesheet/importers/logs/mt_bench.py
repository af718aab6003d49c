"""MT-Bench as FastChat writes it: `MODEL_pair.jsonl` and `MODEL_single.jsonl`.

A line about a pair is two games, the second with the answers in the other order. Where such a line
was made of two single scores (`m1_score`), no pair was shown to the judge, and it is left out.
"""

from collections.abc import Iterator
from typing import Any

from judgesheet.base.errors import StimuliError
from judgesheet.importers._rows import Row
from judgesheet.importers.logs._log import LogFormat

UNREADABLE = -1  # what FastChat writes where it found no score


def single(records: Iterator[Row]) -> Iterator[Row]:
    """A row per score."""
    for record in records:
        score = record.cells.get("score")
        yield Row(
            record.where,
            {
                **_asked(record),
                "response": f"{record.text('question_id')}/{_turned(record, 'model')}",
                "score": None if score == UNREADABLE else score,
            },
        )


def pairs(records: Iterator[Row]) -> Iterator[Row]:
    """A row per game."""
    for record in records:
        if "m1_score" in record.cells:
            continue
        models = [_turned(record, "model_1"), _turned(record, "model_2")]
        for game, shown in (("g1_winner", models), ("g2_winner", models[::-1])):
            won = {"model_1": models[0], "model_2": models[1], "tie": "tie", "error": None}
            said = record.text(game)
            if said not in won:
                raise StimuliError(
                    f"{record.where}: {game} is {said[:60]!r}; it can be {', '.join(won)}"
                )
            named = {"first": shown[0], "second": shown[1], "winner": won[said]}
            yield Row(record.where, {**_asked(record), **named})


def _asked(record: Row) -> dict[str, Any]:
    judge = record.cells.get("judge")  # the model and the name of its prompt
    return {
        "question": record.text("question_id"),
        "turn": record.optional("turn") or "1",
        "judge": judge[0] if isinstance(judge, list) and judge else judge,
    }


def _turned(record: Row, column: str) -> str:
    """A model, as the author of its answer to this turn: both turns are about one question."""
    turn = record.optional("turn") or "1"
    return record.text(column) + ("" if turn == "1" else f" turn {turn}")


_COMMON = {"stimulus": "question", "judge": "judge"}
_CHECKED = "FastChat 0.2.36"

PAIRS = LogFormat(
    pairs,
    columns={**_COMMON, "first": "first", "second": "second", "verdict": "winner"},
    marks=(frozenset({"question_id", "model_1", "model_2", "g1_winner", "g2_winner"}),),
    lacks="FastChat asks once in each order",
    checked=_CHECKED,
)
SINGLE = LogFormat(
    single,
    columns={**_COMMON, "item": "response", "verdict": "score"},
    marks=(frozenset({"question_id", "model", "judge", "score", "turn"}),),
    lacks="MT-Bench asks for each score once",
    checked=_CHECKED,
    scale="1:10",
)
