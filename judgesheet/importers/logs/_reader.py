"""The rows of a log, one verdict each, as recorded judgments: the form `collect.ingest` takes."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from judgesheet.axes import all_axes
from judgesheet.base.errors import StimuliError, UsageError
from judgesheet.base.tally import Tally
from judgesheet.importers._rows import Row, unpacked
from judgesheet.importers.logs._kinds import (
    FIELDS,
    KINDS,
    OF_STIMULUS,
    SLOTS,
    SWAPPED,
    axis_of,
    kind_of,
)
from judgesheet.importers.logs._log import (
    BadRowError,
    BadVerdictError,
    LogFormat,
    LogOptions,
    Scale,
)

Record = dict[str, Any]


class NoFigureError(StimuliError):
    """No figure follows from a log: each verdict is the only one on its subject."""


@dataclass
class LogReader:
    """Reads the rows of a log; its counts and notes are complete once all records were taken."""

    name: str
    log: LogFormat
    choice: LogOptions
    rows: Iterator[Row]
    lines: Tally = field(default_factory=partial(Tally, "line"))
    """Of a file of lines."""
    _excluded: int = 0
    """Rows that do not count (`where`)."""
    _tally: Tally = field(default_factory=partial(Tally, "row"))
    """Of the rows that count."""
    _single: dict[str, str] = field(default_factory=dict)
    """The judge and the metric, of which a sheet has one."""
    _allows_figures: bool = False
    """Whether a subject was judged twice, or has a known truth."""
    _first_readings: dict[str, str] = field(default_factory=dict)
    _repeats: dict[str, dict[str, int]] = field(default_factory=dict)
    _ratings: dict[str, list[float | None]] = field(default_factory=dict)
    """What people said of an item in rows of their own."""
    _rating_types: set[type] = field(default_factory=set)
    """Whether people's ratings were words or numbers."""
    _scales: dict[str, Scale] = field(default_factory=dict)

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
    def verdicts(self) -> int:
        """How many were read."""
        return self._tally.read

    @property
    def judge(self) -> str | None:
        """Who judged, where the log says."""
        return self._single.get("judge")

    @cached_property
    def where(self) -> Mapping[str, str]:
        """What the rows that count have in which column: as the user says, else the format."""
        return self.choice.where or self.log.where

    @property
    def needs_scale(self) -> bool:
        """Whether nothing says which scores there are."""
        is_known = self.choice.scale or self.log.scale or "scale" in self.columns
        return not is_known and not {"first", "candidates"} & self.columns.keys()

    def notes(self) -> Iterator[str]:
        """What was read, and what was taken for granted, in sentences."""
        columns = ", ".join(f"{name}={column}" for name, column in self.columns.items())
        yield f"{self.verdicts:,} verdicts for {self.axis} were read ({columns})"
        yield from self.dropped
        if self._excluded:
            yield f"{self._excluded:,} rows were left out; only those with {self._wanted()} count"
        if "order" not in self.columns and self.kind in ("score", "criteria"):
            yield "no column holds the displayed order (--map order=COLUMN), so all count as of one"

    def _wanted(self) -> str:
        return " and ".join(f"{column}={value}" for column, value in self.where.items())

    def records(self) -> Iterator[tuple[Record, str]]:
        """Every recorded judgment, and people's ratings, with the place of each.

        NoFigureError, after the last one, if no figure can follow from them.
        """
        make = {"score": self._score, "criteria": self._criteria, "pair": self._pair,
                "list": self._list}[self.kind]  # fmt: skip
        for row in self.rows:
            if not self.counts(row):
                self._excluded += 1
                continue
            try:
                if "by" in self.columns and self._cell(row, "by") in self.log.people:
                    self._keep_rating(row)
                    continue
                self._refuse_second(row)
                made = [*make(row)]
            except BadRowError as fault:
                # It says nothing about the other rows.
                self._tally.add(fault, row.where.removeprefix(f"{self.name}:").strip())
                continue
            self._tally.read += 1
            yield from ((record, row.where) for record in made)
        for item, ratings in self._ratings.items():
            self._allows_figures = True
            yield self._human(item, ratings), f"{self.name}: ratings of {item[:80]}"
        self._refuse_useless()

    @property
    def dropped(self) -> list[str]:
        """Which lines and rows were left out as they cannot be read, and what to do."""
        of_rows = self._tally.sentence()
        if isinstance(self._tally.first, BadVerdictError):
            of_rows += "; --unreadable VALUE counts a verdict as a reply in which nothing was read"
        return [sentence for sentence in (self.lines.sentence(), of_rows) if sentence]

    # -- one row ---------------------------------------------------------------------------------

    def _cell(self, row: Row, name: str) -> Any:
        return row.at(self.columns[name])

    def _text(self, row: Row, name: str) -> str:
        cell = self._cell(row, name)
        if isinstance(cell, list | dict):
            return json.dumps(cell, sort_keys=True)
        if cell is None or cell == "":
            raise BadRowError(
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

    def _refuse_second(self, row: Row) -> None:
        """One sheet is about one judge and one question to it."""
        for name in ("judge", "metric"):
            if name in self.columns and self._cell(row, name) not in (None, ""):
                new = self._text(row, name)
                known = self._single.setdefault(name, new)
                if new != known:
                    raise StimuliError(
                        f"{row.where}: a second {name}, {new[:60]!r} beside {known[:60]!r}; one "
                        f"sheet is about one: --where {self.columns[name]}=NAME"
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
        cell = {**KINDS[self.kind].cell, "scale": scale.count}
        if self.kind != "criteria":
            cell["order"] = list(range(1, scale.count + 1))
        if fault := all_axes()[self.axis].fault(cell):
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
        stimulus = "stimulus" if "stimulus" in self.columns else "item"
        item = "item" if "item" in self.columns else "stimulus"
        return self._text(row, stimulus), self._text(row, item)

    def _order(self, row: Row) -> list[str] | None:
        """What was displayed, in order; None if no column says."""
        if "order" not in self.columns:
            return None
        cell = unpacked(self._cell(row, "order"))
        if isinstance(cell, str) and not cell.lstrip().startswith("["):
            return [part.strip() for part in cell.split(",")]
        if not isinstance(cell, list) or not all(isinstance(part, str | int) for part in cell):
            raise StimuliError(f"{row.where}: {self.columns['order']} must list what was displayed")
        return [str(part) for part in cell]

    def _judgment(self, row: Row, stimulus: str, condition: Record, verdict: Any) -> Record:
        # The same thing shown in another order is the same thing, judged again.
        same = {name: value for name, value in condition.items() if name not in ("order", "arm")}
        subject = json.dumps([stimulus, same])
        shown = json.dumps([subject, condition["order"]])
        repeat = self._repeat(row, shown)
        if not self._allows_figures:
            reading = f"{shown} {repeat}"
            self._allows_figures = self._first_readings.setdefault(subject, reading) != reading
        # One is enough, and a log may hold millions.
        if self._allows_figures:
            self._first_readings.clear()
        about = {
            name: str(text)
            for name in OF_STIMULUS
            if name in self.columns and (text := self._cell(row, name)) not in (None, "")
        }
        return {"axis": self.axis, "stimulus": stimulus, "cell": condition, "repeat": repeat,
                "verdict": verdict, **about}  # fmt: skip

    def _repeat(self, row: Row, shown: str) -> int:
        """The number of this reading of the same thing; a column distinguishes readings."""
        if "repeat" not in self.columns:
            return 0
        known = self._repeats.setdefault(shown, {})
        return known.setdefault(self._text(row, "repeat"), len(known))

    # -- kinds -----------------------------------------------------------------------------------

    def _score(self, row: Row) -> Iterator[Record]:
        stimulus, item = self._names(row)
        scale, shown = self._scale(row), self._order(row)
        order = [*range(1, scale.count + 1)] if shown is None else [
            self._point(row, score) for score in shown
        ]  # fmt: skip
        arm = "fixed" if shown is None else "balanced"
        condition = {"item": item, "arm": arm, "scale": scale.count, "order": order}
        yield self._judgment(row, stimulus, condition, self._score_of(row, "verdict"))
        yield from self._human_ratings(row, item)

    def _criteria(self, row: Row) -> Iterator[Record]:
        stimulus, item = self._names(row)
        names = [name.removeprefix("verdict.") for name in self.columns if "verdict." in name]
        shown, scale = self._order(row), self._scale(row)
        arm = "fixed" if shown is None else "balanced"
        condition = {"item": item, "arm": arm, "scale": scale.count, "order": shown or names}
        scores = {name: self._score_of(row, f"verdict.{name}") for name in names}
        readable = None not in scores.values()
        yield self._judgment(row, stimulus, condition, scores if readable else None)
        yield from self._human_ratings(row, item)

    def _pair(self, row: Row) -> Iterator[Record]:
        shown = self._shown(row)
        sides = dict(zip(sorted(shown), ("u", "v"), strict=True))
        pair = " / ".join(sides)
        condition: Record = {
            "condition": "natural", "pair": pair, "order": [sides[name] for name in shown]
        }  # fmt: skip
        if "better" in self.columns:
            slot = self._slot(row, "better", shown)
            condition["better"] = sides[shown[slot - 1]] if isinstance(slot, int) else None
            self._allows_figures |= condition["better"] is not None
        stimulus = self._text(row, "stimulus") if "stimulus" in self.columns else pair
        yield self._judgment(row, stimulus, condition, self._slot(row, "verdict", shown))

    def _shown(self, row: Row) -> list[str]:
        """The names of the two responses as displayed."""
        shown = [self._text(row, "first"), self._text(row, "second")]
        if shown[0] == shown[1]:
            raise StimuliError(f"{row.where}: both responses are called {shown[0][:60]!r}")
        swapped = self._text(row, "swapped").lower() if "swapped" in self.columns else "no"
        if swapped not in SWAPPED:
            raise StimuliError(
                f"{row.where}: {self.columns['swapped']} is {swapped[:60]!r}; it can be "
                f"{', '.join(SWAPPED)}"
            )
        return shown[::-1] if SWAPPED[swapped] else shown

    def _slot(self, row: Row, name: str, shown: list[str]) -> int | str | None:
        cell = self._cell(row, name)
        if cell is None or cell == "" or cell != cell or self._is_unreadable(cell):  # NaN
            return None
        winner = self._text(row, name)
        if winner in shown:
            return shown.index(winner) + 1
        if winner.lower() in SLOTS:
            return SLOTS[winner.lower()]
        raise BadVerdictError(
            f"{row.where}: {self.columns[name]} is {winner[:60]!r}, neither one of the two "
            f"responses nor one of {', '.join(SLOTS)}"
        )

    def _list(self, row: Row) -> Iterator[Record]:
        stimulus = self._text(row, "stimulus")
        order = self._order(row) or []
        condition: Record = {"item": stimulus, "arm": "permuted", "order": order}
        if "gold" in self.columns:
            condition["gold"] = self._text(row, "gold") if self._cell(row, "gold") else None
            self._allows_figures |= condition["gold"] is not None
        scores = self._cell(row, "candidates")
        verdict = None
        if isinstance(scores, dict):
            verdict = {
                name: score if isinstance(score, dict) else {"score": score, "uncertain": False}
                for name, score in scores.items()
            }
        elif scores not in (None, ""):
            raise StimuliError(f"{row.where}: {self.columns['candidates']} must be an object")
        yield self._judgment(row, stimulus, condition, verdict)

    # -- people ----------------------------------------------------------------------------------

    def _human_ratings(self, row: Row, item: str) -> Iterator[Record]:
        """People's ratings that stand in the row of a verdict."""
        for name in self.columns:
            field_name, _, criterion = name.partition(".")
            if field_name == "human":
                cell = unpacked(self._cell(row, name))
                cells = cell if isinstance(cell, list) else [cell]
                ratings = [self._rating(row, rating) for rating in cells]
                if any(rating is not None for rating in ratings):
                    self._allows_figures = True
                    yield self._human(item, ratings, criterion)

    def _keep_rating(self, row: Row) -> None:
        """Keep the rating in a row that is a person's own until all rows were read."""
        if self.kind != "score":
            raise StimuliError(f"{row.where}: a person's verdict, which can only be a score")
        ratings = self._ratings.setdefault(self._names(row)[1], [])
        ratings.append(self._rating(row, self._cell(row, "verdict")))

    def _rating(self, row: Row, cell: Any) -> float | None:
        """A rating on the judge's scale of words, or a number on whatever scale people have.

        Figures with people's ratings compare orders and relations, not the scales.
        """
        own = self.choice.human_scale
        scale = self._scale(row) if own is None else Scale.of(own)
        is_word = isinstance(cell, str) and cell.strip().lower() in scale.words
        if cell not in (None, ""):
            self._rating_types.add(str if is_word else float)
        if len(self._rating_types) > 1:
            raise StimuliError(
                f"{row.where}: people's ratings are words in some rows and numbers in others"
            )
        if is_word or own is not None:
            try:
                return scale.point(cell, row)
            except BadVerdictError as error:
                raise StimuliError(f"{error} (a rating: --human-scale)") from None
        try:
            rating: float | None = Row(row.where, {"rating": cell}).numbers("rating")[0]
        except StimuliError as error:
            raise StimuliError(
                f"{error}; where people rate on a scale of their own, say which: --human-scale "
                "LOW:HIGH[:STEP] or WORST,…,BEST"
            ) from None
        return rating

    def _human(self, item: str, ratings: list[float | None], criterion: str = "") -> Record:
        label = {"axis": self.axis, "item": item, "ratings": ratings}
        return {"human": {**label, **({"criterion": criterion} if criterion else {})}}

    # -- the whole -------------------------------------------------------------------------------

    def _refuse_useless(self) -> None:
        """StimuliError if too many rows cannot be read, none counts, or no figure follows."""
        self._tally.refuse_many()
        if not self.verdicts:
            why = f"no row has {self._wanted()} (--where)" if self._excluded else "it has no rows"
            raise StimuliError(f"{self.name} holds no verdicts: {why}")
        if not self._allows_figures:
            raise NoFigureError(
                f"{self.name}: nothing can be measured from {self.verdicts:,} verdicts, as each is "
                f"the only one on its subject ({self.log.lacks}); missing is "
                f"{KINDS[self.kind].needs}"
            )
