"""JudgeBench: two answers of one model to a hard question, one of them correct."""

from collections.abc import Iterator

from judgesheet.axis.shaping import Holds
from judgesheet.importers._piece import Format, ImportOptions, Piece, Skip
from judgesheet.importers._rows import Row

BETTER = {"A>B": "u", "B>A": "v"}


def read(rows: Iterator[Row], choice: ImportOptions) -> Iterator[Piece | Skip]:
    """Answer A as u, answer B as v, with the correct one marked."""
    for row in rows:
        better = BETTER.get(row.text("label"))
        if not choice.keeps(row.cells.get("response_model")):
            yield Skip(row.where)
        elif better is None:
            yield Skip(row.where, "a label other than A>B and B>A")
        else:
            for side, column in (("u", "response_A"), ("v", "response_B")):
                yield Piece(
                    where=row.where,
                    key=row.text("pair_id"),
                    prompt=row.text("question"),
                    source=row.optional("source"),
                    item=side,
                    text=row.text(column),
                    gold=side == better,
                )


FORMAT = Format(
    read,
    Holds.PAIR,
    licence="MIT (its data set card)",
    attribution=(
        "JudgeBench (Tan et al. 2024, arXiv 2410.12784); questions from MMLU-Pro, LiveBench and "
        "LiveCodeBench."
    ),
)
