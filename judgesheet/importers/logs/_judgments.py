"""Recorded judgments of the rows of a log, a kind of verdicts after the other."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from judgesheet.base.errors import StimuliError
from judgesheet.importers._rows import Row
from judgesheet.importers.logs._fields import FieldReader
from judgesheet.importers.logs._kinds import OF_STIMULUS
from judgesheet.importers.logs._log import BadVerdictError
from judgesheet.reading.verdicts import has_verdict, without_verdict

Record = dict[str, Any]


@dataclass
class Judgments:
    """Makes a recorded judgment of each row, and knows what was judged before."""

    fields: FieldReader
    allow_figures: bool = False
    """Whether a subject was judged twice, or its truth is known."""
    fault: BadVerdictError | None = None
    """What is wrong with the verdict of the last row."""
    _first_readings: dict[str, str] = field(default_factory=dict)
    _repeats: dict[str, dict[str, int]] = field(default_factory=dict)

    def of(self, row: Row) -> Record:
        """The judgment of a row; `fault` says why its verdict cannot be read, if so."""
        self.fault = None
        make: dict[str, Callable[[Row], Record]] = {
            "score": self._score, "criteria": self._criteria, "pair": self._pair, "list": self._list
        }  # fmt: skip
        return make[self.fields.kind](row)

    def _read(self, row: Row, name: str, *shown: list[str]) -> Any:
        """The verdict in a field; where nothing was read, the words that the log has instead."""
        read = self.fields.slot if shown else self.fields.score
        try:
            verdict = read(row, name, *shown)
        except BadVerdictError as fault:
            self.fault, verdict = fault, None
        words = self.fields.cell(row, name)
        is_empty = words is None or words == "" or words != words  # NaN
        return verdict if verdict is not None or is_empty else without_verdict(str(words))

    def _judgment(self, row: Row, stimulus: str, condition: Record, verdict: Any) -> Record:
        # The same thing shown in another order is the same thing, judged again.
        same = {name: value for name, value in condition.items() if name not in ("order", "arm")}
        subject = json.dumps([stimulus, same])
        shown = json.dumps([subject, condition["order"]])
        repeat = self._repeat(row, shown)
        if not self.allow_figures:
            reading = f"{shown} {repeat}"
            self.allow_figures = self._first_readings.setdefault(subject, reading) != reading
        # One is enough, and a log may hold millions.
        if self.allow_figures:
            self._first_readings.clear()
        about = {
            name: str(self.fields.cell(row, name))
            for name in OF_STIMULUS
            if self.fields.has(row, name)
        }
        return {"axis": self.fields.axis, "stimulus": stimulus, "cell": condition, "repeat": repeat,
                "verdict": verdict, **about}  # fmt: skip

    def _repeat(self, row: Row, shown: str) -> int:
        """The number of this reading of the same thing; a column distinguishes readings."""
        if "repeat" not in self.fields.columns:
            return 0
        known = self._repeats.setdefault(shown, {})
        return known.setdefault(self.fields.text(row, "repeat"), len(known))

    def _score(self, row: Row) -> Record:
        stimulus, item = self.fields.names(row)
        scale, order = self.fields.scale(row), self.fields.scores_in_order(row)
        arm = "balanced" if "order" in self.fields.columns else "fixed"
        condition = {"item": item, "arm": arm, "scale": scale.count, "order": order}
        return self._judgment(row, stimulus, condition, self._read(row, "verdict"))

    def _criteria(self, row: Row) -> Record:
        stimulus, item = self.fields.names(row)
        columns = self.fields.columns
        names = [name.removeprefix("verdict.") for name in columns if "verdict." in name]
        shown, scale = self.fields.order(row), self.fields.scale(row)
        arm = "fixed" if shown is None else "balanced"
        condition = {"item": item, "arm": arm, "scale": scale.count, "order": shown or names}
        scores = {name: self._read(row, f"verdict.{name}") for name in names}
        lost = [score for score in scores.values() if not has_verdict(score)]
        return self._judgment(row, stimulus, condition, lost[0] if lost else scores)

    def _pair(self, row: Row) -> Record:
        shown = self.fields.shown(row)
        sides = dict(zip(sorted(shown), ("u", "v"), strict=True))
        pair = " / ".join(sides)
        condition: Record = {
            "condition": "natural", "pair": pair, "order": [sides[name] for name in shown]
        }  # fmt: skip
        if "better" in self.fields.columns:
            slot = self.fields.slot(row, "better", shown)
            condition["better"] = sides[shown[slot - 1]] if isinstance(slot, int) else None
            self.allow_figures |= condition["better"] is not None
        stimulus = self.fields.text(row, "stimulus") if "stimulus" in self.fields.columns else pair
        return self._judgment(row, stimulus, condition, self._read(row, "verdict", shown))

    def _list(self, row: Row) -> Record:
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
        return self._judgment(row, stimulus, condition, verdict)
