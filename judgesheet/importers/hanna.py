"""HANNA: stories written to a prompt, each rated by three people on six criteria.

Two forms are read: the benchmark's `hanna_stories_annotations.csv`, one line a rater, and one
object a story with `prompt`, `response` and `criteria` (criterion -> ratings). All stories
of a prompt are one stimulus.
"""

from collections.abc import Iterator

from judgesheet.importers._piece import (
    Choice,
    Head,
    Piece,
    Row,
    Rows,
    Skip,
    key_of,
    mapping,
    numbers,
    optional_text,
    text,
    value,
)

NAME = "hanna"
AXES = ("criterion_order", "score_order")
LICENCE = "MIT"
ATTRIBUTION = (
    "HANNA (c) 2022 dig-team; Chhun, Colombo, Suchanek and Clavel, COLING 2022. Prompts and human "
    "stories come from r/WritingPrompts (Fan et al. 2018) and remain their writers'."
)
SCALE = (1.0, 5.0)
RUBRICS = {
    "Relevance": (
        "The story has nothing to do with the prompt.",
        "The story touches the prompt in one detail and then leaves it.",
        "The story keeps to the prompt in part; much of it could belong to another prompt.",
        "The story follows the prompt with one or two departures.",
        "The whole story grows out of the prompt and does what it asks.",
    ),
    "Coherence": (
        "The sentences do not connect; no event can be followed.",
        "Single passages make sense, but they do not join into one course of events.",
        "The course of events can be followed, with gaps or contradictions.",
        "The story makes sense throughout, apart from a small slip.",
        "Every event follows from what came before; nothing is left unclear by mistake.",
    ),
    "Empathy": (
        "The story gives no idea of what its characters feel.",
        "A feeling is named but nothing makes it believable.",
        "The reader understands what the characters feel without sharing it.",
        "The reader shares a character's feelings in some passages.",
        "The reader feels with the characters all through the story.",
    ),
    "Surprise": (
        "The end is plain from the first lines, or there is none.",
        "The end is what most readers expect, with one small turn before it.",
        "The end is partly expected; something in it is new.",
        "The end is a surprise that the story has prepared.",
        "The end overturns what the reader expected and still fits all that came before.",
    ),
    "Engagement": (
        "The reader wants to stop after a few lines.",
        "The reader goes on without interest.",
        "The story holds the attention now and then.",
        "The story holds the attention most of the time.",
        "The reader is drawn in at once and wants to know more to the end.",
    ),
    "Complexity": (
        "One bare event, told without detail.",
        "A few plain events in a row, with hardly a detail.",
        "Some development of plot, characters or setting.",
        "A worked-out plot with developed characters or setting.",
        "Several strands, developed characters and a rich setting that act on each other.",
    ),
}


def read(rows: Rows, choice: Choice) -> Iterator[Piece | Skip]:
    """The stories of the chosen systems; the form is told by the columns of each row."""
    for where, row in rows:
        piece = _annotation(where, row) if "Story" in row else _story(where, row)
        if choice.systems and piece.item not in choice.systems:
            yield Skip(where, "a system that was not chosen")
        else:
            yield piece


def _annotation(where: str, row: Row) -> Piece:
    """One rater's line of the benchmark's own table."""
    prompt = text(row, "Prompt", where)
    return Piece(
        where=where,
        key=key_of(prompt),
        head=Head(prompt=prompt, domain="story"),
        item=text(row, "Model", where),
        text=text(row, "Story", where),
        human={name: numbers(value(row, name, where), where, name) for name in RUBRICS},
        rater=f"{text(row, 'Worker ID', where)} {row.get('Assignment ID', '')}",
    )


def _story(where: str, row: Row) -> Piece:
    prompt, ratings = text(row, "prompt", where), mapping(row, "criteria", where)
    return Piece(
        where=where,
        key=key_of(prompt),
        head=Head(prompt=prompt, domain="story"),
        id=optional_text(row, "id", where) or "",
        item=optional_text(row, "system", where) or "Human",
        text=text(row, "response", where),
        human={name: numbers(value(ratings, name, where), where, name) for name in RUBRICS},
    )
