"""What people say of the items of a log."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from judgesheet.base.errors import StimuliError
from judgesheet.importers._rows import Row, advice_on_number
from judgesheet.importers.logs._fields import FieldReader
from judgesheet.importers.logs._judgments import Record
from judgesheet.importers.logs._log import BadVerdictError, LogScale
from judgesheet.importers.words import NONE, options_for, unpacked


@dataclass
class Ratings:
    """Reads people's ratings, beside verdicts or in rows of their own."""

    fields: FieldReader
    found: bool = False
    _kept: dict[str, list[float | None]] = field(default_factory=dict)
    """Those in rows of their own, by item."""
    _types: set[type] = field(default_factory=set)
    """Whether they were words or numbers."""

    def beside(self, row: Row) -> Iterator[Record]:
        """People's ratings that stand in the row of a verdict."""
        if self.fields.kind not in ("score", "criteria"):
            return
        for name in self.fields.columns:
            field_name, _, criterion = name.partition(".")
            if field_name == "human":
                cell = unpacked(self.fields.cell(row, name))
                cells = cell if isinstance(cell, list) else [cell]
                ratings = [self._rating(row, rating) for rating in cells]
                if any(rating is not None for rating in ratings):
                    self.found = True
                    yield self._human(self.fields.names(row)[1], ratings, criterion)

    def keep(self, row: Row) -> None:
        """Keep the rating in a row that is a person's own until all rows were read."""
        if self.fields.kind != "score":
            raise StimuliError(f"{row.where}: a person's verdict, which can only be a score")
        ratings = self._kept.setdefault(self.fields.names(row)[1], [])
        ratings.append(self._rating(row, self.fields.cell(row, "verdict")))

    def _rating(self, row: Row, cell: Any) -> float | None:
        """A rating on the judge's scale of words, or a number on whatever scale people have.

        Figures with people's ratings compare orders and relations, not the scales.
        """
        cell = self.fields.meant(cell)
        if cell == NONE:
            return None
        own = self.fields.choice.human_scale
        scale = self.fields.scale(row) if own is None else LogScale.of(own)
        is_word = scale.has_word(cell)
        if cell not in (None, ""):
            self._types.add(str if is_word else float)
        if len(self._types) > 1:
            raise StimuliError(
                f"{row.where}: people's ratings are words in some rows and numbers in others"
            )
        if is_word or own is not None:
            try:
                return scale.point(cell, row, option="--human-scale")
            except BadVerdictError as error:
                raise StimuliError(f"{error} (a person's rating)") from None
        try:
            rating: float | None = Row(row.where, {"rating": cell}).numbers("rating")[0]
        except StimuliError as error:
            if advice_on_number(cell):
                raise
            raise StimuliError(
                f"{error}; if people rate on a different scale, give it: --human-scale "
                f"LOW:HIGH[:STEP] or WORST,…,BEST, or what the word means: "
                f"{options_for([str(cell)[:60]], 'SCORE')}"
            ) from None
        return rating

    def _human(self, item: str, ratings: list[float | None], criterion: str = "") -> Record:
        label = {"axis": self.fields.axis, "item": item, "ratings": ratings}
        return {"human": {**label, **({"criterion": criterion} if criterion else {})}}

    def kept(self) -> Iterator[tuple[str, Record]]:
        """The items that people rated in rows of their own, and the ratings."""
        for item, ratings in self._kept.items():
            self.found = True
            yield item, self._human(item, ratings)
