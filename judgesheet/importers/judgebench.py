"""JudgeBench: two answers of one model to a hard question, one of them correct."""

from collections.abc import Iterator

from judgesheet.importers._piece import (
    Choice,
    Head,
    Piece,
    Rows,
    Skip,
    optional_text,
    text,
)

NAME = "judgebench"
AXES = ("candidate_order",)
LICENCE = "MIT (its data set card)"
ATTRIBUTION = (
    "JudgeBench (Tan et al. 2024, arXiv 2410.12784); questions from MMLU-Pro, LiveBench and "
    "LiveCodeBench."
)
SCALE = None
RUBRICS: dict[str, tuple[str, ...]] = {}
BETTER = {"A>B": "u", "B>A": "v"}


def read(rows: Rows, choice: Choice) -> Iterator[Piece | Skip]:
    """Answer A as u, answer B as v, with the correct one marked."""
    for where, row in rows:
        source = optional_text(row, "source", where) or ""
        better = BETTER.get(text(row, "label", where))
        if choice.systems and row.get("response_model") not in choice.systems:
            yield Skip(where, "a system that was not chosen")
        elif better is None:
            yield Skip(where, "a label other than A>B and B>A")
        else:
            head = Head(prompt=text(row, "question", where), source=source)
            for side, column in (("u", "response_A"), ("v", "response_B")):
                yield Piece(
                    where=where,
                    key=text(row, "pair_id", where),
                    head=head,
                    item=side,
                    text=text(row, column, where),
                    gold=side == better,
                )
