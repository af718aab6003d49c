"""The lines of a prompt may stand anywhere in files of any size: SQLite groups them, on disk.

Memory holds one prompt with its responses at a time (docs/decisions/0013-importing.md).
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from judgesheet.axis.shaping import Prompt, Rated, Response
from judgesheet.errors import StimuliError
from judgesheet.files import MAX_LINE
from judgesheet.importers._piece import Head, Piece, Rubrics, Skip, name_of

MODEL = ""
"""The criterion under which the scores of another model stand."""
CROWD = 20
"""More raters than these are a crowd, in which nobody has a place of their own."""

_PIECES = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -16000;
CREATE TABLE piece (
  line INTEGER PRIMARY KEY, place TEXT, key TEXT, id TEXT, head TEXT,
  item TEXT, text TEXT, gold INTEGER, rater TEXT, seated INTEGER, ratings TEXT
);
"""
_INSERT = "INSERT INTO piece VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_INDEX = """
CREATE INDEX piece_by_key ON piece (key);
CREATE TABLE prompt (line INTEGER PRIMARY KEY, key TEXT, id TEXT, place TEXT, size INTEGER);
-- SQLite takes id and place from the line that has the minimum.
INSERT INTO prompt
SELECT min(line), key, id, place, sum(length(place) + length(text) + length(ratings))
FROM piece GROUP BY key;
CREATE VIEW rated AS  -- a list of ratings
SELECT line, place, piece.key AS key, item, list.key AS criterion, list.value AS ratings
FROM piece, json_each(piece.ratings) AS list;
CREATE VIEW rating AS
SELECT line, place, criterion, one.value AS value FROM rated, json_each(rated.ratings) AS one;
"""
_SAME_ID = """
SELECT later.place, later.id, known.place FROM prompt AS later JOIN prompt AS known USING (id)
WHERE known.line < later.line ORDER BY later.line
"""
_TOO_LONG = "SELECT place FROM prompt WHERE size > ?"
_OUTSIDE = "SELECT place, criterion, value FROM rating WHERE value NOT BETWEEN ? AND ?"
_TWO_SCALES = """
SELECT criterion, (SELECT place FROM piece WHERE line = part),
  (SELECT place FROM piece WHERE line = whole)
FROM (
  SELECT criterion, min(line) FILTER (WHERE value > 0 AND value < 1) AS part,
    min(line) FILTER (WHERE value > 1) AS whole, max(value > 1 AND value <> round(value)) AS fine
  FROM rating GROUP BY criterion
)
WHERE part AND whole AND NOT fine
"""
_RATERS = """
SELECT rater FROM piece WHERE seated AND rater IS NOT NULL
GROUP BY rater ORDER BY min(line) LIMIT ?
"""
_WIDTHS = """
SELECT criterion, max(width)
FROM (
  SELECT criterion, sum(json_array_length(ratings)) AS width FROM rated
  GROUP BY key, item, criterion
)
GROUP BY criterion
"""
_GROUPED = """
SELECT prompt.line AS first, prompt.id AS prompt, piece.*
FROM prompt CROSS JOIN piece ON piece.key = prompt.key ORDER BY prompt.line, piece.line
"""

Line = sqlite3.Row


def store(db: sqlite3.Connection, pieces: Iterable[Piece]) -> None:
    """Fill an empty database.

    Raises
    ------
    StimuliError
        if two prompts have one id, or a prompt's responses are too long together.
    """
    db.row_factory = sqlite3.Row
    db.executescript(_PIECES)
    db.executemany(_INSERT, map(_columns, pieces))
    db.executescript(_INDEX)
    for place, name, known in db.execute(_SAME_ID):
        raise StimuliError(
            f"{place}: the id {name!r} names another prompt at {known}; ids must be unique"
        )
    for (place,) in db.execute(_TOO_LONG, (MAX_LINE,)):
        raise StimuliError(
            f"{place}: the responses to this prompt have more than {MAX_LINE:,} characters "
            "together; give each prompt a name of its own, or fewer responses"
        )


def _columns(piece: Piece) -> tuple[Any, ...]:
    head = {name: getattr(piece.head, name) for name in Head.__slots__}
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
    """Refuse ratings outside the bounds; without bounds, shares of 1 beside whole numbers above it.

    Raises
    ------
    StimuliError
        that names the first line of each kind.
    """
    if bounds is None:
        for criterion, part, whole in db.execute(_TWO_SCALES):
            raise StimuliError(
                f"{named(criterion)} seems to have two scales: a number below 1 at {part}, whole "
                f"numbers above 1 at {whole}; bring them to one scale, or say --scale LOW:HIGH if "
                "they are on one"
            )
        return
    for place, criterion, value in db.execute(_OUTSIDE, bounds):
        raise StimuliError(
            f"{place}: {named(criterion)} is {value:g}, outside the scale {bounds[0]:g} to "
            f"{bounds[1]:g}; correct it, or say --scale LOW:HIGH"
        )


def named(criterion: str) -> str:
    """The criterion for a reader."""
    return criterion or "scores of another model"


def panel(db: sqlite3.Connection) -> list[str] | None:
    """The raters with lines of their own, in order of appearance; None if they are a crowd."""
    raters = [rater for (rater,) in db.execute(_RATERS, (CROWD + 1,))]
    return raters if len(raters) <= CROWD else None


# -- one prompt ------------------------------------------------------------------------------------


def prompts(
    db: sqlite3.Connection, rubrics: Rubrics, raters: Sequence[str]
) -> Iterator[Prompt | Skip]:
    """Every prompt with its responses, in the order of first mention, or why it is none.

    `rubrics` count where a prompt has none of its own; `raters` have a place each in every list.

    Raises
    ------
    StimuliError
        if two lines contradict each other; the sentence names both.
    """
    places = _Places(raters, dict(map(tuple, db.execute(_WIDTHS))))
    for (_, name), lines in groupby(db.execute(_GROUPED), key=itemgetter("first", "prompt")):
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
    if head.prompt is None:
        return Skip(where, "responses to a prompt that is not in the files")
    if not usable:
        return Skip(where, "no response with a text")
    return Prompt(
        id=name,
        where=where,
        text=head.prompt,
        domain=head.domain or "",
        source=head.source or "",
        reference=head.reference,
        rubrics=head.rubrics or rubrics,
        responses=usable,
    )


def _head(lines: Sequence[Line]) -> Head:
    """What the lines say about their prompt; what one leaves open, another may tell."""
    told: dict[str, Any] = {}
    for head in dict.fromkeys(line["head"] for line in lines):  # most are the same, and long
        for name, value in json.loads(head).items():
            if told.setdefault(name, value) != value:
                other = next(line for line in lines if line["head"] == head)
                raise StimuliError(
                    f"{other['place']}: {other['key'][:60]!r} has another {name} than at "
                    f"{lines[0]['place']}; one prompt needs one name, and another prompt another"
                )
    return Head(**told)


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
