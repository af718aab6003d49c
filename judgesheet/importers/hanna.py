"""HANNA: stories written to a prompt, each rated by three people on six criteria.

Two forms are read: the benchmark's `hanna_stories_annotations.csv`, one line per rater, and one
object per story with `prompt`, `response` and `criteria` (criterion -> ratings). All stories of a
prompt are one stimulus.
"""

from collections.abc import Iterator

from judgesheet.axis.shaping import Holds
from judgesheet.importers._piece import Choice, Format, Piece, Skip, key_of, own_rubrics
from judgesheet.importers._rows import Row

RUBRICS = own_rubrics("hanna")


def read(rows: Iterator[Row], choice: Choice) -> Iterator[Piece | Skip]:
    """The stories of the chosen systems; the form is told by the columns of each row."""
    for row in rows:
        piece = _annotation(row) if "Story" in row.cells else _story(row)
        yield piece if choice.keeps(piece.item) else Skip(row.where)


def _annotation(row: Row) -> Piece:
    """One rater's line of the benchmark's own table."""
    prompt = row.text("Prompt")
    return Piece(
        where=row.where,
        key=key_of(prompt),
        prompt=prompt,
        domain="story",
        item=row.text("Model"),
        text=row.text("Story"),
        human={name: row.numbers(name) for name in RUBRICS},
        rater=f"{row.text('Worker ID')} {row.cells.get('Assignment ID', '')}",
    )


def _story(row: Row) -> Piece:
    prompt, ratings = row.text("prompt"), row.row("criteria")
    return Piece(
        where=row.where,
        key=key_of(prompt),
        prompt=prompt,
        domain="story",
        id=row.optional("id"),
        item=row.optional("system") or "Human",
        text=row.text("response"),
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
