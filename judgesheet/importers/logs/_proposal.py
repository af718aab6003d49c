"""A map for a table that has none, proposed by the names of its columns."""

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import pairwise
from typing import Any

from judgesheet.base.errors import StimuliError
from judgesheet.base.limits import (
    LONGEST_NAME,
    MOST_CALLS_TRIED,
    MOST_COLUMNS,
    MOST_REMEMBERED_ROWS,
)
from judgesheet.base.tally import TOLERATED_SHARE
from judgesheet.importers._rows import Row
from judgesheet.importers.logs._kinds import KINDS
from judgesheet.importers.logs._log import suggested
from judgesheet.importers.logs._sides import pairs_by_side
from judgesheet.importers.words import finite, score_in, word

UNKNOWN = "COLUMN"
"""Stands in a map for a column that only the user can name."""
_USUAL_NAMES: Mapping[str, tuple[str, ...]] = {
    "stimulus": (
        *("stimulus", "question_id", "prompt_id", "doc_id", "example_id", "task_id"),
        *("conversation_id", "chat_id", "question", "prompt", "conversation", "chat"),
        *("instruction", "request", "query", "user_input", "uid", "sample_id", "pair_id", "idx"),
        *("input", "inputs", "case_id", "case", "ticket_id", "ticket"),
    ),
    "item": (
        *("item", "item_id", "response_id", "answer_id", "trace_id", "run_id", "model", "system"),
        *("response", "answer", "reply", "output", "outputs"),
    ),
    "first": ("first", "response_a", "model_a"),
    "second": ("second", "response_b", "model_b"),
    "order": ("order", "displayed_order"),
    "swapped": ("swapped", "is_swapped", "flipped", "is_flipped"),
    "repeat": ("repeat", "rep", "repetition", "epoch", "run", "trial"),
    "human": ("human", "human_score", "human_rating", "human_label", "gold_score", "label"),
    "better": (
        *("better", "label", "human_label", "human_verdict", "human_winner", "human_preference"),
        *("human_preferred", "gold"),
    ),
    "judge": ("judge", "judge_model"),
    "metric": ("metric", "criterion"),
}
"""Columns that often hold a field, the most telling first."""
_OF_A_JUDGE = (
    *("verdict", "judge_verdict", "llm_verdict", "judge_score", "llm_score", "judge_rating"),
    *("llm_rating", "judge_label", "llm_label", "judge_output", "judgment", "judgement"),
    *("prediction", "predicted"),
)
"""Columns that hold a verdict by their name, which tells whose it is."""
_BY_A_JUDGE = re.compile(
    r"(judge|llm|gpt|claude|gemini|auto)\w*_(score|rating|grade|label|verdict|winner|decision)"
)
"""The same for the names of models."""
_OF_ANYBODY = ("score", "rating", "grade", "winner", "preference", "decision")
"""Columns that may hold a verdict where no other does."""
_OF_TWO = re.compile(r"winner|preferred|preference")
"""How a verdict is called that names one of two responses, not a score."""
_PEOPLE_OF = re.compile(r"^(human|people|expert|gold|annotator)s?_|_(human|gold)$", re.IGNORECASE)
"""How a column is called that holds what people said, beside the judge's of the same name."""
_NAMES = re.compile(r"model|system|generator|name|(?<![a-z])id", re.IGNORECASE)
"""How columns are called that name responses."""
_AS_SHOWN = re.compile(r"shown|display|present", re.IGNORECASE)
"""How columns are called that say what stood where."""


def as_option(columns: Mapping[str, str]) -> str:
    """A map as it is typed: `--map verdict=score,stimulus=question_id`."""
    return shlex.join(["--map", ",".join(f"{name}={column}" for name, column in columns.items())])


def proposed(rows: Sequence[Row]) -> dict[str, str]:
    """Fields and the columns that seem to hold them, `UNKNOWN` for those that the user must name.

    A truth is asked for where no figure would follow without one: nothing was judged twice.
    """
    columns = _by_name(rows)
    named = verdicts(rows)
    columns["verdict"] = named[0] if len(named) == 1 else UNKNOWN
    columns |= _item(rows, columns)
    if columns["stimulus"] == UNKNOWN and _is_own(rows, columns):
        del columns["stimulus"]  # each response is a question of its own
    truth = KINDS["pair" if "first" in columns else "score"].truth
    subjects = {_named(row, columns, "stimulus", "item", "first", "second") for row in rows}
    is_whole = UNKNOWN not in columns.values() and len(rows) < MOST_REMEMBERED_ROWS
    is_list = any(isinstance(row.at(columns["verdict"]), list) for row in rows)
    if is_whole and truth not in columns and len(subjects) == len(rows) and not is_list:
        columns[truth] = UNKNOWN
    return columns


def verdicts(rows: Sequence[Row]) -> list[str]:
    """The columns that hold a verdict by their name; where there are several, only a user knows."""
    cells = _cells(rows)
    if twice := _human_columns(cells):
        return [*twice.values()]
    for fits in (_OF_A_JUDGE.__contains__, _BY_A_JUDGE.fullmatch, _OF_ANYBODY.__contains__):
        if fitting := [column for column in cells if fits(_last(column)) or fits(column.lower())]:
            return [column for column in fitting if "." not in column] or fitting
    return []


def _named_by(cells: Mapping[str, Any]) -> dict[str, str]:
    """Columns by their names in small letters, whole or without the objects that they stand in."""
    by_part = {_last(column): column for column in reversed(list(cells))}
    return by_part | {column.lower(): column for column in reversed(list(cells))}


def _cells(rows: Sequence[Row]) -> dict[str, Any]:
    """Every column of the first rows, inside objects too, with what the first row holds that does.

    What stands inside objects counts if most rows have it.
    """
    cells: dict[str, Any] = {}
    filled: Counter[str] = Counter()
    for row in rows[:MOST_CALLS_TRIED]:
        for column, cell in row.cells.items():
            for name, part in _parts(column, cell, depth=3):
                if cells.get(name) is None and len(cells) < MOST_COLUMNS:
                    cells[name] = part
                filled[name] += part is not None
    most = max(filled.values(), default=0)
    kept = (name for name in cells if name in rows[0].cells or filled[name] > most / 2)
    return {name: cells[name] for name in kept}


def _parts(name: str, cell: Any, depth: int) -> Iterator[tuple[str, Any]]:
    if isinstance(cell, list) and cell and all(isinstance(part, Mapping) for part in cell):
        # Two may be the games of a pair, one in each order; more are readings.
        each = {key: [part.get(key) for part in cell] for key in cell[0]}
        cell = dict(enumerate(cell)) if len(cell) == 2 else each
    if not (isinstance(cell, Mapping) and cell and depth):
        yield name, cell
        return
    for key, part in cell.items():
        yield from _parts(f"{name}.{key}", part, depth - 1)


def _last(column: str) -> str:
    """The name of a column by itself, in small letters, without what it stands in.

    That are objects, and with MLflow a metric and its version: `relevance/v1/score`.
    """
    return re.split("[./]", column)[-1].lower()


def _by_name(rows: Sequence[Row]) -> dict[str, str]:
    """The columns of a first record that are called as their field often is."""
    cells = _cells(rows)
    lower = _named_by(cells)
    found = {
        field: lower[name]
        for field, names in _USUAL_NAMES.items()
        for name in reversed(names)
        if name in lower
    }
    named = verdicts(rows)
    is_of_two = len(named) == 1 and _is_of_two(rows, named[0])
    if sides := _sides(rows, cells) or ((UNKNOWN, UNKNOWN) if is_of_two else None):
        item = found.pop("item", "")
        if item.lower() in ("item", "item_id"):  # what two responses share is the question
            found.setdefault("stimulus", item)
        order, _ = found.pop("order", ""), found.pop("human", "")
        if str(cells.get(order)).upper() in ("AB", "BA"):
            found["swapped"] = order
        found |= dict(zip(("first", "second"), sides, strict=True))
    else:
        found.pop("better", "")
        found.pop("swapped", "")
        if len(people := _human_columns(cells)) == 1:
            (found["human"],) = people
    return {"verdict": UNKNOWN, "stimulus": UNKNOWN, **found}


def _sides(rows: Sequence[Row], cells: Mapping[str, Any]) -> tuple[str, str] | None:
    """Two columns that are called alike but for the side, such as model_a and model_b.

    Those that say what was shown where come first, and then those that name the responses before
    those that hold their texts or scores.
    """
    ranks: dict[tuple[str, str], tuple[bool, bool, bool]] = {}
    for pair in pairs_by_side(cells):
        named = are_names(rows, pair)
        ranks[pair] = named and bool(_AS_SHOWN.search(pair[0])), bool(_NAMES.search(pair[0])), named
    return max(ranks, key=ranks.__getitem__, default=None)


def are_names(rows: Sequence[Row], columns: Sequence[str]) -> bool:
    """Whether columns hold names of responses: short words that come again."""
    cells = [row.at(column) for row in rows for column in columns]
    is_word = all(len(str(cell)) <= LONGEST_NAME and finite(cell) is None for cell in cells)
    return is_word and len({str(cell) for cell in cells}) <= len(rows) + 1


def _human_columns(cells: Mapping[str, Any]) -> dict[str, str]:
    """Columns of what people said beside that of a judge, as `human_x` beside `x`."""
    bare = {column: _PEOPLE_OF.sub("", column) for column in cells}
    return {column: one for column, one in bare.items() if one != column and one in cells}


def _item(rows: Sequence[Row], columns: Mapping[str, str]) -> dict[str, str]:
    """What tells several graded responses to one question apart, if a column does.

    A name that stands under several questions, as that of a system, is joined with theirs. A time
    tells readings apart and no responses, nor does the number of a reading.
    """
    question = columns["stimulus"]
    questions = [str(row.at(question)) for row in rows]
    repeats = [str(row.at(columns.get("repeat", ""))) for row in rows]
    if "first" in columns or len(set(zip(questions, repeats, strict=True))) == len(rows):
        return {}
    named = [columns["item"]] if "item" in columns else []
    others = [column for column in _cells(rows) if column not in columns.values()]
    for column in (*named, *(one for one in others if not _is_time(rows, one))):
        values = [str(row.at(column)) for row in rows]
        if len(set(zip(questions, values, repeats, strict=True))) == len(rows):
            is_own = len(set(zip(values, repeats, strict=True))) == len(rows)
            return {"item": column if is_own else f"{question}+{column}"}
    return {}


def _is_own(rows: Sequence[Row], columns: Mapping[str, str]) -> bool:
    """Whether each row has a response of its own, apart from readings and orders."""
    named = [columns[field] for field in ("item", "repeat", "order") if field in columns]
    return "item" in columns and len({tuple(str(r.at(n)) for n in named) for r in rows}) == len(
        rows
    )


def _is_of_two(rows: Sequence[Row], column: str) -> bool:
    """Whether a verdict is a word for one of two responses, by the column's name."""
    words = (row.cells.get(column) for row in rows)
    return bool(_OF_TWO.search(_last(column))) and any(
        cell not in (None, "") and finite(cell) is None for cell in words
    )


def _is_time(rows: Sequence[Row], column: str) -> bool:
    """Whether a column holds dates, or numbers that grow from row to row."""
    cells = [row.at(column) for row in rows]
    numbers = [finite(cell) for cell in cells]
    if None not in numbers:
        return all(one < other for one, other in pairwise(numbers))  # type: ignore[operator]
    return all(map(_is_date, cells))


def _is_date(cell: Any) -> bool:
    with suppress(ValueError):
        datetime.fromisoformat(str(cell))
        return True
    return False


def _named(row: Row, columns: Mapping[str, str], *fields: str) -> frozenset[str]:
    """What a row holds of these fields; nothing where it lacks a column that others have."""
    with suppress(StimuliError):
        return frozenset(str(row.at(columns[field])) for field in fields if field in columns)
    return frozenset()


# -- scales ----------------------------------------------------------------------------------------

_GRADES = ("f", "e", "d-", "d", "d+", "c-", "c", "c+", "b-", "b", "b+", "a-", "a", "a+")
_WORST_FIRST = (
    *(_GRADES, ("false", "true"), ("no", "yes"), ("fail", "pass"), ("failed", "passed")),
    *(
        ("incorrect", "correct"),
        ("bad", "good"),
        ("bad", "fair", "good"),
        ("low", "medium", "high"),
    ),
    *(("poor", "fair", "good"), ("poor", "fair", "good", "excellent"), ("i", "p", "c")),
)
"""Words whose order needs no saying."""


def scale_of(cells: Iterable[Any]) -> str:
    """The options that say which scores these are; "" where only the user knows."""
    listed = (part for cell in cells for part in (cell if isinstance(cell, list) else [cell]))
    said = [part for part in listed if isinstance(part, str | int | float)]
    numbers = [n for part in said if (n := _number(part)) is not None]
    if len(numbers) >= (1 - TOLERATED_SHARE) * len(said):
        return suggested(numbers)
    words = {word(part) for part in said}
    known = next((order for order in _WORST_FIRST if words <= {*order}), ())
    scale = [grade for grade in known if grade in words]
    return f"--scale {','.join(scale)}" if len(scale) > 1 else ""


def _number(cell: Any) -> float | None:
    number = finite(cell)
    return score_in(cell, None) if number is None else number
