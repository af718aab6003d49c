"""Recorded judgments of the rows of a log, a kind of verdicts after the other."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

from judgesheet.base.errors import StimuliError
from judgesheet.importers._rows import Row
from judgesheet.importers.logs._fields import FieldReader
from judgesheet.importers.logs._kinds import OF_STIMULUS, PAIR_OF_SCORES, axis_of
from judgesheet.importers.logs._log import BadVerdictError
from judgesheet.reading.verdicts import has_verdict, without_verdict

Record = dict[str, Any]
Judged = tuple[Record, BadVerdictError | None]
"""A judgment, and what is wrong with its verdict."""


@dataclass
class Judgments:
    """Makes recorded judgments of each row, and knows what was judged before."""

    fields: FieldReader
    allow_figures: bool = False
    """Whether a subject was judged twice, or its truth is known."""
    _first_readings: dict[Hashable, Hashable] = field(default_factory=dict)
    _repeats: dict[Hashable, dict[str, int]] = field(default_factory=dict)

    def of(self, row: Row) -> Iterator[Judged]:
        """The judgments of a row: of every reading that it lists, and of both its orders."""
        make: dict[str, Callable[[Row, str], Iterator[Judged]]] = {
            "score": self._score, "criteria": self._criteria, "pair": self._pair, "list": self._list
        }  # fmt: skip
        for reading, number in self.fields.readings(row):
            yield from make[self.fields.kind](reading, number)

    def _read(self, row: Row, name: str, *shown: list[str]) -> tuple[Any, BadVerdictError | None]:
        """The verdict in a field; where nothing was read, the words that the log has instead."""
        read = self.fields.slot if shown else self.fields.score
        fault, verdict = None, None
        try:
            verdict = read(row, name, *shown)
        except BadVerdictError as error:
            fault = error
        words = self.fields.cell(row, name)
        is_empty = words is None or words == "" or words != words  # NaN
        return verdict if verdict is not None or is_empty else without_verdict(str(words)), fault

    def _judgment(
        self, row: Row, number: str, stimulus: str, condition: Record, verdict: Any, axis: str = ""
    ) -> Record:
        # The same thing shown in another order is the same thing, judged again.
        subject = (
            axis,
            stimulus,
            condition.get("scale"),
            condition.get("item", condition.get("pair")),
        )
        shown = subject, tuple(condition["order"])
        repeat = self._repeat(row, number, shown)
        if not self.allow_figures:
            reading = shown, repeat
            self.allow_figures = self._first_readings.setdefault(subject, reading) != reading
        # One is enough, and a log may hold millions.
        if self.allow_figures:
            self._first_readings.clear()
        about = {
            name: str(self.fields.cell(row, name))
            for name in OF_STIMULUS
            if self.fields.has(row, name)
        }
        return {"axis": axis or self.fields.axis, "stimulus": stimulus, "cell": condition,
                "repeat": repeat, "verdict": verdict, **about}  # fmt: skip

    def _repeat(self, row: Row, number: str, shown: Hashable) -> int:
        """The number of this reading of the same thing, which a column or a list distinguishes."""
        if "repeat" not in self.fields.columns:
            return int(number or 0)
        known = self._repeats.setdefault(shown, {})
        return known.setdefault(f"{self.fields.text(row, 'repeat')} {number}", len(known))

    def _score(self, row: Row, number: str) -> Iterator[Judged]:
        stimulus, item = self.fields.names(row)
        scale, order = self.fields.scale(row), self.fields.scores_in_order(row)
        arm = "balanced" if "order" in self.fields.columns else "fixed"
        condition = {"item": item, "arm": arm, "scale": scale.points.count, "order": order}
        verdict, fault = self._read(row, "verdict")
        yield self._judgment(row, number, stimulus, condition, verdict), fault

    def _criteria(self, row: Row, number: str) -> Iterator[Judged]:
        stimulus, item = self.fields.names(row)
        columns = self.fields.columns
        names = [name.removeprefix("verdict.") for name in columns if "verdict." in name]
        shown, scale = self.fields.order(row), self.fields.scale(row)
        arm = "fixed" if shown is None else "balanced"
        condition = {"item": item, "arm": arm, "scale": scale.points.count, "order": shown or names}
        read = {name: self._read(row, f"verdict.{name}") for name in names}
        lost = [score for score, _ in read.values() if not has_verdict(score)]
        verdict = lost[0] if lost else {name: score for name, (score, _) in read.items()}
        faults = [fault for _, fault in read.values() if fault]
        judgment = self._judgment(row, number, stimulus, condition, verdict)
        yield judgment, next(iter(faults), None)

    def _pair(self, row: Row, number: str) -> Iterator[Judged]:
        shown = self.fields.shown(row)
        pair = " / ".join(sorted(shown))
        has_name = "stimulus" in self.fields.columns
        stimulus = self.fields.text(row, "stimulus") if has_name else pair
        known = self._known(row, shown)
        for name, order in {"verdict": shown, "again": shown[::-1]}.items():
            if name == "verdict" and self.fields.is_of_scores:
                verdict, fault = self._higher(row, shown)
            elif name in self.fields.columns:
                verdict, fault = self._read(row, name, order)
            else:
                continue
            sides = ["uv"[sorted(shown).index(response)] for response in order]
            condition = {"condition": "natural", "pair": pair, "order": sides, **known}
            yield self._judgment(row, number, stimulus, condition, verdict), fault
        if self.fields.is_of_scores and self.fields.choice.scale:
            yield from self._both(row, number, stimulus)

    def _known(self, row: Row, shown: list[str]) -> Record:
        """Which response is known to be better, as the row says it of what was shown."""
        if "better" not in self.fields.columns:
            return {}
        slot = self.fields.slot(row, "better", shown)
        better = "uv"[sorted(shown).index(shown[slot - 1])] if isinstance(slot, int) else None
        self.allow_figures |= better is not None
        return {"better": better}

    def _higher(self, row: Row, shown: list[str]) -> tuple[Any, BadVerdictError | None]:
        """The slot of the response with the higher score."""
        try:
            one, two = (self.fields.number(row, name) for name in PAIR_OF_SCORES)
        except BadVerdictError as fault:
            return None, fault
        if one is None or two is None:
            return None, None
        higher = self.fields.text(row, "first" if one > two else "second")
        return "tie" if one == two else shown.index(higher) + 1, None

    def _both(self, row: Row, number: str, stimulus: str) -> Iterator[Judged]:
        """The scores of a pair, each as one; what stands in several pairs is repeated."""
        scale = self.fields.scale(row)
        for name in PAIR_OF_SCORES:
            response = self.fields.text(row, name.removeprefix("verdict."))
            item = f"{stimulus}/{response}"
            condition = {"item": item, "arm": "fixed", "scale": scale.points.count,
                         "order": [*range(1, scale.points.count + 1)]}  # fmt: skip
            verdict, fault = self._read(row, name)
            made = self._judgment(row, number, stimulus, condition, verdict, axis_of("score"))
            known = self._repeats.setdefault(item, {})
            made["repeat"] = known.setdefault(str(len(known)), len(known))
            yield made, fault

    def _list(self, row: Row, number: str) -> Iterator[Judged]:
        stimulus = self.fields.text(row, "stimulus")
        order = self.fields.order(row) or []
        condition: Record = {"item": stimulus, "arm": "permuted", "order": order}
        if "gold" in self.fields.columns:
            known = self.fields.cell(row, "gold")
            condition["gold"] = self.fields.text(row, "gold") if known else None
            self.allow_figures |= condition["gold"] is not None
        scores = self.fields.cell(row, "candidates")
        verdict = None
        if isinstance(scores, dict):
            verdict = {
                name: score if isinstance(score, dict) else {"score": score, "uncertain": False}
                for name, score in scores.items()
            }
        elif scores not in (None, ""):
            column = self.fields.columns["candidates"]
            raise StimuliError(f"{row.where}: {column} must be an object")
        yield self._judgment(row, number, stimulus, condition, verdict), None
