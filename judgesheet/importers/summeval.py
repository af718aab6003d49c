"""SummEval: summaries of news articles, rated by three experts and five crowd workers.

Two forms are read: the data set's `model_annotations.aligned.paired.jsonl` (the articles paired in
with its own script), and one object a summary with `article`, `summary`, `system`, and `expert` and
`turker` (criterion -> ratings). All summaries of an article are one stimulus.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgesheet.errors import StimuliError
from judgesheet.importers._piece import (
    Choice,
    Head,
    Piece,
    Row,
    Rows,
    Skip,
    mapping,
    numbers,
    text,
    value,
)

NAME = "summeval"
AXES = ("criterion_order", "score_order")
LICENCE = "MIT for annotations and summaries; the articles are CNN's and the Daily Mail's own"
ATTRIBUTION = (
    "SummEval (c) 2021 Fabbri, Kryściński, McCann, Xiong, Socher and Radev, TACL 2021; articles "
    "from CNN/DailyMail (Hermann et al. 2015)."
)
SCALE = (1.0, 5.0)
RUBRICS = {
    "coherence": (
        "The sentences stand side by side without any order.",
        "Some sentences belong together, but the summary does not read as one text.",
        "The text has an order, broken in places.",
        "The text is well ordered, with one sentence that does not fit.",
        "The sentences build on each other and read as one text about one thing.",
    ),
    "consistency": (
        "Most statements contradict the article or are not in it.",
        "Several statements are not supported by the article.",
        "One important statement is not supported by the article.",
        "Everything is supported, apart from one small detail.",
        "Every statement follows from the article.",
    ),
    "fluency": (
        "The sentences can hardly be read.",
        "Many sentences have errors that disturb reading.",
        "Some sentences have errors of grammar, spelling or form.",
        "One slip of grammar or form.",
        "Every sentence is well formed and easy to read.",
    ),
    "relevance": (
        "None of the article's main points is there.",
        "Side matters take most of the room; one main point is there.",
        "About half of the main points are there, or much is repeated.",
        "The main points are there, with a side matter too many.",
        "The main points, all of them, and nothing else.",
    ),
}
REQUEST = "Summarise this article in a few sentences:"
_SINGLE = {"expert": "expert", "crowd": "turker"}
_PAIRED = {"expert": "expert_annotations", "crowd": "turker_annotations"}


def read(rows: Rows, choice: Choice) -> Iterator[Piece | Skip]:
    """The summaries of the chosen systems with the ratings of the chosen raters."""
    for where, row in rows:
        paired = "decoded" in row
        system = text(row, "model_id" if paired else "system", where)
        if choice.systems and system not in choice.systems:
            yield Skip(where, "a system that was not chosen")
        else:
            yield _piece(where, row, system, choice.raters, paired=paired)


def _piece(where: str, row: Row, system: str, raters: str, *, paired: bool) -> Piece:
    if paired and "text" not in row:
        raise StimuliError(
            f"{where}: there is no article (text); pair the articles in with the data set's own "
            "script (pair_data.py) and import model_annotations.aligned.paired.jsonl"
        )
    article = text(row, "text" if paired else "article", where)
    key = text(row, "id" if paired else "article_id", where)
    column = (_PAIRED if paired else _SINGLE)[raters]
    human = (
        _by_rater(value(row, column, where), column, where)
        if paired
        else _by_criterion(mapping(row, column, where), where)
    )
    return Piece(
        where=where,
        key=key,
        head=Head(prompt=f"{REQUEST}\n\n{article}", domain="news"),
        item=system,
        text=text(row, "decoded" if paired else "summary", where),
        human=human,
    )


def _by_criterion(ratings: Row, where: str) -> dict[str, list[float | None]]:
    return {name: numbers(value(ratings, name, where), where, name) for name in RUBRICS}


def _by_rater(ratings: Any, column: str, where: str) -> Mapping[str, Sequence[float | None]]:
    """A list of raters, each with a rating per criterion, turned round."""
    if not isinstance(ratings, list) or not all(isinstance(one, Mapping) for one in ratings):
        raise StimuliError(f"{where}: {column} is not a list of objects")
    return {
        name: [numbers(value(one, name, where), where, name)[0] for one in ratings]
        for name in RUBRICS
    }
