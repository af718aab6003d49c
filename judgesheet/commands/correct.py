"""`judgesheet correct`: results of an evaluation with the judge's errors in them."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgesheet.commands.option_types import as_dict, column_map, ends_of, word_pair
from judgesheet.commands.options import EXISTING, choice, document, option
from judgesheet.commands.reporting import say_document
from judgesheet.sheet import Paper

if TYPE_CHECKING:
    from judgesheet.correcting.result import Result
    from judgesheet.correcting.table import Labels


def correct(
    table: str | Path,
    labels: "Labels",
    *,
    columns: Mapping[str, str] | None = None,
    scale: tuple[float, float] | None = None,
    human_scale: tuple[float, float] | None = None,
    group_prefix: str = "",
    verdicts: Mapping[str, str] | None = None,
) -> "Result":
    """Results of your own evaluation, corrected by labels on a part.

    `corrected` of the result is PPI++ (Angelopoulos et al. 2023, arXiv 2311.01453) for labels found
    at `random`, Rogan and Gladen's estimate with the interval of Lee et al. (2025, arXiv
    2511.21140) for `chosen` ones: shares and win rates from 0 to 1, means in points of `scale`,
    each with a 95 % interval over groups of rows.

    `table` (CSV, JSONL, JSON, Parquet) has the columns `id, verdict, label`, or those that
    `columns` names (docs/correct.md). `labels` says how the labelled rows were found: `random`
    or `chosen`. `scale` and `human_scale` are the ends of scores; `group_prefix` is the sign before
    which an id names what it belongs to. `verdicts` says what words mean: `{"good": "pass"}`.

    StimuliError, with the line, if a row cannot be read; UsageError if a column is missing.
    """
    from judgesheet.correcting.run import corrected
    from judgesheet.correcting.table import Choice, read

    choice = Choice(labels, columns or {}, scale, human_scale, group_prefix, verdicts or {})
    return corrected(read(Path(table), choice), labels)


@click.command("correct")
@click.argument("table", type=EXISTING)
@choice("--labels", "random", "chosen", required=True,
        help="How the labelled rows were selected: at random or on purpose.")  # fmt: skip
@option("--map", "columns", multiple=True, callback=column_map, metavar="FIELD=COLUMN,…",
        help="Which column holds what; repeatable. docs/correct.md lists the fields.")  # fmt: skip
@option("--verdict", "verdicts", multiple=True, type=word_pair, callback=as_dict,
        metavar="WORD=MEANING",
        help="What a word means: pass, fail, win, tie, loss, 1, 2; repeatable.")  # fmt: skip
@option("--scale", callback=ends_of, metavar="LOW:HIGH", help="Lowest and highest score.")
@option("--human-scale", callback=ends_of, metavar="LOW:HIGH",
        help="Lowest and highest label, if different from --scale.")  # fmt: skip
@option("--group-prefix", default="", metavar="SIGN",
        help="Ids with the same text before the last SIGN form one group.")  # fmt: skip
@document("md", "html", "pdf", "json", "csv")
def command(
    table: Path,
    labels: "Labels",
    columns: dict[str, str],
    scale: tuple[float, float] | None,
    human_scale: tuple[float, float] | None,
    group_prefix: str,
    verdicts: dict[str, str],
    formats: dict[str, Path | None],
    paper: Paper,
    as_json: bool,
) -> None:  # fmt: skip
    """Correct the results of your own evaluation for the errors of its judge.

    TABLE has one verdict per row and, for some rows, a human label: columns id, verdict, label, and
    system to compare several. Pass/fail, win/tie/loss, pairs (first, second) and scores are
    recognised by their cells.
    """
    from judgesheet.sheet.correction import render

    result = correct(table, labels, columns=columns, scale=scale, human_scale=human_scale,
                     group_prefix=group_prefix, verdicts=verdicts)  # fmt: skip
    say_document(lambda form: render(result, form, paper), formats, as_json=as_json)
