"""What an import found: enough to see at a glance whether it read what was meant."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgesheet.errors import StimuliError
from judgesheet.importers._piece import Piece

MODEL = "scores of another model"
CROWD = 20
"""More raters than these are a crowd, in which nobody has a place of their own."""


@dataclass(slots=True)
class Spread:
    """Ratings of one criterion: how many, their mean and range, and how many a response has."""

    count: int = 0
    total: float = 0.0
    least: float = float("inf")
    most: float = float("-inf")
    fewest: int = 0
    widest: int = 0
    short: int = 0
    rated: int = 0

    def add(self, ratings: Iterable[float | None], width: int) -> None:
        """Take in the ratings of one response; `width` is what the fullest response has."""
        known = [rating for rating in ratings if rating is not None]
        if not known:
            return
        self.count += len(known)
        self.total += sum(known)
        self.least, self.most = min(self.least, *known), max(self.most, *known)
        self.fewest = len(known) if not self.rated else min(self.fewest, len(known))
        self.widest = max(self.widest, len(known))
        self.short += len(known) < width
        self.rated += 1

    def as_record(self) -> dict[str, Any]:
        """The figures as JSON."""
        return {
            "mean": self.total / self.count,
            "min": self.least,
            "max": self.most,
            "ratings": self.count,
            "rated": self.rated,
            "raters_min": self.fewest,
            "raters_max": self.widest,
        }


@dataclass(frozen=True, slots=True)
class Imported:
    """What was written where, and from what.

    `criteria` maps a criterion to its figures (see `Spread`), `skipped` a reason to how often it
    applied and where first.
    """

    path: Path
    format: str
    axis: str
    licence: str
    attribution: str
    stimuli: int
    candidates: int
    gold: int
    criteria: Mapping[str, Mapping[str, Any]]
    skipped: Mapping[str, tuple[int, str]]
    notes: tuple[str, ...]

    def as_record(self) -> dict[str, Any]:
        """The report as one JSON document."""
        return {
            "path": str(self.path),
            "format": self.format,
            "axis": self.axis,
            "stimuli": self.stimuli,
            "candidates": self.candidates,
            "gold": self.gold,
            "criteria": dict(self.criteria),
            "skipped": {why: {"count": n, "first": at} for why, (n, at) in self.skipped.items()},
            "notes": list(self.notes),
            "licence": self.licence,
            "attribution": self.attribution,
        }

    def as_text(self) -> str:
        """The report in words."""
        lines = [
            f"{self.path}: {self.stimuli} stimuli for {self.axis}, {self.candidates} responses"
        ]
        if self.gold:
            lines.append(f"  known to have a best response: {self.gold}")
        lines += [_of_criterion(name or MODEL, found) for name, found in self.criteria.items()]
        lines += [f"  note: {note}" for note in self.notes]
        lines += [f"  skipped {n}: {why} (first: {at})" for why, (n, at) in self.skipped.items()]
        for title, words in (("licence", self.licence), ("attribution", self.attribution)):
            if words:
                lines.append(f"  {title}: {words}")
        return "\n".join(lines)


def _of_criterion(name: str, found: Mapping[str, Any]) -> str:
    least, most = found["raters_min"], found["raters_max"]
    raters = f"{most}" if least == most else f"{least} to {most}"
    return (
        f"  {name}: mean {found['mean']:.3f}, from {found['min']:g} to {found['max']:g}, "
        f"{raters} rating{'' if raters == '1' else 's'} for each of {found['rated']} responses"
    )


@dataclass(slots=True)
class Scales:
    """Watches the ratings go by and refuses what cannot be one scale."""

    bounds: tuple[float, float] | None
    fraction: dict[str, str] = field(default_factory=dict)
    above: dict[str, str] = field(default_factory=dict)
    fine: set[str] = field(default_factory=set)

    def watch(self, piece: Piece) -> None:
        """Take in the ratings of a piece.

        Raises
        ------
        StimuliError
            if one lies outside the scale.
        """
        for criterion, ratings in (*piece.human.items(), ("", piece.model)):
            for rating in ratings:
                if rating is not None:
                    self._watch(criterion, rating, piece.where)

    def _watch(self, criterion: str, rating: float, where: str) -> None:
        if self.bounds and not self.bounds[0] <= rating <= self.bounds[1]:
            low, high = self.bounds
            raise StimuliError(
                f"{where}: {criterion or MODEL} is {rating:g}, outside the scale {low:g} to "
                f"{high:g}; correct it, or say --scale LOW:HIGH"
            )
        if 0 < rating < 1:
            self.fraction.setdefault(criterion, where)
        elif rating > 1:
            self.above.setdefault(criterion, where)
            if rating != int(rating):
                self.fine.add(criterion)

    def settle(self) -> None:
        """Refuse a criterion that has shares of 1 beside whole numbers above it, and no scale.

        Raises
        ------
        StimuliError
            that names a line of each kind.
        """
        if self.bounds:
            return
        for criterion in self.fraction.keys() & self.above.keys() - self.fine:
            raise StimuliError(
                f"{criterion or MODEL} seems to have two scales: a number below 1 at "
                f"{self.fraction[criterion]}, whole numbers above 1 at {self.above[criterion]}; "
                "bring them to one scale, or say --scale LOW:HIGH if they are on one"
            )
