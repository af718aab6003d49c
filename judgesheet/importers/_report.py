"""The report of an import: enough to see at a glance whether it read the right columns."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgesheet.base.digits import counted, thousandths
from judgesheet.base.sanitize import one_line
from judgesheet.importers._grouping import MODEL, named
from judgesheet.importers._piece import Piece, Skip


@dataclass(slots=True)
class Imported:
    """What was written where, and from what; it is counted while the import runs.

    `skipped` maps a reason to how often it applied and where first, `ratings` a criterion ("" the
    scores of another model) to the ratings of each response, None where a rater gave none.
    """

    path: Path
    format: str
    axis: str
    licence: str
    attribution: str
    stimuli: int = 0
    candidates: int = 0
    gold: int = 0
    skipped: dict[str, tuple[int, str]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    ratings: dict[str, list[list[float | None]]] = field(default_factory=dict)

    def skip(self, skipped: Skip) -> None:
        """Count what is left out."""
        count, first = self.skipped.get(skipped.reason, (0, skipped.where))
        self.skipped[skipped.reason] = (count + 1, first)

    def kept(self, pieces: Iterable[Piece | Skip]) -> Iterator[Piece]:
        """The pieces; what is skipped is counted on the way."""
        for piece in pieces:
            if isinstance(piece, Skip):
                self.skip(piece)
            else:
                yield piece

    def count(self, record: Mapping[str, Any]) -> None:
        """Count a stimulus and the ratings that stand in it."""
        self.stimuli += 1
        self.candidates += len(record["candidates"]) if "candidates" in record else 2
        self.gold += bool(record.get("gold") or record.get("better"))
        graded = record.get("rubric", {}).get("criterion", "")
        for candidate in record.get("candidates", ()):
            human = candidate.get("human", {})
            given = dict(human) if isinstance(human, dict) else {graded: human}
            if "model" in candidate:
                given[MODEL] = candidate["model"]
            for criterion, ratings in given.items():
                listed = ratings if isinstance(ratings, list) else [ratings]
                self.ratings.setdefault(criterion, []).append(listed)

    def nothing(self) -> str:
        """Why no stimulus is left, in one sentence."""
        if not self.skipped:
            return "the files hold no rows; nothing was written"
        reason, (count, where) = max(self.skipped.items(), key=lambda entry: entry[1][0])
        return f"{where}: nothing is left to import: {reason} ({counted(count, 'time')})"

    @property
    def criteria(self) -> dict[str, dict[str, Any]]:
        """The figures of every criterion that was rated, "" for the scores of another model."""
        return {criterion: _figures(listed) for criterion, listed in self.ratings.items()}

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know of these ratings, in sentences."""
        gaps = {name: sum(None in one for one in listed) for name, listed in self.ratings.items()}
        ragged = (
            f"{number} of {len(self.ratings[name])} responses have fewer ratings of "
            f"{name or 'the model'} than the others; the gaps are null"
            for name, number in gaps.items()
            if number
        )
        return (*self.remarks, *ragged)

    def as_record(self) -> dict[str, Any]:
        """The report as one JSON document."""
        names = ("format", "axis", "stimuli", "candidates", "gold", "criteria", "notes")
        return {
            "path": str(self.path),
            **{name: getattr(self, name) for name in (*names, "licence", "attribution")},
            "skipped": {why: {"count": n, "first": at} for why, (n, at) in self.skipped.items()},
        }

    def as_text(self) -> str:
        """The report in words."""
        lines = [
            f"{self.path}: {counted(self.stimuli, 'stimulus', 'stimuli')} for {self.axis}, "
            f"{counted(self.candidates, 'response')}"
        ]
        if self.gold:
            lines.append(f"  known to have a best response: {self.gold}")
        lines += [_of_criterion(named(name), figures) for name, figures in self.criteria.items()]
        lines += [f"  note: {note}" for note in self.notes]
        lines += [f"  skipped {n}: {why} (first: {at})" for why, (n, at) in self.skipped.items()]
        for title, words in (("licence", self.licence), ("attribution", self.attribution)):
            if words:
                lines.append(f"  {title}: {words}")
        return "\n".join(map(one_line, lines))


def _figures(responses: Sequence[Sequence[float | None]]) -> dict[str, Any]:
    known = [[one for one in ratings if one is not None] for ratings in responses]
    every, sizes = [one for ratings in known for one in ratings], [*map(len, known)]
    return {
        "mean": sum(every) / len(every),
        "min": min(every),
        "max": max(every),
        "ratings": len(every),
        "rated": len(known),
        "raters_min": min(sizes),
        "raters_max": max(sizes),
    }


def _of_criterion(name: str, figures: Mapping[str, Any]) -> str:
    least, most = figures["raters_min"], figures["raters_max"]
    raters = f"{most}" if least == most else f"{least} to {most}"
    span = f"from {figures['min']:g} to {figures['max']:g}"
    return (
        f"  {name}: mean {thousandths(figures['mean'])}, {span}, "
        f"{raters} rating{'' if raters == '1' else 's'} for each of {figures['rated']} responses"
    )
