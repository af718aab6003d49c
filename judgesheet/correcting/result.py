"""What a correction gives: every figure with its interval, and why one is missing."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from judgesheet.base.records import LEVEL
from judgesheet.correcting.table import Labels
from judgesheet.correcting.words import Kind
from judgesheet.stats.interval import Interval


@dataclass(frozen=True, slots=True)
class ReportedNumber:
    """A number with its interval; `value` None says that there is none, and `note` why."""

    value: float | None
    low: float | None
    high: float | None
    level: float
    n: int
    clusters: int
    method: str
    note: str = ""
    reason: str = ""


def reported(interval: Interval, rows: int, level: float = LEVEL) -> ReportedNumber:
    """An interval of `stats` as a figure of the result."""
    low, high, *_ = interval.at(level)
    return ReportedNumber(
        interval.value, low, high, level, rows, interval.clusters,
        interval.method, interval.note, interval.reason,
    )  # fmt: skip


def not_reported(note: str, reason: str, rows: int = 0) -> ReportedNumber:
    """A figure that cannot be estimated."""
    return ReportedNumber(None, None, None, LEVEL, rows, 0, "", note, reason)


@dataclass(frozen=True, slots=True)
class System:
    """A system, or the whole table where it has one."""

    name: str
    rows: int
    labelled: int
    raw: ReportedNumber
    corrected: ReportedNumber
    ppi: ReportedNumber
    rogan_gladen: ReportedNumber
    labels_only: ReportedNumber
    sensitivity: ReportedNumber | None = None
    specificity: ReportedNumber | None = None


@dataclass(frozen=True, slots=True)
class SystemDifference:
    """First less second system; `stands` where it is proven, all differences taken together."""

    first: str
    second: str
    raw: float | None
    figure: ReportedNumber
    stands: bool


@dataclass(frozen=True, slots=True)
class Result:
    """The whole correction of a table.

    `shift` is the mean verdict on labelled rows less that on the others (99 %), `shift_p` the p of
    labels that were drawn at random.
    """

    table: str
    kind: Kind
    labels: Labels
    rows: int
    labelled: int
    unreadable: int
    clusters: int
    about: str
    corrected: ReportedNumber
    raw: ReportedNumber
    systems: tuple[System, ...]
    differences: tuple[SystemDifference, ...] = ()
    shift: ReportedNumber | None = None
    shift_p: float | None = None
    warnings: tuple[str, ...] = ()

    def as_record(self) -> dict[str, Any]:
        """The result as JSON has it; numbers with six significant digits or as they are."""
        record: dict[str, Any] = _plain(asdict(self))
        return record


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
