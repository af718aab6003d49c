"""What is known about the quality of items: read from stimuli, and chosen as the reference.

The best kind that any item of a run carries is the reference: people's scores, else another
model's, else the levels that the stimuli's authors intended. Kinds are never mixed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, Field

from judgesheet.axis.arrays import Floats
from judgesheet.base.digits import counted, two_digits
from judgesheet.base.missing_reasons import Reason
from judgesheet.base.records import Estimate, Label

Kind = Literal["human", "model", "intended"]

NAMES: Mapping[Kind, str] = {
    "human": "mean human score",
    "model": "score given by another model",
    "intended": "level intended by the stimuli's authors",
}
"""In order of preference."""
NO_REFERENCE = Reason(
    "no_reference",
    "the stimuli carry neither human scores, nor a model's, nor intended levels (for a log: --map "
    "human=COLUMN)",
)


@dataclass(frozen=True, slots=True)
class Quality:
    """Conditions of a figure that compares scores with quality: whose judgment of quality it is.

    `quality` is a `Kind` ("" if nothing is known), `reads` the number of readings in each mean, 0
    if there is no mean; `remark` is what else a reader should know.
    """

    quality: Kind | Literal[""]
    reads: int = 0
    remark: str = ""

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        judged = NAMES[self.quality] if self.quality else "nothing"
        times = f"{counted(self.reads, 'reading')} per response" if self.reads else ""
        return "; ".join(part for part in (f"quality: {judged}", times, self.remark) if part)


@dataclass(frozen=True, slots=True)
class RatingsAlone:
    """Conditions of a figure of the raters, into which no reply of a judge enters.

    `ratings` is how many a response has on average.
    """

    quality: Kind | Literal[""]
    ratings: float

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        return Quality(self.quality, 0, f"{two_digits(self.ratings)} ratings per response").words


def whose(estimate: Estimate) -> str:
    """Whose judgment of quality a figure with the conditions `Quality` was compared with."""
    kind: Kind = estimate.given["quality"]
    return NAMES[kind]


_CAVEATS: Mapping[Kind, str] = {
    "human": "Quality is the mean of the scores that people gave",
    "model": "Quality is the score that another model gave, not a human rating: agreement with it "
    "may be a bias that both share",
    "intended": "Quality is the level that the author of each response wrote it for, not a human "
    "rating",
}


def _some(ratings: list[float | None]) -> list[float | None]:
    if all(rating is None for rating in ratings):
        raise ValueError("a list of ratings needs at least one number")
    return ratings


_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Rated = _Number | Annotated[list[_Number | None], Field(min_length=1), AfterValidator(_some)]
"""A field of a stimulus: one score, or a list with one per rater and null where one gave none."""


def label(axis: str, item: str, kind: Kind, rated: Any, criterion: str = "") -> Label:
    """The label of a `Rated` field: the mean, with the single ratings where they are known."""
    if not isinstance(rated, list):
        return Label(axis, item, kind, float(rated), criterion)
    ratings = [float(rating) for rating in rated if rating is not None]
    return Label(axis, item, kind, sum(ratings) / len(ratings), criterion, tuple(rated))


@dataclass(frozen=True, slots=True)
class Reference:
    """The quality of items, by one kind of label.

    `values` has shape (items,), NaN where unknown; `ratings` shape (items, raters), without columns
    if no single rating is known. `kind` is None if no item has a label.
    """

    kind: Kind | None
    values: Floats
    ratings: Floats

    def conditions(self, reads: int = 0, remark: str = "") -> Quality:
        """The conditions of a figure that compares scores with these values."""
        return Quality(self.kind or "", reads, remark)


def reference(labels: Sequence[Label], items: Sequence[str], criterion: str = "") -> Reference:
    """The best kind of label that any of the items carries, in the order of `items`."""
    wanted = set(items)
    mine = [label for label in labels if label.criterion == criterion and label.item in wanted]
    # Kinds are never mixed: an author's level and a person's score are not on one scale.
    for kind in NAMES:
        by_item = {label.item: label for label in mine if label.kind == kind}
        if by_item:
            values = [by_item[item].score if item in by_item else np.nan for item in items]
            return Reference(kind, np.array(values, dtype=float), _ratings(by_item, items))
    return Reference(None, np.full(len(items), np.nan), np.empty((len(items), 0)))


def _ratings(by_item: Mapping[str, Label], items: Sequence[str]) -> Floats:
    raters = max(len(label.ratings) for label in by_item.values())
    table = np.full((len(items), raters), np.nan)
    for row, item in enumerate(items):
        ratings = by_item[item].ratings if item in by_item else ()
        table[row, : len(ratings)] = [np.nan if rating is None else rating for rating in ratings]
    return table


def by_people(labels: Sequence[Label], items: Sequence[str]) -> bool:
    """Whether people's scores are the reference for the quality of these items."""
    wanted = set(items)
    return any(label.kind == "human" for label in labels if label.item in wanted)


def caveats(labels: Sequence[Label], items: Sequence[str]) -> Iterator[str]:
    """Whose judgment quality is, and for how many items it is unknown."""
    wanted = set(items)
    kinds = {label.kind for label in labels if label.item in wanted}
    kind = next((kind for kind in NAMES if kind in kinds), None)
    if kind is None:
        return
    known = {label.item for label in labels if label.kind == kind} & wanted
    left_out = len(wanted) - len(known)
    count = f"; {left_out} of {len(wanted)} items have none and enter no correlation"
    yield f"{_CAVEATS[kind]}{count if left_out else ''}."
