"""MT-Bench as LMSYS writes it: `question.jsonl` and a file of answers per model.

Give the question file and the answer files together, in any order. Questions have `question_id`
and `turns`, answers `question_id`, `model_id` and `choices`. There are no labels. Judging the
second turn (`--turn 2`) shows both of the user's turns and both answers.
"""

from collections.abc import Iterator, Sequence

from judgesheet.axis.shaping import Holds
from judgesheet.base.errors import StimuliError
from judgesheet.importers._piece import Format, ImportOptions, Piece, Skip
from judgesheet.importers._rows import Row


def read(rows: Iterator[Row], choice: ImportOptions) -> Iterator[Piece | Skip]:
    """Questions and answers, distinguished by their columns."""
    for row in rows:
        if not row.cells.get("choices"):
            yield _question(row, choice.turn)
        elif choice.keeps(row.cells.get("model_id")):
            yield _answer(row, choice.turn)
        else:
            yield Skip(row.where)


def _question(row: Row, turn: int) -> Piece | Skip:
    turns = row.texts("turns")
    if len(turns) < turn:
        return Skip(row.where, f"a question without turn {turn}")
    references = row.texts("reference") if row.cells.get("reference") else []
    return Piece(
        where=row.where,
        key=row.text("question_id"),
        prompt=_joined("User", turns[:turn]),
        domain=row.optional("category"),
        reference=_joined("Answer", references[:turn]) if len(references) >= turn else None,
    )


def _answer(row: Row, turn: int) -> Piece | Skip:
    choices = row.rows("choices")
    if not choices:
        raise StimuliError(f"{row.where}: choices is a list without an answer")
    turns = choices[0].texts("turns")
    if len(turns) < turn:
        return Skip(row.where, f"an answer without turn {turn}")
    return Piece(
        where=row.where,
        key=row.text("question_id"),
        item=row.text("model_id"),
        text=_joined("Answer", turns[:turn]),
    )


def _joined(who: str, turns: Sequence[str]) -> str:
    if len(turns) == 1:
        return turns[0]
    return "\n\n".join(f"{who} {number}: {turn}" for number, turn in enumerate(turns, start=1))


FORMAT = Format(
    read,
    Holds.ANSWERS,
    licence="Apache-2.0 for the questions; check the terms of the answers' models",
    attribution="MT-Bench (Zheng et al. 2023, LMSYS).",
)
