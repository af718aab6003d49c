"""The scale of scores: `count` numbers, `step` apart, from `low` on.

Verdicts are held as points, counted from 1, whatever numbers a prompt prints for them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Self

NEAR = 1e-6
"""How far from a point a number may be, in steps, and still be that point."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The scores that can be given; usually 1 to `count`."""

    count: int
    low: float = 1
    step: float = 1

    def __post_init__(self) -> None:
        if not (isfinite(self.low) and isfinite(self.step) and self.step > 0):
            raise ValueError("a scale begins at a number and has steps above 0")

    @classmethod
    def of(cls, cell: Mapping[str, Any]) -> Self:
        """The scale of a cell, which names `low` and `step` only where they are not 1."""
        return cls(int(cell["scale"]), cell.get("low", 1), cell.get("step", 1))

    @classmethod
    def between(cls, low: float, high: float, step: float = 1) -> Self:
        """The scale with these ends; ValueError where they are not whole steps apart."""
        if not 0 <= low < high or step <= 0:
            raise ValueError("a range is [low, high] or [low, high, step], from 0 upwards")
        steps = (high - low) / step
        if abs(steps - round(steps)) > NEAR:
            raise ValueError(f"{low:g} to {high:g} is no whole number of steps of {step:g}")
        return cls(round(steps) + 1, _plain(low), _plain(step))

    @property
    def high(self) -> float:
        """The best score."""
        return self.number(self.count)

    @property
    def is_whole(self) -> bool:
        """Whether all scores are whole numbers."""
        return all(float(part).is_integer() for part in (self.low, self.step))

    @property
    def numbers(self) -> list[float]:
        """All scores as a prompt prints them, worst first."""
        return [self.number(point) for point in range(1, self.count + 1)]

    def number(self, point: float) -> float:
        """The score of a point."""
        return _plain(round(self.low + (point - 1) * self.step, 6))

    def point(self, number: object) -> int | None:
        """Which point a number is; None for one of another scale, and for all else."""
        # `true` is 1 to Python, and no score.
        if isinstance(number, bool) or not isinstance(number, int | float):
            return None
        if not self.low - self.step < number < self.high + self.step:  # NaN too
            return None
        point = round((number - self.low) / self.step)
        is_near = abs(self.low + point * self.step - number) <= NEAR * self.step
        return point + 1 if is_near and 0 <= point < self.count else None

    def place(self, number: float) -> float:
        """Where any number lies, in points."""
        return (number - self.low) / self.step + 1

    def as_record(self) -> dict[str, float]:
        """The scale as a sheet names it."""
        return {"low": self.low, "step": self.step, "count": self.count}

    @property
    def own(self) -> dict[str, float]:
        """What a cell says of the scale beside its `count`: nothing of the usual one."""
        return {} if (self.low, self.step) == (1, 1) else {"low": self.low, "step": self.step}


def in_numbers(verdict: Any, cell: Mapping[str, Any]) -> Any:
    """A verdict in points, or one for each criterion, in the numbers that its prompt had."""
    if "low" not in cell or verdict is None:
        return verdict
    scale = Scale.of(cell)
    if isinstance(verdict, Mapping):
        return {name: scale.number(point) for name, point in verdict.items()}
    return scale.number(verdict)


def _plain(number: float) -> float:
    """A number without the decimals that say nothing."""
    return int(number) if float(number).is_integer() else number
