"""Groups lines by prompt, wherever they are in files of any size, with SQLite on disk.

`grouping.sql` has the tables, and a view for every question to them. Memory holds one prompt with
its responses at a time (docs/decisions/0013-importing.md).
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from judgesheet.axis.shaping import Prompt, Rated, Response
from judgesheet.base.errors import StimuliError
from judgesheet.base.limits import LONGEST_LINE
from judgesheet.importers._piece import ABOUT_PROMPT, Piece, Rubrics, Skip, name_of

MODEL = ""
"""The criterion name of another model's scores."""
CROWD = 20
"""More raters than this are a crowd, whose members have no fixed place in the lists."""

_TABLES = Path(__file__).with_name("grouping.sql").read_text(encoding="utf-8")
_INSERT = "INSERT INTO piece VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
# Made when all rows are there: an index that grows with them costs more.
_INDEX = "CREATE INDEX piece_by_key ON piece (key); INSERT INTO prompt SELECT * FROM mentioned;"

Line = sqlite3.Row


def store(db: sqlite3.Connection, pieces: Iterable[Piece]) -> None:
    """Fill an empty database; refuse one id for two prompts, and a prompt that is too long."""
    db.row_factory = sqlite3.Row
    db.executescript(_TABLES)
    db.executemany(_INSERT, map(_columns, pieces))
    db.executescript(_INDEX)
    for place, name, known in db.execute("SELECT * FROM same_id"):
        raise StimuliError(
            f"{place}: the id {name!r} names another prompt at {known}; ids must be unique"
        )
    for (place,) in db.execute("SELECT place FROM prompt WHERE size > ?", (LONGEST_LINE,)):
        raise StimuliError(
            f"{place}: the responses to this prompt have more than {LONGEST_LINE:,} characters "
            "together; give each prompt a name of its own, or fewer responses"
        )


def _columns(piece: Piece) -> tuple[Any, ...]:
    head = {name: getattr(piece, name) for name in ABOUT_PROMPT}
    ratings = {**piece.human, MODEL: piece.model}
    return (
        piece.where,
        piece.key,
        name_of(piece.id or piece.key),
        _json({name: told for name, told in head.items() if told is not None}),
        piece.item,
        piece.text,
        piece.gold,
        piece.rater,
        piece.seated,
        _json({name: given for name, given in ratings.items() if given}),
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def refuse_mixed_scales(db: sqlite3.Connection, bounds: tuple[float, float] | None) -> None:
    """Refuse ratings outside the bounds; without any, shares of 1 beside whole numbers above it."""
    if bounds is None:
        for criterion, part, whole in db.execute("SELECT * FROM two_scales"):
            raise StimuliError(
                f"{named(criterion)} seems to have two scales: a number below 1 at {part}, whole "
                f"numbers above 1 at {whole}; bring them to one scale, or say --scale LOW:HIGH if "
                "they are on one"
            )
        return
    outside = "SELECT place, criterion, value FROM rating WHERE value NOT BETWEEN ? AND ?"
    for place, criterion, value in db.execute(outside, bounds):
        raise StimuliError(
            f"{place}: {named(criterion)} is {value:g}, outside the scale {bounds[0]:g} to "
            f"{bounds[1]:g}; correct it, or say --scale LOW:HIGH"
        )


def named(criterion: str) -> str:
    """The criterion for a reader."""
    return criterion or "scores of another model"


def panel(db: sqlite3.Connection) -> list[str] | None:
    """The raters with lines of their own, in order of appearance; None if they are a crowd."""
    raters = [rater for (rater,) in db.execute("SELECT * FROM panel LIMIT ?", (CROWD + 1,))]
    return raters if len(raters) <= CROWD else None


# -- one prompt ------------------------------------------------------------------------------------


def prompts(
    db: sqlite3.Connection, rubrics: Rubrics, raters: Sequence[str]
) -> Iterator[Prompt | Skip]:
    """Every prompt with its responses in the order of first mention, or the reason to skip it.

    `rubrics` count where a prompt has none of its own; `raters` have a place each in every list.
    Two lines that contradict each other are refused.
    """
    places = _Places(raters, dict(map(tuple, db.execute("SELECT * FROM widest"))))
    # The view sorts: all lines of a prompt stand together.
    for (_, name), lines in groupby(
        db.execute("SELECT * FROM grouped"), key=itemgetter("first", "prompt")
    ):
        yield _prompt(name, list(lines), rubrics, places)


def _prompt(name: str, lines: Sequence[Line], rubrics: Rubrics, places: "_Places") -> Prompt | Skip:
    where, head = lines[0]["place"], _head(lines)
    by_item: defaultdict[str, list[Line]] = defaultdict(list)
    for line in lines:
        if line["item"] is not None:
            by_item[line["item"]].append(line)
    responses = [_response(same, name, places) for same in by_item.values()]
    usable = [response for response in responses if response.text]
    if not responses:
        return Skip(where, "a prompt without responses")
    if "prompt" not in head:
        return Skip(where, "responses to a prompt that is not in the files")
    if not usable:
        return Skip(where, "no response with a text")
    return Prompt(
        id=name,
        where=where,
        text=head["prompt"],
        domain=head.get("domain", ""),
        source=head.get("source", ""),
        reference=head.get("reference"),
        rubrics=head.get("rubrics") or rubrics,
        responses=usable,
        group=head.get("group", ""),
    )


def _head(lines: Sequence[Line]) -> dict[str, Any]:
    """What the lines say about their prompt; a field missing on one may be on another."""
    told: dict[str, Any] = {}
    for head in dict.fromkeys(line["head"] for line in lines):  # most are the same, and long
        for name, value in json.loads(head).items():
            if told.setdefault(name, value) != value:
                other = next(line for line in lines if line["head"] == head)
                raise StimuliError(
                    f"{other['place']}: {other['key'][:60]!r} has another {name} than at "
                    f"{lines[0]['place']}; one prompt needs one name, and another prompt another"
                )
    return told


def _response(lines: Sequence[Line], prompt: str, places: "_Places") -> Response:
    """What all lines say about one response; several lines are several raters' own."""
    first, raters = lines[0], {lines[0]["rater"]}
    for line in lines[1:]:
        if line["rater"] is None or line["rater"] in raters:
            raise StimuliError(
                f"{line['place']}: {line['item']!r} of {prompt!r} stands already at "
                f"{first['place']}; give every response its own name (or a column with the rater)"
            )
        if line["text"] != first["text"]:
            raise StimuliError(
                f"{line['place']}: the text of {line['item']!r} of {prompt!r} is not that at "
                f"{first['place']}"
            )
        raters.add(line["rater"])
    human = places.joined(lines)
    model = human.pop(MODEL, None)
    gold = None if first["gold"] is None else bool(first["gold"])
    return Response(name_of(first["item"]), first["text"], gold, human, model)


@dataclass(frozen=True, slots=True)
class _Places:
    """Where a rating stands in the lists: `raters` have a place each, `widths` are the lengths."""

    raters: Sequence[str]
    widths: Mapping[str, int]

    def joined(self, lines: Sequence[Line]) -> dict[str, Rated | None]:
        """All ratings of a response by criterion: a number where no response has more than one."""
        lists: defaultdict[str, list[float | None]] = defaultdict(list)
        for line in lines:
            for criterion, given in json.loads(line["ratings"]).items():
                mine = lists[criterion]
                if line["rater"] in self.raters and criterion != MODEL:
                    mine += [None] * (len(self.raters) - len(mine))
                    mine[self.raters.index(line["rater"])] = given[0]
                else:
                    mine += given
        return {criterion: self._padded(mine, criterion) for criterion, mine in lists.items()}

    def _padded(self, ratings: list[float | None], criterion: str) -> Rated | None:
        if all(rating is None for rating in ratings):
            return None
        width = max(self.widths[criterion], len(ratings))
        return ratings[0] if width == 1 else [*ratings, *[None] * (width - len(ratings))]
