"""SummEval: summaries of news articles, rated by three experts and five crowd workers.

Two forms are read: the data set's `model_annotations.aligned.paired.jsonl` (the articles paired in
with its own script), and one object per summary with `article`, `summary`, `system`, and `expert`
and `turker` (criterion -> ratings). All summaries of an article are one stimulus.
"""

from collections.abc import Iterator, Mapping

from judgesheet.axis.shaping import Holds
from judgesheet.base.errors import StimuliError
from judgesheet.importers._piece import Format, ImportOptions, Piece, Ratings, Skip, own_rubrics
from judgesheet.importers._rows import Row

RUBRICS = own_rubrics("summeval")
REQUEST = "Summarise this article in a few sentences:"


def read(rows: Iterator[Row], choice: ImportOptions) -> Iterator[Piece | Skip]:
    """The summaries of the chosen systems with the ratings of the chosen raters."""
    people = "expert" if choice.raters == "expert" else "turker"  # as the data set calls its crowd
    for row in rows:
        piece = _paired(row, people) if row.cells.get("decoded") else _single(row, people)
        yield piece if choice.keeps(piece.item) else Skip(row.where)


def _paired(row: Row, people: str) -> Piece:
    if not row.cells.get("text"):
        raise StimuliError(
            f"{row.where}: there is no article (text); pair the articles in with the data set's "
            "own script (pair_data.py) and import model_annotations.aligned.paired.jsonl"
        )
    raters = row.rows(f"{people}_annotations")
    human = {name: [rater.numbers(name)[0] for rater in raters] for name in RUBRICS}
    return _piece(row, "text", "id", "model_id", "decoded", human)


def _single(row: Row, people: str) -> Piece:
    ratings = row.row(people)
    human = {name: ratings.numbers(name) for name in RUBRICS}
    return _piece(row, "article", "article_id", "system", "summary", human)


def _piece(
    row: Row, article: str, key: str, system: str, summary: str, human: Mapping[str, Ratings]
) -> Piece:
    return Piece(
        where=row.where,
        key=row.text(key),
        prompt=f"{REQUEST}\n\n{row.text(article)}",
        domain="news",
        item=row.text(system),
        text=row.text(summary),
        human=human,
    )


FORMAT = Format(
    read,
    Holds.RATINGS,
    licence="MIT for annotations and summaries; the articles are CNN's and the Daily Mail's own",
    attribution=(
        "SummEval (c) 2021 Fabbri, Kryściński, McCann, Xiong, Socher and Radev, TACL 2021; "
        "articles from CNN/DailyMail (Hermann et al. 2015)."
    ),
    scale=(1.0, 5.0),
    rubrics=RUBRICS,
)
