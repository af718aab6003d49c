"""MT-Bench as LMSYS writes it: `question.jsonl` and a file of answers per model.

Give the question file and the answer files together, in any order. Questions have `question_id`
and `turns`, answers `question_id`, `model_id` and `choices`. There are no labels. Judging the
second turn (`--turn 2`) shows both of the user's turns and both answers.
"""

from collections.abc import Iterator, Sequence

from judgesheet.errors import StimuliError
from judgesheet.importers._piece import (
    Choice,
    Head,
    Piece,
    Row,
    Rows,
    Skip,
    mapping,
    optional_text,
    text,
    texts,
    value,
)

NAME = "mt-bench"
AXES = ("listwise_consensus", "candidate_order", "score_order")
LICENCE = "Apache-2.0 for the questions; check the terms of the answers' models"
ATTRIBUTION = "MT-Bench (Zheng et al. 2023, LMSYS)."
SCALE = None
RUBRICS: dict[str, tuple[str, ...]] = {}


def read(rows: Rows, choice: Choice) -> Iterator[Piece | Skip]:
    """Questions and answers, told apart by their columns."""
    for where, row in rows:
        key = text(row, "question_id", where)
        if "choices" not in row:
            yield _question(where, row, key, choice.turn)
        elif choice.systems and row.get("model_id") not in choice.systems:
            yield Skip(where, "a system that was not chosen")
        else:
            yield _answer(where, row, key, choice.turn)


def _question(where: str, row: Row, key: str, turn: int) -> Piece | Skip:
    turns = texts(row, "turns", where)
    if len(turns) < turn:
        return Skip(where, f"a question without turn {turn}")
    references = texts(row, "reference", where) if row.get("reference") else []
    return Piece(
        where=where,
        key=key,
        head=Head(
            prompt=_joined("User", turns[:turn]),
            domain=optional_text(row, "category", where) or "",
            reference=_joined("Answer", references[:turn]) if len(references) >= turn else None,
        ),
    )


def _answer(where: str, row: Row, key: str, turn: int) -> Piece | Skip:
    choices = value(row, "choices", where)
    if not isinstance(choices, list) or not choices:
        raise StimuliError(f"{where}: choices is not a list with an answer")
    turns = texts(mapping({"choice": choices[0]}, "choice", where), "turns", where)
    if len(turns) < turn:
        return Skip(where, f"an answer without turn {turn}")
    return Piece(
        where=where,
        key=key,
        head=Head(),
        item=text(row, "model_id", where),
        text=_joined("Answer", turns[:turn]),
    )


def _joined(who: str, turns: Sequence[str]) -> str:
    if len(turns) == 1:
        return turns[0]
    return "\n\n".join(f"{who} {number}: {turn}" for number, turn in enumerate(turns, start=1))
