"""HANNA: stories written to a prompt, each rated by three people on six criteria.

Two forms are read: the benchmark's `hanna_stories_annotations.csv`, one line per rater, and one
object per story with `prompt`, `response` and `criteria` (criterion -> ratings). All stories of a
prompt are one stimulus.
"""

from collections.abc import Iterator
from dataclasses import replace

from judgesheet.axis.shaping import Holds
from judgesheet.importers._piece import Format, ImportOptions, Piece, Skip, key_of, own_rubrics
from judgesheet.importers._rows import Row

RUBRICS = own_rubrics("hanna")


def read(rows: Iterator[Row], choice: ImportOptions) -> Iterator[Piece | Skip]:
    """The stories of the chosen systems; the columns of each row show its form."""
    for row in rows:
        piece = _annotation(row) if row.cells.get("Story") else _story(row)
        yield piece if choice.keeps(piece.item) else Skip(row.where)


def _annotation(row: Row) -> Piece:
    """One rater's line of the benchmark's own table."""
    rater = f"{row.text('Worker ID')} {row.cells.get('Assignment ID', '')}"
    piece = _piece(row, row.text("Prompt"), row.text("Model"), row.text("Story"), row)
    return replace(piece, rater=rater)


def _story(row: Row) -> Piece:
    system, text = row.optional("system") or "Human", row.text("response")
    piece = _piece(row, row.text("prompt"), system, text, row.row("criteria"))
    return replace(piece, id=row.optional("id"))


def _piece(row: Row, prompt: str, system: str, text: str, ratings: Row) -> Piece:
    return Piece(
        where=row.where,
        key=key_of(prompt),
        prompt=prompt,
        domain="story",
        item=system,
        text=text,
        human={name: ratings.numbers(name) for name in RUBRICS},
    )


FORMAT = Format(
    read,
    Holds.RATINGS,
    licence="MIT",
    attribution=(
        "HANNA (c) 2022 dig-team; Chhun, Colombo, Suchanek and Clavel, COLING 2022. Prompts and "
        "human stories come from r/WritingPrompts (Fan et al. 2018) and remain their writers'."
    ),
    scale=(1.0, 5.0),
    rubrics=RUBRICS,
)
