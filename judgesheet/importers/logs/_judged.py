"""Rows of one verdict each as recorded judgments, the form that `collect.ingest` takes.

Which axis a log is for follows from what its columns hold: `_SHAPES` has a cell of each kind, and
the axis is the one that finds no fault in it.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from judgesheet.axes import all_axes
from judgesheet.base.errors import StimuliError, UsageError
from judgesheet.base.limits import MOST_IN_A_LIST
from judgesheet.importers._rows import Row
from judgesheet.importers.logs._log import (
    LogFormat,
    LogOptions,
    Scale,
    StrangeRowError,
    StrangeVerdictError,
)

Record = dict[str, Any]
STRANGE_SHARE = 0.1
"""Share of rows that cannot be read from which the scale, or a column, is the wrong one."""

FIELDS: Mapping[str, str] = {
    "verdict": "what the judge said: a score, or which of two won (a slot, or a name)",
    "verdict.NAME": "the score for the criterion NAME, where one reply scores several",
    "candidates": "the scores of a list, an object by candidate",
    "first": "name of the response shown first, of a pair",
    "second": "name of the response shown second",
    "swapped": "whether the two were shown the other way round: true, yes, 1 or BA",
    "stimulus": "the question: what is resampled",
    "stimulus_text": "its words, without the instructions around them; near copies count as one",
    "group": "what several questions have in common, so that they count as one: a customer",
    "item": "the graded response",
    "order": "what was displayed, in that order: scores, criteria or candidates",
    "repeat": "anything that tells readings of the same thing apart",
    "human": "people's rating of the response, or a list of ratings",
    "human.NAME": "the same for the criterion NAME",
    "better": "which of a pair is known to be better (a slot, or a name)",
    "gold": "the candidate that is known to be best",
    "judge": "who judged; one sheet is about one judge",
    "metric": "what was judged; one sheet is about one",
    "by": "who gave the verdict, the judge or a person",
    "scale": "the scale of this row's scores, as --scale has it",
}
"""What a map can name, and what it holds."""
_OF_STIMULUS = ("group", "stimulus_text")

_SHAPES: Mapping[str, Record] = {
    "list": {"item": "i", "arm": "direct", "order": ["a", "b"]},
    "pair": {"condition": "natural", "pair": "a / b", "order": ["u", "v"]},
    "criteria": {"item": "i", "arm": "fixed", "scale": 2, "order": ["a", "b"]},
    "score": {"item": "i", "arm": "fixed", "scale": 2, "order": [1, 2]},
}
"""Kinds of verdicts, each with a cell such as the axis for it has."""
TRUTHS: Mapping[str, str] = {
    "score": "human",
    "criteria": "human",
    "pair": "better",
    "list": "gold",
}
"""The field that says what a good judge would have said."""
_GRADED = ("item", "verdict", "order", "scale", "human")
_READ: Mapping[str, tuple[str, ...]] = {
    "score": _GRADED,
    "criteria": _GRADED,
    "pair": ("first", "second", "swapped", "verdict", "better"),
    "list": ("candidates", "order", "gold"),
}
"""The fields that are read of each kind, beside those of `_SHARED`."""
_SHARED = ("stimulus", *_OF_STIMULUS, "repeat", "judge", "metric", "by")
_SWAPPED: Mapping[str, bool] = {
    **dict.fromkeys(("true", "yes", "1", "ba"), True),
    **dict.fromkeys(("false", "no", "0", "ab"), False),
}
_MISSING: Mapping[str, str] = {
    "pair": "the other order of a pair, a second reading (repeat) or the known better one (better)",
    "list": "a second order, a second reading (repeat) or the known best one (gold)",
    "score": "people's ratings (human), a second reading (repeat) or other orders (order)",
}
"""What a figure could follow from."""
SLOTS: Mapping[str, int | str | None] = {
    **dict.fromkeys(("1", "first", "a", "left"), 1),
    **dict.fromkeys(("2", "second", "b", "right"), 2),
    **dict.fromkeys(("tie", "both", "equal", "draw"), "tie"),
    "abstain": "abstain",
    **dict.fromkeys(("invalid", "error", "null", "none"), None),
}
"""What names the slot that won, or neither."""


def kind_of(columns: Mapping[str, str]) -> str:
    """The kind of verdicts that a map is about; UsageError if it is about none, or about two."""
    for name in columns:
        if name not in FIELDS and not name.startswith(("human.", "verdict.")):
            raise UsageError(f"--map {name}=…: there is no such field; fields: {', '.join(FIELDS)}")
    kind = _named_kind(columns)
    for name in columns:
        if name.partition(".")[0] not in (*_SHARED, *_READ[kind]):
            truth = TRUTHS[kind]
            raise UsageError(
                f"--map {name}=…: this field is not read of verdicts of this kind ({kind}); "
                f"what is right is the field {truth}: {FIELDS[truth]}"
            )
    return kind


def _named_kind(columns: Mapping[str, str]) -> str:
    if {"first", "second"} & columns.keys():
        _refuse_missing(columns, "first", "second", "verdict")
        return "pair"
    if "candidates" in columns:
        _refuse_missing(columns, "stimulus", "order")
        return "list"
    _refuse_missing(columns, *(() if "stimulus" in columns else ("item",)))
    if any(name.startswith("verdict.") for name in columns):
        return "criteria"
    _refuse_missing(columns, "verdict")
    return "score"


def _refuse_missing(columns: Mapping[str, str], *needed: str) -> None:
    for name in needed:
        if name not in columns:
            raise UsageError(
                f"say which column holds the field {name} ({FIELDS[name]}): --map {name}=COLUMN"
            )


def axis_of(kind: str) -> str:
    """The axis that takes such verdicts."""
    for name, axis in all_axes().items():
        if axis.fault(_SHAPES[kind]) is None:
            return name
    raise UsageError(f"no axis takes verdicts of this kind ({kind})")


@dataclass
class Judged:
    """A log on its way to recorded judgments; what is counted is known when all rows are read."""

    name: str
    log: LogFormat
    choice: LogOptions
    rows: Iterator[Row]
    verdicts: int = 0
    left_out: int = 0
    strange: list[str] = field(default_factory=list)
    """Where the rows stand that cannot be read, as far as they are named."""
    _strange: int = 0
    _first: StrangeRowError | None = None
    _people: set[type] = field(default_factory=set)
    """Whether people's ratings were words or numbers."""
    seen: dict[str, Counter[str]] = field(default_factory=dict)
    """The judges and metrics that were met."""
    _things: dict[str, str] = field(default_factory=dict)
    _readings: dict[str, dict[str, int]] = field(default_factory=dict)
    _ratings: dict[tuple[str, str], list[float | None]] = field(default_factory=dict)
    _scales: dict[str, Scale] = field(default_factory=dict)
    tells_nothing: bool = False
    """Whether all rows were read and no figure follows from them."""
    _tells: bool = False
    """Whether something was judged twice, or has a known truth: only then figures follow."""

    @cached_property
    def columns(self) -> dict[str, str]:
        """Our fields and the columns that hold them; what the user maps replaces the format's."""
        own = self.log.columns
        if {"first", "candidates"} & self.choice.columns.keys():
            own = {}  # those of the format are about single scores
        return {**own, **self.choice.columns}

    @cached_property
    def kind(self) -> str:
        """The kind of verdicts."""
        return kind_of(self.columns)

    @cached_property
    def axis(self) -> str:
        """The axis that the judgments are for."""
        return axis_of(self.kind)

    @property
    def judge(self) -> str | None:
        """Who judged, where the log says."""
        return next(iter(self.seen.get("judge", ())), None)

    @cached_property
    def where(self) -> Mapping[str, str]:
        """The rows that count: as the user says, else as the format has it."""
        return self.choice.where or self.log.where

    @property
    def needs_scale(self) -> bool:
        """Whether nothing says which scores there are."""
        told = self.choice.scale or self.log.scale or "scale" in self.columns
        return not told and not {"first", "candidates"} & self.columns.keys()

    def notes(self) -> Iterator[str]:
        """What was read, and what was taken for granted, in sentences."""
        told = ", ".join(f"{name}={column}" for name, column in self.columns.items())
        yield f"{self.verdicts:,} verdicts for {self.axis} were read ({told})"
        if self.dropped:
            yield self.dropped
        if self.left_out:
            only = " and ".join(f"{name}={value}" for name, value in self.where.items())
            yield f"{self.left_out:,} rows were left out; only those with {only} count"
        if "order" not in self.columns and self.kind in ("score", "criteria"):
            yield "no column holds the displayed order (--map order=COLUMN), so all count as of one"

    def records(self) -> Iterator[tuple[Record, str]]:
        """Every recorded judgment, and people's ratings, with the place of each.

        StimuliError if no figure can follow from them.
        """
        make = {"score": self._score, "criteria": self._criteria, "pair": self._pair,
                "list": self._list}[self.kind]  # fmt: skip
        for row in self.rows:
            if not self.counts(row):
                self.left_out += 1
                continue
            try:
                if "by" in self.columns and self._cell(row, "by") in self.log.people:
                    self._rate(row)
                    continue
                self._refuse_several(row)
                made = [*make(row)]
            except StrangeRowError as error:
                self._leave_out(row, error)
                continue
            self.verdicts += 1
            yield from ((record, row.where) for record in made)
        for (item, criterion), ratings in self._ratings.items():
            self._tells = True
            yield self._human(item, ratings, criterion), f"{self.name}: ratings of {item[:80]}"
        self._refuse_nothing()

    def _leave_out(self, row: Row, error: StrangeRowError) -> None:
        """Count a row that cannot be read, and continue: it says nothing about the others."""
        self._strange += 1
        self._first = self._first or error
        if len(self.strange) < MOST_IN_A_LIST:
            self.strange.append(row.where.removeprefix(f"{self.name}:").strip())

    @property
    def dropped(self) -> str:
        """Which rows were left out as they cannot be read, and what to do; "" if none was."""
        if not self._strange:
            return ""
        told = (
            f"{self._strange:,} of {self.verdicts + self._strange:,} rows cannot be read "
            f"({self._places()}) and {'are' if self._strange > 1 else 'is'} left out, the first: "
            f"{self._first}"
        )
        if isinstance(self._first, StrangeVerdictError):
            told += "; --unreadable VALUE counts a verdict as a reply in which nothing was read"
        return told

    def _places(self) -> str:
        """`lines 7, 12 and 3 more`: the rows that cannot be read."""
        rows = "line" if all(map(str.isdecimal, self.strange)) else "row"
        more = self._strange - len(self.strange)
        places = ", ".join(self.strange) + (f" and {more:,} more" if more else "")
        return f"{rows}{'s' * (self._strange > 1)} {places}"

    # -- one row ---------------------------------------------------------------------------------

    def _cell(self, row: Row, name: str) -> Any:
        return row.at(self.columns[name])

    def _text(self, row: Row, name: str) -> str:
        cell = self._cell(row, name)
        if isinstance(cell, list | dict):
            return json.dumps(cell, sort_keys=True)
        if cell is None or cell == "":
            raise StrangeRowError(
                f"{row.where}: {self.columns[name]} is empty, and is the field {name} "
                f"({FIELDS[name]}); fill it in, or drop the row"
            )
        return Row(row.where, {self.columns[name]: cell}).text(self.columns[name])

    def counts(self, row: Row) -> bool:
        """Whether a row is one of those that are wanted."""
        for column, wanted in self.where.items():
            cell = row.at(column)
            text = Row(row.where, {column: cell}).text(column) if cell is not None else ""
            if text != wanted:
                return False
        return True

    def _refuse_several(self, row: Row) -> None:
        """One sheet is about one judge and one question to it."""
        for name in ("judge", "metric"):
            if name in self.columns and self._cell(row, name) not in (None, ""):
                met = self.seen.setdefault(name, Counter())
                met[self._text(row, name)] += 1
                if len(met) > 1:
                    known, new = (one[:60] for one in met)
                    raise StimuliError(
                        f"{row.where}: a second {name}, {new!r} beside {known!r}; one sheet is "
                        f"about one: --where {self.columns[name]}=NAME"
                    )

    def _scale(self, row: Row) -> Scale:
        text = self.choice.scale or self.log.scale
        if self.choice.scale is None and "scale" in self.columns:
            text = self._text(row, "scale")
        if not text:
            raise UsageError(
                "say which scores there are: --scale LOW:HIGH (1:5, or 0:1:0.25 with a step), or "
                "all grades, the worst first (--scale bad,fair,good)"
            )
        if text not in self._scales:
            self._scales[text] = self._fitting(Scale.of(text))
        return self._scales[text]

    def _fitting(self, scale: Scale) -> Scale:
        """The scale, if the axis takes one of so many points."""
        names = _SHAPES[self.kind]["order"] if self.kind == "criteria" else None
        order = names or list(range(1, scale.count + 1))
        fault = all_axes()[self.axis].fault(
            {**_SHAPES[self.kind], "scale": scale.count, "order": order}
        )
        if fault:
            raise UsageError(
                f"the scale {scale.text} has {scale.count} points, and {fault}; have the nearest "
                "of fewer points taken: --round and --scale LOW:HIGH:STEP with a larger STEP"
            )
        return scale

    def _point(self, row: Row, cell: Any) -> int | None:
        return self._scale(row).point(cell, row, nearest=self.choice.nearest)

    def _score_of(self, row: Row, name: str) -> int | None:
        """The verdict in a field as a point of the scale; None where nothing was read."""
        cell = self._cell(row, name)
        return None if self._is_unreadable(cell) else self._point(row, cell)

    def _is_unreadable(self, cell: Any) -> bool:
        """Whether a verdict is one that stands for a reply in which nothing was read."""
        return bool(self.choice.unreadable) and str(cell).strip() in self.choice.unreadable

    def _names(self, row: Row) -> tuple[str, str]:
        """(stimulus, item); each stands for the other where a map has only one."""
        one = "stimulus" if "stimulus" in self.columns else "item"
        other = "item" if "item" in self.columns else "stimulus"
        return self._text(row, one), self._text(row, other)

    def _order(self, row: Row) -> list[str] | None:
        """What was displayed, in order; None if no column says."""
        if "order" not in self.columns:
            return None
        cell = self._cell(row, "order")
        if isinstance(cell, str):
            if not cell.lstrip().startswith("["):
                return [part.strip() for part in cell.split(",")]
            try:
                cell = json.loads(cell)
            except (ValueError, RecursionError):
                cell = None
        if not isinstance(cell, list) or not all(isinstance(one, str | int) for one in cell):
            raise StimuliError(f"{row.where}: {self.columns['order']} must list what was displayed")
        return [str(one) for one in cell]

    def _judgment(self, row: Row, stimulus: str, cell: Record, verdict: Any) -> Record:
        # The same thing shown in another order is the same thing, judged again.
        thing = json.dumps([stimulus, {k: v for k, v in cell.items() if k not in ("order", "arm")}])
        place = json.dumps([thing, cell["order"]])
        repeat = self._repeat(row, place)
        if not self._tells:
            reading = f"{place} {repeat}"
            self._tells = self._things.setdefault(thing, reading) != reading
        # One is enough, and a log may hold millions.
        if self._tells:
            self._things.clear()
        told = {
            name: str(cell)
            for name in _OF_STIMULUS
            if name in self.columns and (cell := self._cell(row, name)) not in (None, "")
        }
        return {"axis": self.axis, "stimulus": stimulus, "cell": cell, "repeat": repeat,
                "verdict": verdict, **told}  # fmt: skip

    def _repeat(self, row: Row, place: str) -> int:
        """The number of this reading of the same thing; a column distinguishes readings."""
        if "repeat" not in self.columns:
            return 0
        known = self._readings.setdefault(place, {})
        return known.setdefault(self._text(row, "repeat"), len(known))

    # -- kinds -----------------------------------------------------------------------------------

    def _score(self, row: Row) -> Iterator[Record]:
        stimulus, item = self._names(row)
        scale, shown = self._scale(row), self._order(row)
        order = [*range(1, scale.count + 1)] if shown is None else [
            self._point(row, one) for one in shown
        ]  # fmt: skip
        arm = "fixed" if shown is None else "balanced"
        cell = {"item": item, "arm": arm, "scale": scale.count, "order": order}
        yield self._judgment(row, stimulus, cell, self._score_of(row, "verdict"))
        yield from self._human_ratings(row, item)

    def _criteria(self, row: Row) -> Iterator[Record]:
        stimulus, item = self._names(row)
        names = [name.removeprefix("verdict.") for name in self.columns if "verdict." in name]
        shown, scale = self._order(row), self._scale(row)
        arm = "fixed" if shown is None else "balanced"
        cell = {"item": item, "arm": arm, "scale": scale.count, "order": shown or names}
        scores = {name: self._score_of(row, f"verdict.{name}") for name in names}
        readable = None not in scores.values()
        yield self._judgment(row, stimulus, cell, scores if readable else None)
        yield from self._human_ratings(row, item)

    def _pair(self, row: Row) -> Iterator[Record]:
        shown = self._shown(row)
        sides = dict(zip(sorted(shown), ("u", "v"), strict=True))
        pair = " / ".join(sides)
        cell: Record = {
            "condition": "natural", "pair": pair, "order": [sides[name] for name in shown]
        }  # fmt: skip
        if "better" in self.columns:
            slot = self._slot(row, "better", shown)
            cell["better"] = sides[shown[slot - 1]] if isinstance(slot, int) else None
            self._tells |= cell["better"] is not None
        stimulus = self._text(row, "stimulus") if "stimulus" in self.columns else pair
        yield self._judgment(row, stimulus, cell, self._slot(row, "verdict", shown))

    def _shown(self, row: Row) -> list[str]:
        """The names of the two responses as displayed."""
        shown = [self._text(row, "first"), self._text(row, "second")]
        if shown[0] == shown[1]:
            raise StimuliError(f"{row.where}: both responses are called {shown[0][:60]!r}")
        said = self._text(row, "swapped").lower() if "swapped" in self.columns else "no"
        if said not in _SWAPPED:
            raise StimuliError(
                f"{row.where}: {self.columns['swapped']} is {said[:60]!r}; it can be "
                f"{', '.join(_SWAPPED)}"
            )
        return shown[::-1] if _SWAPPED[said] else shown

    def _slot(self, row: Row, name: str, shown: list[str]) -> int | str | None:
        cell = self._cell(row, name)
        if cell is None or cell == "" or cell != cell or self._is_unreadable(cell):  # NaN
            return None
        said = self._text(row, name)
        if said in shown:
            return shown.index(said) + 1
        if said.lower() in SLOTS:
            return SLOTS[said.lower()]
        raise StrangeVerdictError(
            f"{row.where}: {self.columns[name]} is {said[:60]!r}, neither one of the two responses "
            f"nor one of {', '.join(SLOTS)}"
        )

    def _list(self, row: Row) -> Iterator[Record]:
        stimulus = self._text(row, "stimulus")
        order = self._order(row) or []
        cell: Record = {"item": stimulus, "arm": "permuted", "order": order}
        if "gold" in self.columns:
            cell["gold"] = self._text(row, "gold") if self._cell(row, "gold") else None
            self._tells |= cell["gold"] is not None
        given = self._cell(row, "candidates")
        verdict = None
        if isinstance(given, dict):
            verdict = {
                name: said if isinstance(said, dict) else {"score": said, "uncertain": False}
                for name, said in given.items()
            }
        elif given not in (None, ""):
            raise StimuliError(f"{row.where}: {self.columns['candidates']} must be an object")
        yield self._judgment(row, stimulus, cell, verdict)

    # -- people ----------------------------------------------------------------------------------

    def _human_ratings(self, row: Row, item: str) -> Iterator[Record]:
        """People's ratings that stand in the row of a verdict."""
        for name in self.columns:
            if name.partition(".")[0] == "human":
                ratings = [self._rating(row, cell) for cell in _several(self._cell(row, name))]
                if any(rating is not None for rating in ratings):
                    self._tells = True
                    yield self._human(item, ratings, name.partition(".")[2])

    def _rate(self, row: Row) -> None:
        """A row that is a person's own."""
        if self.kind != "score":
            raise StimuliError(f"{row.where}: a person's verdict, which can only be a score")
        mine = self._ratings.setdefault((self._names(row)[1], ""), [])
        mine.append(self._rating(row, self._cell(row, "verdict")))

    def _rating(self, row: Row, cell: Any) -> float | None:
        """A rating on the judge's scale of words, or a number on whatever scale people have.

        Figures with people's ratings compare orders and relations, not the scales.
        """
        own = self.choice.human_scale
        scale = self._scale(row) if own is None else Scale.of(own)
        is_word = isinstance(cell, str) and cell.strip().lower() in scale.words
        if cell not in (None, ""):
            self._people.add(str if is_word else float)
        if len(self._people) > 1:
            raise StimuliError(
                f"{row.where}: people's ratings are words in some rows and numbers in others"
            )
        if is_word or own is not None:
            try:
                return scale.point(cell, row)
            except StrangeVerdictError as error:
                raise StimuliError(f"{error} (a rating: --human-scale)") from None
        try:
            rating: float | None = Row(row.where, {"rating": cell}).numbers("rating")[0]
        except StimuliError as error:
            raise StimuliError(
                f"{error}; where people rate on a scale of their own, say which: --human-scale "
                "LOW:HIGH[:STEP] or WORST,…,BEST"
            ) from None
        return rating

    def _human(self, item: str, ratings: list[float | None], criterion: str) -> Record:
        label = {"axis": self.axis, "item": item, "ratings": ratings}
        return {"human": {**label, **({"criterion": criterion} if criterion else {})}}

    # -- the whole -------------------------------------------------------------------------------

    def _refuse_nothing(self) -> None:
        rows = self.verdicts + self._strange
        if self._first is not None and self._strange > STRANGE_SHARE * rows:
            raise StimuliError(
                f"{self._first} ({self._strange:,} of {rows:,} rows cannot be read: "
                f"{self._places()})"
                if self._strange > 1
                else str(self._first)
            )
        if not self.verdicts:
            only = " and ".join(f"{name}={value}" for name, value in self.where.items())
            why = f"no row has {only} (--where)" if self.left_out else "it has no rows"
            raise StimuliError(f"{self.name} holds no verdicts: {why}")
        if not self._tells:
            self.tells_nothing = True
            missing = _MISSING.get(self.kind, _MISSING["score"])
            raise StimuliError(
                f"{self.name}: nothing can be measured from {self.verdicts:,} verdicts, as each is "
                f"the only one on its subject ({self.log.lacks}); missing is {missing}"
            )


def _several(cell: Any) -> list[Any]:
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            return [cell]
    return cell if isinstance(cell, list) else [cell]
